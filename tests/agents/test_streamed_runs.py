"""Runs of agents and modules as streams of events, in every way to run and write them."""

from __future__ import annotations

import asyncio
import json

import pytest
from agent_scripts import extracted, fields, look_up, native, react, react_v2, step, submit, turn
from typing_lm import TypingLM

import reasonact
from reasonact.streaming import (
    OutputText,
    RunFinished,
    RunStarted,
    TextWithdrawn,
    ThoughtText,
    ToolCallDelta,
    ToolCalled,
    ToolReturned,
    TurnFinished,
)

WAYS = ("stream", "astream")
ADAPTERS = {
    "chat": lambda: reasonact.ChatAdapter(),
    "json": lambda: reasonact.JSONAdapter(use_native_function_calling=False),
    "xml": lambda: reasonact.XMLAdapter(),
    "native": lambda: reasonact.ChatAdapter(use_native_function_calling=True),
}


def play(module, replies, *, how="stream", size=3, adapter=None, function_calling=False, reasoning=False, **call):
    """The events of a run."""
    lm = TypingLM(replies, size=size, function_calling=function_calling, reasoning=reasoning)
    with reasonact.context(lm=lm, adapter=adapter):
        if how == "stream":
            return list(module.stream(**call))

        async def read():
            return [event async for event in module.astream(**call)]

        return asyncio.run(read())


def thoughts(events):
    """The thought of each turn, as its pieces add up."""
    said = {}
    for event in events:
        if isinstance(event, ThoughtText):
            said[event.turn] = said.get(event.turn, "") + event.text
        elif isinstance(event, TextWithdrawn) and event.field is None:
            said.pop(event.turn, None)
    return list(said.values())


def outputs(events):
    """The output fields, as their pieces add up; each has to be said to be complete, once."""
    said, done = {}, []
    for event in events:
        if isinstance(event, OutputText):
            assert event.field not in done
            said[event.field] = said.get(event.field, "") + event.text
            if event.done:
                done.append(event.field)
        elif isinstance(event, TextWithdrawn):
            for name in list(said) if event.field is None else [event.field]:
                said.pop(name, None)
                done = [other for other in done if other != name]
    assert done == list(said)
    return said


def arguments(events):
    """The arguments of each call as they came: turn, name and JSON."""
    said = {}
    for event in events:
        if isinstance(event, ToolCallDelta):
            key = (event.turn, event.index, event.name)
            said[key] = said.get(key, "") + event.text
    return [(turn, name, json.loads(text)) for (turn, _, name), text in said.items()]


def kinds(events):
    """The kinds of events, each run of one kind once."""
    names = [type(event).__name__ for event in events]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


def written(adapter, **values):
    """Fields in the form of an adapter."""
    if adapter == "json":
        return json.dumps(values)
    if adapter == "xml":
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
        return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in texts.items())
    return fields(**{name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()})


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("form", ["chat", "json", "xml"])
def test_react_tells_thoughts_arguments_results_and_outputs_as_they_come(form, how, size):
    agent = reasonact.ReAct("question -> answer", [look_up])
    replies = [
        written(form, next_thought="I look\nit up.", next_tool_name="look_up", next_tool_args={"topic": 'a "b"'}),
        written(form, next_thought="Enough.", next_tool_name="finish", next_tool_args={}),
        written(form, reasoning="From the steps.", answer="forty two"),
    ]
    events = play(agent, replies, how=how, size=size, adapter=ADAPTERS[form](), question="q")
    assert ["I look\nit up.", "Enough."] == thoughts(events)
    assert [(0, "look_up", {"topic": 'a "b"'}), (1, "finish", {})] == arguments(events)
    assert {"reasoning": "From the steps.", "answer": "forty two"} == outputs(events)
    assert [("look_up", '3 pages on a "b"'), ("finish", "Completed.")] == [
        (event.name, event.value) for event in events if isinstance(event, ToolReturned)
    ]
    turn_kinds = ["ThoughtText", "ToolCallDelta", "ToolCalled", "ToolReturned", "TurnFinished"]
    assert ["RunStarted", *turn_kinds, *turn_kinds, "OutputText", "RunFinished"] == kinds(events)
    assert events[-1].prediction.answer == "forty two"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("form", ADAPTERS)
