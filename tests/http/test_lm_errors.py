"""What a provider may do wrong, over real sockets and the real LiteLLM: always an error of the tree."""

import asyncio
import json
import socket

import pytest

from reasonact.errors import (
    ContextWindowExceededError,
    LMAuthError,
    LMBillingError,
    LMError,
    LMInvalidRequestError,
    LMNotConfiguredError,
    LMProviderError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    LMUnexpectedError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)
from reasonact.lm.litellm_client import LM
from reasonact.lm.retry import RetryPolicy

STATUSES = [*range(400, 432), 451, *range(496, 512), 520, 521, 522, 523, 524, 525, 526, 529, 530, 598, 599]
MODELS = ["openai/gpt-4o-mini", "anthropic/claude-3-5-haiku-20241022"]


def expected_class(status):
    if status in (401, 403):
        return LMAuthError
    if status == 402:
        return LMBillingError
    if status in (408, 504):
        return LMTimeoutError
    if status == 429:
        return LMRateLimitError
    return LMServerError if status >= 500 else LMInvalidRequestError


def lm_for(provider, model="openai/gpt-4o-mini", **options):
    base = provider.root if model.startswith("anthropic") else provider.url
    return LM(
        model, **{"api_base": base, "api_key": "sk-x", "cache": False, "num_retries": 0, "timeout": 10, **options}
    )


def failure(lm, path):
    with pytest.raises(LMError) as caught:
        if path == "sync":
            lm("q")
        else:
            asyncio.run(lm.acall("q"))
    return caught.value


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("path", ["sync", "async"])
def test_every_status_is_an_error_of_its_class_with_what_the_provider_said(provider, wire, model, path):
    lm = lm_for(provider, model)
    wrong = []
    for status in STATUSES:
        provider.says(wire.refusal(status, x_request_id="req-7", retry_after="7"))
        error = failure(lm, path)
        told = (
            type(error),
            error.status,
            error.message,
            error.model,
            error.provider,
            error.request_id,
            error.retry_after,
        )
        if told != (expected_class(status), status, "no can do", model, model.split("/")[0], "req-7", 7.0):
            wrong.append(told)
    assert [] == wrong


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize(
    ("status", "message", "code", "expected"),
    [
        (
            400,
            "This model's maximum context length is 8192 tokens.",
            "context_length_exceeded",
            ContextWindowExceededError,
        ),
        (400, "prompt is too long: 208310 tokens > 200000 maximum", None, ContextWindowExceededError),
        (
            404,
            "The model `x` does not exist or you do not have access to it.",
            "model_not_found",
            LMUnsupportedModelError,
        ),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            LMBillingError,
        ),
        (400, "Your credit balance is too low to access the API.", None, LMBillingError),
        (
            413,
            "Request too large on tokens per minute (TPM): Limit 6000, Requested 9001",
            "rate_limit_exceeded",
            LMRateLimitError,
        ),
        (
            400,
            "max_tokens is too large: 9. This model supports at most 4 completion tokens",
            None,
            LMInvalidRequestError,
        ),
    ],
)
def test_the_words_and_codes_of_a_refusal_count(provider, wire, path, status, message, code, expected):
    provider.says(wire.refusal(status, message, code))
    error = failure(lm_for(provider), path)
    assert (expected, status, message) == (type(error), error.status, error.message)


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"{nope", "application/json", LMProviderError),
        (b"", "application/json", LMProviderError),
        (b"<html>hi</html>", "text/html", LMProviderError),
        (b"hello", "text/plain", LMProviderError),
        (json.dumps({"id": "x"})[:5].encode(), "application/json", LMProviderError),
        (b"[]", "application/json", LMError),
        (b"null", "application/json", LMError),
        (b"{}", "application/json", LMUnexpectedError),
        (b'{"choices": []}', "application/json", LMError),
    ],
)
def test_an_answer_that_is_rubbish_is_an_error_without_a_made_up_status(
    provider, wire, path, model, body, content_type, expected
):
    provider.says(wire.http(body, content_type=content_type))
    lm = lm_for(provider, model)
    error = failure(lm, path)
    assert isinstance(error, expected)
    assert error.status is None
    assert "Traceback" not in error.message


