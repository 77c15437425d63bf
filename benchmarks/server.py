"""The scripted model as an OpenAI-compatible server on 127.0.0.1, in a process of its own.

It keeps no state: the address says how long a run is and how long an answer takes
(``/turns/50/wait/20/chat/completions``), and the request how far the run has come.
With ``/chunks/2000`` in the address a final text is streamed in so many chunks.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from types import TracebackType
from typing import Any, Final

from benchmarks import scripted
from benchmarks.worker import ROOT, environment

_PATH: Final = re.compile(r"/turns/(\d+)/wait/(\d+)(?:/chunks/(\d+))?/chat/completions")
_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_STEP: Final = "[[ ## observation_"
_BURSTS: Final = 100  # in how many portions a paced stream is sent


class ModelServer:
    """Starts the server and stops it; a context manager."""

    def __enter__(self) -> ModelServer:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.server"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.communicate()

    def address(self, turns: int, wait_ms: int = 0, chunks: int | None = None) -> str:
        """The base address for runs of so many turns.

        Args:
            turns: How many turns call a tool.
            wait_ms: How long each answer takes.
            chunks: Into how many chunks a streamed text is cut.
        """
        cut = "" if chunks is None else f"/chunks/{chunks}"
        return f"http://127.0.0.1:{self._port}/turns/{turns}/wait/{wait_ms}{cut}"


def _played(body: dict[str, Any]) -> tuple[scripted.Dialect, int]:
    """How the asking agent speaks, and how many of its turns the request has behind it."""
    messages = body["messages"]
    if body.get("tools"):
        return "v2-native", sum(message.get("role") == "tool" for message in messages)
    asks_for_a_step = "next_tool_name" in messages[0]["content"]
    return "react", messages[-1]["content"].count(_STEP) + (0 if asks_for_a_step else 1)


def _answer(path: str, body: dict[str, Any]) -> tuple[float, dict[str, Any], int | None]:
    found = _PATH.search(path)
    if found is None:
        raise ValueError(f"no such path: {path}")
    turns, wait, chunks = int(found[1]), int(found[2]), found[3]
    dialect, turn = _played(body)
    answer = scripted.as_body(scripted.say(dialect, turn, turns), body["model"])
    return wait / 1000, answer, None if chunks is None else int(chunks)


def _chunks(answer: dict[str, Any], count: int) -> list[bytes]:
    """An answer as server-sent events, its arguments or text cut into so many pieces."""
    (choice,) = answer["choices"]
    message = choice["message"]
    base = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for number in range(count):
        deltas.append({"content": f"{message['content'] if number == 0 else f'word-{number}'} "})
    for index, call in enumerate(message.get("tool_calls", ())):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    events = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    events.append({**base, "choices": [], "usage": answer["usage"]})
    return [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events] + [b"data: [DONE]\n\n"]


async def _stream(writer: asyncio.StreamWriter, events: list[bytes], seconds: float) -> None:
    """Send events spread over so many seconds, as a model writes them."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    step = max(1, len(events) // _BURSTS)
    for number, event in enumerate(events):
        if seconds and number % step == 0:
            await writer.drain()
            await asyncio.sleep(seconds * step / len(events))
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
    writer.write(b"0\r\n\r\n")


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            seconds, answer, chunks = _answer(head.split(b" ", 2)[1].decode(), body)
            if body.get("stream"):
                await _stream(writer, _chunks(answer, chunks or 1), seconds)
            else:
                if seconds:
                    await asyncio.sleep(seconds)
                sent = json.dumps(answer).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ")
                writer.write(b"%d\r\n\r\n%s" % (len(sent), sent))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 26, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
