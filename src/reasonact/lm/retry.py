"""How often, how long and after what a request to a model is sent again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from reasonact.errors import LMError, is_retryable_lm_error
from reasonact.runtime.flow import Flow
from reasonact.runtime.retrying import retrying

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """How failed requests are sent again.

    Waits grow exponentially with full jitter: before attempt n+1, anything between 0 and
    ``first_wait * 2**(n-1)`` seconds, at most ``max_wait`` (Brooker, "Exponential backoff
    and jitter", AWS 2015). A provider's ``Retry-After`` is the least that is waited.

    Args:
        num_retries: How often at most.
        first_wait: Bound of the first wait, in seconds.
        max_wait: Bound of every wait, in seconds; of a ``Retry-After`` too.
        budget: Seconds from the first attempt after which no further one starts.
    """

    num_retries: int = 3
    first_wait: float = 0.5
    max_wait: float = 30.0
    budget: float = 300.0

    def __post_init__(self) -> None:
        for name in ("num_retries", "first_wait", "max_wait", "budget"):
            if getattr(self, name) < 0:
                raise ValueError(f"RetryPolicy({name}={getattr(self, name)}): expected 0 or more")


def with_retries(attempt: Callable[[], Flow[T]], policy: RetryPolicy) -> Flow[T]:
    """Run a flow, and run it again while it fails in a way that a retry can mend.

    Args:
        attempt: Makes a fresh flow for each attempt.
        policy: How often and how long.

    Returns:
        The flow; it gives what the attempt gives.

    Raises:
        LMError: The last attempt's error, where it is not retryable or enough was tried.
    """

    def worth_it(error: Exception) -> bool:
        retryable = isinstance(error, LMError) and is_retryable_lm_error(error)
        return retryable and policy.num_retries > 0 and getattr(error, "partial", None) is None

    return retrying(attempt, worth_it, lambda: _policy_of(policy))


def _policy_of(policy: RetryPolicy) -> tenacity.Retrying:
    import tenacity

    jittered = tenacity.wait_random_exponential(multiplier=policy.first_wait, max=policy.max_wait)

    def wait(state: Any) -> float:
        asked_for = getattr(state.outcome.exception(), "retry_after", None) or 0.0
        return max(jittered(state), min(asked_for, policy.max_wait))

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(policy.num_retries + 1) | tenacity.stop_before_delay(policy.budget),
        wait=wait,
        reraise=True,
    )
