"""ReActV2: ordinary runs, every way in which one ends, `submit`, ids, full contexts."""

from __future__ import annotations

import enum
import json
from itertools import pairwise
from typing import Any, Literal

import pytest
from agent_scripts import WAYS, calls, full, look_up, native, react_v2, results, submit, turn
from pydantic import BaseModel, Field

import reasonact
from reasonact.testing import ScriptedLM

LOOK = ("look_up", {"topic": "tides"})


@pytest.mark.parametrize("how", WAYS)
def test_a_text_run_gives_outputs_history_and_reason(how: str) -> None:
    played = react_v2([turn("Look.", LOOK), submit(answer="twice")], how=how)
    prediction = played(question="How often?")
    assert ["answer", "history", "termination_reason"] == prediction.keys()
    assert ("twice", "submit") == (prediction.answer, prediction.termination_reason)
    first, last = prediction.history.messages
    assert ["question", "next_thought", "tool_calls"] == list(first)
    assert ["next_thought", "tool_calls", "answer"] == list(last)
    assert ["call_0_0", "call_1_0"] == [item.id for item in calls(prediction.history)]
    assert ["3 pages on tides", {"answer": "twice"}] == [item.value for item in results(prediction.history)]
    played.lm.assert_complete()


@pytest.mark.parametrize("how", WAYS)
def test_a_native_run_keeps_the_providers_ids_and_the_text_beside_calls(how: str) -> None:
    script = [
        native("Two at once.", ("a1", "look_up", {"topic": "x"}), ("a2", "look_up", {"topic": "y"})),
        native(None, ("a3", "submit", {"answer": "both"})),
    ]
    played = react_v2(script, how=how, native=True)
    prediction = played(question="?")
    assert ["a1", "a2", "a3"] == [item.id for item in calls(prediction.history)]
    assert "Two at once." == prediction.history.messages[0]["next_thought"]
    assert ["system", "user", "assistant", "tool", "tool"] == [m["role"] for m in played.lm.requests[1].messages]
    assert ["look_up", "submit"] == [t["function"]["name"] for t in played.lm.requests[0].options["tools"]]
    assert "both" == prediction.answer


def test_each_request_begins_with_the_whole_one_before() -> None:
    for is_native in (False, True):
        script: list[Any] = [turn(f"t{i}", LOOK) for i in range(4)] + [submit(answer="1")]
        if is_native:
            script = [native(f"t{i}", (f"i{i}", *LOOK)) for i in range(4)] + [
                native("e", ("s", "submit", {"answer": "1"}))
            ]
        played = react_v2(script, native=is_native)
        played(question="?")
        sent = [request.messages for request in played.lm.requests]
        for shorter, longer in pairwise(sent):
            assert shorter == longer[: len(shorter)]


def test_calls_and_submit_of_one_turn_all_run_and_the_run_ends() -> None:
    prediction = react_v2([turn("t", ("submit", {"answer": "1"}), LOOK)])(question="?")
    assert [{"answer": "1"}, "3 pages on tides"] == [item.value for item in results(prediction.history)]
    assert ("1", "submit") == (prediction.answer, prediction.termination_reason)


# submit


def test_of_two_submits_the_first_valid_one_wins() -> None:
    made = [("submit", {"wrong": 1}), ("submit", {"answer": "first"}), ("submit", {"answer": "second"})]
    prediction = react_v2([turn("t", *made)])(question="?")
    assert "first" == prediction.answer
    assert [True, False, True] == [item.is_error for item in results(prediction.history)]
    assert "an earlier one in this turn was valid" in results(prediction.history)[2].value


@pytest.mark.parametrize("args", [{}, {"count": "many"}, {"count": 1, "other": 2}])
def test_a_submit_that_does_not_fit_is_an_error_result_and_the_loop_goes_on(args: dict[str, Any]) -> None:
    prediction = react_v2([turn("t", ("submit", args)), submit(count=3)], signature="question -> count: int")(
        question="?"
    )
    assert ([True, False], 3, "submit") == (
        [item.is_error for item in results(prediction.history)],
        prediction.count,
        prediction.termination_reason,
    )
    assert "count" not in prediction.history.messages[0]
    assert results(prediction.history)[0].value.startswith("submit: InvalidArguments: argument ")
    assert "\n" not in results(prediction.history)[0].value


