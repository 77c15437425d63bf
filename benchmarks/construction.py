"""What it costs to build an agent with 201 tools, one of which takes a deep pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from benchmarks.measuring import cpu_ms, interleaved
from benchmarks.orders import Order
from benchmarks.scripted import Dialect
from benchmarks.sides import agent_of
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_TOOLS: Final = 200


def _simple_tool(number: int) -> Callable[..., str]:
    def work(shelf: int, label: str, weight: float = 1.0, fragile: bool = False) -> str:
        """Put something on a shelf."""
        return f"{number}: {label} on {shelf}"

    work.__name__ = work.__qualname__ = f"shelve_{number}"
    return work


def place_order(order: Order) -> str:
    """Place an order."""
    return f"order {order.number} for {order.person.name}"


def build_cost(library: str, dialect: Dialect) -> float:
    """The CPU time of building one agent with fresh functions as its tools, in ms."""
    tools: list[Any] = [*(_simple_tool(number) for number in range(_TOOLS)), place_order]
    agents: list[Any] = []
    spent = cpu_ms(lambda: agents.append(agent_of(library, dialect, tools, 5)))
    assert len(agents[0].tools) == _TOOLS + 2
    return spent


def measure(times: int) -> Iterator[Row]:
    """Both agents beside DSPy's."""
    with ExitStack() as stack:
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        for dialect, name in (("react", "ReAct"), ("v2-native", "ReActV2")):
            sides = [
                partial(ours.ask, build_cost, library="reasonact", dialect=dialect),
                partial(dspy.ask, build_cost, library="dspy", dialect=dialect),
            ]
            interleaved(sides, 1)
            built, theirs = interleaved(sides, times)
            yield compared(f"{name} with 201 tools, construction", built, theirs, other="DSPy", unit="ms", aim=0.25)
