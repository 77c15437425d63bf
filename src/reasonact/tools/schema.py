"""From types to JSON schemas, and schemas that stand on their own.

A parameter's schema is pydantic's, with every definition put in its place, as DSPy shows it; a
definition that contains itself stays a ``$ref`` into a ``$defs`` of that schema. What JSON schema
cannot say (a callable, a class of the program's own) is ``{}``: anything.
"""

from __future__ import annotations

import math
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import ConfigDict, PydanticUserError, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError, to_jsonable_python

if sys.version_info < (3, 12):
    import typing_extensions

JsonSchema = dict[str, Any]

INLINE_LIMIT: Final = 4_000
"""Schemas that would grow beyond so many nodes keep their definitions as references."""

_MAPS_OF_SCHEMAS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_DATA: Final = frozenset({"default", "const", "enum", "examples"})
_SCALARS: Final = frozenset({int, str, float, bool, type(None)})
_ANY_CLASS: Final = ConfigDict(arbitrary_types_allowed=True)


@dataclass(frozen=True, slots=True)
class CompiledType:
    """A type, ready for use.

    Args:
        schema: Its JSON schema.
        adapter: What checks and converts values; None where anything goes.
    """

    schema: JsonSchema
    adapter: TypeAdapter[Any] | None


ANYTHING: Final = CompiledType({}, None)


def compile_type(annotation: Any) -> CompiledType:
    """Make the schema and the validator of a type.

    Args:
        annotation: Any annotation. One that pydantic cannot understand means anything.

    Returns:
        Both; the schema may be shared and must not be changed.
    """
    if annotation is Any:
        return ANYTHING
    return _compile_plain(annotation) if _is_plain(annotation) else _compile(annotation)


def json_default(value: Any) -> Any:
    """A default as JSON holds it.

    Args:
        value: Any value.

    Returns:
        Its JSON form.

    Raises:
        ValueError: JSON cannot hold it.
    """
    if value is None or type(value) in (int, str, bool):
        return value
    try:
        plain = to_jsonable_python(value, by_alias=True)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"JSON cannot hold {type(value).__name__}") from error
    if not all(math.isfinite(number) for number in _floats(plain)):
        raise ValueError("JSON cannot hold a number that is not finite")
    return plain


