"""Annotations as they are looked into, and as pydantic can take them."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, NewType, TypeVar, Union, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import NotRequired, ReadOnly, Required, TypeAliasType, TypedDict

from reasonact.runtime.type_hints import type_hints

_typed_dict: Any = TypedDict  # as a function of what is known at run time only
_PRESENCE = (Required, NotRequired, ReadOnly)
_REBUILD_TYPED_DICTS = sys.version_info < (3, 12)


def pydantic_ready(annotation: Any) -> Any:
    """Put an annotation into a form that pydantic accepts on every Python.

    Below Python 3.12 pydantic refuses ``typing.TypedDict`` (it cannot see which keys
    are optional) and asks for that of ``typing_extensions``. A user's signature should
    not depend on which of the two was imported.

    Args:
        annotation: Any type annotation.

    Returns:
        The same annotation, each ``typing.TypedDict`` in it rebuilt; the very same
        object where there is nothing to do.
    """
    if not _REBUILD_TYPED_DICTS:
        return annotation
    return _rebuilt(annotation, ())


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


def annotated(annotation: Any, metadata: Sequence[Any]) -> Any:
    """Put metadata to a type.

    Args:
        annotation: Any type annotation.
        metadata: What stands beside it in ``Annotated``; may be empty.

    Returns:
        The annotated type.
    """
    parts = (annotation, *metadata)
    return Annotated[parts] if metadata else annotation


def without_aliases(annotation: Any) -> Any:
    """Look through the names that a type may be given.

    Args:
        annotation: Any type annotation.

    Returns:
        The type behind aliases, new types, type variables and marks of presence.
    """
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


def core_type(annotation: Any) -> Any:
    """Look through names and ``Annotated``.

    Args:
        annotation: Any type annotation.

    Returns:
        The type itself; ``NoneType`` for None.
    """
    annotation = without_aliases(annotation)
    while get_origin(annotation) is Annotated:
        annotation = without_aliases(get_args(annotation)[0])
    return type(None) if annotation is None else annotation


def _rebuilt(annotation: Any, outer: tuple[Any, ...]) -> Any:
    if type(annotation) is getattr(typing, "_TypedDictMeta", None):
        return annotation if annotation in outer else _extended_typed_dict(annotation, (*outer, annotation))
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is None or not args or origin is typing.Literal:
        return annotation
    if origin is Annotated:
        inner = _rebuilt(args[0], outer)
        return annotation if inner is args[0] else annotated(inner, annotation.__metadata__)
    rebuilt = tuple(_rebuilt(arg, outer) for arg in args)
    if all(new is old for new, old in zip(rebuilt, args, strict=True)):
        return annotation
    if origin is Union or origin is types.UnionType:
        return Union[rebuilt]  # noqa: UP007  (the members are known only here)
    return origin[rebuilt]


def _extended_typed_dict(annotation: Any, outer: tuple[Any, ...]) -> Any:
    fields = {}
    for name, hint in type_hints(annotation).items():
        inner = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        presence = NotRequired if name in annotation.__optional_keys__ else Required
        fields[name] = presence[_rebuilt(inner, outer)]
    title: str = annotation.__name__
    rebuilt: Any = _typed_dict(title, fields)
    rebuilt.__module__, rebuilt.__doc__ = annotation.__module__, annotation.__doc__
    return rebuilt
