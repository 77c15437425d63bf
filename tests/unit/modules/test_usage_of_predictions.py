"""What predictions know of their model calls: tokens, calls, cost, across threads, tasks and scopes."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import reasonact
from reasonact.testing import ScriptedLM

COUNTS = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
ANSWER = "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"


class Priced(ScriptedLM):
    """Answers at a price; the second question of a kind is free, out of a cache."""

    def __init__(self, cost=0.5, cached=False):
        super().__init__(lambda messages, options: ANSWER, usage={} if cached else COUNTS)
        self.cost, self.cached = cost, cached

    def _response(self, reply, request):
        response = super()._response(reply, request)
        response._hidden_params = {"response_cost": self.cost}
        response.cache_hit = self.cached
        return response


def ask(lm, how, **settings):
    predict = reasonact.Predict("question -> answer")
    with reasonact.context(lm=lm, **settings):
        if how == "sync":
            return predict(question="q")
        if how == "async":
            return asyncio.run(predict.acall(question="q"))
        (*_, finished) = predict.stream(question="q")
        return finished.prediction


@pytest.mark.parametrize("how", ["sync", "async", "stream"])
def test_a_prediction_knows_tokens_calls_and_cost_where_usage_is_tracked(how):
    prediction = ask(Priced(), how, track_usage=True)
    assert {"scripted": COUNTS} == prediction.get_lm_usage()
    usage = prediction.usage
    assert (1, 0, 12, 0.5) == (usage.calls, usage.cached_calls, usage.total_tokens, usage.cost_usd)
    assert {"scripted": COUNTS} == usage.tokens


def test_an_unknown_cost_is_none_and_a_cached_call_is_counted_as_such():
    assert ask(Priced(cost=None), "sync", track_usage=True).usage.cost_usd is None
    cached = ask(Priced(cached=True), "sync", track_usage=True).usage
    assert (1, 1, 0, 0.0) == (cached.calls, cached.cached_calls, cached.total_tokens, cached.cost_usd)


def test_without_tracking_there_is_no_usage():
    prediction = ask(Priced(), "sync")
    assert prediction.get_lm_usage() is None
    assert not hasattr(prediction, "usage")


def test_usage_is_no_stored_field_and_a_stored_one_wins():
    prediction = ask(Priced(), "sync", track_usage=True)
    assert ["answer"] == list(prediction.keys())
    assert {"answer": "42"} == prediction.toDict() == dict(**prediction)
    prediction.usage = "stored"
    assert "stored" == prediction.usage


def test_copies_with_other_fields_do_not_take_usage_along():
    prediction = ask(Priced(), "sync", track_usage=True)
    assert not hasattr(prediction.without("answer"), "usage")


class Pair(reasonact.Module):
    def __init__(self):
        super().__init__()
        self.predict = reasonact.Predict("question -> answer")

    def forward(self, question):
        self.predict(question=question)
        return self.predict(question=question)

    async def aforward(self, question):
        first, _ = await asyncio.gather(self.predict.acall(question="a"), self.predict.acall(question="b"))
        return first


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_module_counts_what_its_parts_call(how):
    with reasonact.context(lm=Priced(), track_usage=True):
        prediction = Pair()(question="q") if how == "sync" else asyncio.run(Pair().acall(question="q"))
    assert (2, 24, 1.0) == (prediction.usage.calls, prediction.usage.total_tokens, prediction.usage.cost_usd)


def test_scopes_nest_over_threads_tasks_and_parallel():
    predict = reasonact.Predict("question -> answer")

    async def tasks():
        await asyncio.gather(*(predict.acall(question="q") for _ in range(3)))

    with reasonact.context(lm=Priced()), reasonact.track_usage() as outer:
        predict(question="q")
        with reasonact.track_usage() as inner:
            asyncio.run(tasks())
            reasonact.Parallel(num_threads=2)([(predict, {"question": "q"})] * 4)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(reasonact.settings.bind(lambda question: predict(question=question)), "ab"))
    assert (9, 10) == (len(inner.calls), len(outer.calls))
    assert (9 * 12, 10 * 12) == tuple(t.get_total_tokens()["scripted"]["total_tokens"] for t in (inner, outer))


def test_an_agents_usage_has_its_tokens_by_turn_with_tracking_and_without():
    def look_up(topic: str) -> str:
        """Find."""
        return topic

    replies = [
        {"text": None, "tool_calls": [{"id": "a", "name": "look_up", "args": {"topic": "x"}}], "usage": COUNTS},
        {
            "text": None,
            "tool_calls": [{"id": "b", "name": "submit", "args": {"answer": "1"}}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32},
        },
    ]
    agent = reasonact.ReActV2("question -> answer", [look_up])
    adapter = reasonact.ChatAdapter(use_native_function_calling=True)
    for tracked in (False, True):
        lm = ScriptedLM(replies, function_calling=True)
        with reasonact.context(lm=lm, adapter=adapter, track_usage=tracked):
            prediction = agent(question="q")
        usage = prediction.usage
        assert (2, 44, [10, 30]) == (usage.calls, usage.total_tokens, [t["prompt_tokens"] for t in usage.turns])
        assert ({"scripted"} if tracked else None) == (set(prediction.get_lm_usage() or ()) or None)


def test_runs_side_by_side_do_not_count_each_other():
    predictions = {}
    barrier = threading.Barrier(2)

    def run(name, lm):
        with reasonact.context(lm=lm, track_usage=True):
            barrier.wait()
            predictions[name] = Pair()(question=name)

    threads = [threading.Thread(target=run, args=(name, Priced(cost))) for name, cost in (("a", 1.0), ("b", 2.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (2.0, 4.0) == tuple(predictions[name].usage.cost_usd for name in "ab")
