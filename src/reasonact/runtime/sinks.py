"""Sinks: where a run hands things over while it goes on, and what stands before another sink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from reasonact.runtime.flow import Command, Flow, call

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class Sink(Protocol[T_contra]):
    """Where things go. A sync run calls ``put``, an async one ``aput``; either may wait, or raise to end the run."""

    def put(self, item: T_contra, /) -> None:
        """Take one, blocking where the reader is behind."""

    async def aput(self, item: T_contra, /) -> None:
        """Take one without blocking the event loop."""


class Relay(ABC, Generic[T]):
    """A sink that stands before others. It says as data what goes where, and so serves sync and async runs."""

    @abstractmethod
    def route(self, item: T) -> Iterable[tuple[Sink[Any], Any]]:
        """What becomes of an item.

        Args:
            item: What was handed over.

        Returns:
            Sinks, each with what it is to get, in order.
        """

    def put(self, item: T, /) -> None:
        """Take one, blocking where a reader is behind."""
        for sink, out in self.route(item):
            sink.put(out)

    async def aput(self, item: T, /) -> None:
        """Take one without blocking the event loop."""
        for sink, out in self.route(item):
            await sink.aput(out)


@dataclass(frozen=True, slots=True)
class _Put(Command[None]):
    """Hand one thing to a sink."""

    sink: Sink[Any]
    item: Any

    def run(self) -> None:
        self.sink.put(self.item)

    async def arun(self) -> None:
        await self.sink.aput(self.item)


def put(sink: Sink[T], item: T) -> Flow[None]:
    """Hand one thing to a sink from inside a flow."""
    yield from call(_Put(sink, item))
