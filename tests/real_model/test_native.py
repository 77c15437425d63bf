"""Agents on a real model behind a server that calls tools natively."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import reasonact
from reasonact.errors import LMStreamAssemblyError
from reasonact.streaming import RunFinished

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning"),  # LiteLLM leaves one behind
]


def native() -> reasonact.ChatAdapter:
    # The server calls nothing unless `tool_choice` is sent, which `parallel_tool_calls` brings along.
    return reasonact.ChatAdapter(use_native_function_calling=True, parallel_tool_calls=False)


def test_react_v2_calls_natively(calling_lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=2)
    with reasonact.context(lm=calling_lm, adapter=native()):
        result = agent(city="Paris")
    checks.outputs(result)
    calls = checks.calls(agent, result.history)
    assert "submit" == calls[-1].name
    assert all(call.id.startswith("call_") for call in calls)
    assert result.termination_reason in ("submit", "forced_submit")
    assert "Paris" == result.history.messages[0]["city"]
    assert result.usage.calls >= len(calls)
    assert result.usage.total_tokens > 0


def test_a_forced_submit_is_a_choice_of_the_tool(calling_lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=0)
    with reasonact.context(lm=calling_lm, adapter=native()):
        result = asyncio.run(agent.acall(city="Paris"))
    checks.outputs(result)
    assert ["submit"] == [call.name for call in checks.calls(agent, result.history)]
    assert "forced_submit" == result.termination_reason
    checks.usage(result, requests=1)


def test_a_forced_submit_streams(calling_lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=0)
    with reasonact.context(lm=calling_lm, adapter=native()):
        *_, last = agent.stream(city="Paris")
    assert isinstance(last, RunFinished)
    checks.outputs(last.prediction)
    assert ["submit"] == [call.name for call in checks.calls(agent, last.prediction.history)]


def test_a_free_choice_does_not_stream_and_that_is_told(calling_lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=1)
    with reasonact.context(lm=calling_lm, adapter=native()), pytest.raises(LMStreamAssemblyError, match="before"):
        list(agent.stream(city="Paris"))


def test_react_plays_there_too(calling_lm: Any, checks: Any) -> None:
    agent = reasonact.ReAct(checks.task, tools=list(checks.tools), max_iters=1)
    adapter = reasonact.JSONAdapter(constrain="json_object", max_text_chars=60)
    with reasonact.context(lm=calling_lm, adapter=adapter):
        result = agent(city="Paris")
    checks.outputs(result)
    assert 1 == len(checks.calls(agent, result.history))
    checks.usage(result, requests=2)
