"""What a program returned, as JSON data and back, with its types.

Unlike a saved state, which is read by other programs, this is read by the program that
wrote it: values come back as what they were. A type is named by module and name and is
only ever looked up among modules that the program has imported itself; pydantic then
makes the value, so that a file can name types but run nothing.
"""

from __future__ import annotations

import base64
import functools
import json
import logging
import math
import sys
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from reasonact.types.base import Type
from reasonact.types.example import Example
from reasonact.types.history_form import dump_events, read_events
from reasonact.types.json_form import json_form
from reasonact.types.prediction import Completions

logger = logging.getLogger("reasonact.batch")

_KIND: Final = "@"
_VALUE: Final = "value"
_COLLECTIONS: Final[Mapping[str, type[Any]]] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_COMPLETIONS: Final = "completions"
_NUMBER: Final = "number"
_BYTES: Final = "bytes"
_EVENT: Final = "event"
_MAPPING: Final = "mapping"


def to_stored(value: Any) -> Any:
    """Turn a program's output into JSON data.

    Args:
        value: Anything. What has no such form is kept as a model would be shown it, with a
            warning once for each type.

    Returns:
        Data from which `from_stored` makes the value again.
    """
    if value is None or (isinstance(value, (bool, str)) and type(value) in (bool, str)):
        return value
    if type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_KIND: _NUMBER, _VALUE: repr(value)}
    if type(value) is bytes:
        return {_KIND: _BYTES, _VALUE: base64.b64encode(value).decode("ascii")}
    if type(value) is list:
        return [to_stored(item) for item in value]
    if type(value) is dict:
        if all(type(key) is str for key in value) and _KIND not in value:
            return {key: to_stored(item) for key, item in value.items()}
        return {_KIND: _MAPPING, _VALUE: [[to_stored(key), to_stored(item)] for key, item in value.items()]}
    for name, kind in _COLLECTIONS.items():
        if type(value) is kind:
            return {_KIND: name, _VALUE: [to_stored(item) for item in value]}
    if isinstance(value, Completions):
        return {_KIND: _COMPLETIONS, _VALUE: to_stored(dict(value.items()))}
    if isinstance(value, Example) and _named(type(value)) is not None:
        return {_KIND: _named(type(value)), _VALUE: {key: _part(key, item) for key, item in vars(value).items()}}
    if isinstance(value, Type):
        event = dump_events([{_VALUE: value}], versioned=True)[0]
        if type(_typed_value(event)) is type(value):
            return {_KIND: _EVENT, _VALUE: event}
    return _by_pydantic(value)


def from_stored(data: Any) -> Any:
    """Make a value again of what `to_stored` gave.

    Args:
        data: The data.

    Returns:
        The value.

    Raises:
        ValueError, TypeError, LookupError: A type is named that the program does not have, or that
            the data does not fit.
    """
    if isinstance(data, list):
        return [from_stored(item) for item in data]
    if not isinstance(data, dict):
        return data
    if _KIND not in data:
        return {key: from_stored(item) for key, item in data.items()}
    kind, value = data[_KIND], data[_VALUE]
    if kind == _NUMBER:
        return float(value)
    if kind == _BYTES:
        return base64.b64decode(value)
    if kind == _MAPPING:
        return {from_stored(key): from_stored(item) for key, item in value}
    if kind in _COLLECTIONS:
        return _COLLECTIONS[kind](from_stored(item) for item in value)
    if kind == _COMPLETIONS:
        return Completions(from_stored(value))
    if kind == _EVENT:
        return _typed_value(value)
    cls: Any = _class(kind)
    if issubclass(cls, Example):
        made = cls.__new__(cls)
        made.__dict__.update({key: from_stored(item) for key, item in value.items()})
        return made
    return _adapter(cls).validate_python(value)


def _part(name: str, value: Any) -> Any:
    """A part of a prediction. Of what a run added beside the fields, what has no stored form goes with the process."""
    if name != "_additions" or not isinstance(value, dict):
        return to_stored(value)
    return to_stored({key: item for key, item in value.items() if _keeps_its_type(item)})


def _keeps_its_type(value: Any) -> bool:
    if value is None or isinstance(value, (bool, str, int, float, bytes, list, dict, tuple, set, frozenset)):
        return True
    return isinstance(value, (Example, Completions, Type)) or _typed(value) is not None


def _by_pydantic(value: Any) -> Any:
    typed = _typed(value)
    if typed is not None:
        return typed
    cls: Any = type(value)
    _say_once(cls)
    return to_stored(json_form(value))


def _typed(value: Any) -> dict[str, Any] | None:
    """A value in pydantic's form with the name of its class; None where that would not give the value again."""
    cls: Any = type(value)
    name = _named(cls)
    if name is not None:
        try:
            data = _adapter(cls).dump_python(value, mode="json", warnings=False)
            json.dumps(data, allow_nan=False)
            if type(_adapter(cls).validate_python(data)) is cls:
                return {_KIND: name, _VALUE: data}
        except Exception:  # a type that pydantic cannot write, or cannot read from what it wrote
            pass
    return None


@functools.lru_cache(maxsize=256)
def _say_once(cls: Any) -> None:
    logger.warning(
        "a value of type %s cannot be stored as such: after a resumption it is the text or data that a model "
        "would be shown of it",
        f"{cls.__module__}.{cls.__qualname__}",
    )


@functools.lru_cache(maxsize=256)
def _adapter(cls: Any) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


def _typed_value(event: Any) -> Any:
    return read_events([event])[0][_VALUE]


def _named(cls: type[Any]) -> str | None:
    """Module and name of a class, where the class is found by them."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    try:
        return name if _class(name) is cls else None
    except ValueError:
        return None


def _class(name: Any) -> type[Any]:
    module, _, path = str(name).partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise ValueError(f"there is no type {name!r} in this program")
    return found
