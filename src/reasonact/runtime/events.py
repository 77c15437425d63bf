"""The events of a run, and the sink that takes them.

A flow says what happens by ``yield from emit(event)``; where nobody listens that costs
one look at a context variable. A sink takes events in the order in which they happen,
and may make the producer wait, so that a slow reader slows the run instead of filling
memory. A sink that listens *live* also gets the pieces of an answer while they arrive,
for which models are asked to stream.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from reasonact.runtime.flow import Flow
from reasonact.runtime.settings import settings
from reasonact.runtime.sinks import Sink, put


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sourced:
    """What every event carries."""

    source: Any = field(default=None, repr=False, compare=False)
    """The module that reports: the agent, or the predictor."""


@dataclass(frozen=True, slots=True)
class RunStarted(_Sourced):
    """An agent, or the module that is streamed, begins: its class name and the inputs of the call."""

    agent: str
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ThoughtText(_Sourced):
    """A piece of the model's thought in a turn; the pieces of a turn add up to the thought.

    Where a provider gives its reasoning apart from the text, the reasoning comes first.
    """

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta(_Sourced):
    """A piece of a tool call while the model writes it; `ToolCalled` has the whole.

    Args:
        turn: The turn; None where a predictor outside an agent asks for the call.
        index: The number of the call in the turn, from 0.
        call_id: The provider's id for it, as soon as it is known.
        name: The tool.
        text: What came of the arguments, as JSON text.
    """

    turn: int | None
    index: int
    call_id: str | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled(_Sourced):
    """The model asks for a tool, arguments whole and as the tool will get them."""

    turn: int
    call_id: str
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolReturned(_Sourced):
    """A tool has answered, or failed (``is_error``; then ``value`` is the model's error line)."""

    turn: int
    call_id: str
    name: str
    value: Any
    is_error: bool


@dataclass(frozen=True, slots=True)
class OutputText(_Sourced):
    """A piece of an output field, as the model writes it; the pieces up to ``done`` add up to the field.

    A field that is no text comes as it is written, most often as JSON.

    Args:
        field: The output field.
        text: What came; may be empty where ``done``.
        done: Whether the field is complete.
        turn: The turn of the agent that wrote it; None outside of turns.
    """

    field: str
    text: str
    done: bool
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class TextWithdrawn(_Sourced):
    """What came as pieces of this turn does not hold: it is replaced by what follows.

    A completion that could not be read is asked for again in another form, or was read
    otherwise than it seemed while it arrived; outputs may turn out not to fit.

    Args:
        turn: The turn; None outside of turns.
        field: The output field whose pieces do not hold; None for all of the turn, thought included.
    """

    turn: int | None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class TurnFinished(_Sourced):
    """A turn is over; ``usage`` holds its tokens by kind, as the provider reports them."""

    turn: int
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunFinished(_Sourced):
    """The run is over: its prediction."""

    prediction: Any


Event = (
    RunStarted
    | ThoughtText
    | ToolCallDelta
    | ToolCalled
    | ToolReturned
    | OutputText
    | TextWithdrawn
    | TurnFinished
    | RunFinished
)


EventSink: TypeAlias = Sink[Event]
"""Where events go."""


@dataclass(frozen=True, slots=True)
class _Listener:
    sink: EventSink
    live: bool
    by_predictor: bool


_listener: contextvars.ContextVar[_Listener | None] = contextvars.ContextVar("reasonact_event_listener", default=None)


@contextmanager
def listening(sink: EventSink | None, *, live: bool = False, by_predictor: bool = False) -> Iterator[None]:
    """Send the events of everything run in the block to a sink (None: to nobody).

    Args:
        sink: Who listens.
        live: Whether to stream models, and report the pieces of their answers as they come.
        by_predictor: Whether an agent's turns are reported as the fields of its predictors
            too, beside what they mean to the agent.
    """
    token = _listener.set(None if sink is None else _Listener(sink, live, by_predictor))
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def listening_through(sink: EventSink) -> Iterator[None]:
    """Put a sink before the one that listens here; what that one wants to hear stays the same.

    Args:
        sink: Takes the events, and hands them on as it sees fit.
    """
    listener = _listener.get()
    token = _listener.set(None if listener is None else replace(listener, sink=sink))
    try:
        yield
    finally:
        _listener.reset(token)


def live_sink() -> EventSink | None:
    """The sink that listens here live, if any."""
    listener = _listener.get()
    return listener.sink if listener is not None and listener.live else None


def wants_fields() -> bool:
    """Whether an agent's turns are to be reported as the fields of its predictors too."""
    listener = _listener.get()
    return listener is not None and listener.by_predictor


def emit(event: Event) -> Flow[None]:
    """Report an event from inside a flow; its source is the module at work, unless it names another."""
    listener = _listener.get()
    if listener is not None:
        callers = settings.caller_modules
        if event.source is None and callers:
            event = replace(event, source=callers[-1])
        yield from put(listener.sink, event)
