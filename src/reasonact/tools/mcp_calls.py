"""What a tool of an MCP server is here: its callable, its schema, and how its results are read.

Written against what the two generations of the MCP SDK say in common; their names differ in
spelling (``inputSchema``, ``input_schema``), and no SDK is imported.
"""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic_core import to_jsonable_python

from reasonact.types.audio import Audio
from reasonact.types.file import File
from reasonact.types.image import Image

ResultMode = Literal["text", "structured"]


class MCPSession(Protocol):
    """What is needed of an MCP session: ``mcp.ClientSession`` and ``mcp.Client`` have it."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Have the server run a tool."""
        ...


class MCPToolError(RuntimeError):
    """An MCP server says that its tool has failed.

    Args:
        message: The server's words.
        content: The result's parts, as `read_content` gives them.
        structured: The result's structured content, where there is one.
    """

    def __init__(self, message: str, content: Any = None, structured: Any = None) -> None:
        super().__init__(message)
        self.content = content
        self.structured = structured


@dataclass(frozen=True, slots=True)
class ImportedTool:
    """What `Tool` is made of, for a tool that comes from elsewhere.

    Args:
        func: Runs it with arguments by name.
        name: Its name.
        desc: Its description.
        schema: The JSON schema of its arguments object.
    """

    func: Callable[..., Any]
    name: str
    desc: str | None
    schema: Mapping[str, Any]


def mcp_tool(session: MCPSession, tool: Any, result_mode: ResultMode = "text") -> ImportedTool:
    """Read an MCP tool.

    Args:
        session: The open session that the tool was listed in.
        tool: The ``mcp.types.Tool``.
        result_mode: ``"text"`` reads the parts of a result, ``"structured"`` its structured
            content, and the parts where there is none.

    Returns:
        What a `Tool` is made of.

    Raises:
        ValueError: ``result_mode`` is neither, or a schema of the tool is no JSON schema.
    """
    if result_mode not in ("text", "structured"):
        raise ValueError(f'result_mode is "text" or "structured", got {result_mode!r}')
    name: str = tool.name
    schema = either(tool, "input_schema", "inputSchema")
    if not isinstance(schema, Mapping):
        raise ValueError(f"the MCP tool {name!r} has no input schema: {schema!r}")
    _schema_validator(name, schema)
    output_schema = either(tool, "output_schema", "outputSchema")
    check_output = _output_checker(name, output_schema) if result_mode == "structured" and output_schema else None

    async def call_mcp_tool(**arguments: Any) -> Any:
        result = await session.call_tool(name, arguments=to_jsonable_python(arguments))
        return read_result(name, result, result_mode, check_output)

    return ImportedTool(call_mcp_tool, name, tool.description or tool.title or "", schema)


def read_result(
    name: str, result: Any, result_mode: ResultMode = "text", check_output: Callable[[Any], None] | None = None
) -> Any:
    """Read what an MCP server answers to a call.

    Args:
        name: The tool's name, for errors.
        result: The ``CallToolResult``.
        result_mode: See `mcp_tool`.
        check_output: Raises where structured content does not fit the declared output.

    Returns:
        The one part, a list of several, or the structured content.

    Raises:
        MCPToolError: The server says that the tool failed, or asks for more input.
        ValueError: The structured content does not fit the tool's output schema.
    """
    if not hasattr(result, "content"):
        raise MCPToolError(f"{name} asks for more input, which only an interactive client can give")
    parts = read_content(result.content)
    structured = either(result, "structured_content", "structuredContent")
    value = parts[0] if len(parts) == 1 else parts
    if either(result, "is_error", "isError"):
        text = "\n".join(part if isinstance(part, str) else f"({type(part).__name__})" for part in parts)
        if structured is not None:
            text = (
                f"{text}\n{json.dumps(structured, ensure_ascii=False, default=str)}" if text else json.dumps(structured)
            )
        raise MCPToolError(text or f"{name} failed without a word", value, structured)
    if result_mode == "structured" and structured is not None:
        if check_output is not None:
            check_output(structured)
        return structured
    return value


def read_content(content: list[Any]) -> list[Any]:
    """Read the parts of a result, in their order.

    Args:
        content: Text, images, sounds, resources and links to them, as MCP has them.

    Returns:
        Text and text resources as ``str``, images as `Image`, sounds as `Audio`, other resources
        as `File`; a link as a line with its name and address. What cannot be read stays as it is.
    """
    return [_part(part) for part in content]


def either(holder: Any, *names: str) -> Any:
    """The first attribute of these that an object has, or None."""
    for name in names:
        value = getattr(holder, name, None)
        if value is not None:
            return value
    return None


def _part(part: Any) -> Any:
    kind = getattr(part, "type", None)
    try:
        if kind == "text":
            return part.text
        if kind == "image":
            return Image(f"data:{either(part, 'mime_type', 'mimeType')};base64,{part.data}")
        if kind == "audio":
            mime_type = str(either(part, "mime_type", "mimeType"))
            return Audio(data=part.data, audio_format=mime_type.rsplit("/", 1)[-1].removeprefix("x-"))
        if kind == "resource":
            return _resource(part.resource)
        if kind == "resource_link":
            about = f": {part.description}" if getattr(part, "description", None) else ""
            return f"{part.name} <{part.uri}>{about}"
    except ValueError:  # damaged data, or of a kind that the type refuses
        return part
    return part


def _resource(resource: Any) -> Any:
    text = getattr(resource, "text", None)
    if text is not None:
        return text
    mime_type = either(resource, "mime_type", "mimeType") or "application/octet-stream"
    if mime_type.startswith("image/"):
        return Image(f"data:{mime_type};base64,{resource.blob}")
    try:
        data = base64.b64decode(resource.blob, validate=True)
    except binascii.Error as error:
        raise ValueError("the blob is no base64") from error
    name = str(resource.uri).rstrip("/").rsplit("/", 1)[-1] or f"resource{mimetypes.guess_extension(mime_type) or ''}"
    return File.from_bytes(data, name, mime_type)


def _schema_validator(name: str, schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    dialect: Any = validator_for(schema, default=Draft202012Validator)
    try:
        dialect.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"a schema of the MCP tool {name!r} is no JSON schema: {error.message}") from error
    return dialect(schema, registry=Registry())


def _output_checker(name: str, schema: Mapping[str, Any]) -> Callable[[Any], None]:
    validator = _schema_validator(name, schema)

    def check(value: Any) -> None:
        error = next(iter(validator.iter_errors(value)), None)
        if error is not None:
            raise ValueError(f"the result of {name} does not fit its output schema: {error.message}")

    return check
