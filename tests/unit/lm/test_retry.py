"""Retries as data: how often, how long, and what ends them."""

import pytest

from reasonact.errors import LMAuthError, LMRateLimitError, LMServerError, LMTimeoutError, LMTransportError
from reasonact.lm.retry import RetryPolicy, with_retries
from reasonact.runtime.flow import Command, call
from reasonact.runtime.retrying import Sleep


class Attempt(Command):
    """What the made-up drivers below answer or refuse."""

    def run(self):
        raise AssertionError("the test answers")

    async def arun(self):
        raise AssertionError("the test answers")


def play(results, policy=None):
    """Run the retries against given results; give back what came out and the waits asked for."""
    results = iter(results)
    flow = with_retries(lambda: call(Attempt()), policy or RetryPolicy())
    waits = []
    command = next(flow)
    try:
        while True:
            if isinstance(command, Sleep):
                waits.append(command.seconds)
                command = flow.send(None)
                continue
            result = next(results)
            command = flow.throw(result) if isinstance(result, BaseException) else flow.send(result)
    except StopIteration as stop:
        return stop.value, waits
    except BaseException as error:
        return error, waits


@pytest.mark.parametrize("cls", [LMRateLimitError, LMServerError, LMTimeoutError, LMTransportError])
def test_what_may_pass_is_tried_again_until_it_has(cls):
    value, waits = play([cls("one"), cls("two"), "answer"])
    assert ("answer", 2) == (value, len(waits))


@pytest.mark.parametrize("failure", [LMAuthError("no"), ValueError("mine"), KeyboardInterrupt()])
def test_what_no_retry_can_mend_is_raised_at_once(failure):
    assert (failure, []) == play([failure, "answer"])


def test_the_last_failure_is_raised_when_enough_was_tried():
    failures = [LMServerError(str(number)) for number in range(4)]
    error, waits = play(failures, RetryPolicy(num_retries=3))
    assert (failures[3], 3) == (error, len(waits))


def test_without_retries_nothing_is_waited_for():
    failure = LMServerError("x")
    assert (failure, []) == play([failure], RetryPolicy(num_retries=0))


def test_waits_grow_with_full_jitter_up_to_a_bound():
    policy = RetryPolicy(num_retries=8, first_wait=1.0, max_wait=10.0, budget=1e9)
    rounds = [play([LMServerError("x")] * 9, policy)[1] for _ in range(200)]
    for number in range(8):
        bound = min(10.0, 2.0**number)
        waits = [one[number] for one in rounds]
        assert 0 <= min(waits) < 0.2 * bound
        assert 0.8 * bound < max(waits) <= bound


def test_retry_after_is_the_least_that_is_waited_and_is_capped():
    policy = RetryPolicy(first_wait=0.001, max_wait=30.0)
    _, waits = play(
        [LMRateLimitError("x", retry_after=7.0), LMRateLimitError("x", retry_after=4000.0), "answer"], policy
    )
    assert [7.0, 30.0] == waits


def test_no_attempt_starts_beyond_the_budget():
    failure = LMRateLimitError("x", retry_after=20.0)
    assert (failure, []) == play([failure, "answer"], RetryPolicy(budget=10.0, max_wait=60.0))


@pytest.mark.parametrize("name", ["num_retries", "first_wait", "max_wait", "budget"])
def test_a_policy_below_zero_is_refused(name):
    with pytest.raises(ValueError, match=name):
        RetryPolicy(**{name: -1})
