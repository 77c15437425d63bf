"""Keep remarks on `__all__` out of the strict build: of the lines' modules it is worked out when they are imported."""

import logging
from typing import Any


def _is_no_fault(record: logging.LogRecord) -> bool:
    return "Unsupported item in reasonact.v3" in record.getMessage()


def on_startup(**_: Any) -> None:
    """Filter what the reader of the sources says, before it reads."""
    logging.getLogger("mkdocs.plugins.griffe").addFilter(lambda record: not _is_no_fault(record))
