"""Cached answers of LM over a real socket: when the provider is asked, and what comes back."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from reasonact.errors import LMUnexpectedError
from reasonact.lm.cache import Cache
from reasonact.lm.litellm_client import LM
from reasonact.lm.usage import track_usage


@pytest.fixture
def lm(provider, wire, fresh_cache):
    provider.says(*(wire.http(wire.completion(f"answer {number}")) for number in range(1, 20)))
    return LM("openai/gpt-4o-mini", api_base=provider.url, api_key="k", num_retries=0)


def test_the_same_request_is_asked_once_whatever_asks_it(provider, lm):
    other = LM("openai/gpt-4o-mini", api_base=provider.url, api_key="another key", num_retries=3, timeout=9)
    answers = [lm("q"), asyncio.run(lm.acall("q")), other("q"), lm(messages=[{"role": "user", "content": "q"}])]
    assert [["answer 1"]] * 4 == answers
    assert 1 == len(provider.requests)


def test_another_process_gets_the_answer_from_the_file(provider, lm, fresh_cache):
    lm("q")
    fresh_cache.reset_memory_cache()
    assert (["answer 1"], ["answer 1"]) == (lm("q"), asyncio.run(lm.acall("q")))
    assert isinstance(fresh_cache, Cache)
    assert 1 == len(provider.requests)


def test_every_rollout_has_an_answer_of_its_own(provider, lm):
    answers = [lm("q", temperature=1.0, rollout_id=rollout)[0] for rollout in (1, 2, 1, None, None)]
    assert ["answer 1", "answer 2", "answer 1", "answer 3", "answer 3"] == answers
    assert "rollout_id" not in provider.requests[0]["json"]


def test_a_rollout_at_temperature_zero_is_warned_about(lm):
    with pytest.warns(UserWarning, match="rollout_id"):
        lm("q", temperature=0, rollout_id=1)


def test_the_cache_can_be_passed_by(provider, lm):
    assert ["answer 1", "answer 2", "answer 1"] == [lm("q")[0], lm("q", cache=False)[0], lm("q")[0]]
    without = LM("openai/gpt-4o-mini", api_base=provider.url, api_key="k", cache=False)
    assert "answer 3" == without("q")[0]


def test_a_cached_call_says_so_and_uses_no_tokens(lm):
    with track_usage() as tracker:
        lm("q")
        lm("q")
    first, second = lm.history
    assert (5, {}) == (first["usage"]["total_tokens"], second["usage"])
    assert first["cost"] > 0
    assert 0.0 == second["cost"]
    assert second["response"].cache_hit
    assert (
        "answer 1"
        == second["response"].choices[0].message.content
        == second["response"]["choices"][0]["message"]["content"]
    )
    assert "gpt-4o-mini" == second["response_model"]
    assert [False, True] == [call.cached for call in tracker.calls]
    assert 5 == tracker.get_total_tokens()["openai/gpt-4o-mini"]["total_tokens"]


def test_tool_calls_come_out_of_the_cache_as_they_went_in(provider, wire, lm):
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    provider.says(wire.http(wire.completion(None, tool_calls=[call])))
    for _ in range(2):
        (output,) = lm("q")
        (got,) = output["tool_calls"]
        assert (None, "call_1", "search", '{"q": "x"}') == (
            output["text"],
            got.id,
            got.function.name,
            got.function.arguments,
        )
    assert 1 == len(provider.requests)


def test_failures_and_empty_answers_are_not_kept(provider, wire, lm):
    provider.says(
        wire.refusal(400), wire.http({**wire.completion(), "choices": []}), wire.http(wire.completion("good"))
    )
    with pytest.raises(Exception, match="no can do"):
        lm("q")
    with pytest.raises(LMUnexpectedError):
        lm("q")
    assert ["good"] == lm("q")


def test_an_answer_that_a_caller_changes_stays_as_it_was(lm):
    lm("q")
    lm("q")
    lm.history[-1]["response"]["choices"][0]["message"]["content"] = "changed"
    assert ["answer 1"] == lm("q")


def test_no_key_stands_in_the_file(provider, wire, fresh_cache, tmp_path):
    provider.says(wire.http(wire.completion("x")))
    lm = LM(
        "openai/gpt-4o-mini",
        api_base=provider.url,
        api_key="sk-verysecret",
        extra_headers={"Authorization": "sk-other"},
    )
    lm("q")
    fresh_cache.disk_cache.close()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"sk-verysecret" not in content
    assert b"sk-other" not in content


def test_threads_and_tasks_share_it(provider, lm):
    lm("q")
    with ThreadPoolExecutor(8) as pool:
        assert {"answer 1"} == {answer[0] for answer in pool.map(lm, ["q"] * 64)}

    async def many():
        return await asyncio.gather(*(lm.acall("q") for _ in range(64)))

    assert {"answer 1"} == {answer[0] for answer in asyncio.run(many())}
    assert 1 == len(provider.requests)
