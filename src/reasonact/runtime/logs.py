"""The library's log: silent by default but for warnings, and switched on and off by name.

Records go to loggers below ``reasonact`` and from there wherever the program's logging
sends them. Nothing is set up at import: a library does not configure its user's logging.
"""

from __future__ import annotations

import logging
from typing import Final

_ROOT: Final = "reasonact"
_LINE: Final = "%(asctime)s %(name)s [%(levelname)s] %(message)s"
_ABOVE_ALL: Final = logging.CRITICAL + 1


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """The handler that `configure_dspy_loggers` puts up, so that a second call finds it."""


def disable_logging() -> None:
    """Let nothing of this library be logged, until `enable_logging`."""
    logging.getLogger(_ROOT).setLevel(_ABOVE_ALL)


def enable_logging() -> None:
    """Log again what `disable_logging` held back, from INFO on."""
    logging.getLogger(_ROOT).setLevel(logging.INFO)


def configure_dspy_loggers(root_module_name: str = _ROOT) -> None:
    """Print the log of a package to stderr, with time, level and logger, apart from other logging.

    Args:
        root_module_name: The package; ``dspy`` stands for this library.
    """
    logger = logging.getLogger(_ROOT if root_module_name == "dspy" else root_module_name)
    if not any(isinstance(handler, _Handler) for handler in logger.handlers):
        handler = _Handler()
        handler.setFormatter(logging.Formatter(_LINE, "%Y/%m/%d %H:%M:%S"))
        logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
