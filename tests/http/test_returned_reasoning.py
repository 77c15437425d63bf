"""Reasoning that a provider returned goes back to it with its turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import reasonact

THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}
REDACTED = {"type": "redacted_thinking", "data": "xx"}


def look_up(topic: str) -> str:
    """Find pages on a topic."""
    return f"3 pages on {topic}"


def message(content: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer of Anthropic's interface."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-20250514",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 2},
    }


def used(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def called(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def claude(provider: Any, wire: Any, *turns: list[dict[str, Any]]) -> Any:
    provider.says(*(wire.http(message(turn)) for turn in turns))
    return reasonact.LM(
        "anthropic/claude-sonnet-4-20250514",
        api_base=provider.root,
        api_key="k",
        cache=False,
        thinking={"type": "enabled", "budget_tokens": 1024},
        max_tokens=2048,
    )


@pytest.mark.parametrize("how", ["sync", "async"])
def test_signed_thoughts_go_back_to_anthropic_as_they_came(provider: Any, wire: Any, how: str) -> None:
    turns = [
        [THOUGHT, REDACTED, used("t1", "look_up", topic="tides")],
        [{**THOUGHT, "thinking": "so"}, {"type": "text", "text": "Enough."}, used("t2", "look_up", topic="more")],
        [used("t3", "submit", answer="1")],
    ]
    agent = reasonact.ReActV2("question -> answer", [look_up])
    with reasonact.context(lm=claude(provider, wire, *turns), adapter=reasonact.JSONAdapter()):
        result = agent(question="?") if how == "sync" else asyncio.run(agent.acall(question="?"))
    assert "1" == result.answer
    answered = [item for item in provider.requests[2]["json"]["messages"] if item["role"] == "assistant"]
    assert turns[:2] == [turn["content"] for turn in answered]
    assert provider.requests[1]["json"]["messages"] == provider.requests[2]["json"]["messages"][:3]


def test_a_history_read_back_from_json_gives_the_thoughts_back_too(provider: Any, wire: Any) -> None:
    turns = [[THOUGHT, REDACTED, used("t1", "look_up", topic="tides")], [used("t2", "submit", answer="1")]]
    agent = reasonact.ReActV2("question -> answer", [look_up])
    with reasonact.context(lm=claude(provider, wire, *turns, turns[1]), adapter=reasonact.JSONAdapter()):
        history = reasonact.History.model_validate_json(agent(question="?").history.model_dump_json())
        agent(question="And then?", history=history)
    answered = [item for item in provider.requests[2]["json"]["messages"] if item["role"] == "assistant"]
    assert turns[0] == answered[0]["content"]


@pytest.mark.parametrize(("text", "content"), [(None, ""), ("Let me look.", "Let me look.")])
@pytest.mark.parametrize("model", ["o3-mini", "gpt-4o-mini"])
def test_reasoning_goes_back_to_a_server_of_openais_form(
    provider: Any, wire: Any, model: str, text: str | None, content: str | None
) -> None:
    provider.says(
        *(
            wire.http(wire.completion(said, finish_reason="tool_calls", reasoning_content=why, tool_calls=[call]))
            for said, why, call in (
                (text, "It asks for tides.", called("c1", "look_up", topic="tides")),
                (None, "Now I know.", called("c2", "submit", answer="1")),
            )
        )
    )
    lm = reasonact.LM(f"openai/{model}", api_base=provider.url, api_key="k", cache=False)
    with reasonact.context(lm=lm, adapter=reasonact.JSONAdapter()):
        assert "1" == reasonact.ReActV2("question -> answer", [look_up])(question="?").answer
    turn = provider.requests[1]["json"]["messages"][2]
    assert ("assistant", "It asks for tides.") == (turn["role"], turn["reasoning_content"])
    assert (content, "c1") == (turn.get("content"), turn["tool_calls"][0]["id"])


def test_an_output_and_an_input_may_have_the_names_of_what_goes_back(provider: Any, wire: Any) -> None:
    turns = [
        [THOUGHT, used("t1", "look_up", topic="tides")],
        [used("t2", "submit", provider_fields="a", reasoning_items="b")],
    ]
    agent = reasonact.ReActV2("thinking_blocks -> provider_fields, reasoning_items", [look_up])
    with reasonact.context(lm=claude(provider, wire, *turns), adapter=reasonact.JSONAdapter()):
        result = agent(thinking_blocks="what is asked")
    assert ("a", "b") == (result.provider_fields, result.reasoning_items)
    assert "what is asked" in str(provider.requests[1]["json"]["messages"][0]["content"])
    assert turns[0] == provider.requests[1]["json"]["messages"][1]["content"]
