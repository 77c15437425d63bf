"""What it costs to put a long history into messages: once, and then with each further turn of a run."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from benchmarks import scripted
from benchmarks.measuring import interleaved, median_ratio
from benchmarks.scripted import QUESTION, THOUGHT, TOOL, Dialect
from benchmarks.sides import ToolBox, agent_of, forget, scripted_lm, surroundings
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_LONG: Final = 1000
_SHORT: Final = 10
_FURTHER_TURNS: Final = 21
_RESULT: Final = 200


def _history(library: str, events: int) -> Any:
    module = import_module(library)
    messages: list[dict[str, Any]] = []
    for turn in range(events):
        call = {"id": f"old-{turn}", "name": TOOL, "args": scripted.arguments(turn)}
        calls = module.ToolCalls.from_dict_list([call])
        results = module.ToolCallResults.from_tool_calls_and_values(calls, [scripted.reading(turn, _RESULT)])
        opening = {} if turn else {"question": QUESTION}
        with_results = calls.model_copy(update={"tool_call_results": results})
        messages.append({**opening, "next_thought": THOUGHT, "tool_calls": with_results})
    return module.History(messages=messages)


def _watched(lm: Any) -> list[int]:
    """Note the process's CPU clock, in ns, at the beginning of every request."""
    seen: list[int] = []
    inner = lm.forward

    def forward(prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        seen.append(time.process_time_ns())
        return inner(prompt, messages, **kwargs)

    lm.forward = forward
    return seen


def first_cost(library: str, dialect: Dialect) -> float:
    """The CPU time from the call of an agent's predictor to its request, with a history of 1,000 events, in ms."""
    box = ToolBox(_RESULT)
    agent = agent_of(library, dialect, [box.tool()], 5)
    lm = scripted_lm(library, dialect, 0)
    history = _history(library, _LONG)
    seen = _watched(lm)
    gc.collect()
    with surroundings(library, dialect, lm):
        began = time.process_time_ns()
        agent.react(question=None, history=history, tools=list(agent.tools.values()))
    forget(library)
    assert len(seen) == 1
    return (seen[0] - began) / 1e6


def further_cost(dialect: Dialect, events: int) -> float:
    """The CPU time of a turn from one request to the next, after so many events and the first two turns, in ms."""
    box = ToolBox(_RESULT)
    agent = agent_of("reasonact", dialect, [box.tool()], _FURTHER_TURNS + 2)
    lm = scripted_lm("reasonact", dialect, _FURTHER_TURNS)
    history = _history("reasonact", events)
    seen = _watched(lm)
    gc.collect()
    with surroundings("reasonact", dialect, lm):
        agent(question=QUESTION, history=history)
    forget("reasonact")
    assert box.calls == _FURTHER_TURNS
    return statistics.median(after - before for before, after in pairwise(seen[2:])) / 1e6


def measure(times: int) -> Iterator[Row]:
    """1,000 events beside DSPy; a further turn after 1,000 events beside one after 10."""
    with ExitStack() as stack:
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        for dialect, name in (("v2-native", "native"), ("v2-text", "text")):
            sides = [
                partial(ours.ask, first_cost, library="reasonact", dialect=dialect),
                partial(dspy.ask, first_cost, library="dspy", dialect=dialect),
            ]
            interleaved(sides, 1)
            mine, theirs = interleaved(sides, times)
            what = f"a history of 1,000 events to messages, {name}, first time"
            yield compared(what, mine, theirs, other="DSPy", unit="ms", aim=1 / 6)
            long, short = interleaved(
                [
                    partial(ours.ask, further_cost, dialect=dialect, events=_LONG),
                    partial(ours.ask, further_cost, dialect=dialect, events=_SHORT),
                ],
                times,
            )
            middle = statistics.median
            what = f"each further turn after 1,000 events, {name}"
            yield Row(what, middle(long), "ms", median_ratio(long, short), middle(short), "after 10 events", aim=2.0)
