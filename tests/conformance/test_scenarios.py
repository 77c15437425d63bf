"""Every script of `scenarios`, played through both libraries."""

from __future__ import annotations

import logging

import dspy
import pytest
from differences import DIFFERENCES
from harness import Scenario, compare, play, state_of
from scenarios import SCENARIOS

import reasonact

TO_COME = pytest.mark.xfail(strict=True, raises=(AttributeError, AssertionError), reason="a later part of Module")

CASES = [
    pytest.param(
        scenario,
        adapter,
        mode,
        id=f"{scenario.agent}-{scenario.name}-{adapter}-{mode}",
        marks=[TO_COME] if scenario.name == "a batch" and not hasattr(reasonact.Module, "batch") else [],
    )
    for scenario in SCENARIOS
    for adapter in scenario.adapters
    for mode in (("sync",) if scenario.run else ("sync", "async"))
]
SAVED = [
    scenario
    for scenario in SCENARIOS
    if scenario.name
    in (
        "one question",
        "several typed outputs and two inputs",
        "a signature with instructions",
        "demos",
        "demos on both predictors",
        "modules in modules",
    )
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


@pytest.mark.parametrize("scenario", SAVED, ids=lambda scenario: f"{scenario.agent}-{scenario.name}")
@pytest.mark.xfail(not hasattr(reasonact.Module, "dump_state"), strict=True, reason="a later part of Module")
def test_saved_states_have_one_shape(scenario: Scenario):
    theirs, ours = state_of(dspy, scenario), state_of(reasonact, scenario)
    assert theirs == ours
    assert list(theirs) == list(ours)


def test_every_difference_shows_in_a_script():
    shown: set[str] = set()
    for scenario in SCENARIOS:
        for adapter in scenario.adapters:
            theirs, ours = play(dspy, scenario, adapter, "sync"), play(reasonact, scenario, adapter, "sync")
            shown |= {settle.__name__ for settle in DIFFERENCES if settle(scenario, theirs, ours)}
    assert {settle.__name__ for settle in DIFFERENCES} == shown


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