def test_the_answer_of_the_structured_agent_comes_field_by_field_out_of_submit(form, how, size):
    agent = reasonact.ReActV2("question -> answer, count: int, items: list[str]", [look_up])
    final = {"answer": 'forty\n"two" é😀' + " and more" * 40, "count": 2, "items": ["a", "b"]}
    if form == "native":
        replies = [
            native("I look.", ("c1", "look_up", {"topic": "x"}), ("c2", "look_up", {"topic": "y"})),
            native("Done.", ("c3", "submit", final)),
        ]
    else:
        two = [{"name": "look_up", "args": {"topic": topic}} for topic in "xy"]
        replies = [
            written(form, next_thought="I look.", tool_calls={"tool_calls": two}),
            written(form, next_thought="Done.", tool_calls={"tool_calls": [{"name": "submit", "args": final}]}),
        ]
    events = play(
        agent, replies, how=how, size=size, adapter=ADAPTERS[form](), function_calling=form == "native", question="q"
    )
    assert ["I look.", "Done."] == thoughts(events)
    assert [(0, "look_up", {"topic": "x"}), (0, "look_up", {"topic": "y"})] == arguments(events)
    told = outputs(events)
    assert (final["answer"], 2, ["a", "b"]) == (
        told["answer"],
        json.loads(told["count"]),
        json.loads(told["items"]),
    )
    assert final == {name: events[-1].prediction[name] for name in final}
    if size == 1 and form != "xml":
        assert len([event for event in events if isinstance(event, OutputText) and event.field == "answer"]) > 5


def test_events_carry_turn_call_id_and_the_agent_that_reports():
    agent = reasonact.ReActV2("question -> answer", [look_up])
    replies = [native("a", ("c1", "look_up", {"topic": "x"})), native("b", ("c2", "submit", {"answer": "1"}))]
    events = play(agent, replies, adapter=ADAPTERS["native"](), function_calling=True, question="q")
    by_kind = {kind: [event for event in events if isinstance(event, kind)] for kind in (ToolCallDelta, ToolCalled)}
    assert {(0, "c1")} == {(event.turn, event.call_id) for event in by_kind[ToolCallDelta]}
    assert [(0, "c1"), (1, "c2")] == [(event.turn, event.call_id) for event in by_kind[ToolCalled]]
    assert all(event.source is agent for event in events)


def test_a_reasoning_that_comes_apart_is_told_as_the_thought():
    agent = reasonact.ReActV2("question -> answer", [look_up])
    calls = [{"id": "c1", "name": "submit", "args": {"answer": "1"}}]
    replies = [{"text": None, "reasoning_content": "I know it.", "tool_calls": calls}]
    events = play(agent, replies, adapter=ADAPTERS["native"](), function_calling=True, reasoning=True, question="q")
    assert ["I know it."] == thoughts(events)


@pytest.mark.parametrize("how", WAYS)
def test_outputs_that_do_not_fit_are_withdrawn_and_come_again(how):
    agent = reasonact.ReActV2("question -> answer, count: int", [look_up])
    replies = [turn("a", ("submit", {"answer": "first", "count": "many"})), submit(answer="second", count=2)]
    events = play(agent, replies, how=how, question="q")
    assert {("answer", 0), ("count", 0)} == {
        (event.field, event.turn) for event in events if isinstance(event, TextWithdrawn)
    }
    assert {"answer": "second", "count": "2"} == outputs(events)
    assert ["a", "Done."] == thoughts(events)


def test_what_the_next_adapter_asks_again_is_withdrawn():
    module = reasonact.Predict("question -> answer: int")
    replies = [fields(answer="many"), json.dumps({"answer": 2})]
    events = play(module, replies, question="q")
    assert ["RunStarted", "OutputText", "TextWithdrawn", "OutputText", "RunFinished"] == kinds(events)
    assert {"answer": "2"} == outputs(events)


