"""Answers in chunks over real sockets: the same result as whole, and what breaks on the way."""

import asyncio
import json
import time

import pytest

import reasonact
from reasonact.errors import LMAuthError, LMStreamAssemblyError, LMTimeoutError
from reasonact.lm.chunks import read_deltas
from reasonact.lm.litellm_client import LM
from reasonact.lm.retry import RetryPolicy
from reasonact.lm.stream import streaming_to

QUICK = RetryPolicy(first_wait=0.01, max_wait=0.05)


class Listener:
    """Keeps the chunks that it gets; may end the stream by raising after so many."""

    def __init__(self, enough=None):
        self.chunks = []
        self.enough = enough

    def put(self, chunk):
        self.chunks.append(chunk)
        if self.enough is not None and len(self.chunks) >= self.enough:
            raise StopListening

    async def aput(self, chunk):
        self.put(chunk)

    @property
    def text(self):
        return "".join(delta.text for chunk in self.chunks for delta in read_deltas(chunk))


class StopListening(Exception):
    """The reader has heard enough."""


def lm_for(provider, model="openai/gpt-4o-mini", **options):
    base = provider.root if model.startswith("anthropic") else provider.url
    return LM(model, **{"api_base": base, "api_key": "k", "cache": False, "num_retries": 0, "timeout": 10, **options})


def ask(lm, path, listener, **options):
    with streaming_to(listener):
        return lm("q", **options) if path == "sync" else asyncio.run(lm.acall("q", **options))


@pytest.fixture(params=["sync", "async"])
def path(request):
    return request.param


@pytest.fixture
def told(wire):
    """A stream of text and a tool call, with usage at its end."""
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "search", "arguments": ""}}
    chunks = [
        wire.chunk({"role": "assistant", "content": "Let "}),
        wire.chunk({"content": "me "}),
        wire.chunk({"content": "look."}),
        wire.chunk({"tool_calls": [call]}),
        wire.chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"q": '}}]}),
        wire.chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"x"}'}}]}),
        wire.chunk({}, finish_reason="tool_calls"),
        wire.chunk(usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}),
    ]
    return [wire.server_sent([one], done=False) for one in chunks] + [b"data: [DONE]\n\n"]


def test_a_streamed_answer_is_the_same_as_a_whole_one(provider, wire, told, path):
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    provider.says(wire.http(wire.completion("Let me look.", tool_calls=[call], finish_reason="tool_calls")))
    whole_lm, streamed_lm, listener = lm_for(provider), lm_for(provider), Listener()
    (whole,) = whole_lm("q")
    provider.says(wire.streamed(told))
    (streamed,) = ask(streamed_lm, path, listener)
    assert whole["text"] == streamed["text"] == listener.text
    (expected,), (got,) = whole["tool_calls"], streamed["tool_calls"]
    assert (expected.id, expected.function.name, expected.function.arguments) == (
        got.id,
        got.function.name,
        got.function.arguments,
    )
    one, other = whole_lm.history[0], streamed_lm.history[0]
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        assert one["usage"][name] == other["usage"][name]
    assert one["cost"] == other["cost"]
    assert type(one["response"]) is type(other["response"])


def test_the_request_asks_for_a_stream_with_usage(provider, wire, told, path):
    provider.says(wire.streamed(told))
    ask(lm_for(provider), path, Listener())
    sent = provider.requests[0]["json"]
    assert (True, {"include_usage": True}) == (sent["stream"], sent["stream_options"])


def test_arguments_of_a_call_come_piece_by_piece(provider, wire, told, path):
    provider.says(wire.streamed(told))
    listener = Listener()
    ask(lm_for(provider), path, listener)
    pieces = [piece for chunk in listener.chunks for delta in read_deltas(chunk) for piece in delta.calls]
    assert '{"q": "x"}' == "".join(piece.arguments for piece in pieces)
    assert ("search", {0}) == (pieces[0].name, {piece.index for piece in pieces})


def test_bytes_may_be_cut_anywhere(provider, wire, told, path):
    body = b"".join(told)
    provider.says(wire.streamed([body[start : start + 7] for start in range(0, len(body), 7)]))
    (output,) = ask(lm_for(provider), path, Listener())
    assert ("Let me look.", '{"q": "x"}') == (output["text"], output["tool_calls"][0].function.arguments)


def test_several_completions_are_kept_apart(provider, wire, path):
    chunks = [
        wire.chunk({"content": "a"}, index=0),
        wire.chunk({"content": "x"}, index=1),
        wire.chunk({"content": "b"}, index=0, finish_reason="stop"),
        wire.chunk({"content": "y"}, index=1, finish_reason="stop"),
    ]
    provider.says(wire.streamed([wire.server_sent(chunks)]))
    assert ["ab", "xy"] == ask(lm_for(provider), path, Listener(), n=2)


