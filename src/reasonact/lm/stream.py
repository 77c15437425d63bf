"""Answers in chunks: who listens.

While a `ChunkSink` listens (`streaming_to`), an `LM` asks its provider for a stream and
hands on each chunk as it comes. The call's result is the same as without: the chunks are
put together to one OpenAI-shaped response (`reasonact.lm.assembly`). An LM that cannot stream, and an answer out of
the cache, give one chunk that holds everything.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from reasonact.runtime.flow import Command, Flow, call


class ChunkSink(Protocol):
    """Where chunks go. A sync call uses ``put``, an async one ``aput``; either may wait, and may
    raise to end the stream."""

    def put(self, chunk: Any, /) -> None:
        """Take one OpenAI-shaped chunk, blocking where the reader is behind."""

    async def aput(self, chunk: Any, /) -> None:
        """Take one chunk without blocking the event loop."""


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


class CountingSink:
    """Hands chunks on and knows whether any were: what was shown is not sent again.

    Args:
        sink: Who listens.
    """

    def __init__(self, sink: ChunkSink) -> None:
        self._sink = sink
        self.count = 0

    def put(self, chunk: Any) -> None:
        """Hand one chunk on."""
        self.count += 1
        self._sink.put(chunk)

    async def aput(self, chunk: Any) -> None:
        """Hand one chunk on without blocking the event loop."""
        self.count += 1
        await self._sink.aput(chunk)


def current_chunk_sink() -> ChunkSink | None:
    """Who listens to chunks here, if anybody."""
    return _sink.get()


@dataclass(frozen=True, slots=True)
class Deliver(Command[None]):
    """Hand one chunk to a sink."""

    sink: ChunkSink
    chunk: Any

    def run(self) -> None:
        self.sink.put(self.chunk)

    async def arun(self) -> None:
        await self.sink.aput(self.chunk)


def deliver(sink: ChunkSink, chunk: Any) -> Flow[None]:
    """Hand one chunk to a sink from inside a flow."""
    yield from call(Deliver(sink, chunk))
