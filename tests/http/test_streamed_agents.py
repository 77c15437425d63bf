"""Agents streamed over real sockets: two providers' wire formats, the stand-in, breaks and early ends."""

import asyncio
import json
import logging

import pytest

import reasonact
from reasonact.demo.server import MODEL, StandInServer
from reasonact.errors import LMStreamAssemblyError
from reasonact.lm.litellm_client import LM
from reasonact.streaming import OutputText, RunFinished, ThoughtText, ToolCallDelta, ToolCalled, TurnFinished

ADAPTER = reasonact.ChatAdapter(use_native_function_calling=True)
PIECE = 6


def look_up(topic: str) -> str:
    """Find pages on a topic."""
    return f"3 pages on {topic}"


TURNS = [
    ("Let me look.", [("call_a", "look_up", {"topic": "cats"}), ("call_b", "look_up", {"topic": "dogs"})]),
    ("That is enough.", [("call_c", "submit", {"answer": 'cats "and"\ndogs', "count": 2})]),
]


def cut(text):
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def openai_stream(wire, text, calls):
    chunks = [wire.chunk({"role": "assistant", "content": ""})]
    chunks += [wire.chunk({"content": piece}) for piece in cut(text)]
    for index, (call_id, name, args) in enumerate(calls):
        opening = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        chunks.append(wire.chunk({"tool_calls": [opening]}))
        for piece in cut(json.dumps(args)):
            chunks.append(wire.chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    chunks.append(wire.chunk({}, finish_reason="tool_calls"))
    chunks.append(wire.chunk(usage={"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42}))
    return [wire.server_sent([one], done=False) for one in chunks] + [b"data: [DONE]\n\n"]


def anthropic_stream(wire, text, calls):
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 30, "output_tokens": 1},
    }
    events = [{"type": "message_start", "message": message}]

    def block(index, opening, deltas):
        events.append({"type": "content_block_start", "index": index, "content_block": opening})
        events.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})

    block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in cut(text)])
    for index, (call_id, name, args) in enumerate(calls, 1):
        pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in cut(json.dumps(args))]
        block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, pieces)
    events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}})
    events.append({"type": "message_stop"})
    return [wire.server_sent([one], done=False) for one in events]


MODELS = {"openai": "openai/gpt-4o-mini", "anthropic": "anthropic/claude-sonnet-4-5-20250929"}
STREAMS = {"openai": openai_stream, "anthropic": anthropic_stream}


def lm_for(provider, whose="openai", **options):
    base = provider.root if whose == "anthropic" else provider.url
    supports = {"function_calling": True, "reasoning": False}
    fixed = {"api_base": base, "api_key": "k", "cache": False, "num_retries": 0, "timeout": 10, "supports": supports}
    return LM(MODELS[whose], **{**fixed, **options})


def agent_for():
    return reasonact.ReActV2("question -> answer, count: int", [look_up])


def events_of(agent, lm, how, **call):
    with reasonact.context(lm=lm, adapter=ADAPTER):
        if how == "sync":
            return list(agent.stream(question="q", **call))

        async def read():
            return [event async for event in agent.astream(question="q", **call)]

        return asyncio.run(read())


@pytest.fixture(params=["sync", "async"])
def how(request):
    return request.param


def summed(events):
    """What the events say, however it was cut: text and arguments added up, usage by kind of token."""
    told = []
    for event in events:
        if isinstance(event, RunFinished):
            told.append(("finished", {name: event.prediction[name] for name in ("answer", "count")}))
            continue
        key, text = (type(event).__name__,), ""
        if isinstance(event, ThoughtText):
            key, text = ("thought", event.turn), event.text
        elif isinstance(event, OutputText):
            key, text = ("output", event.turn, event.field), event.text
        elif isinstance(event, ToolCallDelta):
            key, text = ("call", event.turn, event.index, event.call_id, event.name), event.text
        elif isinstance(event, TurnFinished):
            kinds = ("prompt_tokens", "completion_tokens", "total_tokens")
            key = ("turn", event.turn, tuple(event.usage[kind] for kind in kinds))
        elif isinstance(event, ToolCalled):
            key = ("called", event.turn, event.call_id, event.name, json.dumps(event.args))
        if told and told[-1][0] == key and text:
            told[-1] = (key, told[-1][1] + text)
        elif text or not isinstance(event, (ThoughtText, OutputText, ToolCallDelta)):
            told.append((key, text))
    return told


