"""Events of a run, and the sink that takes them.

A flow says what happens by ``yield from emit(event)``; where nobody listens that costs
one look at a context variable. A sink takes events in the order in which they happen,
and may make the producer wait, so that a slow reader slows the run instead of filling
memory.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from reasonact.runtime.flow import Command, Flow, call


@dataclass(frozen=True, slots=True)
class RunStarted:
    """An agent begins: its class name and the inputs of the call."""

    agent: str
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ThoughtText:
    """A piece of the model's thought in a turn; the pieces of a turn add up to the thought."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model asks for a tool, arguments whole and as the tool will get them."""

    turn: int
    call_id: str
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool has answered, or failed (``is_error``; then ``value`` is the model's error line)."""

    turn: int
    call_id: str
    name: str
    value: Any
    is_error: bool


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """A turn is over; ``usage`` holds its tokens by kind, as the provider reports them."""

    turn: int
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over: its prediction."""

    prediction: Any


Event = RunStarted | ThoughtText | ToolCalled | ToolReturned | TurnFinished | RunFinished


class EventSink(Protocol):
    """Where events go. A sync run calls ``put``, an async one ``aput``; either may wait."""

    def put(self, event: Event) -> None:
        """Take one event, blocking where the reader is behind."""

    async def aput(self, event: Event) -> None:
        """Take one event without blocking the event loop."""


_sink: contextvars.ContextVar[EventSink | None] = contextvars.ContextVar("reasonact_event_sink", default=None)


@contextmanager
def listening(sink: EventSink | None) -> Iterator[None]:
    """Send the events of everything run in the block to a sink (None: to nobody)."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


def current_sink() -> EventSink | None:
    """The sink that listens here, if any."""
    return _sink.get()


@dataclass(frozen=True, slots=True)
class Emit(Command[None]):
    """Hand one event to the sink that listens here."""

    event: Event

    def run(self) -> None:
        sink = _sink.get()
        if sink is not None:
            sink.put(self.event)

    async def arun(self) -> None:
        sink = _sink.get()
        if sink is not None:
            await sink.aput(self.event)


def emit(event: Event) -> Flow[None]:
    """Report an event from inside a flow."""
    if _sink.get() is not None:
        yield from call(Emit(event))
