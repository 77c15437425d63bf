"""Conversion first, checking second, and errors that say what was wrong."""

# ruff: noqa: UP007, UP045, E741 - both spellings are input here
from __future__ import annotations

import datetime
import enum
import pickle
from collections.abc import Callable
from typing import Any, Literal, Optional, ParamSpec, Union

import pytest
from pydantic import BaseModel, BeforeValidator
from typing_extensions import Annotated  # noqa: UP035

from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool

P = ParamSpec("P")


class Item(BaseModel):
    name: str
    count: int = 3


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


def taking(annotation: Any, **options: Any) -> Tool:
    return Tool(lambda value: value, name="take", arg_types={"value": annotation}, **options)


CONVERSIONS: list[tuple[Any, Any, Any]] = [
    (int, "3", 3),
    (int, 3.0, 3),
    (float, "2.5", 2.5),
    (bool, "true", True),
    (list[int], "[1, 2]", [1, 2]),
    (list[int], ["1", 2], [1, 2]),
    (dict[str, int], '{"a": "1"}', {"a": 1}),
    (dict, '{"a": 1}', {"a": 1}),
    (Item, '{"name": "q"}', Item(name="q")),
    (Item, {"name": "q", "count": "7"}, Item(name="q", count=7)),
    (Item, Item(name="q"), Item(name="q")),
    (list[Item], ['{"name": "q"}', {"name": "r"}], [Item(name="q"), Item(name="r")]),
    (list[Item], '["{\\"name\\": \\"q\\"}"]', [Item(name="q")]),
    (dict[str, list[Item]], {"k": '[{"name": "q"}]'}, {"k": [Item(name="q")]}),
    (Colour, "r", Colour.RED),
    (Colour, "RED", Colour.RED),
    (Colour, "blue", Colour.BLUE),
    (list[Colour], ["RED", "b"], [Colour.RED, Colour.BLUE]),
    (Optional[Colour], "RED", Colour.RED),
    (Optional[int], "null", None),
    (Optional[list[int]], "[1]", [1]),
    (Union[int, list[int]], "[1]", [1]),
    (Literal["a", "b"], '"a"', "a"),
    (datetime.date, "2024-05-06", datetime.date(2024, 5, 6)),
    (datetime.timedelta, "PT1H", datetime.timedelta(hours=1)),
    (tuple[int, str], [1, "x"], (1, "x")),
    (set[int], [1, 1], {1}),
    (str, "[1]", "[1]"),
    (Union[str, list[int]], "[1]", "[1]"),
    (Any, "[1]", "[1]"),
]


@pytest.mark.parametrize(("annotation", "given", "value"), CONVERSIONS, ids=str)
def test_what_is_unambiguous_is_converted(annotation: Any, given: Any, value: Any) -> None:
    result = taking(annotation)(value=given)
    assert (type(value), value) == (type(result), result)


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (int, "3"),
        (list[int], "[1]"),
        (Item, '{"name": "q"}'),
        (Item, {"name": "q", "count": "1"}),
        (Colour, "RED"),
        (int, None),
    ],
    ids=str,
)
def test_strict_tools_convert_nothing(annotation: Any, given: Any) -> None:
    with pytest.raises(InvalidArguments, match="value"):
        taking(annotation, strict=True)(value=given)


@pytest.mark.parametrize(
    ("annotation", "given", "value"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (Item, {"name": "q"}, Item(name="q")),
        (Item, Item(name="q"), Item(name="q")),
        (Colour, "r", Colour.RED),
        (Colour, Colour.RED, Colour.RED),
        (datetime.date, "2024-05-06", datetime.date(2024, 5, 6)),
        (set[int], [1], {1}),
    ],
    ids=str,
)
def test_strict_tools_take_json_as_it_is_meant(annotation: Any, given: Any, value: Any) -> None:
    assert value == taking(annotation, strict=True)(value=given)


def add(a: int, b: int = 2) -> int:
    return a + b


def test_null_for_a_parameter_with_a_default_means_the_default() -> None:
    assert 3 == Tool(add)(a=1, b=None)


def test_null_is_kept_where_the_type_takes_it() -> None:
    def show(a: Optional[int] = 5) -> Any:
        return a

    assert Tool(show)(a=None) is None


