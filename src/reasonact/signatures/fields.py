"""Input and output fields: pydantic's ``FieldInfo`` with what a prompt needs to know beside it.

What belongs to the prompt (kind, prefix, description, constraints in words) stands in
``json_schema_extra`` under DSPy's keys; what pydantic checks stays where pydantic keeps it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from copy import copy
from typing import Annotated, Any, Final, Literal, cast, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo

Kind = Literal["input", "output"]

KIND: Final = "__dspy_field_type"
TYPE_UNDEFINED: Final = "IS_TYPE_UNDEFINED"

_PYDANTIC_NAMES: Final = frozenset(Field.__kwdefaults__ or ()) | {"default"}
_WITHOUT_EFFECT: Final = ("prefix", "format", "parser")

# They stand in `json_schema_extra["constraints"]`, from where the model is told of them.
_CONSTRAINT_PHRASES: Final[Mapping[str, str]] = {
    "gt": "more than ",
    "ge": "at least ",
    "lt": "under ",
    "le": "at most ",
    "min_length": "of length at least ",
    "max_length": "of length at most ",
    "multiple_of": "a multiple of ",
    "allow_inf_nan": "infinite or no number: ",
}

_WORD_BORDERS: Final = (
    re.compile(r"(.)([A-Z][a-z]+)"),
    re.compile(r"([a-z0-9])([A-Z])"),
)
_DIGIT_BORDERS: Final = (
    re.compile(r"([a-zA-Z])(\d)"),
    re.compile(r"(\d)([a-zA-Z])"),
)


def InputField(**kwargs: Any) -> Any:
    """Declare what a signature is given.

    Args:
        **kwargs: ``desc``, a sentence for the model; every argument of ``pydantic.Field``
            (``default``, ``ge``, ``max_length``, ``pattern`` and so on). ``prefix``,
            ``format`` and ``parser`` are kept but change nothing, as in DSPy 3. Other
            names are kept in ``json_schema_extra``.

    Returns:
        A ``FieldInfo``, to stand as the value of an annotated name in a signature class.

    Raises:
        TypeError: pydantic refuses an argument's value.
    """
    return _declared("input", kwargs)


def OutputField(**kwargs: Any) -> Any:
    """Declare what a signature is to produce.

    Args:
        **kwargs: As for `InputField`.

    Returns:
        A ``FieldInfo``, to stand as the value of an annotated name in a signature class.

    Raises:
        TypeError: pydantic refuses an argument's value.
    """
    return _declared("output", kwargs)


def _declared(kind: Kind, kwargs: dict[str, Any]) -> FieldInfo:
    dead = [name for name in _WITHOUT_EFFECT if name in kwargs]
    if dead:
        warnings.warn(
            f"{', '.join(dead)} of a field: kept, but nothing reads it; say it in desc",
            DeprecationWarning,
            stacklevel=3,
        )
    own = {name: value for name, value in kwargs.items() if name in _PYDANTIC_NAMES and name != "json_schema_extra"}
    extra = {name: value for name, value in kwargs.items() if name not in _PYDANTIC_NAMES}
    given_extra = kwargs.get("json_schema_extra")
    if isinstance(given_extra, Mapping):
        extra.update(given_extra)
    if own.get("description") is not None:
        extra.setdefault("desc", own["description"])
    extra[KIND] = kind
    phrases = [
        f"{_CONSTRAINT_PHRASES[name]}{value}"
        for name, value in kwargs.items()
        if name in _CONSTRAINT_PHRASES and value is not None
    ]
    if phrases:
        extra["constraints"] = ", ".join(phrases)
    return cast(FieldInfo, Field(json_schema_extra=extra, **own))


def new_field(kind: Kind, *, type_undefined: bool | None = None, default: Any = ...) -> FieldInfo:
    """A bare field, as the string form of a signature makes it.

    Args:
        kind: Which side of the arrow.
        type_undefined: Whether the string named no type; None leaves the mark out.
        default: The value where none is given; ``...`` for a required field.

    Returns:
        A field without annotation; `finished` gives it one.
    """
    extra: dict[str, Any] = {} if type_undefined is None else {TYPE_UNDEFINED: type_undefined}
    extra[KIND] = kind
    return cast(FieldInfo, Field(default, json_schema_extra=extra))


def extra_of(field: FieldInfo) -> dict[str, Any]:
    """What a field says to the prompt: ``json_schema_extra``, or an empty dict where it has none."""
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def kind_of(field: Any) -> Kind | None:
    """Which side of the arrow a field stands on, or None where it was not declared for a signature."""
    kind = extra_of(field).get(KIND) if isinstance(field, FieldInfo) else None
    return cast(Kind, kind) if kind in ("input", "output") else None


def finished(name: str, annotation: Any, field: FieldInfo, *, type_undefined: bool | None = None) -> FieldInfo:
    """Give a declared field its type, its prefix and its description.

    Args:
        name: The field's name; prefix and description come from it where none are given.
        annotation: The type, resolved. ``Annotated`` brings its metadata along.
        field: As declared; it is left as it is.
        type_undefined: The mark of a field that was declared without a type; None leaves it as it is.

    Returns:
        A new field.

    Raises:
        TypeError: pydantic refuses the annotation.
    """
    if get_origin(annotation) is Annotated:
        result = FieldInfo.from_annotated_attribute(annotation, field)
    else:
        result = copy(field)
        result.annotation = annotation
    extra = dict(extra_of(field))
    if type_undefined is not None:
        extra[TYPE_UNDEFINED] = type_undefined
    extra.setdefault("prefix", f"{infer_prefix(name)}:")
    extra.setdefault("desc", f"${{{name}}}")
    result.json_schema_extra = extra
    return result


def updated(field: FieldInfo, annotation: Any = None, **extra: Any) -> FieldInfo:
    """A field with other words for the prompt, or another type.

    Args:
        field: It is left as it is.
        annotation: The new type; None keeps the old one.
        **extra: Keys of ``json_schema_extra`` to set.

    Returns:
        A new field.
    """
    result = copy(field)
    result.json_schema_extra = {**extra_of(field), **extra}
    if annotation is not None:
        result.annotation = annotation
    return result


def infer_prefix(attribute_name: str) -> str:
    """Put an attribute's name into the words that stand before its value.

    Args:
        attribute_name: In snake or camel case; digits become words of their own.

    Returns:
        Words in title case; capitals that stand together stay together
        (``"modelID"`` gives ``"Model ID"``).
    """
    text = attribute_name
    for border in _WORD_BORDERS:
        text = border.sub(r"\1_\2", text)
    for border in _DIGIT_BORDERS:
        text = border.sub(r"\1_\2", text)
    return " ".join(word if word.isupper() else word.capitalize() for word in text.split("_"))
