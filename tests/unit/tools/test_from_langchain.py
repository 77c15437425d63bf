"""Tools of LangChain: every way to make one there, with its schema and its results."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from reasonact.runtime.settings import context
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool

lc = pytest.importorskip("langchain_core.tools")


class Query(BaseModel):
    words: str = Field(description="what to look for")
    tags: list[str] = []


class Own(lc.BaseTool):  # type: ignore[misc]
    name: str = "own"
    description: str = "A class of one's own."

    def _run(self, x: int) -> int:
        return x + 1


@lc.tool
def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


@lc.tool
async def later(a: int) -> int:
    """Comes later."""
    return a


@lc.tool
def hidden(a: int, secret: Annotated[str, lc.InjectedToolArg]) -> int:
    """Has an injected argument."""
    return a


STRUCTURED = lc.StructuredTool.from_function(
    lambda words, tags=(): (words, list(tags)), name="find", description="Finds.", args_schema=Query
)
BY_JSON = lc.StructuredTool.from_function(
    lambda z: z,
    name="by_json",
    description="By JSON schema.",
    args_schema={"type": "object", "properties": {"z": {"type": "integer"}}, "required": ["z"]},
)


@pytest.mark.parametrize(
    ("made", "name", "desc", "arguments", "required"),
    [
        (add, "add", "Add numbers.", ["a", "b"], ["a"]),
        (later, "later", "Comes later.", ["a"], ["a"]),
        (hidden, "hidden", "Has an injected argument.", ["a"], ["a"]),
        (STRUCTURED, "find", "Finds.", ["words", "tags"], ["words"]),
        (BY_JSON, "by_json", "By JSON schema.", ["z"], ["z"]),
        (Own(), "own", "A class of one's own.", ["x"], ["x"]),
    ],
)
def test_name_description_and_schema_come_over(
    made: Any, name: str, desc: str, arguments: list[str], required: list[str]
) -> None:
    tool = Tool.from_langchain(made)
    assert (name, desc, arguments) == (tool.name, tool.desc, list(tool.args))
    assert required == tool.format_as_litellm_function_call()["function"]["parameters"]["required"]


@pytest.mark.parametrize(
    ("made", "args", "result"),
    [
        (add, {"a": "1"}, 3),
        (add, {"a": 1, "b": None}, 3),
        (later, {"a": 4}, 4),
        (STRUCTURED, {"words": "w", "tags": '["t"]'}, ("w", ["t"])),
        (BY_JSON, {"z": "5"}, 5),
        (Own(), {"x": 1}, 2),
    ],
)
async def test_calls_run_the_other_tool(made: Any, args: dict[str, Any], result: Any) -> None:
    assert result == await Tool.from_langchain(made).acall(**args)


def test_in_sync_code_the_conversion_has_to_be_allowed() -> None:
    tool = Tool.from_langchain(add)
    with pytest.raises(ValueError, match="acall"):
        tool(a=1)
    with context(allow_tool_async_sync_conversion=True):
        assert 3 == tool(a=1)


async def test_arguments_are_checked_here() -> None:
    for args in ({}, {"a": "one"}, {"a": 1, "c": 1}):
        with pytest.raises(InvalidArguments):
            await Tool.from_langchain(add).acall(**args)


def test_policy_options_are_taken() -> None:
    assert Tool.from_langchain(add, sequential=True).policy.sequential


def test_a_tool_that_tells_no_schema_is_refused() -> None:
    class Silent(BaseModel):
        name: str = "silent"
        description: str = "Tells nothing."

        @property
        def tool_call_schema(self) -> Any:
            class Schemaless:
                @staticmethod
                def model_json_schema() -> Any:
                    return None

            return Schemaless

    with pytest.raises(ValueError, match="'silent' has no argument schema"):
        Tool.from_langchain(Silent())
