"""Daemon threads for blocking work; one that is done waits a moment for the next piece.

No piece ever waits for a thread: where none is idle a new one starts, so that a function that
never returns takes no place from others. Being daemons, the threads do not delay the exit of
the interpreter.
"""

from __future__ import annotations

import contextvars
import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")

_PATIENCE: Final = 5.0  # seconds that an idle thread waits before it ends

_idle: Final[list[_Worker]] = []  # the last in is the first out, so that a surplus ends


class _Worker:
    """One thread and the box in which it finds its next piece of work."""

    __slots__ = ("_box",)

    def __init__(self, work: Callable[[], object]) -> None:
        self._box: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._box.put(work)
        threading.Thread(target=self._run, name="reasonact-worker", daemon=True).start()

    def take(self, work: Callable[[], object]) -> None:
        self._box.put(work)

    def _run(self) -> None:
        while True:
            try:
                work = self._box.get(timeout=_PATIENCE)
            except queue.Empty:
                try:
                    _idle.remove(self)
                except ValueError:  # somebody has just taken it: the work is on its way
                    continue
                return
            work()
            del work  # and what it holds: the next may be long in coming
            _idle.append(self)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


def start_in_thread(work: Callable[[], object]) -> None:
    """Run something in a daemon thread.

    Args:
        work: What to run. It handles its own failures: one that gets out ends the thread, and
            is reported as Python reports those of any thread.

    Raises:
        RuntimeError: The interpreter is ending, or the system gives no further thread.
    """
    if sys.is_finalizing():  # its daemon threads stand still: who waited for one would wait for ever
        raise RuntimeError("the interpreter is ending, and runs no threads any more")
    try:
        worker = _idle.pop()
    except IndexError:
        _Worker(work)
    else:
        worker.take(work)


def in_daemon_thread(func: Callable[..., T], /, *args: Any) -> Future[T]:
    """Run a function in a daemon thread with this context's variables.

    Args:
        func: What to run.
        *args: Its arguments.

    Returns:
        Its future.

    Raises:
        RuntimeError: The interpreter is ending, or the system gives no further thread.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(func, *args)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    start_in_thread(work)
    return future
