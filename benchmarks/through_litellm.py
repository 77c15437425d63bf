"""What a run costs through LiteLLM to a local server, beside a bare loop of the same requests.

The bare loop is a process that knows nothing of this library: it calls
``litellm.completion`` (or ``acompletion``) with the messages and tools of each request
of such a run, one after another, with LiteLLM as it is when one imports it.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal

from benchmarks.measuring import interleaved
from benchmarks.scripted import ANSWER, QUESTION, Dialect
from benchmarks.server import ModelServer
from benchmarks.sides import ToolBox, agent_of, check, surroundings
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

Colour = Literal["sync", "async"]
Spent = tuple[float, float]

_MODEL: Final = "openai/gpt-4o-mini"
_SIZE: Final = 2048
_NAMES: Final[dict[Dialect, str]] = {"v2-native": "ReActV2 native", "react": "ReAct"}
_made: Final[dict[str, Any]] = {}
_requests: Final[dict[tuple[Dialect, int], list[dict[str, Any]]]] = {}


def _lm(address: str) -> Any:
    """One LM for each address, as a service holds it."""
    if address not in _made:
        _made[address] = import_module("reasonact").LM(_MODEL, api_base=address, api_key="none", cache=False)
    return _made[address]


def _timed(work: Callable[[], object]) -> Spent:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def _timed_on_a_loop(work: Callable[[], Awaitable[object]]) -> Spent:
    """The same for async work: CPU and wall time in ms, without those of making the event loop."""

    async def on_it() -> Spent:
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000

    return asyncio.run(on_it())


def run_agents(address: str, dialect: Dialect, turns: int, colour: Colour, runs: int = 1) -> Spent:
    """Checked runs of an agent, at once where they are many: CPU and wall time in ms."""
    boxes = [ToolBox(_SIZE) for _ in range(runs)]
    agents = [agent_of("reasonact", dialect, [box.tool()], turns + 2) for box in boxes]
    lm = _lm(address)
    lm.history.clear()
    import_module("reasonact.lm.history").GLOBAL_HISTORY.clear()
    answers: list[str] = []

    async def together() -> None:
        with surroundings("reasonact", dialect, lm):
            predictions = await asyncio.gather(*(agent.acall(question=QUESTION) for agent in agents))
        answers.extend(prediction.answer for prediction in predictions)

    def one() -> None:
        with surroundings("reasonact", dialect, lm):
            answers.append(agents[0](question=QUESTION).answer)

    spent = _timed(one) if colour == "sync" else _timed_on_a_loop(together)
    for box, answer in zip(boxes, answers, strict=True):
        check(answer, turns, box)
    return spent


def record_requests(address: str, dialect: Dialect, turns: int) -> list[dict[str, Any]]:
    """The messages and tools of every request of such a run."""
    litellm: Any = import_module("litellm")
    recorded: list[dict[str, Any]] = []
    completion = litellm.completion

    def recording(**arguments: Any) -> Any:
        recorded.append(copy.deepcopy({name: arguments[name] for name in ("messages", "tools") if name in arguments}))
        return completion(**arguments)

    litellm.completion = recording
    try:
        run_agents(address, dialect, turns, "sync")
    finally:
        litellm.completion = completion
    return recorded


def keep_requests(dialect: Dialect, turns: int, requests: list[dict[str, Any]]) -> None:
    """Have a bare loop's process hold the requests that it is to send."""
    _requests[dialect, turns] = requests


def run_bare(address: str, dialect: Dialect, turns: int, colour: Colour, runs: int = 1) -> Spent:
    """Bare loops of the same requests, at once where they are many: CPU and wall time in ms."""
    litellm: Any = import_module("litellm")
    fixed = {"model": _MODEL, "api_base": address, "api_key": "none"}
    loops = [copy.deepcopy(_requests[dialect, turns]) for _ in range(runs)]
    last: list[Any] = []

    async def loop(requests: list[dict[str, Any]]) -> None:
        for request in requests:
            response = await litellm.acompletion(**fixed, **request)
        last.append(response)

    async def together() -> None:
        await asyncio.gather(*(loop(requests) for requests in loops))

    def one() -> None:
        for request in loops[0]:
            response = litellm.completion(**fixed, **request)
        last.append(response)

    spent = _timed(one) if colour == "sync" else _timed_on_a_loop(together)
    assert runs == len(last) and all(ANSWER in str(response.choices[0].message) for response in last)
    return spent


def _rows(what: str, ours: list[Spent], bare: list[Spent], other: str) -> Iterator[Row]:
    for index, kind in enumerate(("CPU time", "wall time")):
        yield compared(
            f"{what}, {kind}",
            [sample[index] for sample in ours],
            [sample[index] for sample in bare],
            other=other,
            unit="ms",
            aim=1.1,
        )


def _sides(
    ours: Worker, bare: Worker, server: ModelServer, dialect: Dialect, turns: int, *, wait_ms: int, **how: Any
) -> list[Callable[[], Any]]:
    requests = ours.ask(record_requests, address=server.address(turns), dialect=dialect, turns=turns)
    bare.ask(keep_requests, dialect=dialect, turns=turns, requests=requests)
    address = server.address(turns, wait_ms)
    return [
        partial(side.ask, run, address=address, dialect=dialect, turns=turns, **how)
        for side, run in ((ours, run_agents), (bare, run_bare))
    ]


def measure(times: int) -> Iterator[Row]:
    """50 turns of both agents, sync and async."""
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer())
        ours, bare = (stack.enter_context(Worker()) for _ in range(2))
        for dialect, name in _NAMES.items():
            for colour, function in (("sync", "completion"), ("async", "acompletion")):
                sides = _sides(ours, bare, server, dialect, 50, wait_ms=0, colour=colour)
                interleaved(sides, 1)
                samples = interleaved(sides, times)
                what = f"{name} through LiteLLM, 50 turns of 2 KB, {colour}"
                yield from _rows(what, samples[0], samples[1], f"bare {function}")


def measure_many(times: int) -> Iterator[Row]:
    """200 async runs of 10 turns at once, each answer after 20 ms."""
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer())
        ours, bare = (stack.enter_context(Worker()) for _ in range(2))
        sides = _sides(ours, bare, server, "v2-native", 10, wait_ms=20, colour="async", runs=200)
        interleaved(sides, 1)
        samples = interleaved(sides, times)
        what = "200 runs of ReActV2 at once, 10 turns, 20 ms an answer"
        yield from _rows(what, samples[0], samples[1], "bare acompletion")
