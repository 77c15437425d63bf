"""What it costs to import the names that every program needs: time, memory, modules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.table import Row, compared, interleaved

_PROGRAM = """
import json, resource, sys, time
began = time.process_time()
import {library} as d
d.ReAct, d.ReActV2, d.LM
spent = time.process_time() - began
print(json.dumps([spent * 1000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(sys.modules)]))
"""


def _sample(library: str) -> list[float]:
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(library=library)],
        capture_output=True,
        text=True,
        check=True,
    )
    figures: list[float] = json.loads(out.stdout.splitlines()[-1])
    return figures


def measure() -> Iterator[Row]:
    """CPU time, peak memory and module count of the same line in both libraries."""
    samples: dict[str, list[list[float]]] = {"reasonact": [], "dspy": []}

    def take(library: str) -> float:
        samples[library].append(_sample(library))
        return samples[library][-1][0]

    interleaved([lambda: take("reasonact"), lambda: take("dspy")], times=9)
    for index, (what, unit, aim) in enumerate(
        (("import, CPU time", "ms", 0.25), ("import, peak memory", "MB", 0.7), ("import, modules", "modules", None))
    ):
        ours = [sample[index] for sample in samples["reasonact"]]
        theirs = [sample[index] for sample in samples["dspy"]]
        yield compared(what, ours, theirs, other="DSPy", unit=unit, aim=aim)
