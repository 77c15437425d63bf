"""From a value to the text, or the content parts, that stand for it in a prompt.

Any value renders; nothing here raises. What the C encoder of ``json`` can write on
its own goes through it in one call, and only what it does not know comes back to
Python, object by object. Values that it refuses as a whole (cycles, NaN, keys that
are no text, depth) take a second, careful pass.

Media are found as objects, never by looking for tags in text: a value of a ``Type``
that formats itself to content parts leaves a place-holder that no caller can know,
and the finished text is cut at the place-holders.
"""

from __future__ import annotations

import enum
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from reasonact.types.base import Type
from reasonact.types.plain_form import DEPTH_LIMIT, INTEGER_BITS, key_text, plain_step, safe_text

Part = dict[str, Any]
"""One content part of a message: ``{"type": "text", "text": …}``, ``{"type": "image_url", …}``, …"""

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_PLACE = f"<{uuid.uuid4().hex}:"  # new in each process and never part of an output


def render_value(value: Any, *, indent: int | None = None) -> str | list[Part]:
    """Write any value as it appears in a message.

    Args:
        value: Anything. Text stays as it is; containers, models and dataclasses become JSON.
        indent: Spaces per level of JSON; None for one line.

    Returns:
        The text; or, where the value holds media, content parts with the text around
        each medium in place.
    """
    if type(value) is str:
        return clean_text(value)
    if value is None or value is True or value is False or type(value) is float:
        return str(value)
    try:
        return str(value) if type(value) is int else _rendered(value, indent)
    except Exception:  # an object that fails at the first look; it is shown as well as it can be
        return clean_text(safe_text(value))


def _rendered(value: Any, indent: int | None) -> str | list[Part]:
    media: list[list[Part]] = []
    plain = value if isinstance(value, (dict, list, tuple)) else _plain_or_media(value, media)
    if media:
        return media[0]
    if isinstance(plain, Type):
        return _rendered(plain, indent)
    if isinstance(plain, (dict, list, tuple)):
        text = clean_text(_json_text(plain, media, indent))
        return _cut_at_media(text, media) if media else text
    return clean_text(plain if type(plain) is str else safe_text(plain))


def render_text(value: Any) -> str:
    """Write any value as text, where a message part cannot be used.

    Args:
        value: Anything.

    Returns:
        The text of :func:`render_value`; a medium shows as its parts in JSON.
    """
    rendered = render_value(value)
    return rendered if isinstance(rendered, str) else clean_text(_json_text(rendered, [], None))


def format_field_value(field_info: FieldInfo, value: Any, assume_text: bool = True) -> str | Part | list[Part]:
    """Write the value of a field as it appears below the field's marker.

    Args:
        field_info: The field; a list given to a ``str`` field is numbered item by item.
        value: Anything.
        assume_text: False to get a text as one content part.

    Returns:
        Text, or content parts where the value holds media.
    """
    if type(value) is list and field_info.annotation is str:
        rendered = _numbered(value)
    else:
        rendered = render_value(value)
    if assume_text or not isinstance(rendered, str):
        return rendered
    return {"type": "text", "text": rendered}


def serialize_for_json(value: Any) -> Any:
    """Turn any value into what ``json.dumps`` writes without help.

    Args:
        value: Anything.

    Returns:
        Dicts with text keys, lists, text, numbers, booleans and None. A value that has
        no such form becomes text; a medium becomes the list of its content parts.
    """
    kind = type(value)
    if kind is str:
        return clean_text(value)
    if value is None or kind is bool or kind is float:
        return value
    try:
        return _careful(value, (), None)
    except Exception:
        return clean_text(safe_text(value))


def json_text(value: Any) -> str:
    """Write any value as JSON on one line, such as the arguments of a call.

    Args:
        value: Anything; see `serialize_for_json` for what has no form in JSON.

    Returns:
        The JSON.
    """
    try:
        return clean_text(_ENCODER.encode(value))
    except Exception:  # it holds more than JSON's own types, as most values do not
        return json.dumps(serialize_for_json(value), ensure_ascii=False)


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no request body can carry, by ``?``-like signs.

    Args:
        text: Any text.

    Returns:
        The same object where it is sound.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Pairs that were escaped one by one are put together, the rest is replaced.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _json_text(value: Any, media: list[list[Part]], indent: int | None) -> str:
    if indent is None:
        try:
            return _ENCODER.encode(value)
        except Exception:  # it holds more than JSON's own types, as most values do not
            pass
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            indent=indent,
            default=lambda item: _plain_or_media(item, media),
        )
    except Exception:  # a cycle, NaN, a key that is no text, depth, an object that fails when it is looked at
        media.clear()
        return json.dumps(_careful(value, (), media), ensure_ascii=False, indent=indent)


def _plain_or_media(value: Any, media: list[list[Part]]) -> Any:
    """One step: what stands for an object, to be encoded in turn."""
    if isinstance(value, Type):
        shown = _shown(value)
        if isinstance(shown, list) and _are_parts(shown):
            media.append([dict(part) for part in shown])
            return f"{_PLACE}{len(media) - 1}>"
        return shown
    return plain_step(value)


def _shown(value: Type) -> Any:
    try:
        return value.format()
    except Exception:  # a format() of the user's that fails must not end the run
        return safe_text(value)


def _are_parts(shown: list[Any]) -> bool:
    return bool(shown) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in shown)


def _careful(value: Any, outer: tuple[int, ...], media: list[list[Part]] | None) -> Any:
    """Every level in Python: never raises, whatever is in the value."""
    if type(value) is str:
        return clean_text(value) if media is None else value
    if value is None or value is True or value is False:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, enum.Enum):
        return _careful(value.value, outer, media)
    if isinstance(value, int):
        return int(value) if value.bit_length() < INTEGER_BITS else safe_text(int(value))
    if isinstance(value, str):
        return _careful(str.__str__(value), outer, media)
    if len(outer) >= DEPTH_LIMIT:
        return "…"
    if id(value) in outer:
        return "{...}" if isinstance(value, Mapping) else "[...]"
    inner = (*outer, id(value))
    try:
        if isinstance(value, (list, tuple)):
            return [_careful(item, inner, media) for item in value]
        if isinstance(value, dict):
            return {clean_text(key_text(key)): _careful(item, inner, media) for key, item in value.items()}
        plain = _plain_or_media(value, media if media is not None else [])
        if media is None and isinstance(plain, str) and plain.startswith(_PLACE):
            plain = _shown(value)
        return _careful(plain, inner, media)
    except Exception:
        return clean_text(safe_text(value))


def _cut_at_media(text: str, media: list[list[Part]]) -> list[Part]:
    first, *others = text.split(_PLACE)
    parts: list[Part] = [{"type": "text", "text": first}] if first else []
    for chunk in others:
        number, _, rest = chunk.partition(">")
        parts.extend(media[int(number)])
        if rest:
            parts.append({"type": "text", "text": rest})
    return parts


def _numbered(items: list[Any]) -> str | list[Part]:
    """A list for a text field, in DSPy's form: ``[1] «first»``, a lone item without its number."""
    if not items:
        return "[]"
    texts = [render_value(item) for item in items]
    if not all(isinstance(text, str) for text in texts):
        return render_value(items)
    quoted = [_quoted(text) for text in texts if isinstance(text, str)]
    if len(quoted) == 1:
        return quoted[0]
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(quoted, start=1))


def _quoted(text: str) -> str:
    if "\n" not in text and "«" not in text and "»" not in text:
        return f"«{text}»"
    body = text.replace("\n", "\n    ")
    return f"«««\n    {body}\n»»»"
