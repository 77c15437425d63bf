"""Limits of a run: what it may spend, what it has spent, and the clock that both need."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

from reasonact.runtime.flow import Command

FOR_MODEL_CALLS: Final = ("lm_calls", "total_tokens", "cost_usd", "seconds")
"""The limits that can forbid one more request to the model."""

FOR_TOOL_CALLS: Final = ("tool_calls", "total_tokens", "cost_usd", "seconds")
"""The limits that can forbid one more tool call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one agent run may spend. None means no limit.

    ``lm_calls`` is looked at before each request to the model, ``tool_calls`` before each
    tool call, the others before both. What is under way is never cut off, so a run may end
    a little over; the second try of an unreadable completion belongs to its request.

    Args:
        lm_calls: Model calls, those answered from a cache included.
        tool_calls: Tool calls, ``finish`` and ``submit`` not counted.
        total_tokens: Prompt and completion tokens together, as providers report them.
        cost_usd: US dollars by LiteLLM's price list; a model without a price costs nothing here.
        seconds: Wall-clock time since the run began, waiting for a person not included.

    Raises:
        ValueError: A limit is negative or no number.
    """

    lm_calls: int | None = None
    tool_calls: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value: Any = getattr(self, name)
            is_number = type(value) in (int, float)
            if value is not None and not (is_number and value >= 0):
                raise ValueError(f"Limits({name}={value!r}): a limit is a number from 0 on, or None for no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent so far; plain data that a stored run keeps.

    Args:
        lm_calls: Model calls, those answered from a cache included.
        tool_calls: Tool calls.
        total_tokens: Prompt and completion tokens.
        cost_usd: US dollars of the calls whose price is known.
        seconds: Wall-clock time, waiting for a person not included.
        cached_calls: Model calls that a cache answered.
        unpriced_calls: Model calls whose price is not known.
    """

    lm_calls: int = 0
    tool_calls: int = 0
    total_tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    cached_calls: int = 0
    unpriced_calls: int = 0

    def reached(self, limits: Limits, names: tuple[str, ...] | None = None) -> str | None:
        """The first limit that is used up, of all or of those named, by name; or None."""
        for name in limits.__slots__ if names is None else names:
            allowed = getattr(limits, name)
            if allowed is not None and getattr(self, name) >= allowed:
                return name
        return None


@dataclass(frozen=True, slots=True)
class ReadClock(Command[float]):
    """The seconds of a clock that only goes forward."""

    def run(self) -> float:
        return time.monotonic()

    async def arun(self) -> float:
        return time.monotonic()