def test_two_providers_formats_give_the_same_events_and_the_same_usage(provider, wire, how):
    told = {}
    for whose, form in STREAMS.items():
        provider.says(*(wire.streamed(form(wire, *turn)) for turn in TURNS))
        events = events_of(agent_for(), lm_for(provider, whose), how)
        told[whose] = summed(events)
        usage = events[-1].prediction.usage
        assert (2, 0, 84, 2) == (usage.calls, usage.cached_calls, usage.total_tokens, usage.tool_calls)
        assert usage.cost_usd is not None and usage.cost_usd > 0
        assert [30, 30] == [turn["prompt_tokens"] for turn in usage.turns]
    assert told["openai"] == told["anthropic"]
    assert ("thought", 0) in dict(told["openai"])
    assert ('cats "and"\ndogs', "2") == tuple(dict(told["openai"])["output", 1, name] for name in ("answer", "count"))
    assert '{"topic": "dogs"}' == dict(told["openai"])["call", 0, 1, "call_b", "look_up"]


@pytest.mark.parametrize("whose", STREAMS)
def test_a_streamed_run_is_the_run_that_a_call_gives(provider, wire, how, whose):
    provider.says(*(wire.streamed(STREAMS[whose](wire, *turn)) for turn in TURNS))
    events = events_of(agent_for(), lm_for(provider, whose), how)
    if whose == "openai":
        calls = [
            [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
            for _, calls in TURNS
        ]
        whole = [wire.completion(text, tool_calls=made) for (text, _), made in zip(TURNS, calls, strict=True)]
        provider.says(*(wire.http(body) for body in whole))
        with reasonact.context(lm=lm_for(provider), adapter=ADAPTER):
            called = agent_for()(question="q")
        assert called.toDict() == events[-1].prediction.toDict()
    assert 'cats "and"\ndogs' == events[-1].prediction.answer


def test_pieces_come_before_the_answer_is_whole(provider, wire, how):
    """The server sends its next piece only when the reader has seen the one before."""
    import threading

    seen = threading.Event()
    head, *rest = openai_stream(wire, "thinking", [("c", "submit", {"answer": "a", "count": 1})])

    def pieces():
        yield head
        yield rest[0]
        assert seen.wait(10)
        yield from rest[1:]

    provider.says(wire.streamed(pieces))
    first = []

    def watch(event):
        if isinstance(event, ThoughtText) and not first:
            first.append(event.text)
            seen.set()

    with reasonact.context(lm=lm_for(provider), adapter=ADAPTER):
        if how == "sync":
            for event in agent_for().stream(question="q"):
                watch(event)
        else:

            async def read():
                async for event in agent_for().astream(question="q"):
                    watch(event)

            asyncio.run(read())
    assert ["thinki"] == first


@pytest.mark.parametrize("ending", ["reset", "cut"])
def test_a_stream_that_breaks_halfway_is_an_error_with_what_came_so_far(provider, wire, how, ending):
    pieces = openai_stream(wire, *TURNS[0])[:3]
    broken = wire.streamed(pieces, then=wire.reset if ending == "reset" else (lambda connection, request: None))
    provider.says(broken)
    seen = []

    async def read():
        async for event in agent_for().astream(question="q"):
            seen.append(event)

    with reasonact.context(lm=lm_for(provider, num_retries=3), adapter=ADAPTER):
        with pytest.raises(LMStreamAssemblyError) as caught:
            if how == "sync":
                for event in agent_for().stream(question="q"):
                    seen.append(event)
            else:
                asyncio.run(read())
    said = "".join(event.text for event in seen if isinstance(event, ThoughtText))
    assert "Let me look."[: len(said)] == said != ""
    assert said == caught.value.partial.choices[0].message.content
    assert (1, {"question": "q"}) == (len(provider.requests), caught.value.state.inputs)


def test_leaving_the_loop_hangs_up_on_the_model(provider, wire):
    provider.says(wire.streamed(wire.endless))
    agent = agent_for()
    with reasonact.context(lm=lm_for(provider), adapter=ADAPTER):
        for _ in agent.stream(question="q", kinds=ThoughtText):
            break
        assert provider.closed_early.wait(1)


async def test_leaving_an_async_loop_hangs_up_on_the_model(provider, wire):
    provider.says(wire.streamed(wire.endless))
    with reasonact.context(lm=lm_for(provider), adapter=ADAPTER):
        async for _ in agent_for().astream(question="q", kinds=ThoughtText):
            break
    assert await asyncio.to_thread(provider.closed_early.wait, 1)


@pytest.mark.parametrize("end", ["aclose", "cancel"])
async def test_a_model_that_says_nothing_more_is_hung_up_on_within_a_second(provider, wire, end, caplog):
    import threading

    hung_up = threading.Event()

    def stall(connection, request):
        connection.settimeout(20)
        connection.recv(1)
        hung_up.set()

    provider.says(wire.streamed(openai_stream(wire, *TURNS[0])[:2], then=stall))
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, about: complaints.append(about))
    heard = asyncio.Event()

    async def read():
        async for event in agent_for().astream(question="q"):
            if isinstance(event, ThoughtText):
                heard.set()

    with reasonact.context(lm=lm_for(provider), adapter=ADAPTER), caplog.at_level(logging.ERROR):
        if end == "cancel":
            reader = asyncio.ensure_future(read())
            await heard.wait()
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(reader, 1)
        else:
            events = agent_for().astream(question="q", kinds=ThoughtText)
            await anext(events)
            await asyncio.wait_for(events.aclose(), 1)
        assert await asyncio.to_thread(hung_up.wait, 1)
    assert ([], []) == (complaints, caplog.records)


