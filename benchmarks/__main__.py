"""``python -m benchmarks``: measure everything and write docs/benchmarks.md.

``python -m benchmarks turns tools`` measures some suites alone and writes nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from typing import Final

from benchmarks.measuring import TIMES
from benchmarks.table import Row, line, page
from benchmarks.worker import ROOT

SUITES: Final = {
    "import": "import_cost",
    "turns": "turns",
    "construction": "construction",
    "tools": "tool_calls",
    "history": "history_format",
    "parsing": "parsing",
    "litellm": "through_litellm",
    "concurrency": "concurrency",
    "cache": "cached_calls",
    "streaming": "streaming",
    "memory": "memory",
    "parallel": "side_by_side",
    "heartbeat": "heartbeat",
}
_QUICK: Final = 3


def main(arguments: list[str] | None = None) -> int:
    """Measure and report.

    Args:
        arguments: The command line; the process's own by default.

    Returns:
        0 where every figure is reached, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} samples instead of {TIMES}; writes nothing")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.suites if name not in SUITES]
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)}; there are {', '.join(SUITES)}")
    times = _QUICK if given.quick else TIMES
    rows: list[Row] = []
    for name in given.suites or SUITES:
        began = time.monotonic()
        for row in import_module(f"benchmarks.{SUITES[name]}").measure(times):
            rows.append(row)
            print(line(row), flush=True)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    if not given.suites and not given.quick:
        notes = ROOT.joinpath("benchmarks", "notes.md").read_text(encoding="utf-8")
        ROOT.joinpath("docs", "benchmarks.md").write_text(page(rows, notes=notes, times=times), encoding="utf-8")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
