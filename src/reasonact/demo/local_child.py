"""The process that serves a model file: llama-cpp-python's OpenAI-compatible server on a free port.

Run as ``python -m reasonact.demo.local_child OPTIONS`` with OPTIONS as one JSON object of
the server's settings. It prints its port as soon as it listens, and ends when its standard
input does: no way in which the parent may end leaves it behind.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from importlib import import_module
from typing import Final

_KEEP_ALIVE: Final = 600  # seconds; a client that thinks between two requests would else meet a closed connection


def main(options: str) -> None:
    """Serve until the parent closes our standard input.

    Args:
        options: JSON text, the fields of ``llama_cpp.server.settings.Settings``.
    """
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what llama.cpp prints belongs to the log
    settings = import_module("llama_cpp.server.settings").Settings(**json.loads(options))
    app = import_module("llama_cpp.server.app").create_app(settings=settings)
    uvicorn = import_module("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], file=answer, flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=_KEEP_ALIVE)).run(
            sockets=[listening]
        )


def _end_with_the_parent() -> None:
    while os.read(0, 1024):  # a lock on `sys.stdin` would break the end of this process
        pass
    os._exit(0)  # an answer in the making is of no use to anybody


if __name__ == "__main__":
    main(sys.argv[1])
