"""Every kind of failure at every turn of a ten-turn run: the documented outcome, no result lost, no tool run twice."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from agent_scripts import extracted, full, left_by, native, results, step, submit, turn

import reasonact
from reasonact.testing import ScriptedLM

TURNS = 10
KINDS = ("react", "text", "native")


class Away(reasonact.LMServerError):
    """The provider is away."""


@dataclass
class World:
    """A model that plays ten turns by what it has seen, and does something wrong at one of them."""

    kind: str
    fault: str
    at: int
    happened: bool = False
    ran: list[int] = field(default_factory=list)
    requests: int = 0

    def act(self, number: int) -> str:
        """Do step `number`, which must happen once."""
        if self.fault == "tool exception" and number == self.at and not self.happened:
            self.happened = True
            raise RuntimeError("the tool is out of order")
        if self.fault == "interrupt in a tool" and number == self.at and not self.happened:
            self.happened = True
            raise KeyboardInterrupt
        self.ran.append(number)
        return f"did {number}"

    def model(self, messages: list[Any], options: dict[str, Any]) -> Any:
        self.requests += 1
        extracting = self.kind == "react" and "next_tool_name" not in messages[0]["content"]
        now = TURNS if extracting else min((n for n in range(TURNS) if n not in self.ran), default=TURNS)
        if now == self.at and not self.happened:
            wrong = self.wrong(now, extracting)
            if wrong is not None:
                return wrong
        if extracting:
            return extracted(answer="all done")
        return self.right(now, options)

    def wrong(self, now: int, extracting: bool) -> Any:
        self.happened = self.fault not in ("unparsable", "tool exception", "interrupt in a tool")
        if self.fault == "model error":
            raise Away("away")
        if self.fault == "interrupt":
            raise KeyboardInterrupt
        if self.fault == "cancellation":
            raise asyncio.CancelledError
        if self.fault == "overflow":
            raise full()
        if self.fault == "unparsable":
            # the second try of the same request, in another form, fails as well
            self.happened = self.second = hasattr(self, "second") or self.kind == "native"
            return "words" if not extracting else "no answer"
        if self.fault == "unknown tool" and not extracting:
            if self.kind == "react":
                self.happened = hasattr(self, "named")
                self.named = True
                return step("hm", "serch", number=now)
            return native("hm", ("u", "serch", {})) if self.kind == "native" else turn("hm", ("serch", {}))
        if self.fault == "repeated id" and self.kind == "native" and now < TURNS:
            return native("again", ("same", "act", {"number": now}))
        self.happened = False
        return None

    def right(self, now: int, options: dict[str, Any]) -> Any:
        forced = "tool_choice" in options or "reasoning_effort" in options
        if self.kind == "react":
            return step(f"t{now}", "act", number=now) if now < TURNS else step("end", "finish")
        if self.kind == "native":
            if now == TURNS or forced:
                return native("end", ("same", "submit", {"answer": "all done"}))
            return native(f"t{now}", ("same" if self.fault == "repeated id" else f"i{now}", "act", {"number": now}))
        return submit(answer="all done") if now == TURNS or forced else turn(f"t{now}", ("act", {"number": now}))


def agent_of(world: World, **options: Any) -> Any:
    make = reasonact.ReAct if world.kind == "react" else reasonact.ReActV2
    return make("question -> answer", [reasonact.Tool(world.act, name="act")], **options)


def run(world: World, agent: Any, how: str, state: Any = None) -> Any:
    adapter = reasonact.ChatAdapter(use_native_function_calling=world.kind == "native")
    with reasonact.context(lm=ScriptedLM(world.model, function_calling=world.kind == "native"), adapter=adapter):
        if how == "sync":
            return agent(question="?") if state is None else agent.resume(state)
        return asyncio.run(agent.acall(question="?") if state is None else agent.aresume(state))


def done(history: Any) -> list[str]:
    return [item.value for item in results(history) if item.name == "act" and not item.is_error]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "how"),
    # asyncio itself takes a KeyboardInterrupt out of the running task, so that one is for sync code
    [("model error", "sync"), ("model error", "async"), ("interrupt", "sync"), ("cancellation", "async")],
)
def test_what_is_raised_carries_all_results_and_resuming_comes_to_the_same_answer(
    fault: str, kind: str, how: str
) -> None:
    for at in range(TURNS + 1 + (kind == "react")):
        world = World(kind, fault, min(at, TURNS))
        if at > TURNS:
            world = _AtTheExtractor(kind, fault, TURNS)
        agent = agent_of(world)
        with pytest.raises(BaseException) as error:
            run(world, agent, how)
        expected = {"model error": Away, "interrupt": KeyboardInterrupt, "cancellation": asyncio.CancelledError}[fault]
        assert expected is type(error.value)
        raised = left_by(error.value)
        so_far = [f"did {number}" for number in range(min(at, TURNS))]
        assert so_far == done(raised.history)
        if kind == "react":
            assert so_far == [
                v for k, v in raised.trajectory.items() if k.startswith("observation") and v != "Completed."
            ]
        stored = reasonact.RunState.from_json(raised.state.to_json())
        prediction = run(world, agent, how, stored)
        assert "all done" == prediction.answer
        assert list(range(TURNS)) == world.ran
        assert [f"did {number}" for number in range(TURNS)] == done(prediction.history)


class _AtTheExtractor(World):
    """The fault comes with the extraction, after the loop."""

    def model(self, messages: list[Any], options: dict[str, Any]) -> Any:
        if "next_tool_name" in messages[0]["content"]:
            return self.right(min((n for n in range(TURNS) if n not in self.ran), default=TURNS), options)
        return super().model(messages, options)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_failing_extractor_costs_no_step(how: str) -> None:
    world = _AtTheExtractor("react", "unparsable", TURNS)
    agent = agent_of(world)
    with pytest.raises(reasonact.AdapterParseError) as error:
        run(world, agent, how)
    assert [f"did {number}" for number in range(TURNS)] == done(error.value.history)  # type: ignore[attr-defined]
    before = world.requests
    prediction = run(world, agent, how, error.value.state)  # type: ignore[attr-defined]
    assert ("all done", 1, list(range(TURNS))) == (prediction.answer, world.requests - before, world.ran)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["unparsable", "unknown tool", "tool exception", "overflow", "repeated id"])
def test_what_is_survived_loses_no_result_and_runs_no_tool_twice(fault: str, kind: str, how: str) -> None:
    for at in range(TURNS if fault != "overflow" else TURNS + 1):
        world = World(kind, fault, at)
        prediction = run(world, agent_of(world), how)
        assert world.happened or fault == "repeated id", (at, world)
        assert "all done" == prediction.answer, at
        assert len(set(world.ran)) == len(world.ran)
        assert [f"did {number}" for number in world.ran] == done(prediction.history), at
        ids = [item.call_id for item in results(prediction.history)]
        assert len(set(ids)) == len(ids)
        cut_short = fault == "overflow" and (kind != "react" or at < 2)
        cut_short = cut_short or (fault == "unparsable" and kind != "react")
        expected = list(range(at)) if cut_short else list(range(TURNS))
        assert expected == world.ran, at
        if kind != "react":
            assert ("forced_submit" if cut_short else "submit") == prediction.termination_reason
        else:
            assert ("context_window_exceeded" if cut_short else "finish") == prediction.termination_reason


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("kind", ["text", "native"])
@pytest.mark.parametrize("fault", ["unparsable", "overflow"])
def test_with_a_policy_for_it_react_v2_goes_on_after_what_would_end_it(fault: str, kind: str, how: str) -> None:
    for at in range(2, TURNS):
        world = World(kind, fault, at)
        agent = agent_of(world, max_bad_steps=1, on_overflow=reasonact.drop_oldest_turns)
        prediction = run(world, agent, how)
        assert ("submit", list(range(TURNS))) == (prediction.termination_reason, world.ran), at
        assert [f"did {number}" for number in range(TURNS)] == done(prediction.history)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_in_a_tool_leaves_the_others_done(kind: str) -> None:
    for at in range(TURNS):
        world = World(kind, "interrupt in a tool", at)
        agent = agent_of(world)
        with pytest.raises(KeyboardInterrupt) as error:
            run(world, agent, "sync")
        assert [f"did {number}" for number in range(at)] == done(error.value.history)  # type: ignore[attr-defined]
        stored = reasonact.RunState.from_json(error.value.state.to_json())  # type: ignore[attr-defined]
        prediction = run(world, agent, "sync", stored)
        assert ("all done", list(range(TURNS))) == (prediction.answer, world.ran)
