"""Modules that are imported when they are first used, as PEP 810 spells ``lazy import``.

For the few front doors of the library (the agents, modules, LM), so that naming a class
costs next to nothing and what builds and runs one comes when one is built. Type checkers
are shown the real module::

    if TYPE_CHECKING:
        from reasonact.agents import react_loop
    else:
        react_loop = deferred("reasonact.agents.react_loop")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Deferred:
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)

    def __repr__(self) -> str:
        return f"<deferred module {self._name!r}>"


def deferred(name: str) -> Any:
    """A stand-in that imports a module at the first look at one of its attributes.

    Args:
        name: The module's full name.

    Returns:
        An object with the module's attributes.
    """
    return _Deferred(name)
