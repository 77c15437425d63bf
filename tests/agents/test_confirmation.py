"""A person in the loop: pauses, decisions, and what a decision is bound to."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import Played, extracted, react, react_v2, results, step, submit, turn

import reasonact
from reasonact import Answer, Approve, ConfirmationRequired, Reject, RunState
from reasonact.agents.respond import respond_to_confirmation

PROGRAM = Path(__file__).with_name("paused_program.py")


# Across processes


def process(work: Path, agent: str, how: str, decision: str | None = None) -> dict[str, Any]:
    command = [sys.executable, str(PROGRAM), str(work), agent, how, *([decision] if decision else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert 0 == done.returncode, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("how", ["sync", "async"])
def test_react_pauses_and_goes_on_in_new_processes(how: str, tmp_path: Path) -> None:
    first = process(tmp_path, "react", how)
    assert ("delete", {"path": "/x"}, "Run delete(path='/x')?") == (first["tool"], first["args"], first["asks"])
    second = process(tmp_path, "react", how, "Approve(args={'path': '/z'})")
    assert ("delete", {"path": "/y"}) == (second["tool"], second["args"])
    third = process(tmp_path, "react", how, "Reject('too risky')")
    assert ("user_clarification", "Which one?") == (third["tool"], third["asks"])
    last = process(tmp_path, "react", how, "Answer('the left one')")
    assert "5" == last["answer"]
    assert [
        "wrote first",
        "wrote deleted /z",
        "The person refused this call: too risky.",
        "the left one",
        "Completed.",
    ] == last["results"]
    assert ["first", "deleted /z"] == (tmp_path / "effects").read_text().split("\n")[:-1]


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("agent", ["text", "native"])
def test_react_v2_pauses_at_several_calls_of_one_turn_and_goes_on_in_new_processes(
    agent: str, how: str, tmp_path: Path
) -> None:
    first = process(tmp_path, agent, how)
    assert ("delete", {"path": "/x"}, 3) == (first["tool"], first["args"], len(first["waiting"]))
    assert "first\n" == (tmp_path / "effects").read_text()
    _, second, third = first["waiting"]
    # a dict decides the second alone: the first stays pending, and nothing runs
    again = process(tmp_path, agent, how, repr({second: "no"}))
    assert ([first["id"], third], "first\n") == (again["waiting"], (tmp_path / "effects").read_text())
    asks = process(tmp_path, agent, how, "True")
    assert ("user_clarification", [third]) == (asks["tool"], asks["waiting"])
    last = process(tmp_path, agent, how, repr({third: "the left one"}))
    assert "4" == last["answer"]
    assert ["wrote first", "wrote deleted /x", "The person refused this call.", "the left one", "wrote last"] == last[
        "results"
    ][:5]
    assert ["first", "deleted /x", "last"] == (tmp_path / "effects").read_text().split("\n")[:-1]


# Within one process


class Effects:
    """Tools that leave marks."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def note(self, line: str) -> str:
        self.seen.append(line)
        return f"wrote {line}"

    def delete(self, path: str, count: int = 1) -> str:
        self.seen.append(f"{path}*{count}")
        return f"deleted {path}"

    @property
    def tools(self) -> list[Any]:
        return [self.note, reasonact.Tool(self.delete, require_confirmation=True)]


@pytest.fixture
def effects() -> Effects:
    return Effects()


MAKERS = {
    "react": lambda effects, **o: react(
        [step("a", "note", line="n"), step("b", "delete", path="/x"), step("c", "finish"), extracted(answer="1")] * 2,
        effects.tools,
        **o,
    ),
    "text": lambda effects, **o: react_v2(
        [turn("a", ("note", {"line": "n"}), ("delete", {"path": "/x"}), ("note", {"line": "m"})), submit(answer="1")]
        * 2,
        effects.tools,
        **o,
    ),
}
BOTH = pytest.mark.parametrize("kind", MAKERS)


