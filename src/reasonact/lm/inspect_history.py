"""Printing past model calls for people."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

from reasonact.lm.history import GLOBAL_HISTORY
from reasonact.lm.outputs import member, plain

_TIME, _HEADING = "\x1b[34m", "\x1b[31m"
_ANSWER = "\x1b[32m"
_PLAIN = "\x1b[0m"


def inspect_history(n: int = 1, file: TextIO | None = None) -> None:
    """Show the latest model calls of this process, of whatever LM.

    Args:
        n: How many.
        file: Where to; the terminal by default. Colours go to the terminal alone.
    """
    pretty_print_history(GLOBAL_HISTORY, n, file=file)


def pretty_print_history(history: list[dict[str, Any]], n: int = 1, file: TextIO | None = None) -> None:
    """Show past calls to a person: when each was made, every message, and the completions.

    Args:
        history: Entries as ``lm.history`` holds them.
        n: How many, from the end.
        file: Where to; the terminal by default. Colours go to the terminal alone.
    """
    out = sys.stdout if file is None else file
    for entry in history[-n:] if n > 0 else []:
        out.write(_entry_text(entry, coloured=file is None) + "\n")


def _entry_text(entry: dict[str, Any], *, coloured: bool) -> str:
    def paint(colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if coloured else text

    lines = ["", "", paint(_TIME, f"[{entry.get('timestamp', 'no time')}]")]
    messages = entry.get("messages") or [{"role": "user", "content": entry.get("prompt")}]
    for message in messages:
        role = str(member(message, "role", "unknown"))
        lines += ["", paint(_HEADING, f"{role.capitalize()} message:"), "", _content_text(member(message, "content"))]
        lines += _call_lines(member(message, "tool_calls"))
    outputs = entry.get("outputs") or []
    for number, output in enumerate(outputs, 1):
        title = "Response:" if len(outputs) == 1 else f"Response {number} of {len(outputs)}:"
        lines += ["", paint(_HEADING, title), ""]
        text = output if isinstance(output, str) else member(output, "text")
        reasoning = member(output, "reasoning_content")
        if reasoning:
            lines += [paint(_HEADING, "Reasoning:"), str(reasoning), ""]
        if text:
            lines.append(paint(_ANSWER, str(text)))
        lines += [paint(_ANSWER, line) for line in _call_lines(member(output, "tool_calls"))]
    return "\n".join([*lines, "", ""])


def _content_text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return str(content)
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: Any) -> str:
    """A part of a message; of pictures and files their size, not their bytes."""
    kind = member(part, "type")
    if kind == "text":
        return str(member(part, "text"))
    body = json.dumps(plain(part), default=str)
    return body if len(body) <= 200 else f"<{kind}: {body[:120]}… ({len(body)} characters)>"


def _call_lines(calls: Any) -> list[str]:
    lines = []
    for called in calls or []:
        function = member(called, "function")
        lines.append(f"Tool call {member(called, 'id')}: {member(function, 'name')}({member(function, 'arguments')})")
    return lines
