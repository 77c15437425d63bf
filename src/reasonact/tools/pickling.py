"""How a tool's callable goes through pickle when its global name holds the tool itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DecoratedName:
    """The global name of a decorated function: there the tool stands, and in it the function."""

    module: str
    qualname: str

    def resolve(self) -> Callable[..., Any]:
        """The function that the tool of that name calls.

        Raises:
            ImportError: The module is gone.
            AttributeError: The name is gone.
        """
        holder: Any = importlib.import_module(self.module)
        for part in self.qualname.split("."):
            holder = getattr(holder, part)
        func: Callable[..., Any] = holder.func
        return func


def picklable(func: Callable[..., Any]) -> Callable[..., Any] | DecoratedName:
    """What to pickle for a callable.

    Args:
        func: A tool's callable.

    Returns:
        Its `DecoratedName` where a decorator has put the tool in its place, else itself.
    """
    module, qualname = getattr(func, "__module__", None), getattr(func, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        return func
    holder: Any = sys.modules.get(module)
    for part in qualname.split("."):
        holder = getattr(holder, part, None)
    return DecoratedName(module, qualname) if holder is not func and getattr(holder, "func", None) is func else func
