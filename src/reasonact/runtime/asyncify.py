"""Blocking programs in async code."""

from __future__ import annotations

import asyncio
import functools
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final, ParamSpec, TypeVar

from reasonact.runtime.drive import to_thread
from reasonact.runtime.settings import settings

P = ParamSpec("P")
T = TypeVar("T")


class Limiter:
    """At most ``settings.async_max_workers`` at once on one event loop; use it with ``async with``."""

    def __init__(self) -> None:
        self._busy = 0
        self._change = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._change:
            # Asked anew at each turn: the setting may be changed, and differ between contexts.
            await self._change.wait_for(lambda: self._busy < max(1, settings.async_max_workers))
            self._busy += 1

    async def __aexit__(self, *error: object) -> None:
        self._busy -= 1
        async with self._change:
            self._change.notify_all()


_limiters: Final[weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Limiter]] = weakref.WeakKeyDictionary()


def get_limiter() -> Limiter:
    """The limiter of the running event loop.

    Raises:
        RuntimeError: No event loop runs here.
    """
    loop = asyncio.get_running_loop()
    limiter = _limiters.get(loop)
    if limiter is None:
        limiter = _limiters[loop] = Limiter()
    return limiter


def asyncify(program: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make an async function of a blocking program, which then runs in a worker thread.

    Settings and context variables of the awaiting code hold in the thread. The setting
    ``async_max_workers`` bounds how many run at once. Follows DSPy's ``asyncify``.

    Args:
        program: A module or any callable.

    Returns:
        An async function that takes the program's arguments.

    Raises:
        TypeError: ``program`` cannot be called.
    """
    if not callable(program):
        raise TypeError(f"asyncify takes a program that can be called, not a {type(program).__name__}")

    async def async_program(*args: P.args, **kwargs: P.kwargs) -> T:
        async with get_limiter():
            return await to_thread(functools.partial(program, *args, **kwargs))

    return async_program
