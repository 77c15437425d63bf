"""Sending a plan to a model, and showing the fields of the answer while it arrives.

Where a sink listens live, the model is asked to stream: its text goes through the adapter's
splitter, its reasoning and its tool calls come as they are. Of several completions the
first is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reasonact.adapters.plan import Plan
from reasonact.adapters.splitting import Piece, Splitter
from reasonact.lm.call import call_lm
from reasonact.lm.chunks import read_deltas
from reasonact.lm.stream import ChunkSink, current_chunk_sink, streaming_to
from reasonact.runtime.events import Event, EventSink, OutputText, ToolCallDelta, emit, live_sink
from reasonact.runtime.flow import Flow
from reasonact.runtime.settings import settings
from reasonact.runtime.sinks import Relay, Sink
from reasonact.types.reasoning import Reasoning

if TYPE_CHECKING:
    from reasonact.adapters.base import Adapter


def ask(adapter: Adapter, lm: Any, plan: Plan) -> Flow[list[Any]]:
    """Send a plan.

    Args:
        adapter: The adapter that made the plan; its splitter cuts what arrives.
        lm: The model.
        plan: The plan.

    Returns:
        The flow; it gives the completions.

    Raises:
        LMError: The model could not be asked, or its stream broke.
    """
    sink = live_sink()
    if sink is None:
        return (yield from call_lm(lm, plan.messages, plan.options))
    reader = ChunkReader(plan, _splitter(adapter, plan), sink, current_chunk_sink())
    with streaming_to(reader):
        outputs = yield from call_lm(lm, plan.messages, plan.options)
    for event in reader.close():
        yield from emit(event)
    return outputs


def _splitter(adapter: Adapter, plan: Plan) -> Splitter | None:
    try:
        return adapter.splitter(plan)
    except NotImplementedError:  # a form of the program's own: its fields are shown when they are read
        return None


def merged(pieces: list[Piece]) -> list[Piece]:
    """The same pieces, neighbours of one field in one.

    Args:
        pieces: What a splitter gave at once.
    """
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].field == piece.field and not joined[-1].done:
            joined[-1] = Piece(piece.field, joined[-1].delta + piece.delta, piece.done)
        else:
            joined.append(piece)
    return joined


class ChunkReader(Relay[Any]):
    """Turns the chunks of one answer into events.

    Args:
        plan: The plan that is being answered.
        splitter: Cuts the text; None shows none of it.
        sink: Gets the events.
        behind: Gets the chunks themselves too.
    """

    def __init__(self, plan: Plan, splitter: Splitter | None, sink: EventSink, behind: ChunkSink | None) -> None:
        self._splitter = splitter
        self._sink = sink
        self._behind = behind
        self._source = (settings.caller_modules or (None,))[-1]
        self._thought = next((name for name, kind in plan.native.typed.items() if issubclass(kind, Reasoning)), None)
        self._thinks = False
        self._beside = plan.native.free_text == self._thought
        self._own_names = plan.native.own_names
        self._calls: dict[int, tuple[str | None, str]] = {}

    def route(self, item: Any) -> Iterator[tuple[Sink[Any], Any]]:
        """Hand one chunk on, and what it says as events."""
        if self._behind is not None:
            yield self._behind, item
        for event in self._events(item):
            yield self._sink, event

    def close(self) -> list[Event]:
        """Take note that the answer is over.

        Returns:
            What was held back.
        """
        events = self._pieces(self._splitter.close()) if self._splitter is not None else []
        return [*self._thought_ended(goes_on=bool(events)), *events]

    def _events(self, chunk: Any) -> list[Event]:
        events: list[Event] = []
        for delta in read_deltas(chunk):
            if delta.index != 0:
                continue
            if delta.reasoning and self._thought is not None:
                self._thinks = True
                events.append(OutputText(self._thought, delta.reasoning, False, source=self._source))
            if delta.text and self._splitter is not None:
                pieces = self._pieces(self._splitter.feed(delta.text))
                events += [*self._thought_ended(goes_on=True), *pieces] if pieces else []
            for piece in delta.calls:
                call_id, name = self._calls.get(piece.index, (None, ""))
                if piece.name and not name:
                    name = self._own_names.get(piece.name, piece.name)
                self._calls[piece.index] = call_id, name = call_id or piece.id, name
                if name:
                    shown = ToolCallDelta(None, piece.index, call_id, name, piece.arguments, source=self._source)
                    events.append(shown)
        return events

    def _pieces(self, pieces: list[Piece]) -> list[Event]:
        return [OutputText(field, text, done, source=self._source) for field, text, done in merged(pieces)]

    def _thought_ended(self, *, goes_on: bool) -> list[Event]:
        if not self._thinks or self._thought is None:
            return []
        self._thinks = False
        # Where the text beside the calls is the thought as well, it goes on there.
        text, done = ("\n\n", False) if self._beside and goes_on else ("", True)
        return [OutputText(self._thought, text, done, source=self._source)]
