"""A tool's second tries, as tenacity is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reasonact.tools.policy import Retries

if TYPE_CHECKING:
    import tenacity


def policy_of(retries: Retries) -> tenacity.Retrying:
    """The policy by which a tool is run again.

    Args:
        retries: How often, after what, how far apart.

    Returns:
        tenacity's form of it.
    """
    import tenacity

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retries.times + 1),
        wait=tenacity.wait_exponential(multiplier=retries.wait, max=retries.longest_wait),
        retry=tenacity.retry_if_exception_type(retries.on),
        reraise=True,
    )
