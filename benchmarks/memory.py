"""How much memory a run of 200 turns takes at its height, by tracemalloc, beside what has to be kept of it."""

from __future__ import annotations

import gc
import statistics
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Final

from benchmarks.measuring import interleaved
from benchmarks.scripted import Dialect, payload
from benchmarks.sides import forget, prepared
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_TURNS: Final = 200
_SIZE: Final = 2048


def peak_mb(library: str, dialect: Dialect, disable_history: bool) -> float:
    """The height of traced memory during one checked run, in MB above what stood before it."""
    run = prepared(library, dialect, _TURNS, _SIZE, disable_history=disable_history)
    forget(library)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    run()
    height = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    forget(library)
    return height / 1e6


def measure(times: int) -> Iterator[Row]:
    """ReActV2 beside the bytes of its inputs, thoughts, arguments and results; ReAct beside DSPy's."""
    kept = payload(_TURNS, _SIZE) / 1e6
    with ExitStack() as stack:
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        cases: tuple[tuple[Dialect, str], ...] = (("v2-native", "native"), ("v2-text", "text"))
        for dialect, name in cases:
            for disabled, how, aim in ((True, "without LM history", 2.5), (False, "with LM history", 5.0)):
                ask = partial(ours.ask, peak_mb, library="reasonact", dialect=dialect, disable_history=disabled)
                interleaved([ask], 1)
                (samples,) = interleaved([ask], times)
                height = statistics.median(samples)
                what = f"ReActV2 {name}, 200 turns of 2 KB, peak memory {how}"
                yield Row(what, height, "MB", height / kept, kept, "what it says", aim=aim)
        sides = [
            partial(ours.ask, peak_mb, library="reasonact", dialect="react", disable_history=False),
            partial(dspy.ask, peak_mb, library="dspy", dialect="react", disable_history=False),
        ]
        # Traced, DSPy's run takes two minutes; what it holds does not vary from one to the next.
        mine, theirs = interleaved(sides, 1)
        yield compared("ReAct, 200 turns of 2 KB, peak memory", mine, theirs, other="DSPy", unit="MB", aim=1.0)
