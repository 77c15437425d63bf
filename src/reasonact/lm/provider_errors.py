"""From the exceptions of LiteLLM, openai, httpx and their like to the library's own tree.

Nothing here imports those libraries: an exception is known by the names of its classes,
and told apart by status, code and words.
"""

from __future__ import annotations

import re
from typing import Any, Final

from reasonact.errors import (
    ContextWindowExceededError,
    DSPyError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
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
from reasonact.lm.context_window import is_context_overflow, is_look_alike, is_rate_limit_text
from reasonact.lm.failure_facts import FailureFacts, read_failure
from reasonact.runtime.settings import settings

_CLIENTS: Final = frozenset(
    {"litellm", "openai", "httpx", "httpcore", "aiohttp", "anthropic", "requests", "urllib3", "botocore", "google"}
)
_BILLING_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_BILLING: Final = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|credit balance is too low|check your plan and billing"
    r"|billing hard limit|out of credits",
    re.IGNORECASE,
)
_NO_MODEL: Final = re.compile(
    r"model[_ ]not[_ ]found|unknown model|no such model|model .{0,80}(does not exist|not found|is not supported)",
    re.IGNORECASE | re.DOTALL,
)
_NO_KEY: Final = re.compile(r"missing credentials|api[_ ]key .{0,40}must be set|missing .{0,20}api key", re.IGNORECASE)
_NO_JSON: Final = re.compile(
    r"empty or invalid response from llm endpoint|unable to get json response|error converting to valid response block"
    r"=expecting",
    re.IGNORECASE,
)
_NO_RESPONSE_SHAPE: Final = re.compile(
    r"provider returned a response with no|invalid response object|error converting to valid response", re.IGNORECASE
)
# FastAPI's words for a body that is at fault; llama-cpp-python's server says them with status 500.
_BAD_BODY: Final = re.compile(r"""['"]loc['"]: [(\[]['"]body['"]""")
_TIMEOUTS: Final = frozenset({"Timeout", "APITimeoutError", "TimeoutException", "TimeoutError", "ServerTimeoutError"})
_BROKEN_CONNECTIONS: Final = frozenset(
    {
        *("TransportError", "NetworkError", "ConnectError", "ReadError", "WriteError", "RemoteProtocolError"),  # httpx
        *("ConnectionError", "ProtocolError", "IncompleteRead"),
        *("ClientError", "ClientConnectionError", "ClientPayloadError", "ServerDisconnectedError"),  # aiohttp
    }
)
_FAULTS: Final = frozenset(
    {"TypeError", "KeyError", "AttributeError", "IndexError", "ValueError", "ValidationError", "RuntimeError"}
)


def translate(error: BaseException, *, model: str | None = None, whatever: bool = False) -> LMError | None:
    """The error of the library's tree that stands for a client's exception.

    Args:
        error: What was raised.
        model: The model that was asked.
        whatever: Whether an exception of no known client counts too, as an
            `LMUnexpectedError`: so for the library's own client, whose faults are not the
            program's.

    Returns:
        A new error of the tree, or ``error`` itself if it is one; None where the exception
        is the program's own business.
    """
    if isinstance(error, LMError):
        return error
    if isinstance(error, DSPyError) or not isinstance(error, Exception):
        return None
    if not whatever and not any(cls.__module__.partition(".")[0] in _CLIENTS for cls in type(error).__mro__):
        return None
    facts = read_failure(error, model=model)
    cls = _class_for(facts)
    details: dict[str, Any] = {
        "status": facts.status if facts.received or _is_told_by_status(facts) else None,
        "retry_after": facts.retry_after,
        "request_id": facts.request_id,
        "model": model,
        "provider": facts.provider,
        "provider_code": facts.provider_code,
    }
    if cls is ContextWindowExceededError:
        return ContextWindowExceededError(message=facts.message, **details)
    return cls(facts.message, **details)


def _class_for(facts: FailureFacts) -> type[LMError]:
    names, status, code, message = facts.names, facts.status, facts.provider_code, facts.message
    patterns = settings.get("context_window_patterns", ())
    if is_context_overflow(message, status=status, code=code, patterns=patterns):
        return ContextWindowExceededError
    if "ContextWindowExceededError" in names and not is_look_alike(message):
        return ContextWindowExceededError
    if status == 402 or code in _BILLING_CODES or "BudgetExceededError" in names or _BILLING.search(message):
        return LMBillingError
    if "UnsupportedParamsError" in names:
        return LMUnsupportedFeatureError
    if not facts.received and not _is_told_by_status(facts):
        return _class_without_response(facts)
    if status is None:  # LiteLLM found an error object in a body that came with status 200
        return LMServerError
    return _class_for_status(status, code, message)


def _is_told_by_status(facts: FailureFacts) -> bool:
    """Whether, without a response at hand, the client's class stands for an answer of the provider."""
    if facts.names & (_TIMEOUTS | _BROKEN_CONNECTIONS | {"APIConnectionError", "ImportError", "JSONDecodeError"}):
        return False
    if _NO_KEY.search(facts.message) or _NO_JSON.search(facts.message) or _NO_RESPONSE_SHAPE.search(facts.message):
        return False
    if facts.root in _FAULTS and facts.status in (None, 422, 500):
        return False
    return (facts.status is not None and facts.status >= 400) or "litellm.APIError" in facts.names


def _class_without_response(facts: FailureFacts) -> type[LMError]:
    names, message = facts.names, facts.message
    if names & _TIMEOUTS:
        return LMTimeoutError
    if names & _BROKEN_CONNECTIONS:
        return LMTransportError
    if "ImportError" in names:
        return LMConfigurationError
    if _NO_KEY.search(message):
        return LMNotConfiguredError
    if "JSONDecodeError" in names or _NO_JSON.search(message):
        return LMProviderError
    if facts.root in _FAULTS or _NO_RESPONSE_SHAPE.search(message):
        return LMUnexpectedError
    return LMTransportError if "APIConnectionError" in names else LMUnexpectedError


def _class_for_status(status: int, code: str | None, message: str) -> type[LMError]:
    if status in (401, 403):
        return LMAuthError
    if status in (408, 504):
        return LMTimeoutError
    if status == 429 or (status == 413 and is_rate_limit_text(message)):  # Groq: a request over the tokens of a minute
        return LMRateLimitError
    if status >= 500 and not _BAD_BODY.search(message):
        return LMServerError
    if code == "model_not_found" or (status in (400, 404) and _NO_MODEL.search(message)):
        return LMUnsupportedModelError
    return LMInvalidRequestError if status >= 400 else LMProviderError
