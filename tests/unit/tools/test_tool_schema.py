"""What a model is told of a tool's arguments, for every kind of callable."""

# ruff: noqa: UP007, UP045 - both spellings are input here
from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import threading
from collections.abc import Callable
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import jsonschema
import pytest
from pydantic import BaseModel, Field

from reasonact.tools.schema import brief
from reasonact.tools.tool import Tool


class Item(BaseModel):
    name: str
    count: int = 3


class Order(BaseModel):
    items: list[Item]
    first: Item = Field(description="the first one")


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(TypedDict):
    city: str


@dataclasses.dataclass
class Point:
    x: int
    y: str = "q"


def test_a_function_gives_name_description_and_schemas() -> None:
    def find(query: str, limit: int = 5) -> list[str]:
        """Find pages."""
        return []

    tool = Tool(find)
    assert "find" == tool.name
    assert "Find pages." == tool.desc
    assert {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}} == tool.args
    assert {"query": str, "limit": int} == tool.arg_types
    assert tool.has_kwargs is False
    assert {
        "type": "function",
        "function": {
            "name": "find",
            "description": "Find pages.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
                "required": ["query"],
            },
        },
    } == tool.format_as_litellm_function_call()


def test_name_desc_and_argument_descriptions_can_be_given() -> None:
    def find(query: str) -> None: ...

    tool = Tool(find, name="search", desc="Search.", arg_desc={"query": "what to look for", "elsewhere": "unused"})
    assert ("search", "Search.") == (tool.name, tool.desc)
    assert {"query": {"type": "string", "description": "what to look for"}} == tool.args


class Adder:
    """Adds."""

    def __call__(self, x: int) -> int:
        return x + 1

    def method(self, x: int) -> int:
        """A method."""
        return x + 2

    async def later(self, x: int) -> int:
        return x + 3


class Greeting:
    """Greets."""

    def __init__(self, name: str, loud: bool = False) -> None:
        self.text = name.upper() if loud else name


def _plus(x: int, y: int = 1) -> int:
    """Adds two."""
    return x + y


