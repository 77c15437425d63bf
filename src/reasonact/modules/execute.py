"""udspy's way to read a stream: chunks of fields, then the prediction."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterable
from typing import Any

from reasonact.runtime.events import Event, OutputText, RunFinished, TextWithdrawn, ThoughtText

THOUGHT = "reasoning"
"""The field under which udspy reports a thought."""


@dataclasses.dataclass(frozen=True, slots=True)
class OutputStreamChunk:
    """A piece of an output field, in the form of udspy 0.1.

    Args:
        module: The module that wrote it.
        field: The field; ``reasoning`` for an agent's thought.
        delta: What is new.
        content: What there is of the field so far.
        is_complete: Whether that is all.
    """

    module: Any = dataclasses.field(repr=False, compare=False)
    field: str
    delta: str
    content: str
    is_complete: bool

    @property
    def field_name(self) -> str:
        """The field, under udspy's other name for it."""
        return self.field


class Chunks:
    """Turns the events of a run into chunks."""

    def __init__(self) -> None:
        self._content: dict[str, str] = {}
        self._thinker: Any = None

    def of(self, event: Event) -> Iterable[OutputStreamChunk]:
        """The chunks that an event brings.

        Args:
            event: The next event of the run.

        Yields:
            Chunks; the one that ends a field may hold no new text.
        """
        if isinstance(event, ThoughtText):
            self._thinker = event.source
            yield self._chunk(event.source, THOUGHT, event.text, False)
            return
        if isinstance(event, TextWithdrawn):
            self._content, self._thinker = {}, None
            return
        if self._thinker is not None:
            yield self._chunk(self._thinker, THOUGHT, "", True)
            self._thinker = None
        if isinstance(event, OutputText):
            yield self._chunk(event.source, event.field, event.text, event.done)

    def _chunk(self, module: Any, name: str, delta: str, complete: bool) -> OutputStreamChunk:
        content = self._content.get(name, "") + delta
        self._content[name] = "" if complete else content
        return OutputStreamChunk(module, name, delta, content, complete)


async def executed(events: AsyncIterator[Event], module: Any) -> AsyncIterator[Any]:
    """The chunks of a run and its prediction.

    Args:
        events: The events of the run.
        module: The module that runs.

    Yields:
        `OutputStreamChunk` objects, then the prediction.
    """
    chunks = Chunks()
    try:
        async for event in events:
            for chunk in chunks.of(event):
                yield chunk
            if isinstance(event, RunFinished) and event.source is module:
                yield event.prediction
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