ABUSES = [
    ({"a": "ten"}, ["'a'", "text 'ten'", "expected integer"]),
    ({"a": [1]}, ["'a'", "an array [1]", "expected integer"]),
    ({"a": None}, ["'a'", "null", "expected integer"]),
    ({}, ["'a'", "missing", "expected integer"]),
    ({"b": 1}, ["'a'", "missing"]),
    ({"a": 1, "c": 2}, ["'c'", "not declared"]),
    ({"a": "x", "c": 2}, ["'a'", "'c'", "not declared"]),
]


@pytest.mark.parametrize(("args", "words"), ABUSES, ids=str)
@pytest.mark.parametrize("given_schema", [False, True], ids=["by types", "by schema"])
def test_the_classic_abuses_are_named_and_the_tool_does_not_run(
    args: Any, words: list[str], given_schema: bool
) -> None:
    ran = []

    def add(a: int, b: int = 2) -> None:
        ran.append(a)

    schemas = {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}}
    tool = Tool(add, args=schemas if given_schema else None)
    with pytest.raises(ValueError) as caught:
        tool(**args)
    message = str(caught.value)
    assert [] == [word for word in [*words, "add takes a: integer, b: integer (optional)"] if word not in message]
    assert "\n" not in message
    assert [] == ran


@pytest.mark.parametrize("given_schema", [False, True], ids=["by types", "by schema"])
def test_a_fault_deep_in_a_value_is_located(given_schema: bool) -> None:
    schema = {"type": "array", "items": Item.model_json_schema()}
    tool = Tool(lambda **k: k, args={"l": schema}) if given_schema else Tool(lambda l: l, arg_types={"l": list[Item]})
    with pytest.raises(InvalidArguments, match=r"l\[1\]\.count") as caught:
        tool(l=[{"name": "q"}, {"name": "r", "count": "many"}])
    assert ("l",) == caught.value.names


def test_a_missing_argument_of_a_nested_model_is_named() -> None:
    with pytest.raises(InvalidArguments, match=r"at value\.name: Field required"):
        taking(Item)(value='{"count": 3}')


def test_a_long_value_is_cut_in_the_error() -> None:
    with pytest.raises(InvalidArguments) as caught:
        taking(int)(value="x" * 100_000)
    assert len(str(caught.value)) < 500


def test_a_failing_validator_of_the_programs_own_is_a_refusal_too() -> None:
    def explode(value: Any) -> Any:
        raise KeyError("inner")

    with pytest.raises(InvalidArguments, match="KeyError"):
        taking(Annotated[int, BeforeValidator(explode)])(value=1)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 10_000, "NaN", "{'a': 1}", "", '"' * 3])
def test_text_that_is_no_json_is_refused_in_the_documented_way(text: str) -> None:
    for annotation in (list[int], dict[str, int], Item):
        with pytest.raises(InvalidArguments):
            taking(annotation)(value=text)


def test_extra_arguments_are_taken_only_with_kwargs_and_have_their_type() -> None:
    def gather(a: int, **more: float) -> tuple[int, dict[str, float]]:
        return a, more

    tool = Tool(gather)
    assert (1, {"b": 2.5}) == tool(a=1, b="2.5")
    with pytest.raises(InvalidArguments, match="'b'"):
        tool(a=1, b="many")


def test_positional_only_parameters_are_filled() -> None:
    def place(a: int, b: int = 5, c: int = 6, /, d: int = 7) -> tuple[int, ...]:
        return a, b, c, d

    tool = Tool(place)
    assert (1, 5, 6, 7) == tool(a=1)
    assert (1, 5, 3, 7) == tool(a=1, c=3)
    assert (1, 5, 6, 9) == tool(a=1, d=9)


def test_positional_calls_are_refused_as_by_dspy() -> None:
    with pytest.raises(TypeError, match="positional"):
        Tool(add)(1, 2)  # type: ignore[misc]


def test_arguments_by_schema_are_converted_and_then_made_into_their_types() -> None:
    def use(item: Item, count: int = 1) -> Any:
        return item, count

    tool = Tool(use, args={"item": Item.model_json_schema(), "count": {"type": "integer"}})
    assert (Item(name="q"), 4) == tool(item='{"name": "q"}', count="4")
    assert (Item(name="q"), 1) == tool(item={"name": "q"}, count=None)
    assert (Item(name="q"), 1) == tool(item=Item(name="q"))


