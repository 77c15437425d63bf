"""Counting tokens and money over everything that runs in a block, whatever runs it."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reasonact.runtime.settings import settings


@dataclass(frozen=True, slots=True)
class CallUsage:
    """One call of a model.

    Args:
        model: The model's name.
        tokens: Its token counts, as the provider reports them; empty for a cached answer.
        cost: US dollars; None where the price is not known.
        cached: Whether a cache answered it.
        messages: How many messages the request had.
    """

    model: str
    tokens: Mapping[str, Any]
    cost: float | None
    cached: bool
    messages: int = 0


@dataclass(frozen=True, slots=True)
class CallsUsage:
    """What a number of model calls came to: the ``usage`` of a prediction.

    Args:
        calls: Model calls, those answered from a cache included.
        cached_calls: Model calls that a cache answered.
        total_tokens: Prompt and completion tokens.
        cost_usd: US dollars by LiteLLM's price list; None where a call has no known price.
        tokens: Counts by model and kind.
    """

    calls: int
    cached_calls: int
    total_tokens: int
    cost_usd: float | None
    tokens: Mapping[str, Mapping[str, Any]]


class UsageTracker:
    """Adds up the usage of model calls, by model.

    Args:
        parent: A tracker that wraps this one and counts the same calls too.
    """

    def __init__(self, parent: UsageTracker | None = None) -> None:
        self.usage_data: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        self.calls: list[CallUsage] = []
        self._parent = parent
        self._lock = threading.Lock()

    def add_usage(self, lm: str, usage_entry: Mapping[str, Any]) -> None:
        """Count token usage.

        Args:
            lm: The model's name.
            usage_entry: Counts by kind, nested where the provider nests them; an empty one
                counts nothing.
        """
        if not usage_entry:
            return
        entry = dict(usage_entry)
        for tracker in self._with_parents():
            with tracker._lock:
                tracker.usage_data[lm].append(entry)

    def add_call(self, call: CallUsage) -> None:
        """Count one call with its tokens and cost.

        Args:
            call: What the call used; a cached one adds no tokens.
        """
        for tracker in self._with_parents():
            with tracker._lock:
                tracker.calls.append(call)
                if call.tokens:
                    tracker.usage_data[call.model].append(call.tokens)

    def _with_parents(self) -> Iterator[UsageTracker]:
        tracker: UsageTracker | None = self
        while tracker is not None:
            yield tracker
            tracker = tracker._parent

    def get_total_tokens(self) -> dict[str, dict[str, Any]]:
        """The sums so far.

        Returns:
            By model, each kind of count added up, nested kinds within.
        """
        with self._lock:
            entries = {model: list(items) for model, items in self.usage_data.items()}
        totals: dict[str, dict[str, Any]] = {}
        for model, items in entries.items():
            total: dict[str, Any] = {}
            for item in items:
                _add_into(total, item)
            totals[model] = total
        return totals

    def summary(self) -> CallsUsage:
        """Everything at once, as a prediction carries it."""
        with self._lock:
            calls = list(self.calls)
        tokens = self.get_total_tokens()
        totals = [counts.get("total_tokens") for counts in tokens.values()]
        return CallsUsage(
            calls=len(calls),
            cached_calls=sum(call.cached for call in calls),
            total_tokens=sum(total for total in totals if isinstance(total, int)),
            cost_usd=self.total_cost(),
            tokens=tokens,
        )

    def total_cost(self) -> float | None:
        """What the calls so far cost in USD.

        Returns:
            The sum; None where one of the calls has no known price. No call costs 0.0.
        """
        with self._lock:
            costs = [call.cost for call in self.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None


def _add_into(total: dict[str, Any], entry: Mapping[str, Any]) -> None:
    for kind, value in entry.items():
        before = total.get(kind)
        if isinstance(value, Mapping):
            within = dict(before) if isinstance(before, Mapping) else {}
            _add_into(within, value)
            total[kind] = within
        elif _is_count(value) and _is_count(before):
            total[kind] = before + value
        elif value is not None or kind not in total:
            total[kind] = value


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@contextmanager
def track_usage() -> Iterator[UsageTracker]:
    """Count the usage of every model call in the block, in its threads and tasks too.

    Blocks nest: an outer one counts what an inner one counts.

    Yields:
        The tracker; ask it for ``get_total_tokens()`` inside the block or after it.
    """
    outer = settings.usage_tracker
    tracker = UsageTracker(outer if isinstance(outer, UsageTracker) else None)
    with settings.context(usage_tracker=tracker):
        yield tracker
