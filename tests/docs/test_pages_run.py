"""Every Python block of README.md and docs/ runs, in order, one namespace a page.

A model's part is played by an OpenAI-compatible server on 127.0.0.1. What it says stands in
a comment before the block, out of the reader's sight::

    <!-- replies: ["text", {"tool_calls": [{"name": "add", "args": {"a": 1}}]}] -->
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import reasonact
from reasonact.runtime.settings import DEFAULTS

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.joinpath("docs").rglob("*.md")])
PART = re.compile(
    r"<!-- replies: (?P<replies>.*?) -->|^(?P<indent>[ ]*)```python[^\n]*\n(?P<code>.*?)^[ ]*```",
    re.DOTALL | re.MULTILINE,
)


def _parts(page: Path) -> list[tuple[int, Any, str | None]]:
    text = page.read_text(encoding="utf-8")
    parts: list[tuple[int, Any, str | None]] = []
    for match in PART.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        if match["replies"] is not None:
            parts.append((line, json.loads(match["replies"]), None))
        else:
            indent = len(match["indent"])
            parts.append((line, None, "\n".join(row[indent:] for row in match["code"].split("\n"))))
    return parts


def _message(reply: Any) -> dict[str, Any]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    calls = [
        {
            "id": call.get("id", f"call_{index}_{abs(hash(json.dumps(call))) % 10_000}"),
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call.get("args", {}))},
        }
        for index, call in enumerate(reply["tool_calls"])
    ]
    return {"role": "assistant", "content": reply.get("content"), "tool_calls": calls}


def _server_sent(message: dict[str, Any], usage: dict[str, int]) -> str:
    """A message as a stream of chunks, a few characters in each."""
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in _pieces(message["content"] or "")]
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{**call, "index": index, "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini"}
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    chunks = [{**head, "choices": [choice]} for choice in choices] + [{**head, "choices": [], "usage": usage}]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


@pytest.fixture
def model(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    replies: list[Any] = []

    def answer(request: Request) -> Response:
        if not replies:
            return Response(json.dumps({"error": {"message": "the page asks more than its replies say"}}), status=400)
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        message = _message(replies.pop(0))
        if (request.json or {}).get("stream"):
            return Response(_server_sent(message, usage), content_type="text/event-stream")
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage,
        }
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
    monkeypatch.setenv("OPENAI_API_BASE", httpserver.url_for("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return replies


@pytest.fixture(autouse=True)
def settings_as_they_were(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    yield
    reasonact.configure(**DEFAULTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_python_block_of_a_page_runs(page: Path, model: list[Any]) -> None:
    namespace: dict[str, Any] = {"__name__": "page"}
    for line, replies, code in _parts(page):
        if code is None:
            assert [] == model, f"{page.name}:{line}: replies are left over from the block before"
            model.extend(replies)
        else:
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    assert [] == model, f"{page.name}: replies are left over"
