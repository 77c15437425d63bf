"""A provider that LiteLLM reaches over httpx: every refusal is an error of the tree, sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import respx

from reasonact import LM
from reasonact.errors import LMError, LMProviderError
from reasonact.lm.litellm_setup import get_litellm

URL = "https://api.anthropic.com/v1/messages"
QUESTION = [{"role": "user", "content": "q"}]


@pytest.fixture(autouse=True)
def httpx_carries_async_calls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = get_litellm()
    monkeypatch.setattr(litellm, "disable_aiohttp_transport", True)
    litellm.in_memory_llm_clients_cache.flush_cache()  # clients made before know nothing of the switch


def claude() -> LM:
    return LM("anthropic/claude-sonnet-4-5", api_key="k", cache=False, num_retries=0)


def refusal(status: int) -> httpx.Response:
    body = {"type": "error", "error": {"type": "some_error", "message": f"refused with {status}"}}
    return httpx.Response(status, json=body, headers={"request-id": f"req_{status}"})


def failure(lm: LM, how: str) -> LMError:
    with pytest.raises(LMError) as caught:
        if how == "sync":
            lm(messages=QUESTION)
        else:
            asyncio.run(lm.acall(messages=QUESTION))
    return caught.value


@pytest.mark.parametrize("how", ["sync", "async"])
@respx.mock
def test_every_status_from_400_to_599_is_an_error_of_the_tree(how: str) -> None:
    statuses = range(400, 600) if how == "sync" else range(400, 600, 7)
    for status in statuses:
        respx.post(URL).mock(return_value=refusal(status))
        error = failure(claude(), how)
        assert (status, "anthropic/claude-sonnet-4-5") == (error.status, error.model), repr(error)
        assert isinstance(error, LMProviderError)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize(
    "broken",
    [httpx.ConnectError("no route"), httpx.ReadTimeout("too slow"), httpx.RemoteProtocolError("half a body")],
    ids=lambda error: type(error).__name__,
)
@respx.mock
def test_a_connection_that_breaks_is_an_error_of_the_tree(broken: Exception, how: str) -> None:
    respx.post(URL).mock(side_effect=broken)
    assert isinstance(failure(claude(), how), LMError)


@respx.mock
def test_an_answer_comes_with_its_cached_and_written_tokens() -> None:
    body: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Paris"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 10,
            "output_tokens": 2,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 3,
        },
    }
    respx.post(URL).mock(return_value=httpx.Response(200, json=body))
    lm = claude()
    assert ["Paris"] == lm(messages=QUESTION)
    usage = lm.history[-1]["usage"]
    assert (7, 3) == (usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"])
