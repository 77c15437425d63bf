"""Five tools of 0.2 s in one turn, side by side: how long the whole run takes by the clock on the wall."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final, Literal

from benchmarks.measuring import interleaved
from benchmarks.scripted import ANSWER, QUESTION
from benchmarks.sides import agent_of, run_async, scripted_lm, surroundings
from benchmarks.table import Row, alone
from benchmarks.worker import Worker

Colour = Literal["sync", "async"]

_CALLS: Final = 5
_SECONDS: Final = 0.2


def wall_time(run: Colour, tool: Colour) -> float:
    """The seconds from the call of an agent to its answer."""
    done: list[str] = []

    def nap(station: str) -> str:
        """Wait for a station."""
        time.sleep(_SECONDS)
        done.append(station)
        return station

    async def anap(station: str) -> str:
        """Wait for a station."""
        await asyncio.sleep(_SECONDS)
        done.append(station)
        return station

    tools: list[Any] = [nap if tool == "sync" else anap]
    agent = agent_of("reasonact", "v2-native", tools, 3, parallel_tools=_CALLS)
    lm = scripted_lm("reasonact", "v2-native", 1, calls=_CALLS, tool=tools[0].__name__)
    began = time.perf_counter()
    if run == "sync":
        allowed = {"allow_tool_async_sync_conversion": True}
        with surroundings("reasonact", "v2-native", lm, **allowed):
            prediction = agent(question=QUESTION)
    else:
        prediction = run_async("reasonact", "v2-native", agent, lm)
    spent = time.perf_counter() - began
    assert prediction.answer == ANSWER
    assert len(done) == _CALLS
    return spent


def measure(times: int) -> Iterator[Row]:
    """Sync and async runs, with sync and async tools."""
    colours: tuple[Colour, ...] = ("sync", "async")
    with Worker() as ours:
        for run in colours:
            for tool in colours:
                ask = partial(ours.ask, wall_time, run=run, tool=tool)
                interleaved([ask], 1)
                (samples,) = interleaved([ask], times)
                what = f"five {tool} tools of 0.2 s in one turn, {run} run, wall time"
                yield alone(what, samples, unit="s", aim=0.25)