@pytest.mark.parametrize("adapter", [ADAPTER, reasonact.ChatAdapter()], ids=["native", "text"])
@pytest.mark.parametrize("agent_class", [reasonact.ReAct, reasonact.ReActV2])
def test_the_stand_in_streams_the_run_that_it_gives_whole(agent_class, adapter, how):
    from reasonact.demo.run import AnswerFromLibrary
    from reasonact.demo.tools import evaluate, read, search

    agent = agent_class(AnswerFromLibrary, tools=[search, read, evaluate])
    question = "Which module of the standard library parses JSON, and what is 6 * 7?"
    with StandInServer() as server:
        supports = {"function_calling": True}
        lm = LM(f"openai/{MODEL}", api_base=server.url, api_key="none", cache=False, supports=supports)
        with reasonact.context(lm=lm, adapter=adapter):
            called = agent(question=question)
            if how == "sync":
                events = list(agent.stream(question=question))
            else:

                async def collect():
                    return [event async for event in agent.astream(question=question)]

                events = asyncio.run(collect())
    streamed = events[-1].prediction
    names = list(AnswerFromLibrary.output_fields)
    assert {name: called[name] for name in names} == {name: streamed[name] for name in names}
    assert (called.usage.calls, called.usage.total_tokens) == (streamed.usage.calls, streamed.usage.total_tokens)
    assert called.usage.turns == streamed.usage.turns
    pieces = [event for event in events if isinstance(event, OutputText) and event.field == "answer"]
    assert str(streamed.answer).strip() == "".join(piece.text for piece in pieces).strip()
