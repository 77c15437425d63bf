"""Tools of a real MCP server process, over stdio and over streamable HTTP, by SDK 1 or 2."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reasonact.runtime.settings import context
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.mcp import MCPTools
from reasonact.tools.mcp_calls import MCPToolError, read_content
from reasonact.tools.tool import Tool
from reasonact.types.audio import Audio
from reasonact.types.file import File
from reasonact.types.image import Image

mcp = pytest.importorskip("mcp")

SERVER = str(Path(__file__).with_name("server.py"))
NAMES = ["add", "move", "count", "show", "weather", "fail", "hang"]


@pytest.fixture(scope="module")
def http_url() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, SERVER, "http", str(port)])
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, "the server did not start"
            threading.Event().wait(0.05)
    yield f"http://127.0.0.1:{port}/mcp/"
    process.terminate()
    process.wait(30)


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest) -> Any:
    def make(**options: Any) -> MCPTools:
        if request.param == "stdio":
            return MCPTools(sys.executable, [SERVER, "stdio"], **options)
        return MCPTools(url=request.getfixturevalue("http_url"), headers={"x-test": "1"}, **options)

    return make


def by_name(tools: list[Tool]) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


async def test_all_pages_are_listed_and_an_odd_tool_is_passed_over_with_a_warning(
    connect: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "reasonact.mcp"):
        async with connect() as tools:
            assert NAMES == [tool.name for tool in tools]
    assert ["'odd'" in record.getMessage() for record in caplog.records] == [True]


async def test_schemas_keep_type_lists_required_and_recursion(connect: Any) -> None:
    async with connect() as listed:
        tools = by_name(listed)
    add = tools["add"].format_as_litellm_function_call()["function"]
    assert "Tool add." == add["description"]
    assert ["a"] == add["parameters"]["required"]
    assert ["integer", "null"] == add["parameters"]["properties"]["b"]["type"]
    move = tools["move"].args
    assert {"type": "number"} == move["to"]["properties"]["x"]
    assert ["to"] == tools["move"].format_as_litellm_function_call()["function"]["parameters"]["required"]
    count = tools["count"].format_as_litellm_function_call()["function"]["parameters"]
    assert {"$ref": "#/$defs/Tree"} == count["properties"]["tree"]
    assert ["Tree"] == list(count["$defs"])


async def test_arguments_are_converted_and_checked_before_the_server_is_asked(connect: Any) -> None:
    async with connect() as listed:
        tools = by_name(listed)
        assert "3" == await tools["add"].acall(a="1")
        assert '{"to": {"x": 1.5}}' == await tools["move"].acall(to='{"x": 1.5}', label=None)
        for args in ({}, {"a": "one"}, {"a": 1, "c": 2}):
            with pytest.raises(InvalidArguments):
                await tools["add"].acall(**args)
        with pytest.raises(InvalidArguments, match=r"tree\.below\[0\]\.value"):
            await tools["count"].acall(tree={"below": [{"value": "x"}]})


async def test_every_kind_of_content_comes_in_its_order(connect: Any) -> None:
    async with connect() as listed:
        parts = await by_name(listed)["show"].acall()
    assert [str, Image, Audio, str, File, str, str] == [type(part) for part in parts]
    assert ["first", "the notes", "far <file:///far.txt>", "last"] == [p for p in parts if isinstance(p, str)]
    assert parts[1].url.startswith("data:image/png;base64,")
    assert ("wav", "data.bin") == (parts[2].audio_format, parts[4].filename)


async def test_structured_content_and_parts_where_there_is_none(connect: Any) -> None:
    async with connect(result_mode="structured") as listed:
        tools = by_name(listed)
        assert {"degrees": 21.5} == await tools["weather"].acall(city="Rome")
        assert "3" == await tools["add"].acall(a=1)


async def test_a_failure_of_the_servers_tool_is_an_error_with_its_words_and_structure(connect: Any) -> None:
    async with connect() as listed:
        with pytest.raises(MCPToolError, match="no such city") as caught:
            await by_name(listed)["fail"].acall(code=7)
    assert {"code": 7} == caught.value.structured
    assert "no such city" == caught.value.content


async def test_a_call_can_be_cancelled_and_the_session_goes_on(connect: Any) -> None:
    async with connect() as listed:
        tools = by_name(listed)
        hanging = asyncio.ensure_future(tools["hang"].acall())
        assert "3" == await tools["add"].acall(a=1)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert "4" == await tools["add"].acall(a=2)


async def test_policy_options_go_to_every_tool(connect: Any) -> None:
    async with connect(timeout=0.2) as listed:
        with pytest.raises(TimeoutError, match="hang"):
            await by_name(listed)["hang"].acall()


def test_the_tools_serve_sync_code_and_other_loops(connect: Any) -> None:
    with connect() as listed:
        tools = by_name(listed)
        with context(allow_tool_async_sync_conversion=True):
            assert "3" == tools["add"](a=1)
        assert "4" == asyncio.run(tools["add"].acall(a=2))

        async def inside_a_loop() -> Any:
            with context(allow_tool_async_sync_conversion=True):
                return tools["add"](a=3)

        assert "5" == asyncio.run(inside_a_loop())


async def test_after_the_block_a_call_says_that_the_server_is_gone(connect: Any) -> None:
    async with connect() as listed:
        pass
    with pytest.raises(ConnectionError, match="add"):
        await by_name(listed)["add"].acall(a=1)


async def test_the_server_process_ends_with_the_block(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = (
        f"import os, runpy, sys; open({str(pid_file)!r}, 'w').write(str(os.getpid())); "
        f"sys.argv = ['s', 'stdio']; runpy.run_path({SERVER!r}, run_name='__main__')"
    )
    async with MCPTools(sys.executable, ["-c", script]) as tools:
        assert NAMES == [tool.name for tool in tools]
        pid = int(pid_file.read_text())
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_one_object_serves_block_after_block_but_not_two_at_once() -> None:
    server = MCPTools(sys.executable, [SERVER, "stdio"])
    async with server as tools:
        assert NAMES == [tool.name for tool in tools]
        with pytest.raises(ValueError, match="already"):
            async with server:
                pass
    async with server as tools:
        assert "3" == await tools[0].acall(a=1)


async def test_a_server_that_is_not_there_is_the_sdks_error() -> None:
    with pytest.raises(OSError):
        async with MCPTools("/nowhere/at/all"):
            pass
    with pytest.raises(OSError):
        with MCPTools("/nowhere/at/all"):
            pass


async def test_a_server_that_never_answers_is_given_up() -> None:
    silent = MCPTools(sys.executable, ["-c", "import sys; sys.stdin.read()"], start_timeout=0.5)
    with pytest.raises(TimeoutError, match=r"0\.5 s"):
        async with silent:
            pass


@pytest.mark.parametrize(
    ("args", "options"),
    [((), {}), (("python",), {"url": "http://127.0.0.1"}), (("python",), {"result_mode": "xml"})],
)
def test_a_wrong_setup_is_told_at_construction(args: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        MCPTools(*args, **options)


class Answering:
    """A session that answers every call with one result."""

    def __init__(self, **result: Any) -> None:
        self.result = SimpleNamespace(**result)
        self.asked: list[Any] = []

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append((name, arguments))
        return self.result


def listed_tool(**fields: Any) -> Any:
    return SimpleNamespace(
        **{"name": "t", "title": None, "description": "d", "inputSchema": {"type": "object"}, **fields}
    )


async def test_structured_content_that_breaks_the_output_schema_is_an_error() -> None:
    output = {"type": "object", "properties": {"n": {"type": "integer"}}}
    session = Answering(content=[], structuredContent={"n": "x"}, isError=False)
    tool = Tool.from_mcp_tool(session, listed_tool(outputSchema=output), result_mode="structured")
    with pytest.raises(ValueError, match="output schema"):
        await tool.acall()


async def test_a_failure_without_words_shows_its_structure() -> None:
    tool = Tool.from_mcp_tool(Answering(content=[], structured_content={"code": 3}, is_error=True), listed_tool())
    with pytest.raises(MCPToolError, match=r'\{"code": 3\}'):
        await tool.acall()
    tool = Tool.from_mcp_tool(Answering(content=[], is_error=True), listed_tool())
    with pytest.raises(MCPToolError, match="t failed"):
        await tool.acall()


async def test_a_request_for_more_input_is_an_error() -> None:
    with pytest.raises(MCPToolError, match="more input"):
        await Tool.from_mcp_tool(Answering(result_type="input_required"), listed_tool()).acall()


def test_content_that_cannot_be_read_stays_as_it_is() -> None:
    damaged = [
        SimpleNamespace(type="image", mimeType="image/png", data="***"),
        SimpleNamespace(type="resource", resource=SimpleNamespace(uri="x:y", blob="***", mimeType="a/b")),
        SimpleNamespace(type="hologram"),
    ]
    assert damaged == read_content(damaged)


@pytest.mark.parametrize(
    "schema", [None, {"properties": {"x": {"type": "whole"}}}, {"properties": {"x": {"minimum": "a"}}}]
)
def test_an_odd_schema_is_refused(schema: Any) -> None:
    with pytest.raises(ValueError, match="'t'"):
        Tool.from_mcp_tool(Answering(), listed_tool(inputSchema=schema))


def test_an_unknown_result_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="result_mode"):
        Tool.from_mcp_tool(Answering(), listed_tool(), result_mode="xml")  # type: ignore[arg-type]
