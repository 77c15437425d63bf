"""Every script of `scenarios`, played through both libraries."""

from __future__ import annotations

import logging

import dspy
import pytest
from differences import DIFFERENCES
from harness import Scenario, compare, play
from scenarios import SCENARIOS

import reasonact

CASES = [
    pytest.param(scenario, adapter, mode, id=f"{scenario.agent}-{scenario.name}-{adapter}-{mode}")
    for scenario in SCENARIOS
    for adapter in scenario.adapters
    for mode in (("sync",) if scenario.run else ("sync", "async"))
]


@pytest.fixture(autouse=True)
def quiet_oracle():
    logging.getLogger("dspy").setLevel(logging.CRITICAL)


@pytest.mark.parametrize(("scenario", "adapter", "mode"), CASES)
def test_both_libraries_do_the_same(scenario: Scenario, adapter: str, mode: str):
    theirs = play(dspy, scenario, adapter, mode)
    assert (scenario.ends, scenario.leftover) == (theirs.ended, theirs.unplayed)  # the script plays what it says
    ours = play(reasonact, scenario, adapter, mode)
    found = compare(scenario, theirs, ours, DIFFERENCES)
    assert set() == set(scenario.differences) - found


def test_the_scripts_have_names_of_their_own():
    names = [case.id for case in CASES]
    assert len(names) == len(set(names))


def test_a_difference_in_a_record_is_found():
    scenario = next(s for s in SCENARIOS if s.agent == "ReAct")
    theirs = play(dspy, scenario, "chat", "sync")
    ours = play(dspy, scenario, "chat", "sync")
    ours.requests[1]["messages"][1]["content"][0][1] = "another question"
    with pytest.raises(AssertionError, match=r"requests\[1\]\.messages\[1\]\.content\[0\]\[1\]"):
        compare(scenario, theirs, ours, ())
