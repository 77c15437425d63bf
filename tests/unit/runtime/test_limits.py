"""Limits say what may be spent, and which of them is used up first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reasonact.runtime.limits import Limits, ReadClock, Spent


@pytest.mark.parametrize(
    ("limits", "spent", "reached"),
    [
        (Limits(), Spent(lm_calls=10**6, cost_usd=1e9), None),
        (Limits(lm_calls=3), Spent(lm_calls=2), None),
        (Limits(lm_calls=3), Spent(lm_calls=3), "lm_calls"),
        (Limits(tool_calls=0), Spent(), "tool_calls"),
        (Limits(total_tokens=100), Spent(total_tokens=101), "total_tokens"),
        (Limits(cost_usd=0.5), Spent(cost_usd=0.49), None),
        (Limits(seconds=1.5, lm_calls=1), Spent(seconds=2.0, lm_calls=1), "lm_calls"),
    ],
)
def test_a_limit_is_reached_when_as_much_is_spent(limits: Limits, spent: Spent, reached: str | None) -> None:
    assert reached == spent.reached(limits)


@pytest.mark.parametrize("value", [-1, True, "3", float("nan")])
def test_a_limit_that_is_no_number_from_0_on_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="lm_calls"):
        Limits(lm_calls=value)


def test_the_clock_goes_forward_under_either_driver() -> None:
    earlier = ReadClock().run()
    assert earlier <= asyncio.run(ReadClock().arun())