def pause(played: Played, **inputs: Any) -> ConfirmationRequired:
    with pytest.raises(ConfirmationRequired) as error:
        played(**(inputs or {"question": "?"}))
    return error.value


@BOTH
@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_pause_tells_what_is_to_be_decided(kind: str, how: str, effects: Effects) -> None:
    stop = pause(MAKERS[kind](effects, how=how))
    assert "Run delete(path='/x')?" == stop.question == str(stop)
    assert ("delete", {"path": "/x"}) == (stop.tool_call.name, stop.tool_call.args)
    assert {stop.confirmation_id: stop.tool_call.id} == stop.state.confirmations
    assert ["n"] == effects.seen
    assert isinstance(stop, reasonact.ControlFlow)
    assert stop.state.history.messages == stop.history.messages[:-1]  # type: ignore[attr-defined]


DECISIONS: list[tuple[Any, str, list[str]]] = [
    (Approve(), "deleted /x", ["/x*1"]),
    (True, "deleted /x", ["/x*1"]),
    ("yes", "deleted /x", ["/x*1"]),
    (" YES ", "deleted /x", ["/x*1"]),
    (Approve(args={"path": "/y", "count": "2"}), "deleted /y", ["/y*2"]),
    (Reject("not today"), "The person refused this call: not today.", []),
    (Reject("Not today."), "The person refused this call: Not today.", []),
    (Reject(), "The person refused this call.", []),
    (False, "The person refused this call.", []),
    ("no", "The person refused this call.", []),
]


@BOTH
@pytest.mark.parametrize(("decision", "told", "done"), DECISIONS)
def test_every_decision_does_what_it_says(
    kind: str, decision: Any, told: str, done: list[str], effects: Effects
) -> None:
    played = MAKERS[kind](effects)
    prediction = played.resume(decision, pause(played).state)
    result = next(item for item in results(prediction.history) if item.name == "delete")
    assert result.value.startswith(told)
    assert (not told.startswith("deleted")) == result.is_error
    assert done == [mark for mark in effects.seen if mark.startswith("/")]
    assert "1" == prediction.answer
    assert "n" == effects.seen[0] and effects.seen.count("n") == 1


def test_edited_arguments_stand_in_trajectory_and_history(effects: Effects) -> None:
    played = MAKERS["react"](effects)
    prediction = played.resume(Approve(args={"path": "/y"}), pause(played).state)
    assert {"path": "/y"} == prediction.trajectory["tool_args_1"]
    assert {"path": "/y"} == prediction.history.messages[1]["tool_calls"].tool_calls[0].args


@BOTH
@pytest.mark.parametrize("wrong", ["maybe", 1, None, Answer("x"), [True], {"other": True}])
def test_what_is_no_decision_for_the_call_is_refused_and_uses_nothing_up(
    kind: str, wrong: Any, effects: Effects
) -> None:
    played = MAKERS[kind](effects)
    state = pause(played).state
    if wrong is None:
        with pytest.raises(ConfirmationRequired):
            played.resume(state)  # a state alone goes on without a decision, and pauses again
    else:
        with pytest.raises((TypeError, ValueError)):
            played.resume(wrong, state)
    assert "1" == played.resume(True, state).answer


@BOTH
def test_a_predicate_says_which_arguments_need_a_person(kind: str, effects: Effects) -> None:
    tool = reasonact.Tool(effects.delete, require_confirmation=lambda args: args["path"].startswith("/etc"))
    script: list[Any] = [step("a", "delete", path="/tmp"), step("b", "delete", path="/etc")]
    if kind == "text":
        script = [turn("a", ("delete", {"path": "/tmp"}), ("delete", {"path": "/etc"}))]
    played = (react if kind == "react" else react_v2)(script, [tool])
    assert {"path": "/etc"} == pause(played).tool_call.args
    assert ["/tmp*1"] == effects.seen


