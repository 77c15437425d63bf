"""The name under which a tool is offered to a provider."""

from __future__ import annotations

import re
import zlib
from typing import Final

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def safe_name(name: str) -> str:
    """A name as every provider takes it: letters, digits, ``_``, ``-``, at most 64 of them.

    Args:
        name: Any name.

    Returns:
        The name itself where it is safe; otherwise one that ends in a checksum of it, so that two
        names never meet.
    """
    if _SAFE.fullmatch(name):
        return name
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:55] or "tool"
    return f"{readable}_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"
