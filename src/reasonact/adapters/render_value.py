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

import dataclasses
import datetime
import enum
import json
import math
import uuid
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from reasonact.types.base import Type

Part = dict[str, Any]
"""One content part of a message: ``{"type": "text", "text": …}``, ``{"type": "image_url", …}``, …"""

_DEPTH_LIMIT = 100  # of the careful pass; the first pass goes as deep as the encoder
_PLACE = f"<{uuid.uuid4().hex}:"  # new in each process and never part of an output
_LINE_TYPES = (datetime.date, datetime.time, datetime.timedelta)
_TEXT_TYPES = (Decimal, uuid.UUID, PurePath, complex)


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
        return clean_text(_safe_text(value))


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
    return clean_text(plain if type(plain) is str else _safe_text(plain))


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
        return clean_text(_safe_text(value))


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
    if isinstance(value, BaseModel):
        return _model_fields(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, _LINE_TYPES):
        return to_jsonable_python(value)
    if isinstance(value, _TEXT_TYPES):
        return str(value).strip("()") if isinstance(value, complex) else str(value)
    if isinstance(value, (set, frozenset)):
        return _in_order(value)
    if isinstance(value, deque):
        return list(value)
    if isinstance(value, (bytes, bytearray)):
        return _bytes_text(bytes(value))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bool, int, float)):
        return value
    return _numpy_scalar(value)


def _shown(value: Type) -> Any:
    try:
        return value.format()
    except Exception:  # a format() of the user's that fails must not end the run
        return _safe_text(value)


def _are_parts(shown: list[Any]) -> bool:
    return bool(shown) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in shown)


def _model_fields(model: BaseModel) -> Any:
    """A model as its serializer writes it, but with media kept as objects."""
    try:
        dumped = model.model_dump(mode="json", warnings=False)
    except Exception:  # a serializer that fails, a value that pydantic cannot write, a cycle
        dumped = dict(vars(model))
    if not isinstance(dumped, dict):
        return dumped if not _holds_type(vars(model), ()) else next(iter(vars(model).values()))
    held = [name for name, field in vars(model).items() if name in dumped and _holds_type(field, ())]
    return {**dumped, **{name: getattr(model, name) for name in held}} if held else dumped


def _holds_type(value: Any, outer: tuple[int, ...]) -> bool:
    if isinstance(value, Type):
        return True
    if isinstance(value, (str, int, float, bytes, type(None))) or id(value) in outer or len(outer) > _DEPTH_LIMIT:
        return False
    if isinstance(value, BaseModel):
        inner: Any = vars(value).values()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    else:
        return False
    return any(_holds_type(item, (*outer, id(value))) for item in inner)


def _in_order(items: set[Any] | frozenset[Any]) -> list[Any]:
    # The order of a set changes from process to process, and with it the prompt's cache key.
    try:
        return sorted(items)
    except Exception:
        return sorted(items, key=_safe_text)


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return repr(value)


def _numpy_scalar(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
        item = value.item()
        return item if isinstance(item, (bool, int, float, str)) else _safe_text(value)
    return _safe_text(value)


def _safe_text(value: Any) -> str:
    for write in (str, repr, object.__repr__):
        try:
            text: str = write(value)
        except Exception:  # a class whose own __str__ fails still has to be shown as something
            if type(value) is int:
                return str(Decimal(value))  # str() refuses integers of thousands of digits
        else:
            return text
    return "<unprintable>"


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
        return int(value) if value.bit_length() < 10_000 else _safe_text(int(value))
    if isinstance(value, str):
        return _careful(str.__str__(value), outer, media)
    if len(outer) >= _DEPTH_LIMIT:
        return "…"
    if id(value) in outer:
        return "{...}" if isinstance(value, Mapping) else "[...]"
    inner = (*outer, id(value))
    try:
        if isinstance(value, (list, tuple)):
            return [_careful(item, inner, media) for item in value]
        if isinstance(value, dict):
            return {_key(key): _careful(item, inner, media) for key, item in value.items()}
        plain = _plain_or_media(value, media if media is not None else [])
        if media is None and isinstance(plain, str) and plain.startswith(_PLACE):
            plain = _shown(value)
        return _careful(plain, inner, media)
    except Exception:
        return clean_text(_safe_text(value))


def _key(key: Any) -> str:
    if isinstance(key, str) and not isinstance(key, enum.Enum):
        return clean_text(str(key))
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, tuple):
        return ",".join(_key(item) for item in key)
    plain = _plain_or_media(key, [])
    return clean_text(plain if isinstance(plain, str) else _safe_text(plain))


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
