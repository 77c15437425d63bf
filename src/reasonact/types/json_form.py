"""Any value as JSON data: the form in which it is stored, and shown to a model afterwards.

The form follows how values are written into prompts, so that a history read back from
JSON shows the model what it was shown before.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import uuid
from collections import deque
from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, TypeAlias

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from reasonact.types.base import Type

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead from a value's JSON form to a part of it."""

_DEPTH_LIMIT: Final = 100
_INTEGER_BITS: Final = 14_000  # Python refuses to write longer ones as text
_TIMES: Final = (datetime.date, datetime.time, datetime.timedelta)
_SHOWN_AS_TEXT: Final = (Decimal, uuid.UUID, PurePath)


def json_form(value: Any, found: list[tuple[Path, Type]] | None = None, path: Path = ()) -> Any:
    """Turn any value into what JSON can hold. Nothing that is put in raises.

    Args:
        value: Anything.
        found: Where given, values of a `Type` are put down here with their path, and stand
            in the result as their own JSON dump instead of as they are shown to a model.
        path: Where the value itself stands.

    Returns:
        Dicts with text keys, lists, text, numbers, booleans and None; text for what has no
        such form.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))  # alone it is shown as a word; within JSON there is only null
    return _Walk(found).form(value, path, ())


class _Walk:
    def __init__(self, found: list[tuple[Path, Type]] | None) -> None:
        self.found = found

    def form(self, value: Any, path: Path, outer: tuple[int, ...]) -> Any:
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        if kind is float:
            return value if math.isfinite(value) else None
        if kind is int:
            return value if value.bit_length() < _INTEGER_BITS else str(Decimal(value))
        if id(value) in outer:
            return "{...}" if isinstance(value, Mapping) else "[...]"
        if len(outer) >= _DEPTH_LIMIT:
            return "…"
        inner = (*outer, id(value))
        try:
            if isinstance(value, (list, tuple)):
                return [self.form(item, (*path, index), inner) for index, item in enumerate(value)]
            if isinstance(value, dict):
                return self.mapping(value, path, inner)
            if isinstance(value, Type):
                return self.typed(value, path, inner)
            return self.form(_plain(value), path, inner)
        except Exception:  # an object that fails when it is looked at is still shown as something
            return _safe_text(value)

    def mapping(self, value: Mapping[Any, Any], path: Path, outer: tuple[int, ...]) -> dict[str, Any]:
        named = [(_key(key), item) for key, item in value.items()]
        return {name: self.form(item, (*path, name), outer) for name, item in named}

    def typed(self, value: Type, path: Path, outer: tuple[int, ...]) -> Any:
        if self.found is None:
            return self.form(value.format(), path, outer)
        # Not in pydantic's JSON mode: that refuses lone surrogates.
        dumped = self.form(value.model_dump(warnings=False), path, outer)
        self.found.append((path, value))
        return dumped


def _plain(value: Any) -> Any:
    """One step towards JSON: what stands for an object, to be looked at in turn."""
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


def _numpy_scalar(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
        item = value.item()
        if isinstance(item, (bool, int, float, str)):
            return item
    return _safe_text(value)


def _model_fields(model: BaseModel) -> Any:
    """A model as its serializer writes it, but with values of a `Type` kept as objects."""
    try:
        dumped = model.model_dump(mode="json", warnings=False)
    except Exception:  # a serializer that fails, or a value that pydantic cannot write
        return dict(vars(model))
    held = {name: value for name, value in vars(model).items() if _holds_type(value, 0)}
    if not isinstance(dumped, dict):
        return next(iter(held.values())) if held else dumped
    return {**dumped, **{name: value for name, value in held.items() if name in dumped}}


def _holds_type(value: Any, depth: int) -> bool:
    if isinstance(value, Type):
        return True
    if depth > _DEPTH_LIMIT:
        return False
    if isinstance(value, BaseModel):
        return any(_holds_type(item, depth + 1) for item in vars(value).values())
    if isinstance(value, Mapping):
        return any(_holds_type(item, depth + 1) for item in value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(_holds_type(item, depth + 1) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_holds_type(getattr(value, field.name, None), depth + 1) for field in dataclasses.fields(value))
    return False


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


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, tuple):
        return ",".join(_key(item) for item in key)
    plain = _plain(key)
    return plain if isinstance(plain, str) else _safe_text(plain)


def _safe_text(value: Any) -> str:
    for write in (str, repr, object.__repr__):
        try:
            return str.__str__(write(value))
        except Exception:  # a class whose own __str__ fails still has to be shown as something
            continue
    return "<unprintable>"
