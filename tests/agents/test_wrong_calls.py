"""Mistakes of the program: each is named where it is made."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_scripts import extracted, look_up, react, react_v2, step, submit, turn

import reasonact
from reasonact import Approve, RunState
from reasonact.testing import ScriptedLM

KINDS = pytest.mark.parametrize("kind", [reasonact.ReAct, reasonact.ReActV2])


@KINDS
def test_an_agent_without_a_signature_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="an agent needs a signature"):
        kind(None, [look_up])


@KINDS
def test_an_input_without_its_name_is_refused_with_the_right_call(kind: Any) -> None:
    agent = kind("question -> answer", [look_up])
    with pytest.raises(TypeError, match=r"takes its inputs by name: agent\(question=...\)"):
        agent("What?")
    with pytest.raises(TypeError, match="takes its inputs by name"):
        asyncio.run(agent.acall("What?"))


@KINDS
def test_a_config_that_is_no_dict_is_refused(kind: Any) -> None:
    with reasonact.context(lm=ScriptedLM([])), pytest.raises(TypeError, match="config is a dict of options"):
        kind("question -> answer", [look_up])(question="q", config=5)


@KINDS
def test_a_subclass_that_was_not_set_up_says_so(kind: Any) -> None:
    class Own(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            self.own = True

    with pytest.raises(TypeError, match=r"Own is not set up: its __init__ does not call super\(\).__init__\(\)"):
        Own()(question="q")


@pytest.mark.parametrize("calls", ["x", 5, {"tool_calls": "x"}])
def test_a_history_whose_calls_are_none_is_refused_on_entry(calls: Any) -> None:
    played = react_v2([])
    with pytest.raises(ValueError, match="this is no history: event 0 holds no tool calls"):
        played(question="q", history={"messages": [{"tool_calls": calls}]})
    assert [] == played.lm.requests


def test_a_history_whose_calls_are_a_plain_list_is_read() -> None:
    event = {"question": "p", "tool_calls": [{"name": "look_up", "args": {"topic": "t"}}]}
    prediction = react_v2([submit(answer="a")])(question="q", history={"messages": [event]})
    assert "call_0_0" == prediction.history.messages[0]["tool_calls"].tool_calls[0].id


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def paused(signature: str = "question -> answer") -> tuple[Any, RunState]:
    played = react_v2(
        [turn("t", ("pay", {"amount": 3})), submit(answer="a")],
        [reasonact.Tool(pay, require_confirmation=True)],
        signature,
    )
    with pytest.raises(reasonact.ConfirmationRequired) as caught:
        played(question="q")
    return played, caught.value.state


def test_an_edit_that_does_not_fit_the_tool_is_refused_before_the_confirmation_is_used() -> None:
    played, state = paused()
    with pytest.raises(ValueError, match=r"does not fit the tool pay: .*'amout' is not declared"):
        played.resume(Approve(args={"amout": 4}), state)
    with pytest.raises(ValueError, match=r"argument 'amount' is missing"):
        played.resume(Approve(args={}), state)
    prediction = played.resume(Approve(args={"amount": 4}), state)
    assert "paid 4" == prediction.history.messages[0]["tool_calls"].tool_call_results.tool_call_results[0].value


def test_a_state_of_an_agent_with_other_inputs_is_refused() -> None:
    _, state = paused()
    other = react_v2([], signature="topic -> answer")
    with pytest.raises(ValueError, match="the agent has no input question; the state has no topic"):
        other.resume(True, state)


def test_a_run_goes_on_from_the_json_text_of_its_state() -> None:
    played, state = paused()
    assert "a" == played.resume(True, state.to_json()).answer


def test_a_run_that_waits_for_nobody_goes_on_from_the_json_text_alone() -> None:
    played = react_v2([reasonact.LMServerError("away"), submit(answer="a")])
    with pytest.raises(reasonact.LMServerError) as caught:
        played(question="q")
    assert "a" == played.resume(caught.value.state.to_json()).answer  # type: ignore[attr-defined]


def test_a_decision_on_a_call_that_waits_for_nobody_tells_of_agents_within() -> None:
    def act() -> str:
        raise KeyboardInterrupt

    played = react_v2([turn("t", ("act", {}))], [act])
    with pytest.raises(KeyboardInterrupt) as caught:
        played(question="q")
    with pytest.raises(ValueError, match="respond_to_confirmation"):
        played.resume(True, caught.value.state)  # type: ignore[attr-defined]


@pytest.mark.parametrize("phase", ["null", '"later"'])
def test_a_stored_state_in_no_known_phase_is_refused(phase: str) -> None:
    _, state = paused()
    text = state.to_json().replace('"phase": "loop"', f'"phase": {phase}')
    with pytest.raises(ValueError, match=r"phase is .*, not one of loop, close"):
        RunState.from_json(text)


def test_a_state_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="this is no run state"):
        RunState.from_json(None)  # type: ignore[arg-type]


def test_an_input_named_reasoning_reaches_the_extractor() -> None:
    replies = [
        step("t", "finish"),
        extracted(answer="a").replace("## reasoning ##", "## extraction_reasoning ##"),
    ]
    played = react(replies, signature="question, reasoning -> answer")
    prediction = played(question="q", reasoning="because of the moon")
    assert "a" == prediction.answer
    assert "because of the moon" in played.lm.requests[-1].messages[-1]["content"]
    assert "From the steps." == prediction.extraction_reasoning


def test_an_input_that_is_a_history_may_be_given_as_json_text() -> None:
    past = reasonact.History(messages=[{"question": "first", "answer": "one"}])
    played = [
        react([step("t", "finish"), extracted(answer="a")], signature="question, past: dspy.History -> answer")
        for _ in range(2)
    ]
    for agent, given in zip(played, (past, past.model_dump_json()), strict=True):
        assert "a" == agent(question="q", past=given).answer
    assert played[0].lm.requests[0].messages == played[1].lm.requests[0].messages
    with pytest.raises(ValueError, match="a history given as text must be its JSON"):
        played[0](question="q", past="once upon a time")
