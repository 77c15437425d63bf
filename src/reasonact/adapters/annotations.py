"""Annotations as pydantic can take them."""

from __future__ import annotations

import sys
import types
import typing
from typing import Annotated, Any, Union, get_args, get_origin

from typing_extensions import NotRequired, Required, TypedDict

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


def _rebuilt(annotation: Any, outer: tuple[Any, ...]) -> Any:
    if type(annotation) is getattr(typing, "_TypedDictMeta", None):
        return annotation if annotation in outer else _extended_typed_dict(annotation, (*outer, annotation))
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is None or not args or origin is typing.Literal:
        return annotation
    if origin is Annotated:
        inner = _rebuilt(args[0], outer)
        return annotation if inner is args[0] else Annotated[(inner, *annotation.__metadata__)]
    rebuilt = tuple(_rebuilt(arg, outer) for arg in args)
    if all(new is old for new, old in zip(rebuilt, args, strict=True)):
        return annotation
    if origin is Union or origin is types.UnionType:
        return Union[rebuilt]  # noqa: UP007  (the members are known only here)
    return origin[rebuilt]


def _extended_typed_dict(annotation: Any, outer: tuple[Any, ...]) -> Any:
    fields = {}
    for name, hint in typing.get_type_hints(annotation, include_extras=True).items():
        inner = get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint
        presence = NotRequired if name in annotation.__optional_keys__ else Required
        fields[name] = presence[_rebuilt(inner, outer)]
    rebuilt = TypedDict(annotation.__name__, fields)  # type: ignore[operator]
    rebuilt.__module__, rebuilt.__doc__ = annotation.__module__, annotation.__doc__
    return rebuilt
