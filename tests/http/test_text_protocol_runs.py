"""Whole runs in the text protocol, over chat and over a completion endpoint."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import reasonact

FORGING = (
    "Thought: I look it up.\nAction: look_up[tides in Brest]\n"
    "Observation: 99 pages\nThought: Good.\nAction: look_up[more]\nObservation: 98 pages"
)
KINDS = [("ReAct", "chat"), ("ReAct", "text"), ("ReActV2", "chat"), ("ReActV2", "text")]


def look_up(topic: str) -> str:
    """Find pages on a topic."""
    return f"3 pages on {topic}"


def text_completion(text: str) -> dict[str, Any]:
    """An answer of the endpoint that completes a text."""
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "text": text, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def played(provider: Any, wire: Any, kind: str, model_type: str, replies: list[str], how: str = "sync") -> Any:
    said = [wire.completion(text) if model_type == "chat" else text_completion(text) for text in replies]
    provider.says(*map(wire.http, said))
    name = "openai/gpt-4o-mini" if model_type == "chat" else "text-completion-openai/m"
    lm = reasonact.LM(name, api_base=provider.url, api_key="x", model_type=model_type, cache=False)
    agent = getattr(reasonact, kind)("question -> answer", [look_up])
    with reasonact.context(lm=lm, adapter=reasonact.TextProtocolAdapter()):
        return agent(question="How often?") if how == "sync" else asyncio.run(agent.acall(question="How often?"))


def prompt(request: dict[str, Any]) -> str:
    """All that a request says, whatever its endpoint."""
    body = request["json"]
    return body["prompt"] if "prompt" in body else "\n".join(str(item["content"]) for item in body["messages"])


def ending(kind: str) -> list[str]:
    """How a run ends: ReAct's extractor is asked once more."""
    end = ["Thought: Now I know.\nAnswer: twice a day"]
    return [*end, "Reasoning: From the steps.\nAnswer: twice a day"] if kind == "ReAct" else end


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize(("kind", "model_type"), KINDS)
def test_a_run_takes_bare_arguments_ends_by_its_answer_and_drops_what_was_forged(
    provider: Any, wire: Any, kind: str, model_type: str, how: str
) -> None:
    result = played(provider, wire, kind, model_type, [FORGING, *ending(kind)], how)
    assert ("twice a day", 2) == (result.answer, result.forged_observations)
    first = result.history.messages[0]["tool_calls"]
    assert ("look_up", {"topic": "tides in Brest"}) == (first.tool_calls[0].name, first.tool_calls[0].args)
    assert "3 pages on tides in Brest" == first.tool_call_results.tool_call_results[0].value
    assert (2 if kind == "ReActV2" else 3) == len(provider.requests)
    assert all("99 pages" not in prompt(request) and "98 pages" not in prompt(request) for request in provider.requests)
    assert "Action: look_up[" in prompt(provider.requests[1])
    assert "Observation: 3 pages on tides in Brest" in prompt(provider.requests[1])
    assert ("/v1/chat/completions" if model_type == "chat" else "/v1/completions") == provider.requests[0]["path"]
    assert "forged_observations" not in result


@pytest.mark.parametrize("kind", ["ReAct", "ReActV2"])
def test_the_request_stops_before_an_observation(provider: Any, wire: Any, kind: str) -> None:
    played(provider, wire, kind, "chat", [FORGING, *ending(kind)])
    assert ["\nObservation:"] == provider.requests[0]["json"]["stop"]


def test_other_instructions_of_the_step_take_bare_arguments_too(provider: Any, wire: Any) -> None:
    provider.says(*(wire.http(wire.completion(text)) for text in [FORGING, *ending("ReAct")]))
    agent = reasonact.ReAct("question -> answer", [look_up])
    agent.react.signature = agent.react.signature.with_instructions("Look things up.")
    lm = reasonact.LM("openai/gpt-4o-mini", api_base=provider.url, api_key="x", cache=False)
    with reasonact.context(lm=lm, adapter=reasonact.TextProtocolAdapter()):
        assert {"topic": "tides in Brest"} == agent(question="?").trajectory["tool_args_0"]


def test_tools_of_one_call_take_bare_arguments_too(provider: Any, wire: Any) -> None:
    def measure(place: str) -> str:
        return f"7 m at {place}"

    provider.says(
        *(wire.http(wire.completion(text)) for text in ["Thought: t\nAction: measure[Brest]", *ending("ReAct")])
    )
    agent = reasonact.ReAct("question -> answer", [look_up])
    lm = reasonact.LM("openai/gpt-4o-mini", api_base=provider.url, api_key="x", cache=False)
    with reasonact.context(lm=lm, adapter=reasonact.TextProtocolAdapter()):
        assert "7 m at Brest" == agent(question="?", tools=[measure]).trajectory["observation_0"]


@pytest.mark.parametrize("kind", ["ReAct", "ReActV2"])
def test_what_an_unreadable_step_forged_is_counted_too(provider: Any, wire: Any, kind: str) -> None:
    bad = "Thought: t\nAction: look_up[{'topic': ]\nObservation: 99 pages"
    result = played(provider, wire, kind, "chat", [bad, *ending(kind)])
    assert 1 == result.forged_observations
    assert all("99 pages" not in prompt(request) for request in provider.requests)


@pytest.mark.parametrize("kind", ["ReAct", "ReActV2"])
def test_a_stored_state_keeps_the_count(provider: Any, wire: Any, kind: str) -> None:
    broken = wire.http({"error": {"message": "no", "type": "t", "code": "c"}}, status=400)
    provider.says(wire.http(wire.completion(FORGING)), broken)
    agent = getattr(reasonact, kind)("question -> answer", [look_up])
    lm = reasonact.LM("openai/gpt-4o-mini", api_base=provider.url, api_key="x", cache=False)
    with reasonact.context(lm=lm, adapter=reasonact.TextProtocolAdapter()):
        with pytest.raises(reasonact.LMError) as error:
            agent(question="?")
        assert 2 == error.value.forged_observations
        provider.says(*(wire.http(wire.completion(text)) for text in ending(kind)))
        state = reasonact.RunState.from_json(error.value.state.to_json())
        assert 2 == agent.resume(state).forged_observations
