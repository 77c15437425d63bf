"""A provider on 127.0.0.1 that speaks OpenAI's and Anthropic's wire formats, and fails as it is told."""

import json
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
logging.getLogger("werkzeug").setLevel(logging.ERROR)


def completion(content="hello", *, model="gpt-4o-mini", finish_reason="stop", **message):
    """A chat completion as OpenAI's interface answers it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def chunk(delta=None, *, finish_reason=None, index=0, **fields):
    """One chunk of a streamed chat completion."""
    choices = [] if delta is None else [{"index": index, "delta": delta, "finish_reason": finish_reason}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": choices,
        **fields,
    }


def server_sent(chunks, *, done=True):
    """Chunks as server-sent events."""
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
    return (text + ("data: [DONE]\n\n" if done else "")).encode()


class Provider:
    """A bare HTTP server, one thread per connection, so that bodies can be broken at any byte.

    `answers` are played in order, the last one for ever: bytes are sent as they are;
    a callable gets the socket and the request's JSON.
    """

    def __init__(self):
        self.requests = []
        self.answers = []
        self.closed_early = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = True
        self.root = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = self.root + "/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def says(self, *answers):
        self.answers = list(answers)
        return self

    def _accept(self):
        while self._open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                while self._one(connection):
                    pass
        except OSError:
            self.closed_early.set()

    def _one(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return False
            head += piece
        head, _, body = head.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        request = {"path": lines[0].split()[1], "headers": headers, "json": json.loads(body) if body else None}
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.requests.append(request)
        if callable(answer):
            answer(connection, request)
            return False
        connection.sendall(answer)
        return True

    def close(self):
        self._open = False
        self._listener.close()


def http(body, *, status=200, content_type="application/json", headers=None, cut=0):
    """A whole HTTP response as bytes; ``cut`` takes bytes off its end, though the length names them."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    return whole[: len(whole) - cut]


def refusal(status, message="no can do", code="some_code", **headers):
    """An error as OpenAI's interface answers it."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return http({"error": {"message": message, "type": "some_type", "code": code}}, status=status, headers=names)


def reset(connection, request):
    """Break the connection off without an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def stalled(head=b""):
    """Send some bytes and then nothing more, until the other side gives up."""

    def answer(connection, request):
        connection.sendall(head)
        connection.settimeout(20)
        connection.recv(1)

    return answer


def streamed(pieces, *, then=None, content_type="text/event-stream"):
    """Send pieces of a body one by one in HTTP chunks; ``then`` ends it otherwise than properly."""

    def answer(connection, request):
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for piece in pieces() if callable(pieces) else pieces:
            connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if then is None:
            connection.sendall(b"0\r\n\r\n")
        else:
            then(connection, request)

    return answer


def endless():
    """A stream that goes on until nobody listens any more."""
    while True:
        yield server_sent([chunk({"content": "tick "})], done=False)
        time.sleep(0.005)


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture
def wire():
    """The forms in which a provider answers, as one namespace."""
    return type(
        "Wire",
        (),
        {
            name: staticmethod(value)
            for name, value in {
                "completion": completion,
                "chunk": chunk,
                "server_sent": server_sent,
                "http": http,
                "refusal": refusal,
                "reset": reset,
                "stalled": stalled,
                "streamed": streamed,
                "endless": endless,
            }.items()
        },
    )


@pytest.fixture
def fresh_cache(tmp_path):
    """The process's cache on an empty folder, put back as it was afterwards."""
    from reasonact.lm.cache import cache, configure_cache

    before = (cache.enable_disk_cache, cache.enable_memory_cache, cache.disk_cache_dir)
    configure_cache(disk_cache_dir=tmp_path)
    yield cache
    configure_cache(enable_disk_cache=before[0], enable_memory_cache=before[1], disk_cache_dir=before[2])
