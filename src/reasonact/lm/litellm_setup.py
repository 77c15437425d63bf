"""LiteLLM, imported once, at the first call, and kept quiet and offline.

What the user's environment says (``LITELLM_LOCAL_MODEL_COST_MAP``, ``LITELLM_LOG``,
``LITELLM_TELEMETRY``) stands.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import threading
from typing import Any, Final

_LOGGERS: Final = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
_lock: Final = threading.Lock()
_loaded: Final[list[Any]] = []


def get_litellm() -> Any:
    """The module ``litellm``, imported and set up on the first call.

    Returns:
        The module.

    Raises:
        ImportError: LiteLLM is not installed.
    """
    if _loaded:
        return _loaded[0]
    with _lock:
        if not _loaded:
            _loaded.append(_load())
    return _loaded[0]


def _load() -> Any:
    ours_alone = "litellm" not in sys.modules
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else its import fetches a price list
    module: Any = importlib.import_module("litellm")
    if "LITELLM_LOG" not in os.environ:
        module.suppress_debug_info = True
        disable_litellm_logging()
    if "LITELLM_TELEMETRY" not in os.environ:
        module.telemetry = False
    if ours_alone:  # it costs a thread's work per chunk; a program that uses LiteLLM itself may want it
        module.disable_streaming_logging = True
    return module


def enable_litellm_logging() -> None:
    """Let LiteLLM log everything, down to the requests it sends."""
    get_litellm().suppress_debug_info = False
    _set_level(logging.DEBUG)  # after the import, which sets the levels itself


def disable_litellm_logging() -> None:
    """Let LiteLLM log errors alone: what fails is raised as an error of the library anyway."""
    _set_level(logging.ERROR)


def _set_level(level: int) -> None:
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(level)
