"""Values as nested XML elements, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from reasonact.adapters.layout import plain_type
from reasonact.adapters.values import render_text, serialize_for_json
from reasonact.adapters.xml_text import Element, escaped, is_name, read_children, unescaped
from reasonact.runtime.type_hints import member_type, type_hints
from reasonact.types.base import Type

_ITEM: Final = "item"
_DEEPEST_EXAMPLE: Final = 8  # a model that holds itself has no full example


def nests(annotation: Any) -> bool:
    """Whether values of a type are written as nested elements: models, ``list[...]``, ``dict[..., ...]``."""
    kind = plain_type(annotation)
    if get_origin(kind) in (list, dict):
        return bool(get_args(kind)) and not _holds_type(kind)
    return _is_model(kind)


def example(name: str, annotation: Any) -> str:
    """The elements that a value of a nesting type has, with dots for the texts."""
    return f"<{name}>{_example(plain_type(annotation), 0)}</{name}>"


def element(name: str, value: Any) -> str:
    """A value as an element of that name, nested as deep as it goes.

    Args:
        name: The element's name; one that no tag can have goes into an attribute.
        value: The value.

    Returns:
        The element on one line.
    """
    return _element(name, serialize_for_json(value))


def raw_value(inner: str | None, annotation: Any) -> Any:
    """What stands in a field's tag, as plain data for a reader of values.

    Args:
        inner: The text between the tags; None for a tag that closes itself.
        annotation: The field's type.

    Returns:
        Text; or lists and dicts where the type nests and the text holds elements.

    Raises:
        ValueError: The elements are nested too deeply.
    """
    try:
        return _raw(Element("", inner, None), annotation, None)
    except RecursionError:
        raise ValueError("the elements are nested too deeply") from None


def _raw(node: Element, annotation: Any, children: list[Element] | None) -> Any:
    kind = plain_type(annotation)
    origin = get_origin(kind)
    hints = _hints(kind)
    if node.inner is None:
        return _empty(annotation, kind, origin, hints)
    nested = origin in (list, dict, set, frozenset, tuple) or hints is not None or kind in (list, dict, Any)
    if not nested or not node.inner.lstrip().startswith("<"):
        return unescaped(node.inner)
    if children is None:
        children = read_children(node.inner)
    if not children:
        return unescaped(node.inner)
    if hints is not None:
        return _members(children, hints)
    args = get_args(kind)
    if origin is dict or kind is dict:
        inner = args[1] if len(args) > 1 else Any
        return {
            child.key if child.key is not None else child.name: _raw(child, inner, child.children) for child in children
        }
    if kind is Any:
        if all(child.name == _ITEM for child in children):
            return [_raw(child, Any, child.children) for child in children]
        return {child.key or child.name: _raw(child, Any, child.children) for child in children}
    inner = args[0] if args else Any
    if all(child.name == _ITEM for child in children) or _hints(plain_type(inner)) is None:
        return [_raw(child, inner, child.children) for child in children]
    return [_raw(node, inner, children)]


def _members(children: list[Element], hints: Mapping[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for child in children:
        name = child.key if child.key is not None else child.name
        annotation = hints.get(name, Any)
        kind = plain_type(annotation)
        repeated = name in members
        if get_origin(kind) is list and get_args(kind) and not _lists_items(child):
            # one element for each member of the list, instead of one for the list
            value = _raw(child, kind, child.children)
            one = value if isinstance(value, list) else [_raw(child, get_args(kind)[0], child.children)]
            if repeated and isinstance(members[name], list):
                members[name] = members[name] + one
            else:
                members[name] = value if not _repeats(children, child.name) else one
            continue
        if not repeated:
            members[name] = _raw(child, annotation, child.children)
    return members


def _repeats(children: list[Element], name: str) -> bool:
    return sum(child.name == name for child in children) > 1


def _lists_items(node: Element) -> bool:
    return bool(node.children) and all(child.name == _ITEM for child in node.children)


def _empty(annotation: Any, kind: Any, origin: Any, hints: Mapping[str, Any] | None) -> Any:
    if kind is not annotation or kind in (Any, type(None)):
        return None
    if origin in (list, set, frozenset, tuple) or kind is list:
        return []
    if origin is dict or kind is dict or hints is not None:
        return {}
    return ""


def _hints(kind: Any) -> Mapping[str, Any] | None:
    """The members of a model, a dataclass or a TypedDict."""
    if not isinstance(kind, type) or get_origin(kind) is not None:
        return None
    if _is_model(kind):
        members: Mapping[str, FieldInfo] = cast(type[BaseModel], kind).model_fields
        return {info.alias or name: member_type(kind, info.annotation) for name, info in members.items()}
    if dataclasses.is_dataclass(kind) or hasattr(kind, "__total__"):
        return type_hints(kind, include_extras=False)
    return None


def _is_model(kind: Any) -> bool:
    return (
        isinstance(kind, type)
        and get_origin(kind) is None
        and issubclass(kind, BaseModel)
        and not issubclass(kind, Type)
    )


def _holds_type(kind: Any) -> bool:
    return any(
        (isinstance(arg, type) and get_origin(arg) is None and issubclass(arg, Type)) or _holds_type(arg)
        for arg in get_args(kind)
    )


def _element(name: str, value: Any) -> str:
    opening, closing = (name, name) if is_name(name) else (f'entry key="{_attribute(name)}"', "entry")
    if value is None or value == [] or value == {}:
        return f"<{opening} />"
    if isinstance(value, dict):
        inner = "".join(_element(str(key), item) for key, item in value.items())
    elif isinstance(value, list):
        inner = "".join(_element(_ITEM, item) for item in value)
    else:
        inner = escaped(value if isinstance(value, str) else render_text(value))
    return f"<{opening}>{inner}</{closing}>"


def _attribute(text: str) -> str:
    return escaped(text).replace('"', "&quot;").replace(">", "&gt;")


def _example(kind: Any, depth: int) -> str:
    if depth > _DEEPEST_EXAMPLE:
        return "..."
    if get_origin(kind) is list and get_args(kind):
        return f"<{_ITEM}>{_example(plain_type(get_args(kind)[0]), depth + 1)}</{_ITEM}>"
    hints = _hints(kind)
    if hints is None or (depth and not _is_model(kind) and not dataclasses.is_dataclass(kind)):
        return "..."
    return "".join(f"<{name}>{_example(plain_type(hint), depth + 1)}</{name}>" for name, hint in hints.items())