def test_arguments_that_do_not_fit_are_refused_without_asking_anybody(effects: Effects) -> None:
    played = react_v2([turn("a", ("delete", {"path": "/x", "count": "many"})), submit(answer="1")], effects.tools)
    assert results(played(question="?").history)[0].is_error


# What a confirmation is bound to


@BOTH
def test_a_confirmation_is_used_once_within_a_process(kind: str, effects: Effects) -> None:
    played = MAKERS[kind](effects)
    state = pause(played).state
    played.resume(True, state)
    with pytest.raises(ValueError, match="was used already"):
        played.resume(True, state)
    with pytest.raises(ValueError, match="was used already"):
        played.resume(True, RunState.from_json(state.to_json()))
    assert 1 == effects.seen.count("/x*1")


def test_a_confirmation_does_not_serve_for_other_arguments(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    data = json.loads(stop.state.to_json())
    data["pending"]["calls"][1]["args"]["path"] = "/etc"
    with pytest.raises(ValueError, match="no confirmation that this run waits for"):
        played.resume({stop.confirmation_id: True}, RunState.from_json(json.dumps(data)))
    assert ["n"] == effects.seen


def test_a_confirmation_of_another_run_is_refused(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    one, two = pause(played), None
    played.lm = MAKERS["text"](effects).lm
    two = pause(played)
    assert one.confirmation_id != two.confirmation_id
    with pytest.raises(ValueError, match="no confirmation that this run waits for"):
        played.resume({one.confirmation_id: True}, two.state)


def test_of_several_decisions_none_is_used_up_where_one_was_used_already(effects: Effects) -> None:
    made = [("delete", {"path": "/x"}), ("delete", {"path": "/y"})]
    played = react_v2([turn("a", *made), submit(answer="1")], effects.tools)
    state = pause(played).state
    first, second = state.confirmations
    with pytest.raises(ConfirmationRequired):
        played.resume({second: True}, state)
    with pytest.raises(ValueError, match="was used already"):
        played.resume({first: True, second: True}, state)
    with pytest.raises(ConfirmationRequired):
        played.resume({first: True}, state)
    assert ["/x*1"] == effects.seen


def test_claim_lets_the_program_record_the_use_across_processes(effects: Effects) -> None:
    claimed: list[str] = []

    def claim(confirmation_id: str) -> bool:
        claimed.append(confirmation_id)
        return len(claimed) > 1

    played = MAKERS["text"](effects)
    stop = pause(played)
    with pytest.raises(ValueError, match="was used already"):
        played.resume(True, stop.state, claim=claim)
    assert ([stop.confirmation_id], ["n"]) == (claimed, effects.seen)


def test_where_the_program_refuses_the_second_claim_the_first_goes_along_in_the_errors_state(effects: Effects) -> None:
    made = [("delete", {"path": "/x"}), ("delete", {"path": "/y"})]
    played = react_v2([turn("a", *made), submit(answer="1")], effects.tools)
    state = pause(played).state
    first, second = state.confirmations
    with pytest.raises(ValueError, match="was used already") as refused:
        played.resume({first: True, second: True}, state, claim=lambda confirmation_id: confirmation_id == first)
    with pytest.raises(ConfirmationRequired) as still_waiting:
        played.resume(refused.value.state)  # type: ignore[attr-defined]
    assert (["/x*1"], second) == (effects.seen, still_waiting.value.confirmation_id)


# Asking on the spot


@BOTH
@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_program_that_can_ask_on_the_spot_is_not_paused(kind: str, how: str, effects: Effects) -> None:
    asked: list[str] = []

    def on_confirmation(stop: ConfirmationRequired) -> Any:
        asked.append(stop.question)
        return Approve(args={"path": "/y"})

    prediction = MAKERS[kind](effects, how=how, on_confirmation=on_confirmation)(question="?")
    assert ("1", ["Run delete(path='/x')?"]) == (prediction.answer, asked)
    assert "/y*1" in effects.seen


def test_asking_on_the_spot_may_be_async(effects: Effects) -> None:
    async def on_confirmation(stop: ConfirmationRequired) -> Any:
        await asyncio.sleep(0)
        return "no"

    for how in ("sync", "async", "in a loop"):
        played = MAKERS["text"](effects, how=how, on_confirmation=on_confirmation)
        assert "1" == played(question="?").answer
    assert not [mark for mark in effects.seen if mark.startswith("/")]


def test_who_is_asked_on_the_spot_may_pause_after_all(effects: Effects) -> None:
    def on_confirmation(stop: ConfirmationRequired) -> Any:
        raise stop

    played = MAKERS["text"](effects, on_confirmation=on_confirmation)
    stop = pause(played)
    assert {stop.confirmation_id} == set(stop.state.confirmations)
    played.agent = MAKERS["text"](effects).agent
    assert "1" == played.resume(True, stop.state).answer


def test_what_is_no_decision_leaves_with_the_state(effects: Effects) -> None:
    played = MAKERS["text"](effects, on_confirmation=lambda stop: None)
    with pytest.raises(TypeError, match="None is no decision") as error:
        played(question="?")
    played.agent = MAKERS["text"](effects).agent
    assert "1" == played.resume(True, error.value.state).answer  # type: ignore[attr-defined]


def test_a_persons_time_does_not_count_against_the_limits(effects: Effects) -> None:
    import time

    def on_confirmation(stop: ConfirmationRequired) -> bool:
        time.sleep(0.3)
        return True

    played = MAKERS["text"](effects, on_confirmation=on_confirmation, limits=reasonact.Limits(seconds=0.25))
    prediction = played(question="?")
    assert ("submit", True) == (prediction.termination_reason, prediction.usage.seconds < 0.25)


# Asking for clarification


@pytest.mark.parametrize("make", [react, react_v2])
def test_a_clarification_is_offered_only_where_it_is_switched_on(make: Any) -> None:
    assert "user_clarification" not in make([]).agent.tools
    agent = make([], ask_user=True).agent
    assert "user_clarification" == list(agent.tools)[-2]
    with pytest.raises(ValueError, match="'user_clarification', which the agent keeps for itself"):
        make([], [reasonact.Tool(lambda question: "", name="user_clarification")], ask_user=True)
    assert make([], [reasonact.Tool(lambda question: "", name="user_clarification")]).agent.tools


@pytest.mark.parametrize(
    ("decision", "told", "is_error"),
    [
        (Answer("the left one"), "the left one", False),
        ("the left one", "the left one", False),
        ("yes", "yes", False),
        (Reject("ask later"), "The person refused this call: ask later.", True),
        (False, "The person refused this call.", True),
    ],
)
def test_a_clarification_is_answered_in_words(decision: Any, told: str, is_error: bool) -> None:
    played = react_v2([turn("a", ("user_clarification", {"question": "Which?"})), submit(answer="1")], ask_user=True)
    stop = pause(played)
    assert "Which?" == stop.question
    result = results(played.resume(decision, stop.state).history)[0]
    assert (told, is_error) == (result.value, result.is_error)


def test_a_clarification_is_not_approved() -> None:
    played = react_v2([turn("a", ("user_clarification", {"question": "Which?"}))], ask_user=True)
    stop = pause(played)
    for wrong in (Approve(), True):
        with pytest.raises(TypeError, match="Answer"):
            played.resume(wrong, stop.state)


def test_a_clarification_without_a_question_is_an_error_result() -> None:
    played = react_v2([turn("a", ("user_clarification", {})), submit(answer="1")], ask_user=True)
    assert "argument 'question' is missing" in results(played(question="?").history)[0].value


# udspy's form


@BOTH
@pytest.mark.parametrize("how", ["sync", "async"])
def test_the_same_call_again_goes_on_after_a_response(kind: str, how: str, effects: Effects) -> None:
    played = MAKERS[kind](effects, how=how)
    stop = pause(played)
    respond_to_confirmation(stop.confirmation_id, approved=True)
    assert "1" == played(question="?").answer
    assert (1, 1) == (effects.seen.count("n"), effects.seen.count("/x*1"))
    assert {"delete", "note"} <= {item.name for item in stop.state.pending.calls} | {"note"}


RESPONSES: list[tuple[dict[str, Any], str]] = [
    ({}, "deleted /x"),
    ({"approved": True, "data": {"path": "/y"}}, "deleted /y"),
    ({"status": "edited", "data": {"path": "/y"}}, "deleted /y"),
    ({"approved": False}, "The person refused this call."),
    ({"approved": False, "status": "rejected"}, "The person refused this call."),
    ({"status": "rejected", "data": {"reason": "no"}}, "The person refused this call: no."),
    ({"status": "feedback", "data": {"feedback": "try /z"}}, "The person refused this call: try /z."),
    ({"approved": False, "status": "approved"}, "deleted /x"),
]


@pytest.mark.parametrize(("response", "told"), RESPONSES)
def test_every_status_does_what_it_says(response: dict[str, Any], told: str, effects: Effects) -> None:
    played = MAKERS["text"](effects)
    respond_to_confirmation(pause(played).confirmation_id, **response)
    assert told == results(played(question="?").history)[1].value


def test_edited_arguments_that_do_not_fit_are_refused_at_once_and_the_run_still_waits(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    with pytest.raises(ValueError, match="does not fit the tool delete"):
        respond_to_confirmation(stop.confirmation_id, data={"where": "/y"})
    respond_to_confirmation(stop.confirmation_id, data={"path": "/y"})
    assert "deleted /y" == results(played(question="?").history)[1].value


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"status": "edited"}, ValueError),
        ({"data": '{"path": "/y"}'}, ValueError),
        ({"status": "edited", "data": "rm nothing"}, ValueError),
        ({"data": [1]}, TypeError),
        ({"status": "feedback", "data": 3}, TypeError),
        ({"approved": "no"}, TypeError),
        ({"approved": 1}, TypeError),
    ],
)
def test_a_response_that_means_nothing_certain_approves_nothing(
    response: dict[str, Any], error: type[Exception], effects: Effects
) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    with pytest.raises(error):
        respond_to_confirmation(stop.confirmation_id, **response)
    respond_to_confirmation(stop.confirmation_id, approved=False)
    assert "The person refused this call." == results(played(question="?").history)[1].value


