"""The messages of a request as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_WORTH_MARKING: Final = 80


def role_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """Who speaks in a message, and of which call a tool's message is the result."""
    about = " ".join(str(message[key]) for key in ("name", "tool_call_id") if message.get(key))
    return str(message.get("role", "")), about


def text_of(message: Mapping[str, Any]) -> str:
    """All that a message says: its content, and the calls that it asks for.

    Args:
        message: A message of a chat request.

    Returns:
        Text; media appear by their kind and size.
    """
    parts = []
    for block in message.get("thinking_blocks") or ():
        parts.append(str(block.get("thinking", block)) if isinstance(block, Mapping) else str(block))
    content = message.get("content")
    if isinstance(content, str):
        parts.append(content)
    elif content is not None:
        parts += [_part(part) for part in content]
    for call in message.get("tool_calls") or ():
        function = call.get("function", {})
        parts.append(f"{call.get('id')}: {function.get('name')}({function.get('arguments')})")
    return "\n".join(part for part in parts if part)


def shared_start(before: str, now: str) -> int:
    """How many characters two texts begin with alike, in whole lines.

    Args:
        before: The one text.
        now: The other.

    Returns:
        The place after the last line end that they share; 0 where that is hardly anything.
    """
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if now.startswith(before[:middle]):
            low = middle
        else:
            high = middle - 1
    same = now.rfind("\n", 0, low) + 1
    return same if same >= _WORTH_MARKING else 0


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    if part.get("type") == "text":
        return str(part.get("text", ""))
    data = part.get(str(part.get("type")), part)
    source = data.get("url") or data.get("data") or data.get("file_data") or data if isinstance(data, Mapping) else data
    text = str(source)
    begin = text.partition(",")[0] if text.startswith("data:") else text[:80]
    return f"[{part.get('type')}: {begin}, {len(text):,} characters]"
