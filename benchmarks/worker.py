"""A process of its own for one side of a comparison.

The suite asks a worker to call a function, named ``module:function``, with arguments that
JSON can hold; the answer comes back the same way. A worker lives as long as its suite, so
imports and warm-up are paid once and outside every sample.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent


def environment() -> dict[str, str]:
    """The environment of every side: no price list is fetched, and compiled modules are kept as users keep them."""
    ours = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", **os.environ}
    ours.pop("PYTHONDONTWRITEBYTECODE", None)
    return ours


class Worker:
    """A Python process that answers calls, one at a time; a context manager that ends it."""

    def __enter__(self) -> Worker:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def ask(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Have a function of a suite called over there.

        Args:
            function: A public function of a module of this package.
            **arguments: Its arguments, as JSON can hold them.

        Returns:
            Its result, by way of JSON.

        Raises:
            RuntimeError: It raised, or the process died; the text says what.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        command = {"function": f"{function.__module__}:{function.__qualname__}", "arguments": arguments}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"failed": "the process died"}')
        if "failed" in answer:
            raise RuntimeError(f"{command['function']}({arguments}) failed:\n{answer['failed']}")
        return answer["result"]


def serve() -> None:
    """Answer commands from standard input until it ends."""
    logging.disable(logging.WARNING)
    answers, sys.stdout = sys.stdout, sys.stderr
    for text in sys.stdin:
        command = json.loads(text)
        module, _, name = command["function"].partition(":")
        try:
            answer = {"result": getattr(import_module(module), name)(**command["arguments"])}
        except Exception:
            answer = {"failed": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
