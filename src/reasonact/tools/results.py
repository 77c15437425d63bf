"""Kept results of a tool: a bounded table by checked arguments."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any, Final

from pydantic import BaseModel

MAX_RESULTS: Final = 1024


class ResultTable:
    """The latest results of one tool; safe to use from several threads.

    Args:
        size: How many results are kept; the ones longest unused go first.
    """

    def __init__(self, size: int = MAX_RESULTS) -> None:
        self._size = size
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> tuple[bool, Any]:
        """Whether there is a result, and which."""
        with self._lock:
            if key not in self._results:
                return False, None
            self._results.move_to_end(key)
            return True, self._results[key]

    def keep(self, key: Hashable, result: Any) -> None:
        """Add a result."""
        with self._lock:
            self._results[key] = result
            self._results.move_to_end(key)
            if len(self._results) > self._size:
                self._results.popitem(last=False)


def key_of(values: Mapping[str, Any]) -> Hashable | None:
    """A key that is equal for equal arguments of equal types.

    Args:
        values: Arguments by name.

    Returns:
        The key, or None where a value has no way to be compared later (it may be changed).
    """
    try:
        return _frozen(dict(values))
    except (TypeError, RecursionError):
        return None


def _frozen(value: Any) -> Hashable:
    if isinstance(value, BaseModel):
        return type(value), _frozen(dict(value))
    if isinstance(value, dict):
        return dict, frozenset((_frozen(key), _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(_frozen(item) for item in value)
    if isinstance(value, set | frozenset):
        return type(value), frozenset(_frozen(item) for item in value)
    hash(value)
    return type(value), value
