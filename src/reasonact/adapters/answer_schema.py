"""The JSON schema of a whole answer, for servers that hold a model to one while it writes.

`response_format` asks in OpenAI's strict form, which knows no open object and no choice
between calls. This schema says more: in an agent's turn a tool can only be one of those
that there are, and the arguments are those of the tool that was chosen. A model that is
held to it cannot write a turn that does not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any, Final, Literal, get_args

from reasonact.adapters.annotations import annotated
from reasonact.adapters.ending_tools import FINISH
from reasonact.adapters.layout import layout_of
from reasonact.adapters.plan import Plan
from reasonact.adapters.step_form import ARGUMENTS, TOOL, is_step, offered_tools
from reasonact.tools.schema import JsonSchema, compile_type, hoisted
from reasonact.types.reasoning import Reasoning

SchemaForm = Literal["json_schema", "json_object"]
"""Where a request carries the schema: OpenAI's ``json_schema``, or beside the type ``json_object``."""

SCHEMA_FORMS: Final[tuple[str, ...]] = get_args(SchemaForm)

_NAME: Final = "answer"
_MEMO: Final = "answer_schema"
_KEPT: Final = 8
_TEXT: Final[JsonSchema] = {"type": "string"}
_BOUNDS: Final = frozenset(("maxLength", "enum", "const", "pattern", "format"))
_TABLES: Final = frozenset(("properties", "patternProperties", "$defs", "definitions"))
_SUBSCHEMAS: Final = frozenset(("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf"))
_ANY_ARGUMENTS: Final[JsonSchema] = {"type": "object"}


def constrained_format(
    form: SchemaForm,
    plan: Plan,
    options: Mapping[str, Any],
    parallel: bool | None = None,
    max_text_chars: int | None = None,
) -> JsonSchema:
    """The ``response_format`` that holds the answer to a plan to its schema.

    Args:
        form: Where the request carries the schema.
        plan: The plan, whose calls are part of the text.
        options: The options as the caller gave them; a ``tool_choice`` leaves that tool alone.
        parallel: False holds a turn to one call.
        max_text_chars: See `answer_schema`.

    Returns:
        A new dict; the schema in it is shared and not to be changed.
    """
    tools = tuple(plan.tools) or tuple(offered_tools(plan.signature))
    schema = _kept_schema(plan.shown, tools, (_chosen(options), parallel is False, max_text_chars))
    if form == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": _NAME, "schema": schema}}
    return {"type": "json_object", "schema": schema}


def answer_schema(
    signature: Any,
    tools: Iterable[Any] = (),
    chosen: str | None = None,
    one_call: bool = False,
    max_text_chars: int | None = None,
) -> JsonSchema:
    """The schema of an answer.

    Args:
        signature: The signature as the prompt shows it.
        tools: The tools that the answer may call.
        chosen: The name of the only tool to allow, where there is one of that name.
        one_call: Hold a turn to one call.
        max_text_chars: The most characters of a text that has no bound of its own; None
            leaves it unbounded.

    Returns:
        A new schema, with its definitions at the root. Every field is required, in the
        signature's order; what is written in that order needs no looking ahead.
    """
    schema = _whole(signature, tools, chosen, one_call)
    return schema if max_text_chars is None else _bounded(schema, max_text_chars)


def _whole(signature: Any, tools: Iterable[Any], chosen: str | None, one_call: bool) -> JsonSchema:
    offered = list(tools)
    allowed = [tool for tool in offered if tool.name == chosen] or offered
    if is_step(signature):
        variants = [_fields(signature, {TOOL: _one(tool.name), ARGUMENTS: _arguments(tool)}) for tool in allowed]
        return {"type": "object", **_any_of(variants)} if variants else _fields(signature, {ARGUMENTS: _ANY_ARGUMENTS})
    layout = layout_of(signature)
    calls = {} if layout.tool_calls is None else {layout.tool_calls: _calls(allowed, layout.agent, one_call)}
    return _fields(signature, calls)


def _kept_schema(signature: Any, tools: Sequence[Any], question: tuple[str | None, bool, int | None]) -> JsonSchema:
    """The schema out of the signature's memo, where it was made for these very tools."""
    kept: list[tuple[Sequence[Any], tuple[str | None, bool, int | None], JsonSchema]]
    kept = signature.memo.setdefault(_MEMO, [])
    for known, asked, schema in tuple(kept):
        if asked == question and len(known) == len(tools) and all(map(is_, known, tools)):
            return schema
    made = answer_schema(signature, tools, *question)
    kept.append((tools, question, made))
    del kept[:-_KEPT]
    return made


def _chosen(options: Mapping[str, Any]) -> str | None:
    choice = options.get("tool_choice")
    function = choice.get("function") if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else None


def _fields(signature: Any, known: Mapping[str, JsonSchema]) -> JsonSchema:
    return _object(
        {name: known[name] if name in known else _field(info) for name, info in signature.output_fields.items()}
    )


def _field(info: Any) -> JsonSchema:
    if info.annotation is Reasoning:
        return _TEXT
    return compile_type(annotated(info.annotation, info.metadata)).schema


def _calls(tools: Sequence[Any], agent: bool, one_call: bool) -> JsonSchema:
    calls = [_object({"name": _one(tool.name), "args": _arguments(tool)}) for tool in tools]
    moved, definitions = hoisted(
        {"items": _any_of(calls) if calls else _object({"name": _TEXT, "args": _ANY_ARGUMENTS})}
    )
    listed: JsonSchema = {"type": "array", **moved}
    if agent:
        listed["minItems"] = 1  # a turn without a call ends a run
    if one_call:
        listed["maxItems"] = 1
    return _object({"tool_calls": {**listed, "$defs": definitions} if definitions else listed})


def _arguments(tool: Any) -> JsonSchema:
    parameters: JsonSchema = tool.format_as_litellm_function_call()["function"]["parameters"]
    # `finish` takes whatever comes, but wants nothing: held to an open object, a model may write there without end.
    is_open = tool.has_kwargs and tool.name != FINISH
    return parameters if is_open else {**parameters, "additionalProperties": False}


def _one(name: str) -> JsonSchema:
    return {"type": "string", "enum": [name]}


def _object(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    moved, definitions = hoisted(properties)
    made: JsonSchema = {
        "type": "object",
        "properties": moved,
        "required": list(moved),
        "additionalProperties": False,
    }
    return {**made, "$defs": definitions} if definitions else made


def _any_of(schemas: Sequence[JsonSchema]) -> JsonSchema:
    moved, definitions = hoisted({str(number): schema for number, schema in enumerate(schemas)})
    made: JsonSchema = {"anyOf": list(moved.values())} if len(moved) > 1 else dict(moved["0"])
    return {**made, "$defs": definitions} if definitions else made


def _bounded(schema: Any, most: int) -> Any:
    """A schema whose texts end: those that nothing else bounds get ``maxLength``."""
    if not isinstance(schema, Mapping):
        return schema
    bounded: JsonSchema = {}
    for key, value in schema.items():
        if key in _TABLES and isinstance(value, Mapping):
            bounded[key] = {name: _bounded(inner, most) for name, inner in value.items()}
        elif key in _SUBSCHEMAS:
            bounded[key] = (
                [_bounded(inner, most) for inner in value] if isinstance(value, list) else _bounded(value, most)
            )
        else:
            bounded[key] = value
    kinds = schema.get("type")
    is_text = "string" in kinds if isinstance(kinds, list) else kinds == "string"
    if is_text and not _BOUNDS & schema.keys():
        bounded["maxLength"] = max(most, int(schema.get("minLength", 0)))
    return bounded
