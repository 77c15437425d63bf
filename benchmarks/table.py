"""Rows of figures, and the page they are written to."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.measuring import growth, median_ratio

PEERS: Final = ("reasonact", "dspy", "smolagents", "litellm", "pydantic")

_HEAD: Final = """# Benchmarks

Written by `python -m benchmarks`. Every side runs in a process of its own, interleaved with the others on one
machine; a time is the median of {times} samples, a ratio the median of the ratios sample by sample. Times are CPU
time of the whole process unless the line says otherwise. Read the ratios and not the absolute times.

{date}, {machine}, Python {python}, {versions}.

| what | this library | the other | figure | aim | |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """One figure.

    Args:
        what: What was measured.
        ours: This library's median.
        unit: The unit of `ours` and `theirs`.
        figure: What counts: the ratio to the other side, or what `kind` says.
        theirs: The other's median, or None where the figure stands alone.
        other: Who the other is.
        aim: The most that the figure may be, or None where there is no aim.
        kind: ``ratio``, ``exponent``, or the unit of the figure.
    """

    what: str
    ours: float
    unit: str
    figure: float
    theirs: float | None = None
    other: str = ""
    aim: float | None = None
    kind: str = "ratio"

    @property
    def reached(self) -> bool:
        """Whether the figure is what it is to be; one without an aim is."""
        return self.aim is None or self.figure <= self.aim


def compared(
    what: str, ours: Sequence[float], theirs: Sequence[float], *, other: str, unit: str, aim: float | None
) -> Row:
    """A row whose figure is the ratio to another side's samples, taken in turn with ours."""
    return Row(
        what, statistics.median(ours), unit, median_ratio(ours, theirs), statistics.median(theirs), other, aim=aim
    )


def grown(what: str, points: Iterable[tuple[float, Sequence[float]]], *, unit: str, aim: float | None) -> Row:
    """A row whose figure is the exponent of growth with size.

    Args:
        what: What was measured.
        points: Pairs of a size and the samples at that size.
        unit: The unit of the samples.
        aim: The greatest exponent that is good enough.
    """
    medians = [(size, statistics.median(samples)) for size, samples in points]
    return Row(what, max(medians)[1], unit, growth(medians), aim=aim, kind="exponent")


def alone(what: str, ours: Sequence[float], *, unit: str, aim: float | None) -> Row:
    """A row whose figure is its own median."""
    middle = statistics.median(ours)
    return Row(what, middle, unit, middle, aim=aim, kind=unit)


def line(row: Row) -> str:
    """A row as a line of the Markdown table."""
    theirs = "" if row.theirs is None else f"{_number(row.theirs)} {row.unit} ({row.other})"
    figure = f"{_number(row.figure)} {'' if row.kind == 'ratio' else row.kind}".strip()
    aim = "" if row.aim is None else f"at most {_number(row.aim)}"
    verdict = "" if row.aim is None else "reached" if row.reached else "**not reached**"
    return f"| {row.what} | {_number(row.ours)} {row.unit} | {theirs} | {figure} | {aim} | {verdict} |"


def page(rows: Iterable[Row], *, notes: str, times: int) -> str:
    """The rows as a Markdown page, with date, machine and versions.

    Args:
        rows: The rows, in order.
        notes: The part that is written by hand, in Markdown; it closes the page.
        times: How many samples each median is made of.

    Returns:
        The page.
    """
    head = _HEAD.format(
        times=times,
        date=datetime.date.today().isoformat(),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        python=platform.python_version(),
        versions=", ".join(f"{name} {_version(name)}" for name in PEERS),
    )
    return head + "".join(f"{line(row)}\n" for row in rows) + f"\n{notes.strip()}\n"


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