@pytest.mark.parametrize(
    ("func", "name", "args"),
    [
        (Adder(), "Adder", {"x": {"type": "integer"}}),
        (Adder().method, "method", {"x": {"type": "integer"}}),
        (Greeting, "Greeting", {"name": {"type": "string"}, "loud": {"type": "boolean", "default": False}}),
        (Item, "Item", {"name": {"type": "string"}, "count": {"type": "integer", "default": 3}}),
        (Point, "Point", {"x": {"type": "integer"}, "y": {"type": "string", "default": "q"}}),
        (functools.partial(_plus, 1), "_plus", {"y": {"type": "integer", "default": 1}}),
        (functools.partial(_plus, y=5), "_plus", {"x": {"type": "integer"}, "y": {"type": "integer", "default": 5}}),
        (functools.lru_cache(_plus), "_plus", {"x": {"type": "integer"}, "y": {"type": "integer", "default": 1}}),
        (len, "len", {"obj": {}}),
        (max, "max", {}),
        (lambda x: x, "<lambda>", {"x": {}}),
        (Adder.method, "method", {"self": {}, "x": {"type": "integer"}}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_any_callable_is_a_tool(func: Callable[..., Any], name: str, args: dict[str, Any]) -> None:
    tool = Tool(func)
    assert name == tool.name
    assert args == tool.args


def test_a_partial_goes_by_the_function_inside() -> None:
    assert "Adds two." == Tool(functools.partial(_plus, 1)).desc


def test_star_arguments_are_hidden_from_the_model() -> None:
    def gather(a: int, *more: int, key: str = "k", **options: float) -> None: ...

    tool = Tool(gather)
    assert {"a": {"type": "integer"}, "key": {"type": "string", "default": "k"}} == tool.args
    assert tool.has_kwargs is True


@pytest.mark.parametrize("name", ["self", "instance", "name", "func", "args", "kwargs", "cls", "values", "schema"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def echo({name}: int): return {name}", scope)
    tool = Tool(scope["echo"])
    assert {name: {"type": "integer"}} == tool.args
    assert 4 == tool(**{name: "4"})


def test_string_annotations_are_resolved_and_unknown_ones_mean_anything() -> None:
    def mixed(a: int, b: Nowhere, c: list[Nowhere], d: 3, e: "not a type at all!") -> None: ...  # noqa: F722, F821

    assert {"a": {"type": "integer"}, "b": {}, "c": {}, "d": {}, "e": {}} == Tool(mixed).args


def test_a_class_of_the_enclosing_function_is_found() -> None:
    class Local(BaseModel):
        x: int

    def use(value: Local) -> Local:
        return Local(x=value.x)

    def only_takes(value: Local, other: Nowhere) -> None: ...  # noqa: F821

    def handed_out() -> Callable[..., Any]:
        def inner(value: Local) -> Any:
            return Local

        return inner

    assert "object" == Tool(use).args["value"]["type"]
    assert "object" == Tool(only_takes).args["value"]["type"]
    assert {} == Tool(only_takes).args["other"]
    assert "object" == Tool(handed_out()).args["value"]["type"]


def test_a_class_that_json_cannot_express_means_anything_to_the_model_but_is_checked() -> None:
    def hold(lock: threading.Event, callback: Callable[[int], int]) -> str:
        return "held"

    tool = Tool(hold)
    assert {"lock": {}, "callback": {}} == tool.args
    assert "held" == tool(lock=threading.Event(), callback=abs)
    with pytest.raises(ValueError, match="lock"):
        tool(lock=3, callback=abs)


def test_annotated_fields_bring_description_and_limits() -> None:
    def limited(
        a: Annotated[int, Field(description="the a", ge=1, le=9)], b: Annotated[str, "a note"] = "x"
    ) -> None: ...

    tool = Tool(limited)
    assert {"type": "integer", "description": "the a", "minimum": 1, "maximum": 9} == tool.args["a"]
    assert {"type": "string", "default": "x"} == tool.args["b"]
    assert int is tool.arg_types["a"]


def test_a_field_as_default_brings_description_limits_and_its_own_default() -> None:
    def search(
        query: str = Field(description="the words"),
        dots: str = Field(...),
        limit: int = Field(3, ge=1),
        tags: list[str] = Field(default_factory=list, description="tags"),
    ) -> tuple[Any, ...]:
        return query, dots, limit, tags

    tool = Tool(search)
    assert {"type": "string", "description": "the words"} == tool.args["query"]
    assert {"type": "integer", "minimum": 1, "default": 3} == tool.args["limit"]
    assert {"type": "array", "items": {"type": "string"}, "description": "tags"} == tool.args["tags"]
    assert ["query", "dots"] == tool.format_as_litellm_function_call()["function"]["parameters"]["required"]
    assert ("q", "d", 3, []) == tool(query="q", dots="d")
    assert tool(query="q", dots="d")[3] is not tool(query="q", dots="d")[3]


@pytest.mark.parametrize(
    "default", [object(), float("inf"), float("nan"), {"x": float("inf")}, {1: object()}, b"\xff", abs]
)
def test_a_default_that_json_cannot_hold_is_left_out_and_the_argument_stays_optional(default: Any) -> None:
    def hold(value: Any = default) -> Any:
        return value

    tool = Tool(hold)
    assert {"value": {}} == tool.args
    assert [] == tool.format_as_litellm_function_call()["function"]["parameters"]["required"]
    assert tool() is default


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (None, None),
        (Colour.RED, "red"),
        (Item(name="z"), {"name": "z", "count": 3}),
        (datetime.date(2024, 5, 6), "2024-05-06"),
    ],
)
def test_a_default_is_shown_as_json_holds_it(default: Any, shown: Any) -> None:
    def hold(value: Any = default) -> Any:
        return value

    assert {"default": shown} == Tool(hold).args["value"]


def test_a_default_inside_a_model_that_json_cannot_hold_is_left_out() -> None:
    class Limits(BaseModel):
        top: float = float("inf")
        callback: Callable[[], None] = print

    properties = Tool(lambda x: x, arg_types={"x": Limits}).args["x"]["properties"]
    assert {"top": {"title": "Top", "type": "number"}, "callback": {"title": "Callback"}} == properties


def test_nested_models_stand_in_their_place_with_their_own_descriptions() -> None:
    item = {
        "type": "object",
        "title": "Item",
        "properties": {
            "name": {"type": "string", "title": "Name"},
            "count": {"type": "integer", "title": "Count", "default": 3},
        },
        "required": ["name"],
    }
    schema = Tool(lambda order: order, arg_types={"order": Order}).args["order"]
    assert item == schema["properties"]["items"]["items"]
    assert {**item, "description": "the first one"} == schema["properties"]["first"]
    assert "$defs" not in schema


def test_recursive_models_keep_their_references_and_one_set_of_definitions_at_the_root() -> None:
    def walk(tree: Node, other: list[Node]) -> None: ...

    tool = Tool(walk)
    assert "#/$defs/Node" == tool.args["tree"]["$ref"]
    jsonschema.validate({"value": 1, "children": [{"value": 2}]}, tool.args["tree"])
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    assert ["Node"] == list(parameters["$defs"])
    assert {"$ref": "#/$defs/Node"} == parameters["properties"]["tree"]
    jsonschema.validate({"tree": {"value": 1, "children": [{"value": 2}]}, "other": []}, parameters)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"tree": {"value": 1, "children": [{"value": "x"}]}, "other": []}, parameters)


def test_different_recursive_models_of_one_name_are_kept_apart() -> None:
    def make(kind: type) -> type[BaseModel]:
        class Tree(BaseModel):
            leaf: kind  # type: ignore[valid-type]
            below: Optional[Tree] = None

        Tree.model_rebuild(_types_namespace={"Tree": Tree, "kind": kind})
        return Tree

    tool = Tool(lambda a, b: 0, arg_types={"a": make(int), "b": make(str)})
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    assert ["Tree", "Tree_2"] == list(parameters["$defs"])
    jsonschema.validate(
        {"a": {"leaf": 1, "below": {"leaf": 2}}, "b": {"leaf": "x", "below": {"leaf": "y"}}}, parameters
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"a": {"leaf": 1}, "b": {"leaf": "x", "below": {"leaf": 3}}}, parameters)


