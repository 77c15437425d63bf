"""How often, how far apart and after what a tool is run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.retrying import retrying
from reasonact.tools.control_flow import is_control_flow
from reasonact.tools.policy import Retries

if TYPE_CHECKING:
    import tenacity


def with_retries(command: Command[Any], retries: Retries) -> Flow[Any]:
    """Run a command, and again after failures that are worth it.

    Args:
        command: What to run; it is run anew for every try.
        retries: How often, after what, how far apart.

    Returns:
        The flow; it gives what the command gives.

    Raises:
        Exception: The last try's failure. A pause is none, and leaves at once.
    """

    def worth_it(error: Exception) -> bool:
        return isinstance(error, retries.on) and not is_control_flow(error)

    return retrying(lambda: call(command), worth_it, lambda: _policy_of(retries))


def _policy_of(retries: Retries) -> tenacity.Retrying:
    import tenacity

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retries.times + 1),
        wait=tenacity.wait_exponential(multiplier=retries.wait, max=retries.longest_wait),
        reraise=True,
    )
