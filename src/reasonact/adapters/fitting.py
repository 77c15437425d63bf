"""From what a model wrote to what pydantic reads as the same value.

A fit is compiled once per annotation and mends form only: text into the number, member,
list or object that it spells, keys into the names that a model is validated by. Whether
the value is right is pydantic's to say. A fit raises where pydantic would accept
something that was not meant: ``true`` for a count, an object that shares no key with
the model.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import types
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    RootModel,
    Strict,
    TypeAdapter,
    WrapValidator,
)
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from typing_extensions import NotRequired, ReadOnly, Required, TypeAliasType, is_typeddict

from reasonact.adapters.annotations import pydantic_ready
from reasonact.adapters.call_shapes import read_tool_calls
from reasonact.adapters.lenient_json import find_array, find_object, loads_lenient, whole_value
from reasonact.adapters.scalar_text import (
    Choices,
    bare,
    bool_from,
    bytes_from,
    date_from,
    is_null_word,
    listed_items,
    number_from,
)
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

Fit = Callable[[Any, bool], Any]
"""``fit(value, outermost)``: outermost is True for a field's value, False for what lies inside one."""

_OWN_READING = (BeforeValidator, PlainValidator, WrapValidator)
_ARRAYS = (list, tuple, set, frozenset, collections.deque)
_ABSTRACT_ARRAYS = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, collections.abc.Set)
_SHAPED_SCALARS = (int, float, Decimal)
_PRESENCE = (Required, NotRequired, ReadOnly)


def type_adapter(annotation: Any) -> TypeAdapter[Any]:
    """Build pydantic's validator of a type, for classes that pydantic does not know too.

    Args:
        annotation: Any type annotation.

    Returns:
        The validator; of an unknown class it accepts the instances.

    Raises:
        ValueError: The annotation is none that a value could be checked by.
    """
    ready = pydantic_ready(annotation)
    try:
        return TypeAdapter(ready)
    except PydanticUserError:
        try:
            return TypeAdapter(ready, config=ConfigDict(arbitrary_types_allowed=True))
        except PydanticUserError as error:
            raise ValueError(f"no value can be checked against {annotation!r}: {error}") from None


def compile_fit(annotation: Any, *, exact: bool) -> Fit:
    """Work out how values of a type are mended.

    Args:
        annotation: Any type annotation.
        exact: True where numbers with a fraction are read as ``Decimal`` (the type holds some).

    Returns:
        The fit.
    """
    annotation = _plain(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(args[0], annotation.__metadata__, exact)
    if origin is Literal:
        return partial(_choice, Choices(args, "the Literal"))
    if origin is Union or origin is types.UnionType:
        return _Union(args, exact).fit
    if annotation is Any or annotation is object:
        return partial(_anything, exact)
    if annotation is None or annotation is type(None):
        return _null
    if annotation is str:
        return _text
    if origin in _ARRAYS or annotation in _ARRAYS or origin in _ABSTRACT_ARRAYS:
        return _array(origin or annotation, args, exact)
    if _is_mapping(origin or annotation):
        return _mapping(args, exact)
    kind = origin if isinstance(origin, type) else annotation
    return _class_fit(kind, annotation, exact) if isinstance(kind, type) else _unchanged


def _class_fit(kind: type, annotation: Any, exact: bool) -> Fit:
    if issubclass(kind, enum.Enum):
        return partial(_choice, Choices(kind, kind.__name__))
    if kind is bool:
        return lambda value, outermost: bool_from(value) if isinstance(value, str) else value
    if kind in _SHAPED_SCALARS:
        return partial(_number, kind is int)
    if kind in (datetime.date, datetime.datetime):
        return lambda value, outermost: date_from(value, kind) if isinstance(value, str) else value
    if kind is bytes:
        return lambda value, outermost: bytes_from(value) if isinstance(value, str) else value
    if issubclass(kind, Type):
        return partial(_own_type, kind)
    if issubclass(kind, RootModel):
        inner = compile_fit(kind.model_fields["root"].annotation, exact=exact)
        return lambda value, outermost: value if isinstance(value, kind) else inner(value, outermost)
    if issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return _Object(annotation, kind, exact).fit
    if issubclass(kind, str):
        return _text
    return lambda value, outermost: bare(value) if isinstance(value, str) and outermost else value


def _plain(annotation: Any) -> Any:
    """The annotation itself, from below aliases, new names and type variables."""
    while True:
        if isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif isinstance(annotation, TypeAliasType) or type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        elif isinstance(annotation, TypeVar):
            annotation = annotation.__bound__ or Any
        elif get_origin(annotation) in _PRESENCE:
            annotation = get_args(annotation)[0]
        else:
            return annotation


def _unchanged(value: Any, outermost: bool) -> Any:
    return value


def _annotated(inner: Any, metadata: tuple[Any, ...], exact: bool) -> Fit:
    marks = [mark for item in metadata for mark in (item.metadata if isinstance(item, FieldInfo) else [item])]
    if any(isinstance(mark, _OWN_READING) for mark in marks):
        return _unchanged  # the user's own reading sees what the model wrote
    fit = compile_fit(inner, exact=exact)
    if any(isinstance(mark, Strict) for mark in marks):
        return lambda value, outermost: fit(value, outermost) if outermost else value
    return fit


def _text(value: Any, outermost: bool) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, Decimal)) or (outermost and isinstance(value, (list, dict, tuple))):
        return str(value)
    return value