def test_a_model_that_would_grow_without_end_keeps_its_definitions() -> None:
    below: Any = Item
    for depth in range(16):
        below = type(
            f"Level{depth}", (BaseModel,), {"__annotations__": {"left": below, "right": below}, "__module__": __name__}
        )
    schema = Tool(lambda x: x, arg_types={"x": below}).args["x"]
    assert 16 == len(schema["$defs"])
    assert len(str(schema)) < 10_000


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Union[str, int], {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (
            dict[str, list[int]],
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
        ),
        (datetime.date, {"type": "string", "format": "date"}),
        (Colour, {"enum": ["red", "blue"], "title": "Colour", "type": "string"}),
        (None, {"type": "null"}),
    ],
)
def test_a_type_has_its_json_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert schema == Tool(lambda x: x, arg_types={"x": annotation}).args["x"]


def test_typed_dicts_of_the_standard_library_are_objects() -> None:
    def visit(place: Place, places: list[Place]) -> str:
        return place["city"]

    tool = Tool(visit)
    assert {"city": {"title": "City", "type": "string"}} == tool.args["place"]["properties"]
    assert "Rome" == tool(place={"city": "Rome"}, places=[])
    with pytest.raises(ValueError, match="city"):
        tool(place={"town": "Rome"}, places=[])


def test_decimals_and_dataclasses_are_made() -> None:
    def price(amount: decimal.Decimal, at: Point) -> tuple[Any, ...]:
        return amount, at

    assert (decimal.Decimal("1.10"), Point(1, "q")) == Tool(price)(amount="1.10", at={"x": "1"})


def test_types_by_name_declare_the_arguments_of_a_function_with_kwargs() -> None:
    tool = Tool(
        lambda **outputs: outputs,
        name="submit",
        arg_types={"answer": Annotated[int, Field(description="the answer")], "note": Annotated[str, Field("none")]},
    )
    assert {
        "answer": {"type": "integer", "description": "the answer"},
        "note": {"type": "string", "default": "none"},
    } == tool.args
    assert {"answer": 4, "note": "none"} == tool(answer="4")


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("fetch page", "fetch_page_"),
        ("<lambda>", "lambda_"),
        ("größe", "gr_e_"),
        ("日本", "tool_"),
        ("x" * 80, "x" * 55 + "_"),
    ],
)
def test_a_name_that_providers_refuse_is_made_safe(name: str, starts: str) -> None:
    tool = Tool(lambda: 0, name=name)
    assert tool.wire_name.startswith(starts)
    assert len(tool.wire_name) <= 64
    assert tool.wire_name == tool.format_as_litellm_function_call()["function"]["name"]
    assert name == tool.name


def test_safe_names_of_different_tools_never_meet() -> None:
    names = {Tool(lambda: 0, name=name).wire_name for name in ("a b", "a_b", "a.b", "a/b")}
    assert 4 == len(names)
    assert "a_b" in names


