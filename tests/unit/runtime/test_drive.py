"""The two drivers run one flow alike, and the bridges keep context, errors and the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from reasonact.runtime.drive import adrive, call_in_thread, drive, run_coroutine, to_thread
from reasonact.runtime.flow import Command, Flow, call


@dataclass(frozen=True)
class Double(Command[int]):
    number: int

    def run(self) -> int:
        if self.number < 0:
            raise ValueError("negative")
        return self.number * 2

    async def arun(self) -> int:
        await asyncio.sleep(0)
        return self.run()


def doubled_twice(number: int) -> Flow[int]:
    once = yield from call(Double(number))
    return (yield from call(Double(once)))


def recovering(number: int) -> Flow[str]:
    try:
        yield from call(Double(number))
    except ValueError as error:
        return f"told: {error}"
    return "fine"


def test_both_drivers_send_each_result_back_into_the_flow() -> None:
    assert 12 == drive(doubled_twice(3))
    assert 12 == asyncio.run(adrive(doubled_twice(3)))


def test_a_failed_command_is_thrown_into_the_flow_that_asked() -> None:
    assert "told: negative" == drive(recovering(-1))
    assert "told: negative" == asyncio.run(adrive(recovering(-1)))


def test_an_error_that_the_flow_lets_out_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="negative"):
        drive(doubled_twice(-1))
    with pytest.raises(ValueError, match="negative"):
        asyncio.run(adrive(doubled_twice(-1)))


def test_a_flow_that_is_left_by_an_error_runs_its_finally() -> None:
    closed: list[str] = []

    def body() -> Flow[None]:
        try:
            yield from call(Double(-1))
        finally:
            closed.append("yes")

    with pytest.raises(ValueError):
        drive(body())
    assert ["yes"] == closed


def test_a_command_that_raises_stop_iteration_does_not_end_the_flow_silently() -> None:
    @dataclass(frozen=True)
    class Exhausted(Command[int]):
        def run(self) -> int:
            return next(iter(()))

        async def arun(self) -> int:
            return self.run()

    def body() -> Flow[int]:
        return (yield from call(Exhausted()))

    with pytest.raises(RuntimeError):
        drive(body())


def test_cancelling_the_task_is_thrown_into_the_flow_and_leaves_it() -> None:
    seen: list[str] = []

    @dataclass(frozen=True)
    class Wait(Command[None]):
        started: asyncio.Event

        def run(self) -> None: ...

        async def arun(self) -> None:
            self.started.set()
            await asyncio.sleep(60)

    def body(started: asyncio.Event) -> Flow[None]:
        try:
            yield from call(Wait(started))
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(adrive(body(started)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ["cancelled"] == seen


def test_a_coroutine_runs_from_sync_code_with_and_without_a_running_loop() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    async def inside() -> int:
        return run_coroutine(answer())

    assert 42 == run_coroutine(answer())
    assert 42 == asyncio.run(inside())


variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="outside")


def test_threads_see_the_callers_context_variables() -> None:
    token = variable.set("inside")
    try:
        assert "inside" == call_in_thread(variable.get)
        assert "inside" == asyncio.run(to_thread(variable.get))
    finally:
        variable.reset(token)


def test_a_thread_hands_back_what_it_raises() -> None:
    def fail() -> None:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        call_in_thread(fail)
    with pytest.raises(KeyError, match="gone"):
        asyncio.run(to_thread(fail))


def test_worker_threads_are_daemons_so_that_they_do_not_hold_up_the_exit() -> None:
    assert call_in_thread(lambda: threading.current_thread().daemon)
    assert asyncio.run(to_thread(lambda: threading.current_thread().daemon))


def test_cancelling_the_caller_leaves_the_thread_to_end_by_itself() -> None:
    release, done = threading.Event(), threading.Event()

    def work() -> None:
        release.wait()
        done.set()

    async def main() -> None:
        task: asyncio.Task[Any] = asyncio.create_task(to_thread(work))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not done.is_set()

    asyncio.run(main())
    release.set()
    assert done.wait(10)


def test_a_stop_iteration_in_a_thread_becomes_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(to_thread(lambda: next(iter(()))))
