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
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, PlainValidator, Strict, WrapValidator
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from reasonact.adapters.annotations import core_type, type_adapter, without_aliases
from reasonact.adapters.call_shapes import read_tool_calls
from reasonact.adapters.fit_containers import ArrayFit, Fit, MappingFit, array_in, floats_for_decimals, one_value
from reasonact.adapters.fit_objects import ObjectFit
from reasonact.adapters.fit_unions import UnionFit
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.scalar_text import (
    Choices,
    bool_from,
    bytes_from,
    date_from,
    duration_from,
    is_null_word,
    number_from,
)
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

_OWN_READING = (BeforeValidator, PlainValidator, WrapValidator)
_ARRAYS = (
    list,
    tuple,
    set,
    frozenset,
    collections.deque,
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
    collections.abc.Set,
)
_LARGEST_EXPONENT = 400  # of a Decimal for an integer; beyond that it fills the memory


class FitCompiler:
    """Works out how values of types are mended; one for each annotation of a field.

    Args:
        exact: True where numbers with a fraction are read as ``Decimal`` (the type holds some).
    """

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self._objects: dict[Any, ObjectFit] = {}  # a model may hold itself

    def compile(self, annotation: Any) -> Fit:
        """Work out the fit of a type.

        Args:
            annotation: Any type annotation.

        Returns:
            The fit; :func:`unchanged` for a type that is read as it was written.
        """
        annotation = without_aliases(annotation)
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._annotated(args[0], annotation.__metadata__)
        if origin is Literal:
            return partial(_choice, Choices(args))
        if origin is Union or origin is types.UnionType:
            return UnionFit(args, [self.compile(arm) for arm in args], type_adapter, self.exact).fit
        if annotation is Any or annotation is object:
            return partial(_anything, self.exact)
        if annotation is None or annotation is type(None):
            return _null
        kind = origin or annotation
        if kind in _ARRAYS:
            return self._array(kind, args)
        if isinstance(kind, type) and issubclass(kind, Mapping) and not is_typeddict(kind):
            return MappingFit([self.compile(arg) for arg in args[:2]], self.exact).fit
        return self._class(kind) if isinstance(kind, type) else unchanged

    def _annotated(self, inner: Any, metadata: tuple[Any, ...]) -> Fit:
        marks = [mark for item in metadata for mark in (item.metadata if isinstance(item, FieldInfo) else [item])]
        if any(isinstance(mark, _OWN_READING) for mark in marks):
            return unchanged  # the user's own reading sees what the model wrote
        fit = self.compile(inner)
        if any(isinstance(mark, Strict) for mark in marks):
            return lambda value, outermost: fit(value, outermost) if outermost else value
        return fit

    def _array(self, kind: Any, args: tuple[Any, ...]) -> Fit:
        fixed = kind is tuple and bool(args) and args[-1] is not Ellipsis
        fits = [self.compile(arg) for arg in (args if fixed else args[:1])]
        item = core_type(args[0]) if args and not fixed else None
        return ArrayFit(fits, fixed, item, self.exact).fit

    def _class(self, kind: type) -> Fit:
        if issubclass(kind, enum.Enum):
            return partial(_choice, Choices(kind, kind))
        if kind is bool:
            return partial(_from_text, bool_from)
        if kind in (int, float, Decimal):
            return partial(_number, kind is int)
        if kind in (datetime.date, datetime.datetime):
            return partial(_from_text, partial(date_from, kind=kind))
        if kind is datetime.timedelta:
            return partial(_from_text, duration_from)
        if kind is bytes:
            return partial(_from_text, bytes_from)
        if issubclass(kind, str):
            return _text
        if issubclass(kind, Type):
            return partial(_own_type, kind)
        # By the mark that RootModel leaves: to import RootModel is to build it, which costs 20 ms.
        if issubclass(kind, BaseModel) and kind.__pydantic_root_model__:
            return partial(_root, kind, self.compile(kind.model_fields["root"].annotation))
        if issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind) or is_typeddict(kind):
            return self._object(kind)
        if issubclass(kind, tuple):
            return partial(_named_tuple, self.exact)
        return unchanged

    def _object(self, kind: type) -> Fit:
        if kind not in self._objects:
            self._objects[kind] = ObjectFit(kind, self.compile, self.exact)
        return self._objects[kind].fit


def unchanged(value: Any, outermost: bool) -> Any:
    """The fit of a type that pydantic reads as it was written.

    Args:
        value: The value.
        outermost: Whether it is a field's value.

    Returns:
        The value.
    """
    return value


def _from_text(read: Any, value: Any, outermost: bool) -> Any:
    return read(value) if isinstance(value, str) else value


def _text(value: Any, outermost: bool) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, Decimal)) or (outermost and isinstance(value, (list, dict, tuple))):
        return str(value)
    return value


def _number(whole: bool, value: Any, outermost: bool) -> Any:
    if isinstance(value, bool):
        raise ValueError("a yes or no is no number")
    if whole and isinstance(value, Decimal) and value.adjusted() > _LARGEST_EXPONENT:
        raise ValueError("it is out of range")
    return number_from(value, whole=whole) if isinstance(value, str) else value


def _choice(choices: Choices, value: Any, outermost: bool) -> Any:
    return choices.find(value)


def _null(value: Any, outermost: bool) -> Any:
    return None if isinstance(value, str) and is_null_word(value, among_texts=False) else value


def _anything(exact: bool, value: Any, outermost: bool) -> Any:
    if outermost and isinstance(value, str):
        try:
            value = one_value(value, exact)
        except ValueError:
            return value
    return floats_for_decimals(value) if exact else value


def _root(kind: type[BaseModel], inner: Fit, value: Any, outermost: bool) -> Any:
    return value if isinstance(value, kind) else inner(value, outermost)


def _named_tuple(exact: bool, value: Any, outermost: bool) -> Any:
    return array_in(value, outermost, None, exact) if isinstance(value, str) else value


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