@pytest.mark.parametrize(
    ("func", "options", "message"),
    [
        (3, {}, "callable"),
        (None, {}, "callable"),
        (len, {"name": ""}, "not empty"),
        (len, {"timeout": 0}, "timeout"),
        (len, {"retries": 3}, "retries"),
        (len, {"on_error": "ignore"}, "on_error"),
        (len, {"sync_tools": "pool"}, "sync_tools"),
        (_plus, {"args": {"x": "integer"}}, "JSON schema"),
        (_plus, {"args": {"x": {"type": "int"}}}, "type"),
        (_plus, {"args": {"x": {}, "z": {}}}, "no parameter for 'z'"),
        (_plus, {"args": {"y": {}}}, "leave out 'x'"),
        (_plus, {"args": {"x": {}}, "schema": {}}, "one of them"),
    ],
)
def test_a_wrong_setup_is_told_at_construction(func: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tool(func, **options)


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Tool(len, colour="red")  # type: ignore[call-arg]


def test_the_text_of_a_tool_holds_name_description_and_schemas() -> None:
    def find(query: str) -> None:
        """Find
        it."""

    text = str(Tool(find))
    assert text.startswith("find: <desc>Find")
    assert "\n" not in text
    assert '{"query": {"type": "string"}}' in text
    assert text == Tool(find).format()


def test_the_schema_of_the_whole_object_may_be_given() -> None:
    schema = {
        "type": "object",
        "properties": {
            "at": {"$ref": "#/$defs/Point"},
            "tree": {"$ref": "#/$defs/Tree"},
            "kind": {"type": ["string", "null"]},
        },
        "required": ["at"],
        "$defs": {
            "Point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
            "Tree": {"type": "object", "properties": {"sub": {"$ref": "#/$defs/Tree"}}},
        },
    }
    tool = Tool(lambda **args: args, name="go", schema=schema)
    parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
    assert schema["$defs"]["Point"] == parameters["properties"]["at"]  # type: ignore[index]
    assert ["at"] == parameters["required"]
    assert ["Tree"] == list(parameters["$defs"])
    assert {"at": {"x": 1.5}} == tool(at={"x": "1.5"})
    with pytest.raises(ValueError, match=r"at\.x|'at'"):
        tool(at={"x": "far"})


def test_typed_dicts_are_found_inside_other_types() -> None:
    class Trip(TypedDict, total=False):
        stops: list[Place]

    def plan(
        a: Annotated[Trip, Field(description="the trip")],
        b: Optional[Trip] = None,
        c: dict[str, tuple[Place, ...]] = {},
    ) -> Any:
        return a

    tool = Tool(plan)
    assert "the trip" == tool.args["a"]["description"]
    assert ["city"] == list(tool.args["a"]["properties"]["stops"]["items"]["properties"])
    assert "array" == tool.args["c"]["additionalProperties"]["type"]
    assert {"stops": [{"city": "Rome"}]} == tool(a='{"stops": [{"city": "Rome"}]}')
    with pytest.raises(ValueError, match="city"):
        tool(a={"stops": [{}]})


def test_references_by_pointer_are_put_in_their_place() -> None:
    schema = {
        "type": "object",
        "properties": {
            "first": {"type": "array", "items": {"type": "integer"}},
            "second": {"$ref": "#/properties/first"},
            "third": {"$ref": "#/properties/first/items"},
            "whole": {"$ref": "#"},
            "lost": {"$ref": "#/$defs/Nowhere"},
        },
    }
    args = Tool(lambda **k: k, name="t", schema=schema).args
    assert {"type": "array", "items": {"type": "integer"}} == args["second"]
    assert {"type": "integer"} == args["third"]
    assert {"$ref": "#/$defs/Root"} == args["whole"]["$defs"]["Root"]["properties"]["whole"]
    assert {"$ref": "#/$defs/Nowhere"} == args["lost"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"const": "a"}, '"a"'),
        ({"type": ["integer", "null"]}, "integer or null"),
        ({"anyOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"type": "string", "format": "date"}, "string (date)"),
        ({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}, "object {a, b?}"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "array"}}}, "array of array of array"),
        ({"$ref": "#/$defs/Node"}, "Node"),
        ({"enum": [1, "x"]}, 'one of 1, "x"'),
        (True, "anything"),
    ],
)
def test_a_schema_is_said_in_a_few_words(schema: Any, words: str) -> None:
    assert words == brief(schema)


def test_a_postponed_annotation_means_the_name_where_the_function_stands_even_that_of_a_builtin():
    str = Literal["red", "green"]

    def paint(colour: str, coats: int = 1) -> None:
        assert str  # which makes it a name of this function's closure

    assert {"enum": ["red", "green"], "type": "string"} == Tool(paint).args["colour"]
    assert {"default": 1, "type": "integer"} == Tool(paint).args["coats"]


def test_three_types_of_one_name_have_a_definition_each() -> None:
    def node(kind: Any) -> Any:
        class Node(BaseModel):
            value: kind
            below: list[Node] = []

        return Node

    tool = Tool(lambda **nodes: nodes, name="grow", arg_types={"a": node(int), "b": node(str), "c": node(bool)})
    function = tool.format_as_litellm_function_call()["function"]["parameters"]
    assert {"Node", "Node_2", "Node_3"} == set(function["$defs"])
    kinds = {definition["properties"]["value"]["type"] for definition in function["$defs"].values()}
    assert {"integer", "string", "boolean"} == kinds
