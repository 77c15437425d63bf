"""A scripted model that writes its replies piece by piece where somebody listens."""

from __future__ import annotations

from typing import Any

from reasonact.lm.chunks import as_one_chunk
from reasonact.lm.response import Response
from reasonact.lm.stream import current_chunk_sink
from reasonact.testing import ScriptedLM


class TypingLM(ScriptedLM):
    """Delivers text, reasoning and arguments in pieces of so many characters."""

    def __init__(self, replies: Any, *, size: int = 3, **options: Any) -> None:
        super().__init__(replies, **options)
        self.size = size

    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        response = super().forward(prompt, messages, **kwargs)
        sink = current_chunk_sink()
        for chunk in pieces_of(response, self.size) if sink is not None else ():
            sink.put(chunk)
        return response

    async def aforward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        response = super().forward(prompt, messages, **kwargs)
        sink = current_chunk_sink()
        for chunk in pieces_of(response, self.size) if sink is not None else ():
            await sink.aput(chunk)
        return response


def pieces_of(response: Any, size: int) -> list[Response]:
    """A response as the chunks of a stream."""
    whole = as_one_chunk(response)
    assert whole is not None
    chunks = []
    for choice in whole.choices:
        delta = choice["delta"]

        def say(index: int = choice["index"], reason: str | None = None, **fields: Any) -> None:
            chunks.append(Response(choices=[Response(index=index, delta=Response(fields), finish_reason=reason)]))

        for name in ("reasoning_content", "content"):
            for piece in cut(delta.get(name) or "", size):
                say(**{name: piece})
        for called in delta.get("tool_calls") or ():
            function = called["function"]
            opening = {"id": called["id"], "function": Response(name=function["name"], arguments="")}
            say(tool_calls=[Response(index=called["index"], **opening)])
            for piece in cut(function["arguments"], size):
                say(tool_calls=[Response(index=called["index"], function=Response(arguments=piece))])
        say(reason=choice["finish_reason"])
    return chunks


def cut(text: str, size: int) -> list[str]:
    """A text in pieces."""
    return [text[start : start + size] for start in range(0, len(text), size)]
