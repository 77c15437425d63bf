"""``python -m benchmarks``: measure everything and write docs/benchmarks.md."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import import_cost
from benchmarks.table import Row, page

SUITES = {"import": import_cost.measure}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"no such suite: {', '.join(unknown)}; there are {', '.join(SUITES)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for name, measure in SUITES.items():
        if not names or name in names:
            for row in measure():
                rows.append(row)
                print(f"{row.what}: {row.figure:.3g}" + ("" if row.aim is None else f" (aim {row.aim:.3g})"))
    if not names:
        Path(__file__).parent.parent.joinpath("docs", "benchmarks.md").write_text(page(rows), encoding="utf-8")
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
