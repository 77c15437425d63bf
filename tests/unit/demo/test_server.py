"""The stand-in's endpoint over real sockets."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from reasonact.demo.server import StandInServer

TOOLS = [
    {"type": "function", "function": {"name": "search", "parameters": {}}},
    {"type": "function", "function": {"name": "submit", "parameters": {"properties": {"answer": {"type": "string"}}}}},
]
BODY: dict[str, Any] = {
    "model": "stand-in",
    "messages": [{"role": "user", "content": "[[ ## question ## ]]\nwhich function shuffles a list?"}],
    "tools": TOOLS,
}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with StandInServer() as server, httpx.Client(base_url=server.url, trust_env=False) as connected:
        yield connected


def test_a_completion_has_openai_form(client: httpx.Client) -> None:
    body = client.post("/chat/completions", json=BODY).json()
    assert "chat.completion" == body["object"]
    assert "stand-in" == body["model"]
    choice = body["choices"][0]
    assert "tool_calls" == choice["finish_reason"]
    call = choice["message"]["tool_calls"][0]
    assert ("function", "search") == (call["type"], call["function"]["name"])
    assert "shuffles list" in json.loads(call["function"]["arguments"])["query"]


def test_usage_is_counted_from_the_text_and_said_to_be_an_estimate(client: httpx.Client) -> None:
    short = client.post("/chat/completions", json=BODY).json()
    longer = client.post("/chat/completions", json=BODY | {"messages": [*BODY["messages"], *BODY["messages"]]}).json()
    usage = short["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert longer["usage"]["prompt_tokens"] > usage["prompt_tokens"]
    assert "estimates" in short["system_fingerprint"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions", "/v1/chat/completions/?x=1"])
def test_the_prefix_of_the_path_may_be_missing(client: httpx.Client, path: str) -> None:
    assert 200 == client.post(client.base_url.join(path), json=BODY).status_code


def test_models_lists_the_stand_in(client: httpx.Client) -> None:
    body = client.get("/models").json()
    assert ("list", ["stand-in"]) == (body["object"], [entry["id"] for entry in body["data"]])


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream_adds_up_to_the_whole_message(client: httpx.Client, usage: bool) -> None:
    whole = client.post("/chat/completions", json=BODY).json()
    request = BODY | {"stream": True, "stream_options": {"include_usage": usage}}
    with client.stream("POST", "/chat/completions", json=request) as response:
        assert "text/event-stream" == response.headers["content-type"]
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    assert "[DONE]" == lines.pop()
    chunks = [json.loads(line) for line in lines]
    assert {"chat.completion.chunk"} == {chunk["object"] for chunk in chunks}
    if usage:
        last = chunks.pop()
        assert ([], whole["usage"]) == (last["choices"], last["usage"])
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    message = whole["choices"][0]["message"]
    assert message["content"] == "".join(delta.get("content", "") for delta in deltas)
    calls = [piece for delta in deltas for piece in delta.get("tool_calls", [])]
    assert message["tool_calls"][0]["function"]["arguments"] == "".join(
        piece["function"].get("arguments", "") for piece in calls
    )
    assert message["tool_calls"][0]["id"] == calls[0]["id"]
    assert "tool_calls" == chunks[-1]["choices"][0]["finish_reason"]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "JSON object"),
        (b"", "no JSON"),
        (b"{}", "model"),
        (b'{"model": "m"}', "messages"),
        (b'{"model": "m", "messages": []}', "messages"),
        (b'{"model": "m", "messages": ["hi"]}', "role"),
        (b'{"model": "m", "messages": [{"role": "user"}], "tools": 3}', "tools"),
        (b'{"model": "m", "messages": [{"role": "user"}], "tools": [3]}', "cannot be read"),
        (
            b'{"model": "m", "messages": [{"role": "assistant", "tool_calls": [{}]}], "tools": [{"function": {}}]}',
            "read",
        ),
        (
            b'{"model": "m", "messages": [{"role": "user", "content": "q"}], "stream": true, "stream_options": 3}',
            "object",
        ),
    ],
)
def test_a_malformed_request_gets_openai_s_error_and_no_traceback(
    client: httpx.Client, content: bytes, word: str
) -> None:
    response = client.post("/chat/completions", content=content)
    assert 400 == response.status_code
    error = response.json()["error"]
    assert "invalid_request_error" == error["type"]
    assert word in error["message"]
    assert "Traceback" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/completions", 404),
        ("GET", "/nothing", 404),
        ("GET", "/chat/completions", 405),
        ("PUT", "/models", 501),
    ],
)
def test_unknown_paths_and_methods_get_openai_s_error(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    response = client.request(method, path, json={})
    assert status == response.status_code
    assert "invalid_request_error" == response.json()["error"]["type"]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /v1/models HTTP/9.9\r\n\r\n", b"505"),
    ],
)
def test_a_broken_request_is_refused_and_the_connection_closed(client: httpx.Client, raw: bytes, status: bytes) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port or 0), timeout=10) as connection:
        connection.sendall(raw)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    assert status in answer[:400]
    assert b"invalid_request_error" in answer


def test_a_connection_is_kept_alive(client: httpx.Client) -> None:
    connection = http.client.HTTPConnection(client.base_url.host, client.base_url.port or 0, timeout=10)
    ports = set()
    for _ in range(3):
        connection.request("POST", "/v1/chat/completions", body=json.dumps(BODY))
        assert b"chat.completion" in connection.getresponse().read()
        ports.add(connection.sock.getsockname()[1])
    connection.close()
    assert 1 == len(ports)


def test_a_failing_policy_is_an_error_body_too() -> None:
    def broken(body: Any) -> dict[str, Any]:
        raise KeyError("x")

    with StandInServer(broken) as server:
        response = httpx.post(f"{server.url}/chat/completions", json=BODY, trust_env=False)
    assert "KeyError" in response.json()["error"]["message"]


def test_leaving_frees_the_port_and_ends_all_threads_though_a_client_stays_connected() -> None:
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt), StandInServer() as server:
        port = urlsplit(server.url).port or 0
        idle = socket.create_connection(("127.0.0.1", port), timeout=10)
        assert 200 == httpx.get(f"{server.url}/models", trust_env=False).status_code
        raise KeyboardInterrupt
    assert b"" == idle.recv(10)
    idle.close()
    assert before >= set(threading.enumerate())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    with pytest.raises(RuntimeError, match="not running"):
        server.url
