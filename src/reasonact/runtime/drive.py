"""The two drivers of a flow, and the bridges between sync and async code.

This file and the commands' own run methods are where the library blocks, awaits or
starts a thread; flows themselves do none of these.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from reasonact.runtime.deferred import deferred
from reasonact.runtime.flow import Flow, RaisedExit
from reasonact.runtime.threads import in_daemon_thread, start_in_thread

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = deferred("asyncio")  # a seventh of a small program's start, and sync programs need none

T = TypeVar("T")


def drive(flow: Flow[T]) -> T:
    """Run a flow to its end, blocking.

    Args:
        flow: A fresh flow.

    Returns:
        What the flow returns.

    Raises:
        BaseException: What the flow lets out; a command's failure is thrown into it first.
    """
    try:
        command = next(flow)
        while True:
            try:
                result = command.run()
            except GeneratorExit as error:
                command = flow.throw(RaisedExit(error))
            except BaseException as error:
                command = flow.throw(error)
            else:
                command = flow.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value
    except RaisedExit as carrier:
        raise carrier.error from None
    finally:
        flow.close()


async def adrive(flow: Flow[T]) -> T:
    """Run a flow to its end on the running event loop; otherwise as `drive`."""
    try:
        command = next(flow)
        while True:
            try:
                result = await command.arun()
            except BaseException as error:
                command = flow.throw(error)
            else:
                command = flow.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value
    except RaisedExit as carrier:
        raise carrier.error from None
    finally:
        flow.close()


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from sync code, also where this thread already runs an event loop.

    Without a running loop it runs in this thread; inside one, a private loop in a thread
    of its own runs it with the caller's context variables, and the caller waits.

    Args:
        coroutine: What to run.

    Returns:
        Its result.

    Raises:
        BaseException: What the coroutine raises.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return call_in_thread(lambda: asyncio.run(coroutine))


def call_in_thread(func: Callable[..., T], /, *args: Any) -> T:
    """Call a function in a daemon thread with this context's variables, and wait for it.

    KeyboardInterrupt reaches the waiting caller at once; the thread, being a daemon,
    does not keep the interpreter alive.
    """
    return in_daemon_thread(func, *args).result()


async def to_thread(func: Callable[..., T], /, *args: Any) -> T:
    """Run a blocking function in a daemon thread, and give the loop back meanwhile.

    Unlike with `asyncio.to_thread` there is no bound on the threads: a function that never
    returns takes no place from others, and does not delay the interpreter's exit.
    Cancelling the caller leaves the thread to finish by itself.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def succeed(result: T) -> None:
        if not future.done():  # else the caller was cancelled and is gone
            future.set_result(result)

    def fail(error: BaseException) -> None:
        if future.done():
            return
        if isinstance(error, StopIteration):  # a future cannot hold one
            error = RuntimeError(f"the function raised StopIteration: {error}")
        future.set_exception(error)

    def work() -> None:
        try:
            try:
                result = context.run(func, *args)
            except BaseException as error:
                loop.call_soon_threadsafe(fail, error)
            else:
                loop.call_soon_threadsafe(succeed, result)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits any more
            pass

    start_in_thread(work)
    return await future
