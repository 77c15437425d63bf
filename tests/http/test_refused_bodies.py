"""A server that validates what it is sent, and answers 500 to what it does not know: it is not asked that again."""

from __future__ import annotations

from typing import Any

import pytest

from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.errors import LMInvalidRequestError
from reasonact.lm.litellm_client import LM
from reasonact.signatures.signature import Signature

# As llama-cpp-python's server says it.
WORDS = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    "'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
)
AS_JSON = '{"detail": [{"loc": ["body", "response_format", "type"], "msg": "no such form"}]}'


def lm_for(provider: Any) -> LM:
    options: Any = {"api_base": provider.url, "api_key": "none", "cache": False}
    return LM("openai/small", supports={"response_schema": True}, **options)


@pytest.mark.parametrize("words", [WORDS, AS_JSON])
def test_a_body_at_fault_is_an_invalid_request_and_not_sent_again(words: str, provider: Any, wire: Any) -> None:
    provider.says(wire.refusal(500, words))
    with pytest.raises(LMInvalidRequestError) as caught:
        lm_for(provider)("q")
    assert 500 == caught.value.status
    assert 1 == len(provider.requests)


def test_a_schema_that_is_refused_so_is_given_up(provider: Any, wire: Any) -> None:
    answer = wire.http(wire.completion('{"answer": "yes"}'))
    provider.says(wire.refusal(500, WORDS), answer)
    lm = lm_for(provider)
    for _ in range(2):
        assert [{"answer": "yes"}] == JSONAdapter()(lm, {}, Signature("q -> answer"), [], {"q": "x"})
    forms = [request["json"]["response_format"]["type"] for request in provider.requests]
    assert ["json_schema", "json_object", "json_object"] == forms
