"""ReActV2's history: in every form, through JSON, and shared by several runs."""

from __future__ import annotations

import datetime
import enum
import json
import uuid
from decimal import Decimal
from typing import Any

import pytest
from agent_scripts import calls, extracted, native, react, react_v2, results, step, submit, turn
from pydantic import BaseModel

import reasonact

LOOK = ("look_up", {"topic": "tides"})


def first_run(is_native: bool = False) -> reasonact.History:
    script: list[Any] = [turn("Look.", LOOK, ("nothing", {})), submit(answer="1")]
    if is_native:
        script = [
            native("Look.", ("p1", *LOOK), ("p2", "nothing", {})),
            native(None, ("p3", "submit", {"answer": "1"})),
        ]
    history: reasonact.History = react_v2(script, native=is_native)(question="How often?").history
    return history


def second_run(history: Any, is_native: bool = False) -> Any:
    end: Any = native("", ("q", "submit", {"answer": "2"})) if is_native else submit(answer="2")
    played = react_v2([end], native=is_native)
    return played(question="And then?", history=history), played.lm.requests[0]


FORMS = {
    "History": lambda history: history,
    "JSON text": lambda history: history.model_dump_json(),
    "dict of JSON": lambda history: json.loads(history.model_dump_json()),
    "dict": lambda history: history.model_dump(),
    "validated": lambda history: reasonact.History.model_validate_json(history.model_dump_json()),
}


