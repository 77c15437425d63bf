"""Second tries of a command, waits and decisions by tenacity, for sync and async code alike."""

from __future__ import annotations

import sys
from typing import Any

from reasonact.runtime.flow import Command, Flow, call
from reasonact.tools.invoke import Sleep
from reasonact.tools.policy import Retries


def with_retries(command: Command[Any], retries: Retries) -> Flow[Any]:
    """Run a command, and again after failures that are worth it.

    Args:
        command: What to run; it is run anew for every try.
        retries: How often, after what, how far apart.

    Returns:
        A flow that ends with the first success, or raises the last failure.
    """
    import tenacity

    policy = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retries.times + 1),
        wait=tenacity.wait_exponential(multiplier=retries.wait, max=retries.longest_wait),
        retry=tenacity.retry_if_exception_type(retries.on),
        reraise=True,
    )
    # tenacity decides, this flow acts: so one body serves blocking and awaiting drivers
    state = tenacity.RetryCallState(policy, None, (), {})
    policy.begin()
    while True:
        decision = policy.iter(retry_state=state)
        if isinstance(decision, tenacity.DoAttempt):
            try:
                state.set_result((yield from call(command)))
            except Exception:
                state.set_exception(sys.exc_info())  # type: ignore[arg-type]
        elif isinstance(decision, tenacity.DoSleep):
            state.prepare_for_next_attempt()
            yield from call(Sleep(float(decision)))
        else:
            return decision
