"""From the exceptions of LiteLLM, openai, httpx and their like to the library's own tree.

Nothing here imports those libraries: an exception is known by the names of its classes,
and told apart by status, code and words. LiteLLM wraps most failures more than once, so
the whole chain of causes is looked at.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from reasonact.errors import (
    ContextWindowExceededError,
    DSPyError,
    LMAuthError,
    LMBillingError,
    LMError,
    LMInvalidRequestError,
    LMProviderError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    LMUnexpectedError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)
from reasonact.lm.context_window import is_context_overflow, is_rate_limit_text
from reasonact.runtime.settings import settings

_CLIENTS: Final = frozenset(
    {"litellm", "openai", "httpx", "httpcore", "aiohttp", "anthropic", "requests", "urllib3", "botocore", "google"}
)
_BILLING_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
_BILLING: Final = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|credit balance is too low|check your plan and billing"
    r"|exceeded your (current )?(quota|monthly)|billing hard limit|out of credits|BudgetExceeded",
    re.IGNORECASE,
)
_NO_MODEL: Final = re.compile(
    r"model[_ ]not[_ ]found|unknown model|no such model|model .{0,80}(does not exist|not found|is not supported)",
    re.IGNORECASE | re.DOTALL,
)
_LITELLM_PREFIX: Final = re.compile(r"^(?:litellm\.[A-Za-z.]+(?:Error|Timeout|Exception)?: |[A-Za-z]+Exception - )+")
_TIMEOUTS: Final = frozenset(
    {
        "Timeout",
        "APITimeoutError",
        "TimeoutException",
        "TimeoutError",
        "ConnectTimeout",
        "ReadTimeout",
        "ServerTimeoutError",
    }
)
_BROKEN_CONNECTIONS: Final = frozenset(
    {
        *("TransportError", "NetworkError", "ConnectError", "ReadError", "WriteError", "RemoteProtocolError"),  # httpx
        *("ConnectionError", "ProtocolError", "IncompleteRead"),
        *("ClientError", "ClientConnectionError", "ClientPayloadError", "ServerDisconnectedError"),  # aiohttp
    }
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What an exception and its causes tell of a failed request."""

    names: frozenset[str]
    message: str
    status: int | None
    provider: str | None
    provider_code: str | None
    request_id: str | None
    retry_after: float | None


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
    if not whatever and not _is_clients(error):
        return None
    facts = read_facts(error, model=model)
    details: dict[str, Any] = {
        "model": model,
        "provider": facts.provider,
        "provider_code": facts.provider_code,
        "status": facts.status,
        "request_id": facts.request_id,
        "retry_after": facts.retry_after,
    }
    cls = _class_for(facts)
    if cls is ContextWindowExceededError:
        return ContextWindowExceededError(message=facts.message, **details)
    return cls(facts.message, **details)


def _is_clients(error: BaseException) -> bool:
    return any(cls.__module__.partition(".")[0] in _CLIENTS for cls in type(error).__mro__)


def _class_for(facts: Facts) -> type[LMError]:
    names, status, code, message = facts.names, facts.status, facts.provider_code, facts.message
    patterns = settings.get("context_window_patterns", ())
    if is_context_overflow(message, status=status, code=code, patterns=patterns):
        return ContextWindowExceededError
    if "ContextWindowExceededError" in names and not is_rate_limit_text(message):
        return ContextWindowExceededError
    if status == 402 or code in _BILLING_CODES or "BudgetExceededError" in names or _BILLING.search(message):
        return LMBillingError
    if "UnsupportedParamsError" in names:
        return LMUnsupportedFeatureError
    if names & _TIMEOUTS and status in (None, 408, 500, 504):
        return LMTimeoutError
    if status in (None, 500) and names & _BROKEN_CONNECTIONS:
        return LMTransportError
    if status is None or ("APIConnectionError" in names and status == 500):
        return LMTransportError if _only_connection(names) else LMUnexpectedError
    if status == 413 and is_rate_limit_text(message):  # Groq: one request over the tokens of a minute
        return LMRateLimitError
    return _class_for_status(status, code, message)