@pytest.mark.parametrize("is_native", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_run_goes_on_from_every_form_with_the_very_same_request(form: str, is_native: bool) -> None:
    history = first_run(is_native)
    _, expected = second_run(history, is_native)
    prediction, request = second_run(FORMS[form](history), is_native)
    assert json.dumps(expected.messages) == json.dumps(request.messages)
    assert 3 == len(prediction.history.messages)
    assert "And then?" == prediction.history.messages[2]["question"]
    assert [True] == [item.is_error for item in results(prediction.history) if item.name == "nothing"]


def test_the_dump_of_dspy_is_read_with_its_ids() -> None:
    dumped = {
        "messages": [
            {
                "question": "How often?",
                "next_thought": "Look.",
                "tool_calls": {
                    "tool_calls": [{"name": "look_up", "args": {"topic": "tides"}}],
                    "tool_call_results": {
                        "tool_call_results": [
                            {"call_id": "call_0_0", "name": "look_up", "value": "3 pages", "is_error": False}
                        ]
                    },
                },
            }
        ]
    }
    prediction, request = second_run(dumped)
    assert ["call_0_0", "call_1_0"] == [item.id for item in calls(prediction.history)]
    assert "3 pages" in str(request.messages)


@pytest.mark.parametrize("wrong", ["no JSON", 3, [1], {"messages": "x"}, {"events": []}])
def test_what_is_no_history_is_refused_before_any_model_call(wrong: Any) -> None:
    played = react_v2([])
    with pytest.raises(ValueError, match=r"(?i)history"):
        played(question="?", history=wrong)
    assert [] == played.lm.requests


def test_none_and_an_empty_history_begin_anew() -> None:
    for empty in (None, {"messages": []}, reasonact.History(messages=[]), []):
        prediction, _ = second_run(empty)
        assert 1 == len(prediction.history.messages)


def test_plain_events_are_replayed_as_user_and_assistant() -> None:
    _, request = second_run({"messages": [{"question": "before?", "answer": "so it was"}]})
    assert ["system", "user", "assistant", "user"] == [m["role"] for m in request.messages]
    assert "before?" in request.messages[1]["content"]
    assert "so it was" in request.messages[2]["content"]


def test_the_callers_history_is_never_changed_and_two_runs_may_share_it() -> None:
    history = first_run()
    before = history.model_dump_json()
    one, _ = second_run(history)
    two, _ = second_run(history)
    assert before == history.model_dump_json()
    assert (3, 3) == (len(one.history.messages), len(two.history.messages))
    assert one.history is not two.history


@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_callers_history_grows_by_the_switch(how: str) -> None:
    history = first_run()
    with reasonact.context(grow_history_in_place=True):
        prediction = react_v2([turn("t", LOOK), submit(answer="2")], how=how)(question="?", history=history)
    assert history is prediction.history
    assert 4 == len(history.messages)


def test_by_the_switch_a_history_whose_ids_had_to_be_made_grows_too() -> None:
    call = reasonact.ToolCalls.from_dict_list([{"name": "look_up", "args": {"topic": "x"}}])
    history = reasonact.History(messages=[{"question": "?", "tool_calls": call}])
    with reasonact.context(grow_history_in_place=True):
        prediction = react_v2([submit(answer="2")])(question="?", history=history)
    assert history is prediction.history
    assert 2 == len({item.id for item in calls(history)})


# Types


class Kind(enum.Enum):
    SPRING = "spring"


class Place(BaseModel):
    name: str
    since: datetime.date


class Tides(reasonact.Signature):
    """Answer on tides."""

    place: Place = reasonact.InputField()
    on: datetime.datetime = reasonact.InputField()
    kinds: list[Kind] = reasonact.InputField()
    height: float = reasonact.InputField()
    price: Decimal = reasonact.InputField()
    code: uuid.UUID | None = reasonact.InputField()
    seen: Place = reasonact.OutputField()
    kind: Kind = reasonact.OutputField()


GIVEN: dict[str, Any] = {
    "place": Place(name="Brest", since=datetime.date(1900, 1, 2)),
    "on": datetime.datetime(2024, 5, 6, 7, 8),
    "kinds": [Kind.SPRING],
    "height": 3,
    "price": Decimal("1.50"),
    "code": None,
}
SEEN = {"seen": {"name": "Roscoff", "since": "1999-01-01"}, "kind": "spring"}


@pytest.mark.parametrize("is_native", [False, True])
def test_declared_values_come_back_in_their_types_and_are_shown_the_same(is_native: bool) -> None:
    def one(history: Any) -> Any:
        end: Any = native("", ("e", "submit", SEEN)) if is_native else submit(**SEEN)
        played = react_v2([end], signature=Tides, native=is_native)
        return played(**GIVEN, history=history), played.lm.requests[0]

    live = one(None)[0].history
    stored = one(live.model_dump_json())[0].history
    for name in ("place", "on", "kinds", "price", "code", "seen", "kind"):
        assert live.messages[0][name] == stored.messages[0][name], name
        assert type(live.messages[0][name]) is type(stored.messages[0][name]), name
    assert (3, int) == (stored.messages[0]["height"], type(stored.messages[0]["height"]))
    assert json.dumps(one(live)[1].messages) == json.dumps(one(live.model_dump_json())[1].messages)


def test_a_stored_value_that_no_longer_fits_stays_as_it_is() -> None:
    stored = {"messages": [{"place": {"name": "Brest"}, "kind": "neap", "on": "soon"}]}
    played = react_v2([submit(**SEEN)], signature=Tides)
    event = played(**GIVEN, history=stored).history.messages[0]
    assert {"place": {"name": "Brest"}, "kind": "neap", "on": "soon"} == event


def test_tool_values_come_back_as_the_model_was_shown_them() -> None:
    class Opaque:
        def __str__(self) -> str:
            return "<a thing>"

    image = reasonact.Image("https://example.org/a.png") if hasattr(reasonact, "Image") else "no image"
    values: list[Any] = [
        {"a": [1, None, True]},
        "text",
        3.5,
        None,
        Place(name="B", since=datetime.date(1900, 1, 2)),
        Opaque(),
        image,
    ]

    def give(number: int) -> Any:
        return values[number]

    script = [*(turn(f"t{i}", ("give", {"number": i})) for i in range(len(values))), submit(answer="1")]
    live = react_v2(script, tools=[give])(question="?").history
    stored = second_run(live.model_dump_json())[0].history
    got = [item.value for item in results(stored)]
    assert values[:4] == got[:4]
    assert {"name": "B", "since": "1900-01-02"} == got[4]
    assert ("<a thing>", image) == (got[5], got[6])
    assert json.dumps(second_run(live)[1].messages) == json.dumps(second_run(live.model_dump_json())[1].messages)


def test_a_history_of_react_goes_on_in_react_v2() -> None:
    history = react([step("Look.", "look_up", topic="x"), step("e", "finish"), extracted(answer="1")])(
        question="?"
    ).history
    prediction, request = second_run(history.model_dump_json())
    assert 3 == len(prediction.history.messages)
    assert "3 pages on x" in str(request.messages)


def test_a_call_without_a_result_is_shown_with_an_interrupted_one() -> None:
    call = reasonact.ToolCalls.from_dict_list([{"id": "c", "name": "look_up", "args": {"topic": "x"}}])
    _, request = second_run(reasonact.History(messages=[{"question": "?", "tool_calls": call}]), is_native=True)
    assert ("c", True) == (request.messages[3]["tool_call_id"], "interrupted" in request.messages[3]["content"])


def test_a_store_that_sorts_the_keys_of_its_json_does_no_harm() -> None:
    text = json.dumps(json.loads(first_run().model_dump_json()), sort_keys=True)
    prediction, request = second_run(text)
    _, expected = second_run(first_run())
    assert json.dumps(expected.messages) == json.dumps(request.messages)
    assert ["question", "next_thought", "tool_calls"] == list(prediction.history.messages[0])
    shorter = reasonact.drop_oldest_turns(prediction.history)
    assert shorter is not None
    assert {"question": "How often?"} == shorter.messages[0]
