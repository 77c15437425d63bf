"""What one chunk of a streamed answer says, and a whole answer as one chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reasonact.lm.outputs import fields_of, member, plain, text_of
from reasonact.lm.response import Response


@dataclass(frozen=True, slots=True)
class Delta:
    """What one chunk adds to one completion.

    Attributes:
        text: Text of the answer.
        reasoning: Text of the reasoning.
        calls: Pieces of tool calls.
        finish_reason: Why the completion ended, on its last chunk.
        index: The number of the completion, from 0.
    """

    text: str
    reasoning: str
    calls: tuple[CallDelta, ...]
    finish_reason: str | None
    index: int


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a tool call: its number in the turn, and what came of id, name and arguments (JSON text)."""

    index: int
    id: str | None
    name: str | None
    arguments: str


def read_deltas(chunk: Any) -> list[Delta]:
    """What a chunk adds to the completions of a response.

    Args:
        chunk: An OpenAI-shaped chunk, of chat or of plain completions.

    Returns:
        One delta per completion that the chunk speaks of.
    """
    return [read_delta(choice) for choice in member(chunk, "choices") or ()]


def read_delta(choice: Any) -> Delta:
    """What one choice of a chunk adds to its completion.

    Args:
        choice: An entry of the chunk's ``choices``.

    Returns:
        The delta.
    """
    said = fields_of(choice)
    body = said.get("delta")
    delta = fields_of(body)
    calls = delta.get("tool_calls")
    return Delta(
        text=(said.get("text") if body is None else delta.get("content")) or "",
        reasoning=delta.get("reasoning_content") or "",
        calls=tuple(_call_delta(number, piece) for number, piece in enumerate(calls)) if calls else (),
        finish_reason=said.get("finish_reason"),
        index=said.get("index") or 0,
    )


def _call_delta(number: int, piece: Any) -> CallDelta:
    function = member(piece, "function")
    index = member(piece, "index")
    return CallDelta(
        index=number if index is None else index,
        id=member(piece, "id") or None,
        name=member(function, "name") or None,
        arguments=member(function, "arguments") or "",
    )


def as_one_chunk(response: Any) -> Response | None:
    """A whole response as the only chunk of a stream.

    Args:
        response: An OpenAI-shaped response, or a list of completions.

    Returns:
        The chunk; None where the response has neither form.
    """
    if isinstance(response, list):
        bodies = [{"content": one} if not isinstance(one, dict) else _body(one, one.get("text")) for one in response]
        return Response(choices=[_chunk_choice(index, body, "stop") for index, body in enumerate(bodies)])
    choices = []
    for number, choice in enumerate(member(response, "choices") or ()):
        message = member(choice, "message")
        body = _body(message, text_of(member(choice, "text") if message is None else member(message, "content")))
        choices.append(_chunk_choice(number, body, member(choice, "finish_reason") or "stop"))
    if not choices:
        return None
    return Response(
        id=member(response, "id"),
        object="chat.completion.chunk",
        model=member(response, "model"),
        choices=choices,
        usage=plain(member(response, "usage")),
    )


def _body(message: Any, text: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": text,
        "reasoning_content": text_of(member(message, "reasoning_content")),
        "tool_calls": _numbered(member(message, "tool_calls")),
    }


def _chunk_choice(index: int, body: dict[str, Any], finish_reason: str) -> Response:
    return Response(index=index, delta=Response(body), finish_reason=finish_reason)


def _numbered(calls: Any) -> list[Response] | None:
    if not calls:
        return None
    numbered = []
    for index, called in enumerate(calls):
        function = member(called, "function")
        whole = Response(name=member(function, "name"), arguments=member(function, "arguments"))
        numbered.append(Response(index=index, id=member(called, "id"), type="function", function=whole))
    return numbered