def _only_connection(names: frozenset[str]) -> bool:
    """An openai connection error; LiteLLM's class of that name stands for its own faults too."""
    return bool(names & {"openai.APIConnectionError"}) and "litellm.APIConnectionError" not in names


def _class_for_status(status: int, code: str | None, message: str) -> type[LMError]:
    if status in (401, 403):
        return LMAuthError
    if status in (408, 504):
        return LMTimeoutError
    if status == 429:
        return LMRateLimitError
    if status >= 500:
        return LMServerError
    if code == "model_not_found" or (status in (400, 404) and _NO_MODEL.search(message)):
        return LMUnsupportedModelError
    if status >= 400:
        return LMInvalidRequestError
    return LMProviderError


def read_facts(error: BaseException, *, model: str | None = None) -> Facts:
    """Collect what an exception and its causes say.

    Args:
        error: The outermost exception.
        model: The model that was asked; its prefix names the provider where nothing else does.

    Returns:
        The facts; of each the outermost that is there, save that a status read off a real
        response wins over one that a wrapper made up.
    """
    chain = list(_chain(error))
    names: set[str] = set()
    for link in chain:
        for cls in type(link).__mro__:
            names |= {cls.__name__, f"{cls.__module__.partition('.')[0]}.{cls.__name__}"}
    body = _first(_body(link) for link in chain)
    code = _first(_word(body.get("code")) for body in [body or {}]) or _first(
        _word(getattr(link, "code", None)) for link in chain
    )
    provider = _first(getattr(link, "llm_provider", None) for link in chain)
    if not provider and model and "/" in model:
        provider = model.partition("/")[0]
    status = _first(_real_status(link) for link in chain) or _first(_claimed_status(link) for link in chain)
    headers = [found for link in chain for found in _headers(link)]
    request_id = _first(_header(headers, name) for name in ("x-request-id", "request-id", "x-amzn-requestid"))
    return Facts(
        names=frozenset(names),
        message=_message(error),
        status=status,
        provider=provider or None,
        provider_code=code,
        request_id=request_id or _first(_word(getattr(link, "request_id", None)) for link in chain),
        retry_after=_retry_after(headers),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _first(values: Any) -> Any:
    return next((value for value in values if value), None)


def _word(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def _real_status(link: BaseException) -> int | None:
    """The status of a response that came over the wire: its request has a URL, and it is the error's own."""
    response = getattr(link, "response", None)
    status = getattr(response, "status_code", None)
    if type(link).__module__.startswith("litellm"):
        return None
    return status if isinstance(status, int) else None


def _claimed_status(link: BaseException) -> int | None:
    status = getattr(link, "status_code", None) or getattr(link, "status", None)
    return status if isinstance(status, int) else None


def _body(link: BaseException) -> dict[str, Any] | None:
    body = getattr(link, "body", None)
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return None
    if not isinstance(body, dict):
        return None
    inner = body.get("error")
    return inner if isinstance(inner, dict) else body


def _headers(link: BaseException) -> Iterator[Any]:
    for holder in (link, getattr(link, "response", None)):
        for name in ("headers", "litellm_response_headers"):
            found = getattr(holder, name, None)
            if found is not None and hasattr(found, "get"):
                yield found


def _header(headers: list[Any], name: str) -> str | None:
    for found in headers:
        value = found.get(name) or found.get(f"llm_provider-{name}")
        if value:
            return str(value)
    return None


def _retry_after(headers: list[Any]) -> float | None:
    """Seconds to wait, from milliseconds, seconds, or a date."""
    millis = _header(headers, "retry-after-ms")
    text = _header(headers, "retry-after")
    try:
        if millis is not None:
            return max(0.0, float(millis) / 1000)
        if text is not None:
            return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time()) if text else None
    except (TypeError, ValueError):
        return None


def _message(error: BaseException) -> str:
    text = getattr(error, "message", None)
    text = text if isinstance(text, str) and text else str(error)
    return _LITELLM_PREFIX.sub("", text).strip() or type(error).__name__