class _TruthfulSchema(GenerateJsonSchema):
    """Pydantic's schema of a type, with ``{}`` for what JSON schema cannot express."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchema:
        return {}

    def encode_default(self, dft: Any) -> Any:
        try:
            return json_default(super().encode_default(dft))
        except ValueError as error:
            raise PydanticSerializationError(str(error)) from error


def _compile(annotation: Any) -> CompiledType:
    for attempt in (_adapter, _adapter_with_any_class, _adapter_of_modern_typed_dict):
        try:
            adapter = attempt(annotation)
            schema = adapter.json_schema(schema_generator=_TruthfulSchema)
        except Exception:  # an annotation may run any code, and unknown means anything
            continue
        return CompiledType(self_contained(schema), adapter)
    return ANYTHING


@lru_cache(maxsize=1024)
def _compile_plain(annotation: Any) -> CompiledType:
    return _compile(annotation)


def _is_plain(annotation: Any) -> bool:
    """Whether a type is made of builtins alone, so that what is made of it can never be out of date."""
    if isinstance(annotation, type) and annotation in _SCALARS:
        return True
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (list, dict, set, tuple):
        return all(part is Ellipsis or _is_plain(part) for part in parts)
    # equal unions may differ in their order, and the order shows in the schema
    return origin in (Union, types.UnionType) and parts[1:] == (type(None),) and _is_plain(parts[0])


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _adapter_with_any_class(annotation: Any) -> TypeAdapter[Any]:
    if not isinstance(annotation, type) and get_origin(annotation) is None:
        raise TypeError(f"{annotation!r} is no type")
    return TypeAdapter(annotation, config=_ANY_CLASS)


def _adapter_of_modern_typed_dict(annotation: Any) -> TypeAdapter[Any]:
    """Before Python 3.12 pydantic takes a TypedDict from typing_extensions alone."""
    if sys.version_info >= (3, 12):
        raise PydanticUserError("nothing to modernise", code="typed-dict-version")
    return TypeAdapter(_modern(annotation))


def _modern(annotation: Any) -> Any:
    if typing.is_typeddict(annotation):
        hints = typing_extensions.get_type_hints(annotation, include_extras=True)
        fields = {name: _modern(hint) for name, hint in hints.items()}
        optional: frozenset[str] = getattr(annotation, "__optional_keys__", frozenset())
        for name in optional:
            fields[name] = typing_extensions.NotRequired[fields[name]]
        return typing_extensions.TypedDict(annotation.__name__, fields)  # type: ignore[operator]
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is None or not parts:
        return annotation
    if origin is Annotated:
        annotated: Any = Annotated
        inner = (_modern(parts[0]), *parts[1:])
        return annotated[inner]
    if origin in (Union, types.UnionType):
        return Union[tuple(_modern(part) for part in parts)]  # noqa: UP007
    if origin in (list, dict, set, frozenset, tuple):
        generic: Any = origin
        return generic[tuple(_modern(part) if part is not Ellipsis else part for part in parts)]
    return annotation


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _floats(item)
    elif isinstance(value, list):
        for item in value:
            yield from _floats(item)


def self_contained(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> JsonSchema:
    """Put every local reference of a schema in its place.

    Args:
        schema: A schema, or a part of ``root``.
        root: The document that its references point into; by default the schema itself.

    Returns:
        A new schema without references, but for those that lead back to themselves or would
        make it grow beyond `INLINE_LIMIT` nodes; their targets are in its own ``$defs``.
        References to other documents stay as they are.
    """
    document = schema if root is None else root
    body = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    targets = _reachable(body, document)
    if not targets:
        return body
    kept = {ref for ref in targets if ref in _reachable(targets[ref], document)}
    if _expanded_size(body, document, kept) > INLINE_LIMIT:
        kept = set(targets)
    names = _names_for(kept)

    def place(ref: str, siblings: JsonSchema) -> JsonSchema:
        if ref in kept:
            return {"$ref": f"#/$defs/{names[ref]}", **siblings}
        if ref not in targets:
            return {"$ref": ref, **siblings}
        return {**mapped(targets[ref]), **siblings}

    def mapped(part: Any) -> Any:
        return _map_refs(part, place)

    result: JsonSchema = mapped(body)
    used = {ref for ref in kept if ref in targets}
    if used:
        definitions = {names[ref]: mapped(_without_definitions(targets[ref])) for ref in sorted(used)}
        result["$defs"] = definitions
    return result


def hoisted(properties: Mapping[str, JsonSchema]) -> tuple[dict[str, JsonSchema], JsonSchema]:
    """Move the ``$defs`` of several schemas to one place, for an object that holds them all.

    Args:
        properties: Schemas by property name, each on its own feet.

    Returns:
        The schemas, their references pointing to the root's ``$defs``, and those definitions.
        Different definitions of one name get numbered names.
    """
    if not any("$defs" in schema for schema in properties.values()):
        return dict(properties), {}
    shared: JsonSchema = {}
    moved: dict[str, JsonSchema] = {}
    for prop, schema in properties.items():
        local: JsonSchema = schema.get("$defs", {})
        renamed = {}
        for name, definition in local.items():
            number, free = 1, name
            while free in shared and shared[free] != definition:
                number += 1
                free = f"{name}_{number}"
            renamed[f"#/$defs/{name}"] = f"#/$defs/{free}"

        def place(ref: str, siblings: JsonSchema, renamed: dict[str, str] = renamed) -> JsonSchema:
            return {"$ref": renamed.get(ref, ref), **siblings}

        for name, definition in local.items():
            shared[renamed[f"#/$defs/{name}"].removeprefix("#/$defs/")] = _map_refs(definition, place)
        moved[prop] = _map_refs({key: value for key, value in schema.items() if key != "$defs"}, place)
    return moved, shared


def brief(schema: Any, depth: int = 2) -> str:
    """Say in a few words what a schema wants, for error messages.

    Args:
        schema: A JSON schema.
        depth: How many levels of arrays and objects to describe.

    Returns:
        For example ``integer``, ``array of string``, ``one of "a", "b"``, ``object {name, n?}``.
    """
    if not isinstance(schema, Mapping) or not schema:
        return "anything"
    if "enum" in schema:
        return "one of " + ", ".join(_shown(choice) for choice in schema["enum"])
    if "const" in schema:
        return _shown(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(brief(option, depth) for option in schema[key]))
    kind = schema.get("type", "object" if "properties" in schema else "anything")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and depth and schema.get("items"):
        return f"array of {brief(schema['items'], depth - 1)}"
    if kind == "object" and depth and schema.get("properties"):
        required = schema.get("required", ())
        return "object {" + ", ".join(n if n in required else f"{n}?" for n in schema["properties"]) + "}"
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _map_refs(part: Any, place: Callable[[str, JsonSchema], JsonSchema], names: bool = False) -> Any:
    """Rebuild a schema with ``place(ref, siblings)`` for each reference; data in it is left alone."""
    if isinstance(part, Mapping):
        ref = part.get("$ref")
        rebuilt = {
            key: value if key in _DATA and not names else _map_refs(value, place, key in _MAPS_OF_SCHEMAS and not names)
            for key, value in part.items()
            if names or key != "$ref" or not isinstance(ref, str)
        }
        return place(ref, rebuilt) if isinstance(ref, str) and not names else rebuilt
    if isinstance(part, list):
        return [_map_refs(item, place) for item in part]
    return part


def _direct_refs(part: Any) -> set[str]:
    found: set[str] = set()

    def note(ref: str, siblings: JsonSchema) -> JsonSchema:
        found.add(ref)
        return siblings

    _map_refs(_without_definitions(part), note)
    return found


def _reachable(part: Any, document: Mapping[str, Any]) -> dict[str, Any]:
    """Every local reference that can be reached from a schema, with what it points to."""
    targets: dict[str, Any] = {}
    waiting = list(_direct_refs(part))
    while waiting:
        ref = waiting.pop()
        if ref in targets or not ref.startswith("#"):
            continue
        target = _pointed_at(ref, document)
        if target is None:
            continue
        targets[ref] = target
        waiting.extend(_direct_refs(target))
    return targets


def _pointed_at(ref: str, document: Any) -> Any:
    place = document
    for step in ref.lstrip("#").strip("/").split("/") if ref != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping) and name in place:
            place = place[name]
        elif isinstance(place, list) and name.isdigit() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def _expanded_size(body: Any, document: Mapping[str, Any], kept: set[str]) -> int:
    sizes: dict[str, int] = {}

    def size(part: Any) -> int:
        if isinstance(part, Mapping):
            ref = part.get("$ref")
            own = 1 + sum(size(value) for value in part.values())
            return own + (size_of(ref) if isinstance(ref, str) else 0)
        return sum(size(item) for item in part) if isinstance(part, list) else 1

    def size_of(ref: str) -> int:
        if ref in kept or not ref.startswith("#"):
            return 1
        if ref not in sizes:
            target = _pointed_at(ref, document)
            sizes[ref] = 0  # a target outside `kept` never leads back here
            sizes[ref] = size(_without_definitions(target))
        return sizes[ref]

    return size(body)


def _without_definitions(part: Any) -> Any:
    if isinstance(part, Mapping) and ("$defs" in part or "definitions" in part):
        return {key: value for key, value in part.items() if key not in ("$defs", "definitions")}
    return part


def _names_for(refs: set[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for ref in sorted(refs):
        wanted = ref.rsplit("/", 1)[-1].lstrip("#") or "Root"
        number, free = 1, wanted
        while free in names.values():
            number += 1
            free = f"{wanted}_{number}"
        names[ref] = free
    return names
