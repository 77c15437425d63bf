"""Arbitrary events through JSON and back, and the form in which they are kept."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from reasonact.adapters.render_value import render_value
from reasonact.types import Audio, Code, File, History, Image, Reasoning, ToolCallResults, ToolCalls
from reasonact.types.json_form import json_form

NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(max_size=20)  # sound text: a lone surrogate comes back as U+FFFD, which a test of its own holds
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
MEDIA = st.sampled_from(
    [
        Image("http://x/y"),
        Audio(b"hi"),
        File(file_id="f"),
        Reasoning(content="é"),
        Code(code="x"),
        Code["java"](code="y"),
    ]
)
TYPED = st.recursive(
    JSON | MEDIA,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALL_IDS = st.none() | st.sampled_from(["a", "b", "call_0_0", "call_1_0"])


@st.composite
def turns(draw: st.DrawFn) -> ToolCalls:
    calls = [
        ToolCalls.ToolCall(id=call_id, name=name, args=args)
        for call_id, name, args in draw(
            st.lists(st.tuples(CALL_IDS, st.sampled_from("fg"), st.dictionaries(TEXT, JSON, max_size=2)), max_size=3)
        )
    ]
    if not draw(st.booleans()):
        return ToolCalls(tool_calls=calls)
    values = [draw(TYPED) for _ in calls]
    errors = [draw(st.booleans()) for _ in calls]
    return ToolCalls(
        tool_calls=calls, tool_call_results=ToolCallResults.from_tool_calls_and_values(calls, values, errors)
    )


FIELDS = TEXT.filter(lambda name: name not in ("tool_calls", "__reasonact__"))
EVENTS = st.builds(
    lambda fields, calls: {**fields, **({"tool_calls": calls} if calls is not None else {})},
    st.dictionaries(FIELDS, TYPED, max_size=3),
    st.none() | turns(),
)


@examples(200)
@given(st.lists(EVENTS, max_size=4))
def test_a_history_comes_back_equal(events: list[dict[str, Any]]) -> None:
    history = History.from_any(events)
    text = history.model_dump_json()
    text.encode("utf-8")
    read = History.from_any(text)
    assert history == read
    assert repr(history) == repr(read)
    assert text == read.model_dump_json()
    assert history == History.from_any(json.loads(text)) == History.from_any(history.model_dump())


@examples(200)
@given(st.lists(EVENTS, max_size=5))
def test_ids_are_there_and_unique_and_results_follow_them(events: list[dict[str, Any]]) -> None:
    before = repr(events)
    history = History.from_any(events)
    assert before == repr(events)
    seen: list[str] = []
    for given_event, event in zip(events, history.messages, strict=True):
        calls, old = event.get("tool_calls"), given_event.get("tool_calls")
        if calls is None:
            continue
        own = [call.id for call in calls.tool_calls]
        seen.extend(own)
        if calls.tool_call_results is not None:
            results = calls.tool_call_results.tool_call_results
            assert own == [result.call_id for result in results]
            assert [result.value for result in old.tool_call_results.tool_call_results] == [r.value for r in results]
    assert all(seen)
    assert len(seen) == len(set(seen))


@examples(200)
@given(JSON | st.text(max_size=100))
def test_any_data_is_a_history_or_a_value_error(data: Any) -> None:
    for value in (
        data,
        {"messages": data},
        json.dumps(data),
        [{"tool_calls": data}],
        [{"__reasonact__": data, "a": 1}],
    ):
        try:
            History.from_any(value)
        except ValueError as error:
            assert str(error)


@examples(200)
@given(JSON)
def test_any_data_is_tool_calls_or_a_value_error(data: Any) -> None:
    for value in (data, {"tool_calls": data}, [data], {"name": "f", "args": data}, {"function": data}):
        try:
            calls = ToolCalls.model_validate(value)
        except ValueError as error:
            assert str(error)
        else:
            assert all(call.name for call in calls.tool_calls)


@dataclasses.dataclass
class Point:
    x: Any


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


ODD = st.recursive(
    JSON
    | st.floats()
    | st.binary(max_size=5)
    | st.dates()
    | st.decimals()
    | st.uuids()
    | st.complex_numbers()
    | st.timedeltas()
    | st.datetimes(timezones=st.just(datetime.timezone.utc) | st.none())
    | st.builds(Broken),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.integers() | st.booleans() | st.dates(), inner, max_size=3)
        | st.builds(Point, inner)
    ),
    max_leaves=6,
)


@examples(300)
@given(ODD | st.frozensets(st.integers() | st.text(max_size=3), max_size=4))
def test_the_form_that_is_kept_is_shown_as_the_value_is(value: Any) -> None:
    form = json_form(value)
    json.dumps(form, allow_nan=False)
    assert form == json.loads(json.dumps(form))
    if "Broken object" not in repr_of(value):
        assert render_value(value) == render_value(form)


def repr_of(value: Any) -> str:
    try:
        return repr(value)
    except RuntimeError:
        return "Broken object"
