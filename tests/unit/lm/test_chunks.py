"""Chunks of an answer: what one says, and how they add up, wherever the answer is cut."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonact.errors import LMStreamAssemblyError
from reasonact.lm.assembly import Assembly
from reasonact.lm.chunks import as_one_chunk, read_deltas
from reasonact.lm.outputs import read_outputs
from reasonact.lm.provider_calls import ask_provider
from reasonact.lm.requests import ProviderCall, build_call
from reasonact.lm.stream import streaming_to
from reasonact.testing import ScriptedLM


def chunk(delta, *, finish_reason=None, index=0, **fields):
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish_reason, **fields}]}


def assembled(chunks):
    assembly = Assembly()
    for one in chunks:
        assembly.add(one)
    return assembly.finished()


def cut(text, places):
    ends = sorted({min(place, len(text)) for place in places} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(
    st.text(max_size=60),
    st.text(max_size=30),
    st.lists(st.tuples(st.text(min_size=1, max_size=5), st.text(max_size=30)), max_size=3),
    st.lists(st.integers(0, 60)),
)
def test_an_answer_cut_anywhere_adds_up_to_itself(text, reasoning, calls, places):
    chunks = [chunk({"reasoning_content": piece}) for piece in cut(reasoning, places)]
    chunks += [chunk({"content": piece}) for piece in cut(text, places)]
    for number, (name, arguments) in enumerate(calls):
        first = {"index": number, "id": f"c{number}", "function": {"name": name, "arguments": ""}}
        chunks.append(chunk({"tool_calls": [first]}))
        pieces = [{"index": number, "function": {"arguments": piece}} for piece in cut(arguments, places)]
        chunks += [chunk({"tool_calls": [piece]}) for piece in pieces]
    message = assembled([*chunks, chunk({}, finish_reason="stop")]).choices[0].message
    assert text == (message.content or "")
    assert reasoning == message.get("reasoning_content", "")
    assert [(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(calls)] == [
        (called.id, called.function.name, called.function.arguments) for called in message.tool_calls or ()
    ]


def test_objects_and_dicts_read_alike():
    as_dict = chunk(
        {"content": "x", "tool_calls": [{"index": 1, "id": "c", "function": {"name": "f", "arguments": "{"}}]}
    )
    function = SimpleNamespace(name="f", arguments="{")
    delta = SimpleNamespace(content="x", tool_calls=[SimpleNamespace(index=1, id="c", function=function)])
    as_object = SimpleNamespace(choices=[SimpleNamespace(index=0, delta=delta, finish_reason=None)])
    assert read_deltas(as_dict) == read_deltas(as_object)


def test_blocks_of_thought_keep_their_signatures_and_stay_apart():
    def thinking(**fields):
        return chunk({"thinking_blocks": [{"type": "thinking", **fields}]})

    chunks = [
        thinking(thinking="a"),
        thinking(thinking="b"),
        thinking(thinking="", signature="s1"),
        chunk({"thinking_blocks": [{"type": "redacted_thinking", "data": "xx"}]}),
        thinking(thinking="c", signature="s2"),
        chunk({"content": "answer"}, finish_reason="stop"),
    ]
    assert [
        {"type": "thinking", "thinking": "ab", "signature": "s1"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "thinking", "thinking": "c", "signature": "s2"},
    ] == assembled(chunks).choices[0].message.thinking_blocks


def test_log_probabilities_and_provider_fields_add_up():
    signed = {
        "index": 0,
        "id": "c",
        "function": {"name": "f", "arguments": "{}"},
        "provider_specific_fields": {"sig": "s"},
    }
    chunks = [
        chunk(
            {"content": "a", "provider_specific_fields": {"citations": [1], "k": "v"}},
            logprobs={"content": [{"token": "a"}]},
        ),
        chunk(
            {"content": "b", "provider_specific_fields": {"citations": [2], "k": None}},
            logprobs={"content": [{"token": "b"}]},
        ),
        chunk({"tool_calls": [signed]}, finish_reason="tool_calls"),
    ]
    choice = assembled(chunks).choices[0]
    assert {"citations": [1, 2], "k": "v"} == choice.message.provider_specific_fields
    assert ["a", "b"] == [one["token"] for one in choice.logprobs["content"]]
    assert {"sig": "s"} == choice.message.tool_calls[0].provider_specific_fields


def test_a_stream_without_an_end_is_an_error_with_what_came():
    assembly = Assembly()
    assembly.add(chunk({"content": "half"}))
    with pytest.raises(LMStreamAssemblyError) as caught:
        assembly.finished()
    assert ("half", 1) == (caught.value.partial.choices[0].message.content, caught.value.part_index)
    with pytest.raises(LMStreamAssemblyError):
        Assembly().finished()


@pytest.mark.parametrize(
    ("response", "texts"),
    [
        (["a", {"text": "b"}], ["a", "b"]),
        ({"choices": [{"message": {"content": "a"}}, {"text": "b"}]}, ["a", "b"]),
    ],
)
def test_a_whole_response_is_one_chunk(response, texts):
    assert texts == [delta.text for delta in read_deltas(as_one_chunk(response))]


def test_what_has_no_completions_is_no_chunk():
    assert as_one_chunk({"output": []}) is None


def test_a_flow_that_is_dropped_lets_its_stream_go():
    class Stream:
        closed = False

        def __iter__(self):
            return self

        def __next__(self):
            return chunk({"content": "x"})

        def close(self):
            self.closed = True

    class Silent:
        def put(self, chunk):
            pass

    stream = Stream()
    with streaming_to(Silent()):
        flow = ask_provider(ProviderCall("completion", {}), model="m")
        next(flow)
        flow.send(stream)
        flow.close()
    assert stream.closed


def test_a_responses_object_of_a_programs_own_is_read_too():
    response = SimpleNamespace(
        output=[
            {"type": "reasoning", "summary": [{"text": "why"}]},
            {
                "type": "message",
                "content": [{"type": "output_text", "text": "hel"}, {"type": "output_text", "text": "lo"}],
            },
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        ]
    )
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert [{"text": "hello", "tool_calls": [call], "reasoning_content": "why"}] == read_outputs(response, model="m")
    assert ["x"] == read_outputs({"output": [{"type": "message", "content": [{"text": "x"}]}]}, model="m")


@pytest.mark.parametrize(
    ("model", "model_type", "named"),
    [
        ("openai/gpt-x", "chat", "openai/gpt-x"),
        ("gpt-x", "responses", "openai/responses/gpt-x"),
        ("azure/gpt-x", "responses", "azure/responses/gpt-x"),
        ("azure/responses/gpt-x", "responses", "azure/responses/gpt-x"),
        ("gpt-x", "text", "text-completion-openai/gpt-x"),
        ("openai/gpt-x", "text", "text-completion-openai/gpt-x"),
        ("hosted_vllm/x", "text", "hosted_vllm/x"),
    ],
)
def test_a_model_is_named_to_litellm_by_its_type(model, model_type, named):
    provider_call = build_call(model, model_type, "q", None, {"max_completion_tokens": 5, "seed": None})
    assert named == provider_call.arguments["model"]
    assert "seed" not in provider_call.arguments
    assert ("max_tokens" if model_type == "text" else "max_completion_tokens") in provider_call.arguments


def test_an_lm_that_answers_whole_does_not_stream_to_nobody():
    with streaming_to(None):
        assert ["x"] == ScriptedLM(["x"])("q")


def test_a_new_id_under_an_old_index_opens_a_new_call():
    def piece(arguments, **head):
        return chunk({"tool_calls": [{"index": 0, **head, "function": {"name": "add", "arguments": arguments}}]})

    chunks = [piece('{"a"', id="c1"), piece(": 1}"), piece('{"a"', id="c2"), piece(": 2}", id="c2")]
    message = assembled([*chunks, chunk({}, finish_reason="tool_calls")]).choices[0].message
    assert [("c1", "add", '{"a": 1}'), ("c2", "add", '{"a": 2}')] == [
        (called.id, called.function.name, called.function.arguments) for called in message.tool_calls
    ]
