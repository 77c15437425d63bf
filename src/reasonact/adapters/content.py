"""A message's content: plain text, or content parts where it holds media."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

from pydantic.fields import FieldInfo

from reasonact.adapters.values import clean_text, format_field_value, render_value
from reasonact.types.reasoning import Reasoning

Content: TypeAlias = str | list[dict[str, Any]]
"""Text, or parts such as ``{"type": "text", "text": …}`` and ``{"type": "image_url", …}``."""


_BARE: Final = {"type", "text"}
_STRIP: Final = {"both": str.strip, "left": str.lstrip, "right": str.rstrip}


class Parts(list[dict[str, Any]]):
    """Content parts that were rendered before; as a field's value they stand as they are."""


class Pieces(list[str]):
    """A long text that was rendered before, in pieces: as a field's value it is copied once, into the message."""


def put_together(value: Pieces | Content) -> Content:
    """A text in pieces as one text; any other content as it is."""
    return "".join(value) if isinstance(value, Pieces) else value


def field_row(info: FieldInfo, value: Any) -> Sequence[Content]:
    """As `field_content`, in pieces that follow one another."""
    return value if isinstance(value, Pieces) else (field_content(info, value),)


def field_content(info: FieldInfo, value: Any) -> Content:
    """A field's value as content.

    Args:
        info: The field.
        value: Any value.

    Returns:
        Text, or parts where the value holds media.
    """
    if type(value) is str:
        return clean_text(value)
    if type(value) is Reasoning:
        return clean_text(value.content)
    if isinstance(value, Parts):
        return value
    if type(value) is not list:
        return render_value(value)
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
    try:
        return separator.join(given)  # type: ignore[arg-type]  # as most are, all text
    except TypeError:
        pass
    parts = Parts()
    pending: list[str] = []
    for number, piece in enumerate(given):
        if number and separator:
            pending.append(separator)
        if isinstance(piece, str):
            pending.append(piece)
            continue
        for part in piece:
            if _is_bare_text(part):
                pending.append(part["text"])
            else:
                _flush(pending, parts)
                parts.append(part)
    _flush(pending, parts)
    return parts


def laid_out(blocks: Iterable[Sequence[Content]], separator: str) -> list[Content]:
    """Pieces of several blocks in one row, without outer white space; `joined` then copies each once.

    Args:
        blocks: Pieces that follow one another directly; a block without any is passed over.
        separator: The text between two blocks.

    Returns:
        The pieces.
    """
    row: list[Content] = []
    for block in blocks:
        if any(block):
            row += [separator, *block] if row else block
    strip_ends(row)
    return row


def strip_ends(row: list[Any]) -> None:
    """Take the outer white space of a row of contents away, in place."""
    while row:
        first = row[0]
        row[0] = first.lstrip() if type(first) is str else stripped(first, "left")
        if row[0]:
            break
        del row[0]
    while row:
        last = row[-1]
        row[-1] = last.rstrip() if type(last) is str else stripped(last, "right")
        if row[-1]:
            break
        del row[-1]


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
        if _is_bare_text(part):
            texts.append(part["text"])
            continue
        name = f"attachment {len(media) // 2 + 1} of {label}"
        texts.append(f"({name})")
        media += [{"type": "text", "text": f"{name}:"}, part]
    return "".join(texts), media


def stripped(content: Content, side: Literal["both", "left", "right"] = "both") -> Content:
    """A content without outer white space.

    Args:
        content: Text or parts.
        side: Where to take it away.
    """
    if isinstance(content, str):
        return _STRIP[side](content)
    parts = Parts(content)
    for place, end in ((0, "left"), (-1, "right")):
        if parts and side in ("both", end) and _is_bare_text(parts[place]):
            parts[place] = {**parts[place], "text": _STRIP[end](parts[place]["text"])}
    return Parts(part for part in parts if not _is_bare_text(part) or part["text"])


def _is_bare_text(part: dict[str, Any]) -> bool:
    return part.keys() == _BARE and part["type"] == "text"


def _flush(pending: list[str], parts: list[dict[str, Any]]) -> None:
    if pending:
        parts.append({"type": "text", "text": "".join(pending)})
        pending.clear()
