"""Running a flow again after failures that another try may mend.

tenacity decides and the flow waits: its decision comes as data (wait so long, or give up), so
that one body serves both drivers. It is imported when a first try has failed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from reasonact.runtime.deferred import deferred
from reasonact.runtime.flow import Command, Flow, call

if TYPE_CHECKING:
    import asyncio

    from tenacity import BaseRetrying
else:
    asyncio = deferred("asyncio")

T = TypeVar("T")


def retrying(
    attempt: Callable[[], Flow[T]], worth_it: Callable[[Exception], bool], policy: Callable[[], BaseRetrying]
) -> Flow[T]:
    """Run a flow, and run it again while it fails in a way that another try may mend.

    Args:
        attempt: Makes a fresh flow for each try.
        worth_it: Tells such failures from others, which are raised at once.
        policy: Makes tenacity's policy: how often, how long, how far apart.

    Returns:
        The flow; it gives what the attempt gives.

    Raises:
        Exception: The last try's failure.
    """
    started = time.monotonic()
    decide: Callable[[Exception], float] | None = None
    while True:
        try:
            return (yield from attempt())
        except Exception as error:
            if not worth_it(error):
                raise
            if decide is None:
                decide = _decider(policy(), started)
            seconds = decide(error)
        yield from call(Sleep(seconds))


def _decider(policy: BaseRetrying, started: float) -> Callable[[Exception], float]:
    import tenacity

    state = tenacity.RetryCallState(policy, None, (), {})
    state.start_time = started
    policy.begin()

    def decide(error: Exception) -> float:
        state.set_exception((type(error), error, error.__traceback__))
        step: Any = policy.iter(retry_state=state)  # raises the error where enough was tried
        state.prepare_for_next_attempt()
        return float(step)

    return decide


@dataclass(frozen=True, slots=True)
class Sleep(Command[None]):
    """Wait for so many seconds."""

    seconds: float

    def run(self) -> None:
        time.sleep(self.seconds)

    async def arun(self) -> None:
        await asyncio.sleep(self.seconds)