class Kind(enum.Enum):
    SPRING = "spring"
    NEAP = "neap"


class Place(BaseModel):
    name: str
    inner: list[Place] = []


class Report(reasonact.Signature):
    """Report on tides."""

    question: str = reasonact.InputField()
    place: Place = reasonact.OutputField(desc="where it is")
    kind: Kind = reasonact.OutputField()
    size: Literal["low", "high"] = reasonact.OutputField()
    metres: float = reasonact.OutputField(ge=0, le=20)
    note: str | None = reasonact.OutputField()
    source: str = reasonact.OutputField(default="unknown")


def test_the_schema_of_submit_tells_all_that_the_signature_says() -> None:
    described = (
        reasonact.ReActV2(Report, []).tools["submit"].format_as_litellm_function_call()["function"]["parameters"]
    )
    assert ["place", "kind", "size", "metres", "note", "source"] == list(described["properties"])
    assert ["place", "kind", "size", "metres"] == described["required"]
    assert {"Place"} <= set(described["$defs"])
    assert '"$defs":' not in json.dumps(described["properties"])
    assert "where it is" == described["properties"]["place"]["description"]
    assert (0, 20) == (described["properties"]["metres"]["minimum"], described["properties"]["metres"]["maximum"])
    assert "unknown" == described["properties"]["source"]["default"]


def test_submitted_values_have_their_declared_types_and_defaults() -> None:
    values = {"place": {"name": "Brest", "inner": [{"name": "port"}]}, "kind": "neap", "size": "low", "metres": "2.5"}
    prediction = react_v2([submit(**values)], signature=Report)(question="?")
    assert Place(name="Brest", inner=[Place(name="port")]) == prediction.place
    assert (Kind.NEAP, "low", 2.5, None, "unknown") == (
        prediction.kind,
        prediction.size,
        prediction.metres,
        prediction.note,
        prediction.source,
    )


def test_a_constraint_that_is_broken_is_an_error_result() -> None:
    values = {"place": {"name": "Brest"}, "kind": "neap", "size": "low"}
    prediction = react_v2([submit(**values, metres=50), submit(**values, metres=5)], signature=Report)(question="?")
    assert "'metres'" in results(prediction.history)[0].value
    assert 5.0 == prediction.metres


# The forced submit


def test_max_iters_leads_to_a_forced_submit_with_an_id_of_that_turn() -> None:
    played = react_v2([turn("t", LOOK), submit(answer="1")], max_iters=1)
    prediction = played(question="?")
    assert ("1", "forced_submit") == (prediction.answer, prediction.termination_reason)
    assert "call_1_0" == calls(prediction.history)[-1].id
    last = played.lm.requests[1]
    assert {"reasoning_effort": None} == last.options
    assert "Call `submit` now, with `answer`" in last.messages[-1]["content"]
    assert "Call `submit` now" not in str(prediction.history.messages)


def test_a_native_forced_submit_says_so_by_tool_choice_alone() -> None:
    played = react_v2(
        [native("t", ("a", *LOOK)), native("", ("b", "submit", {"answer": "1"}))], native=True, max_iters=1
    )
    assert "forced_submit" == played(question="?").termination_reason
    last = played.lm.requests[1]
    assert {"type": "function", "function": {"name": "submit"}} == last.options["tool_choice"]
    assert last.options["reasoning_effort"] is None
    assert "tool" == last.messages[-1]["role"]


