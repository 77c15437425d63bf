"""streamify: one function that gives an async iterator, or a plain one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from typing_extensions import assert_type

import reasonact as dspy
from reasonact.streaming import StatusMessageProvider, StreamListener

program = dspy.Predict("question -> answer")
listeners = [StreamListener(signature_field_name="answer")]

assert_type(dspy.streamify(program), Callable[..., AsyncIterator[Any]])
assert_type(
    dspy.streamify(program, StatusMessageProvider(), listeners, async_streaming=False),
    Callable[..., Generator[Any, None, None]],
)
for piece in dspy.streamify(program, async_streaming=False)(question="q"):
    print(piece)
list(dspy.streamify(program)(question="q"))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]


async def read() -> None:
    async for piece in dspy.streamify(program, stream_listeners=listeners)(question="q"):
        print(piece)


class Says(StatusMessageProvider):
    """An override with the types of the base."""

    def tool_start_status_message(self, instance: Any, inputs: dict[str, Any]) -> str:
        return f"{instance.name} is at work"
