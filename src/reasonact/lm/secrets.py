"""Keeping keys out of what is stored: saved states, histories, cache keys."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from operator import is_
from typing import Any, Final

_ALWAYS: Final = frozenset(
    {
        *("secret", "secrets", "password", "passwd", "passphrase", "credential", "credentials", "apikey"),
        *("authorization", "authorisation", "cookie"),
    }
)
_HOLDERS: Final = frozenset({"key", "keys", "token", "tokens"})
# `api_key` and `session_token` are secrets, `prompt_cache_key` and `max_tokens` are not: the word before tells.
_OWNERS: Final = frozenset(
    {
        *("access", "account", "ad", "api", "auth", "bearer", "client", "github", "hf", "id", "license", "master"),
        *("oauth", "private", "refresh", "security", "session", "subscription"),
    }
)
# Where things of a type keep a schema, whose names are arguments and fields; a function has two forms.
_DESCRIPTIONS: Final[Mapping[Any, tuple[str, ...]]] = {
    "function": ("function", "parameters"),
    "json_schema": ("json_schema", "schema"),
    "json_object": ("schema",),
}
_USERINFO: Final = re.compile(r"(?<=://)[^/@\s]+@")
_SECRET_QUERY: Final = re.compile(
    r"(?i)([?&](?:api[_-]?key|key|token|access[_-]?token|sig|signature|password)=)[^&#\s]*"
)


@functools.lru_cache(maxsize=2048)
def is_secret_name(name: str) -> bool:
    """Tell whether a keyword, header or environment name is one that holds a secret.

    Args:
        name: Such as ``api_key``, ``Authorization`` or ``aws_secret_access_key``.

    Returns:
        True where its value must not be stored.
    """
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    if not words:
        return False
    if not _ALWAYS.isdisjoint(words) or words == ["auth"]:
        return True
    return words[-1] in _HOLDERS and (len(words) == 1 or words[-2] in _OWNERS)


def without_secrets(value: Any) -> Any:
    """Options without entries whose names tell of a secret, and with URLs stripped of logins and keys.

    Args:
        value: Options of a request, nested as they may be.

    Returns:
        New dicts and lists where something was taken out; the same objects where nothing was. What
        describes a function that is offered to the model, or the answer that is asked for, is
        kept whole: it names arguments and fields, and one called ``password`` is no secret.
    """
    if isinstance(value, Mapping):
        kind = value.get("type")
        described = _DESCRIPTIONS.get(kind, ()) if isinstance(kind, str) else ()
        kept = {
            name: item if name in described else without_secrets(item)
            for name, item in value.items()
            if not (isinstance(name, str) and is_secret_name(name))
        }
        same = len(kept) == len(value) and all(map(is_, kept.values(), value.values()))
        return value if same else kept
    if isinstance(value, list | tuple):
        items = [without_secrets(item) for item in value]
        return value if all(map(is_, items, value)) else items
    return without_secrets_in_url(value) if isinstance(value, str) else value


def without_secrets_in_url(text: str) -> str:
    """A text without the logins and keys of the URLs in it; other texts stay as they are."""
    return _SECRET_QUERY.sub(r"\1", _USERINFO.sub("", text)) if "://" in text else text
