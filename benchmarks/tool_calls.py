"""What one call of a tool costs beyond its function: arguments checked, converted, passed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any, Final

from benchmarks.construction import place_order
from benchmarks.measuring import cpu_us_each, interleaved
from benchmarks.orders import ORDER
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_REPEATS: Final = {"reasonact": 2000, "dspy": 30}


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


_CASES: Final[dict[str, tuple[Any, dict[str, Any], Any, float]]] = {
    "two ints": (add, {"first": 3, "second": 4}, 7, 1 / 100),
    "a nested model": (place_order, {"order": ORDER}, "order 12 for Ada", 1 / 50),
}


def call_cost(library: str, case: str) -> float:
    """The CPU time of one call of a ready tool, in microseconds."""
    function, arguments, result, _ = _CASES[case]
    tool = import_module(library).Tool(function)
    assert result == tool(**arguments)
    return cpu_us_each(lambda: tool(**arguments), _REPEATS[library])


def measure(times: int) -> Iterator[Row]:
    """Two ints, and a nested model, beside DSPy's tool."""
    with ExitStack() as stack:
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        for case, (_, _, _, aim) in _CASES.items():
            sides = [
                partial(ours.ask, call_cost, library="reasonact", case=case),
                partial(dspy.ask, call_cost, library="dspy", case=case),
            ]
            interleaved(sides, 1)
            mine, theirs = interleaved(sides, times)
            yield compared(f"Tool.__call__, {case}", mine, theirs, other="DSPy", unit="µs", aim=aim)
