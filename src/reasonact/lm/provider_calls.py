"""One attempt at a provider through LiteLLM, whole or in chunks, its failures in the library's tree."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reasonact.errors import LMStreamAssemblyError, LMUnexpectedError
from reasonact.lm.assembly import Assembly
from reasonact.lm.litellm_setup import get_litellm
from reasonact.lm.outputs import member
from reasonact.lm.provider_errors import translate
from reasonact.lm.requests import ProviderCall
from reasonact.lm.stream import ChunkSink, current_chunk_sink
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.sinks import put

logger = logging.getLogger("reasonact.lm")

# The policy of the LM decides about retries; were LiteLLM's and the client's left on, both would count.
_NO_RETRIES: Final = {"num_retries": 0, "max_retries": 0}
_END: Final = object()


def ask_provider(provider_call: ProviderCall, *, model: str) -> Flow[Any]:
    """Send one request, streamed where a chunk sink listens.

    Args:
        provider_call: What LiteLLM is to do.
        model: The model as the program named it, for errors.

    Returns:
        The flow; it gives LiteLLM's response, or for a stream one of the same shape.

    Raises:
        LMError: What went wrong. Once a chunk was handed on it is an LMStreamAssemblyError,
            with what had come before as its ``partial``.
    """
    sink = current_chunk_sink()
    if sink is None:
        return _with_completions((yield from _sent(provider_call, model)), model)
    stream = yield from _sent(provider_call.streamed(), model)
    if not hasattr(stream, "__iter__") or hasattr(stream, "choices"):  # a provider whose answers LiteLLM gives whole
        return _with_completions(stream, model)
    response = yield from _received(stream, sink, provider_call, model)
    if response is None:
        logger.debug("%s answers whole where a stream is asked for; it is asked again without", model)
        return _with_completions((yield from _sent(provider_call, model)), model)
    return response


def _with_completions(response: Any, model: str) -> Any:
    """The response, unless it is empty: that must neither be cached nor taken for an answer."""
    if not member(response, "choices"):
        raise LMUnexpectedError("the provider answered without a single completion", model=model)
    return response


def _sent(provider_call: ProviderCall, model: str) -> Flow[Any]:
    try:
        return (yield from call(_Ask(provider_call.function, provider_call.arguments)))
    except Exception as error:
        known = translate(error, model=model, whatever=True)
        if known is None:
            raise
        raise known from error


def _received(stream: Any, sink: ChunkSink, provider_call: ProviderCall, model: str) -> Flow[Any]:
    """The response of a stream; None where what came was no stream but one JSON answer, which LiteLLM loses."""
    assembly = Assembly()
    held: list[Any] = []  # LiteLLM ends a stream of nothing with a chunk of its own, which nobody is to see
    try:
        while True:
            try:
                chunk = yield from call(_Next(stream))
            except Exception as error:
                if assembly.says_nothing and _is_json(stream):
                    yield from call(_Close(stream))
                    return None
                raise _broken(error, assembly, model) from error
            if chunk is _END:
                break
            assembly.add(chunk)
            held.append(chunk)
            if not assembly.says_nothing:
                yield from _deliver_all(sink, held)
                held = []
        if assembly.says_nothing and _is_json(stream):
            return None
        response = assembly.finished()
        if assembly.says_nothing and getattr(stream, "received_finish_reason", None) is None:
            raise LMStreamAssemblyError("the stream ended before anything of an answer came", model=model)
        yield from _deliver_all(sink, held)
    except GeneratorExit:  # nobody will run a command any more
        _let_go(stream)
        raise
    except BaseException:
        yield from call(_Close(stream))
        raise
    return _with_cost(response, provider_call, model)


def _deliver_all(sink: ChunkSink, chunks: list[Any]) -> Flow[None]:
    for chunk in chunks:
        yield from put(sink, chunk)


def _is_json(stream: Any) -> bool:
    """Whether the head of the answer names one JSON document, by what LiteLLM keeps of it."""
    headers = getattr(stream, "_response_headers", None) or {}
    kinds = [str(value) for name, value in headers.items() if str(name).lower().endswith("content-type")]
    return any(kind.partition(";")[0].strip().lower() == "application/json" for kind in kinds)


def _broken(error: Exception, assembly: Assembly, model: str) -> Exception:
    known = translate(error, model=model, whatever=True)
    if known is None or assembly.count == 0:
        return known or error
    return LMStreamAssemblyError(
        f"the stream broke after {assembly.count} chunks: {known.message}",
        partial=assembly.response(),
        part_index=assembly.count,
        model=model,
        provider=known.provider,
        provider_code=known.provider_code,
        status=known.status,
        request_id=known.request_id,
        retry_after=known.retry_after,
    )


def _with_cost(response: Any, provider_call: ProviderCall, model: str) -> Any:
    """The response as LiteLLM's own class, with its price beside it."""
    if provider_call.function != "completion":
        return response
    litellm = get_litellm()
    whole = litellm.ModelResponse(**{name: value for name, value in response.items() if value is not None})
    try:
        whole._hidden_params["response_cost"] = litellm.completion_cost(completion_response=whole, model=model)
    except Exception:  # LiteLLM knows no price for the model
        pass
    return whole


@dataclass(frozen=True, slots=True)
class _Ask(Command[Any]):
    """Call LiteLLM."""

    function: str
    arguments: Mapping[str, Any]

    def run(self) -> Any:
        return getattr(get_litellm(), self.function)(**{**self.arguments, **_NO_RETRIES})

    async def arun(self) -> Any:
        return await getattr(get_litellm(), f"a{self.function}")(**{**self.arguments, **_NO_RETRIES})


@dataclass(frozen=True, slots=True)
class _Next(Command[Any]):
    """Wait for the next chunk of a stream; ``_END`` after the last."""

    stream: Any

    def run(self) -> Any:
        return next(self.stream, _END)

    async def arun(self) -> Any:
        return await anext(self.stream, _END)


@dataclass(frozen=True, slots=True)
class _Close(Command[None]):
    """Let a stream's connection go."""

    stream: Any

    def run(self) -> None:
        _let_go(self.stream)

    async def arun(self) -> None:
        close = getattr(self.stream, "aclose", None)
        if close is not None:
            await close()


def _let_go(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if close is None:
        return
    result = close()
    if inspect.iscoroutine(result):
        result.close()
