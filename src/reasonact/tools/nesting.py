"""How deeply the arguments of a call may be nested: what is deeper could be neither copied nor stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LIMIT: Final = 100
TOO_DEEP: Final = f"the arguments are nested too deeply: more than {LIMIT} levels"


def is_too_deep(args: Mapping[str, Any]) -> bool:
    """Whether any argument holds lists or objects within one another on more than `LIMIT` levels."""
    level: list[Any] = [value for value in args.values() if isinstance(value, (Mapping, list, tuple))]
    for _ in range(LIMIT):
        if not level:
            return False
        inner = (value for item in level for value in (item.values() if isinstance(item, Mapping) else item))
        level = [value for value in inner if isinstance(value, (Mapping, list, tuple))]
    return bool(level)