def _number(whole: bool, value: Any, outermost: bool) -> Any:
    if isinstance(value, bool):
        raise ValueError("a yes or no is no number")
    return number_from(value, whole=whole) if isinstance(value, str) else value


def _choice(choices: Choices, value: Any, outermost: bool) -> Any:
    return choices.find(value)


def _null(value: Any, outermost: bool) -> Any:
    return None if isinstance(value, str) and is_null_word(value, among_texts=False) else value


def _anything(exact: bool, value: Any, outermost: bool) -> Any:
    if outermost and isinstance(value, str):
        try:
            value = loads_whole(value, exact)
        except ValueError:
            return value
    return _floats(value) if exact else value


def loads_whole(text: str, exact: bool) -> Any:
    """Read a text that is one value and nothing else; words for no number count as text.

    Args:
        text: The text.
        exact: True to get numbers with a fraction as ``Decimal``.

    Returns:
        The value.

    Raises:
        ValueError: It is anything else.
    """
    value = whole_value(text, exact_numbers=exact)
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        raise ValueError("not a finite number")
    return value


def _floats(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_floats(item) for item in value]
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    return value


def _is_mapping(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Mapping) and not is_typeddict(kind)


def _array(origin: Any, args: tuple[Any, ...], exact: bool) -> Fit:
    fixed = origin is tuple and bool(args) and args[-1] is not Ellipsis
    fits = [compile_fit(arg, exact=exact) for arg in (args if fixed else args[:1])]
    item_kind = _plain(args[0]) if args and not fixed else None

    def fit(value: Any, outermost: bool) -> Any:
        if isinstance(value, str):
            value = _array_in(value, outermost, item_kind, exact)
        if not isinstance(value, _ARRAYS) or not fits:
            return _floats(value) if exact and not fits else value
        if fixed:
            return [*(mend(item, False) for mend, item in zip(fits, value, strict=False)), *list(value)[len(fits) :]]
        return [fits[0](item, False) for item in value]

    return fit


def _array_in(text: str, outermost: bool, item_kind: Any, exact: bool) -> Any:
    try:
        value = whole_value(text, exact_numbers=exact)
    except ValueError:
        value = None
    if isinstance(value, str):
        return _array_in(value, False, item_kind, exact)  # a list as JSON text inside a JSON text
    if isinstance(value, (list, dict)) or not outermost:
        return text if value is None else value
    if _takes_words(item_kind) and (items := listed_items(text)) is not None:
        return items
    if "," in text and value is None and (items := _separated(text, item_kind, exact)) is not None:
        return items
    return find_array(text, exact_numbers=exact)


def _takes_words(kind: Any) -> bool:
    if isinstance(kind, type) and get_origin(kind) is None:
        return issubclass(kind, (str, int, float, Decimal, enum.Enum, datetime.date))
    return get_origin(kind) is Literal


