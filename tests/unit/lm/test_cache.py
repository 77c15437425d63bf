"""The cache of answers: keys, copies, bounds, and files that are not what they should be."""

import asyncio
import gc
import json
import logging
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from reasonact.lm.cache import FILE_NAME, Cache, cache, configure_cache, default_cache_dir
from reasonact.lm.request_cache import request_cache
from reasonact.lm.request_key import request_key
from reasonact.lm.response import Response, from_json, to_json
from reasonact.lm.sqlite_store import SQLiteStore

REQUEST = {"model": "openai/m", "messages": [{"role": "user", "content": "q"}], "temperature": 0.5}
ANSWER = {"choices": [{"message": {"content": "a"}}], "usage": {"total_tokens": 5}}


@pytest.fixture
def store(tmp_path):
    return Cache(disk_cache_dir=tmp_path)


@pytest.fixture
def process_cache(tmp_path):
    configure_cache(disk_cache_dir=tmp_path)
    yield cache
    configure_cache(enable_disk_cache=False)


class TestKeys:
    @pytest.mark.parametrize(
        "options",
        [
            {"api_key": "sk-1"},
            {"api_key": "sk-2"},
            {"aws_secret_access_key": "x", "aws_session_token": "y"},
            {"extra_headers": {"Authorization": "Bearer x"}},
            {"timeout": 3, "num_retries": 9, "max_retries": 2, "stream": True, "stream_options": {}},
            {"callbacks": [print], "metadata": {"trace": 1}},
        ],
    )
    def test_secrets_callbacks_and_the_manner_of_sending_do_not_count(self, options):
        without = {"extra_headers": {}} if "extra_headers" in options else {}
        assert request_key({**REQUEST, **without}) == request_key({**REQUEST, **options})

    @pytest.mark.parametrize(
        "changed",
        [
            {"model": "openai/other"},
            {"temperature": 0.6},
            {"messages": [{"role": "user", "content": "q "}]},
            {"rollout_id": 1},
            {"api_base": "http://elsewhere"},
            {"tools": [{"type": "function", "function": {"name": "f"}}]},
            {"max_tokens": 5},
            {"extra_headers": {"X-Version": "2"}},
        ],
    )
    def test_everything_that_is_asked_counts(self, changed):
        assert request_key(REQUEST) != request_key({**REQUEST, **changed})

    def test_a_login_in_a_host_does_not_count_but_the_same_text_in_a_message_does(self):
        assert request_key({**REQUEST, "api_base": "https://u:p@h/v1?api-key=1"}) == request_key(
            {**REQUEST, "api_base": "https://v:q@h/v1?api-key=2"}
        )
        one, other = ({**REQUEST, "messages": [{"content": f"https://u:{word}@h"}]} for word in "ab")
        assert request_key(one) != request_key(other)
        one, other = ({**REQUEST, "messages": [{"content": "x", "api_key": word}]} for word in "ab")
        assert request_key(one) != request_key(other)

    def test_the_order_of_options_does_not_count_that_of_messages_does(self):
        assert request_key(REQUEST) == request_key(dict(reversed(list(REQUEST.items()))))
        messages = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
        assert request_key({"messages": messages}) != request_key({"messages": messages[::-1]})

    def test_a_key_is_the_same_in_every_process(self):
        options = "{'model': 'm', 'stop': {'b', 'a', 'c'}}"
        code = f"from reasonact.lm.request_key import request_key; print(request_key({options}))"
        keys = {
            subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in "12"
        }
        assert 1 == len(keys)

    def test_models_and_their_classes_are_described_by_content(self):
        class One(BaseModel):
            a: int

        assert request_key({"response_format": One}) == request_key({"response_format": One})
        assert request_key({"x": One(a=1)}) == request_key({"x": One(a=1)}) != request_key({"x": One(a=2)})
        assert request_key({"x": b"1"}) != request_key({"x": b"2"})

    def test_an_object_without_a_stable_description_has_no_key_and_is_a_miss(self, store):
        request = {"model": "m", "handler": SimpleNamespace()}
        with pytest.raises(TypeError, match="SimpleNamespace"):
            store.cache_key(request)
        store.put(request, ANSWER)
        assert store.get(request) is None

    def test_names_can_be_left_out(self, store):
        store.put({**REQUEST, "trace": 1}, ANSWER, ["trace"])
        assert ANSWER == store.get({**REQUEST, "trace": 2}, ["trace"])

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_any_plain_data_has_a_key(self, value):
        assert 64 == len(request_key({"messages": value, "option": value}))