def test_a_native_request_that_would_end_with_the_assistant_gets_the_closing_message_too() -> None:
    played = react_v2([native("It is twice a day."), native("", ("b", "submit", {"answer": "2"}))], native=True)
    prediction = played(question="?")
    assert [("assistant", "It is twice a day."), ("user",)] == [
        (m["role"], m["content"])[: 1 + (m["role"] == "assistant")] for m in played.lm.requests[1].messages[-2:]
    ]
    assert ({"question": "?", "next_thought": "It is twice a day."}, "2") == (
        prediction.history.messages[0],
        prediction.answer,
    )


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("is_native", [False, True])
def test_max_iters_zero_asks_for_submit_at_once(is_native: bool, how: str) -> None:
    reply = native("", ("b", "submit", {"answer": "1"})) if is_native else submit(answer="1")
    prediction = react_v2([reply], native=is_native, how=how)(question="?", max_iters=0)
    assert ("1", "forced_submit", "?") == (
        prediction.answer,
        prediction.termination_reason,
        prediction.history.messages[0]["question"],
    )


def test_other_calls_in_a_forced_submit_are_not_run() -> None:
    ran: list[str] = []

    def act(topic: str) -> str:
        ran.append(topic)
        return "done"

    reply = turn("t", ("act", {"topic": "x"}), ("submit", {"answer": "1"}))
    prediction = react_v2([reply], tools=[act], max_iters=0)(question="?")
    assert ([], "1", [True, False]) == (ran, prediction.answer, [item.is_error for item in results(prediction.history)])


ENDS = {
    "max_iters": ([turn("t", LOOK), turn("again", LOOK)], {"max_iters": 1}, ValueError),
    "empty_tool_calls": ([turn("I know it."), turn("still nothing")], {}, ValueError),
    "parse_error": (["Twice a day."] * 4, {}, reasonact.AdapterParseError),
    "context_window_exceeded": ([full(), full()], {}, reasonact.ContextWindowExceededError),
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("reason", ENDS)
def test_a_run_that_cannot_submit_returns_its_history_and_the_reason(reason: str, how: str) -> None:
    script, options, _ = ENDS[reason]
    played = react_v2(script, how=how, **options)
    prediction = played(question="?")
    assert ["history", "termination_reason"] == prediction.keys()
    assert reason == prediction.termination_reason
    with pytest.raises(AttributeError, match=f"termination_reason='{reason}' and has no output 'answer'"):
        _ = prediction.answer
    with pytest.raises(KeyError, match=reason):
        prediction["answer"]
    played.lm.assert_complete()


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("reason", ENDS)
def test_strict_raises_what_dspy_raises_with_the_history_on_it(reason: str, how: str) -> None:
    script, options, error = ENDS[reason]
    with pytest.raises(error) as raised:
        react_v2(script, how=how, strict=True, **options)(question="?")
    assert type(raised.value) is error
    assert isinstance(raised.value.history, reasonact.History)  # type: ignore[attr-defined]


def test_strict_names_the_reason_where_the_last_request_brought_another_call() -> None:
    with pytest.raises(ValueError, match="parse_error") as raised:
        react_v2(["no", "no", turn("t", LOOK)], strict=True)(question="?")
    assert not isinstance(raised.value, reasonact.AdapterParseError)


def test_text_instead_of_a_call_is_kept_as_a_thought_for_the_forced_submit() -> None:
    played = react_v2(["Twice a day.", "Twice a day.", submit(answer="2")])
    prediction = played(question="?")
    assert {"question": "?", "next_thought": "Twice a day."} == prediction.history.messages[0]
    assert "Twice a day." in played.lm.requests[-1].messages[-2]["content"]
    assert "forced_submit" == prediction.termination_reason


# accept_text_answer


def test_a_plain_text_is_the_answer_where_that_is_wanted() -> None:
    played = react_v2([native("Twice a day.")], native=True, accept_text_answer=True)
    prediction = played(question="?")
    assert ("Twice a day.", "text_answer") == (prediction.answer, prediction.termination_reason)
    assert [{"question": "?", "answer": "Twice a day."}] == prediction.history.messages
    assert 1 == len(played.lm.requests)


def test_a_plain_text_in_text_mode_is_the_answer_too() -> None:
    prediction = react_v2(["Twice a day."] * 2, accept_text_answer=True)(question="?")
    assert ("Twice a day.", "text_answer") == (prediction.answer, prediction.termination_reason)


def limited() -> Any:
    fields = {"question": (str, reasonact.InputField()), "answer": (str, reasonact.OutputField(max_length=5))}
    return reasonact.make_signature(fields)


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ("question -> answer, source", "x"),
        ("question -> answer: int", "4"),
        (limited(), "too long a text"),
        (None, "  "),
    ],
    ids=["two outputs", "a number", "too long", "blank"],
)
def test_a_text_that_does_not_fit_is_no_answer(signature: Any, text: str) -> None:
    signature = signature or "question -> answer"
    played = react_v2([native(text), native("")], native=True, accept_text_answer=True, signature=signature)
    assert "empty_tool_calls" == played(question="?").termination_reason


