"""How many examples a property test tries: as many as it says, and in a long run (`-m long`) twenty times as many."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL, LONG = 100, 20

_times = 1


def set_out_for_a_long_run() -> None:
    """Try more from here on, and other examples than the run before."""
    global _times
    _times = LONG


def examples(count: int, **options: Any) -> settings:
    """The settings of a test that usually tries so many examples."""
    return settings(max_examples=count * _times, **options)
