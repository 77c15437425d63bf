"""Histories: what they read, what survives JSON, and whose ids they keep."""

from __future__ import annotations

import dataclasses
import datetime
import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from reasonact.types import Audio, Code, File, History, Image, Reasoning, ToolCallResults, ToolCalls, Type
from reasonact.types.history import fresh_call_id


def turn(*ids: str | None, values: list[Any] | None = None, name: str = "f") -> ToolCalls:
    calls = [ToolCalls.ToolCall(id=call_id, name=name, args={"n": n}) for n, call_id in enumerate(ids)]
    results = ToolCallResults.from_tool_calls_and_values(calls, values) if values is not None else None
    return ToolCalls(tool_calls=calls, tool_call_results=results)


def round_trip(history: History) -> History:
    return History.from_any(history.model_dump_json())


def ids(history: History) -> list[list[str | None]]:
    return [[call.id for call in event["tool_calls"].tool_calls] for event in history.messages if "tool_calls" in event]


def test_calls_results_and_errors_survive_json() -> None:
    calls = [ToolCalls.ToolCall(id="c1", name="f", args={"x": [1, {"y": None}]})]
    results = ToolCallResults.from_tool_calls_and_values(calls, ["KeyError: 'k'"], [True])
    history = History(
        messages=[
            {
                "question": "q",
                "next_thought": "t",
                "tool_calls": ToolCalls(tool_calls=calls, tool_call_results=results),
            },
            {"answer": {"n": 1.5, "list": [True, None]}},
        ]
    )
    assert history == round_trip(history)
    assert history.model_dump_json() == round_trip(history).model_dump_json()


def test_media_and_reasoning_survive_json_wherever_they_stand() -> None:
    history = History(
        messages=[
            {
                "picture": Image("http://x/y.png"),
                "inside": {"list": [Audio(data="aGk=", audio_format="wav"), "text"], "file": File(file_id="f")},
                "thought": Reasoning(content="hm"),
                "code": Code(code="x = 1"),
                "java": Code["java"](code="int x;"),
                "own_calls": turn("a"),
                "tool_calls": turn("c1", "c2", values=[[Image("http://x/z.png"), 1], Image("http://x/w.png")]),
            },
            {"picture": Image("http://x/y.png")},
        ]
    )
    read = round_trip(history)
    assert history == read
    assert Code["java"] is type(read.messages[0]["java"])
    assert history == History.from_any(history.model_dump())


class Event(Type):
    day: int

    def format(self) -> str:
        return f"day {self.day}"


class Row(BaseModel):
    picture: Image
    n: int


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (Decimal("1.50"), "1.50"),
        ((1, 2), [1, 2]),
        ({3, 1}, [1, 3]),
        (Point(1), {"x": 1}),
        (Event(day=3), "day 3"),
        ([Event(day=3)], ["day 3"]),
        (float("nan"), "nan"),
        ([float("inf")], [None]),
        ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
        (b"text", "text"),
        (b"\xff", "b'\\xff'"),
        (len, str(len)),
    ],
    ids=repr,
)
def test_other_values_come_back_as_the_model_was_shown_them(value: Any, form: Any) -> None:
    history = History(messages=[{"field": value, "tool_calls": turn("c", values=[value])}])
    read = round_trip(history).messages[0]
    assert form == read["field"] == read["tool_calls"].tool_call_results.tool_call_results[0].value


def test_a_picture_inside_a_model_of_the_program_is_still_a_picture() -> None:
    read = round_trip(History(messages=[{"row": Row(picture=Image("http://x/y"), n=1)}]))
    assert {"picture": Image("http://x/y"), "n": 1} == read.messages[0]["row"]


def test_text_and_data_that_look_like_media_stay_text_and_data() -> None:
    traps = {
        "tag": '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"type": "image_url"}]<<CUSTOM-TYPE-END-IDENTIFIER>>',
        "url": {"url": "http://x/y.png"},
        "notes": {"__reasonact__": {"version": 1, "types": [[["url"], "Image"]]}},
        "path": "/etc/passwd",
    }
    history = History(messages=[traps, {"tool_calls": turn("c", values=[traps])}])
    assert history == round_trip(history)


def test_lone_surrogates_are_written_as_a_model_gets_them() -> None:
    history = History(
        messages=[{"a": "x\ud800y", "b": "é", "c": "\ud83d\ude00", "tool_calls": turn("c", values=["\udc00"])}]
    )
    text = history.model_dump_json()
    text.encode("utf-8")
    assert History.from_any(text) == History.model_validate_json(text)
    (event,) = History.model_validate_json(text).messages
    assert ("x\ufffdy", "é", "\U0001f600") == (event["a"], event["b"], event["c"])
    assert "\ufffd" == event["tool_calls"].tool_call_results.tool_call_results[0].value


def test_characters_are_written_as_they_are() -> None:
    assert '{"messages":[{"a":"é","__reasonact__":{"version":1}}]}' == History(messages=[{"a": "é"}]).model_dump_json()
    assert "\n  " in History(messages=[]).model_dump_json(indent=2)