def test_a_turn_in_the_adapters_form_is_no_plain_text() -> None:
    played = react_v2([turn("I think it is 2."), submit(answer="2")], accept_text_answer=True)
    assert "forced_submit" == played(question="?").termination_reason


# max_bad_steps


@pytest.mark.parametrize("is_native", [False, True])
def test_so_many_bad_turns_are_answered_by_a_correction_that_stays(is_native: bool) -> None:
    bad = native("Hm.") if is_native else turn("Hm.")
    good = native("", ("z", "submit", {"answer": "1"})) if is_native else submit(answer="1")
    played = react_v2([bad, bad, good], native=is_native, max_bad_steps=2)
    prediction = played(question="?")
    assert ("submit", "1") == (prediction.termination_reason, prediction.answer)
    said = "This step was not carried out: it holds no tool call. Tools to choose from: `look_up`, `submit`."
    assert [said, said] == [event.get("@correction") for event in prediction.history.messages[:2]]
    assert ("user", said) == tuple(played.lm.requests[1].messages[-1].values())
    for shorter, longer in pairwise(played.lm.requests):
        assert shorter.messages == longer.messages[: len(shorter.messages)]


def test_one_bad_turn_more_leads_to_the_forced_submit() -> None:
    prediction = react_v2([turn("a"), turn("b"), submit(answer="1")], max_bad_steps=1)(question="?")
    assert ("forced_submit", 3) == (prediction.termination_reason, len(prediction.history.messages))


def test_a_good_turn_begins_the_count_anew() -> None:
    script = [turn("a"), turn("b", LOOK), turn("c"), submit(answer="1")]
    assert "submit" == react_v2(script, max_bad_steps=1)(question="?").termination_reason


# Calls that cannot run


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_native_call_whose_arguments_are_no_json_gets_an_error_result_under_its_id(how: str) -> None:
    ran: list[str] = []

    def act(topic: str = "none") -> str:
        ran.append(topic)
        return "done"

    script = [native("", ("a", "act", '{"topic": '), ("b", "act", {})), native("", ("c", "submit", {"answer": "1"}))]
    prediction = react_v2(script, tools=[act], native=True, how=how)(question="?")
    assert [("a", True), ("b", False), ("c", False)] == [(r.call_id, r.is_error) for r in results(prediction.history)]
    assert ["none"] == ran
    assert "1" == prediction.answer


def test_an_unknown_tool_is_an_error_result_that_names_the_tools() -> None:
    prediction = react_v2([turn("t", ("serch", {})), submit(answer="1")])(question="?")
    result = results(prediction.history)[0]
    assert (True, "serch") == (result.is_error, result.name)
    assert result.value.startswith("Unknown tool: serch")
    assert "look_up, submit" in result.value


def test_traceback_frames_come_back_by_the_switch() -> None:
    def broken() -> str:
        raise RuntimeError("no")

    with reasonact.context(error_traceback_frames=5):
        prediction = react_v2([turn("t", ("broken", {})), submit(answer="1")], tools=[broken])(question="?")
    assert 'raise RuntimeError("no")' in results(prediction.history)[0].value


# Ids


