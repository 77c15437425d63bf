"""The model that costs nothing: what it says in each turn of a run.

A run of N turns asks N times for one tool call (or several) and then gives the answer, in
the form that the asking agent reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, Literal

QUESTION: Final = "Which of the listed stations reported the lowest reading?"
THOUGHT: Final = "The readings so far do not settle it yet, so the next station on the list has to be looked up."
ANSWER: Final = "Station 17"
TOOL: Final = "read_station"
USAGE: Final = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}

Dialect = Literal["react", "v2-text", "v2-native"]


@dataclass(frozen=True)
class Said:
    """One answer of the model: its text, and its native calls as (id, name, arguments)."""

    text: str | None
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()


def reading(number: int, size: int) -> str:
    """What the tool returns at its so-and-so-many-th call: so many characters of text, each time others."""
    sentence = f"Station log {number}: wind from the west, pressure steady, nothing out of the ordinary to report. "
    return (sentence * (size // len(sentence) + 1))[:size]


def thought(turn: int) -> str:
    """What the model thinks in a turn: each time a text of its own."""
    return f"{THOUGHT} This was look {turn}."


def arguments(turn: int, index: int = 0) -> dict[str, Any]:
    """The arguments of a call."""
    return {"station": f"station {turn}/{index}"}


def say(dialect: Dialect, turn: int, turns: int, *, marked: bool = False, calls: int = 1, tool: str = TOOL) -> Said:
    """What the model says.

    Args:
        dialect: How the agent is spoken to.
        turn: The number of the request within the run, from 0.
        turns: How many turns call tools before the one that ends the run.
        marked: Whether the text beside native calls is put under DSPy's markers.
        calls: How many tools each turn calls.
        tool: Their name.

    Returns:
        Text and calls.
    """
    last = turn >= turns
    asked = [(tool, arguments(turn, index)) for index in range(calls)]
    if dialect == "react":
        if turn > turns:
            return Said(_under_markers(reasoning=thought(turn), answer=ANSWER))
        name, args = ("finish", {}) if last else asked[0]
        return Said(_under_markers(next_thought=thought(turn), next_tool_name=name, next_tool_args=args))
    if last:
        asked = [("submit", {"answer": ANSWER})]
    if dialect == "v2-text":
        written = {"tool_calls": [{"name": name, "args": args} for name, args in asked]}
        return Said(_under_markers(next_thought=thought(turn), tool_calls=written))
    text = _under_markers(next_thought=thought(turn)) if marked else thought(turn)
    return Said(text, tuple((f"call-{turn}-{index}", name, args) for index, (name, args) in enumerate(asked)))


def _under_markers(**fields: Any) -> str:
    parts = [
        f"[[ ## {name} ## ]]\n{value if isinstance(value, str) else json.dumps(value)}"
        for name, value in fields.items()
    ]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def as_body(said: Said, model: str) -> dict[str, Any]:
    """An answer as the JSON body of an OpenAI-compatible server."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.calls:
        message["tool_calls"] = [_call(*called) for called in said.calls]
    return {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if said.calls else "stop"}],
        "usage": dict(USAGE),
    }


def _call(call_id: str, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"name": name, "arguments": json.dumps(args)}
    return {"id": call_id, "type": "function", "function": asked}


def as_object(said: Said, model: str) -> Any:
    """The same answer with attributes for keys, as a `BaseLM` subclass returns it."""
    body = as_body(said, model)
    message = {"tool_calls": None, **body["choices"][0]["message"]}
    if message["tool_calls"] is not None:
        message["tool_calls"] = [
            SimpleNamespace(**{**call, "function": SimpleNamespace(**call["function"])})
            for call in message["tool_calls"]
        ]
    choice = SimpleNamespace(**{**body["choices"][0], "message": SimpleNamespace(**message)})
    return SimpleNamespace(**{**body, "choices": [choice]})


def payload(turns: int, size: int) -> int:
    """The characters of inputs, thoughts, arguments and results of a run: what has to be kept of it."""
    spoken: Sequence[int] = [
        len(thought(turn)) + len(json.dumps(arguments(turn))) + len(reading(turn, size)) for turn in range(turns)
    ]
    return len(QUESTION) + len(thought(turns)) + len(ANSWER) + sum(spoken)
