"""What goes over the wire and what comes back, through the real LiteLLM."""

import asyncio
import copy
import io

import pytest

from reasonact.errors import LMUnsupportedFeatureError
from reasonact.lm.litellm_client import LM
from reasonact.lm.usage import track_usage

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search.",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        },
    }
]


@pytest.fixture
def lm(provider, wire):
    provider.says(wire.http(wire.completion()))
    return LM("openai/gpt-4o-mini", api_base=provider.url, api_key="sk-x", cache=False, num_retries=0)


def test_options_pass_through_unchanged_and_unset_ones_are_left_out(provider, lm):
    lm("q", temperature=0.5, extra_headers={"X-Trace": "t1"}, seed=7, stop=["END"])
    sent = provider.requests[0]
    assert {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "q"}],
        "temperature": 0.5,
        "seed": 7,
        "stop": ["END"],
    } == sent["json"]
    assert ("t1", "Bearer sk-x") == (sent["headers"]["x-trace"], sent["headers"]["authorization"])


def test_options_of_the_call_win_over_the_lms_and_none_takes_one_away(provider, wire):
    provider.says(wire.http(wire.completion()))
    lm = LM(
        "openai/gpt-4o-mini", api_base=provider.url, api_key="k", cache=False, temperature=0.1, max_tokens=5, seed=1
    )
    lm("q", temperature=0.9, seed=None, rollout_id=3)
    sent = provider.requests[0]["json"]
    assert (0.9, 5) == (sent["temperature"], sent["max_tokens"])
    assert not {"seed", "rollout_id", "cache", "num_retries"} & sent.keys()


def test_messages_win_over_a_prompt(provider, lm):
    lm("prompt", messages=[{"role": "user", "content": "message"}])
    assert [{"role": "user", "content": "message"}] == provider.requests[0]["json"]["messages"]


@pytest.mark.parametrize("path", ["sync", "async"])
def test_tool_calls_come_with_id_name_and_arguments(provider, wire, lm, path):
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    provider.says(wire.http(wire.completion("thinking", tool_calls=[call], finish_reason="tool_calls")))
    messages = [{"role": "user", "content": "q"}]
    (output,) = (
        lm(messages=messages, tools=TOOLS) if path == "sync" else asyncio.run(lm.acall(messages=messages, tools=TOOLS))
    )
    (got,) = output["tool_calls"]
    assert ("thinking", "call_1", "search", '{"q": "x"}') == (
        output["text"],
        got.id,
        got.function.name,
        got.function.arguments,
    )
    assert TOOLS == provider.requests[0]["json"]["tools"]