def test_ids_stay_unique_though_a_provider_repeats_them() -> None:
    script = [
        native("", ("same", *LOOK), ("same", *LOOK), (None, *LOOK), ("", *LOOK)),
        native("", ("same", *LOOK)),
        native("", ("same", "submit", {"answer": "1"})),
    ]
    history = react_v2(script, native=True)(question="?").history
    ids = [item.id for item in calls(history)]
    assert ["same", "call_0_1", "call_0_2", "call_0_3", "call_1_0", "call_2_0"] == ids
    assert ids == [item.call_id for item in results(history)]


def test_a_continued_run_counts_the_turn_of_a_taken_id_on() -> None:
    first = react_v2([turn("a", LOOK), submit(answer="1")])(question="?").history
    second = react_v2([turn("b", LOOK), turn("c", LOOK), submit(answer="2")])(question="??", history=first).history
    assert [f"call_{i}_0" for i in range(5)] == [item.id for item in calls(second)]


def test_an_id_that_looks_like_one_of_ours_is_counted_over() -> None:
    script = [native("", ("call_1_0", *LOOK)), native("", (None, *LOOK)), native("", (None, "submit", {"answer": "1"}))]
    ids = [item.id for item in calls(react_v2(script, native=True)(question="?").history)]
    assert 3 == len(set(ids))
    assert ["call_1_0", "call_2_0", "call_3_0"] == ids


# Full contexts


def test_a_full_context_leads_to_a_forced_submit_on_a_shorter_view() -> None:
    played = react_v2([*(turn(f"t{i}", LOOK) for i in range(4)), full(), submit(answer="1")])
    prediction = played(question="the first inputs")
    assert ("forced_submit", 5) == (prediction.termination_reason, len(prediction.history.messages))
    last = str(played.lm.requests[-1].messages)
    assert "the first inputs" in last
    assert ("t0" in last, "t3" in last) == (False, True)


def test_the_ready_policy_drops_the_oldest_turns_and_the_loop_goes_on() -> None:
    script = [*(turn(f"t{i}", LOOK) for i in range(4)), full(), turn("t4", LOOK), submit(answer="1")]
    played = react_v2(script, on_overflow=reasonact.drop_oldest_turns)
    prediction = played(question="the first inputs")
    assert ("submit", 6) == (prediction.termination_reason, len(prediction.history.messages))
    assert [f"t{i}" for i in range(5)] == [e["next_thought"] for e in prediction.history.messages[:-1]]
    last = str(played.lm.requests[-1].messages)
    assert "the first inputs" in last
    assert ("t0" in last, "t4" in last) == (False, True)


@pytest.mark.parametrize("is_native", [False, True])
def test_calls_and_results_stay_together_in_a_shortened_view(is_native: bool) -> None:
    script: list[Any] = [turn(f"t{i}", LOOK, LOOK) for i in range(5)]
    end: Any = submit(answer="1")
    if is_native:
        script = [native(f"t{i}", (f"a{i}", *LOOK), (f"b{i}", *LOOK)) for i in range(5)]
        end = native("", ("s", "submit", {"answer": "1"}))
    played = react_v2([*script, full(), full(), end], native=is_native, on_overflow=reasonact.drop_oldest_turns)
    played(question="?")
    messages = played.lm.requests[-1].messages
    if is_native:
        asked = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
        assert asked == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert "user" == messages[1]["role"]


def test_an_override_of_truncate_history_is_asked_and_the_returned_history_is_complete() -> None:
    class Forgetful(reasonact.ReActV2):
        def truncate_history(self, history: reasonact.History) -> reasonact.History | None:
            return reasonact.History(messages=[{"question": "in short?"}])

    played = react_v2([turn("t0", LOOK), turn("t1", LOOK), full(), turn("t2", LOOK), submit(answer="1")])
    played.agent = Forgetful("question -> answer", [look_up])
    prediction = played(question="at length?")
    assert 4 == len(prediction.history.messages)
    assert "in short?" in str(played.lm.requests[-1].messages)
    assert "at length?" not in str(played.lm.requests[-1].messages)


def test_a_policy_that_shortens_nothing_ends_the_loop() -> None:
    played = react_v2([turn("t0", LOOK), full(), submit(answer="1")], on_overflow=lambda history: history)
    assert "forced_submit" == played(question="?").termination_reason


