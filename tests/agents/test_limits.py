"""Limits: what a run may spend, and what is left of it where they are reached."""

from __future__ import annotations

import time
from typing import Any

import pytest
from agent_scripts import Played, extracted, native, react, react_v2, results, step, submit, turn

import reasonact
from reasonact import Limits
from reasonact.testing import ScriptedLM

LOOK = ("look_up", {"topic": "x"})
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}


def priced(played: Played) -> Played:
    played.lm = ScriptedLM(played.lm._script.replies, usage=USAGE)
    return played


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_model_call_too_many_ends_react_with_its_partial_work(how: str) -> None:
    played = react(
        [step("a", "look_up", topic="x"), step("b", "look_up", topic="y")], how=how, limits=Limits(lm_calls=2)
    )
    prediction = played(question="?")
    assert ("limit", 8, ["trajectory"]) == (
        prediction.termination_reason,
        len(prediction.trajectory),
        prediction.keys(),
    )
    assert ["3 pages on x", "3 pages on y"] == [item.value for item in results(prediction.history)]
    with pytest.raises(AttributeError, match="'limit'"):
        _ = prediction.answer
    assert 2 == len(played.lm.requests)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_model_call_too_many_ends_react_v2_with_its_partial_work(how: str) -> None:
    played = react_v2([turn("a", LOOK), turn("b", LOOK)], how=how, limits=Limits(lm_calls=2))
    prediction = played(question="?")
    assert ("limit", ["history", "termination_reason"]) == (prediction.termination_reason, prediction.keys())
    assert 2 == len(results(prediction.history))
    assert 2 == len(played.lm.requests)


def test_a_limit_that_is_reached_by_the_last_call_does_not_spoil_the_end() -> None:
    assert (
        "submit"
        == react_v2([turn("a", LOOK), submit(answer="1")], limits=Limits(lm_calls=2))(question="?").termination_reason
    )
    script = [step("a", "look_up", topic="x"), step("b", "finish"), extracted(answer="1")]
    assert "1" == react(script, limits=Limits(lm_calls=3, tool_calls=1))(question="?").answer
    ended = react(script, limits=Limits(lm_calls=2))(question="?")
    assert ("limit", False) == (ended.termination_reason, "answer" in ended)


def test_a_tool_call_too_many_is_refused_and_the_outputs_are_asked_for() -> None:
    script = [step("a", "look_up", topic="x"), step("b", "look_up", topic="y"), extracted(answer="1")]
    prediction = react(script, limits=Limits(tool_calls=1))(question="?")
    assert ("limit", "1") == (prediction.termination_reason, prediction.answer)
    assert "not run: the run has reached its limit of tool_calls" == prediction.trajectory["observation_1"]


def test_calls_of_one_turn_run_up_to_the_limit() -> None:
    script = [turn("a", LOOK, LOOK, LOOK, LOOK), submit(answer="1")]
    prediction = react_v2(script, limits=Limits(tool_calls=3), parallel_tools=2)(question="?")
    assert [False, False, False, True, False] == [item.is_error for item in results(prediction.history)]
    assert ("1", "forced_submit", 3) == (
        prediction.answer,
        prediction.termination_reason,
        prediction.usage.tool_calls,
    )


def test_submit_beside_a_refused_call_still_counts() -> None:
    prediction = react_v2([turn("a", LOOK, ("submit", {"answer": "1"}))], limits=Limits(tool_calls=0))(question="?")
    assert ("1", "submit") == (prediction.answer, prediction.termination_reason)


@pytest.mark.parametrize(
    "limits", [Limits(total_tokens=150), Limits(total_tokens=150, tool_calls=1), Limits(seconds=0), Limits(lm_calls=0)]
)
@pytest.mark.parametrize("make", [react, react_v2])
def test_every_other_limit_forbids_the_last_request_too(make: Any, limits: Limits) -> None:
    step_ = step("a", "look_up", topic="x") if make is react else turn("a", LOOK)
    played = priced(make([step_, step_, step_], limits=limits))
    prediction = played(question="?")
    assert ("limit", False) == (prediction.termination_reason, "answer" in prediction)


def test_time_is_looked_at_before_a_tool_runs() -> None:
    ran: list[str] = []

    def act() -> str:
        ran.append("x")
        return "done"

    def slow(messages: list[Any], options: dict[str, Any]) -> str:
        time.sleep(0.05)
        return turn("a", ("act", {}))

    prediction = react_v2(slow, [act], limits=Limits(seconds=0.01))(question="?")  # type: ignore[arg-type]
    assert ("limit", []) == (prediction.termination_reason, ran)
    assert "its limit of seconds" in results(prediction.history)[0].value


def test_money_is_counted_where_the_price_is_known() -> None:
    def answer(messages: list[Any], options: dict[str, Any]) -> Any:
        from types import SimpleNamespace

        message = SimpleNamespace(content=turn("a", LOOK), tool_calls=None)
        choice = SimpleNamespace(index=0, message=message, finish_reason="stop", logprobs=None)
        return SimpleNamespace(choices=[choice], usage=USAGE, model="m", _hidden_params={"response_cost": 0.4})

    played = react_v2(answer, limits=Limits(cost_usd=1.0))  # type: ignore[arg-type]
    prediction = played(question="?")
    assert ("limit", 3) == (prediction.termination_reason, len(played.lm.requests))
    assert 1.2 == pytest.approx(prediction.usage.cost_usd)


def test_what_was_spent_before_a_pause_counts_after_it() -> None:
    def act() -> str:
        return "done"

    tool = reasonact.Tool(act, require_confirmation=True)
    played = react_v2([turn("a", ("act", {})), turn("b", LOOK)], [tool], limits=Limits(lm_calls=2))
    with pytest.raises(reasonact.ConfirmationRequired) as pause:
        played(question="?")
    state = reasonact.RunState.from_json(pause.value.state.to_json())
    prediction = played.resume(True, state)
    assert ("limit", 2) == (prediction.termination_reason, prediction.usage.calls)


def test_strict_raises_at_a_limit_too() -> None:
    with pytest.raises(ValueError, match="limit") as error:
        react_v2([turn("a", LOOK)], limits=Limits(lm_calls=1), strict=True)(question="?")
    assert 1 == len(results(error.value.history))  # type: ignore[attr-defined]


def test_usage_tells_calls_tokens_by_turn_and_an_unknown_price() -> None:
    played = priced(react([step("a", "look_up", topic="x"), step("b", "finish"), extracted(answer="1")]))
    usage = played(question="?").usage
    assert (3, 0, 1, 300, None) == (
        usage.calls,
        usage.cached_calls,
        usage.tool_calls,
        usage.total_tokens,
        usage.cost_usd,
    )
    assert [USAGE] * 3 == [dict(tokens) for tokens in usage.turns]
    assert usage.seconds > 0


def test_native_runs_are_limited_alike() -> None:
    played = react_v2([native("", ("a", *LOOK))], native=True, limits=Limits(lm_calls=1))
    assert "limit" == played(question="?").termination_reason
