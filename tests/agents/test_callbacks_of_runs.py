"""What callbacks hear of whole runs: who called whom, what failed, what was cancelled."""

from __future__ import annotations

import asyncio

import pytest
from agent_scripts import extracted, look_up, step
from typing_lm import TypingLM

import reasonact
from reasonact.runtime.callbacks import ACTIVE_CALL_ID, BaseCallback


class Recorder(BaseCallback):
    """Every start and end, as (hook, call id, what)."""

    def __init__(self):
        self.parents = {}
        self.names = {}
        self.ends = {}

    def start(self, kind, call_id, instance):
        self.parents[call_id] = ACTIVE_CALL_ID.get()
        self.names[call_id] = f"{kind} {getattr(instance, 'name', type(instance).__name__)}"

    def end(self, call_id, outputs, exception):
        assert call_id not in self.ends
        self.ends[call_id] = (outputs, exception)

    def tree(self):
        """Who ran inside whom, in order of starting."""

        def below(parent):
            return [(self.names[call], below(call)) for call, of in self.parents.items() if of == parent]

        return below(None)

    def failures(self):
        """What each piece of work ended with, where it failed."""
        return {self.names[call]: type(error) for call, (_, error) in self.ends.items() if error is not None}


def hook(kind, ending):
    if ending == "start":
        return lambda self, call_id, instance, inputs: self.start(kind, call_id, instance)
    return lambda self, call_id, outputs, exception=None: self.end(call_id, outputs, exception)


for kind in ("module", "lm", "tool", "adapter_format", "adapter_parse"):
    for ending in ("start", "end"):
        setattr(Recorder, f"on_{kind}_{ending}", hook(kind, ending))

WAYS = ("call", "acall", "stream", "astream")


def run(agent, how, replies, *recorders):
    """Run an agent in one of four ways."""
    with reasonact.context(lm=TypingLM(replies), callbacks=list(recorders)):
        if how == "call":
            return agent(question="q")
        if how == "stream":
            return list(agent.stream(question="q"))[-1].prediction

        async def arun():
            if how == "acall":
                return await agent.acall(question="q")
            return [event async for event in agent.astream(question="q")][-1].prediction

        return asyncio.run(arun())


@pytest.mark.parametrize("how", WAYS)
def test_every_piece_of_work_knows_the_work_that_it_is_part_of(how):
    recorder = Recorder()
    run(
        reasonact.ReAct("question -> answer", [look_up]),
        how,
        [step("a", "look_up", topic="x"), step("b", "finish"), extracted(answer="42")],
        recorder,
    )
    asking = [("adapter_format ChatAdapter", []), ("lm TypingLM", []), ("adapter_parse ChatAdapter", [])]
    step_of_agent = ("module Predict", asking)
    assert [
        (
            "module ReAct",
            [
                step_of_agent,
                ("tool look_up", []),
                step_of_agent,
                ("tool finish", []),
                ("module ChainOfThought", [("module Predict", asking)]),
            ],
        )
    ] == recorder.tree()
    assert recorder.ends.keys() == recorder.parents.keys()
    assert {} == recorder.failures()


@pytest.mark.parametrize("how", WAYS)
def test_failed_work_reports_its_exception_at_every_level(how):
    recorder = Recorder()
    with pytest.raises(reasonact.LMAuthError):
        run(reasonact.ReAct("question -> answer", [look_up]), how, [reasonact.LMAuthError("no key")], recorder)
    failed = dict.fromkeys(["lm TypingLM", "module Predict", "module ReAct"], reasonact.LMAuthError)
    assert failed == recorder.failures()


@pytest.mark.parametrize("how", WAYS)
def test_a_tool_that_fails_is_reported_though_the_run_goes_on(how):
    def broken() -> str:
        """Break."""
        raise ZeroDivisionError("no")

    recorder = Recorder()
    replies = [step("a", "broken"), step("b", "finish"), extracted(answer="42")]
    assert "42" == run(reasonact.ReAct("question -> answer", [broken]), how, replies, recorder).answer
    assert {"tool broken": ZeroDivisionError} == recorder.failures()


@pytest.mark.parametrize("how", ["acall", "astream"])
async def test_cancelled_work_reports_that_it_was_cancelled(how):
    begun = asyncio.Event()

    async def wait_long() -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(60)
        return "late"

    agent, recorder = reasonact.ReAct("question -> answer", [wait_long]), Recorder()

    async def arun():
        if how == "acall":
            return await agent.acall(question="q")
        return [event async for event in agent.astream(question="q")]

    with reasonact.context(lm=TypingLM([step("a", "wait_long")]), callbacks=[recorder]):
        task = asyncio.ensure_future(arun())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)
    assert dict.fromkeys(["tool wait_long", "module ReAct"], asyncio.CancelledError) == recorder.failures()
    assert recorder.ends.keys() == recorder.parents.keys()


def test_a_stream_that_is_left_ends_all_that_had_begun():
    agent, recorder = reasonact.ReAct("question -> answer", [look_up]), Recorder()
    with reasonact.context(lm=TypingLM([step("a long thought", "finish")]), callbacks=[recorder]):
        for event in agent.stream(question="q"):
            if type(event).__name__ == "ThoughtText":
                break
    assert recorder.ends.keys() == recorder.parents.keys()
    assert {"lm TypingLM", "module Predict", "module ReAct"} == set(recorder.failures())


def test_callbacks_of_one_object_hear_of_it_alone():
    agent_ears, lm_ears = Recorder(), Recorder()
    agent = reasonact.ReAct("question -> answer", [look_up])
    agent.callbacks = [agent_ears]
    lm = TypingLM([step("a", "look_up", topic="x"), step("b", "finish"), extracted(answer="42")], callbacks=[lm_ears])
    with reasonact.context(lm=lm):
        agent(question="q")
    assert (["module ReAct"], ["lm TypingLM"] * 3) == (list(agent_ears.names.values()), list(lm_ears.names.values()))