def test_a_form_of_the_programs_own_is_told_when_it_is_read():
    class Shouting(reasonact.ChatAdapter):
        def parse(self, signature, completion):
            return {name: completion.upper() for name in signature.output_fields}

    events = play(reasonact.Predict("question -> answer"), ["yes"], adapter=Shouting(), question="q")
    assert {"answer": "YES"} == outputs(events)


def test_a_bad_step_keeps_the_thought_that_was_told():
    replies = [fields(next_thought="Hm."), fields(next_thought="Hm."), step("Ok.", "finish"), extracted(answer="1")]
    events = play(reasonact.ReAct("question -> answer", [look_up]), replies, question="q")
    assert ["Hm.", "Ok."] == thoughts(events)


def test_a_text_in_place_of_a_call_is_told_as_the_answer():
    agent = reasonact.ReActV2("question -> answer", [look_up], accept_text_answer=True)
    events = play(agent, ["It is forty two."], adapter=ADAPTERS["native"](), function_calling=True, question="q")
    assert "text_answer" == events[-1].prediction.termination_reason
    assert {"answer": "It is forty two."} == outputs(events)


def test_a_run_that_is_asked_to_submit_tells_its_outputs_too():
    agent = reasonact.ReActV2("question -> answer", [look_up], max_iters=1)
    events = play(agent, [turn("a", ("look_up", {"topic": "x"})), submit(answer="forced")], question="q")
    assert ("forced_submit", {"answer": "forced"}) == (events[-1].prediction.termination_reason, outputs(events))


@pytest.mark.parametrize("how", WAYS)
def test_one_argument_filters_by_kind_and_another_by_field(how):
    agent = reasonact.ReAct("question -> answer", [look_up])

    def run(**filters):
        return play(agent, [step("a", "finish"), extracted(answer="42")], how=how, question="q", **filters)

    assert ["ThoughtText"] == kinds(run(kinds=ThoughtText))
    assert ["ToolCalled", "TurnFinished"] == kinds(run(kinds=[ToolCalled, TurnFinished]))
    assert {"answer": "42"} == outputs(run(fields="answer"))
    assert ["OutputText"] == kinds(run(kinds=OutputText, fields=["answer", "reasoning"]))


@pytest.mark.parametrize("filters", [{"kinds": "OutputText"}, {"kinds": [1]}, {"fields": [1]}])
def test_a_filter_that_is_none_is_refused_at_the_call(filters):
    with pytest.raises(TypeError):
        reasonact.Predict("question -> answer").stream(question="q", **filters)


def test_an_input_of_a_filters_name_is_an_input():
    events = play(reasonact.Predict("kinds, fields -> answer"), [fields(answer="1")], kinds="a", fields="b")
    assert {"kinds": "a", "fields": "b"} == events[0].inputs


@pytest.mark.parametrize("how", WAYS)
def test_the_prediction_is_what_a_call_gives(how):
    script = [turn("a", ("look_up", {"topic": "x"})), submit(answer="42")]
    called = react_v2(script)(question="q")
    events = play(reasonact.ReActV2("question -> answer", [look_up]), script, how=how, question="q")
    assert called.toDict() == events[-1].prediction.toDict()
    assert (RunStarted("ReActV2", {"question": "q"}), events[-1].prediction) == (events[0], events[-1].prediction)


class Program(reasonact.Module):
    """Two predictors and an agent, in one of the ways to write a program."""

    def __init__(self):
        super().__init__()
        self.draft = reasonact.Predict("question -> draft")
        self.agent = reasonact.ReActV2("draft -> answer", [look_up])


class SyncProgram(Program):
    def forward(self, question):
        return self.agent(draft=self.draft(question=question).draft)


class AsyncProgram(Program):
    async def aforward(self, question):
        return await self.agent.acall(draft=(await self.draft.acall(question=question)).draft)


class InlineProgram(Program):
    async def aforward(self, question):
        return self.agent(draft=self.draft(question=question).draft)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("program", [SyncProgram, AsyncProgram, InlineProgram])