def test_several_completions_and_log_probabilities(provider, wire, lm):
    body = wire.completion("one")
    logprobs = {"content": [{"token": "one", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
    body["choices"][0]["logprobs"] = logprobs
    body["choices"].append({**copy.deepcopy(body["choices"][0]), "index": 1})
    provider.says(wire.http(body))
    outputs = lm("q", n=2, logprobs=True)
    assert 2 == provider.requests[0]["json"]["n"]
    assert ["one", "one"] == [output["text"] for output in outputs]
    assert -0.1 == outputs[0]["logprobs"].content[0].logprob


def test_reasoning_comes_beside_the_answer(provider, wire, lm):
    provider.says(wire.http(wire.completion("42", reasoning_content="six times seven")))
    assert [{"text": "42", "reasoning_content": "six times seven"}] == [
        {k: v for k, v in output.items() if k != "provider_fields"} for output in lm("q")
    ]


def test_history_usage_and_cost_of_a_real_call(provider, wire, lm):
    body = wire.completion()
    body["usage"] = {
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        "total_tokens": 1010,
        "prompt_tokens_details": {"cached_tokens": 900},
    }
    provider.says(wire.http(body))
    with track_usage() as tracker:
        lm("q")
    (entry,) = lm.history
    assert ("openai/gpt-4o-mini", "gpt-4o-mini", "chat") == (
        entry["model"],
        entry["response_model"],
        entry["model_type"],
    )
    assert 900 == entry["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert 0 < entry["cost"] < 0.01
    assert (1010, 900) == (
        tracker.get_total_tokens()["openai/gpt-4o-mini"]["total_tokens"],
        tracker.get_total_tokens()["openai/gpt-4o-mini"]["prompt_tokens_details"]["cached_tokens"],
    )
    assert entry["cost"] == tracker.total_cost()


def test_a_model_without_a_known_price_costs_none_not_zero(provider, wire):
    provider.says(wire.http(wire.completion(model="mine")))
    lm = LM("hosted_vllm/mine", api_base=provider.url, cache=False)
    lm("q")
    assert lm.history[0]["cost"] is None


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o-mini", "anthropic/claude-3-5-haiku-20241022", "gemini/gemini-2.0-flash"]
)
def test_what_the_caller_gave_is_not_changed_on_its_way(provider, wire, model):
    provider.says(wire.refusal(400))
    lm = LM(
        model,
        api_base=provider.url if model.startswith("openai") else provider.root,
        api_key="k",
        cache=False,
        cache_control_injection_points=[
            {"location": "message", "role": "system"},
            {"location": "message", "index": -1},
        ],
    )
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "q"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "found"},
        {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
    ]
    options = {"tools": copy.deepcopy(TOOLS), "tool_choice": "auto", "metadata": {"a": "b"}}
    before = copy.deepcopy((messages, options, lm.kwargs))
    with pytest.raises(Exception, match="no can do"):
        lm(messages=messages, **options)
    assert before == (messages, options, lm.kwargs)


def test_cache_control_points_reach_anthropic_and_its_cache_counts_come_back(provider, wire):
    provider.says(
        wire.http(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-3-5-haiku-20241022",
                "content": [{"type": "text", "text": "hi"}],
                "stop_reason": "end_turn",
                "usage": {
                    "input_tokens": 10,
                    "output_tokens": 2,
                    "cache_creation_input_tokens": 100,
                    "cache_read_input_tokens": 1000,
                },
            }
        )
    )
    lm = LM(
        "anthropic/claude-3-5-haiku-20241022",
        api_base=provider.root,
        api_key="k",
        cache=False,
        cache_control_injection_points=[
            {"location": "message", "role": "system"},
            {"location": "message", "index": -1},
        ],
    )
    assert ["hi"] == lm(messages=[{"role": "system", "content": "be brief"}, {"role": "user", "content": "q"}])
    sent = provider.requests[0]["json"]
    assert {"type": "ephemeral"} == sent["system"][0]["cache_control"]
    assert {"type": "ephemeral"} == sent["messages"][-1]["content"][-1]["cache_control"]
    usage = lm.history[0]["usage"]
    assert (1000, 100) == (usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"])
    assert 1000 == usage["prompt_tokens_details"]["cached_tokens"]


def test_signed_thoughts_of_anthropic_are_kept_to_go_back_with_their_turn(provider, wire):
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    provider.says(
        wire.http(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-20250514",
                "content": [thought, {"type": "text", "text": "hi"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 2},
            }
        )
    )
    lm = LM("anthropic/claude-sonnet-4-20250514", api_base=provider.root, api_key="k", cache=False)
    (output,) = lm("q", thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2048)
    assert ("hi", "hm") == (output["text"], output["reasoning_content"])
    (block,) = output["provider_fields"]["thinking_blocks"]
    assert thought == {name: block[name] for name in thought}


class TestTextModels:
    @pytest.fixture
    def lm(self, provider, wire):
        provider.says(
            wire.http(
                {
                    "id": "x",
                    "object": "text_completion",
                    "created": 1,
                    "model": "m",
                    "choices": [{"index": 0, "text": "hello", "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
                }
            )
        )
        return LM("openai/davinci", model_type="text", api_base=provider.url, api_key="k", cache=False, max_tokens=9)

    @pytest.mark.parametrize("path", ["sync", "async"])
    def test_a_conversation_becomes_one_text(self, provider, lm, path):
        messages = [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
        ]
        outputs = lm(messages=messages) if path == "sync" else asyncio.run(lm.acall(messages=messages))
        sent = provider.requests[0]
        assert (["hello"], "/v1/completions") == (outputs, sent["path"])
        assert {"model": "davinci", "prompt": "be brief\n\nq\n\nResponse:", "max_tokens": 9} == sent["json"]
        assert ("text", 5) == (lm.history[0]["model_type"], lm.history[0]["usage"]["total_tokens"])

    def test_tools_and_pictures_are_refused_before_the_request(self, provider, lm):
        with pytest.raises(LMUnsupportedFeatureError, match="take no tools"):
            lm("q", tools=TOOLS)
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
        with pytest.raises(LMUnsupportedFeatureError, match="image_url") as caught:
            lm(messages=[{"role": "user", "content": [picture]}])
        assert ["image_url"] == caught.value.features
        assert [] == provider.requests


def test_a_responses_model_speaks_the_responses_interface(provider, wire):
    provider.says(
        wire.http(
            {
                "id": "resp_1",
                "object": "response",
                "created_at": 1,
                "model": "gpt-4o-mini",
                "status": "completed",
                "output": [
                    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}]},
                    {
                        "type": "message",
                        "id": "msg_1",
                        "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": "hello", "annotations": []}],
                    },
                    {
                        "type": "function_call",
                        "id": "fc_1",
                        "call_id": "call_9",
                        "name": "search",
                        "arguments": '{"q": "x"}',
                        "status": "completed",
                    },
                ],
                "usage": {
                    "input_tokens": 3,
                    "output_tokens": 2,
                    "total_tokens": 5,
                    "input_tokens_details": {"cached_tokens": 1},
                    "output_tokens_details": {"reasoning_tokens": 1},
                },
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "error": None,
                "incomplete_details": None,
                "instructions": None,
                "metadata": {},
            }
        )
    )
    lm = LM(
        "openai/gpt-4o-mini", model_type="responses", api_base=provider.url, api_key="k", cache=False, max_tokens=77
    )
    (output,) = lm(messages=[{"role": "user", "content": "q"}], tools=TOOLS)
    sent = provider.requests[0]
    assert ("/v1/responses", 77, "search") == (
        sent["path"],
        sent["json"]["max_output_tokens"],
        sent["json"]["tools"][0]["name"],
    )
    assert ("hello", "why", "search") == (
        output["text"],
        output["reasoning_content"],
        output["tool_calls"][0].function.name,
    )
    usage = lm.history[0]["usage"]
    assert (5, 1, 1) == (
        usage["total_tokens"],
        usage["prompt_tokens_details"]["cached_tokens"],
        usage["completion_tokens_details"]["reasoning_tokens"],
    )


def test_an_answer_that_was_cut_at_its_bound_is_warned_about(provider, wire, lm, caplog):
    provider.says(wire.http(wire.completion("cut", finish_reason="length")))
    assert ["cut"] == lm("q", max_tokens=1)
    assert "raise max_tokens (now 1)" in caplog.text


def test_inspecting_a_real_call_prints_the_answer(lm):
    lm("q")
    out = io.StringIO()
    lm.inspect_history(file=out)
    assert "hello" in out.getvalue()
