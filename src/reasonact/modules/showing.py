"""What a predictor has shown of its answer while it arrived, beside what it turned out to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic.fields import FieldInfo

from reasonact.adapters.values import format_field_value
from reasonact.runtime.events import (
    Event,
    EventSink,
    OutputText,
    TextWithdrawn,
    ToolCallDelta,
    emit,
    listening_through,
    live_sink,
)
from reasonact.runtime.flow import Flow
from reasonact.runtime.sinks import Relay
from reasonact.signatures.signature import Signature
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls


class Shown(Relay[Event]):
    """An event sink that hands on, and keeps the text of each field.

    Args:
        sink: Who listens.
    """

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._texts: dict[str, list[str]] = {}
        self.calls = False

    def route(self, item: Event) -> Iterable[tuple[EventSink, Event]]:
        """Note one event and hand it on."""
        self._note(item)
        return ((self._sink, item),)

    def text(self, field: str) -> str | None:
        """What was shown of a field; None for nothing."""
        return "".join(self._texts[field]) if field in self._texts else None

    def anything(self) -> bool:
        """Whether there is anything to withdraw."""
        return bool(self._texts) or self.calls

    def _note(self, event: Event) -> None:
        if isinstance(event, OutputText):
            self._texts.setdefault(event.field, []).append(event.text)
        elif isinstance(event, ToolCallDelta):
            self.calls = True
        elif isinstance(event, TextWithdrawn):
            self._texts, self.calls = {}, False


def withdraw(source: Any) -> Flow[None]:
    """Take back what a predictor has shown so far, if it has shown anything.

    Args:
        source: The predictor.
    """
    sink = live_sink()
    if isinstance(sink, Shown) and sink.anything():
        yield from emit(TextWithdrawn(None, source=source))


def shown_live(
    sink: EventSink, source: Any, signature: type[Signature], body: Callable[[], Flow[list[dict[str, Any]]]]
) -> Flow[list[dict[str, Any]]]:
    """Run the body of a predictor, and complete what it shows.

    A field that could not be shown while it arrived is shown whole, and what was shown
    otherwise than it was read is withdrawn.

    Args:
        sink: Who listens live.
        source: The predictor.
        signature: Its signature.
        body: Makes the flow that gives the fields of each completion.

    Returns:
        What the body gives.
    """
    shown = Shown(sink)
    with listening_through(shown):
        completions = yield from body()
        values = completions[0] if completions else {}
        fields = signature.output_fields
        texts = {name: shown_text(fields[name], values[name]) for name in fields if values.get(name) is not None}
        if any(_differs(shown.text(name), texts.get(name), values.get(name)) for name in fields):
            yield from emit(TextWithdrawn(None, source=source))
        for name, text in texts.items():
            if shown.text(name) is None and not (shown.calls and isinstance(values[name], ToolCalls)):
                yield from emit(OutputText(name, text, True, source=source))
    return completions


def shown_text(info: FieldInfo, value: Any) -> str:
    """The value of a field as the text of an event.

    Args:
        info: The field.
        value: Its value.

    Returns:
        A text as it is, anything else as JSON.
    """
    formatted = format_field_value(info, value)
    return formatted if isinstance(formatted, str) else str(value)


def _differs(shown: str | None, text: str | None, value: Any) -> bool:
    if shown is None or isinstance(value, ToolCalls):
        return False
    if text is None:
        return bool(shown)
    # A field that is no text may be written in many ways; a thought may follow the provider's reasoning.
    return isinstance(value, (str, Reasoning)) and not shown.strip().endswith(text.strip())