class TestAnswers:
    def test_what_comes_out_is_a_copy_with_attributes_and_keys(self, store):
        stored = json.loads(json.dumps(ANSWER))
        store.put(REQUEST, stored)
        stored["choices"][0]["message"]["content"] = "changed"
        first = store.get(REQUEST)
        assert ("a", "a") == (first.choices[0].message.content, first["choices"][0]["message"]["content"])
        first.choices[0]["message"]["content"] = "changed"
        assert ANSWER == store.get(REQUEST)

    def test_the_file_serves_another_process(self, store, tmp_path):
        store.put(REQUEST, ANSWER)
        assert ANSWER == Cache(disk_cache_dir=tmp_path).get(REQUEST)

    def test_memory_alone_and_disk_alone(self, tmp_path):
        memory = Cache(enable_disk_cache=False, disk_cache_dir=tmp_path)
        memory.put(REQUEST, ANSWER)
        assert ANSWER == memory.get(REQUEST)
        assert [] == list(tmp_path.iterdir())
        memory.reset_memory_cache()
        assert memory.get(REQUEST) is None

        disk = Cache(enable_memory_cache=False, disk_cache_dir=tmp_path)
        disk.put(REQUEST, ANSWER)
        assert (ANSWER, 0) == (disk.get(REQUEST), len(disk.memory_cache))

    def test_what_json_cannot_hold_is_not_stored(self, store):
        store.put(REQUEST, {"x": object()})
        assert store.get(REQUEST) is None

    def test_memory_is_bounded_and_forgets_what_was_used_least_recently(self):
        store = Cache(enable_disk_cache=False, memory_max_entries=2)
        for number in (1, 2):
            store.put({"n": number}, [number])
        store.get({"n": 1})
        store.put({"n": 3}, [3])
        assert [[1], None, [3]] == [store.get({"n": number}) for number in (1, 2, 3)]

    def test_the_file_is_bounded_and_forgets_the_oldest(self, tmp_path):
        store = Cache(enable_memory_cache=False, disk_cache_dir=tmp_path, disk_size_limit_bytes=100_000)
        for number in range(400):
            store.put({"n": number}, "x" * 1000)
        assert store.stats().disk_bytes <= 100_000
        assert store.get({"n": 0}) is None
        assert "x" * 1000 == store.get({"n": 399})
        store.put({"n": "big"}, "x" * 200_000)
        assert store.get({"n": "big"}) is None

    def test_stats_count_hits_misses_and_bytes(self, store):
        store.get(REQUEST)
        store.put(REQUEST, ANSWER)
        store.get(REQUEST)
        size = len(to_json(ANSWER))
        stats = store.stats()
        assert (1, 1, size, size) == (stats.hits, stats.misses, stats.bytes, stats.disk_bytes)

    def test_setting_it_up_anew_closes_the_file_that_it_had(self, tmp_path, monkeypatch):
        opened = []
        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: opened.append(connect(*a, **k)) or opened[-1])
        store = Cache(disk_cache_dir=tmp_path)
        store.put(REQUEST, ANSWER)
        store.configure(
            enable_disk_cache=False,
            enable_memory_cache=True,
            disk_cache_dir=None,
            disk_size_limit_bytes=None,
            memory_max_entries=10,
        )
        (connection,) = opened
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")

    def test_memory_can_be_saved_and_read_back(self, store, tmp_path):
        store.put(REQUEST, {"text": "zwölf \ud800"})
        store.save_memory_cache(str(tmp_path / "saved"))
        other = Cache(enable_disk_cache=False)
        other.load_memory_cache(str(tmp_path / "saved"))
        assert {"text": "zwölf \ud800"} == other.get(REQUEST)
        (tmp_path / "wrong").write_text('{"a": 1}')
        with pytest.raises(ValueError, match="no saved cache"):
            other.load_memory_cache(str(tmp_path / "wrong"))

    def test_bounds_below_zero_are_refused(self):
        with pytest.raises(ValueError, match="0 or more"):
            Cache(memory_max_entries=-1)

    def test_the_folder_comes_from_the_environment(self, monkeypatch, tmp_path):
        monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "d"))
        monkeypatch.delenv("REASONACT_CACHEDIR", raising=False)
        assert tmp_path / "d" == default_cache_dir()
        monkeypatch.setenv("REASONACT_CACHEDIR", str(tmp_path / "r"))
        assert tmp_path / "r" == default_cache_dir()

    def test_dsypys_pickle_words_are_taken_without_effect(self, tmp_path):
        Cache(True, True, str(tmp_path), 10, 10, restrict_pickle=True, safe_types=[int])

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_json_data_comes_back_as_it_was(self, value):
        assert value == from_json(to_json(value))

    def test_a_response_says_which_fields_it_has(self):
        with pytest.raises(AttributeError, match="no field 'b'; it has a"):
            Response(a=1).b


