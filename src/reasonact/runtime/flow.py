"""Flows: multi-step behaviour as a generator that yields commands and gets results.

A flow does no I/O. It yields a `Command`, a driver (`reasonact.runtime.drive`) runs the
command, sync or async, and sends the result back; a command that fails is thrown into
the flow, so that a body reads like any Python code::

    def body(...) -> Flow[str]:
        try:
            reply = yield from call(AskModel(...))
        except ContextWindowExceededError:
            ...

Flows nest with ``yield from``. The scheme is that of httpx's auth flows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Command(ABC, Generic[R]):
    """One effect that a flow asks for. Subclasses are small frozen dataclasses."""

    __slots__ = ()

    @abstractmethod
    def run(self) -> R:
        """Do it here and now, blocking."""

    @abstractmethod
    async def arun(self) -> R:
        """Do it without blocking the event loop."""


class RaisedExit(BaseException):
    """An exception on its way through what would take it for a sign of its own.

    That is a GeneratorExit in a flow, which would read as the driver's close; and an interrupt in
    a task, which would stop the event loop before anybody has put the work so far on it.

    Args:
        error: The exception; it is raised where it can do no harm.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


Flow: TypeAlias = Generator[Command[Any], Any, T]


def call(command: Command[R]) -> Flow[R]:
    """Yield one command and give its result the command's own type."""
    result: R = yield command
    return result
