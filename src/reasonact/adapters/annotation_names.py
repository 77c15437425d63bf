"""How a type is named to the model, and what is said of a field and its value.

Names, placeholders and JSON schemas agree with DSPy 3.4.1 (``dspy.adapters.utils``);
the sentences are this library's own. All of it depends on the signature alone, so
adapters work it out once per signature.
"""

from __future__ import annotations

import enum
import json
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo

from reasonact.adapters.annotations import pydantic_ready
from reasonact.types.base import Type
from reasonact.types.code import Code
from reasonact.types.reasoning import Reasoning

_NOTE_GAP = " " * 8  # between the placeholder and the note on its value


def get_annotation_name(annotation: Any) -> str:
    """Name a type the way field descriptions do.

    Args:
        annotation: Any type annotation.

    Returns:
        ``"int"``, ``"list[str]"``, ``"Union[str, NoneType]"``, ``"Literal['a', 1]"``, …
    """
    if annotation is Reasoning:
        return "str"  # to the model it is a text like any other
    origin = get_origin(annotation)
    if origin is None:
        return str(getattr(annotation, "__name__", None) or annotation)
    args = get_args(annotation)
    if origin is Literal:
        return f"Literal[{', '.join(_literal_name(member) for member in args)}]"
    if origin is Annotated:
        return get_annotation_name(args[0])
    if origin is Union or origin is types.UnionType:
        return f"Union[{_names(args)}]"
    return f"{getattr(origin, '__name__', str(origin))}[{_names(args)}]"


def _names(args: tuple[Any, ...]) -> str:
    # Callable[[int], str] hands its argument types as a plain list.
    return ", ".join(f"[{_names(tuple(arg))}]" if isinstance(arg, list) else get_annotation_name(arg) for arg in args)


def _literal_name(member: Any) -> str:
    return repr(member) if isinstance(member, (str, bytes)) and not isinstance(member, enum.Enum) else str(member)


def get_field_description_string(fields: Mapping[str, FieldInfo]) -> str:
    """List fields for a system message: number, name, type, description, constraints.

    Args:
        fields: Field names and their infos, in order.

    Returns:
        One numbered entry per field; what a custom type says of itself and the
        constraints of the field stand below its line.
    """
    lines = []
    for number, (name, info) in enumerate(fields.items(), start=1):
        extra = _extra(info)
        description = extra.get("desc") or ""
        if description == f"${{{name}}}":
            description = ""  # the default description only repeats the name
        lines.append(f"{number}. `{name}` ({get_annotation_name(info.annotation)}): {description}")
        for custom in custom_types_in(info.annotation):
            if about := custom.description():
                lines.append(f"    About {get_annotation_name(custom)}: {about}")
        if constraints := extra.get("constraints"):
            lines.append(f"Constraints: {constraints}")
    return "\n".join(lines).strip()


def custom_types_in(annotation: Any) -> list[type[Type]]:
    """Find the ``Type`` classes in an annotation: itself, or below lists, unions and dicts.

    Args:
        annotation: Any type annotation.

    Returns:
        Each class once, in the order of the annotation. Models are not looked into.
    """
    found: dict[type[Type], None] = {}
    pending = [annotation]
    while pending:
        current = pending.pop()
        if isinstance(current, type) and get_origin(current) is None:
            if issubclass(current, Type):
                found[current] = None
        else:
            pending.extend(reversed(get_args(current)))
    return list(found)


def translate_field_type(field_name: str, field_info: FieldInfo) -> str:
    """Write a field's placeholder, with a note on the form of the value to produce.

    Args:
        field_name: The field's name.
        field_info: Its info; input fields and plain text get no note.

    Returns:
        ``{name}``, or ``{name}`` and a comment: one number, one of several words, a
        JSON schema.
    """
    placeholder = f"{{{field_name}}}"
    if _extra(field_info).get("__dspy_field_type") == "input":
        return placeholder
    note = value_note(field_info.annotation)
    return f"{placeholder}{_NOTE_GAP}# {note}" if note else placeholder


def value_note(annotation: Any) -> str:
    """Say in one line what a value of a type has to look like.

    Args:
        annotation: Any type annotation.

    Returns:
        The line, without a leading ``#``; empty where any text will do.
    """
    if annotation is str or annotation is Reasoning:
        return ""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, Code):
            return ""  # its description already asks for a code block
        if annotation is bool:
            return "write True or False, nothing else"
        if annotation in (int, float):
            return f"write one {annotation.__name__}, nothing else"
        if issubclass(annotation, enum.Enum):
            return f"write one of these values: {'; '.join(str(member.value) for member in annotation)}"
    if get_origin(annotation) is Literal:
        return f"write one of these, letter by letter: {'; '.join(str(member) for member in get_args(annotation))}"
    schema = value_schema(annotation)
    if schema is None:
        return f"write a value of type {get_annotation_name(annotation)}"
    return f"write JSON that fits this schema: {json.dumps(schema, ensure_ascii=False, default=str)}"


def value_schema(annotation: Any) -> dict[str, Any] | None:
    """Work out the JSON schema of a type, its keys in the order that DSPy prints them.

    Args:
        annotation: Any type annotation.

    Returns:
        The schema, or None for a type that has none (a callable, a class).
    """
    try:
        schema = TypeAdapter(pydantic_ready(annotation)).json_schema()
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation):
        return None
    ordered: dict[str, Any] = _type_first(schema)
    return ordered


def _type_first(node: Any) -> Any:
    if isinstance(node, dict):
        keys = sorted(node, key=lambda key: (key != "type", key))
        return {key: _type_first(node[key]) for key in keys}
    if isinstance(node, list):
        return [_type_first(item) for item in node]
    return node


def _extra(info: FieldInfo) -> Mapping[str, Any]:
    extra = info.json_schema_extra
    return extra if isinstance(extra, dict) else {}