class TestFilesThatAreNotWhatTheyShouldBe:
    def check_misses(self, tmp_path, caplog):
        store = Cache(enable_memory_cache=False, disk_cache_dir=tmp_path)
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                store.put(REQUEST, ANSWER)
                assert store.get(REQUEST) is None
        assert 1 <= len(caplog.records) <= 2
        assert "could not be used" in caplog.text

    def test_a_file_of_rubbish(self, tmp_path, caplog):
        (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 1000)
        self.check_misses(tmp_path, caplog)

    def test_a_folder_that_is_a_file(self, tmp_path, caplog):
        (tmp_path / "file").write_text("x")
        self.check_misses(tmp_path / "file", caplog)

    def test_a_file_that_is_a_folder(self, tmp_path, caplog):
        (tmp_path / FILE_NAME).mkdir()
        self.check_misses(tmp_path, caplog)

    def test_a_database_with_other_tables(self, tmp_path, caplog):
        with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
            connection.execute("CREATE TABLE answers (x)")
        self.check_misses(tmp_path, caplog)

    def test_damage_within_the_file_is_a_miss_or_the_right_answer(self, tmp_path):
        Cache(disk_cache_dir=tmp_path).put(REQUEST, ANSWER)
        with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
            connection.execute("UPDATE answers SET value = replace(value, 'a', 'b')")
        assert Cache(disk_cache_dir=tmp_path).get(REQUEST) is None

    def test_any_damaged_byte_is_a_miss_or_the_right_answer(self, tmp_path):
        original = Cache(disk_cache_dir=tmp_path)
        original.put(REQUEST, ANSWER)
        original.disk_cache.close()
        with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = (tmp_path / FILE_NAME).read_bytes()
        rng = random.Random(7)
        for number in range(40):
            folder = tmp_path / str(number)
            folder.mkdir()
            damaged = bytearray(content)
            for _ in range(20):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            (folder / FILE_NAME).write_bytes(damaged)
            store = Cache(disk_cache_dir=folder)
            assert store.get(REQUEST) in (None, ANSWER)
            store.put({"other": 1}, ANSWER)
            assert ANSWER == store.get({"other": 1})  # out of memory at least

    def test_a_locked_file_is_a_warning_and_goes_on_when_it_is_free(self, tmp_path, caplog, monkeypatch):
        monkeypatch.setattr("reasonact.lm.sqlite_store._WAIT_SECONDS", 0.05)
        store = Cache(enable_memory_cache=False, disk_cache_dir=tmp_path)
        store.put({"n": 1}, [1])
        store.disk_cache.close()
        holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        store.put({"n": 2}, [2])
        assert [1] == store.get({"n": 1})  # readers do not wait for a writer
        holder.execute("ROLLBACK")
        holder.close()
        assert "locked" in caplog.text
        store.put({"n": 3}, [3])
        assert [None, [3]] == [store.get({"n": 2}), store.get({"n": 3})]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_read_only_file_is_read(self, tmp_path):
        Cache(disk_cache_dir=tmp_path).put(REQUEST, ANSWER)
        os.chmod(tmp_path / FILE_NAME, 0o400)
        assert ANSWER == Cache(disk_cache_dir=tmp_path).get(REQUEST)


