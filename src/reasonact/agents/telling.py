"""What a turn tells while the model still writes it, and what is left to tell afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from reasonact.adapters.asking import merged
from reasonact.adapters.call_splitter import CallSplitter
from reasonact.adapters.json_splitter import JsonSplitter
from reasonact.agents.names import SUBMIT
from reasonact.agents.run import Run
from reasonact.lm.chunks import CallDelta
from reasonact.modules.showing import shown_text
from reasonact.runtime.events import (
    Event,
    EventSink,
    OutputText,
    TextWithdrawn,
    ThoughtText,
    ToolCallDelta,
    emit,
    listening_through,
    live_sink,
    wants_fields,
)
from reasonact.runtime.flow import Flow
from reasonact.runtime.settings import settings
from reasonact.runtime.sinks import Relay

T = TypeVar("T")


def told_live(run: Run, request: Flow[T]) -> Flow[T]:
    """Make the request of a turn, and tell its answer as thought, calls and outputs while it arrives.

    Args:
        run: The run; its ``told`` keeps what was told.
        request: The request.

    Returns:
        What the request gives.
    """
    sink = live_sink()
    if sink is None:
        return (yield from request)
    ending = run.tools.get(SUBMIT)
    outputs = () if ending is None or run.state.agent != "structured" else tuple(ending.args)
    source = (settings.caller_modules or (None,))[-1]
    run.told = Told(sink, source, run.state.turn, outputs)
    with listening_through(run.told):
        return (yield from request)


def tell_thought(run: Run, thought: str) -> Flow[None]:
    """Tell the thought of a turn, unless its pieces were told already.

    Args:
        run: The run.
        thought: The thought, whole.
    """
    told = run.told
    before = "" if told is None else told.thought()
    if told is not None and before:
        if before.strip().endswith(thought.strip()):
            return
        told.forget()
        yield from emit(TextWithdrawn(run.state.turn))
    yield from emit(ThoughtText(run.state.turn, thought))


def tell_outputs(run: Run, fields: Mapping[str, Any], outputs: Mapping[str, Any] | None) -> Flow[None]:
    """Tell the outputs that ended a run, unless their pieces were told already.

    Args:
        run: The run.
        fields: The output fields.
        outputs: Their values; None where what was told of them did not fit.
    """
    if live_sink() is None:
        return
    before = {} if run.told is None else run.told.outputs()
    for name, text in before.items():
        value = None if outputs is None else outputs.get(name)
        if value is None or (isinstance(value, str) and value.strip() != text.strip()):
            yield from emit(TextWithdrawn(run.state.turn, name))
    for name, value in (outputs or {}).items():
        text = shown_text(fields[name], value)
        if name not in before or (isinstance(value, str) and value.strip() != before[name].strip()):
            yield from emit(OutputText(name, text, True, run.state.turn))


class Told(Relay[Event]):
    """An event sink that tells the fields of a turn as what they are to the agent.

    Args:
        sink: Who listens.
        source: The agent.
        turn: The turn.
        outputs: The fields that ``submit`` carries; none where the agent has no such tool.
    """

    def __init__(self, sink: EventSink, source: Any, turn: int, outputs: tuple[str, ...]) -> None:
        self._sink = sink
        self._source = source
        self._turn = turn
        self._fields = outputs
        self._as_it_is = wants_fields()
        self.forget()

    def forget(self) -> None:
        """Begin anew: what was told does not hold."""
        self._thought: list[str] = []
        self._outputs: dict[str, list[str]] = {}
        self._splitter = JsonSplitter(self._fields)
        self._calls = CallSplitter()
        self._names: dict[int, str] = {}
        self._submit: int | None = None

    def thought(self) -> str:
        """What was told of the thought."""
        return "".join(self._thought)

    def outputs(self) -> dict[str, str]:
        """What was told of each output field."""
        return {name: "".join(texts) for name, texts in self._outputs.items()}

    def route(self, item: Event) -> Iterable[tuple[EventSink, Event]]:
        """What is told of one event of the predictor."""
        return [(self._sink, told) for told in self._tell(item)]

    def _tell(self, event: Event) -> list[Event]:
        if isinstance(event, OutputText):
            return [event, *self._field(event)] if self._as_it_is else self._field(event)
        if isinstance(event, ToolCallDelta) and event.turn is None:
            return self._call(CallDelta(event.index, event.call_id, event.name, event.text))
        if isinstance(event, TextWithdrawn) and event.turn is None:
            self.forget()
            told = TextWithdrawn(self._turn, source=self._source)
            return [event, told] if self._as_it_is else [told]
        return [event]

    def _field(self, event: OutputText) -> list[Event]:
        if event.field == "next_thought":
            if not event.text:
                return []
            self._thought.append(event.text)
            return [ThoughtText(self._turn, event.text, source=self._source)]
        if event.field == "tool_calls":
            return [told for delta in self._calls.feed(event.text) for told in self._call(delta)]
        if event.field == "next_tool_name":
            self._names[0] = self._names.get(0, "") + event.text
            return [self._delta(0, None, "")] if event.done else []
        if event.field == "next_tool_args":
            return [self._delta(0, None, event.text)] if event.text and 0 in self._names else []
        return [event]

    def _call(self, delta: CallDelta) -> list[Event]:
        if delta.name:
            self._names[delta.index] = delta.name
        if self._names.get(delta.index) != SUBMIT or not self._fields:
            return [self._delta(delta.index, delta.id, delta.arguments)]
        self._submit = delta.index if self._submit is None else self._submit
        if delta.index != self._submit:  # the first valid one counts, and this one is most likely valid
            return []
        told: list[Event] = []
        for field, text, done in merged(self._splitter.feed(delta.arguments)):
            self._outputs.setdefault(field, []).append(text)
            told.append(OutputText(field, text, done, self._turn, source=self._source))
        return told

    def _delta(self, index: int, call_id: str | None, text: str) -> ToolCallDelta:
        return ToolCallDelta(self._turn, index, call_id, self._names.get(index, ""), text, source=self._source)
