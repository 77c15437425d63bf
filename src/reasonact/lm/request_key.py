"""The name under which a request's answer is cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from reasonact.lm.secrets import is_secret_name, without_secrets_in_url

# What says how a request is sent, not what is asked.
_MANNER: Final = frozenset(
    {"timeout", "request_timeout", "stream_timeout", "num_retries", "max_retries", "cache", "stream", "stream_options"}
    | {"callbacks", "success_callback", "failure_callback", "logger_fn", "client", "http_client", "metadata", "user"}
)


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
        TypeError: The request holds an object that has no stable description.
    """
    left_out = _MANNER.union(ignored)
    kept = {name: value for name, value in request.items() if name not in left_out and not is_secret_name(name)}
    # Only the options are searched for secrets: what stands in messages is what is asked.
    said = {name: kept.pop(name) for name in ("messages", "prompt", "tools", "response_format") if name in kept}
    text = json.dumps([_described(said, secret=False), _described(kept, secret=True)], separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _described(value: Any, *, secret: bool) -> Any:
    """Plain JSON data, keys in order."""
    if isinstance(value, str):
        return without_secrets_in_url(value) if secret else value
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        items = [(k, v) for k, v in value.items() if not (secret and isinstance(k, str) and is_secret_name(k))]
        return {str(k): _described(v, secret=secret) for k, v in sorted(items, key=lambda item: str(item[0]))}
    if isinstance(value, list | tuple):
        return [_described(item, secret=secret) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_described(item, secret=secret) for item in value), key=repr)
    if isinstance(value, bytes):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    schema = getattr(value, "model_json_schema", None)
    if isinstance(value, type):
        name = f"{value.__module__}.{value.__qualname__}"
        return {"class": name, "schema": _described(schema(), secret=False)} if callable(schema) else {"class": name}
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return _described(dump(mode="json"), secret=secret)
    raise TypeError(f"a {type(value).__name__} has no description that stays the same from run to run")
