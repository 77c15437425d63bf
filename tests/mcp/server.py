"""A real MCP server for the tests, by the low-level interface of whichever SDK is installed.

Run as ``python server.py stdio`` or ``python server.py http PORT``. Its tools come in pages of two.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

import mcp.types as types
from mcp.server.lowlevel import Server

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 8).decode()
SOUND = base64.b64encode(b"RIFF....WAVE").decode()
BLOB = base64.b64encode(b"bytes").decode()
POINT = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"]}
TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
}

SCHEMAS: dict[str, dict[str, Any]] = {
    "add": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "the first"},
            "b": {"type": ["integer", "null"], "default": 2},
        },
        "required": ["a"],
    },
    "move": {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/Point"}, "label": {"type": "string"}},
        "required": ["to"],
        "$defs": {"Point": POINT},
    },
    "count": {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "required": ["tree"],
        "$defs": {"Tree": TREE},
    },
    "odd": {"type": "object", "properties": {"x": {"type": "whole number"}}},
    "show": {"type": "object", "properties": {}},
    "weather": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "fail": {"type": "object", "properties": {"code": {"type": "integer"}}},
    "hang": {"type": "object", "properties": {}},
}
OUTPUT = {"weather": {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}}


def model(cls: Any, **fields: Any) -> Any:
    """An object of the SDK's, from the names of the protocol, which both generations read."""
    return cls.model_validate(fields)


def listed(cursor: str | None) -> Any:
    start = int(cursor or 0)
    names = list(SCHEMAS)
    tools = [
        {"name": name, "description": f"Tool {name}.", "inputSchema": SCHEMAS[name], "outputSchema": OUTPUT.get(name)}
        for name in names[start : start + 2]
    ]
    more = str(start + 2) if start + 2 < len(names) else None
    return model(types.ListToolsResult, tools=tools, nextCursor=more)


def text(words: Any) -> dict[str, Any]:
    return {"type": "text", "text": str(words)}


async def called(name: str, args: dict[str, Any]) -> Any:
    structured, is_error = None, False
    if name == "add":
        content = [text(args["a"] + args.get("b", 2))]
    elif name == "move":
        content = [text(json.dumps(args, sort_keys=True))]
    elif name == "count":
        content = [text(json.dumps(args))]
    elif name == "show":
        content = [
            text("first"),
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "audio", "data": SOUND, "mimeType": "audio/wav"},
            {
                "type": "resource",
                "resource": {"uri": "file:///notes.txt", "text": "the notes", "mimeType": "text/plain"},
            },
            {"type": "resource", "resource": {"uri": "file:///data.bin", "blob": BLOB, "mimeType": "application/pdf"}},
            {"type": "resource_link", "uri": "file:///far.txt", "name": "far"},
            text("last"),
        ]
    elif name == "weather":
        structured = {"degrees": 21.5}
        content = [text(json.dumps(structured))]
    elif name == "fail":
        content, structured, is_error = [text("no such city")], {"code": args.get("code", 1)}, True
    else:
        await asyncio.Event().wait()
    fields = {"content": content, "structuredContent": structured, "isError": is_error}
    return model(types.CallToolResult, **{key: value for key, value in fields.items() if value is not None})


def make_server() -> Any:
    try:  # SDK 2: handlers are given to the constructor

        async def on_list(context: Any, params: Any) -> Any:
            return listed(params.cursor if params else None)

        async def on_call(context: Any, params: Any) -> Any:
            return await called(params.name, params.arguments or {})

        return Server("tests", on_list_tools=on_list, on_call_tool=on_call)
    except TypeError:  # SDK 1: handlers are registered by the type of the request
        server: Any = Server("tests")

        async def list_tools(request: Any) -> Any:
            return types.ServerResult(listed(request.params.cursor if request.params else None))

        async def call_tool(request: Any) -> Any:
            return types.ServerResult(await called(request.params.name, request.params.arguments or {}))

        server.request_handlers[types.ListToolsRequest] = list_tools
        server.request_handlers[types.CallToolRequest] = call_tool
        return server


async def over_stdio() -> None:
    from mcp.server.stdio import stdio_server

    server = make_server()
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def over_http(port: int) -> None:
    import contextlib

    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Mount

    manager = StreamableHTTPSessionManager(make_server())

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> Any:
        async with manager.run():
            yield

    app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(over_stdio())
    else:
        over_http(int(sys.argv[2]))
