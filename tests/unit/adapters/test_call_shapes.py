"""Tool calls as models and providers write them."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from reasonact.adapters.call_shapes import read_native_call, read_tool_calls, unwrap_markers

ONE = [{"name": "a", "args": {"x": 1}}]
TWO = [{"name": "a", "args": {"x": 1}}, {"name": "b", "args": {}}]


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (ONE, {"name": "a", "args": {"x": 1}}),
        (ONE, {"name": "a", "arguments": {"x": 1}}),
        (ONE, {"name": "a", "parameters": {"x": 1}}),
        (ONE, {"name": "a", "input": {"x": 1}}),
        (ONE, {"name": "a", "arguments": '{"x": 1}'}),
        (ONE, [{"name": "a", "args": {"x": 1}}]),
        (ONE, {"tool_calls": [{"name": "a", "args": {"x": 1}}]}),
        (ONE, {"items": [{"name": "a", "args": {"x": 1}}]}),
        ([{"id": "c1", **ONE[0]}], {"id": "c1", "type": "function", "function": {"name": "a", "arguments": '{"x":1}'}}),
        ([{"name": "a", "args": {}}], {"name": "a", "args": None}),
        ([{"name": "a", "args": {}}], {"name": "a", "arguments": ""}),
        ([{"name": "a", "args": {}}], {"name": "a", "args": {}}),
        ([], []),
        ([], {"tool_calls": []}),
    ],
)
def test_a_known_shape_is_read_as_data_and_as_text(expected: list[dict[str, Any]], value: Any) -> None:
    assert expected == read_tool_calls(value)
    assert expected == read_tool_calls(json.dumps(value))
    assert expected == read_tool_calls(f"```json\n{json.dumps(value, indent=1)}\n```")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "a", "args": {"x": 1}}\n{"name": "b", "args": {}}',
        '{"name": "a", "args": {"x": 1}}, {"name": "b", "args": null}',
        'I call {both}:\n{"name": "a", "args": {"x": 1}}\nand\n{"name": "b", "args": {}}',
        '<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>\n<tool_call>{"name": "b", "args": {}}</tool_call>',
        "[{'name': 'a', 'args': {'x': 1}}, {'name': 'b', 'args': None},]",
        '<think>{"name": "no", "args": {}}</think>[{"name": "a", "args": {"x": 1}}, {"name": "b", "args": {}}]',
        '{"tool_calls": [{"name": "a", "args": {"x": 1}}, {"name": "b", "args": {}}',
    ],
)
def test_calls_are_found_in_a_text(text: str) -> None:
    assert TWO == read_tool_calls(text)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"x": 1},
        {"name": "a"},
        {"name": "", "args": {}},
        {"name": " ", "args": {"x": 1}},
        {"tool": "a", "args": {}},
        {"name": "a", "args": [1]},
        {"name": "a", "args": "x"},
        {"name": "a", "args": {"x": 1}, "input": {"x": 2}},
        {"tool_calls": 5},
        [1],
        5,
        None,
        "",
        "text",
        '"text"',
        "null",
        '{"name": "a", "args": {"x": "cut he',
        '{"name": "a", "args": {}} {"name": "b"}',
    ],
)
def test_an_unknown_shape_is_an_error_and_no_empty_call(value: Any) -> None:
    with pytest.raises(ValueError, match=r"call|JSON|arguments of 'a'|ToolCall"):
        read_tool_calls(value)


def native(arguments: Any, name: Any = "a", call_id: Any = "c1") -> Any:
    return SimpleNamespace(id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        ({"x": 1}, '{"x": 1}'),
        ({"x": 1}, {"x": 1}),
        ({"x": 1}, "{'x': 1,}"),
        ({}, ""),
        ({}, None),
        ({}, "{}"),
        ({}, "null"),
    ],
)
def test_a_native_call_is_read_from_objects_and_dicts(expected: dict[str, Any], arguments: Any) -> None:
    assert ("c1", "a", expected) == read_native_call(native(arguments))
    assert ("c1", "a", expected) == read_native_call({"id": "c1", "function": {"name": "a", "arguments": arguments}})


@pytest.mark.parametrize("arguments", ['{"x": ', "x = 1", "[1]", '"text"', '{"x": 1} trailing', "5"])
def test_arguments_that_are_no_object_become_an_error_under_the_calls_id(arguments: str) -> None:
    call_id, name, problem = read_native_call(native(arguments))
    assert ("c1", "a") == (call_id, name)
    assert isinstance(problem, str)
    assert "'a'" in problem


def test_a_native_call_without_a_name_or_an_id_is_still_answered() -> None:
    assert (None, "a", {}) == read_native_call(native("{}", call_id=None))
    call_id, name, problem = read_native_call(native("{}", name=None))
    assert ("c1", "") == (call_id, name)
    assert "names no tool" in problem
    assert isinstance(read_native_call(5).args, str)


def test_markers_inside_an_argument_are_unwrapped() -> None:
    wrapped = "[[ ## answer ## ]]\n42\n[[ ## completed ## ]]"
    assert ("c1", "submit", {"answer": "42"}) == read_native_call(native(json.dumps({"answer": wrapped}), "submit"))


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("42", "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]\n"),
        ("42", "  [[ ## answer ## ]] 42"),
        ("42", "42\n[[ ## completed ## ]]"),
        ("write [[ ## answer ## ]] first", "write [[ ## answer ## ]] first"),
        ("[[ ## other ## ]]\n42", "[[ ## other ## ]]\n42"),
        ("plain", "plain"),
    ],
)
def test_only_the_arguments_own_markers_are_scaffold(expected: str, text: str) -> None:
    assert expected == unwrap_markers(text, "answer")


def nested(levels: int, value: Any = 1) -> Any:
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "call",
    [
        nested(3_000),
        {"below": nested(3_000)},
        {"name": "look", "args": nested(3_000)},
        {"name": "look", "other": nested(3_000)},
        {"name": "look", "args": {"a": nested(3_000)}, "arguments": {"a": nested(3_000, 2)}},
        {"tool_calls": {"function": nested(3_000)}},
        {"tool_calls": [{"function": {"name": "look", "arguments": nested(3_000)}}]},
    ],
    ids=range(7),
)
def test_what_is_nested_too_deeply_to_be_shown_is_a_value_error_too(call: Any) -> None:
    with pytest.raises(ValueError, match=r"call|must be an object|valid dictionary"):
        read_tool_calls(call)
