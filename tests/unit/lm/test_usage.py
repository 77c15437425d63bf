"""Counting tokens: sums, nesting, threads and tasks."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from reasonact.lm.usage import CallUsage, UsageTracker, track_usage
from reasonact.runtime.settings import settings
from reasonact.testing import ScriptedLM

TOKENS = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def test_counts_are_added_up_by_model_and_kind_nested_ones_within():
    tracker = UsageTracker()
    tracker.add_usage("m", {"a": 1, "b": None, "details": {"cached": 2, "audio": None}})
    tracker.add_usage("m", {"a": 2, "b": 3, "details": {"cached": 4, "text": 1}})
    tracker.add_usage("other", {"a": 7})
    tracker.add_usage("other", {})
    assert {
        "m": {"a": 3, "b": 3, "details": {"cached": 6, "audio": None, "text": 1}},
        "other": {"a": 7},
    } == tracker.get_total_tokens()


def test_what_is_no_number_keeps_its_last_value():
    tracker = UsageTracker()
    tracker.add_usage("m", {"tier": "flex", "flag": True})
    tracker.add_usage("m", {"tier": "default", "flag": True})
    assert {"m": {"tier": "default", "flag": True}} == tracker.get_total_tokens()


def test_an_outer_block_counts_what_an_inner_one_counts():
    lm = ScriptedLM(["a", "b"], usage=TOKENS)
    with track_usage() as outer:
        lm("p")
        with track_usage() as inner:
            lm("p")
        assert {"scripted": TOKENS} == inner.get_total_tokens()
    assert 10 == outer.get_total_tokens()["scripted"]["total_tokens"]
    assert 2 == len(outer.calls)


def test_nothing_is_counted_after_the_block():
    lm = ScriptedLM(["a"], usage=TOKENS)
    with track_usage() as tracker:
        pass
    lm("p")
    assert {} == tracker.get_total_tokens()


async def test_tasks_count_and_do_not_see_each_other():
    async def one(number):
        lm = ScriptedLM(["a"] * number, usage=TOKENS)
        with track_usage() as own:
            for _ in range(number):
                await lm.acall("p")
                await asyncio.sleep(0)
        return own.get_total_tokens()["scripted"]["total_tokens"]

    with track_usage() as outer:
        assert [5, 10, 15] == await asyncio.gather(one(1), one(2), one(3))
    assert 30 == outer.get_total_tokens()["scripted"]["total_tokens"]


def test_threads_that_get_the_settings_count():
    lm = ScriptedLM(["a"] * 400, usage=TOKENS)
    with track_usage() as tracker, ThreadPoolExecutor(8) as pool:
        list(pool.map(settings.bind(lambda _: lm("p")), range(400)))
    assert 2000 == tracker.get_total_tokens()["scripted"]["total_tokens"]
    assert 400 == len(tracker.calls)


def test_the_cost_is_known_only_where_every_call_has_a_price():
    tracker = UsageTracker()
    assert 0.0 == tracker.total_cost()
    tracker.add_call(CallUsage("m", {}, 0.25, cached=False))
    tracker.add_call(CallUsage("m", {}, 0.5, cached=False))
    assert 0.75 == tracker.total_cost()
    tracker.add_call(CallUsage("m", {}, None, cached=False))
    assert tracker.total_cost() is None


def test_a_tracker_of_a_programs_own_gets_the_usage():
    class Own:
        def __init__(self):
            self.seen = []

        def add_usage(self, lm, usage_entry):
            self.seen.append((lm, usage_entry))

    own = Own()
    with settings.context(usage_tracker=own):
        ScriptedLM(["a"], usage=TOKENS)("p")
    assert [("scripted", TOKENS)] == own.seen