@pytest.mark.parametrize("path", ["sync", "async"])
def test_an_error_object_in_a_body_of_status_200_is_the_providers_failure(provider, wire, path):
    provider.says(wire.http({"error": {"message": "upstream went away", "code": "x"}}))
    error = failure(lm_for(provider), path)
    assert (LMServerError, "upstream went away") == (type(error), error.message)


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize("model", MODELS)
def test_a_connection_that_breaks_is_a_transport_error(provider, wire, path, model):
    half = wire.http(wire.completion(), cut=40)
    for answer in (wire.reset, lambda connection, request: connection.sendall(half)):
        provider.says(answer)
        error = failure(lm_for(provider, model), path)
        assert (LMTransportError, None) == (type(error), error.status)


@pytest.mark.parametrize("path", ["sync", "async"])
def test_nobody_there_is_a_transport_error(provider, path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert LMTransportError is type(failure(lm_for(provider, api_base=f"http://127.0.0.1:{port}/v1"), path))


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Type: application/json\r\n\r\n{"]
)
@pytest.mark.parametrize("model", MODELS)
def test_a_stall_is_a_timeout_error(provider, wire, path, head, model):
    provider.says(wire.stalled(head))
    error = failure(lm_for(provider, model, timeout=0.3), path)
    assert LMTimeoutError is type(error)


@pytest.mark.parametrize("path", ["sync", "async"])
def test_a_missing_key_says_so(monkeypatch, path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    error = failure(LM("openai/gpt-4o-mini", cache=False), path)
    assert LMNotConfiguredError is type(error)
    assert "api_key" in error.message


@pytest.mark.parametrize("path", ["sync", "async"])
def test_a_model_of_no_provider_and_an_option_that_is_not_supported_say_so(provider, path):
    assert LMInvalidRequestError is type(failure(LM("nonsense", cache=False), path))
    error = failure(lm_for(provider, reasoning_effort="low"), path)
    assert LMUnsupportedFeatureError is type(error)
    assert "reasoning_effort" in error.message


QUICK = RetryPolicy(first_wait=0.01, max_wait=0.05)


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize("first", [408, 429, 500, 503, 529, "reset"])
def test_what_a_retry_can_mend_is_sent_again(provider, wire, path, first):
    broken = wire.reset if first == "reset" else wire.refusal(first, retry_after="30")
    provider.says(broken, broken, wire.http(wire.completion("at last")))
    lm = lm_for(provider, num_retries=3, retry_policy=QUICK)
    outputs = lm("q") if path == "sync" else asyncio.run(lm.acall("q"))
    assert (["at last"], 3) == (outputs, len(provider.requests))


@pytest.mark.parametrize("path", ["sync", "async"])
@pytest.mark.parametrize("status", [400, 401, 402, 404, 422])
def test_what_a_retry_cannot_mend_is_sent_once(provider, wire, path, status):
    provider.says(wire.refusal(status))
    failure(lm_for(provider, num_retries=3, retry_policy=QUICK), path)
    assert 1 == len(provider.requests)


@pytest.mark.parametrize("path", ["sync", "async"])
def test_no_request_is_sent_more_often_than_the_lm_says(provider, wire, path):
    provider.says(wire.refusal(503))
    error = failure(lm_for(provider, num_retries=2, retry_policy=QUICK), path)
    assert (LMServerError, 3) == (type(error), len(provider.requests))


async def test_cancelling_ends_a_wait_between_attempts_at_once(provider, wire):
    provider.says(wire.refusal(503, retry_after="30"))
    lm = lm_for(provider, num_retries=3, retry_policy=RetryPolicy(max_wait=30))
    task = asyncio.create_task(lm.acall("q"))
    while not provider.requests:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    assert 1 == len(provider.requests)


@pytest.mark.parametrize("body", [{"choices": [None]}, {"choices": [{"message": {"content": 5}}]}])
def test_an_answer_that_litellm_cannot_read_is_told_without_its_traceback(provider, wire, body):
    provider.says(wire.http(body))
    lm = LM("openai/gpt-4o-mini", api_base=provider.url, api_key="k", cache=False, num_retries=0)
    with pytest.raises(LMUnexpectedError, match=r"^\[openai/gpt-4o-mini\] Invalid response object: \w+") as error:
        lm("q")
    assert [] == [word for word in ("Traceback", ".py", "received_args", "\n") if word in error.value.message]
