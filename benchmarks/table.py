"""Rows of figures, and the page they are written to."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

PEERS = ("reasonact", "dspy", "smolagents", "litellm", "pydantic")


@dataclass(frozen=True)
class Row:
    """One figure.

    Args:
        what: What was measured.
        ours: This library's median, with its unit in `unit`.
        theirs: The other's median, or None where the figure stands alone.
        other: Who the other is.
        unit: Of both.
        figure: What counts: a ratio, an exponent, a share.
        aim: The most that it may be, or None where there is no aim.
    """

    what: str
    ours: float
    theirs: float | None
    other: str
    unit: str
    figure: float
    aim: float | None

    @property
    def reached(self) -> bool:
        return self.aim is None or self.figure <= self.aim


def interleaved(samplers: Sequence[Callable[[], float]], times: int = 7) -> list[list[float]]:
    """Take samples in turn (A B A B ...), so that a slow spell of the machine hits all alike."""
    taken: list[list[float]] = [[] for _ in samplers]
    for _ in range(times):
        for samples, sampler in zip(taken, samplers, strict=True):
            samples.append(sampler())
    return taken


def compared(
    what: str, ours: Sequence[float], theirs: Sequence[float], *, other: str, unit: str, aim: float | None
) -> Row:
    """A row whose figure is the median of the ratios, sample by sample."""
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return Row(what, statistics.median(ours), statistics.median(theirs), other, unit, ratio, aim)


def page(rows: Iterable[Row]) -> str:
    """The rows as a Markdown page, with date and versions."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks`. Both sides run interleaved on one machine; a figure is the median of",
        "the ratios sample by sample, so read the ratios and not the absolute times.",
        "",
        f"Date {datetime.date.today().isoformat()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {_version(name)}" for name in PEERS),
        "",
        "| what | this library | the other | figure | aim | |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        theirs = "" if row.theirs is None else f"{row.theirs:,.3g} {row.unit} ({row.other})"
        aim = "" if row.aim is None else f"{row.aim:.3g}"
        lines.append(
            f"| {row.what} | {row.ours:,.3g} {row.unit} | {theirs} | {row.figure:.3g} | {aim} |"
            f" {'reached' if row.reached else '**not reached**'} |"
        )
    return "\n".join(lines) + "\n"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