def _separated(text: str, kind: Any, exact: bool) -> list[Any] | None:
    """Values with commas between them, where a comma cannot be part of a value."""
    try:
        quoted = whole_value(f"[{text}]", exact_numbers=exact)
    except ValueError:
        quoted = None
    if isinstance(quoted, list) and (kind is not str or all(isinstance(item, str) for item in quoted)):
        return quoted
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, (enum.Enum, datetime.date))):
        return [item.strip() for item in text.split(",")]
    return None


def _mapping(args: tuple[Any, ...], exact: bool) -> Fit:
    fits = [compile_fit(arg, exact=exact) for arg in args[:2]] if len(args) > 1 else []

    def fit(value: Any, outermost: bool) -> Any:
        if isinstance(value, str):
            value = object_in(value, outermost, None, exact)
        if not isinstance(value, Mapping):
            return value
        if not fits:
            return _floats(dict(value)) if exact else value
        return {fits[0](key, False): fits[1](item, False) for key, item in value.items()}

    return fit


def object_in(text: str, outermost: bool, wanted_keys: list[str] | None, exact: bool) -> Any:
    """Find the object that a text spells.

    Args:
        text: The text.
        outermost: True where prose may stand around the object.
        wanted_keys: Keys that the object should have.
        exact: True to get numbers with a fraction as ``Decimal``.

    Returns:
        The object; the text unchanged where it is inside another value and is no object.

    Raises:
        ValueError: The outermost text holds no object.
    """
    try:
        value = whole_value(text, exact_numbers=exact)
    except ValueError:
        value = text
    if isinstance(value, str) and value is not text:
        return object_in(value, False, wanted_keys, exact)
    if value is text and outermost:
        return find_object(text, wanted_keys, exact_numbers=exact)
    return value


def _own_type(kind: type[Type], value: Any, outermost: bool) -> Any:
    """A ``Type`` reads its texts itself; only an object of its fields is read as JSON first."""
    if issubclass(kind, Reasoning):
        return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    if not isinstance(value, str):
        return value
    if issubclass(kind, ToolCalls):
        return {"tool_calls": read_tool_calls(value)}
    try:
        found = loads_lenient(value, list(kind.model_fields)) if "{" in value else None
    except ValueError:
        return value
    return found if isinstance(found, dict) and found and set(found) <= set(kind.model_fields) else value


class _Union:
    """The arms of a union, each with its own reading."""

    def __init__(self, arms: tuple[Any, ...], exact: bool) -> None:
        plain = [_plain(arm) for arm in arms]
        self.exact = exact
        self.nullable = type(None) in plain
        self.arms = [arm for arm in arms if _plain(arm) is not type(None)]
        self.takes_text = str in plain or Any in plain
        self.fits = [compile_fit(arm, exact=exact) for arm in self.arms]
        self.choosing = [n for n, arm in enumerate(self.arms) if _chooses(_plain(arm))]
        self.adapters: list[TypeAdapter[Any]] = []
        self.smart: TypeAdapter[Any] | None = None

    def fit(self, value: Any, outermost: bool) -> Any:
        if value is None and self.nullable:
            return None
        if isinstance(value, str) and self.nullable and (outermost or not self.takes_text):
            if is_null_word(value, among_texts=self.takes_text):
                return None
        if len(self.arms) == 1:
            return self.fits[0](value, outermost)
        return self._one_of_several(value, outermost)

    def _one_of_several(self, value: Any, outermost: bool) -> Any:
        if self.smart is None:
            self.adapters = [type_adapter(arm) for arm in self.arms]
            self.smart = type_adapter(Union[tuple(self.arms)])  # noqa: UP007
        for candidate in self._candidates(value, outermost):
            if isinstance(candidate, str):
                for number in self.choosing:
                    try:
                        return self.fits[number](candidate, False)
                    except ValueError:
                        continue
                if self.takes_text:
                    return candidate
            for strict in (True, None):
                try:
                    if strict or not isinstance(candidate, bool):
                        return _not_emptied(self.smart.validate_python(candidate, strict=strict), candidate)
                except (ValueError, TypeError):
                    continue
            for fit, adapter in zip(self.fits, self.adapters, strict=True):
                try:
                    return adapter.validate_python(fit(candidate, outermost))
                except (ValueError, TypeError):
                    continue
        raise ValueError("it fits none of the types allowed")

    def _candidates(self, value: Any, outermost: bool) -> list[Any]:
        if not isinstance(value, str) or not outermost:
            return [value]
        try:
            read = loads_whole(value, self.exact)
        except ValueError:
            return [value]
        return [value] if isinstance(read, str) else [read, value]


