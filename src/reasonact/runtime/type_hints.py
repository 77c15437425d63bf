"""The types that annotations name, alike on every Python.

Before 3.11 `typing.get_type_hints` leaves the text in ``list["Item"]`` as it is, and so does
pydantic in the fields of its models.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
import typing
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Literal


def type_hints(
    holder: Any,
    scope: Mapping[str, Any] | None = None,
    names: Mapping[str, Any] | None = None,
    *,
    include_extras: bool = True,
) -> dict[str, Any]:
    """As `typing.get_type_hints`, with every name looked up.

    Args:
        holder: A class, a function, or any object with ``__annotations__``.
        scope: The global names; by default those of the holder's module.
        names: The local names.
        include_extras: Whether ``Annotated`` stays.

    Returns:
        The types by name.

    Raises:
        NameError: A name is not defined.
        TypeError: The holder has no annotations, or one is no type.
    """
    scope = None if scope is None else dict(scope)
    hints = typing.get_type_hints(holder, scope, names, include_extras=include_extras)
    if sys.version_info >= (3, 11):
        return hints
    scope = _module_names(holder) if scope is None else scope
    return {name: _looked_up(hint, scope, names) for name, hint in hints.items()}


def member_type(kind: type, annotation: Any) -> Any:
    """The annotation of a class's member as its class or pydantic keeps it, with every name looked up.

    Args:
        kind: The class.
        annotation: The annotation.

    Returns:
        The type; the annotation itself where a name in it is not to be found.
    """
    if sys.version_info >= (3, 11):
        return annotation
    try:
        return _looked_up(annotation, _module_names(kind), None)
    except NameError:
        return annotation


def _module_names(holder: Any) -> dict[str, Any]:
    module = sys.modules.get(getattr(holder, "__module__", ""))
    own = {holder.__name__: holder} if isinstance(holder, type) else {}
    return {**own, **(vars(module) if module else {})}


def _looked_up(hint: Any, scope: dict[str, Any], names: Mapping[str, Any] | None) -> Any:
    if isinstance(hint, str):
        holder = SimpleNamespace(__annotations__={"hint": hint})
        found = typing.get_type_hints(holder, scope, names, include_extras=True)["hint"]
        return _looked_up(found, scope, names)
    parts = getattr(hint, "__args__", None)
    if not isinstance(parts, tuple) or typing.get_origin(hint) is Literal:
        return hint
    found = tuple(_looked_up(part, scope, names) for part in parts)
    if all(new is old for new, old in zip(found, parts, strict=True)):
        return hint
    if isinstance(hint, types.GenericAlias):
        return types.GenericAlias(typing.cast(type, hint.__origin__), found)
    if isinstance(hint, types.UnionType):
        return functools.reduce(operator.or_, found)
    return hint.copy_with(found)
