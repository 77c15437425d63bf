"""Running a tool: every kind of callable, sync and async, and what callbacks see."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import functools
import pickle
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

import pytest

from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.settings import context
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool


def plain(x: int) -> int:
    return x + 1


async def later(x: int) -> int:
    await asyncio.sleep(0)
    return x + 1


def yields(x: int) -> Iterator[int]:
    yield x
    yield x + 1


async def ayields(x: int) -> AsyncIterator[int]:
    yield x
    yield x + 1


class Callables:
    async def __call__(self, x: int) -> int:
        return x + 1

    def method(self, x: int) -> int:
        return x + 1

    @classmethod
    def of_class(cls, x: int) -> int:
        return x + 1


class Awaitable:
    def __init__(self, x: int) -> None:
        self.x = x

    def __await__(self) -> Generator[Any, None, int]:
        yield from asyncio.sleep(0).__await__()
        return self.x + 1


def returns_coroutine(x: int) -> Any:
    return later(x)


def returns_awaitable(x: int) -> Any:
    return Awaitable(x)


SYNC = [plain, yields, Callables().method, Callables.of_class, functools.partial(plain), functools.lru_cache(plain)]
ASYNC = [later, ayields, Callables(), Awaitable, functools.partial(later), returns_coroutine, returns_awaitable]


def wanted(func: Callable[..., Any]) -> Any:
    return [1, 2] if func in (yields, ayields) else 2


@pytest.mark.parametrize("func", SYNC)
def test_sync_callables_run_in_a_plain_call(func: Callable[..., Any]) -> None:
    assert wanted(func) == Tool(func)(x="1")


@pytest.mark.parametrize("func", [*SYNC, *ASYNC])
async def test_every_callable_runs_in_an_async_call(func: Callable[..., Any]) -> None:
    assert wanted(func) == await Tool(func).acall(x="1")


@pytest.mark.parametrize("func", ASYNC)
def test_async_callables_are_refused_in_a_plain_call(func: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="allow_tool_async_sync_conversion"):
        Tool(func)(x=1)


@pytest.mark.parametrize("func", ASYNC)
def test_async_callables_run_in_a_plain_call_when_that_is_allowed(func: Callable[..., Any]) -> None:
    with context(allow_tool_async_sync_conversion=True):
        assert wanted(func) == Tool(func)(x=1)


@pytest.mark.parametrize("func", ASYNC)
async def test_also_from_inside_a_running_loop(func: Callable[..., Any]) -> None:
    with context(allow_tool_async_sync_conversion=True):
        assert wanted(func) == Tool(func)(x=1)


def test_an_async_function_that_is_refused_has_not_begun() -> None:
    begun = []

    class Starts:
        async def __call__(self) -> None:
            begun.append(1)

    with pytest.raises(ValueError, match="acall"):
        Tool(Starts())()
    assert [] == begun


_tag: contextvars.ContextVar[str] = contextvars.ContextVar("tag", default="unset")


async def test_a_sync_tool_runs_in_another_thread_with_the_callers_context() -> None:
    _tag.set("mine")
    here = threading.get_ident()
    thread, tag = await Tool(lambda: (threading.get_ident(), _tag.get())).acall()
    assert here != thread
    assert "mine" == tag


async def test_an_inline_tool_runs_on_the_event_loop() -> None:
    assert threading.get_ident() == await Tool(threading.get_ident, sync_tools="inline").acall()


async def test_an_inline_tool_may_return_a_task() -> None:
    tool = Tool(lambda x: asyncio.ensure_future(later(x)), sync_tools="inline")
    assert 2 == await tool.acall(x=1)


@pytest.mark.parametrize("error", [RuntimeError("bad"), StopIteration("done"), KeyError("k")])
async def test_what_the_callable_raises_comes_out(error: Exception) -> None:
    def fail() -> None:
        raise error

    wanted = RuntimeError if isinstance(error, StopIteration) else type(error)
    with pytest.raises(wanted):
        Tool(fail)()
    with pytest.raises(wanted):
        await Tool(fail).acall()


class Recorder(BaseCallback):
    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.append(("start", instance.name, inputs))

    def on_tool_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        self.seen.append(("end", outputs, type(exception)))


async def test_callbacks_see_start_and_end_as_in_dspy() -> None:
    recorder = Recorder()
    with context(callbacks=[recorder]):
        Tool(plain)(x=1)
        await Tool(later).acall(x=1)
        with pytest.raises(InvalidArguments):
            Tool(plain)(x="one")
    assert [
        ("start", "plain", {"kwargs": {"x": 1}}),
        ("end", 2, type(None)),
        ("start", "later", {"kwargs": {"x": 1}}),
        ("end", 2, type(None)),
        ("start", "plain", {"kwargs": {"x": "one"}}),
        ("end", None, InvalidArguments),
    ] == recorder.seen


def test_tools_are_equal_by_what_they_are() -> None:
    assert Tool(plain) == Tool(plain)
    assert Tool(plain) != Tool(plain, name="other")
    assert Tool(plain) != Tool(plain, timeout=1)


def test_a_deep_copy_shares_the_callable_and_nothing_that_can_be_changed() -> None:
    class Holds:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __call__(self, x: int) -> int:
            return x

    tool = Tool(Holds(), arg_desc={"x": "the x"})
    copied = copy.deepcopy({"tools": [tool]})["tools"][0]
    assert copied is not tool
    assert copied.func is tool.func
    assert copied == tool
    copied.args["x"]["description"] = "another"
    copied.arg_desc["x"] = "another"  # type: ignore[index]
    assert "the x" == tool.args["x"]["description"]
    assert {"x": "the x"} == tool.arg_desc
    assert 4 == copied(x="4")


def test_a_shallow_copy_works_on() -> None:
    assert 2 == copy.copy(Tool(plain))(x="1")


def test_a_tool_of_a_module_function_goes_through_pickle() -> None:
    tool = Tool(plain, name="p", arg_desc={"x": "the x"}, timeout=3)
    copied = pickle.loads(pickle.dumps(tool))
    assert tool == copied
    assert 2 == copied(x="1")
    assert tool.format_as_litellm_function_call() == copied.format_as_litellm_function_call()


def test_a_tool_of_a_lambda_goes_through_pickle_by_reference() -> None:
    tool = Tool(lambda x: x)
    assert tool.func is pickle.loads(pickle.dumps(tool)).func


def test_name_and_description_can_be_changed_later() -> None:
    tool = Tool(plain)
    tool.name, tool.desc = "next number", "Counts."
    tool.args["x"] = {**tool.args["x"], "description": "where from"}
    function = tool.format_as_litellm_function_call()["function"]
    assert tool.wire_name == function["name"]
    assert "Counts." == function["description"]
    assert "where from" == function["parameters"]["properties"]["x"]["description"]


def test_the_callable_can_be_replaced_later() -> None:
    tool = Tool(plain)
    tool.func = lambda x: x * 10
    assert 30 == tool(x="3")
