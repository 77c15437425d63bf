"""Signatures and tools as plain data, and made again from it for writing prompts.

A type is kept by its name, and by its JSON schema where a name alone does not say it. What
is read back stands in for the original in a prompt and nowhere else: a class that a file
names is never imported, and a tool made again does nothing.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, Literal, Union

from pydantic_core import core_schema

from reasonact.adapters.annotation_names import custom_types_in, get_annotation_name, value_schema
from reasonact.signatures.fields import TYPE_UNDEFINED, InputField, OutputField, extra_of, kind_of
from reasonact.signatures.grammar import parse_signature
from reasonact.signatures.scope import BUILTIN_TYPES
from reasonact.signatures.signature import Signature, make_signature
from reasonact.tools.tool import Tool
from reasonact.types.audio import Audio
from reasonact.types.base import Type
from reasonact.types.code import Code
from reasonact.types.file import File
from reasonact.types.history import History
from reasonact.types.history_form import dump_events, read_events
from reasonact.types.image import Image
from reasonact.types.json_form import json_form
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

_OWN: Final = (Audio, Code, File, History, Image, Reasoning, Tool, ToolCalls)
_TYPING: Final[Mapping[str, Any]] = {"Any": Any, "Literal": Literal, "Union": Union}


@dataclass(frozen=True, slots=True)
class FieldForm:
    """A field of a signature.

    Args:
        name: Its name.
        kind: Which side of the arrow.
        type: The name of its type.
        desc: Its description; ``${name}`` is the default.
        prefix: Its prefix.
        constraints: Its constraints in words.
        undefined: Whether it was declared without a type; None where that was not noted.
        schema: The JSON schema of a type that only the program knows.
        choices: The values of an enumeration.
        about: What a type of the program's own says of itself.
    """

    name: str
    kind: Literal["input", "output"]
    type: str
    desc: str
    prefix: str
    constraints: str | None = None
    undefined: bool | None = None
    schema: dict[str, Any] | None = None
    choices: list[Any] | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class SignatureForm:
    """A signature: its string form, its instructions, its fields."""

    text: str
    instructions: str
    fields: tuple[FieldForm, ...]

    def of(self, kind: str) -> tuple[FieldForm, ...]:
        """The fields of one side of the arrow."""
        return tuple(form for form in self.fields if form.kind == kind)


@dataclass(frozen=True, slots=True)
class PredictorForm:
    """A signature as a predictor asks it, with the predictor's demos in the JSON form of a history's events."""

    signature: SignatureForm
    demos: list[dict[str, Any]] = field(default_factory=list)

    def examples(self) -> list[dict[str, Any]]:
        """The demos with values of their types."""
        return read_events(self.demos)


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A tool as models are told of it: name, description, JSON schemas by argument, and which of them it needs."""

    name: str
    desc: str | None
    args: dict[str, Any]
    required: list[str]


def signature_form(signature: type[Signature]) -> SignatureForm:
    """A signature as plain data.

    Args:
        signature: A signature class.

    Returns:
        Its form.
    """
    return SignatureForm(
        signature.signature,
        signature.instructions,
        tuple(_field_form(name, info) for name, info in signature.fields.items()),
    )


def predictor_form(signature: type[Signature], demos: list[Any]) -> PredictorForm:
    """What a predictor asks, as plain data."""
    return PredictorForm(signature_form(signature), dump_events([dict(demo) for demo in demos], versioned=False))


def tool_form(tool: Tool) -> ToolForm:
    """A tool as plain data."""
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    return ToolForm(str(tool.name), tool.desc, json_form(tool.args), [str(name) for name in parameters["required"]])


def signature_again(form: SignatureForm) -> type[Signature]:
    """A signature that reads the same in a prompt.

    Args:
        form: Its form.

    Returns:
        A new signature class.
    """
    fields: dict[str, Any] = {}
    for item in form.fields:
        extra: dict[str, Any] = {"prefix": item.prefix}
        if item.constraints is not None:
            extra["constraints"] = item.constraints
        if item.undefined is not None:
            extra[TYPE_UNDEFINED] = item.undefined
        make = InputField if item.kind == "input" else OutputField
        fields[item.name] = (_type_again(item), make(desc=item.desc, json_schema_extra=extra))
    return make_signature(fields, form.instructions)


def tool_again(form: ToolForm) -> Tool:
    """A tool that reads the same in a prompt, and does nothing.

    Args:
        form: Its form.

    Returns:
        A new tool.
    """

    def nothing(**_arguments: Any) -> None:
        return None

    kind = inspect.Parameter.KEYWORD_ONLY
    nothing.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, kind, default=inspect.Parameter.empty if name in form.required else None)
            for name in form.args
        ]
    )
    return Tool(nothing, name=form.name, desc=form.desc, args=form.args)


def _field_form(name: str, info: Any) -> FieldForm:
    extra = extra_of(info)
    annotation = info.annotation
    kind = kind_of(info)
    form = FieldForm(
        name=name,
        kind="output" if kind is None else kind,
        type="Reasoning" if annotation is Reasoning else get_annotation_name(annotation),
        desc=str(extra.get("desc") or ""),
        prefix=str(extra.get("prefix") or ""),
        constraints=extra.get("constraints"),
        undefined=extra.get(TYPE_UNDEFINED),
    )
    if _known_type(form.type) == annotation:
        return form
    choices = _choices(annotation)
    about = [text for kind in custom_types_in(annotation) if (text := kind.description())]
    return replace(
        form,
        schema=json_form(value_schema(annotation)) if choices is None else None,
        choices=choices,
        about="\n".join(about) or None,
    )


def _choices(annotation: Any) -> list[Any] | None:
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return [json_form(member.value) for member in annotation]
    return None


def _type_again(form: FieldForm) -> Any:
    if form.schema is None and form.choices is None and form.about is None:
        known = _known_type(form.type)
        return _stand_in(form) if known is None else known
    if form.choices is not None:
        return enum.Enum(form.type, {f"member_{number}": value for number, value in enumerate(form.choices)})
    return _stand_in(form)


def _stand_in(form: FieldForm) -> Any:
    """A type of which a prompt says what it said of the original."""
    schema = None if form.schema is None else _opaque(form.schema)

    class StandIn(Type if form.about is not None else object):  # type: ignore[misc]
        @classmethod
        def description(cls) -> str:
            return form.about or ""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            return core_schema.any_schema() if schema is not None else core_schema.is_instance_schema(cls)

        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            return handler(core) if schema is None else schema

    StandIn.__name__ = StandIn.__qualname__ = form.type
    return StandIn


class _Reference(str):
    """The key ``$ref``, written as such, but unknown to pydantic: it would look the target up among its own."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _opaque(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {_Reference(key) if key == "$ref" else key: _opaque(value) for key, value in schema.items()}
    return [_opaque(item) for item in schema] if isinstance(schema, list) else schema


@cache
def _known_type(name: str) -> Any:
    """The type of a name that needs no program to know it, or None."""
    known: Mapping[str, Any] = {**BUILTIN_TYPES, **_TYPING, **{kind.__name__: kind for kind in _OWN}}

    def find(word: str) -> Any:
        if word not in known:
            raise LookupError(word)
        return known[word]

    try:
        inputs, _ = parse_signature(f"value: {name} -> made", find)
    except (ValueError, TypeError):
        return None
    return inputs[0].annotation if len(inputs) == 1 else None
