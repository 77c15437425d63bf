"""What the tests of the adapters share: an agent's signature and the events of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCallResults, ToolCalls


def search(query: str, k: int = 3) -> str:
    """Search the docs."""
    return f"hit {query} {k}"


def submit(answer: str) -> str:
    """Give the answer."""
    return answer


def _calls(
    *calls: tuple[str | None, str, dict[str, Any]], results: list[tuple[str, str, Any, bool]] | None = None
) -> ToolCalls:
    given = None
    if results is not None:
        given = ToolCallResults(
            tool_call_results=[
                ToolCallResults.ToolCallResult(call_id=call_id, name=name, value=value, is_error=is_error)
                for call_id, name, value, is_error in results
            ]
        )
    made = [ToolCalls.ToolCall(id=call_id, name=name, args=args) for call_id, name, args in calls]
    return ToolCalls(tool_calls=made, tool_call_results=given)


@pytest.fixture
def agent() -> SimpleNamespace:
    """An agent's turn: its signature, tools, a maker of calls, and of inputs for a list of events."""
    signature = (
        Signature({"question": (str | None, InputField())}, "Do the task.")
        .append("history", InputField(), type_=History)
        .append("tools", InputField(), type_=list[Tool])
        .append("next_thought", OutputField(), type_=Reasoning)
        .append("tool_calls", OutputField(), type_=ToolCalls)
    )
    tools = [Tool(search), Tool(submit)]

    def inputs(*events: dict[str, Any], **said: Any) -> dict[str, Any]:
        return {**said, "history": History.model_construct(messages=list(events)), "tools": tools}

    return SimpleNamespace(signature=signature, tools=tools, calls=_calls, inputs=inputs)
