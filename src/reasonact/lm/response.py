"""A response that is plain data: dicts all the way down, whose keys are attributes too."""

from __future__ import annotations

import json
from typing import Any, Final

from reasonact.lm.outputs import plain


class Response(dict[str, Any]):
    """An OpenAI-shaped response out of the cache, or put together from a stream.

    Fields are keys and attributes alike, on every level.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the response has no field {name!r}; it has {', '.join(map(str, self))}") from None


def to_json(response: Any) -> str:
    """A response as JSON text.

    Args:
        response: Whatever a client returned.

    Returns:
        The text.

    Raises:
        TypeError: It holds something that JSON cannot.
        ValueError: It holds itself, or a number that is none.
    """
    return json.dumps(plain(response), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str | bytes) -> Any:
    """What `to_json` wrote, every object of it as a `Response`.

    Args:
        text: JSON.

    Returns:
        The value, new in every call.

    Raises:
        ValueError: The text is no JSON.
    """
    return _decoder.decode(text if isinstance(text, str) else text.decode("utf-8", "surrogatepass"))


_decoder: Final = json.JSONDecoder(object_hook=Response)
