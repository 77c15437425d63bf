"""What an agent run has cost, for those who pay for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.runtime.limits import Spent


@dataclass(frozen=True, slots=True)
class RunUsage:
    """The ``usage`` of an agent's prediction.

    Args:
        calls: Model calls, those answered from a cache included.
        cached_calls: Model calls that a cache answered.
        tool_calls: Tool calls.
        total_tokens: Prompt and completion tokens.
        cost_usd: US dollars by LiteLLM's price list; None where a call has no known price.
        seconds: Wall-clock time, waiting for a person not included.
        turns: For each turn its tokens by kind, as the provider reports them. What follows
            the last turn (the extractor) is an entry of its own.
    """

    calls: int
    cached_calls: int
    tool_calls: int
    total_tokens: int
    cost_usd: float | None
    seconds: float
    turns: tuple[Mapping[str, Any], ...]


def usage_of(spent: Spent, turns: Iterable[Mapping[str, Any]]) -> RunUsage:
    """The usage of a run that is over.

    Args:
        spent: Its sums.
        turns: Its tokens by turn.
    """
    return RunUsage(
        calls=spent.lm_calls,
        cached_calls=spent.cached_calls,
        tool_calls=spent.tool_calls,
        total_tokens=spent.total_tokens,
        cost_usd=None if spent.unpriced_calls else spent.cost_usd,
        seconds=spent.seconds,
        turns=tuple(turns),
    )
