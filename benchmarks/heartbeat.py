"""Whether an event loop goes on beating beside an agent whose tool blocks."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Iterator
from typing import Any, Final

from benchmarks.measuring import interleaved, median_ratio, percentile
from benchmarks.scripted import ANSWER, QUESTION
from benchmarks.sides import agent_of, scripted_lm, surroundings
from benchmarks.table import Row
from benchmarks.worker import Worker

_TURNS: Final = 20
_BLOCKED: Final = 0.1
_BEAT: Final = 0.005


async def _gaps_beside(work: Awaitable[Any]) -> tuple[list[float], Any]:
    """The times between the beats of a heart, in ms, until some work is done; and its result."""
    gaps: list[float] = []
    task = asyncio.ensure_future(work)
    last = time.perf_counter()
    while not task.done():
        await asyncio.sleep(_BEAT)
        now = time.perf_counter()
        gaps.append((now - last) * 1000)
        last = now
    return gaps, await task


def p99_idle_and_beside() -> tuple[float, float]:
    """The 99th percentile of the times between beats, in ms: beside nothing, and beside a run that blocks."""

    def block(station: str) -> str:
        """Wait for a station."""
        time.sleep(_BLOCKED)
        return station

    agent = agent_of("reasonact", "v2-native", [block], _TURNS + 2)
    lm = scripted_lm("reasonact", "v2-native", _TURNS, tool="block")

    async def both() -> tuple[float, float]:
        idle, _ = await _gaps_beside(asyncio.sleep(_TURNS * _BLOCKED))
        with surroundings("reasonact", "v2-native", lm):
            beside, prediction = await _gaps_beside(agent.acall(question=QUESTION))
        assert prediction.answer == ANSWER
        return percentile(idle, 0.99), percentile(beside, 0.99)

    return asyncio.run(both())


def measure(times: int) -> Iterator[Row]:
    """The 99th percentile beside a blocking sync tool, to that of an idle loop."""
    with Worker() as ours:
        (pairs,) = interleaved([lambda: ours.ask(p99_idle_and_beside)], times)
    idle = [pair[0] for pair in pairs]
    beside = [pair[1] for pair in pairs]
    what = "event loop beside a blocking sync tool, 99th percentile of a 5 ms beat"
    middle = statistics.median
    yield Row(what, middle(beside), "ms", median_ratio(beside, idle), middle(idle), "idle loop", aim=2.0)