def test_a_long_result_is_cut_for_the_model_and_kept_whole_in_the_history() -> None:
    def dump() -> list[int]:
        return list(range(100))

    played = react_v2([turn("t", ("dump", {})), submit(answer="1")], tools=[dump], max_result_chars=20)
    prediction = played(question="?")
    assert list(range(100)) == results(prediction.history)[0].value
    assert "characters are not shown" in str(played.lm.requests[1].messages)
    assert "99" not in str(played.lm.requests[1].messages[2:])


# One call's own


def test_tools_of_one_call_add_to_and_replace_the_agents_own() -> None:
    def extra() -> str:
        return "extra"

    for is_native in (False, True):
        script: list[Any] = [turn("t", ("extra", {}), LOOK), submit(answer="1")]
        if is_native:
            script = [native("", ("a", "extra", {}), ("b", *LOOK)), native("", ("c", "submit", {"answer": "1"}))]
        played = react_v2(script, native=is_native)
        prediction = played(question="?", tools=[extra])
        assert ["extra", "3 pages on tides"] == [item.value for item in results(prediction.history)[:2]]
        first = played.lm.requests[0]
        shown = str(first.options.get("tools", first.messages[0]["content"]))
        assert "extra" in shown
        assert "Tools: `look_up`, `extra`, `submit`." in first.messages[0]["content"]
        assert ["look_up", "submit"] == list(played.agent.tools)
        longer = played.lm.requests[1].messages
        assert first.messages == longer[: len(first.messages)]


def test_lm_and_config_of_one_call_reach_the_predictor() -> None:
    own = ScriptedLM([turn("t", LOOK), submit(answer="1")])
    react_v2([])(question="?", lm=own, config={"temperature": 0.3}, max_iters=1)
    assert [{"temperature": 0.3}, {"temperature": 0.3, "reasoning_effort": None}] == [r.options for r in own.requests]


INPUTS = ("history", "tools", "max_iters", "config", "lm", "demos", "signature", "next_thought", "tool_calls")
OUTPUTS = ("history", "termination_reason", "next_thought", "tool_calls", "signature")