def test_a_schema_with_alternatives_is_mended_inside_them() -> None:
    schema = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}
    tool = Tool(lambda **k: k, args={"x": schema})
    assert {"x": [1, 2]} == tool(x='["1", 2]')
    assert {"x": None} == tool(x=None)


def test_enum_values_that_are_no_text_are_found_by_schema() -> None:
    tool = Tool(lambda **k: k, args={"x": {"enum": [1, 2]}})
    assert {"x": 2} == tool(x="2")


def test_a_schema_never_makes_a_network_request() -> None:
    tool = Tool(lambda **k: k, name="far", args={"x": {"$ref": "http://127.0.0.1:9/schema.json"}})
    with pytest.raises(ValueError, match="schema of far cannot be used"):
        tool(x=1)


def test_undeclared_names_of_a_given_schema_follow_additional_properties() -> None:
    closed = Tool(lambda **k: k, name="t", schema={"type": "object", "properties": {"a": {}}})
    with pytest.raises(InvalidArguments, match="'b'"):
        closed(a=1, b=2)
    opened = Tool(
        lambda **k: k,
        name="t",
        schema={"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
    )
    assert {"b": 2} == opened(b="2")
    with pytest.raises(InvalidArguments, match="'b'"):
        opened(b="x")


def test_arguments_can_be_checked_without_a_call() -> None:
    assert {"a": 1} == Tool(add).check_args({"a": "1", "b": None})
    with pytest.raises(InvalidArguments):
        Tool(add).check_args({})


def test_the_callers_arguments_are_not_changed() -> None:
    inner = {"name": "q", "count": "7"}
    given = {"value": [inner, '{"name": "r"}']}
    taking(list[Item])(**given)
    assert {"value": [{"name": "q", "count": "7"}, '{"name": "r"}']} == given


def test_the_error_goes_through_pickle() -> None:
    error = InvalidArguments("words", ["a"])
    copied = pickle.loads(pickle.dumps(error))
    assert ("words", ("a",)) == (str(copied), copied.names)


@pytest.mark.parametrize("func", [lambda value: value, lambda *, value: value], ids=["positional", "keyword"])
def test_untyped_parameters_take_anything(func: Callable[..., Any]) -> None:
    marker = object()
    assert marker is Tool(func)(value=marker)


@pytest.mark.parametrize("levels", [3_000, 100_000])
def test_an_argument_too_deep_for_a_schema_s_check_is_refused_by_name(levels: int) -> None:
    deep: Any = 1
    for _ in range(levels):
        deep = [deep]
    tool = Tool(lambda **given: given, name="t", schema={"properties": {"a": {}, "b": {"type": "array"}}})
    with pytest.raises(InvalidArguments, match="argument 'b' is nested too deeply to be checked"):
        tool(a=1, b=deep)
    endless = Tool(lambda **given: given, name="t", schema={"properties": {"a": {}}, "$ref": "#"})
    with pytest.raises(ValueError, match="schema of t cannot be used"):
        endless(a=1)


def test_the_arguments_of_a_wrapper_that_names_no_types_of_its_own_are_taken_as_they_come() -> None:
    def logged(func: Callable[P, int]) -> Callable[P, int]:
        def call(*args: P.args, **kwargs: P.kwargs) -> int:
            return func(*args, **kwargs)

        return call

    def double(number: int) -> int:
        return 2 * number

    tool = Tool(logged(double), name="double")
    assert 6 == tool(number=3)
    with pytest.raises(TypeError, match="number"):
        tool(numbers=3)


def test_arguments_that_break_a_rule_of_the_whole_are_refused_with_the_rule() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "maxProperties": 1}
    tool = Tool(lambda **given: given, name="one_of_two", schema=schema)
    assert {"a": 1} == tool(a=1)
    with pytest.raises(InvalidArguments, match="the arguments do not fit together"):
        tool(a=1, b=2)


def test_a_value_that_cannot_be_shown_is_still_named() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

    with pytest.raises(InvalidArguments, match=r"'value'.*\(not printable\)"):
        taking(int)(value=Shy())


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [(datetime.date, "2024-05-01", datetime.date(2024, 5, 1)), (Colour, "r", Colour.RED), (int, 3, 3)],
)
def test_strict_arguments_may_have_the_json_form_of_their_type(annotation: Any, given: Any, expected: Any) -> None:
    assert expected == taking(annotation, strict=True)(value=given)
    with pytest.raises(InvalidArguments):
        taking(annotation, strict=True)(value=object())
