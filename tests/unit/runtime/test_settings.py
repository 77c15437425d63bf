"""Settings: process-wide by configure, local to thread and task by context."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reasonact.runtime.settings import Settings, load_settings, settings


@pytest.fixture
def fresh() -> Settings:
    return Settings()


def in_thread(func: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(func).result()


def test_configure_in_one_thread_is_seen_in_every_other(fresh: Settings) -> None:
    in_thread(lambda: fresh.configure(num_threads=3))
    assert 3 == fresh.num_threads
    assert 3 == in_thread(lambda: fresh.num_threads)


def test_context_is_seen_inside_the_block_and_in_no_other_thread() -> None:
    before = settings.max_errors
    with settings.context(max_errors=1):
        assert 1 == settings.max_errors
        assert before == in_thread(lambda: settings.max_errors)
    assert before == settings.max_errors


def test_the_innermost_context_wins_and_the_outer_one_comes_back() -> None:
    with settings.context(max_errors=1, num_threads=2):
        with settings.context(max_errors=5):
            assert (5, 2) == (settings.max_errors, settings.num_threads)
        assert 1 == settings.max_errors


def test_tasks_inherit_the_context_they_are_started_in_and_do_not_leak_theirs() -> None:
    async def read() -> int:
        await asyncio.sleep(0)
        return int(settings.max_errors)

    async def changed() -> int:
        with settings.context(max_errors=9):
            await asyncio.sleep(0)
            return int(settings.max_errors)

    async def main() -> list[int]:
        with settings.context(max_errors=7):
            return list(await asyncio.gather(read(), changed(), read()))

    assert [7, 9, 7] == asyncio.run(main())


def test_configure_inside_a_context_is_what_the_block_sees_from_then_on(fresh: Settings) -> None:
    with fresh.context(max_errors=1):
        fresh.configure(max_errors=2)
        assert 2 == fresh.max_errors
    assert 2 == fresh.max_errors


def test_bind_carries_the_settings_in_force_into_a_thread_pool() -> None:
    with settings.context(max_errors=4):
        bound = settings.bind(lambda: settings.max_errors)
    assert 4 == in_thread(bound)


def test_a_setting_is_read_as_attribute_and_as_item_and_unknown_names_say_so(fresh: Settings) -> None:
    fresh.configure(of_my_own="x")
    assert "x" == fresh.of_my_own == fresh["of_my_own"]
    assert "of_my_own" in fresh
    with pytest.raises(AttributeError, match="no setting 'nothing'"):
        _ = fresh.nothing
    assert 0 == fresh.get("nothing", 0)


def test_assigning_an_attribute_or_item_configures(fresh: Settings) -> None:
    fresh.num_threads = 2
    fresh["max_errors"] = 6
    assert (2, 6) == (fresh.num_threads, fresh.max_errors)


def test_two_settings_tables_share_no_default_list(fresh: Settings) -> None:
    fresh.callbacks.append("mine")
    assert [] == Settings().callbacks


def test_saved_settings_come_back_without_what_json_cannot_hold(fresh: Settings, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    fresh.configure(num_threads=3, lm=object(), secret="s")
    fresh.save(path, exclude_keys=["secret"])
    loaded = load_settings(path)
    assert 3 == loaded["num_threads"]
    assert not {"lm", "secret"} & loaded.keys()
    other = Settings()
    other.load(path)
    assert 3 == other.num_threads


def test_a_file_that_holds_no_settings_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text("[1]")
    with pytest.raises(ValueError, match=r"list\.json holds no settings"):
        load_settings(path)


def test_concurrent_configure_loses_no_value(fresh: Settings) -> None:
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        barrier.wait()
        fresh.configure(**{f"own_{number}": number})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(range(8)) == [fresh.get(f"own_{number}") for number in range(8)]


def test_the_settings_are_shown_with_their_values_and_read_as_one_dict() -> None:
    with settings.context(num_threads=3):
        assert 3 == settings.config["num_threads"] == settings.copy()["num_threads"]
        assert "'num_threads': 3" in repr(settings)