def _chooses(arm: Any) -> bool:
    return get_origin(arm) is Literal or (isinstance(arm, type) and issubclass(arm, enum.Enum))


def _not_emptied(result: Any, candidate: Any) -> Any:
    if isinstance(result, BaseModel) and isinstance(candidate, dict) and candidate and not result.model_fields_set:
        raise ValueError("none of the keys is one of the model's")
    return result


class _Object:
    """A model, a dataclass or a TypedDict: fields by name or alias."""

    def __init__(self, annotation: Any, kind: type, exact: bool) -> None:
        self.annotation = annotation
        self.kind = kind
        self.exact = exact
        self.fields: dict[str, Any] | None = None  # worked out at the first value: a type may hold itself
        self.fits: dict[str, Fit] = {}
        self.renamed: dict[str, str] = {}
        self.keys: list[str] = []
        self.open = False

    def fit(self, value: Any, outermost: bool) -> Any:
        if self.fields is None:
            self._resolve()
        if isinstance(value, str):
            value = object_in(value, outermost, self.keys, self.exact)
        if not isinstance(value, dict):
            return value
        known = [key for key in value if key in self.fits]
        if not known and len(value) == 1 and not self.open:
            (name, inner), *_ = value.items()
            if str(name).lower() == self.kind.__name__.lower() and isinstance(inner, dict):
                value = inner  # {"Person": {…}} for a Person
                known = [key for key in value if key in self.fits]
        if value and self.fits and not known and not self.open:
            raise ValueError(f"none of its keys is one of {', '.join(self.keys)}")
        mended = {}
        for key, item in value.items():
            name = self.renamed.get(key, key)
            if name == key or name not in value:
                mended[name] = self.fits[key](item, False) if key in self.fits else item
        return mended

    def _resolve(self) -> None:
        fields = _fields_of(self.kind)
        self.open = _reads_itself(self.kind)
        own = _validated_before(self.kind)
        for name, (annotation, aliases) in fields.items():
            fit = _unchanged if name in own else compile_fit(annotation, exact=self.exact)
            for key in (name, *aliases):
                self.fits[key] = fit
            if aliases and not _takes_names(self.kind):
                self.renamed[name] = aliases[0]
        self.keys = list(self.fits)
        self.fields = fields


def _fields_of(kind: type) -> dict[str, tuple[Any, list[str]]]:
    if issubclass(kind, BaseModel):
        return {name: (_full(info), _aliases(info)) for name, info in kind.model_fields.items()}
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        return {field.name: (hints[field.name], []) for field in dataclasses.fields(kind) if field.init}
    return {name: (hint, []) for name, hint in hints.items()}


def _full(info: FieldInfo) -> Any:
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation


def _aliases(info: FieldInfo) -> list[str]:
    alias = info.validation_alias or info.alias
    if isinstance(alias, AliasChoices):
        return [choice for choice in alias.choices if isinstance(choice, str)]
    return [alias] if isinstance(alias, str) else []


def _takes_names(kind: type) -> bool:
    config: Mapping[str, Any] = getattr(kind, "model_config", {})
    return bool(config.get("populate_by_name") or config.get("validate_by_name"))


def _reads_itself(kind: type) -> bool:
    """Whether keys that are no fields may mean something to the class."""
    config: Mapping[str, Any] = getattr(kind, "model_config", {})
    decorators = getattr(kind, "__pydantic_decorators__", None)
    before = decorators is not None and any(
        item.info.mode != "after" for item in decorators.model_validators.values()
    )
    paths = any(
        info.validation_alias is not None and not isinstance(info.validation_alias, str)
        for info in getattr(kind, "model_fields", {}).values()
    )
    return before or paths or config.get("extra") == "allow"


def _validated_before(kind: type) -> set[str]:
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if decorators is None:
        return set()
    own = [item.info for item in decorators.field_validators.values() if item.info.mode != "after"]
    return {name for info in own for name in info.fields}
