"""A second look at what a checker has refused: text that is JSON, the name of an enum's member.

Checkers say at which place of a value they found what; a place that holds text with another,
unambiguous reading gets that reading, and the value is checked again. So nested values are
mended like whole ones, and nothing is converted that fits as it is.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

Path = tuple[Any, ...]

NOTHING: Final = object()
"""Stands for "there is no other reading"."""


def pydantic_places(error: ValidationError, value: Any, adapter: TypeAdapter[Any] | None) -> Iterator[tuple[Path, Any]]:
    """Other readings of what pydantic refused.

    Args:
        error: Its error.
        value: What was checked.
        adapter: What it was checked by, for the enums in it.

    Yields:
        A path into the value, and what to put there.
    """
    for fault in error.errors(include_url=False, include_context=False):
        text = fault["input"]
        if not isinstance(text, str):
            continue
        path = _navigable(value, fault["loc"], text)
        if path is None:
            continue
        member = _member_named(text, adapter) if fault["type"] == "enum" else NOTHING
        decoded = _decoded(text) if member is NOTHING else member
        if decoded is not NOTHING:
            yield path, decoded


def schema_places(errors: Iterable[Any], validator: Any) -> Iterator[tuple[Path, Any]]:
    """Other readings of what jsonschema refused.

    Args:
        errors: Its errors.
        validator: The validator that found them.

    Yields:
        A path into the value, and what to put there.
    """
    for error in errors:
        value = error.instance
        if error.validator in ("type", "enum", "const") and isinstance(value, str):
            reading = _decoded(value)
            if reading is not NOTHING and _fits(validator, error, reading):
                yield tuple(error.absolute_path), reading
        if error.context:
            yield from schema_places(error.context, validator)


def mended(value: Any, places: Iterable[tuple[Path, Any]]) -> Any:
    """Put other readings into a value.

    Args:
        value: JSON data; it is not changed.
        places: Paths and what to put there; the first for a path counts.

    Returns:
        A new value, or `NOTHING` where there is no place.
    """
    changes: dict[Path, Any] = {}
    for path, part in places:
        changes.setdefault(path, part)
    if not changes:
        return NOTHING
    for path, part in changes.items():
        value = _with_part(value, path, part)
    return value


def _fits(validator: Any, error: Any, decoded: Any) -> bool:
    if error.validator == "type":
        wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        return any(validator.is_type(decoded, kind) for kind in wanted)
    choices = error.validator_value if error.validator == "enum" else [error.validator_value]
    return any(type(choice) is type(decoded) and choice == decoded for choice in choices)


def _navigable(value: Any, loc: Iterable[Any], target: str) -> Path | None:
    """The part of an error's location that leads through the value; the rest names branches of unions."""
    path: list[Any] = []
    for step in loc:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
            path.append(step)
    return tuple(path) if value == target else None


def _with_part(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    copied = value.copy()
    copied[path[0]] = _with_part(value[path[0]], path[1:], part)
    return copied


def _decoded(text: str) -> Any:
    """The JSON value that a text holds, or `NOTHING`; not a number, nor text that says the same again."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return NOTHING
    return value if value != text else NOTHING


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _member_named(text: str, adapter: TypeAdapter[Any] | None) -> Any:
    """The one enum member of that name in a type, exactly or but for letter case; else `NOTHING`."""
    if adapter is None:
        return NOTHING
    enums = list(dict.fromkeys(_enums_in(adapter.core_schema)))
    members = [member for cls in enums for member in cls.__members__.items()]
    for wanted, fold in ((text, str), (text.casefold(), str.casefold)):
        found = [member for name, member in members if fold(name) == wanted]
        if len(set(map(id, found))) == 1:
            return found[0]
    return NOTHING


def _enums_in(part: Any) -> Iterator[type[enum.Enum]]:
    if isinstance(part, dict):
        if part.get("type") == "enum" and isinstance(part.get("cls"), type):
            yield part["cls"]
        for item in part.values():
            yield from _enums_in(item)
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _enums_in(item)
