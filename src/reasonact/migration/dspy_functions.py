"""The few functions that deep paths of DSPy offer and that have another form here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reasonact.tools.mcp_calls import MCPSession, ResultMode
from reasonact.tools.schema import self_contained
from reasonact.tools.tool import Tool

_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


class dotdict(dict[str, Any]):
    """A dict whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None


def convert_mcp_tool(session: MCPSession, tool: Any, *, result_mode: ResultMode = "text") -> Tool:
    """Make a tool of one that an MCP server offers.

    Args:
        session: The open session.
        tool: The ``mcp.types.Tool`` that it listed.
        result_mode: See `Tool.from_mcp_tool`.

    Returns:
        An async tool.

    Raises:
        ValueError: ``result_mode`` is unknown, or a schema of the tool is no JSON schema.
    """
    return Tool.from_mcp_tool(session, tool, result_mode=result_mode)


def convert_langchain_tool(tool: Any) -> Tool:
    """Make a tool of a LangChain tool.

    Args:
        tool: A ``BaseTool``.

    Returns:
        An async tool.

    Raises:
        ValueError: The tool tells no usable schema of its arguments.
    """
    return Tool.from_langchain(tool)


def convert_input_schema_to_tool_args(
    schema: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Take the schema of a tool's input apart into what ``Tool`` takes of each argument.

    Args:
        schema: The JSON schema of an object.

    Returns:
        By argument name: its schema without references, its Python type (``Any`` where the
        schema names none or several), its description.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties") or {}
    required = schema.get("required") or ()
    args: dict[str, Any] = {}
    types: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for name, given in properties.items():
        args[name] = self_contained(given, schema)
        kind = args[name].get("type")
        types[name] = _TYPES.get(kind, Any) if isinstance(kind, str) else Any
        text = args[name].get("description", "No description provided.")
        texts[name] = f"{text} (Required)" if name in required else text
    return args, types, texts
