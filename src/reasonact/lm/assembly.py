"""Putting the chunks of a streamed answer together to one response."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reasonact.errors import LMStreamAssemblyError
from reasonact.lm.chunks import Delta, read_deltas
from reasonact.lm.outputs import member, plain
from reasonact.lm.response import Response


@dataclass(slots=True)
class _Completion:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    thinking: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, list[Any]] = field(default_factory=dict)
    finish_reason: str | None = None
    is_chat: bool = True


class Assembly:
    """Chunks, added up as they come."""

    def __init__(self) -> None:
        self.count = 0
        self._completions: dict[int, _Completion] = {}
        self._head: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    def add(self, chunk: Any) -> None:
        """Take one chunk.

        Args:
            chunk: An OpenAI-shaped chunk.
        """
        self.count += 1
        for name in ("id", "created", "model", "system_fingerprint", "service_tier"):
            value = member(chunk, name)
            if value is not None:
                self._head.setdefault(name, value)
        usage = member(chunk, "usage")
        if usage is not None:
            self._usage = plain(usage)
        for choice, delta in zip(member(chunk, "choices") or (), read_deltas(chunk), strict=True):
            completion = self._completions.setdefault(delta.index, _Completion())
            _add_delta(completion, choice, delta)

    def response(self) -> Response:
        """What has come so far, as one response."""
        chat = all(completion.is_chat for completion in self._completions.values())
        return Response(
            {
                **self._head,
                "object": "chat.completion" if chat else "text_completion",
                "choices": [_choice(index, one) for index, one in sorted(self._completions.items())],
                "usage": self._usage or None,
            }
        )

    def finished(self) -> Response:
        """The whole response.

        Returns:
            The response.

        Raises:
            LMStreamAssemblyError: The stream ended before any completion did.
        """
        reasons = [one.finish_reason for one in self._completions.values() if one.finish_reason]
        if not reasons:
            raise LMStreamAssemblyError(
                "the stream ended before the answer did: no finish reason came",
                partial=self.response(),
                part_index=self.count,
            )
        for one in self._completions.values():  # of several completions LiteLLM lets only one say why it ended
            one.finish_reason = one.finish_reason or reasons[0]
        return self.response()


def _add_delta(completion: _Completion, choice: Any, delta: Delta) -> None:
    completion.texts.append(delta.text)
    completion.reasoning.append(delta.reasoning)
    completion.finish_reason = delta.finish_reason or completion.finish_reason
    for piece in delta.calls:
        called = completion.calls.setdefault(piece.index, {"id": None, "name": None, "arguments": []})
        called["id"] = called["id"] or piece.id
        called["name"] = called["name"] or piece.name
        called["arguments"].append(piece.arguments)
    logprobs = plain(member(choice, "logprobs"))
    if isinstance(logprobs, dict):
        for name, items in logprobs.items():
            if isinstance(items, list):
                completion.logprobs.setdefault(name, []).extend(items)
    body = member(choice, "delta")
    if body is None:
        completion.is_chat = False
        return
    for block in plain(member(body, "thinking_blocks")) or ():
        _add_thinking(completion.thinking, block)
    fields = plain(member(body, "provider_specific_fields"))
    if isinstance(fields, dict):
        _add_fields(completion.extra, fields)
    for piece, raw in zip(delta.calls, member(body, "tool_calls") or (), strict=True):
        fields = plain(member(raw, "provider_specific_fields"))
        if isinstance(fields, dict):
            _add_fields(completion.calls[piece.index].setdefault("fields", {}), fields)


def _add_thinking(blocks: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Pieces of a block of thought follow each other; its signature comes last and closes it."""
    last = blocks[-1] if blocks else None
    if last is None or last.get("type") != piece.get("type") or last.get("signature") or last.get("data"):
        blocks.append(dict(piece))
        return
    last["thinking"] = (last.get("thinking") or "") + (piece.get("thinking") or "")
    if piece.get("signature"):
        last["signature"] = piece["signature"]


def _add_fields(fields: dict[str, Any], piece: dict[str, Any]) -> None:
    for name, value in piece.items():
        before = fields.get(name)
        if isinstance(before, list) and isinstance(value, list):
            fields[name] = before + value
        elif value is not None or name not in fields:
            fields[name] = value


def _choice(index: int, completion: _Completion) -> Response:
    text = "".join(completion.texts)
    choice = Response(index=index, finish_reason=completion.finish_reason)
    if completion.logprobs:
        choice["logprobs"] = completion.logprobs
    if not completion.is_chat:
        choice["text"] = text
        return choice
    calls = [_whole_call(called) for _, called in sorted(completion.calls.items())]
    message = Response(role="assistant", content=text or (None if calls else ""), tool_calls=calls or None)
    reasoning = "".join(completion.reasoning)
    if reasoning:
        message["reasoning_content"] = reasoning
    if completion.thinking:
        message["thinking_blocks"] = completion.thinking
    if completion.extra:
        message["provider_specific_fields"] = completion.extra
    choice["message"] = message
    return choice


def _whole_call(called: dict[str, Any]) -> Response:
    function = Response(name=called["name"], arguments="".join(called["arguments"]))
    whole = Response(id=called["id"], type="function", function=function)
    if called.get("fields"):
        whole["provider_specific_fields"] = called["fields"]
    return whole
