"""Running the calls of a turn: order, side by side, failures, what propagates."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

import pytest

from reasonact.errors import ControlFlow
from reasonact.runtime.settings import context
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.execute import Invocation, Outcome, RunTools
from reasonact.tools.tool import Tool


def calls(*pairs: Any) -> tuple[Invocation, ...]:
    return tuple(Invocation(tool, args) for tool, args in pairs)


def echo(x: Any) -> Any:
    return x


async def aecho(x: Any) -> Any:
    return x


def fail(text: str) -> None:
    raise RuntimeError(text)


ECHO, AECHO, FAIL = Tool(echo), Tool(aecho), Tool(fail)


class Stop(ControlFlow):
    pass


def stop() -> None:
    raise Stop("here")


async def both(command: RunTools) -> list[Outcome]:
    """The outcomes, the same by both drivers."""
    by_thread = await asyncio.to_thread(command.run)
    by_task = await command.arun()
    assert [(o.value, o.is_error, type(o.error)) for o in by_thread] == [
        (o.value, o.is_error, type(o.error)) for o in by_task
    ]
    return by_task


@pytest.mark.parametrize("parallel", [1, 2, 8])
async def test_results_are_in_call_order_and_a_failure_loses_no_sibling(parallel: int) -> None:
    outcomes = await both(RunTools(calls((ECHO, {"x": 1}), (FAIL, {"text": "bad\nluck"}), (ECHO, {"x": 3})), parallel))
    assert [1, "fail: RuntimeError: bad luck", 3] == [o.value for o in outcomes]
    assert [False, True, False] == [o.is_error for o in outcomes]
    assert isinstance(outcomes[1].error, RuntimeError)


async def test_nothing_to_run_gives_nothing() -> None:
    assert [] == await both(RunTools(()))


async def test_refused_arguments_are_an_error_outcome_even_with_on_error_raise() -> None:
    outcomes = await both(RunTools(calls((Tool(echo, on_error="raise"), {}))))
    assert outcomes[0].is_error
    assert isinstance(outcomes[0].error, InvalidArguments)
    assert outcomes[0].value.startswith("echo: InvalidArguments: argument 'x' is missing")


async def test_on_error_return_is_an_error_outcome_and_a_callable_gives_a_result() -> None:
    outcomes = await both(
        RunTools(
            calls(
                (Tool(fail, on_error="return"), {"text": "a"}), (Tool(fail, on_error=lambda error: "b"), {"text": ""})
            )
        )
    )
    assert [("fail: RuntimeError: a", True), ("b", False)] == [(o.value, o.is_error) for o in outcomes]


async def test_traceback_frames_follow_the_setting() -> None:
    with context(error_traceback_frames=1):
        outcomes = await RunTools(calls((FAIL, {"text": "a"}))).arun()
    assert "raise RuntimeError(text)" in outcomes[0].value


def test_without_parallel_a_sync_driver_runs_in_its_own_thread() -> None:
    outcomes = RunTools(calls((Tool(threading.get_ident), {}))).run()
    assert threading.get_ident() == outcomes[0].value


def rendezvous(parties: int) -> Tool:
    """A tool that ends only when so many of its calls run at the same time."""
    barrier = threading.Barrier(parties, timeout=30)
    return Tool(lambda x: (barrier.wait(), x)[1], name="meet")


async def test_calls_run_side_by_side() -> None:
    command = RunTools(
        calls(*((rendezvous_tool, {"x": x}) for rendezvous_tool in [rendezvous(3)] for x in range(3))), 3
    )
    assert [0, 1, 2] == [o.value for o in await both(command)]


async def test_async_tools_run_side_by_side_on_the_loop() -> None:
    arrived: list[int] = []
    all_here = asyncio.Event()

    async def meet(x: int) -> int:
        arrived.append(x)
        if len(arrived) == 3:
            all_here.set()
        await all_here.wait()
        return x

    outcomes = await RunTools(calls(*((Tool(meet), {"x": x}) for x in range(3))), 3).arun()
    assert [0, 1, 2] == [o.value for o in outcomes]


@pytest.mark.parametrize("parallel", [1, 2])
async def test_no_more_run_at_once_than_allowed(parallel: int) -> None:
    lock, running, most = threading.Lock(), [0], [0]
    gate = threading.Semaphore(0)

    def work() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == parallel:
                gate.release()
        gate.acquire(timeout=30)
        gate.release()
        with lock:
            running[0] -= 1

    await both(RunTools(calls(*((Tool(work), {}) for _ in range(6))), parallel))
    assert parallel == most[0]


async def test_a_sequential_tool_is_a_barrier() -> None:
    log: list[str] = []
    lock = threading.Lock()
    meet = threading.Barrier(2, timeout=30)

    def side(name: str) -> None:
        meet.wait()
        with lock:
            log.append(name)

    def alone() -> None:
        with lock:
            log.append("alone")

    first, barrier = Tool(side), Tool(alone, sequential=True)
    command = RunTools(
        calls(
            (first, {"name": "a"}),
            (first, {"name": "a"}),
            (barrier, {}),
            (first, {"name": "b"}),
            (first, {"name": "b"}),
        ),
        8,
    )
    command.run()
    assert ["a", "a", "alone", "b", "b"] == log
    log.clear()
    await command.arun()
    assert ["a", "a", "alone", "b", "b"] == log


@pytest.mark.parametrize("parallel", [1, 3])
@pytest.mark.parametrize("kind", ["class", "registered", "on_error"])
async def test_control_flow_propagates_and_what_was_done_is_told_first(parallel: int, kind: str) -> None:
    class Halt(Exception):
        pass

    def halt() -> None:
        raise Halt("here")

    stopping = {"class": Tool(stop), "registered": Tool(halt), "on_error": Tool(fail, on_error="raise")}[kind]
    wanted = {"class": Stop, "registered": Halt, "on_error": RuntimeError}[kind]
    args = {"text": "x"} if kind == "on_error" else {}
    later: list[int] = []
    told: list[Any] = []
    command = RunTools(
        calls((ECHO, {"x": 1}), (stopping, args), (Tool(later.append, sequential=True), {"object": 2})),
        parallel,
        on_settled=lambda index, outcome: told.append((index, outcome.value)),
    )
    with context(control_flow=(Halt,)):
        with pytest.raises(wanted):
            command.run()
        assert [(0, 1)] == told
        told.clear()
        with pytest.raises(wanted):
            await command.arun()
    assert [(0, 1)] == told
    assert [] == later


async def test_control_flow_cancels_async_siblings_and_waits_for_their_end() -> None:
    begun, log = asyncio.Event(), []

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            log.append("cleaned up")

    async def stops() -> None:
        await begun.wait()
        raise Stop

    with pytest.raises(Stop):
        await RunTools(calls((Tool(forever), {}), (Tool(stops), {})), 2).arun()
    assert ["cleaned up"] == log


async def test_control_flow_waits_for_sync_siblings_and_tells_their_results() -> None:
    for drive_it in (lambda command: asyncio.to_thread(command.run), lambda command: command.arun()):
        stopped = threading.Event()
        told: list[Any] = []

        def slow(stopped: threading.Event = stopped) -> str:
            stopped.wait(30)
            return "done"

        def stops(stopped: threading.Event = stopped) -> None:
            stopped.set()
            raise Stop

        command = RunTools(
            calls((Tool(slow), {}), (Tool(stops), {})),
            2,
            on_settled=lambda i, o: told.append((i, o.value)),
        )
        with pytest.raises(Stop):
            await drive_it(command)
        assert [(0, "done")] == told


async def test_cancelling_the_run_cancels_the_tools_and_tells_what_was_done() -> None:
    begun, log, told = asyncio.Event(), [], []

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    command = RunTools(
        calls((AECHO, {"x": 1}), (Tool(forever), {}), (Tool(forever), {})), on_settled=lambda i, o: told.append(i)
    )
    run = asyncio.ensure_future(command.arun())
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ["cancelled"] == log
    assert [0] == told


async def test_cancelling_the_run_does_not_wait_for_a_blocking_tool() -> None:
    begun, release = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        release.wait(30)

    run = asyncio.ensure_future(RunTools(calls((Tool(block), {}))).arun())
    await asyncio.to_thread(begun.wait, 30)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not release.is_set()
    release.set()


@pytest.mark.parametrize("parallel", [1, 2])
async def test_a_cancelled_error_of_the_tools_own_is_an_error_outcome(parallel: int) -> None:
    def give_up() -> None:
        raise asyncio.CancelledError

    async def agive_up() -> None:
        inner = asyncio.ensure_future(asyncio.Event().wait())
        inner.cancel()
        await inner

    outcomes = await both(RunTools(calls((Tool(give_up), {}), (ECHO, {"x": 1})), parallel))
    assert ["give_up: CancelledError", 1] == [o.value for o in outcomes]
    outcomes = await RunTools(calls((Tool(agive_up), {}), (AECHO, {"x": 1})), parallel).arun()
    assert [("agive_up: CancelledError", True), (1, False)] == [(o.value, o.is_error) for o in outcomes]


@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_propagate(parallel: int, error: type[BaseException]) -> None:
    first_is_settled = threading.Event()
    told: list[int] = []

    def interrupt() -> None:
        assert first_is_settled.wait(20)
        first_is_settled.clear()
        raise error

    def tell(index: int, outcome: Outcome) -> None:
        told.append(index)
        first_is_settled.set()

    command = RunTools(calls((ECHO, {"x": 1}), (Tool(interrupt), {})), parallel, on_settled=tell)
    with pytest.raises(error):
        command.run()
    with pytest.raises(error):
        asyncio.run(command.arun())
    assert [0, 0] == told


def test_async_tools_in_sync_code_follow_the_setting() -> None:
    command = RunTools(calls((AECHO, {"x": 1})))
    assert command.run()[0].value.startswith("aecho: ValueError: aecho is async")
    with context(allow_tool_async_sync_conversion=True):
        assert 1 == command.run()[0].value


async def test_where_sync_tools_run_can_be_said_for_all_and_for_one() -> None:
    where = Tool(threading.get_ident)
    threaded = Tool(threading.get_ident, sync_tools="thread")
    outcomes = await RunTools(calls((where, {}), (threaded, {})), sync_tools="inline").arun()
    assert [True, False] == [threading.get_ident() == o.value for o in outcomes]


@pytest.mark.parametrize("parallel", [0, -1])
def test_less_than_one_at_a_time_is_refused(parallel: int) -> None:
    with pytest.raises(ValueError, match="parallel"):
        RunTools((), parallel)


def test_ctrl_c_while_threads_run_gives_control_back_and_tells_what_was_done() -> None:
    release = threading.Event()
    told: list[Any] = []
    main = threading.main_thread().ident
    assert main is not None

    def block() -> None:
        release.wait(30)

    def press() -> None:
        signal.pthread_kill(main, signal.SIGINT)

    command = RunTools(
        calls((ECHO, {"x": 1}), (Tool(block), {}), (Tool(press), {})),
        2,
        on_settled=lambda i, o: told.append((i, o.value)),
    )
    with pytest.raises(KeyboardInterrupt):
        command.run()
    assert not release.is_set()
    assert (0, 1) in told
    release.set()
