"""What an exception of a model's client tells: status, code, words, waits.

LiteLLM wraps most failures more than once and makes up responses and statuses of its own
on the way, so the whole chain of causes is read, and what came over the wire counts more
than what a wrapper says.
"""

from __future__ import annotations

import datetime
import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

# Libraries whose exceptions hold the response that was received.
_WIRE: Final = frozenset({"openai", "httpx", "anthropic", "requests", "aiohttp"})
_HTTP_DATE: Final = "%a, %d %b %Y %H:%M:%S GMT"
_WRAPPERS: Final = re.compile(
    r"^(?:(?:litellm\.)?[A-Z][A-Za-z]*(?:Error|Timeout|Exception)(?: Error)?: ?|(?:litellm\.)?Timeout(?: Error)?: "
    r"|[A-Za-z_]+(?:Exception|Error)(?: [A-Za-z]+)? - )+"
)


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """The facts, each from the outermost exception that has it.

    Attributes:
        names: Class names of every exception in the chain and of their bases, plain and
            with the package before a dot.
        root: The class name of the innermost exception.
        message: The provider's words where they can be told, else the client's.
        status: The HTTP status that was received, else the one that the client claims.
        received: Whether a response came over the wire.
        provider: The provider, as LiteLLM names it.
        provider_code: The provider's code for the failure, or its type.
        request_id: The provider's id of the request.
        retry_after: Seconds that the provider asked to wait.
    """

    names: frozenset[str]
    root: str
    message: str
    status: int | None
    received: bool
    provider: str | None
    provider_code: str | None
    request_id: str | None
    retry_after: float | None


def read_failure(error: BaseException, *, model: str | None = None) -> FailureFacts:
    """Collect what an exception and its causes say.

    Args:
        error: The outermost exception.
        model: The model that was asked; its prefix names the provider where nothing else does.

    Returns:
        The facts.
    """
    chain = list(_chain(error))
    names: set[str] = set()
    for link in chain:
        for cls in type(link).__mro__:
            names |= {cls.__name__, f"{cls.__module__.partition('.')[0]}.{cls.__name__}"}
    received = _first(_received_status(link) for link in chain)
    body = _first(_body(link) for link in chain) or {}
    headers = [found for link in chain for found in _headers(link)]
    provider = _first(getattr(link, "llm_provider", None) for link in chain)
    if not provider and model and "/" in model:
        provider = model.partition("/")[0]
    return FailureFacts(
        names=frozenset(names),
        root=type(next((link for link in reversed(chain) if not isinstance(link, StopIteration)), error)).__name__,
        message=_message(chain, body),
        status=received or _first(_claimed_status(link) for link in chain),
        received=received is not None,
        provider=provider or None,
        provider_code=_code(body) or _first(_word(getattr(link, "code", None)) for link in chain),
        request_id=_first(_header(headers, name) for name in ("request-id", "x-amzn-requestid", "x-request-id"))
        or _first(_word(getattr(link, "request_id", None)) for link in chain)
        or _word(body.get("request_id")),
        retry_after=_retry_after(headers),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value), None)


def _word(value: Any) -> str | None:
    """A code that says more than a status does."""
    return value if isinstance(value, str) and value and not value.isdigit() else None


def _is_wire(link: BaseException) -> bool:
    return type(link).__module__.partition(".")[0] in _WIRE or type(link).__name__.endswith("HTTPStatusError")


def _received_status(link: BaseException) -> int | None:
    if not _is_wire(link):
        return None
    status = getattr(getattr(link, "response", None), "status_code", None) or getattr(link, "status", None)
    return status if isinstance(status, int) else None


def _claimed_status(link: BaseException) -> int | None:
    status = getattr(link, "status_code", None)
    return status if isinstance(status, int) and not isinstance(status, bool) else None


def _body(link: BaseException) -> dict[str, Any] | None:
    """The provider's error object, out of the response or out of the text that quotes it."""
    found = getattr(link, "body", None)
    if not isinstance(found, dict) and _is_wire(link):
        try:
            found = link.response.json()  # type: ignore[attr-defined]
        except Exception:  # not read, not JSON, or no response at all
            found = None
    if not isinstance(found, dict):
        found = _quoted_object(str(getattr(link, "message", "") or ""))
    if isinstance(found, list) and found:  # Gemini's stream errors come in a list
        found = found[0]
    if not isinstance(found, dict):
        return None
    inner = found.get("error")
    if isinstance(inner, dict):
        return {"request_id": found.get("request_id"), **inner}
    return {**found, "message": inner} if isinstance(inner, str) else found


def _quoted_object(text: str) -> Any:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or end - start > 100_000:
        return None
    try:
        return json.loads(text[start : end + 1])
    except ValueError:
        return None


def _code(body: dict[str, Any]) -> str | None:
    return _first(_word(body.get(key)) for key in ("code", "status", "type"))


def _message(chain: list[BaseException], body: dict[str, Any]) -> str:
    told = body.get("message")
    if isinstance(told, str) and told.strip():
        return told.strip()
    for link in chain:
        text = getattr(link, "message", None)
        text = _without_traceback(_WRAPPERS.sub("", text if isinstance(text, str) and text else str(link)).strip())
        if text:
            return text
    return type(chain[0]).__name__


def _without_traceback(text: str) -> str:
    """The text up to a traceback that LiteLLM wrote into it, and of that the line that says what was raised."""
    head, mark, trace = text.partition("Traceback (most recent call last):")
    if not mark:
        return text
    raised = next((line for line in trace.splitlines() if line[:1].strip()), "")
    return ": ".join(part for part in (head.strip(), raised.strip()) if part)


def _headers(link: BaseException) -> Iterator[Any]:
    for holder in (link, getattr(link, "response", None)):
        for name in ("headers", "litellm_response_headers"):
            found = getattr(holder, name, None)
            if found is not None and hasattr(found, "get"):
                yield found


def _header(headers: list[Any], name: str) -> str | None:
    return _first(str(found.get(name) or found.get(f"llm_provider-{name}") or "") for found in headers)


def _retry_after(headers: list[Any]) -> float | None:
    """Seconds to wait, from milliseconds, seconds, or a date."""
    millis, text = _header(headers, "retry-after-ms"), _header(headers, "retry-after")
    for number, unit in ((millis, 1000.0), (text, 1.0)):
        try:
            if number is not None:
                return max(0.0, float(number) / unit)
        except ValueError:
            continue
    try:
        date = datetime.datetime.strptime(text or "", _HTTP_DATE).replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - time.time())
