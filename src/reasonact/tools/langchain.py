"""What a LangChain tool is here. LangChain itself is not imported: the tool is at hand already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonact.tools.mcp_calls import ImportedTool


def langchain_tool(tool: Any) -> ImportedTool:
    """Read a LangChain tool.

    Args:
        tool: A ``BaseTool``. Arguments that LangChain injects by itself stay hidden.

    Returns:
        What a `Tool` is made of. It runs by ``ainvoke``, so also where the tool is sync.

    Raises:
        ValueError: The tool tells no schema of its arguments.
    """
    described = tool.tool_call_schema
    schema = described if isinstance(described, Mapping) else described.model_json_schema()
    if not isinstance(schema, Mapping):
        raise ValueError(f"the LangChain tool {tool.name!r} has no argument schema: {schema!r}")

    async def call_langchain_tool(**arguments: Any) -> Any:
        return await tool.ainvoke(arguments)

    return ImportedTool(call_langchain_tool, tool.name, tool.description, schema)