def test_anthropics_stream_gives_the_same_answer_and_usage_as_openais(provider, wire, path):
    events = [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-20250514",
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 3, "output_tokens": 1},
            },
        },
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Let me "}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "look."}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "call_1", "name": "search", "input": {}},
        },
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"q": '}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '"x"}'}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    provider.says(wire.streamed([wire.server_sent([one], done=False) for one in events]))
    listener = Listener()
    lm = lm_for(provider, "anthropic/claude-sonnet-4-20250514")
    (output,) = ask(lm, path, listener)
    (call,) = output["tool_calls"]
    assert ("Let me look.", "hm hm", "call_1", "search", '{"q": "x"}') == (
        output["text"],
        output["reasoning_content"],
        call.id,
        call.function.name,
        call.function.arguments,
    )
    (thought,) = output["provider_fields"]["thinking_blocks"]
    assert ("hm hm", "sig") == (thought["thinking"], thought["signature"])
    usage = lm.history[0]["usage"]
    assert (3, 2, 5) == (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"])


@pytest.mark.parametrize("ending", ["reset", "clean", "stall", "garbage", "error event"])
def test_a_stream_that_breaks_is_an_error_with_what_came_before_and_is_not_sent_again(
    provider, wire, told, path, ending
):
    endings = {
        "reset": {"then": wire.reset},
        "clean": {},
        "stall": {"then": wire.stalled()},
        "garbage": {},
        "error event": {},
    }
    extra = {
        "garbage": [b"data: {nope\n\n"],
        "error event": [b'data: {"error": {"message": "overloaded", "code": 529}}\n\n'],
    }
    provider.says(wire.streamed(told[:2] + extra.get(ending, []), **endings[ending]))
    listener = Listener()
    lm = lm_for(provider, num_retries=3, retry_policy=QUICK, timeout=0.5)
    with pytest.raises(LMStreamAssemblyError) as caught:
        ask(lm, path, listener)
    assert ("Let me ", "Let me ", 1) == (
        listener.text,
        caught.value.partial.choices[0].message.content,
        len(provider.requests),
    )
    assert "openai/gpt-4o-mini" == caught.value.model


def test_before_the_first_chunk_a_failure_is_sent_again(provider, wire, told, path):
    provider.says(wire.refusal(503), wire.reset, wire.streamed(told))
    listener = Listener()
    (output,) = ask(lm_for(provider, num_retries=3, retry_policy=QUICK), path, listener)
    assert ("Let me look.", "Let me look.", 3) == (output["text"], listener.text, len(provider.requests))


def test_a_refusal_is_the_error_of_its_status(provider, wire, path):
    provider.says(wire.refusal(401))
    with pytest.raises(LMAuthError) as caught:
        ask(lm_for(provider), path, Listener())
    assert (401, "no can do") == (caught.value.status, caught.value.message)


def test_a_stall_before_the_first_chunk_is_a_timeout(provider, wire, path):
    provider.says(wire.streamed([], then=wire.stalled()))
    with pytest.raises(LMTimeoutError):
        ask(lm_for(provider, timeout=0.3), path, Listener())


def test_a_reader_that_has_heard_enough_ends_the_request_and_gets_its_own_exception(provider, wire, path):
    provider.says(wire.streamed(wire.endless))
    listener = Listener(enough=3)
    started = time.monotonic()
    with pytest.raises(StopListening):
        ask(lm_for(provider), path, listener)
    assert 3 == len(listener.chunks)
    assert provider.closed_early.wait(5)  # the server noticed that nobody listens
    assert time.monotonic() - started < 5


async def test_cancelling_closes_the_stream(provider, wire):
    provider.says(wire.streamed(wire.endless))
    listener = Listener()
    lm = lm_for(provider)

    async def run():
        with streaming_to(listener):
            await lm.acall("q")

    task = asyncio.create_task(run())
    while not listener.chunks:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    assert await asyncio.to_thread(provider.closed_early.wait, 5)


def test_a_slow_reader_slows_the_stream_and_loses_nothing(provider, wire):
    pieces = [wire.server_sent([wire.chunk({"content": f"{number} "})], done=False) for number in range(200)]
    end = wire.server_sent([wire.chunk({}, finish_reason="stop")])
    provider.says(wire.streamed([*pieces, end]))

    class Slow(Listener):
        async def aput(self, chunk):
            await asyncio.sleep(0.001)
            self.put(chunk)

    listener = Slow()
    (text,) = ask(lm_for(provider), "async", listener)
    assert " ".join(map(str, range(200))) == text.strip() == listener.text.strip()


def test_an_answer_out_of_the_cache_comes_as_one_chunk(provider, wire, told, path, fresh_cache):
    provider.says(wire.streamed(told))
    lm = lm_for(provider, cache=True)
    first, second = Listener(), Listener()
    outputs = ask(lm, path, first)
    again = ask(lm, path, second)
    assert 1 == len(provider.requests)
    assert outputs[0]["text"] == again[0]["text"]
    (chunk,) = second.chunks
    (delta,) = read_deltas(chunk)
    assert ("Let me look.", "search", '{"q": "x"}', "tool_calls") == (
        delta.text,
        delta.calls[0].name,
        delta.calls[0].arguments,
        delta.finish_reason,
    )


def test_a_plain_completion_streams_too(provider, wire, path):
    def piece(text, finish_reason=None):
        choices = [{"index": 0, "text": text, "finish_reason": finish_reason}]
        return {"id": "x", "object": "text_completion", "created": 1, "model": "m", "choices": choices}

    provider.says(wire.streamed([wire.server_sent([piece("hel"), piece("lo"), piece("", "stop")])]))
    listener = Listener()
    lm = lm_for(provider, "openai/davinci", model_type="text")
    assert (["hello"], "hello") == (ask(lm, path, listener), listener.text)


def test_nobody_asks_an_lm_itself_for_a_stream(provider):
    with pytest.raises(TypeError, match="streamify"):
        lm_for(provider, stream=True)
    with pytest.raises(TypeError, match="streamify"):
        lm_for(provider)("q", stream=True)
    assert [] == provider.requests


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "hosted_vllm/some-model"])
@pytest.mark.parametrize("indent", [None, 1])
def test_the_answer_of_a_server_that_ignores_stream_comes_in_one_piece(provider, wire, path, model, indent):
    provider.says(wire.http(json.dumps(wire.completion("hello"), indent=indent).encode()))
    listener = Listener()
    assert ["hello"] == ask(lm_for(provider, model), path, listener)
    assert ("hello", 1) == (listener.text, len(listener.chunks))


