"""The command under a tool call: run a callable once.

A callable's result is brought to a plain value here: what is awaitable is awaited, generators,
sync and async, are collected to a list.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any, Final, TypeVar

from reasonact.runtime.drive import run_coroutine, to_thread
from reasonact.runtime.flow import Command
from reasonact.runtime.settings import settings
from reasonact.runtime.threads import in_daemon_thread

T = TypeVar("T")

CANCEL_GRACE: Final = 1.0
"""Seconds that a cancelled tool has to clean up before nobody waits for it any more."""


@dataclass(frozen=True, slots=True)
class RunCallable(Command[Any]):
    """Run a callable once and bring its result to a plain value.

    Sync, an awaitable result runs on a private event loop if the setting
    ``allow_tool_async_sync_conversion`` allows it. Async, a sync callable runs in a daemon
    thread with the context's variables, or ``inline`` on the event loop.

    Args:
        name: The tool's name, for error texts.
        func: The callable.
        args: Positional arguments.
        kwargs: Arguments by name.
        is_async: Calling it gives a coroutine or an async generator.
        inline: Async: call it on the event loop.
        timeout: Seconds until `TimeoutError`; a sync callable then runs on by itself.
    """

    name: str
    func: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    is_async: bool = False
    inline: bool = False
    timeout: float | None = None

    def run(self) -> Any:
        if self.is_async:
            self._allow_conversion(None)
        started = time.monotonic() if self.timeout is not None else 0.0
        if self.timeout is None or self.is_async:
            result = self._call()
        else:
            result = self._within(in_daemon_thread(self._call))
        if not _is_deferred(result):
            return result
        self._allow_conversion(result)
        left = None if self.timeout is None else max(self.timeout - (time.monotonic() - started), 0.0)
        return run_coroutine(self._timed(_settled(result), left))

    async def arun(self) -> Any:
        if self.timeout is None:
            return await self._run_async()
        return await self._timed(self._run_async(), self.timeout)

    def _call(self) -> Any:
        try:
            result = self.func(*self.args, **self.kwargs)
            return list(result) if isinstance(result, GeneratorType) else result
        except StopIteration as error:  # would end the generators that this passes through
            raise RuntimeError(f"{self.name} raised StopIteration: {error}") from error

    async def _run_async(self) -> Any:
        result = self._call() if self.is_async or self.inline else await to_thread(self._call)
        return await _settled(result) if _is_deferred(result) else result

    def _within(self, future: concurrent.futures.Future[Any]) -> Any:
        concurrent.futures.wait([future], self.timeout)
        if not future.done():
            raise self._too_late()
        return future.result()

    async def _timed(self, work: Coroutine[Any, Any, Any], timeout: float | None) -> Any:
        if timeout is None:
            return await work
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=timeout)
        except asyncio.CancelledError:
            await cancelled([task])
            raise
        if not task.done():
            await cancelled([task])
            raise self._too_late()
        return task.result()

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"{self.name} did not end within {self.timeout:g} s")

    def _allow_conversion(self, result: Any) -> None:
        if settings.allow_tool_async_sync_conversion:
            return
        if inspect.iscoroutine(result):
            result.close()
        raise ValueError(
            f"{self.name} is async and was called from sync code: await its acall, or allow the conversion "
            "with configure(allow_tool_async_sync_conversion=True)"
        )


async def cancelled(tasks: list[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait for their end, for at most `CANCEL_GRACE` seconds."""
    for task in tasks:
        task.cancel()
    if tasks:
        done, _ = await asyncio.wait(tasks, timeout=CANCEL_GRACE)
        for task in done:
            if not task.cancelled():
                task.exception()  # looked at, so that the loop does not report it as lost


def _is_deferred(result: Any) -> bool:
    return inspect.isawaitable(result) or inspect.isasyncgen(result)


async def _settled(result: Any) -> Any:
    while True:
        if inspect.isasyncgen(result):
            return [item async for item in result]
        if not inspect.isawaitable(result):
            return list(result) if isinstance(result, GeneratorType) else result
        result = await result
