"""streamify: a program as a function whose result comes in pieces, in DSPy's form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal, overload

from reasonact.lm.outputs import member
from reasonact.lm.stream import streaming_to
from reasonact.modules.module import Module
from reasonact.runtime.drive import adrive, drive, run_coroutine, to_thread
from reasonact.runtime.events import Event, listening
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.handoff import Handoff
from reasonact.runtime.settings import settings
from reasonact.runtime.sinks import Relay, put
from reasonact.runtime.stream import astream, stream
from reasonact.streaming.messages import StatusMessageProvider, StatusStreamingCallback
from reasonact.streaming.streaming_listener import Heard, Hearing, StreamListener, find_writers


@overload
def streamify(
    program: Any,
    status_message_provider: StatusMessageProvider | None = None,
    stream_listeners: list[StreamListener] | None = None,
    include_final_prediction_in_output_stream: bool = True,
    is_async_program: bool = False,
    async_streaming: Literal[True] = True,
) -> Callable[..., AsyncIterator[Any]]: ...


@overload
def streamify(
    program: Any,
    status_message_provider: StatusMessageProvider | None = None,
    stream_listeners: list[StreamListener] | None = None,
    include_final_prediction_in_output_stream: bool = True,
    is_async_program: bool = False,
    *,
    async_streaming: Literal[False],
) -> Callable[..., Generator[Any, None, None]]: ...


def streamify(
    program: Any,
    status_message_provider: StatusMessageProvider | None = None,
    stream_listeners: list[StreamListener] | None = None,
    include_final_prediction_in_output_stream: bool = True,
    is_async_program: bool = False,
    async_streaming: bool = True,
) -> Callable[..., Any]:
    """Make a function that runs a program and gives its result in pieces. As ``dspy.streamify``.

    The pieces are `StatusMessage` objects, with listeners `StreamResponse` objects and
    without any the chunks of the models themselves, and at the end the prediction. The
    function can be called any number of times.

    Args:
        program: A module; without listeners any function.
        status_message_provider: What is said of tools, modules and model calls.
        stream_listeners: The fields to stream.
        include_final_prediction_in_output_stream: False leaves the prediction out where
            there are listeners.
        is_async_program: Run the program by ``acall``. Programs whose sync and async way
            are the same are run so anyway, for an async run can be stopped at any moment.
        async_streaming: False gives a plain generator in place of an async one.

    Returns:
        A function of the program's arguments that gives an async generator (a plain one
        without ``async_streaming``). It raises what the program raises.

    Raises:
        ValueError: A listener's field is written by no predictor, or by several.
    """
    listeners = list(stream_listeners or ())
    streamed = _Streamed(
        program=program,
        provider=status_message_provider or StatusMessageProvider(),
        listeners=listeners,
        heard=find_writers(program, listeners),
        with_prediction=include_final_prediction_in_output_stream or not listeners,
        by_acall=is_async_program,
    )

    def streamer(*args: Any, **kwargs: Any) -> Generator[Any, None, None]:
        handoff: Handoff[Any] = Handoff(_says_something)
        return stream(lambda: drive(streamed.flow(handoff, args, kwargs)), handoff)

    def async_streamer(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        handoff: Handoff[Any] = Handoff(_says_something)
        return astream(lambda: adrive(streamed.flow(handoff, args, kwargs)), handoff)

    return async_streamer if async_streaming else streamer


def apply_sync_streaming(async_generator: AsyncIterator[Any]) -> Generator[Any, None, None]:
    """Read an async generator in sync code; it runs on an event loop in a thread of its own.

    Args:
        async_generator: The generator.

    Returns:
        A plain generator of the same items.

    Raises:
        BaseException: What the async generator raises.
    """
    handoff: Handoff[Any] = Handoff()

    async def pump() -> None:
        try:
            async for item in async_generator:
                await handoff.aput(item)
        finally:
            close = getattr(async_generator, "aclose", None)
            if close is not None:
                await close()

    return stream(lambda: asyncio.run(pump()), handoff)


def _says_something(item: Any) -> bool:
    """Whether it is no chunk without a completion, as those that carry the usage alone are."""
    return bool(member(item, "choices", True) != [])


@dataclass(frozen=True, slots=True)
class SendStream:
    """What ``settings.send_stream`` is during a run: whatever is sent into it comes out of the stream."""

    handoff: Handoff[Any]

    async def send(self, item: Any) -> None:
        """Send an item from async code."""
        await self.handoff.aput(item)

    def send_nowait(self, item: Any) -> None:
        """Send an item from sync code."""
        self.handoff.put(item)


def sync_send_to_stream(stream: SendStream, message: Any) -> None:
    """Send an item from sync code, as ``dspy.streaming.messages.sync_send_to_stream``.

    Args:
        stream: ``settings.send_stream``.
        message: The item.
    """
    stream.send_nowait(message)


@dataclass(frozen=True, slots=True)
class _Streamed:
    """A program and how it is streamed."""

    program: Any
    provider: StatusMessageProvider
    listeners: list[StreamListener]
    heard: list[Heard]
    with_prediction: bool
    by_acall: bool

    def flow(self, handoff: Handoff[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Flow[None]:
        """One run, its pieces going into the handoff."""
        callbacks = [*(settings.callbacks or ()), StatusStreamingCallback(self.provider, handoff.put)]
        with ExitStack() as stack:
            stack.enter_context(
                settings.context(callbacks=callbacks, send_stream=SendStream(handoff), stream_listeners=self.listeners)
            )
            if self.heard:
                sink = _Listening(handoff, Hearing(self.heard))
                stack.enter_context(listening(sink, live=True, by_predictor=True))
            else:
                stack.enter_context(streaming_to(handoff))
            prediction = yield from call(_Run(self.program, args, kwargs, self.by_acall))
        if self.with_prediction:
            yield from put(handoff, prediction)


@dataclass(frozen=True, slots=True)
class _Listening(Relay[Event]):
    """The event sink of a run with listeners."""

    handoff: Handoff[Any]
    hearing: Hearing

    def route(self, item: Event) -> Iterable[tuple[Handoff[Any], Any]]:
        """Hand on what the listeners get of an event."""
        return [(self.handoff, response) for response in self.hearing.responses(item)]


@dataclass(frozen=True, slots=True)
class _Run(Command[Any]):
    """Run the program, by the way that it has."""

    program: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    by_acall: bool

    def run(self) -> Any:
        return run_coroutine(self._acall()) if self.by_acall else self._call()

    async def arun(self) -> Any:
        if self.by_acall or self._runs_alike():
            return await self._acall()
        return await to_thread(self._call)

    def _call(self) -> Any:
        return self.program(*self.args, **self.kwargs)

    async def _acall(self) -> Any:
        call = self.program.acall if isinstance(self.program, Module) else self.program
        return await call(*self.args, **self.kwargs)

    def _runs_alike(self) -> bool:
        """Whether one class has written both ways, so that they do the same."""
        if not isinstance(self.program, Module) or {"forward", "aforward"} & vars(self.program).keys():
            return False
        owners = {
            name: next(cls for cls in type(self.program).__mro__ if name in vars(cls))
            for name in ("forward", "aforward", "__call__", "acall")
        }
        return owners["forward"] is owners["aforward"] and owners["__call__"] is owners["acall"]