@pytest.mark.parametrize("indent", [None, 1])
def test_the_calls_of_a_server_that_ignores_stream_arrive(provider, wire, path, indent):
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    body = wire.completion(None, tool_calls=[call], finish_reason="tool_calls")
    provider.says(wire.http(json.dumps(body, indent=indent).encode()))
    listener = Listener()
    (output,) = ask(lm_for(provider), path, listener)
    assert ("call_1", "search") == (output["tool_calls"][0].id, output["tool_calls"][0].function.name)
    assert ["search"] == [piece.name for delta in read_deltas(listener.chunks[0]) for piece in delta.calls]


def test_a_program_streams_the_answer_of_a_server_that_ignores_stream(provider, wire):
    provider.says(wire.http(wire.completion("[[ ## answer ## ]]\n4\n\n[[ ## completed ## ]]")))
    with reasonact.context(lm=lm_for(provider)):
        *_, last = reasonact.Predict("question -> answer").stream(question="2+2?")
    assert "4" == last.prediction.answer


@pytest.mark.parametrize("body", [b"data: [DONE]\n\n", b"", b": ping\n\n"])
def test_a_stream_without_a_chunk_is_no_empty_answer(provider, wire, path, body):
    provider.says(wire.http(body, content_type="text/event-stream"))
    listener = Listener()
    with pytest.raises(LMStreamAssemblyError, match="before anything of an answer came"):
        ask(lm_for(provider), path, listener)
    assert [] == listener.chunks


def test_an_answer_that_its_provider_ended_empty_is_empty(provider, wire, path):
    provider.says(wire.streamed([wire.server_sent([wire.chunk({}, finish_reason="stop")])]))
    assert [""] == ask(lm_for(provider), path, Listener())


def test_calls_that_all_carry_index_0_stay_apart(provider, wire, path):
    def piece(arguments, **head):
        return wire.chunk({"tool_calls": [{"index": 0, **head, "function": {"name": "add", "arguments": arguments}}]})

    chunks = [piece('{"a": 1}', id="c1", type="function"), piece('{"a": 2}', id="c2", type="function")]
    provider.says(wire.streamed([wire.server_sent([*chunks, wire.chunk({}, finish_reason="tool_calls")])]))
    (output,) = ask(lm_for(provider), path, Listener())
    assert [("c1", '{"a": 1}'), ("c2", '{"a": 2}')] == [(c.id, c.function.arguments) for c in output["tool_calls"]]
