"""A model behind a server of OpenAI's form, whose chat template reads the content of every message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reasonact.lm.litellm_client import LM

CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
}
MESSAGES = [{"role": "user", "content": "q"}, CALLED, {"role": "tool", "tool_call_id": "c", "content": "found"}]


@pytest.mark.parametrize("place", ["api_base", "base_url"])
def test_a_turn_of_calls_alone_reaches_it_with_an_empty_text(provider: Any, wire: Any, place: str) -> None:
    provider.says(wire.http(wire.completion()))
    given = json.loads(json.dumps(MESSAGES))
    LM("openai/small", **{place: provider.url}, api_key="none", cache=False)(messages=given)
    assert "" == provider.requests[0]["json"]["messages"][1]["content"]
    assert MESSAGES == given


def test_a_text_beside_calls_stays(provider: Any, wire: Any) -> None:
    provider.says(wire.http(wire.completion()))
    spoken = {**CALLED, "content": "I look."}
    LM("openai/small", api_base=provider.url, api_key="none", cache=False)(messages=[MESSAGES[0], spoken, MESSAGES[2]])
    assert "I look." == provider.requests[0]["json"]["messages"][1]["content"]


def test_openai_itself_is_sent_none(provider: Any, wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.says(wire.http(wire.completion()))
    monkeypatch.setenv("OPENAI_API_BASE", provider.url)
    LM("openai/gpt-4o-mini", api_key="none", cache=False)(messages=MESSAGES)
    assert not provider.requests[0]["json"]["messages"][1].get("content")
