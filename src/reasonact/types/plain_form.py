"""One step from any value towards JSON, the same for what is written into prompts and for what is stored."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from reasonact.types.base import Type

DEPTH_LIMIT: Final = 100
"""How deep a value is followed, level by level."""

INTEGER_BITS: Final = 14_000
"""From this length on an integer is text: Python refuses to write longer ones as numbers."""

_TIMES: Final = (datetime.date, datetime.time, datetime.timedelta)
_SHOWN_AS_TEXT: Final = (Decimal, uuid.UUID, PurePath)


def plain_step(value: Any) -> Any:
    """What stands for an object, to be looked at in turn.

    Args:
        value: Anything but a `Type`, None or a bool.

    Returns:
        A dict, list, text or number; values of a `Type` within a model stay objects.

    Raises:
        Exception: What an object raises when it is looked at.
    """
    if isinstance(value, BaseModel):
        return _model_fields(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, _TIMES):
        return to_jsonable_python(value)
    if isinstance(value, _SHOWN_AS_TEXT):
        return str(value)
    if isinstance(value, complex):
        return str(value).strip("()")
    if isinstance(value, (set, frozenset)):
        return _in_order(value)
    if isinstance(value, deque):
        return list(value)
    if isinstance(value, (bytes, bytearray)):
        return _bytes_text(bytes(value))
    if isinstance(value, Mapping):
        return dict(value)
    return _numpy_scalar(value)


def key_text(key: Any) -> str:
    """The key of a mapping as the name that it has in JSON.

    Args:
        key: Anything that can be a key.

    Raises:
        Exception: What an object raises when it is looked at.
    """
    if isinstance(key, str):
        return str.__str__(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, tuple):
        return ",".join(key_text(item) for item in key)
    plain = plain_step(key)
    return plain if isinstance(plain, str) else safe_text(plain)


def safe_text(value: Any) -> str:
    """A value as text, whatever its class does. Never raises."""
    for write in (str, repr, object.__repr__):
        try:
            return str.__str__(write(value))
        except Exception:  # a class whose own __str__ fails still has to be shown as something
            if type(value) is int:
                return str(Decimal(value))  # str() refuses integers of thousands of digits
    return "<unprintable>"


def _model_fields(model: BaseModel) -> Any:
    """A model as its serializer writes it, but with values of a `Type` kept as objects."""
    try:
        dumped = model.model_dump(mode="json", warnings=False)
    except Exception:  # a serializer that fails, a value that pydantic cannot write, a cycle
        return dict(vars(model))
    held = {name: value for name, value in vars(model).items() if _holds_type(value, ())}
    if not isinstance(dumped, dict):
        return next(iter(held.values())) if held else dumped
    return {**dumped, **{name: value for name, value in held.items() if name in dumped}}


def _holds_type(value: Any, outer: tuple[int, ...]) -> bool:
    if isinstance(value, Type):
        return True
    if isinstance(value, (str, int, float, bytes, type(None))) or id(value) in outer or len(outer) > DEPTH_LIMIT:
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
        return sorted(items, key=safe_text)


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return repr(value)


def _numpy_scalar(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
        item = value.item()
        if isinstance(item, (bool, int, float, str)):
            return item
    return safe_text(value)
