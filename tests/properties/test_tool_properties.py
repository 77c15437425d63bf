"""For any signature and any arguments: the schema tells the truth, and a call runs typed or is refused."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import inspect
import json
import keyword
from typing import Any, Literal, Optional, Union

import jsonschema
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from budget import examples
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.schema import hoisted, self_contained
from reasonact.tools.tool import Tool

# ruff: noqa: UP007, UP045


class Item(BaseModel):
    name: str
    count: int = 3
    tags: list[str] = []


class Tree(BaseModel):
    value: int
    below: list[Tree] = []


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


SCALARS = [int, str, float, bool, datetime.date, decimal.Decimal, Colour, Item, Tree, Point, Literal["a", 1], Any]

annotations = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        inner.map(lambda t: list[t]),
        inner.map(lambda t: dict[str, t]),
        inner.map(lambda t: Optional[t]),
        st.tuples(inner, inner).map(lambda ts: Union[ts[0], ts[1]]),
        st.tuples(inner, inner).map(lambda ts: tuple[ts[0], ts[1]]),
    ),
    max_leaves=4,
)

names = st.one_of(
    st.sampled_from(["self", "name", "func", "args", "kwargs", "instance", "values", "schema", "x", "y"]),
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name)),
)

json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["1", "2.5", "[1]", '{"name": "q"}', "RED", "b", "null", "2024-05-06", "true", "[", "NaN"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "count", "value", "below", "x", "k"]), inner, max_size=3),
    ),
    max_leaves=6,
)

KINDS = [inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY]
DEFAULTS = [inspect.Parameter.empty, inspect.Parameter.empty, None, 5, "text", object(), float("nan")]


@st.composite
def functions(draw: Any) -> Any:
    """A function that returns its arguments by name, with a generated signature."""
    drawn = draw(st.lists(st.tuples(names, st.sampled_from(KINDS), annotations), max_size=4, unique_by=lambda p: p[0]))
    drawn.sort(key=lambda p: KINDS.index(p[1]))
    parameters, optional = [], False
    for name, kind, annotation in drawn:
        default = draw(st.sampled_from(DEFAULTS))
        if kind is not inspect.Parameter.KEYWORD_ONLY:
            optional = optional or default is not inspect.Parameter.empty
            default = 7 if optional and default is inspect.Parameter.empty else default
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    if draw(st.booleans()):
        parameters.append(inspect.Parameter("more__", inspect.Parameter.VAR_KEYWORD))
    signature = inspect.Signature(parameters)

    def echo(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return dict(signature.bind(*args, **kwargs).arguments)

    echo.__signature__ = signature  # type: ignore[attr-defined]
    return echo


def flat(arguments: dict[str, Any]) -> dict[str, Any]:
    arguments = dict(arguments)
    return {**arguments.pop("more__", {}), **arguments}


quick = examples(150, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(functions(), st.data())
def test_a_call_runs_with_typed_values_or_is_a_documented_refusal(func: Any, data: Any) -> None:
    tool = Tool(func)
    hints = {name: p.annotation for name, p in inspect.signature(func).parameters.items()}
    keys = st.sampled_from([*tool.args, "stray"]) if tool.args else st.just("stray")
    args = data.draw(st.dictionaries(keys, json_values, max_size=4))
    try:
        ran = tool(**args)
    except InvalidArguments as error:
        assert error.names
        assert all(repr(name) in str(error) for name in error.names)
        return
    assert ran == asyncio.run(tool.acall(**args)) or "nan" in repr(ran)
    for name, value in flat(ran).items():
        if name in args and name in tool.args:
            assert value == TypeAdapter(hints[name]).validate_python(value, strict=True) or value != value


@quick
@given(functions(), st.data())
def test_what_the_schema_validates_the_tool_accepts(func: Any, data: Any) -> None:
    tool = Tool(func)
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    jsonschema.Draft202012Validator.check_schema(parameters)
    json.dumps(parameters, allow_nan=False)
    checker = jsonschema.Draft202012Validator(
        {**parameters, "additionalProperties": tool.has_kwargs},
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    )
    args = data.draw(st.fixed_dictionaries(dict.fromkeys(parameters["required"], json_values)))
    # that the text of a Decimal has to be a number is beyond the words of its schema
    if checker.is_valid(args) and "Decimal" not in str(inspect.signature(func)):
        tool(**args)


@quick
@given(functions(), st.data())
def test_what_the_function_accepts_the_schema_validates(func: Any, data: Any) -> None:
    """Strict values are JSON of the types themselves: the schema must not refuse one of them."""
    tool = Tool(func, strict=True)
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    args = data.draw(st.dictionaries(st.sampled_from([*tool.args, "stray"]), json_values, max_size=4))
    try:
        tool(**args)
    except InvalidArguments:
        return
    jsonschema.Draft202012Validator(parameters).validate(args)


definitions = st.dictionaries(
    st.sampled_from(["A", "B", "C"]),
    st.recursive(
        st.one_of(
            st.sampled_from([{"type": "integer"}, {"type": "string"}]),
            st.sampled_from(["A", "B", "C"]).map(lambda name: {"$ref": f"#/$defs/{name}"}),
        ),
        lambda inner: st.one_of(
            inner.map(lambda s: {"type": "array", "items": s}),
            st.dictionaries(st.sampled_from(["a", "default", "properties"]), inner, max_size=2).map(
                lambda props: {"type": "object", "properties": props}
            ),
        ),
        max_leaves=3,
    ).filter(lambda schema: "$ref" not in schema),
    min_size=3,
)


@quick
@given(definitions, json_values, json_values)
def test_schemas_mean_the_same_in_their_places_and_together(defs: dict[str, Any], one: Any, two: Any) -> None:
    whole = {"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}, "$defs": defs}
    apart = {name: self_contained(schema, whole) for name, schema in whole["properties"].items()}
    together, shared = hoisted(apart)
    for name, value in (("a", one), ("b", two)):
        wanted = jsonschema.Draft202012Validator(whole).is_valid({name: value})
        assert wanted == jsonschema.Draft202012Validator(apart[name]).is_valid(value)
        moved = {"properties": together, "$defs": shared}
        assert wanted == jsonschema.Draft202012Validator(moved).is_valid({name: value})
