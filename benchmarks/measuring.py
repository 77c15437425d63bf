"""Taking samples, and the figures that are made of them."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

TIMES: Final = 7


def interleaved(samplers: Sequence[Callable[[], Any]], times: int) -> list[list[Any]]:
    """Take samples in turn (A B A B ...), so that a slow spell of the machine hits all alike.

    Args:
        samplers: One for each side; each call takes one sample.
        times: How many samples of each.

    Returns:
        The samples of each side, in the order they were taken.
    """
    taken: list[list[Any]] = [[] for _ in samplers]
    for _ in range(times):
        for samples, sampler in zip(taken, samplers, strict=True):
            samples.append(sampler())
    return taken


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of samples that were taken side by side."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def growth(points: Iterable[tuple[float, float]]) -> float:
    """The exponent by which a cost grows with a size: the slope of the least-squares line through the logarithms.

    Args:
        points: Pairs of size and cost, at least two sizes.
    """
    logs = [(math.log(size), math.log(cost)) for size, cost in points]
    x_mean = statistics.fmean(x for x, _ in logs)
    y_mean = statistics.fmean(y for _, y in logs)
    return sum((x - x_mean) * (y - y_mean) for x, y in logs) / sum((x - x_mean) ** 2 for x, _ in logs)


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least this share (0 to 1) of all samples does not exceed."""
    return sorted(samples)[max(0, math.ceil(share * len(samples)) - 1)]


def cpu_ms(work: Callable[[], object]) -> float:
    """The CPU time of one call, all threads of this process together, in milliseconds."""
    gc.collect()
    began = time.process_time_ns()
    work()
    return (time.process_time_ns() - began) / 1e6


def cpu_us_each(work: Callable[[], object], repeats: int) -> float:
    """The CPU time of a call in microseconds, as the mean of so many calls in a row."""

    def all_of_them() -> None:
        for _ in range(repeats):
            work()

    return cpu_ms(all_of_them) * 1000 / repeats
