"""The tools of an MCP server, for as long as a block lasts.

The session lives on an event loop and thread of its own. So its tools can be called from any
loop, from several, and from sync code, and the transport's scopes are entered and left in one
task, as they have to be.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from reasonact.runtime.threads import in_daemon_thread
from reasonact.tools.mcp_calls import ResultMode, either
from reasonact.tools.tool import Tool

logger = logging.getLogger("reasonact.mcp")


class MCPTools:
    """Starts or reaches an MCP server, hands over its tools, and closes it at the end::

        async with MCPTools("python", ["server.py"]) as tools:
            agent = ReAct("question -> answer", tools=tools)
            result = await agent.acall(question=...)

    ``with`` does the same in sync code; the tools are async, so calling them there needs the
    setting ``allow_tool_async_sync_conversion``. A tool that cannot be read is passed over with
    a warning in the log. Needs the extra ``reasonact[mcp]``.

    Args:
        command: The program of a server that talks over stdio.
        args: Its arguments.
        env: Its environment; by default the few variables that the SDK lets through.
        cwd: Its folder.
        url: The address of a server that talks over streamable HTTP, instead of ``command``.
        headers: Headers of every request to it.
        result_mode: How results are read, see `Tool.from_mcp_tool`.
        start_timeout: Seconds until the server has to be ready.
        **policy: Options of every tool, see `Tool`.

    Raises:
        ValueError: Neither or both of ``command`` and ``url`` are given, or an option is wrong.
    """

    def __init__(
        self,
        command: str | None = None,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        result_mode: ResultMode = "text",
        start_timeout: float = 30.0,
        **policy: Any,
    ) -> None:
        if (command is None) == (url is None):
            raise ValueError("MCPTools takes a command (stdio) or a url (streamable HTTP), one of them")
        if result_mode not in ("text", "structured"):
            raise ValueError(f'result_mode is "text" or "structured", got {result_mode!r}')
        self._command = command
        self._args = list(args)
        self._env = dict(env) if env is not None else None
        self._cwd = cwd
        self._url = url
        self._headers = dict(headers or {})
        self._result_mode: ResultMode = result_mode
        self._start_timeout = start_timeout
        self._policy = policy
        self._connection: _Connection | None = None

    def __enter__(self) -> list[Tool]:
        """Connect, and list the tools.

        Raises:
            ImportError: The MCP SDK is not installed.
            TimeoutError: The server was not ready in time.
            ValueError: This object is connected already.
            Exception: What the SDK raises where there is no such server.
        """
        connection = self._connect()
        try:
            return connection.ready.result()
        except BaseException:
            self._disconnect()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disconnect().result()

    async def __aenter__(self) -> list[Tool]:
        """Connect, and list the tools; raises what the sync form raises."""
        connection = self._connect()
        try:
            return await asyncio.wrap_future(connection.ready)
        except BaseException:
            self._disconnect()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.wrap_future(self._disconnect())

    def _connect(self) -> _Connection:
        if self._connection is not None:
            raise ValueError("this MCPTools is connected already; make another one for a second connection")
        self._connection = _Connection(self._session, self._tools_of, self._start_timeout)
        return self._connection

    def _disconnect(self) -> concurrent.futures.Future[None]:
        connection, self._connection = self._connection, None
        if connection is None:
            raise ValueError("this MCPTools is not connected")
        return connection.stop()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Any]:
        """A session that has shaken hands, over the transport that was asked for."""
        try:
            from mcp.client.session import ClientSession
            from mcp.client.stdio import StdioServerParameters, stdio_client
        except ImportError as error:
            raise ImportError("MCPTools needs the MCP SDK: pip install 'reasonact[mcp]'") from error
        async with AsyncExitStack() as stack:
            if self._command is not None:
                server = StdioServerParameters(
                    command=self._command, args=self._args, env=self._env, cwd=str(self._cwd) if self._cwd else None
                )
                streams = await stack.enter_async_context(stdio_client(server))
            else:
                streams = await stack.enter_async_context(self._http_streams(stack))
            session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
            await session.initialize()
            yield session

    def _http_streams(self, stack: AsyncExitStack) -> Any:
        from mcp.client import streamable_http

        transport: Any = streamable_http  # no version has all of these names
        current = getattr(transport, "streamable_http_client", None)
        if current is None:  # before 1.24 the transport made its own HTTP client
            return transport.streamablehttp_client(self._url, headers=self._headers)
        client = transport.create_mcp_http_client(headers=self._headers)
        stack.push_async_exit(client)
        return current(self._url, http_client=client)

    async def _tools_of(self, session: Any) -> list[Tool]:
        bridge = _Bridge(session, asyncio.get_running_loop())
        tools: list[Tool] = []
        async for listed in _listed(session):
            try:
                tools.append(Tool.from_mcp_tool(bridge, listed, result_mode=self._result_mode, **self._policy))
            except ValueError as error:
                logger.warning("the MCP tool %r cannot be used and is passed over: %s", listed.name, error)
        return tools


class _Connection:
    """A session on a loop and thread of its own, from its start to its end.

    Args:
        session: Opens the session.
        listing: Makes the tools of an open session.
        timeout: Seconds until both have to be done.
    """

    def __init__(
        self,
        session: Callable[[], AbstractAsyncContextManager[Any]],
        listing: Callable[[Any], Coroutine[Any, Any, list[Tool]]],
        timeout: float,
    ) -> None:
        self.ready: concurrent.futures.Future[list[Tool]] = concurrent.futures.Future()
        self._session = session
        self._listing = listing
        self._timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._close = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._late = False
        self._ended = in_daemon_thread(self._run)

    def stop(self) -> concurrent.futures.Future[None]:
        """Ask the thread to close the session; the future tells when it has ended."""
        try:
            self._loop.call_soon_threadsafe(self._finish)
        except RuntimeError:  # it has ended by itself
            pass
        return self._ended

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._task = self._loop.create_task(self._serve())
            self._loop.run_until_complete(self._task)
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    def _finish(self) -> None:
        self._close.set()
        if not self.ready.done() and self._task is not None:
            self._task.cancel()  # still connecting: nobody waits for the tools any more

    def _give_up(self) -> None:
        if not self.ready.done():
            self._late = True
            self._finish()

    async def _serve(self) -> None:
        # a timer, not wait_for: that would open the session in another task than the one that closes it
        timer = self._loop.call_later(self._timeout, self._give_up)
        try:
            async with self._session() as session:
                tools = await self._listing(session)
                timer.cancel()
                self.ready.set_result(tools)
                await self._close.wait()
        except BaseException as error:
            cause = _innermost(error)
            if self._late:
                cause = TimeoutError(f"the MCP server was not ready within {self._timeout:g} s")
            if self.ready.done():
                logger.warning("the connection to the MCP server did not close cleanly: %r", cause)
            else:
                self.ready.set_exception(cause)
        finally:
            timer.cancel()


class _Bridge:
    """The session as callers on other loops see it."""

    def __init__(self, session: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._session = session
        self._loop = loop

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        if self._loop.is_closed():
            raise ConnectionError(f"{name} belongs to an MCP server whose block has ended")
        work = self._session.call_tool(name, arguments=arguments)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


async def _listed(session: Any) -> AsyncIterator[Any]:
    """Every tool of a server, page after page."""
    by_params = "params" in inspect.signature(session.list_tools).parameters
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        if cursor is None:
            page = await session.list_tools()
        elif by_params:
            from mcp.types import PaginatedRequestParams

            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        else:
            page = await session.list_tools(cursor)
        for tool in page.tools:
            yield tool
        cursor = either(page, "next_cursor", "nextCursor")
        if not cursor or cursor in seen:  # a server that hands out a cursor twice would go on forever
            return
        seen.add(cursor)


def _innermost(error: BaseException) -> BaseException:
    """What went wrong, out of the groups that task groups wrap around it."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]  # type: ignore[attr-defined]
    return error
