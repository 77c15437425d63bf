"""A field's value from what a model wrote for it: right, or an error that says why not."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from typing_extensions import is_typeddict

from reasonact.adapters.annotation_names import get_annotation_name
from reasonact.adapters.annotations import annotated, core_type, type_adapter
from reasonact.adapters.fitting import FitCompiler, unchanged
from reasonact.adapters.scalar_text import bare
from reasonact.runtime.type_hints import member_type, type_hints

_SHOWN = 200  # characters of the value in an error
_REASONS = 3  # faults that an error names


def parse_value(value: Any, annotation: Any) -> Any:
    """Read a field's value as a type.

    Tolerant of form (quotes, fences, Python literals, numbers as text, members by name,
    JSON in a text), strict in meaning.

    Args:
        value: A text, or what a JSON parser made of one, or a finished value.
        annotation: The type.

    Returns:
        The value, of that type.

    Raises:
        ValueError: The value is none of the type; says what was expected and found.
    """
    if annotation is str and type(value) is str:
        return value
    try:
        parser = _cached_parser(annotation, repr(annotation))
    except TypeError:  # an annotation that cannot be hashed (a default, a list in Annotated)
        parser = value_parser(annotation)
    return parser(value)


def value_parser(annotation: Any, metadata: Sequence[Any] = ()) -> Callable[[Any], Any]:
    """Compile the reading of a type, to be kept with the signature.

    Args:
        annotation: The type.
        metadata: Constraints to check beside it, as ``FieldInfo.metadata`` holds them.
            (DSPy leaves those of output fields unchecked.)

    Returns:
        A function from a raw value to the value; raises ValueError as :func:`parse_value`.

    Raises:
        ValueError: The annotation is none that a value could be checked by.
    """
    if annotation is str and not metadata:
        return _text
    full = annotated(annotation, metadata)
    fit = FitCompiler(wants_exact_numbers(annotation)).compile(full)
    adapter = type_adapter(full)

    def parse(value: Any) -> Any:
        try:
            return adapter.validate_python(fit(value, True))
        except Exception as error:  # a validator of the user's may raise anything on a value it did not expect
            for text in _other_readings(value, fit, annotation):
                try:
                    return adapter.validate_python(text)
                except Exception:
                    continue  # the first error tells more
            raise ValueError(_refusal(annotation, value, error)) from error

    return parse


@lru_cache(maxsize=1024)
def _cached_parser(annotation: Any, written: str) -> Callable[[Any], Any]:
    # Unions are equal in any order, yet the order decides between equal fits: hence `written`.
    return value_parser(annotation)


def wants_exact_numbers(annotation: Any) -> bool:
    """Tell whether a type holds ``Decimal`` values, which a float would cut.

    Args:
        annotation: Any type annotation; models, dataclasses and TypedDicts are looked into.

    Returns:
        True where numbers in JSON should be read digit by digit (``exact_numbers``).
    """
    seen: list[Any] = []
    pending = [annotation]
    while pending:
        current = pending.pop()
        if current is Decimal:
            return True
        if any(current is known for known in seen):
            continue
        seen.append(current)
        pending.extend(get_args(current))
        if isinstance(current, type) and issubclass(current, BaseModel):
            pending.extend(member_type(current, info.annotation) for info in current.model_fields.values())
        elif is_typeddict(current) or (isinstance(current, type) and dataclasses.is_dataclass(current)):
            try:
                pending.extend(type_hints(current).values())
            except (NameError, TypeError):  # a name that is not defined yet; pydantic will say so
                continue
    return False


def annotation_allows_none(annotation: Any) -> bool:
    """Tell whether None is a value of a type.

    Args:
        annotation: Any type annotation.

    Returns:
        True for ``None``, ``Any``, ``X | None``, ``Literal[None]`` and the like.
    """
    core = core_type(annotation)
    if core in (type(None), Any, object):
        return True
    if get_origin(core) is Literal:
        return None in get_args(core)
    union = get_origin(core) in (Union, types.UnionType)
    return union and any(annotation_allows_none(arm) for arm in get_args(core))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError("expected str, found null")
    try:
        return str(value)
    except Exception as error:  # a number of too many digits, an object that fails
        raise ValueError(_refusal(str, value, error)) from error


def _other_readings(value: Any, fit: Any, annotation: Any) -> list[str]:
    """Texts to try where a text was refused, by what the class may read of its own."""
    if not isinstance(value, str):
        return []
    if fit is unchanged:
        return [bare(value)]
    core = core_type(annotation)
    return [value] if isinstance(core, type) and issubclass(core, BaseModel) else []


def _refusal(annotation: Any, value: Any, error: BaseException) -> str:
    try:
        found = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    except Exception:  # a finished value whose class cannot print it
        found = object.__repr__(value)
    if len(found) > _SHOWN:
        found = found[:_SHOWN] + "…"
    return f"expected {get_annotation_name(annotation)}, found {found}: {_reason(error)}"


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, ValidationError):
        return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    reasons = []
    for fault in faults[:_REASONS]:
        place = ".".join(str(step) for step in fault["loc"])
        reasons.append(f"{place}: {fault['msg']}" if place else fault["msg"])
    more = f" (and {len(faults) - _REASONS} more)" if len(faults) > _REASONS else ""
    return "; ".join(reasons) + more
