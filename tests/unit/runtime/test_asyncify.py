"""Blocking programs in async code: their own thread, the caller's settings, a bound on how many."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

import reasonact
from reasonact.runtime.asyncify import asyncify, get_limiter

OWN = contextvars.ContextVar("OWN", default="unset")


async def test_a_program_runs_in_another_thread_with_its_arguments() -> None:
    def program(*args: Any, **kwargs: Any) -> Any:
        return threading.current_thread(), args, kwargs

    thread, args, kwargs = await asyncify(program)(1, program=2, self=3)
    assert threading.current_thread() is not thread
    assert ((1,), {"program": 2, "self": 3}) == (args, kwargs)


async def test_settings_and_context_variables_of_the_awaiting_code_hold() -> None:
    looking = asyncify(lambda: (reasonact.settings.get("mine"), OWN.get()))
    OWN.set("callers")
    with reasonact.context(mine=7):
        assert (7, "callers") == await looking()


async def test_what_the_program_raises_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        await asyncify(lambda: 1 / 0)()


async def test_the_event_loop_goes_on_meanwhile() -> None:
    go_on = threading.Event()
    waiting = asyncio.create_task(asyncify(lambda: go_on.wait(20))())  # type: ignore[arg-type]
    await asyncio.sleep(0)
    go_on.set()
    assert await waiting


@pytest.mark.parametrize("limit", [1, 3])
async def test_as_many_run_at_once_as_the_setting_allows(limit: int) -> None:
    under_way, most = 0, 0
    lock = threading.Lock()
    full = threading.Event()

    def program() -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
            if under_way == limit:
                full.set()
        full.wait(20)
        with lock:
            under_way -= 1

    with reasonact.context(async_max_workers=limit):
        await asyncio.gather(*(asyncify(program)() for _ in range(8)))
    assert limit == most


async def test_one_that_is_cancelled_while_it_waits_takes_no_place() -> None:
    with reasonact.context(async_max_workers=1):
        async with get_limiter():
            waiting = asyncio.create_task(asyncify(lambda: 1)())  # type: ignore[arg-type]
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        assert 2 == await asyncify(lambda: 2)()


def test_each_event_loop_has_a_limiter_of_its_own() -> None:
    async def once() -> int:
        value: int = await asyncify(lambda: 1)()
        return value

    assert [1, 1] == [asyncio.run(once()) for _ in range(2)]


def test_what_cannot_be_called_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="not a int"):
        asyncify(3)  # type: ignore[arg-type]