def task(inputs: str, outputs: str) -> Any:
    return reasonact.make_signature({inputs: (str, reasonact.InputField()), outputs: (str, reasonact.OutputField())})


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_may_not_have_a_name_that_the_agent_uses(name: str) -> None:
    with pytest.raises(ValueError, match=f"ReActV2 uses the name '{name}' itself, so an input"):
        reasonact.ReActV2(task(name, "a"), [])


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_may_not_have_a_name_that_the_agent_uses(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' itself, so an output"):
        reasonact.ReActV2(task("a", name), [])


@pytest.mark.parametrize("name", ["trajectory", "self", "base", "state", "observation", "args", "usage", "items"])
def test_every_other_name_works_as_input_and_as_output(name: str) -> None:
    prediction = react_v2([submit(a="1")], signature=task(name, "a"))(**{name: "given"})
    assert ("1", "given") == (prediction.a, prediction.history.messages[0][name])
    assert "2" == react_v2([submit(**{name: "2"})], signature=task("a", name))(a="x")[name]


def test_a_tool_may_not_be_named_submit() -> None:
    with pytest.raises(ValueError, match="'submit', which the agent keeps for itself"):
        reasonact.ReActV2("question -> answer", [reasonact.Tool(look_up, name="submit")])


def test_a_field_description_reaches_the_schema() -> None:
    class Described(reasonact.Signature):
        question: str = reasonact.InputField()
        answer: str = reasonact.OutputField(desc="in one word", max_length=9)

    schema = reasonact.ReActV2(Described, []).tools["submit"].args["answer"]
    assert ("in one word", 9) == (schema["description"], schema["maxLength"])


def test_an_annotated_description_reaches_the_schema_of_a_nested_model() -> None:
    class Item(BaseModel):
        count: int = Field(description="how many", gt=0)

    signature = reasonact.make_signature(
        {"question": (str, reasonact.InputField()), "item": (Item, reasonact.OutputField())}
    )
    prediction = react_v2([submit(item={"count": 0}), submit(item={"count": "4"})], signature=signature)(question="?")
    assert Item(count=4) == prediction.item
    assert results(prediction.history)[0].is_error


@pytest.mark.parametrize("is_native", [False, True])
def test_an_input_that_has_a_default_is_said_with_it_and_stays_said(is_native: bool) -> None:
    class Asked(reasonact.Signature):
        question: str = reasonact.InputField()
        language: str = reasonact.InputField(default="Breton")
        answer: str = reasonact.OutputField()

    script: list[Any] = [turn("t", LOOK), submit(answer="1")]
    if is_native:
        script = [native("", ("a", *LOOK)), native("", ("b", "submit", {"answer": "1"}))]
    played = react_v2(script, signature=Asked, native=is_native)
    assert "Breton" == played(question="?").history.messages[0]["language"]
    first, second = (request.messages for request in played.lm.requests)
    assert "Breton" in first[1]["content"]
    assert first == second[: len(first)]


def test_a_tool_that_changes_its_arguments_does_not_change_what_was_called() -> None:
    def take(items: list) -> str:  # type: ignore[type-arg]
        items.clear()
        return "taken"

    played = react_v2([turn("t", ("take", {"items": [1, 2]})), submit(answer="1")], tools=[take])
    assert {"items": [1, 2]} == calls(played(question="?").history)[0].args
    assert "[1, 2]" in str(played.lm.requests[1].messages)


def test_a_hook_that_gives_no_history_is_a_type_error_that_says_so() -> None:
    played = react_v2([turn("t", LOOK), full()], on_overflow=lambda history: history.messages[1:])
    with pytest.raises(TypeError, match="truncate_history gives a History or None, not a list"):
        played(question="?")


@pytest.mark.parametrize(("option", "value"), [("on_overflow", "oldest"), ("max_bad_steps", -1), ("parallel_tools", 0)])
def test_an_option_of_an_impossible_value_is_refused_at_construction(option: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=option):
        reasonact.ReActV2("question -> answer", [], **{option: value})


def test_instructions_that_were_rewritten_still_tell_of_the_tools_of_one_call() -> None:
    def extra() -> str:
        return "extra"

    for make, script in (
        (reasonact.ReActV2, [submit(answer="1")]),
        (
            reasonact.ReAct,
            [
                "[[ ## next_thought ## ]]\n\n[[ ## next_tool_name ## ]]\nfinish\n[[ ## next_tool_args ## ]]\n{}",
                "[[ ## reasoning ## ]]\n\n[[ ## answer ## ]]\n1",
            ],
        ),
    ):
        agent = make("question -> answer", [look_up])
        agent.react.signature = agent.react.signature.with_instructions("Do it well.")
        lm = ScriptedLM(script)
        with reasonact.context(lm=lm):
            assert "1" == agent(question="?", tools=[extra]).answer
        system = lm.requests[0].messages[0]["content"]
        assert "Do it well." in system
        assert "extra" in system


def test_a_signature_without_outputs_is_refused() -> None:
    with pytest.raises(ValueError, match="no output field; an agent needs one to end on"):
        reasonact.ReActV2(reasonact.make_signature({"question": (str, reasonact.InputField())}), [])


@pytest.mark.parametrize("adapter", [None, reasonact.ChatAdapter()])
def test_each_request_holds_the_very_messages_of_the_one_before(adapter: Any) -> None:
    seen: list[list[Any]] = []

    class Noting(reasonact.BaseLM):
        def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            seen.append(list(messages))
            return [turn("Look.", LOOK) if len(seen) < 6 else submit(answer="1")]

    with reasonact.context(lm=Noting("noting"), adapter=adapter):
        assert "1" == reasonact.ReActV2("question -> answer", tools=[look_up])(question="?").answer
    assert 6 == len(seen)
    for before, after in pairwise(seen[1:]):  # the first says its inputs live, the others as part of an event
        assert [id(message) for message in before] == [id(message) for message in after[: len(before)]]
