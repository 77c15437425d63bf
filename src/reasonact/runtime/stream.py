"""The two drivers of a stream: a run as an iterator over what it hands over, sync and async.

A sync stream runs in a daemon thread, an async one in a task, both with the context
variables of the caller at the time of the call. Leaving the loop, ``close`` and ``aclose``,
and cancellation end the run and wait for it, `PATIENCE` seconds at most.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any, Final, TypeVar

from reasonact.runtime.handoff import End, Handoff
from reasonact.runtime.threads import in_daemon_thread

T = TypeVar("T")

PATIENCE: Final = 1.0
"""Seconds that leaving a stream waits for its run to end."""


def stream(run: Callable[[], Any], handoff: Handoff[T]) -> Generator[T, None, None]:
    """Run a function, and give what it hands over.

    Args:
        run: Blocking work that puts items into the handoff.
        handoff: Takes the items from the run.

    Returns:
        A generator of the items. The run begins when the first is asked for.

    Raises:
        BaseException: What the run raises, after the items that it handed over before.
    """
    return _stream(run, handoff, contextvars.copy_context())


def _stream(run: Callable[[], Any], handoff: Handoff[T], context: contextvars.Context) -> Generator[T, None, None]:
    def work() -> None:
        try:
            run()
        finally:
            handoff.finish()

    ended = context.run(in_daemon_thread, work)
    try:
        while not isinstance(item := handoff.get(), End):
            yield item
    finally:
        handoff.close()
        concurrent.futures.wait([ended], PATIENCE)
    ended.result()


def astream(start: Callable[[], Coroutine[Any, Any, Any]], handoff: Handoff[T]) -> AsyncIterator[T]:
    """Run a coroutine as a task, and give what it hands over; otherwise as `stream`.

    Args:
        start: Makes the coroutine.
        handoff: Takes the items from the run.

    Returns:
        An async generator of the items. The run begins when the first is asked for.

    Raises:
        BaseException: What the run raises, after the items that it handed over before.
    """
    return _astream(start, handoff, contextvars.copy_context())


async def _astream(
    start: Callable[[], Coroutine[Any, Any, Any]], handoff: Handoff[T], context: contextvars.Context
) -> AsyncIterator[T]:
    task = context.run(asyncio.ensure_future, start())
    task.add_done_callback(lambda _: handoff.finish())
    try:
        while not isinstance(item := await handoff.aget(), End):
            yield item
    finally:
        await _ended(task, handoff)
    task.result()


async def _ended(task: asyncio.Future[Any], handoff: Handoff[Any]) -> None:
    """End a task that nobody reads any more; what it raises at its end concerns nobody."""
    task.cancel()
    handoff.close()
    await asyncio.wait({task}, timeout=PATIENCE)
    task.add_done_callback(_look_away)


def _look_away(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()  # looked at, so that the loop does not report it as lost
