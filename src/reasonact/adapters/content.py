"""A message's content: plain text, or content parts where it holds media."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from pydantic.fields import FieldInfo

from reasonact.adapters.values import format_field_value

Content: TypeAlias = str | list[dict[str, Any]]
"""Text, or parts such as ``{"type": "text", "text": …}`` and ``{"type": "image_url", …}``."""


class Parts(list[dict[str, Any]]):
    """Content parts that were rendered before; as a field's value they stand as they are."""


def field_content(info: FieldInfo, value: Any) -> Content:
    """A field's value as content.

    Args:
        info: The field.
        value: Any value.

    Returns:
        Text, or parts where the value holds media.
    """
    if isinstance(value, Parts):
        return value
    shown = format_field_value(info, value)
    return [shown] if isinstance(shown, dict) else shown


def joined(pieces: Iterable[Content], separator: str = "") -> Content:
    """Put contents one after another; neighbouring texts become one.

    Args:
        pieces: Texts and lists of parts; empty texts are passed over.
        separator: The text between two pieces.

    Returns:
        A text where every piece is one, else parts.
    """
    given = [piece for piece in pieces if piece]
    texts = [piece for piece in given if isinstance(piece, str)]
    if len(texts) == len(given):
        return separator.join(texts)
    parts = Parts()
    pending: list[str] = []
    for number, piece in enumerate(given):
        if number and separator:
            pending.append(separator)
        if isinstance(piece, str):
            pending.append(piece)
            continue
        for part in piece:
            if part.get("type") == "text" and set(part) == {"type", "text"}:
                pending.append(part["text"])
                continue
            _flush(pending, parts)
            parts.append(part)
    _flush(pending, parts)
    return parts


def text_and_media(content: Content, label: str) -> tuple[str, list[dict[str, Any]]]:
    """Split a content for a place that takes text alone.

    Args:
        content: Text or parts.
        label: What the media belong to; names them where they stood and where they are shown.

    Returns:
        The text with a note in the place of each medium, and the media as parts, each
        after a text part that names it. No media: an empty list.
    """
    if isinstance(content, str):
        return content, []
    texts: list[str] = []
    media: list[dict[str, Any]] = []
    for part in content:
        if part.get("type") == "text":
            texts.append(str(part.get("text", "")))
            continue
        name = f"attachment {len(media) // 2 + 1} of {label}"
        texts.append(f"({name})")
        media += [{"type": "text", "text": f"{name}:"}, part]
    return "".join(texts), media


def stripped(content: Content) -> Content:
    """A content without outer white space."""
    if isinstance(content, str):
        return content.strip()
    parts = Parts(content)
    for place, strip in ((0, str.lstrip), (-1, str.rstrip)):
        if parts and parts[place].get("type") == "text":
            parts[place] = dict(parts[place], text=strip(parts[place]["text"]))
    return Parts(part for part in parts if part.get("type") != "text" or part["text"])


def _flush(pending: list[str], parts: list[dict[str, Any]]) -> None:
    if pending:
        parts.append({"type": "text", "text": "".join(pending)})
        pending.clear()
