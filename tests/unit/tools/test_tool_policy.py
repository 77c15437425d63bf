"""Timeouts, second tries, failures, kept results, confirmation."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel

from reasonact.errors import ControlFlow
from reasonact.runtime.settings import context
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.control_flow import is_control_flow, register_control_flow
from reasonact.tools.policy import Retries
from reasonact.tools.tool import Tool


async def test_a_late_async_tool_is_cancelled() -> None:
    ended = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    with pytest.raises(TimeoutError, match=r"forever did not end within 0\.05 s"):
        await Tool(forever, timeout=0.05).acall()
    assert ["cancelled"] == ended


async def test_a_late_sync_tool_is_left_to_end_by_itself() -> None:
    release, ended = threading.Event(), threading.Event()

    def slow() -> None:
        release.wait(30)
        ended.set()

    tool = Tool(slow, timeout=0.05)
    with pytest.raises(TimeoutError, match="slow"):
        tool()
    with pytest.raises(TimeoutError, match="slow"):
        await tool.acall()
    assert not ended.is_set()
    release.set()
    assert ended.wait(30)


def test_a_late_async_tool_in_sync_code_is_cancelled_too() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with context(allow_tool_async_sync_conversion=True), pytest.raises(TimeoutError):
        Tool(forever, timeout=0.05)()


async def test_a_tool_within_its_time_gives_its_result() -> None:
    async def quick(x: int) -> int:
        return x

    assert 1 == Tool(lambda x: x, timeout=30)(x=1)
    assert 1 == await Tool(lambda x: x, timeout=30).acall(x=1)
    assert 1 == await Tool(quick, timeout=30).acall(x=1)


async def test_a_timeout_error_of_the_tools_own_is_its_own() -> None:
    def fail() -> None:
        raise TimeoutError("of the socket")

    with pytest.raises(TimeoutError, match="of the socket"):
        Tool(fail, timeout=30)()
    with pytest.raises(TimeoutError, match="of the socket"):
        await Tool(fail, timeout=30).acall()


def failing(times: int, error: Exception) -> Any:
    left = [times]

    def work() -> int:
        """Fails, then tells how often it was called."""
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return times - left[0]

    return work


def nowait(times: int, *on: type[Exception]) -> Retries:
    return Retries(times, on, wait=0)


async def test_named_exceptions_are_tried_again() -> None:
    assert 3 == Tool(failing(2, ConnectionError()), retries=nowait(2, ConnectionError))()
    assert 3 == await Tool(failing(2, ConnectionError()), retries=nowait(2, ConnectionError)).acall()


async def test_after_the_last_try_the_exception_itself_comes_out() -> None:
    error = ConnectionError("still down")
    tool = Tool(failing(6, error), retries=nowait(2, ConnectionError))
    with pytest.raises(ConnectionError) as caught:
        await tool.acall()
    assert error is caught.value
    with pytest.raises(ConnectionError):
        tool()
    assert 7 == tool()


def test_other_exceptions_are_not_tried_again() -> None:
    work = failing(1, ValueError("no"))
    tool = Tool(work, retries=nowait(3, ConnectionError))
    with pytest.raises(ValueError, match="no"):
        tool()
    assert 2 == tool()


async def test_a_pause_is_no_failure_to_try_again() -> None:
    for way in ("sync", "async"):
        work = failing(1, ControlFlow("ask first"))
        tool = Tool(work, retries=nowait(3, Exception))
        with pytest.raises(ControlFlow, match="ask first"):
            tool() if way == "sync" else await tool.acall()
        assert 2 == tool()


def test_a_timeout_can_be_tried_again() -> None:
    calls: list[int] = []
    release = threading.Event()

    def slow_once() -> str:
        calls.append(1)
        if len(calls) == 1:
            release.wait(30)
        return "done"

    assert "done" == Tool(slow_once, timeout=0.2, retries=nowait(1, TimeoutError))()
    release.set()


@pytest.mark.parametrize(("times", "on", "wait"), [(0, (OSError,), 1), (1, (), 1), (1, (3,), 1), (1, (OSError,), -1)])
def test_retries_that_cannot_be_are_refused(times: int, on: Any, wait: float) -> None:
    with pytest.raises(ValueError, match="retries"):
        Retries(times, on, wait)


def divide(a: int, b: int) -> float:
    return a / b


async def test_a_failure_may_be_returned_as_one_line() -> None:
    tool = Tool(divide, on_error="return")
    assert "divide: ZeroDivisionError: division by zero" == tool(a=1, b=0)
    assert "divide: ZeroDivisionError: division by zero" == await tool.acall(a=1, b=0)
    assert 0.5 == tool(a=1, b=2)


def test_a_failure_may_be_answered_by_a_function() -> None:
    assert "ZeroDivisionError" == Tool(divide, on_error=lambda error: type(error).__name__)(a=1, b=0)


@pytest.mark.parametrize("on_error", ["return", lambda error: "hidden"])
def test_refused_arguments_are_never_the_tools_failure(on_error: Any) -> None:
    with pytest.raises(InvalidArguments):
        Tool(divide, on_error=on_error)(a=1)


class Stop(ControlFlow):
    pass


class Halt(Exception):
    pass


@pytest.mark.parametrize("on_error", ["return", lambda error: "hidden"])
def test_control_flow_is_never_answered(on_error: Any) -> None:
    def stop(cls: Any) -> None:
        raise cls

    tool = Tool(stop, on_error=on_error)
    with pytest.raises(Stop):
        tool(cls=Stop)
    with context(control_flow=(Halt,)), pytest.raises(Halt):
        tool(cls=Halt)


def test_a_class_can_be_registered_as_control_flow() -> None:
    with context(control_flow=()):
        assert not is_control_flow(Halt())
        assert Halt is register_control_flow(Halt)
        assert is_control_flow(Halt())
    with pytest.raises(TypeError):
        register_control_flow(3)  # type: ignore[arg-type]


async def test_results_are_kept_by_checked_arguments() -> None:
    calls: list[Any] = []

    def work(x: Any, tags: list[str] = []) -> int:
        calls.append(x)
        return len(calls)

    tool = Tool(work, cache=True)
    assert [1, 1, 2, 3, 4] == [tool(x=1), tool(x=1), tool(x=True), tool(x="1"), tool(x=1, tags=["a"])]
    assert 4 == await tool.acall(tags='["a"]', x=1)
    assert [1, True, "1", 1] == calls


def test_errors_are_never_kept() -> None:
    tool = Tool(failing(1, OSError()), cache=True)
    with pytest.raises(OSError):
        tool()
    assert [2, 2] == [tool(), tool()]


def test_answers_to_errors_are_not_kept_either() -> None:
    tool = Tool(failing(1, OSError()), cache=True, on_error=lambda error: "sorry")
    assert ["sorry", 2] == [tool(), tool()]


def test_arguments_that_cannot_be_compared_are_not_kept() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]

    odd, calls = Odd(), []
    tool = Tool(lambda x: calls.append(x), cache=True)
    tool(x=odd)
    tool(x=odd)
    assert 2 == len(calls)


def test_the_kept_results_are_bounded() -> None:
    calls: list[int] = []
    tool = Tool(lambda x: calls.append(x), cache=True)
    for x in range(1100):
        tool(x=x)
    tool(x=1099)
    assert 1100 == len(calls)
    tool(x=0)
    assert 1101 == len(calls)


def test_confirmation_is_asked_for_by_flag_or_by_arguments() -> None:
    def delete(path: str, depth: int = 0) -> None: ...

    always = Tool(delete, require_confirmation=True)
    deep = Tool(delete, require_confirmation=lambda args: args.get("depth", 0) > 2)
    assert not Tool(delete).needs_confirmation({"path": "x"})
    assert always.needs_confirmation({"path": "x"})
    assert deep.needs_confirmation({"path": "x", "depth": "3"})
    assert not deep.needs_confirmation({"path": "x"})


def test_a_call_that_would_be_refused_needs_no_confirmation() -> None:
    assert not Tool(divide, require_confirmation=True).needs_confirmation({"a": 1})


async def test_cancelling_a_call_that_has_a_timeout_cancels_the_tool() -> None:
    begun, log = asyncio.Event(), []

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            log.append("ended")

    run = asyncio.ensure_future(Tool(forever, timeout=30).acall())
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ["ended"] == log


def test_kept_results_tell_models_sets_and_mappings_apart() -> None:
    class Item(BaseModel):
        tags: set[int] = set()

    calls: list[Any] = []

    def work(item: Item, extra: dict[str, int] = {}) -> int:
        calls.append(item)
        return len(calls)

    tool = Tool(work, cache=True)
    assert [1, 1, 2, 3] == [
        tool(item={"tags": [1, 2]}),
        tool(item={"tags": [2, 1]}),
        tool(item={"tags": [1]}),
        tool(item={"tags": [1]}, extra={"a": 1}),
    ]
