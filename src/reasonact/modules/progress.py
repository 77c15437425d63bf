"""What a long batch shows of itself: how far it is, how fast, how many failed, what it costs."""

from __future__ import annotations

from typing import Any

from reasonact.lm.usage import UsageTracker
from reasonact.runtime.settings import settings


class BatchUsage(UsageTracker):
    """Counts what a batch spends. Each module call in it still counts its own for its prediction."""

    def __init__(self) -> None:
        outer = settings.usage_tracker
        super().__init__(outer if isinstance(outer, UsageTracker) else None)
        self.stands_alone = outer is None
        self._added = 0
        self._cost = 0.0

    def known_cost(self) -> float:
        """US dollars of the calls so far whose price is known."""
        new = self.calls[self._added :]
        self._added += len(new)
        self._cost += sum(call.cost or 0.0 for call in new)
        return self._cost


class Label:
    """The text before a bar: how many examples have been processed."""

    def __init__(self) -> None:
        self.outputs = 0

    def add(self, output: Any) -> None:
        """Take one more output into account."""
        self.outputs += 1

    def text(self, total: int) -> str:
        """The text now.

        Args:
            total: How many examples there are.
        """
        return f"Processed {self.outputs} / {total} examples"


class AverageScore(Label):
    """The text before the bar of an evaluation, whose outputs are pairs with a score at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0.0

    def add(self, output: Any) -> None:
        """Take one more score into account."""
        super().add(output)
        self.total += float(output[-1])

    def text(self, total: int) -> str:
        """The average now; where nothing is scored yet, how many there are."""
        if not self.outputs:
            return f"Average Metric: 0.00 / {total}"
        return f"Average Metric: {self.total:.2f} / {self.outputs} ({100 * self.total / self.outputs:.1f}%)"


class ProgressBar:
    """A bar of tqdm on standard error. Not safe for threads; its user holds a lock.

    Args:
        total: How many examples there are.
        done: How many of them an earlier run has done.
        usage: Where the cost comes from.
        label: The text before the bar.
    """

    def __init__(self, total: int, done: int, usage: BatchUsage | None, label: Label) -> None:
        import tqdm

        self._total = total
        self._label = label
        self._usage = usage
        self._bar: Any = tqdm.tqdm(total=total, initial=done, desc=label.text(total), dynamic_ncols=True, unit="ex")

    def advance(self, errors: int) -> None:
        """One more example is over.

        Args:
            errors: How many have failed so far.
        """
        self._bar.set_description_str(self._label.text(self._total), refresh=False)
        shown = f"errors={errors}"
        cost = self._usage.known_cost() if self._usage is not None else 0.0
        self._bar.set_postfix_str(f"{shown}, cost=${cost:.4f}" if cost else shown, refresh=False)
        self._bar.update(1)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.close()
