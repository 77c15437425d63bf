"""Answers in chunks: who listens.

While a `ChunkSink` listens (`streaming_to`), an `LM` asks its provider for a stream and
hands on each chunk as it comes. The call's result is the same as without: the chunks are
put together to one OpenAI-shaped response (`reasonact.lm.assembly`). An LM that cannot stream, and an answer out of
the cache, give one chunk that holds everything.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from reasonact.runtime.sinks import Relay, Sink

ChunkSink: TypeAlias = Sink[Any]
"""Where the chunks of an answer go, OpenAI-shaped."""

_sink: contextvars.ContextVar[ChunkSink | None] = contextvars.ContextVar("reasonact_chunk_sink", default=None)


@contextmanager
def streaming_to(sink: ChunkSink | None) -> Iterator[None]:
    """Stream the model calls made in the block to a sink (None: do not stream).

    Args:
        sink: Who listens.
    """
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


class CountingSink(Relay[Any]):
    """Hands chunks on and knows whether any were: what was shown is not sent again.

    Args:
        sink: Who listens.
    """

    def __init__(self, sink: ChunkSink) -> None:
        self._sink = sink
        self.count = 0

    def route(self, item: Any) -> Iterable[tuple[ChunkSink, Any]]:
        """Hand one chunk on."""
        self.count += 1
        return ((self._sink, item),)


def current_chunk_sink() -> ChunkSink | None:
    """Who listens to chunks here, if anybody."""
    return _sink.get()
