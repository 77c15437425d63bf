"""What it costs to import the names that every program needs: time, memory, modules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Final

from benchmarks.measuring import interleaved
from benchmarks.table import Row, compared
from benchmarks.worker import ROOT, environment

_PROGRAM: Final = """
import json, resource, sys, time
began = time.process_time()
import {library} as d
d.ReAct, d.ReActV2, d.LM
spent = time.process_time() - began
print(json.dumps([spent * 1000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(sys.modules)]))
"""


def _fresh(library: str) -> list[float]:
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(library=library)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(),
    )
    figures: list[float] = json.loads(out.stdout.splitlines()[-1])
    return figures


def measure(times: int) -> Iterator[Row]:
    """CPU time, peak memory and module count of the same line in both libraries, each in a fresh interpreter."""
    sides = [partial(_fresh, "reasonact"), partial(_fresh, "dspy")]
    interleaved(sides, 1)  # so that both find their modules compiled and in the disk's cache
    ours, theirs = interleaved(sides, times)
    for index, (what, unit, aim) in enumerate(
        (("import, CPU time", "ms", 0.25), ("import, peak memory", "MB", 0.7), ("import, modules", "modules", None))
    ):
        yield compared(
            what,
            [sample[index] for sample in ours],
            [sample[index] for sample in theirs],
            other="DSPy",
            unit=unit,
            aim=aim,
        )