def _hammer(folder, seed, seconds):
    """Read and write the same keys from many threads; say so if ever a wrong value comes out."""
    store = Cache(enable_memory_cache=False, disk_cache_dir=folder, disk_size_limit_bytes=60_000)
    end = time.monotonic() + seconds
    wrong = []

    def work(number):
        rng = random.Random(f"{seed}-{number}")
        while time.monotonic() < end:
            key = rng.randrange(40)
            if rng.random() < 0.5:
                store.put({"n": key}, {"n": key, "filling": str(key) * rng.randrange(1, 2000)})
            else:
                found = store.get({"n": key})
                if found is not None and (found["n"] != key or set(found["filling"]) - set(str(key))):
                    wrong.append(key)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(3 if wrong else 0)


def test_processes_and_threads_on_one_file_with_kills_at_random(tmp_path):
    context = multiprocessing.get_context("spawn")
    rng = random.Random(1)
    running = [context.Process(target=_hammer, args=(tmp_path, seed, 4.0)) for seed in range(8)]
    for process in running:
        process.start()
    for victim in rng.sample(running, 3):
        time.sleep(rng.uniform(0.8, 1.2))
        os.kill(victim.pid, signal.SIGKILL)
    for process in running:
        process.join(60)
    assert {0, -signal.SIGKILL} >= {process.exitcode for process in running}
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        assert ("ok",) == connection.execute("PRAGMA integrity_check").fetchone()
        total, stored = connection.execute(
            "SELECT (SELECT bytes FROM total), (SELECT sum(length(value)) FROM answers)"
        ).fetchone()
    assert total == stored <= 60_000


def test_many_threads_share_one_store(tmp_path):
    store = SQLiteStore(tmp_path / "x.sqlite3", None)

    def work(number):
        store.put(str(number % 10), b"%d" % (number % 10))
        return store.get(str(number % 10)) == b"%d" % (number % 10)

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(work, range(320)))


def test_a_store_that_is_dropped_closes_its_file(tmp_path):
    store = SQLiteStore(tmp_path / "x.sqlite3", None)
    store.put("a", b"1")
    (connection,) = store._idle
    store.itself = store  # dropped in a ring, in which nobody says what goes first
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on_with_connections_of_its_own(tmp_path):
    store = SQLiteStore(tmp_path / "x.sqlite3", None)
    store.put("a", b"1")
    child = os.fork()
    if child == 0:
        good = store.get("a") == b"1"
        store.put("b", b"2")
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert (0, b"2") == (status, store.get("b"))


class TestDecorator:
    def test_results_are_kept_by_arguments(self, process_cache):
        asked = []

        @request_cache(ignored_args_for_cache_key=["trace"])
        def answer(question, trace=None):
            asked.append(question)
            return {"text": question.upper()}

        assert ["A", "A", "B"] == [answer("a")["text"], answer("a", trace=2).text, answer("b")["text"]]
        assert ["a", "b"] == asked

    def test_one_argument_can_be_the_request(self, process_cache):
        asked = []

        @request_cache(cache_arg_name="request")
        async def answer(request, other):
            asked.append(other)
            return [request["q"]]

        async def run():
            return [await answer({"q": 1}, 1), await answer({"q": 1}, 2), await answer(request={"q": 2}, other=3)]

        assert [[1], [1], [2]] == asyncio.run(run())
        assert [1, 3] == asked

    def test_functions_do_not_share_their_results(self, process_cache):
        @request_cache()
        def one(x):
            return "one"

        @request_cache()
        def other(x):
            return "other"

        assert ("one", "other") == (one(1), other(1))

    def test_a_request_without_a_key_is_asked_every_time(self, process_cache):
        asked = []

        @request_cache()
        def answer(x):
            asked.append(x)
            return 1

        thing = object()
        answer(thing)
        answer(thing)
        assert 2 == len(asked)
