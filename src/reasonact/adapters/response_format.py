"""The response format that asks a provider for JSON: a schema of the outputs, or any object."""

from __future__ import annotations

import copy
from types import MappingProxyType
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation

from reasonact.adapters.annotations import pydantic_ready
from reasonact.adapters.layout import layout_of
from reasonact.types.reasoning import Reasoning

OBJECT_FORMAT: Final = MappingProxyType({"type": "json_object"})
"""Asks for a JSON object of any kind."""

_MODEL_NAME: Final = "DSPyProgramOutputs"  # the schema's name on the wire is DSPy's
_SCHEMA_KEYS: Final = ("items", "additionalProperties", "not", "contains")
_SCHEMA_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_TABLES: Final = ("properties", "$defs")


class _Outputs(BaseModel):
    """Base of the models whose schema is closed."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    __closed_schema__: ClassVar[dict[str, Any] | None] = None

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The closed schema, once it is there."""
        if cls.__closed_schema__ is None:
            return super().model_json_schema(*args, **kwargs)
        return copy.deepcopy(cls.__closed_schema__)


def schema_format(signature: Any) -> type[BaseModel] | None:
    """The outputs of a signature as a model class whose JSON schema providers enforce.

    It follows DSPy and OpenAI's strict form: every property is required and no other is
    allowed. That form cannot say "any keys", so a signature with an open mapping in its
    outputs has no schema format, nor has one whose calls are written as text.

    Args:
        signature: The signature as the prompt shows it.

    Returns:
        The class, or None where there is no such schema.
    """
    memo = signature.memo
    if _MODEL_NAME not in memo:
        memo[_MODEL_NAME] = _build(signature)
    found: type[BaseModel] | None = memo[_MODEL_NAME]
    return found


def _build(signature: Any) -> type[BaseModel] | None:
    layout = layout_of(signature)
    if layout.tool_calls in signature.output_fields:
        return None
    fields: dict[str, Any] = {}
    for name, info in signature.output_fields.items():
        kind = str if info.annotation is Reasoning else pydantic_ready(info.annotation)
        fields[name] = (
            kind,
            ... if info.is_required() else info.get_default(call_default_factory=True, validated_data={}),
        )
    try:
        model: type[_Outputs] = create_model(_MODEL_NAME, __base__=_Outputs, **fields)
        schema = model.model_json_schema()
    except (
        NameError,
        TypeError,
        ValueError,
        PydanticInvalidForJsonSchema,
        PydanticSchemaGenerationError,
        PydanticUndefinedAnnotation,
    ):
        return None
    if _has_open_object(schema):
        return None
    _close_objects(schema)
    model.__closed_schema__ = schema
    return model


def _subschemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[Any] = [schema.get(key) for key in _SCHEMA_KEYS]
    for key in _SCHEMA_LISTS:
        found += schema.get(key, ())
    for key in _SCHEMA_TABLES:
        found += schema.get(key, {}).values()
    return [item for item in found if isinstance(item, dict)]


def _has_open_object(schema: dict[str, Any]) -> bool:
    if schema.get("type") == "object" and "properties" not in schema:
        return True
    return any(map(_has_open_object, _subschemas(schema)))


def _close_objects(schema: dict[str, Any]) -> None:
    if schema.get("type") == "object":
        schema["additionalProperties"] = False
        schema["required"] = list(schema["properties"])
    for inner in _subschemas(schema):
        _close_objects(inner)
