"""Client exceptions put into the tree, from exceptions alone (the sockets are in tests/http)."""

import email.utils
import time

import httpx
import openai
import pytest

from reasonact.errors import (
    AdapterParseError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    LMUnexpectedError,
)
from reasonact.lm.provider_errors import translate

REQUEST = httpx.Request("POST", "https://example.test/v1/chat/completions")


def refused(status, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx.Response(
        status, json=body or {"error": {"message": "no", "code": "c"}}, headers=headers, request=REQUEST
    )
    return openai.APIStatusError("no", response=response, body=response.json()["error"])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (refused(401), LMAuthError),
        (refused(429), LMRateLimitError),
        (refused(429, {"error": {"message": "no", "code": "insufficient_quota"}}), LMBillingError),
        (refused(503), LMServerError),
        (openai.APITimeoutError(REQUEST), LMTimeoutError),
        (openai.APIConnectionError(request=REQUEST), LMTransportError),
        (httpx.ReadTimeout("slow"), LMTimeoutError),
        (httpx.ConnectError("nobody"), LMTransportError),
        (httpx.RemoteProtocolError("half"), LMTransportError),
    ],
)
def test_exceptions_of_openai_and_httpx_are_known(error, expected):
    assert expected is type(translate(error, model="openai/x"))


def test_a_programs_own_exceptions_are_its_own_business():
    for error in (ValueError("x"), TimeoutError("x"), ConnectionError("x"), KeyboardInterrupt()):
        assert translate(error) is None
    assert translate(AdapterParseError("ChatAdapter", None, "x")) is None
    assert translate(KeyboardInterrupt(), whatever=True) is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("x"), LMUnexpectedError),
        (TimeoutError("x"), LMTimeoutError),
        (ConnectionResetError("x"), LMTransportError),
        (ImportError("pip install boto3"), LMConfigurationError),
    ],
)
def test_in_the_librarys_own_client_every_exception_has_a_place(error, expected):
    assert expected is type(translate(error, whatever=True))


def test_an_error_of_the_tree_stays_itself():
    error = LMRateLimitError("slow")
    assert error is translate(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-3"}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read(headers, seconds):
    assert seconds == translate(refused(429, **headers)).retry_after


def test_a_wait_until_a_date_is_read():
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert 50 < translate(refused(429, retry_after=date)).retry_after <= 60


def test_everything_that_helps_a_support_desk_is_told():
    error = translate(
        refused(400, {"error": {"message": "bad", "code": "c7"}}, x_request_id="req-1"), model="azure/gpt"
    )
    assert ("bad", "azure/gpt", "azure", 400, "c7", "req-1") == (
        error.message,
        error.model,
        error.provider,
        error.status,
        error.provider_code,
        error.request_id,
    )
    assert "[azure/gpt] bad" == str(error)


def test_a_chain_that_bites_its_tail_is_read_once():
    first, second = httpx.ConnectError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert LMTransportError is type(translate(first))


def test_a_class_of_the_clients_that_is_not_known_is_unexpected():
    class Odd(httpx.HTTPError):
        pass

    error = translate(Odd("what"))
    assert (LMUnexpectedError, "what") == (type(error), error.message)
    assert isinstance(error, LMError)
