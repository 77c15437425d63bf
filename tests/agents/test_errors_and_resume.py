"""Work is never lost: what an exception carries, and how a run goes on from it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from agent_scripts import (
    Played,
    calls,
    extracted,
    full,
    left_by,
    look_up,
    native,
    react,
    react_v2,
    results,
    step,
    submit,
    turn,
)

import reasonact
from reasonact.testing import ScriptedLM

LOOK = ("look_up", {"topic": "tides"})


class Down(reasonact.LMServerError):
    """The provider is away."""


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def act(ran: list[str]) -> Any:
    def act(topic: str) -> str:
        """Do something that must happen once."""
        ran.append(topic)
        return f"did {topic}"

    return act


def stored(state: reasonact.RunState) -> reasonact.RunState:
    """A state as another process would read it."""
    return reasonact.RunState.from_json(state.to_json())


@pytest.mark.parametrize("through", [lambda state: state, stored], ids=["in process", "stored"])
@pytest.mark.parametrize("how", ["sync", "async"])
def test_react_goes_on_at_the_turn_where_the_model_failed(how: str, through: Any, act: Any, ran: list[str]) -> None:
    played = react(
        [step("a", "act", topic="x"), Down("away"), step("b", "finish"), extracted(answer="1")], [act], how=how
    )
    with pytest.raises(Down) as error:
        played(question="?")
    assert "did x" == error.value.trajectory["observation_0"]  # type: ignore[attr-defined]
    assert ["did x"] == [item.value for item in results(error.value.history)]  # type: ignore[attr-defined]
    prediction = played.resume(through(error.value.state))  # type: ignore[attr-defined]
    assert ("1", "finish", ["x"]) == (prediction.answer, prediction.termination_reason, ran)
    assert ["thought_0", "thought_1"] == [key for key in prediction.trajectory if key.startswith("thought")]
    assert 3 == prediction.usage.calls


@pytest.mark.parametrize("through", [lambda state: state, stored], ids=["in process", "stored"])
@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_failing_extractor_is_raised_and_resuming_runs_it_alone(
    how: str, through: Any, act: Any, ran: list[str]
) -> None:
    played = react(
        [step("a", "act", topic="x"), step("b", "finish"), "no form", "no form", extracted(answer="1")], [act], how=how
    )
    with pytest.raises(reasonact.AdapterParseError) as error:
        played(question="?")
    assert 8 == len(error.value.trajectory)  # type: ignore[attr-defined]
    before = len(played.lm.requests)
    prediction = played.resume(through(error.value.state))  # type: ignore[attr-defined]
    assert ("1", ["x"], 1) == (prediction.answer, ran, len(played.lm.requests) - before)


@pytest.mark.parametrize("is_native", [False, True])
@pytest.mark.parametrize("through", [lambda state: state, stored], ids=["in process", "stored"])
@pytest.mark.parametrize("how", ["sync", "async"])
def test_react_v2_goes_on_with_the_same_request(
    how: str, through: Any, is_native: bool, act: Any, ran: list[str]
) -> None:
    script: list[Any] = [turn("a", ("act", {"topic": "x"})), Down("away"), submit(answer="1")]
    if is_native:
        script = [native("a", ("i", "act", {"topic": "x"})), Down("away"), native("", ("s", "submit", {"answer": "1"}))]
    played = react_v2(script, [act], how=how, native=is_native)
    with pytest.raises(Down) as error:
        played(question="?")
    prediction = played.resume(through(error.value.state))  # type: ignore[attr-defined]
    assert ("1", "submit", ["x"]) == (prediction.answer, prediction.termination_reason, ran)
    assert json.dumps(played.lm.requests[1].messages) == json.dumps(played.lm.requests[2].messages)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_failing_forced_submit_is_resumed_as_such(how: str, act: Any, ran: list[str]) -> None:
    played = react_v2(
        [turn("a", ("act", {"topic": "x"})), Down("away"), submit(answer="1")], [act], how=how, max_iters=1
    )
    with pytest.raises(Down) as error:
        played(question="?")
    assert "close" == error.value.state.phase  # type: ignore[attr-defined]
    prediction = played.resume(stored(error.value.state))  # type: ignore[attr-defined]
    assert ("1", "forced_submit", ["x"]) == (prediction.answer, prediction.termination_reason, ran)
    assert "call_1_0" == calls(prediction.history)[-1].id


def test_a_state_can_be_gone_on_with_more_than_once(act: Any) -> None:
    played = react(
        [
            *(step("a", "act", topic="x"), Down("away"), step("b", "finish"), extracted(answer="1")),
            *(step("c", "act", topic="y"), step("b", "finish"), extracted(answer="2")),
        ],
        [act],
    )
    with pytest.raises(Down) as error:
        played(question="?")
    state = error.value.state  # type: ignore[attr-defined]
    one = played.resume(state)
    two = played.resume(state)
    assert (("1", 8), ("2", 12)) == ((one.answer, len(one.trajectory)), (two.answer, len(two.trajectory)))
    assert 4 == len(state.trajectory)


def test_a_run_that_fails_again_can_be_resumed_again(act: Any, ran: list[str]) -> None:
    played = react_v2(
        [
            turn("a", ("act", {"topic": "x"})),
            Down("1"),
            Down("2"),
            turn("b", ("act", {"topic": "y"})),
            Down("3"),
            submit(answer="1"),
        ],
        [act],
    )
    state: Any = None
    for _ in range(3):
        with pytest.raises(Down) as error:
            played(question="?") if state is None else played.resume(state)
        state = stored(error.value.state)  # type: ignore[attr-defined]
    assert ("1", ["x", "y"]) == (played.resume(state).answer, ran)


@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt, SystemExit, reasonact.LMAuthError])
@pytest.mark.parametrize("make", [react, react_v2])
def test_every_exception_of_the_model_leaves_as_itself_with_the_state(make: Any, kind: type[BaseException]) -> None:
    first = step("a", *["look_up"], topic="x") if make is react else turn("a", LOOK)
    with pytest.raises(kind) as error:
        make([first, kind("stop")])(question="?")
    assert type(error.value) is kind
    assert 1 == error.value.state.turn  # type: ignore[attr-defined]
    assert 1 == len(results(error.value.history))  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_tool_leaves_with_what_its_siblings_gave(
    kind: type[BaseException], act: Any, ran: list[str]
) -> None:
    once = [kind()]

    def stop() -> str:
        if once:
            raise once.pop()
        return "went on"

    played = react_v2(
        [turn("a", ("act", {"topic": "x"}), ("stop", {}), ("act", {"topic": "y"})), submit(answer="1")], [act, stop]
    )
    with pytest.raises(kind) as error:
        played(question="?")
    assert ["x"] == ran
    assert {"call_0_0"} == set(error.value.state.pending.settled)  # type: ignore[attr-defined]
    prediction = played.resume(stored(error.value.state))  # type: ignore[attr-defined]
    assert ["did x", "went on", "did y"] == [item.value for item in results(prediction.history)[:3]]
    assert ["x", "y"] == ran


def test_cancelling_the_run_reaches_a_running_async_tool_and_keeps_its_siblings(act: Any, ran: list[str]) -> None:
    seen: list[str] = []

    async def wait() -> str:
        if seen:
            return "waited"
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "never"

    played = react_v2(
        [turn("a", ("act", {"topic": "x"}), ("wait", {})), submit(answer="1")],
        [act, wait],
        how="async",
        parallel_tools=2,
    )

    async def main() -> tuple[BaseException, float]:
        with reasonact.context(lm=played.lm):
            task = asyncio.ensure_future(played.agent.acall(question="?"))
            while not ran:
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.01)
            began = time.monotonic()
            task.cancel()
            try:
                await task
            except asyncio.CancelledError as error:
                return error, time.monotonic() - began
            raise AssertionError("the run was not cancelled")

    error, took = asyncio.run(main())
    assert (["cancelled"], True) == (seen, took < 1)
    prediction = played.resume(stored(left_by(error).state))
    assert (["x"], ["did x", "waited"]) == (ran, [item.value for item in results(prediction.history)[:2]])


def test_a_cancellation_that_a_tool_raises_of_itself_is_an_error_result() -> None:
    async def gives_up() -> str:
        raise asyncio.CancelledError

    played = react_v2([turn("a", ("gives_up", {})), submit(answer="1")], [gives_up], how="async")
    prediction = played(question="?")
    assert (True, "gives_up: CancelledError") == (
        results(prediction.history)[0].is_error,
        results(prediction.history)[0].value,
    )


@pytest.mark.parametrize("make", [react, react_v2])
def test_control_flow_always_leaves_the_loop(make: Any) -> None:
    class Stop(reasonact.ControlFlow):
        pass

    class Foreign(Exception):
        pass

    def tool(which: str) -> str:
        raise Stop("now") if which == "ours" else Foreign("now")

    def script(which: str) -> list[Any]:
        return [step("a", "tool", which=which) if make is react else turn("a", ("tool", {"which": which}))]

    with pytest.raises(Stop) as error:
        make(script("ours"), [tool])(question="?")
    assert "tool" == error.value.state.pending.calls[0].name  # type: ignore[attr-defined]
    with reasonact.context(control_flow=(Foreign,)), pytest.raises(Foreign):
        make(script("theirs"), [tool])(question="?")
    with pytest.raises(AssertionError, match="script has 1 replies"):
        make(script("theirs"), [tool])(question="?")


def test_a_tool_may_say_that_its_failure_leaves_the_loop(ran: list[str]) -> None:
    def act(topic: str) -> str:
        ran.append(topic)
        if len(ran) == 1:
            raise RuntimeError("no")
        return "did it"

    played = react_v2([turn("a", ("act", {"topic": "x"})), submit(answer="1")], [reasonact.Tool(act, on_error="raise")])
    with pytest.raises(RuntimeError) as error:
        played(question="?")
    assert "1" == played.resume(stored(error.value.state)).answer  # type: ignore[attr-defined]
    assert ["x", "x"] == ran


# What resume refuses


def paused(make: Any = react_v2) -> tuple[Played, Any]:
    first = step("a", "look_up", topic="x") if make is react else turn("a", LOOK)
    played = make([first, Down("away"), submit(answer="1")])
    with pytest.raises(Down) as error:
        played(question="?")
    return played, error.value.state  # type: ignore[attr-defined]


def test_a_state_of_the_other_agent_is_refused() -> None:
    _, state = paused(react)
    with pytest.raises(ValueError, match="belongs to a trajectory agent; ReActV2 is a structured one"):
        react_v2([]).resume(state)


def test_swapped_arguments_and_things_that_are_no_state_are_refused() -> None:
    played, state = paused()
    with pytest.raises(TypeError, match="swapped"):
        played.resume(state, reasonact.Approve())
    for wrong in ((True, None), ("yes",), (True, {"turn": 1})):
        with pytest.raises(TypeError, match="wants a RunState as its second argument"):
            played.resume(*wrong)


def test_a_decision_for_a_run_that_waits_for_none_is_refused() -> None:
    played, state = paused()
    with pytest.raises(ValueError, match="waits for no decision"):
        played.resume(True, state)


def test_a_run_with_tools_of_its_call_needs_them_again() -> None:
    def extra() -> str:
        return "extra"

    played = react_v2([turn("a", ("extra", {})), Down("away"), turn("b", ("extra", {})), submit(answer="1")])
    with pytest.raises(Down) as error:
        played(question="?", tools=[extra])
    state = stored(error.value.state)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"tools of its own.*: extra; pass them again"):
        played.resume(state)
    prediction = played.resume(state, tools=[extra])
    assert ["extra", "extra"] == [item.value for item in results(prediction.history)[:2]]


# The stored form


def test_a_state_is_the_same_after_json() -> None:
    for make in (react, react_v2):
        _, state = paused(make)
        text = state.to_json()
        assert text == stored(state).to_json()
        assert 1 == json.loads(text)["reasonact_run_state"]


def test_an_input_that_json_cannot_hold_raises_and_is_named() -> None:
    played = react_v2([Down("away")], signature="question, handle -> answer")
    with pytest.raises(Down) as error:
        played(question="?", handle=threading.Lock())
    with pytest.raises(ValueError, match="input 'handle' is a lock that JSON cannot hold"):
        error.value.state.to_json()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no", "not JSON"),
        ("[]", "'reasonact_run_state' is missing"),
        ("{}", "'reasonact_run_state' is missing"),
        ('{"reasonact_run_state": 99}', "version 99"),
        ('{"reasonact_run_state": 1}', "incomplete or damaged"),
    ],
)
def test_what_is_no_state_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        reasonact.RunState.from_json(text)


def test_a_damaged_state_is_a_value_error_wherever_it_is_damaged() -> None:
    _, state = paused(react)
    data = json.loads(state.to_json())
    for name in data:
        for wrong in (3, "x", [1], {"a": 1}):
            damaged = json.dumps({**data, name: wrong})
            try:
                reasonact.RunState.from_json(damaged)
            except ValueError:
                pass


def test_a_state_holds_surrogates_that_no_file_can() -> None:
    played = react([step("a", "look_up", topic="x"), Down("away")])
    with pytest.raises(Down) as error:
        played(question="half \ud83d")
    error.value.state.to_json().encode("utf-8")  # type: ignore[attr-defined]
    assert "half \ud83d" == stored(error.value.state).inputs["question"]  # type: ignore[attr-defined]


def test_tool_values_and_inputs_keep_their_types_through_a_stored_state() -> None:
    import datetime

    signature = reasonact.make_signature(
        {"on": (datetime.date, reasonact.InputField()), "answer": (str, reasonact.OutputField())}
    )
    seen: list[Any] = []

    def call() -> reasonact.ToolCalls:
        return reasonact.ToolCalls.from_dict_list([{"id": "a", "name": "b", "args": {}}])

    played = react([step("a", "call"), Down("away"), step("b", "finish"), extracted(answer="1")], [call], signature)
    with pytest.raises(Down) as error:
        played(on=datetime.date(2024, 1, 2))
    prediction = played.resume(stored(error.value.state))  # type: ignore[attr-defined]
    assert call() == prediction.trajectory["observation_0"]
    assert datetime.date(2024, 1, 2) == prediction.history.messages[0]["on"]
    assert [] == seen
    assert json.dumps(played.lm.requests[1].messages) == json.dumps(played.lm.requests[2].messages)


def test_an_exception_that_has_no_room_for_the_state_leaves_as_itself() -> None:
    class Own(Exception):
        @property
        def state(self) -> str:
            return "liquid"

    with pytest.raises(Own) as error:
        react([Own()])(question="?")
    assert "liquid" == error.value.state


def test_a_shortened_view_is_kept_through_a_stored_state() -> None:
    class Summarising(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            return {"summary": "in short"}

    played = react([step("t0", "look_up", topic="x"), full(), Down("away"), step("b", "finish"), extracted(answer="1")])
    played.agent = Summarising("question -> answer", [look_up])
    with pytest.raises(Down) as error:
        played(question="?")
    prediction = played.resume(stored(error.value.state))  # type: ignore[attr-defined]
    assert 8 == len(prediction.trajectory)
    assert "in short" in played.lm.requests[3].messages[1]["content"]
    assert "t0" not in played.lm.requests[3].messages[1]["content"]


def test_the_lm_of_a_resumed_run_is_that_of_the_context() -> None:
    played, state = paused()
    played.lm = ScriptedLM([submit(answer="from another")])
    assert "from another" == played.resume(state).answer


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_an_interrupt_of_a_tool_leaves_the_event_loop_with_the_work_so_far(
    error: type[BaseException], is_async: bool
) -> None:
    def stop() -> str:
        raise error

    async def astop() -> str:
        raise error

    tool = reasonact.Tool(astop if is_async else stop, name="stop")
    lm = ScriptedLM([turn("Look.", ("look_up", {"topic": "x"})), turn("Stop.", ("stop", {}))])
    agent = reasonact.ReActV2("question -> answer", tools=[look_up, tool])
    with reasonact.context(lm=lm), pytest.raises(error) as raised:
        asyncio.run(agent.acall(question="?"))
    state: Any = getattr(raised.value, "state", None)
    assert ["Look."] == [event["next_thought"] for event in state.history.messages]
