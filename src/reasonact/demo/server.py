"""The stand-in model behind an OpenAI-compatible endpoint on 127.0.0.1.

``POST /v1/chat/completions`` (also without ``/v1``), whole or streamed, and ``GET
/v1/models``. Every error has OpenAI's form. Token counts are estimates, at four
characters a token; each answer says so in its ``system_fingerprint``.
"""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

from reasonact.demo.policy import reply

MODEL: Final = "stand-in"
FINGERPRINT: Final = "rules-not-a-model; token counts are estimates at 4 characters each"
CHARACTERS_PER_TOKEN: Final = 4
MAX_BODY_BYTES: Final = 10_000_000
PIECE_CHARACTERS: Final = 24
IDLE_SECONDS: Final = 60


class BadRequest(ValueError):
    """A request that the endpoint refuses: what was wrong, in which parameter, with which status."""

    def __init__(self, message: str, param: str | None = None, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.param = param
        self.status = status


class StandInServer:
    """Serves a policy for the length of a ``with`` block.

    Args:
        policy: From a request's body to the assistant message; the stand-in's rules by default.

    Entering binds a free port and starts the server's thread; leaving, by whatever way,
    closes every connection, frees the port and waits for all its threads.
    """

    def __init__(self, policy: Callable[[Mapping[str, Any]], dict[str, Any]] = reply) -> None:
        self._policy = policy
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL for a client, e.g. ``http://127.0.0.1:49152/v1``.

        Raises:
            RuntimeError: The server does not run.
        """
        if self._server is None:
            raise RuntimeError("the stand-in server is not running; use it in a with block")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> StandInServer:
        self._server = _Server(self._policy)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="reasonact-stand-in", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is not None and thread is not None:
            server.shutdown()
            server.hang_up()
            server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for them; `hang_up` ends those that wait for a client
    block_on_close = True

    def __init__(self, policy: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
        self.policy = policy
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Break off all connections, so that handlers that wait for a next request end."""
        with self._lock:
            for connection in self._connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the client was quicker
                    pass

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news for the terminal."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - the base class names it too broadly
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        try:
            body = self._body()
            if self._path() != "/chat/completions":
                raise BadRequest(f"unknown path {self.path}", status=HTTPStatus.NOT_FOUND)
            _check(body)
            message = self.server.policy(body)
        except BadRequest as refusal:
            self._refuse(str(refusal), refusal.status, refusal.param)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # The body is JSON, but its inside has a form that no agent sends.
            self._refuse(f"the request cannot be read: {type(error).__name__}: {error}", HTTPStatus.BAD_REQUEST)
        else:
            if body.get("stream"):
                self._stream(body, message)
            else:
                self._send(HTTPStatus.OK, completion(body, message))

    def do_GET(self) -> None:
        if self.headers.get("Content-Length", "0") != "0":
            self.close_connection = True  # a body that is not read would be taken for the next request
        if self._path() == "/models":
            entry = {"id": MODEL, "object": "model", "created": 0, "owned_by": "reasonact"}
            self._send(HTTPStatus.OK, {"object": "list", "data": [entry]})
        elif self._path() == "/chat/completions":
            self._refuse("chat completions are asked for with POST", HTTPStatus.METHOD_NOT_ALLOWED)
        else:
            self._refuse(f"unknown path {self.path}", HTTPStatus.NOT_FOUND)

    def _path(self) -> str:
        return self.path.partition("?")[0].rstrip("/").removeprefix("/v1")

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True  # what follows cannot be told from a next request
            if length.isdecimal():
                raise BadRequest("the body is too large", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            raise BadRequest("a Content-Length is needed")
        raw = self.rfile.read(int(length))
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            raise BadRequest("the body is no JSON") from None
        if not isinstance(body, dict):
            raise BadRequest("the body has to be a JSON object")
        return body

    def _send(self, status: HTTPStatus, body: Mapping[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, body: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks(body, message):
            self._write_piece(f"data: {json.dumps(chunk)}\n\n".encode())
        self._write_piece(b"data: [DONE]\n\n")
        self._write_piece(b"")

    def _write_piece(self, raw: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

    def _refuse(self, message: str, status: HTTPStatus, param: str | None = None) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
        self._send(status, {"error": error})

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the protocol itself (a bad request line, an unknown method) have OpenAI's form as well."""
        self.close_connection = True
        self.request_version = "HTTP/1.1"  # of a line that cannot be read, 0.9 is assumed, which has no headers
        self._refuse(message or HTTPStatus(code).phrase, HTTPStatus(code))

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal belongs to the run's view."""


def _check(body: Mapping[str, Any]) -> None:
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise BadRequest("model has to be a non-empty string", "model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages has to be a non-empty list", "messages")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadRequest("a message has to be an object with a role", f"messages[{place}]")
    if not isinstance(body.get("stream_options") or {}, dict):
        raise BadRequest("stream_options has to be an object", "stream_options")
    if not isinstance(body.get("tools") or [], list):
        raise BadRequest("tools has to be a list", "tools")


def completion(body: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """The whole response to a request.

    Args:
        body: The request.
        message: The assistant message; without content where it only calls tools.

    Returns:
        An object of OpenAI's kind ``chat.completion``.
    """
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, message)}


def chunks(body: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same response in pieces; they add up to the whole message.

    Args:
        body: The request; ``stream_options.include_usage`` asks for a closing chunk with usage.
        message: The assistant message.

    Yields:
        Objects of OpenAI's kind ``chat.completion.chunk``.
    """
    head = _head(body, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(message.get("content") or ""):
        yield chunk({"content": piece})
    calls = message.get("tool_calls") or []
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {"name": function["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": opening}]})
        for piece in _pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(body, message)}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE_CHARACTERS] for start in range(0, len(text), PIECE_CHARACTERS))


def _head(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": body["model"],
        "system_fingerprint": FINGERPRINT,
    }


def _usage(body: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, int]:
    prompt = _tokens([body["messages"], body.get("tools") or []])
    answer = _tokens([message.get("content") or "", message.get("tool_calls") or []])
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _tokens(parts: list[Any]) -> int:
    return -(-sum(len(json.dumps(part, ensure_ascii=False)) for part in parts if part) // CHARACTERS_PER_TOKEN)
