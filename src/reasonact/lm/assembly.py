"""Putting the chunks of a streamed answer together to one response."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reasonact.errors import LMStreamAssemblyError
from reasonact.lm.chunks import CallDelta, Delta, read_delta
from reasonact.lm.outputs import fields_of, plain
from reasonact.lm.response import Response


@dataclass(slots=True)
class _Completion:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    open_calls: dict[int, dict[str, Any]] = field(default_factory=dict)
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
        fields = fields_of(chunk)
        if not self._head:
            names = ("id", "created", "model", "system_fingerprint", "service_tier")
            self._head = {name: fields[name] for name in names if fields.get(name) is not None}
        if fields.get("usage") is not None:
            self._usage = plain(fields["usage"])
        for choice in fields.get("choices") or ():
            delta = read_delta(choice)
            completion = self._completions.setdefault(delta.index, _Completion())
            _add_delta(completion, choice, delta)

    @property
    def says_nothing(self) -> bool:
        """Whether no text, no reasoning and no call has come yet."""
        return not any(
            one.texts or one.reasoning or one.calls or one.thinking or one.extra for one in self._completions.values()
        )

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
    if delta.text:
        completion.texts.append(delta.text)
    if delta.reasoning:
        completion.reasoning.append(delta.reasoning)
    completion.finish_reason = delta.finish_reason or completion.finish_reason
    for piece in delta.calls:
        called = _call_of(completion, piece)
        called["id"] = called["id"] or piece.id
        called["name"] = called["name"] or piece.name
        called["arguments"].append(piece.arguments)
    said = fields_of(choice)
    if said.get("logprobs") is not None:
        for name, items in plain(said["logprobs"]).items():
            if isinstance(items, list):
                completion.logprobs.setdefault(name, []).extend(items)
    if said.get("delta") is None:
        completion.is_chat = False
        return
    body = fields_of(said["delta"])
    for block in plain(body.get("thinking_blocks")) or ():
        _add_thinking(completion.thinking, block)
    _add_fields(completion.extra, body.get("provider_specific_fields"))
    for piece, raw in zip(delta.calls, body.get("tool_calls") or (), strict=True):
        specific = fields_of(raw).get("provider_specific_fields")
        if specific:
            _add_fields(completion.open_calls[piece.index].setdefault("fields", {}), specific)


def _call_of(completion: _Completion, piece: CallDelta) -> dict[str, Any]:
    """The call that a piece belongs to. Some servers number every call 0: then a new id tells a new call."""
    called = completion.open_calls.get(piece.index)
    if called is None or (piece.id and called["id"] and piece.id != called["id"]):
        called = {"index": piece.index, "id": None, "name": None, "arguments": []}
        completion.open_calls[piece.index] = called
        completion.calls.append(called)
    return called


def _add_thinking(blocks: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Pieces of a block of thought follow each other; its signature comes last and closes it."""
    last = blocks[-1] if blocks else None
    if last is None or last.get("type") != piece.get("type") or last.get("signature") or last.get("data"):
        blocks.append(dict(piece))
        return
    last["thinking"] = (last.get("thinking") or "") + (piece.get("thinking") or "")
    if piece.get("signature"):
        last["signature"] = piece["signature"]


def _add_fields(fields: dict[str, Any], piece: Any) -> None:
    if not piece:
        return
    for name, value in plain(piece).items():
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
    in_order = sorted(completion.calls, key=lambda called: called["index"])  # stable: of one index, as they came
    calls = [_whole_call(called) for called in in_order]
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
