"""Tool calls in every shape that models and providers write, and what is no call."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from reasonact.types import Image, ToolCallResults, ToolCalls

CALL = {"name": "search", "args": {"query": "x"}}


def read(shape: Any) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [(call.id, call.name, call.args) for call in ToolCalls.model_validate(shape).tool_calls]


@pytest.mark.parametrize(
    "shape",
    [
        CALL,
        [CALL],
        (CALL,),
        {"tool_calls": [CALL]},
        {"tool_calls": CALL},
        {"items": [CALL]},
        {"tool_calls": json.dumps([CALL])},
        json.dumps(CALL),
        json.dumps({"tool_calls": [CALL]}),
        [json.dumps(CALL)],
        {"name": "search", "arguments": {"query": "x"}},
        {"name": "search", "parameters": {"query": "x"}},
        {"name": "search", "input": {"query": "x"}},
        {"name": "search", "arguments": '{"query": "x"}'},
        {"name": "search", "arguments": json.dumps('{"query": "x"}')},
        {"name": "search", "args": {}, "arguments": {"query": "x"}},
        {"name": "search", "args": {"query": "x"}, "arguments": '{"query": "x"}'},
        {"type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}},
        [{"function": {"name": "search", "args": {"query": "x"}}}],
        {"function": {"name": "search", "parameters": {"query": "x"}}},
    ],
    ids=str,
)
def test_every_known_shape_gives_the_call(shape: Any) -> None:
    assert [(None, "search", {"query": "x"})] == read(shape)


@pytest.mark.parametrize("empty", [None, "", "  ", {}, [], "null", "{}"])
@pytest.mark.parametrize("key", ["args", "arguments", "parameters", "input"])
def test_empty_arguments_are_none_at_all(key: str, empty: Any) -> None:
    assert [(None, "finish", {})] == read({"name": "finish", key: empty})


@pytest.mark.parametrize("key", ["id", "call_id", "tool_call_id"])
def test_the_id_is_read_under_its_names(key: str) -> None:
    assert [("c1", "f", {})] == read([{key: "c1", "name": "f", "arguments": "{}"}])


@pytest.mark.parametrize("none", [[], {"tool_calls": []}, {"tool_calls": None}, {"items": []}], ids=str)
def test_no_calls_are_read_as_no_calls(none: Any) -> None:
    assert [] == read(none)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({}, "names no tool: {}"),
        ({"answer": 42}, "names no tool: {'answer': 42}"),
        ({"name": "Bob"}, "the call of 'Bob' has no arguments"),
        ({"name": "Bob", "age": 3}, "the call of 'Bob' has no arguments"),
        ({"name": "", "args": {}}, "names no tool"),
        ({"name": 3, "args": {}}, "names no tool"),
        ({"args": {}}, "names no tool"),
        ({"name": "f", "args": 3}, "the arguments of 'f' must be an object, found 3"),
        ({"name": "f", "args": ["x"]}, "must be an object, found ['x']"),
        ({"name": "f", "args": "x y"}, "the arguments of 'f' came as text that is no JSON"),
        ({"name": "f", "args": "[1]"}, "must be an object, found [1]"),
        ({"name": "f", "args": {"a": 1}, "input": {"a": 2}}, "gives its arguments twice, and differently"),
        ({"tool_calls": 3}, "'tool_calls' must hold a list of calls, found 3"),
        ({"tool_calls": "x"}, "'tool_calls' came as text that is no JSON"),
        ("no JSON", "tool calls came as text that is no JSON"),
        (3, "these are no tool calls: 3"),
        (None, "these are no tool calls: None"),
        ([3], "ToolCall"),
        ("[" * 100_000, "no JSON"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unknown_shape_is_an_error_that_says_what_was_found(shape: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        ToolCalls.model_validate(shape)
    assert words in str(caught.value)


def test_reading_leaves_the_shape_as_it_was() -> None:
    shape = {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}
    before = copy.deepcopy(shape)
    ToolCalls.model_validate(shape)
    assert before == shape


def test_a_call_made_by_hand_can_be_read_as_calls() -> None:
    call = ToolCalls.ToolCall(name="f", args={})
    assert [call] == ToolCalls.model_validate(call).tool_calls == ToolCalls.model_validate([call]).tool_calls


def test_a_dump_keeps_ids_and_results() -> None:
    calls = [ToolCalls.ToolCall(id="c1", name="f", args={"x": (1, 2)})]
    turn = ToolCalls(
        tool_calls=calls, tool_call_results=ToolCallResults.from_tool_calls_and_values(calls, [{1, 2}], [True])
    )
    expected = {
        "tool_calls": [{"id": "c1", "name": "f", "args": {"x": [1, 2]}}],
        "tool_call_results": {"tool_call_results": [{"call_id": "c1", "name": "f", "value": [1, 2], "is_error": True}]},
    }
    assert expected == turn.model_dump(mode="json") == json.loads(turn.model_dump_json())
    assert turn == ToolCalls.model_validate(turn.model_dump())
    assert turn == pickle.loads(pickle.dumps(turn)) == copy.deepcopy(turn)


def test_a_value_that_json_cannot_hold_is_dumped_as_it_is_shown() -> None:
    result = ToolCallResults.ToolCallResult(call_id="c", name="f", value={"when": object, "n": float("nan")})
    assert {"when": "<class 'object'>", "n": None} == json.loads(result.model_dump_json())["value"]


def test_values_are_kept_as_they_are() -> None:
    value = object()
    results = ToolCallResults.from_tool_calls_and_values([ToolCalls.ToolCall(name="f", args={})], [value])
    assert value is results.tool_call_results[0].value
    picture = Image("http://x/y.png")
    assert picture is ToolCallResults.ToolCallResult(name="f", value=picture).value


def test_results_need_one_value_and_one_mark_for_each_call() -> None:
    calls = [ToolCalls.ToolCall(name="f", args={})]
    with pytest.raises(ValueError, match="1 calls, 2 values"):
        ToolCallResults.from_tool_calls_and_values(calls, [1, 2])
    with pytest.raises(ValueError, match="1 values and 0 marks"):
        ToolCallResults.from_tool_calls_and_values(calls, [1], [])


def test_execute_takes_plain_functions_in_a_list_too() -> None:
    def double(x: int) -> int:
        return x * 2

    assert 4 == ToolCalls.ToolCall(name="double", args={"x": 2}).execute([double])


def test_execute_chains_the_failure_of_the_tool() -> None:
    def fail() -> None:
        raise KeyError("k")

    with pytest.raises(RuntimeError, match="'fail' failed") as caught:
        ToolCalls.ToolCall(name="fail", args={}).execute({"fail": fail})
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_description_shows_a_shape_that_is_read() -> None:
    text = ToolCalls.description()
    assert "lookup" == ToolCalls.model_validate(json.loads(text[text.index('{"tool_calls"') :])).tool_calls[0].name
