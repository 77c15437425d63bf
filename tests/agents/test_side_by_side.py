"""Several calls of a turn, several runs of an agent, several threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_scripts import calls, extracted, look_up, native, react, react_v2, results, step, submit, turn

import reasonact
from reasonact.runtime.events import (
    RunFinished,
    RunStarted,
    ThoughtText,
    ToolCalled,
    ToolReturned,
    TurnFinished,
    listening,
)
from reasonact.testing import ScriptedLM


def five(name: str) -> list[Any]:
    return [turn("a", *((name, {"number": i}) for i in range(5))), submit(answer="1")]


class Gate:
    """Opens when so many are in at once: whoever waits here is never alone."""

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count, timeout=10)
        self.inside = self.most = 0
        self.event: asyncio.Event | None = None

    def sync(self, number: int) -> int:
        self.barrier.wait()
        return number

    async def tasks(self, number: int) -> int:
        self.event = self.event or asyncio.Event()
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == self.barrier.parties:
            self.event.set()
        await asyncio.wait_for(self.event.wait(), 10)
        return number


@pytest.mark.parametrize("how", ["sync", "async"])
def test_calls_of_a_turn_run_side_by_side_and_results_stand_in_call_order(how: str) -> None:
    tool = reasonact.Tool(Gate(5).sync, name="gate")
    prediction = react_v2(five("gate"), [tool], how=how, parallel_tools=5)(question="?")
    assert list(range(5)) == [item.value for item in results(prediction.history)[:5]]


def test_async_calls_of_a_turn_run_as_tasks() -> None:
    gate = Gate(5)
    tool = reasonact.Tool(gate.tasks, name="gate")
    prediction = react_v2(five("gate"), [tool], how="async", parallel_tools=5)(question="?")
    assert (list(range(5)), 5) == ([item.value for item in results(prediction.history)[:5]], gate.most)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_by_default_one_call_runs_after_the_other(how: str) -> None:
    inside: list[int] = []

    def alone(number: int) -> int:
        inside.append(number)
        assert 1 == len(inside)
        inside.remove(number)
        return number

    prediction = react_v2(five("alone"), [alone], how=how)(question="?")
    assert list(range(5)) == [item.value for item in results(prediction.history)[:5]]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_one_failure_loses_no_sibling(how: str) -> None:
    def odd(number: int) -> int:
        if number == 2:
            raise RuntimeError("two")
        return number

    prediction = react_v2(five("odd"), [odd], how=how, parallel_tools=5)(question="?")
    assert [0, 1, "odd: RuntimeError: two", 3, 4] == [item.value for item in results(prediction.history)[:5]]
    assert [False, False, True, False, False] == [item.is_error for item in results(prediction.history)[:5]]


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_sequential_tool_is_a_barrier(how: str) -> None:
    order: list[str] = []
    lock = threading.Lock()
    gate = threading.Barrier(2, timeout=10)

    def pair(number: int) -> int:
        gate.wait()
        with lock:
            order.append("pair")
        return number

    def alone() -> str:
        order.append("alone")
        return "alone"

    script = [
        turn(
            "a",
            ("pair", {"number": 0}),
            ("pair", {"number": 1}),
            ("alone", {}),
            *(("pair", {"number": i}) for i in (2, 3)),
        ),
        submit(answer="1"),
    ]
    tools = [pair, reasonact.Tool(alone, sequential=True)]
    prediction = react_v2(script, tools, how=how, parallel_tools=4)(question="?")
    assert ["pair", "pair", "alone", "pair", "pair"] == order
    assert [0, 1, "alone", 2, 3] == [item.value for item in results(prediction.history)[:5]]


WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


def test_a_sync_tool_under_acall_runs_in_a_thread_with_the_callers_context() -> None:
    seen: list[tuple[str, bool]] = []

    def who() -> str:
        seen.append((WHO.get(), threading.current_thread() is threading.main_thread()))
        return "x"

    for sync_tools, main in (("thread", False), ("inline", True)):
        token = WHO.set("me")
        react_v2([turn("a", ("who", {})), submit(answer="1")], [who], how="async", sync_tools=sync_tools)(question="?")
        WHO.reset(token)
        assert ("me", main) == seen[-1]


def test_a_blocking_tool_leaves_the_event_loop_free() -> None:
    beats = threading.Event()

    def block() -> str:
        assert beats.wait(10)
        return "x"

    played = react_v2([turn("a", ("block", {})), submit(answer="1")], [block])

    async def main() -> Any:
        with reasonact.context(lm=played.lm):
            run = asyncio.ensure_future(played.agent.acall(question="?"))
            await asyncio.sleep(0.01)
            beats.set()  # only a free loop comes here
            return await run

    assert "1" == asyncio.run(main()).answer


@pytest.mark.parametrize("how", ["sync", "in a loop"])
def test_an_async_tool_in_sync_code_needs_the_setting(how: str) -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    for allowed, expected in (
        (True, "later"),
        (False, "later: ValueError: later is async and was called from sync code"),
    ):
        with reasonact.context(allow_tool_async_sync_conversion=allowed):
            prediction = react_v2([turn("a", ("later", {})), submit(answer="1")], [later], how=how)(question="?")
        assert results(prediction.history)[0].value.startswith(expected)


# Many runs of one agent


def echo(number: int) -> int:
    """Give a number back."""
    return number


def answering(kind: str) -> Any:
    """A model whose replies depend on the request alone, so that runs may be mixed in any way."""

    def model(messages: list[Any], options: dict[str, Any]) -> Any:
        number = int(messages[1]["content"].split("number ")[1].split("\n")[0])
        content = messages[1]["content"]
        if kind == "react":
            if "next_tool_name" not in messages[0]["content"]:
                return extracted(answer=f"{number} after {content.count('## observation_')}")
            seen = content.count("## thought_")
            return step(f"t{seen}", "echo", number=number + seen) if seen < 4 else step("end", "finish")
        seen = sum(1 for m in messages if m["role"] == "assistant")
        if kind == "native":
            call = (
                ("same", "echo", {"number": number + seen})
                if seen < 4
                else ("same", "submit", {"answer": f"{number} after {seen}"})
            )
            return native(f"t{seen}", call)
        return (
            turn(f"t{seen}", ("echo", {"number": number + seen}))
            if seen < 4
            else submit(answer=f"{number} after {seen}")
        )

    return model


def check(number: int, prediction: Any) -> None:
    assert prediction.answer.startswith(f"{number} after ")
    assert [number + i for i in range(4)] == [item.value for item in results(prediction.history) if item.name == "echo"]
    assert len(calls(prediction.history)) == len({item.id for item in calls(prediction.history)})
    assert 4 == prediction.usage.tool_calls


@pytest.mark.parametrize("kind", ["react", "text", "native"])
def test_one_agent_serves_two_hundred_async_runs_and_thirty_two_threads(kind: str) -> None:
    make = reasonact.ReAct if kind == "react" else reasonact.ReActV2
    agent = make("question -> answer", [echo])
    before = dict(vars(agent))
    lm = ScriptedLM(answering(kind), function_calling=kind == "native")
    adapter = reasonact.ChatAdapter(use_native_function_calling=kind == "native")

    async def many() -> list[Any]:
        return await asyncio.gather(*(agent.acall(question=f"number {i}") for i in range(200)))

    def one(number: int) -> Any:
        with reasonact.context(lm=lm, adapter=adapter):
            return agent(question=f"number {number}")

    with reasonact.context(lm=lm, adapter=adapter):
        for number, prediction in enumerate(asyncio.run(many())):
            check(number, prediction)
    with ThreadPoolExecutor(32) as pool:
        for number, prediction in enumerate(pool.map(one, range(128))):
            check(number, prediction)
    assert before.keys() == vars(agent).keys()
    assert all(value is vars(agent)[name] for name, value in before.items())


# Predictions and agents as objects


def test_a_prediction_is_copied_and_pickled_with_what_the_run_added() -> None:
    prediction = react([step("a", "finish"), extracted(answer="1")])(question="?")
    for twin in (
        copy.copy(prediction),
        copy.deepcopy(prediction),
        pickle.loads(pickle.dumps(prediction)),
        prediction.copy(),
    ):
        assert (prediction, "finish", 1) == (twin, twin.termination_reason, len(twin.history.messages))


def test_a_copied_agent_runs_like_the_first() -> None:
    agent = reasonact.ReActV2("question -> answer", [look_up], max_iters=3, ask_user=True)
    for twin in (copy.deepcopy(agent), agent.deepcopy(), pickle.loads(pickle.dumps(agent))):
        with reasonact.context(lm=ScriptedLM([turn("a", ("look_up", {"topic": "x"})), submit(answer="1")])):
            assert "1" == twin(question="?").answer


def test_events_tell_of_every_call_and_every_result_once() -> None:
    class Sink:
        def __init__(self) -> None:
            self.events: list[Any] = []

        def put(self, event: Any) -> None:
            self.events.append(event)

        async def aput(self, event: Any) -> None:
            self.events.append(event)

    guarded = reasonact.Tool(echo, require_confirmation=True)
    played = react_v2([turn("a", ("echo", {"number": 1}), ("nothing", {})), submit(answer="1")], [guarded])
    sink = Sink()
    with listening(sink):
        with pytest.raises(reasonact.ConfirmationRequired) as pause:
            played(question="?")
        assert [RunStarted, ThoughtText, ToolCalled, ToolCalled] == [type(event) for event in sink.events]
        sink.events.clear()
        played.resume(False, pause.value.state)
    turns = [ToolReturned, ToolReturned, TurnFinished, ThoughtText, ToolCalled, ToolReturned, TurnFinished]
    assert [RunStarted, *turns, RunFinished] == [type(event) for event in sink.events]
    assert [("echo", True), ("nothing", True), ("submit", False)] == [
        (event.name, event.is_error) for event in sink.events if isinstance(event, ToolReturned)
    ]


@pytest.mark.parametrize("make", [reasonact.ReAct, reasonact.ReActV2])
def test_looking_for_an_agents_parts_does_not_look_into_its_records(make: Any) -> None:
    class Record(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("a record was looked into")

    agent = make("question -> answer", [look_up])
    agent.history.append(Record(messages=[]))
    assert "react" == agent.named_predictors()[0][0]
    assert [agent] == [part for _, part in agent.named_sub_modules(make)]