@pytest.mark.parametrize("args", [[1], "x", 3])
def test_an_approval_with_arguments_that_are_no_dict_is_refused_where_it_is_made(args: Any) -> None:
    with pytest.raises(TypeError, match="takes arguments by name"):
        Approve(args=args)


def test_words_answer_a_clarification() -> None:
    for data in ("left", {"answer": "left"}, {"feedback": "left"}):
        played = react_v2(
            [turn("a", ("user_clarification", {"question": "Which?"})), submit(answer="1")], ask_user=True
        )
        respond_to_confirmation(pause(played).confirmation_id, data=data)
        assert "left" == results(played(question="?").history)[0].value


def test_a_response_can_be_taken_back(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    respond_to_confirmation(stop.confirmation_id)
    respond_to_confirmation(stop.confirmation_id, status="pending")
    played.lm = MAKERS["text"](effects).lm
    assert stop.confirmation_id != pause(played).confirmation_id


def test_a_call_that_asks_something_else_or_another_agent_begins_anew(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    respond_to_confirmation(stop.confirmation_id)
    played.lm = MAKERS["text"](effects).lm
    assert stop.confirmation_id != pause(played, question="another?").confirmation_id
    assert stop.confirmation_id != pause(MAKERS["text"](effects)).confirmation_id
    played.lm = MAKERS["text"](effects).lm
    effects.seen.clear()
    played.lm = react_v2([submit(answer="went on")]).lm
    assert "went on" == played(question="?").answer
    assert ["/x*1", "m"] == effects.seen


def test_a_response_to_nothing_and_an_unknown_status_are_refused(effects: Effects) -> None:
    with pytest.raises(ValueError, match="no run of this process waits for the confirmation 'nothing'"):
        respond_to_confirmation("nothing")
    stop = pause(MAKERS["text"](effects))
    with pytest.raises(ValueError, match="status is"):
        respond_to_confirmation(stop.confirmation_id, status="maybe")  # type: ignore[arg-type]


def test_a_run_that_went_on_by_its_state_waits_no_more(effects: Effects) -> None:
    played = MAKERS["text"](effects)
    stop = pause(played)
    played.resume(True, stop.state)
    with pytest.raises(ValueError, match="no run of this process waits"):
        respond_to_confirmation(stop.confirmation_id)


def test_the_table_of_paused_runs_is_bounded(effects: Effects) -> None:
    def model(messages: list[Any], options: dict[str, Any]) -> str:
        return turn("a", ("delete", {"path": "/x"}))

    played = react_v2(model, effects.tools)  # type: ignore[arg-type]
    oldest = pause(played)
    for _ in range(1000):
        pause(played)
    with pytest.raises(ValueError, match="no run of this process waits"):
        respond_to_confirmation(oldest.confirmation_id)


def test_a_pause_inside_an_agent_that_serves_as_a_tool_is_answered_by_its_id(effects: Effects) -> None:
    inner = MAKERS["text"](effects)

    def ask_inner(question: str) -> str:
        with reasonact.context(lm=inner.lm):
            return str(inner.agent(question=question).answer)

    outer = react([step("a", "ask_inner", question="in?"), step("b", "finish"), extracted(answer="out")], [ask_inner])
    stop = pause(outer)
    respond_to_confirmation(stop.confirmation_id)
    prediction = outer(question="?")
    assert ("out", "1") == (prediction.answer, prediction.trajectory["observation_0"])
    assert (1, 1) == (effects.seen.count("n"), effects.seen.count("/x*1"))


def test_edited_arguments_of_a_call_within_are_not_held_to_a_tool_of_the_same_name_without(effects: Effects) -> None:
    inner = MAKERS["text"](effects)

    def delete(question: str) -> str:
        with reasonact.context(lm=inner.lm):
            return str(inner.agent(question=question).answer)

    outer = react([step("a", "delete", question="in?"), step("b", "finish"), extracted(answer="out")], [delete])
    respond_to_confirmation(pause(outer).confirmation_id, data={"path": "/y"})
    assert "1" == outer(question="?").trajectory["observation_0"]
    assert ["n", "/y*1"] == effects.seen[:2]


def test_inputs_that_cannot_be_compared_match_by_identity(effects: Effects) -> None:
    class Array:
        def __eq__(self, other: object) -> Any:
            raise ValueError("the truth value of an array is ambiguous")

        __hash__ = None  # type: ignore[assignment]

    array = Array()
    played = MAKERS["text"](effects)
    stop = pause(played, question=array)
    respond_to_confirmation(stop.confirmation_id)
    fresh = MAKERS["text"](effects).lm
    script, played.lm = played.lm, fresh
    assert stop.confirmation_id != pause(played, question=Array()).confirmation_id
    played.lm = script
    assert "1" == played(question=array).answer


def test_a_paused_run_is_forgotten_with_its_agent(effects: Effects) -> None:
    class Thing:
        def __str__(self) -> str:
            return "a thing"

    thing = Thing()
    with pytest.raises(ConfirmationRequired):
        MAKERS["text"](effects)(question=thing)
    held = weakref.ref(thing)
    del thing
    gc.collect()
    pause(MAKERS["text"](effects))  # the table is looked through when a run is put into it
    gc.collect()
    assert held() is None