def test_a_program_of_ones_own_is_streamed_with_all_its_parts(program, how):
    module = program()
    events = play(module, [fields(draft="a draft"), submit(answer="42")], how=how, question="q")
    assert {"draft": "a draft", "answer": "42"} == outputs(events)
    assert [module, module.agent] == [event.source for event in events if isinstance(event, RunStarted)]
    assert [module.agent, module] == [event.source for event in events if isinstance(event, RunFinished)]
    assert {module.draft, module.agent} == {event.source for event in events if isinstance(event, OutputText)}


def test_an_agent_inside_a_tool_reports_as_itself():
    inner = reasonact.ReActV2("question -> answer", [look_up])

    def ask_inner(question: str) -> str:
        return inner(question=question).answer

    outer = reasonact.ReActV2("question -> answer", [ask_inner])
    script = [turn("out", ("ask_inner", {"question": "x"})), submit(answer="in"), submit(answer="42")]
    for how in WAYS:
        events = play(outer, script, how=how, question="q")
        told = [(event.source is inner, event.text) for event in events if isinstance(event, OutputText) and event.text]
        assert ("in", "42") == tuple("".join(text for of, text in told if of is whose) for whose in (True, False))


@pytest.mark.parametrize("how", WAYS)
def test_what_a_call_raises_comes_after_the_events_before_it(how):
    replies = [step("a", "look_up", topic="x"), reasonact.LMAuthError("no key")]
    agent, seen = reasonact.ReAct("question -> answer", [look_up]), []

    async def read():
        async for event in agent.astream(question="q"):
            seen.append(event)

    with reasonact.context(lm=TypingLM(replies)), pytest.raises(reasonact.LMAuthError) as caught:
        if how == "stream":
            for event in agent.stream(question="q"):
                seen.append(event)
        else:
            asyncio.run(read())
    assert "TurnFinished" == type(seen[-1]).__name__
    assert "look_up" == caught.value.trajectory["tool_name_0"]


async def test_leaving_the_loop_stops_a_running_async_tool():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait_long() -> str:
        """Wait."""
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "late"

    agent = reasonact.ReAct("question -> answer", [wait_long])
    with reasonact.context(lm=TypingLM([step("a", "wait_long")])):

        async def read():
            async for _ in agent.astream(question="q"):
                pass

        reader = asyncio.ensure_future(read())
        await begun.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(reader, 1)
        assert ended.is_set()


async def test_udspys_way_gives_chunks_and_then_the_prediction():
    agent = reasonact.ReAct("question -> answer", [look_up])
    with reasonact.context(lm=TypingLM([step("I know.", "finish"), extracted(answer="forty two")], size=4)):
        items = [item async for item in agent.aexecute(stream=True, question="q")]
    *chunks, prediction = items
    assert all(isinstance(chunk, reasonact.OutputStreamChunk) for chunk in chunks)
    by_field = {}
    for chunk in chunks:
        by_field.setdefault(chunk.field, []).append(chunk)
    assert "I know." + "From the steps." == "".join(chunk.delta for chunk in by_field["reasoning"])
    assert ("forty two", "forty two", True, "answer") == (
        "".join(chunk.delta for chunk in by_field["answer"]),
        by_field["answer"][-1].content,
        by_field["answer"][-1].is_complete,
        by_field["answer"][-1].field_name,
    )
    assert [True, True] == [chunk.is_complete for chunk in by_field["reasoning"] if chunk.is_complete]
    assert (reasonact.Prediction, "forty two") == (type(prediction).__mro__[1], prediction.answer)


async def test_udspys_way_without_a_stream_gives_the_prediction():
    with reasonact.context(lm=TypingLM([fields(answer="42")])):
        assert "42" == (await reasonact.Predict("question -> answer").aexecute(question="q")).answer


def test_nothing_is_streamed_where_nobody_listens():
    lm = TypingLM([step("a", "finish"), extracted(answer="42")])
    played = react([], how="sync")
    played.lm = lm
    assert "42" == played(question="q").answer
