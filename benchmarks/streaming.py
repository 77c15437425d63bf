"""What it costs to see an answer of 2,000 chunks as it comes.

By the clock on the wall a run whose model writes for two seconds is compared with the
same run unstreamed. In CPU time the chunks themselves cost what LiteLLM takes to read
them, so they are compared with a bare loop over ``litellm.completion(stream=True)`` too.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any, Final

from benchmarks.measuring import interleaved
from benchmarks.scripted import ANSWER, QUESTION
from benchmarks.server import ModelServer
from benchmarks.sides import ToolBox, agent_of, surroundings
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_CHUNKS: Final = 2000
_MODEL: Final = "openai/gpt-4o-mini"
Spent = tuple[float, float]


def run_cost(address: str, streamed: bool) -> Spent:
    """CPU and wall time in ms of a run of one answer, seen as a stream of events or not."""
    module: Any = import_module("reasonact")
    lm = module.LM(_MODEL, api_base=address, api_key="none", cache=False)
    agent = agent_of("reasonact", "v2-native", [ToolBox(0).tool()], 3)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    with surroundings("reasonact", "v2-native", lm):
        events = list(agent.stream(question=QUESTION)) if streamed else [agent(question=QUESTION)]
    spent = (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000
    assert getattr(events[-1], "prediction", events[-1]).answer == ANSWER
    assert not streamed or len(events) >= _CHUNKS
    return spent


def bare_cost(address: str) -> Spent:
    """CPU and wall time in ms of reading the same stream by LiteLLM alone."""
    litellm: Any = import_module("litellm")
    tool = {"type": "function", "function": {"name": "submit", "parameters": {"type": "object", "properties": {}}}}
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    messages = [{"role": "user", "content": QUESTION}]
    stream = litellm.completion(
        model=_MODEL, api_base=address, api_key="none", messages=messages, tools=[tool], stream=True
    )
    chunks = list(stream)
    spent = (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000
    assert len(chunks) >= _CHUNKS
    return spent


def measure(times: int) -> Iterator[Row]:
    """Streamed beside unstreamed by the clock, and beside a bare stream in CPU time."""
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer())
        ours, bare = (stack.enter_context(Worker()) for _ in range(2))
        slow, fast = (server.address(0, wait_ms, _CHUNKS) for wait_ms in (2000, 0))
        sides = [
            partial(ours.ask, run_cost, address=slow, streamed=True),
            partial(ours.ask, run_cost, address=slow, streamed=False),
            partial(ours.ask, run_cost, address=fast, streamed=True),
            partial(ours.ask, run_cost, address=fast, streamed=False),
            partial(bare.ask, bare_cost, address=fast),
        ]
        interleaved(sides, 1)
        paced, whole, streamed, unstreamed, alone = interleaved(sides, times)
        cpu = [sample[0] for sample in streamed]
        what = "a run streamed in 2,000 chunks"
        yield compared(
            f"{what} over 2 s, wall time",
            [sample[1] for sample in paced],
            [sample[1] for sample in whole],
            other="unstreamed",
            unit="ms",
            aim=1.2,
        )
        bare_cpu = [sample[0] for sample in alone]
        yield compared(f"{what}, CPU time", cpu, bare_cpu, other="bare stream of LiteLLM", unit="ms", aim=1.2)
        whole_cpu = [sample[0] for sample in unstreamed]
        yield compared(f"{what}, CPU time", cpu, whole_cpu, other="unstreamed", unit="ms", aim=1.2)
