"""What a scripted model says, in the forms that the agents read, and how runs are played."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import reasonact
from reasonact.testing import ScriptedLM


def step(thought: str, tool: str, /, **args: Any) -> str:
    """One step of ReAct in ChatAdapter's form."""
    return fields(next_thought=thought, next_tool_name=tool, next_tool_args=json.dumps(args))


def fields(**values: Any) -> str:
    """Any fields in ChatAdapter's form."""
    blocks = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*blocks, "[[ ## completed ## ]]"])


def extracted(**outputs: Any) -> str:
    """The extractor's completion."""
    return fields(reasoning="From the steps.", **outputs)


def turn(thought: str | None, *calls: tuple[str, dict[str, Any]]) -> str:
    """One turn of ReActV2 in ChatAdapter's text form."""
    said = {} if thought is None else {"next_thought": thought}
    return fields(**said, tool_calls=json.dumps({"tool_calls": [{"name": name, "args": args} for name, args in calls]}))


def native(thought: str | None, *calls: tuple[str | None, str, Any]) -> tuple[str | None, list[Any]]:
    """One native turn: calls are (id, name, args)."""
    return (thought, list(calls))


def submit(**outputs: Any) -> str:
    """The turn that ends a ReActV2 run, in text form."""
    return turn("Done.", ("submit", outputs))


def full(message: str = "too long") -> reasonact.ContextWindowExceededError:
    """What a model says of a request that does not fit."""
    return reasonact.ContextWindowExceededError(model="scripted", message=message)


class Played:
    """An agent with its scripted model, run sync or async by one word."""

    def __init__(self, agent: Any, lm: ScriptedLM, how: str = "sync", adapter: Any = None) -> None:
        self.agent, self.lm, self.how, self.adapter = agent, lm, how, adapter

    def __call__(self, /, **inputs: Any) -> Any:
        return self._run(self.agent, self.agent.acall, inputs)

    def resume(self, /, *args: Any, **options: Any) -> Any:
        return self._run(
            lambda **kw: self.agent.resume(*args, **kw), lambda **kw: self.agent.aresume(*args, **kw), options
        )

    def _run(self, plain: Callable[..., Any], coroutine: Callable[..., Any], inputs: dict[str, Any]) -> Any:
        with reasonact.context(lm=self.lm, adapter=self.adapter):
            if self.how == "sync":
                return plain(**inputs)
            if self.how == "async":
                return asyncio.run(coroutine(**inputs))

            async def inside() -> Any:
                return plain(**inputs)

            return asyncio.run(inside())  # sync code inside a running loop, as in a notebook


WAYS = ("sync", "async", "in a loop")


def react(
    replies: Iterable[Any], tools: Any = None, signature: Any = "question -> answer", how: str = "sync", **options: Any
) -> Played:
    """A ReAct agent on a script."""
    return Played(
        reasonact.ReAct(signature, [look_up] if tools is None else tools, **options), ScriptedLM(replies), how
    )


def react_v2(
    replies: Iterable[Any],
    tools: Any = None,
    signature: Any = "question -> answer",
    how: str = "sync",
    native: bool = False,
    **options: Any,
) -> Played:
    """A ReActV2 agent on a script, in text or native mode."""
    agent = reasonact.ReActV2(signature, [look_up] if tools is None else tools, **options)
    adapter = reasonact.ChatAdapter(use_native_function_calling=True) if native else None
    return Played(agent, ScriptedLM(replies, function_calling=native), how, adapter)


def look_up(topic: str) -> str:
    """Find pages on a topic."""
    return f"3 pages on {topic}"


def left_by(error: BaseException) -> Any:
    """The exception that a run has left its work on, of the one that came out of a task of asyncio.

    Before Python 3.11 a cancelled task raises another one in place of its own, which is then the context.
    """
    return error if hasattr(error, "state") or error.__context__ is None else error.__context__


def results(history: Any) -> list[Any]:
    """Every tool result of a history, in order."""
    return [
        result
        for event in history.messages
        if "tool_calls" in event
        for result in event["tool_calls"].tool_call_results.tool_call_results
    ]


def calls(history: Any) -> list[Any]:
    """Every tool call of a history, in order."""
    return [item for event in history.messages if "tool_calls" in event for item in event["tool_calls"].tool_calls]
