"""What is worked out once for a tool: the schemas of its arguments and their checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args, get_origin

from reasonact.tools.arguments import ArgumentChecker, Declared, SchemaArguments, TypedArguments
from reasonact.tools.parameters import MISSING, Parameter, Shape, read_shape
from reasonact.tools.schema import CompiledType, JsonSchema, compile_type, hoisted, json_default, self_contained

_TYPE_NAMES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool's maker said of its arguments.

    Args:
        args: JSON schemas by name, or None.
        schema: The JSON schema of the whole arguments object, or None.
        types: Types by name, or None.
        strict: Check without conversion.
    """

    args: Mapping[str, Any] | None = None
    schema: Mapping[str, Any] | None = None
    types: Mapping[str, Any] | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A callable, ready to be a tool.

    Args:
        shape: What it takes.
        args: JSON schemas by argument name, each on its own feet.
        arg_types: Types by argument name.
        checker: What checks the arguments of a call.
    """

    shape: Shape
    args: dict[str, JsonSchema]
    arg_types: dict[str, Any]
    checker: ArgumentChecker


def prepare(func: Callable[..., Any], name: str, given: Given, arg_desc: Mapping[str, str] | None) -> Prepared:
    """Work out what a tool needs of its callable.

    Args:
        func: The callable.
        name: The tool's name, for errors.
        given: What its maker said.
        arg_desc: Descriptions by argument name.

    Returns:
        Schemas, types and checker.

    Raises:
        ValueError: ``args`` and ``schema`` are both given, one is no JSON schema, or the callable
            cannot be called with what they declare.
    """
    shape = read_shape(func, given.types)
    compiled = {p.name: compile_type(p.annotation) for p in shape.parameters}
    arg_types = {p.name: _bare(p.annotation) for p in shape.parameters}
    if given.args is None and given.schema is None:
        args = {p.name: _argument_schema(p, compiled[p.name]) for p in shape.parameters}
        _describe(args, arg_desc)
        declared = Declared(name, args, frozenset(p.name for p in shape.parameters if p.required))
        extra = compile_type(shape.extra) if shape.has_kwargs else None
        return Prepared(shape, args, arg_types, TypedArguments(declared, compiled, extra, given.strict))

    if given.args is not None and given.schema is not None:
        raise ValueError(f"tool {name!r}: args and schema both describe the arguments; give one of them")
    whole = _object_schema(name, given, shape)
    args = {key: self_contained(value, whole) for key, value in whole["properties"].items()}
    _describe(args, arg_desc)
    _match(name, args, shape)
    types = {key: compiled[key] for key in args if key in compiled and compiled[key].adapter is not None}
    extra_taken = shape.has_kwargs if given.schema is None else _takes_more(whole)
    declared = Declared(name, args, frozenset(whole["required"]))
    checker = SchemaArguments(declared, whole, extra=extra_taken, types=types, strict=given.strict)
    return Prepared(shape, args, arg_types, checker)


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _argument_schema(parameter: Parameter, compiled: CompiledType) -> JsonSchema:
    schema = {key: value for key, value in compiled.schema.items() if key != "default"}
    if parameter.default is not MISSING:
        try:
            schema["default"] = json_default(parameter.default)
        except ValueError:  # left out of the schema; the argument is optional all the same
            pass
    return schema


def _describe(args: dict[str, JsonSchema], arg_desc: Mapping[str, str] | None) -> None:
    for name, text in (arg_desc or {}).items():
        if name in args:
            args[name] = {**args[name], "description": text}


def _object_schema(name: str, given: Given, shape: Shape) -> JsonSchema:
    if given.schema is not None:
        whole = dict(given.schema)
        whole["properties"] = properties = dict(whole.get("properties") or {})
        whole["required"] = required = list(whole.get("required") or ())
        for key in required:
            properties.setdefault(key, {})
    else:
        properties = {key: _as_schema(name, key, value) for key, value in (given.args or {}).items()}
        moved, definitions = hoisted(properties)
        optional = {p.name for p in shape.parameters if not p.required}
        required = [key for key in moved if "default" not in moved[key] and key not in optional]
        whole = {"type": "object", "properties": moved, "required": required, "$defs": definitions}
    for key, value in properties.items():
        properties[key] = _as_schema(name, key, value)
    return whole


def _as_schema(tool: str, argument: str, schema: Any) -> JsonSchema:
    if schema is True:
        return {}
    if not isinstance(schema, Mapping):
        raise ValueError(f"tool {tool!r}: the schema of {argument!r} is a JSON schema (a dict), got {schema!r}")
    kind = schema.get("type", "object")
    kinds = [kind] if isinstance(kind, str) else kind
    if not (isinstance(kinds, list) and all(isinstance(k, str) and k in _TYPE_NAMES for k in kinds)):
        raise ValueError(f"tool {tool!r}: the schema of {argument!r} has no type of JSON schema: {kind!r}")
    return dict(schema)


def _match(name: str, args: Mapping[str, Any], shape: Shape) -> None:
    if not shape.has_kwargs:
        unknown = [key for key in args if key not in {p.name for p in shape.parameters}]
        if unknown:
            raise ValueError(f"tool {name!r}: the callable has no parameter for {', '.join(map(repr, unknown))}")
    unfilled = [p.name for p in shape.parameters if p.required and p.name not in args]
    if unfilled:
        raise ValueError(f"tool {name!r}: args leave out {', '.join(map(repr, unfilled))}, which the callable needs")


def _takes_more(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("additionalProperties", False)) or "patternProperties" in schema
