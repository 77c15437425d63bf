"""The name under which a request's answer is cached."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic_core import to_json

from reasonact.lm.secrets import is_secret_name, without_secrets_in_url

# What says how a request is sent, not what is asked.
_MANNER: Final = frozenset(
    {"timeout", "request_timeout", "stream_timeout", "num_retries", "max_retries", "cache", "stream", "stream_options"}
    | {"callbacks", "success_callback", "failure_callback", "logger_fn", "client", "http_client", "metadata", "user"}
)

# What is asked in the program's own words: nothing in it is a secret of the transport.
_SAID: Final = frozenset({"messages", "prompt", "tools", "response_format"})


def request_key(request: Mapping[str, Any], ignored: Iterable[str] = ()) -> str:
    """A digest of what a request asks for, the same in every process.

    Left out are secrets (also those within URLs and headers), callbacks, and what says how
    the request is sent: timeouts, retries, streaming.

    Args:
        request: Model, messages and options. It is read here and now: what is done to it
            later changes nothing.
        ignored: Further names that do not count.

    Returns:
        64 hexadecimal digits.

    Raises:
        TypeError: The request holds an object that has no stable description, or itself.
    """
    left_out = _MANNER.union(ignored)
    said, kept = {}, {}
    for name, value in request.items():
        if name in _SAID:
            said[name] = value
        elif name not in left_out and not is_secret_name(name):
            kept[name] = _without_secrets(value)
    try:
        text = to_json([dict(sorted(said.items())), dict(sorted(kept.items()))], fallback=_described)
    except ValueError as error:  # an object that it cannot write, one that holds itself, a lone surrogate
        raise TypeError(f"the request has no description that stays the same from run to run: {error}") from error
    return hashlib.sha256(text).hexdigest()


def _without_secrets(value: Any) -> Any:
    """Plain data whose order is the same in every process."""
    if isinstance(value, str):
        return without_secrets_in_url(value)
    if isinstance(value, dict):
        kept = {str(k): _without_secrets(v) for k, v in value.items() if not is_secret_name(str(k))}
        return dict(sorted(kept.items()))
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_without_secrets(item) for item in value), key=repr)
    return {"bytes": hashlib.sha256(value).hexdigest()} if isinstance(value, bytes) else value


def _described(value: Any) -> Any:
    """Plain data in place of an object that has no form in JSON."""
    if isinstance(value, type):
        schema = getattr(value, "model_json_schema", None)
        return {"class": f"{value.__module__}.{value.__qualname__}", "schema": schema() if callable(schema) else None}
    raise ValueError(f"a {type(value).__name__} has no form in JSON")
