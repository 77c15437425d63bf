"""What depends on a signature alone, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


def kept(signature: Any, key: Hashable, make: Callable[[Any], T]) -> T:
    """Take something out of a signature's memo, or make it and keep it there.

    Args:
        signature: A signature class.
        key: What it is kept under.
        make: Makes it of the signature; None is made anew each time.

    Returns:
        The same object for the same signature and key, until its instructions change.

    Raises:
        Exception: What ``make`` raises; nothing is kept then.
    """
    memo = signature.memo
    found: T | None = memo.get(key)
    if found is None:
        found = memo[key] = make(signature)
    return found
