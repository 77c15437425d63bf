"""What a model call costs whose answer is in the memory cache, beside DSPy's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any, Final

from benchmarks import scripted
from benchmarks.measuring import cpu_us_each, interleaved
from benchmarks.server import ModelServer
from benchmarks.table import Row, compared
from benchmarks.worker import Worker

_TURNS: Final = 10
_REPEATS: Final = 200


def _conversation() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You look things up."}]
    for turn in range(_TURNS):
        messages.append({"role": "user", "content": scripted.reading(turn, 2048)})
        messages.append({"role": "assistant", "content": scripted.thought(turn)})
    return [*messages, {"role": "user", "content": scripted.QUESTION}]


def hit_cost(library: str, address: str) -> float:
    """The CPU time of one call of 22 messages that the memory cache answers, in microseconds."""
    module: Any = import_module(library)
    module.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    lm = module.LM("openai/gpt-4o-mini", api_base=address, api_key="none", temperature=0.0, max_tokens=100)
    messages = _conversation()
    first = lm(messages=messages)
    assert lm(messages=messages) == first
    return cpu_us_each(lambda: lm(messages=messages), _REPEATS)


def measure(times: int) -> Iterator[Row]:
    """A hit in memory beside a hit in DSPy's memory cache."""
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer())
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        sides = [
            partial(side.ask, hit_cost, library=library, address=server.address(0))
            for side, library in ((ours, "reasonact"), (dspy, "dspy"))
        ]
        interleaved(sides, 1)
        mine, theirs = interleaved(sides, times)
        what = "a call answered by the memory cache, 20 KB of messages"
        yield compared(what, mine, theirs, other="DSPy", unit="µs", aim=0.1)
