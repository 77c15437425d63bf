"""What a run costs when its model is free: both agents beside DSPy's and smolagents', and how it grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.measuring import cpu_ms, interleaved
from benchmarks.scripted import ANSWER, QUESTION, Dialect
from benchmarks.sides import ToolBox, agent_of, forget, prepared, prepared_smolagents, scripted_lm, surroundings
from benchmarks.table import Row, compared, grown
from benchmarks.worker import Worker

SIZE = 2048
_NAMES: dict[Dialect, str] = {"react": "ReAct", "v2-native": "ReActV2 native", "v2-text": "ReActV2 text"}
_AIMS: dict[Dialect, float] = {"react": 1 / 60, "v2-native": 1 / 12, "v2-text": 1 / 12}


def run_cost(library: str, dialect: Dialect, turns: int) -> float:
    """The CPU time of one checked run, in ms."""
    run = prepared_smolagents(turns, SIZE) if library == "smolagents" else prepared(library, dialect, turns, SIZE)
    spent = cpu_ms(run)
    if library != "smolagents":
        forget(library)
    return spent


def repeated_cost(dialect: Dialect, before: int) -> float:
    """The CPU time of a run of 5 turns, in ms, by an agent that has made so many runs before, as in a service."""
    agent = agent_of("reasonact", dialect, [ToolBox(SIZE).tool()], 7)
    forget("reasonact")

    def run() -> None:
        with surroundings("reasonact", dialect, scripted_lm("reasonact", dialect, 5)):
            assert agent(question=QUESTION).answer == ANSWER

    for _ in range(before):
        run()
    return min(cpu_ms(run) for _ in range(5))


def measure_repeated(times: int) -> Iterator[Row]:
    """The 200th run of one agent beside its third."""
    with Worker() as ours:
        for dialect, name in _NAMES.items():
            late, early = interleaved(
                [partial(ours.ask, repeated_cost, dialect=dialect, before=before) for before in (200, 3)], times
            )
            what = f"{name}, the 200th run of one agent, 5 turns"
            yield compared(what, late, early, other="its third run", unit="ms", aim=1.2)


def measure(times: int) -> Iterator[Row]:
    """Runs of 100 turns beside the others', and of 50 to 200 turns for the exponent."""
    with ExitStack() as stack:
        ours, dspy, smolagents = (stack.enter_context(Worker()) for _ in range(3))

        def sampler(side: Worker, library: str, dialect: Dialect, turns: int) -> Callable[[], float]:
            side.ask(run_cost, library=library, dialect=dialect, turns=3)
            return partial(side.ask, run_cost, library=library, dialect=dialect, turns=turns)

        for dialect, name in _NAMES.items():
            what = f"{name}, 100 turns of 2 KB"
            sides = [
                sampler(ours, "reasonact", dialect, 100),
                sampler(dspy, "dspy", dialect, 100),
                sampler(smolagents, "smolagents", dialect, 100),
                sampler(ours, "reasonact", dialect, 50),
                sampler(ours, "reasonact", dialect, 200),
            ]
            hundred, theirs, small, fifty, two_hundred = interleaved(sides, times)
            yield compared(what, hundred, theirs, other="DSPy", unit="ms", aim=_AIMS[dialect])
            below = None if dialect == "react" else 1.0
            yield compared(what, hundred, small, other="smolagents", unit="ms", aim=below)
            points = ((50, fifty), (100, hundred), (200, two_hundred))
            yield grown(f"{name}, growth from 50 to 200 turns", points, unit="ms", aim=1.15)
    yield from measure_repeated(times)
