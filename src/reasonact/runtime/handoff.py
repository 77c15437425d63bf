"""From the code that runs to the code that reads: one item at a time, across threads and event loops.

Whoever hands an item over goes on when the reader asks for the one after it. So a run is
under way only while its reader waits: it is never further than one item ahead, and when the
reader leaves, it stands still at a known place and ends there. The state is plain data under
one lock; waiting is a lock for a thread and a future for a task.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Generic, TypeVar

T = TypeVar("T")

Wake = Callable[[], None]


class StreamClosed(BaseException):
    """Nobody reads any more, so what runs has to end. Like a cancellation, it passes by ``except Exception``."""


class End:
    """What `Handoff.get` gives when all has been read."""


END: Final = End()


class Handoff(Generic[T]):
    """Takes items from any number of threads and tasks and gives them to one reader.

    It is an event sink and a chunk sink. An item that is put by the reader's own thread
    outside of a task's ``await`` does not wait, for there nobody could read meanwhile.

    Args:
        wanted: Which items to take; others are dropped where they are put.
    """

    def __init__(self, wanted: Callable[[T], bool] | None = None) -> None:
        self._wanted = wanted
        self._lock = threading.Lock()
        self._items: deque[T] = deque()
        self._waiting: deque[tuple[int, Wake]] = deque()
        self._put = 0
        self._asked = 0
        self._wake_reader: Wake | None = None
        self._reader_thread = -1
        self._ended = False
        self._closed = False

    def put(self, item: T) -> None:
        """Hand an item over and wait, blocking, until the reader asks for the next.

        Raises:
            StreamClosed: The reader has left.
        """
        if self._wanted is not None and not self._wanted(item):
            return
        if threading.get_ident() == self._reader_thread:
            self._give(item, None)
            return
        gate = threading.Lock()
        gate.acquire()
        self._give(item, gate.release)
        gate.acquire()
        self._check()

    async def aput(self, item: T) -> None:
        """Hand an item over and wait, without blocking the event loop; otherwise as `put`."""
        if self._wanted is not None and not self._wanted(item):
            return
        gate, wake = _future()
        self._give(item, wake)
        await gate
        self._check()

    def get(self) -> T | End:
        """Wait, blocking, for the next item.

        Returns:
            The item; `END` after the last.
        """
        gate = threading.Lock()
        gate.acquire()
        if not self._ask(gate.release):
            gate.acquire()
        return self._take()

    async def aget(self) -> T | End:
        """Wait for the next item without blocking the event loop; otherwise as `get`."""
        gate, wake = _future()
        if not self._ask(wake):
            await gate
        return self._take()

    def finish(self) -> None:
        """Say that no more items will come."""
        with self._lock:
            self._ended = True
            wake, self._wake_reader = self._wake_reader, None
        if wake is not None:
            wake()

    def close(self) -> None:
        """Say that nobody reads any more: whoever hands over, now or later, gets `StreamClosed`."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, deque()
        for _, wake in waiting:
            wake()

    def _check(self) -> None:
        if self._closed:
            raise StreamClosed

    def _give(self, item: T, wake: Wake | None) -> None:
        with self._lock:
            self._check()
            self._items.append(item)
            self._put += 1
            if wake is not None:
                self._waiting.append((self._put, wake))
            reader, self._wake_reader = self._wake_reader, None
        if reader is not None:
            reader()

    def _ask(self, wake: Wake) -> bool:
        """Let those go on whose items have been read; whether the next item is there."""
        go_on: list[Wake] = []
        with self._lock:
            self._reader_thread = threading.get_ident()
            self._asked += 1
            while self._waiting and self._waiting[0][0] < self._asked:
                go_on.append(self._waiting.popleft()[1])
            ready = bool(self._items) or self._ended
            self._wake_reader = None if ready else wake
        for release in go_on:
            release()
        return ready

    def _take(self) -> T | End:
        with self._lock:
            return self._items.popleft() if self._items else END


def _future() -> tuple[asyncio.Future[None], Wake]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    return future, partial(_wake, loop, future, threading.get_ident())


def _wake(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None], thread: int) -> None:
    if threading.get_ident() == thread:
        _settle(future)
        return
    try:
        loop.call_soon_threadsafe(_settle, future)
    except RuntimeError:  # the loop was closed: nobody waits there any more
        pass


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():  # else the waiting task was cancelled
        future.set_result(None)
