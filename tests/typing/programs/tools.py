"""Tools: what `Tool` and `@tool` make of a function."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import reasonact as dspy
from reasonact.tools.decorator import FunctionTool


def search(query: str, limit: int = 3) -> list[str]:
    return [query] * limit


async def fetch(url: str) -> str:
    return url


made = dspy.Tool(search, name="find", timeout=2.0, on_error="return", require_confirmation=lambda args: bool(args))
assert_type(made, dspy.Tool)
assert_type(made.name, str)
assert_type(made.desc, str | None)
assert_type(made.args, dict[str, Any])
assert_type(made.format_as_litellm_function_call(), dict[str, Any])
dspy.Tool("search")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
dspy.Tool(search, on_error="stop")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# A call takes names alone, as a model gives them: values are converted, and an error may come back as text.
assert_type(made(query="q", limit="3"), Any)
made("q")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@dspy.tool
def plain(query: str) -> list[str]:
    return [query]


@dspy.tool(name="second", sequential=True)
def with_options(query: str) -> list[str]:
    return [query]


assert_type(plain, FunctionTool)
assert_type(with_options, FunctionTool)
assert_type(plain("q"), Any)
dspy.tool(name="third", sequentially=True)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]

agent = dspy.ReAct("question -> answer", tools=[made, plain, search, fetch, dspy.Tool(fetch)])


async def run() -> None:
    assert_type(await made.acall(query="q"), Any)
    assert_type(await plain.acall("q"), Any)
    async with dspy.MCPTools("server") as tools:
        assert_type(tools, list[dspy.Tool])
        dspy.ReActV2("question -> answer", tools=[*tools, search])


def offer(calls: dspy.ToolCalls) -> None:
    for call in calls.tool_calls:
        assert_type(call.name, str)
        assert_type(call.args, dict[str, Any])
        assert_type(call.id, str | None)
