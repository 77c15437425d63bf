"""Any value as JSON data: the form in which it is stored, and shown to a model afterwards.

The form follows how values are written into prompts, so that a history read back from
JSON shows the model what it was shown before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from reasonact.types.base import Type
from reasonact.types.plain_form import DEPTH_LIMIT, INTEGER_BITS, key_text, plain_step, safe_text

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead from a value's JSON form to a part of it."""


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


def json_text(data: Any, *, indent: int | None = None, separators: tuple[str, str] | None = None) -> str:
    """JSON data as text that every file and request can hold.

    Args:
        data: What `json_form` gave.
        indent: As of ``json.dumps``.
        separators: As of ``json.dumps``.

    Returns:
        The text; escaped throughout only where there are lone surrogates in it, which have no
        bytes in UTF-8.
    """
    text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, indent=indent, separators=separators)
    return text


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
            return value if value.bit_length() < INTEGER_BITS else str(Decimal(value))
        if id(value) in outer:
            return "{...}" if isinstance(value, Mapping) else "[...]"
        if len(outer) >= DEPTH_LIMIT:
            return "…"
        inner = (*outer, id(value))
        try:
            if isinstance(value, (list, tuple)):
                return [self.form(item, (*path, index), inner) for index, item in enumerate(value)]
            if isinstance(value, dict):
                return self.mapping(value, path, inner)
            if isinstance(value, Type):
                return self.typed(value, path, inner)
            return self.form(plain_step(value), path, inner)
        except Exception:  # an object that fails when it is looked at is still shown as something
            return safe_text(value)

    def mapping(self, value: Mapping[Any, Any], path: Path, outer: tuple[int, ...]) -> dict[str, Any]:
        named = [(key_text(key), item) for key, item in value.items()]
        return {name: self.form(item, (*path, name), outer) for name, item in named}

    def typed(self, value: Type, path: Path, outer: tuple[int, ...]) -> Any:
        if self.found is None:
            return self.form(value.format(), path, outer)
        # Not in pydantic's JSON mode: that refuses lone surrogates.
        dumped = self.form(value.model_dump(warnings=False), path, outer)
        self.found.append((path, value))
        return dumped