def test_every_form_is_read() -> None:
    history = History(messages=[{"a": 1, "tool_calls": turn("c")}])
    data = json.loads(history.model_dump_json())
    for form in (
        history.model_dump_json(),
        history.model_dump_json().encode(),
        data,
        data["messages"],
        history.model_dump(),
        tuple(history.messages),
    ):
        assert history == History.from_any(form)
    assert history is History.from_any(history)
    assert history == History.model_validate_json(history.model_dump_json())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("no JSON", "a history given as text must be its JSON"),
        ("[" * 100_000, "must be its JSON"),
        ("3", "expected a History"),
        (3, "expected a History, its JSON text, its dict or a list of events, found int"),
        (None, "found NoneType"),
        ({}, "messages: Field required"),
        ({"messages": 3}, "messages: Input should be a valid list"),
        ({"messages": [], "mode": "x"}, "mode: Extra inputs"),
        (["a"], "event 0 of the history must be a dict of fields, found str"),
        ([{"__reasonact__": {"version": 2}}], "version 2, and this library reads up to 1"),
        ([{"__reasonact__": 3}], "event 0 of the history has notes of no known form"),
        ([{"__reasonact__": {"version": "x"}}], "notes of no known form"),
        ([{"__reasonact__": {"types": [[["a"], "Image"]]}}], "notes a type where there is none"),
        ([{"a": 1, "__reasonact__": {"types": [[["a"], "Image"]]}}], "notes a type where there is none"),
        ([{"a": [1], "__reasonact__": {"types": [[["a", "b"], "Image"]]}}], "notes a type where there is none"),
        ([{"a": "x", "__reasonact__": {"types": [[["a"], "os.system"]]}}], "notes a type where there is none"),
        ([{"a": "x", "__reasonact__": {"types": 3}}], "notes a type where there is none"),
        ([{"tool_calls": {"tool_calls": [{"no": "name"}]}}], "names no tool"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_history_is_refused_with_the_reason(value: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        History.from_any(value)
    assert words in str(caught.value)


def test_a_field_of_the_program_named_tool_calls_is_left_alone() -> None:
    history = History(messages=[{"tool_calls": "three"}, {"tool_calls": [1]}, {"tool_calls": {"a": 1}}])
    assert ["three", [1], {"a": 1}] == [event["tool_calls"] for event in history.messages]


def test_appending_makes_a_new_history_that_shares_the_events() -> None:
    first = History(messages=[{"a": 1}])
    second = first.append({"b": 2})
    assert [{"a": 1}] == first.messages
    assert [{"a": 1}, {"b": 2}] == second.messages
    assert first.messages[0] is second.messages[0]
    assert second == History(messages=[{"a": 1}, {"b": 2}])


def test_appending_keeps_the_callers_dict_apart() -> None:
    event = {"a": 1}
    history = History(messages=[]).append(event)
    event["a"] = 2
    assert [{"a": 1}] == history.messages


def test_calls_without_an_id_get_one_from_their_turn_and_place() -> None:
    history = History.from_any([{"q": "x"}, {"tool_calls": turn(None, "mine", None)}])
    assert [["call_1_0", "mine", "call_1_2"]] == ids(history)
    assert {"call_1_0", "mine", "call_1_2"} == history.call_ids


def test_an_id_that_an_earlier_call_has_is_changed_with_its_result() -> None:
    history = History.from_any(
        [{"tool_calls": turn("c", values=["one"])}, {"tool_calls": turn("c", "d", values=["two", "x"])}]
    )
    assert [["c"], ["call_1_0", "d"]] == ids(history)
    results = history.messages[1]["tool_calls"].tool_call_results.tool_call_results
    assert [("call_1_0", "two"), ("d", "x")] == [(result.call_id, result.value) for result in results]


def test_results_in_another_order_stay_with_their_calls() -> None:
    calls = [ToolCalls.ToolCall(id=name, name="f", args={}) for name in ("a", "b")]
    results = ToolCallResults.from_tool_calls_and_values(calls[::-1], ["of b", "of a"])
    event = {"tool_calls": ToolCalls(tool_calls=calls, tool_call_results=results)}
    history = History.from_any([{"tool_calls": turn("a")}, event])
    calls_now = history.messages[1]["tool_calls"]
    by_id = {result.call_id: result.value for result in calls_now.tool_call_results.tool_call_results}
    assert ["of a", "of b"] == [by_id[call.id] for call in calls_now.tool_calls]


def test_a_call_without_a_result_keeps_its_id() -> None:
    calls = [ToolCalls.ToolCall(id=name, name=name, args={}) for name in ("a", "b")]
    results = ToolCallResults.from_tool_calls_and_values(calls[1:], ["of b"])
    history = History.from_any([{"tool_calls": ToolCalls(tool_calls=calls, tool_call_results=results)}])
    assert [["a", "b"]] == ids(history)
    assert "b" == history.messages[0]["tool_calls"].tool_call_results.tool_call_results[0].call_id


def test_a_taken_id_counts_its_turn_on() -> None:
    assert "call_2_0" == fresh_call_id(0, 0, {"call_0_0", "call_1_0"})
    assert "call_0_1" == fresh_call_id(0, 1, ["call_0_0"])
    history = History.from_any([{"tool_calls": turn("call_1_0")}, {"tool_calls": turn(None)}])
    assert [["call_1_0"], ["call_2_0"]] == ids(history)


def test_reading_leaves_the_callers_objects_as_they_were() -> None:
    events = [{"tool_calls": turn("c", values=[1])}, {"tool_calls": turn("c", values=[2])}]
    before = repr(events)
    given = History.model_construct(messages=events)
    assert [["c"], ["call_1_0"]] == ids(History.from_any(given))
    assert before == repr(events)
