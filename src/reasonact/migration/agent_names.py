"""The agents under the names that they have in a line of DSPy.

In 3.5 the name ReAct goes to the structured agent, and ReActV2 becomes an alias of it
that warns. The alias makes plain objects of the structured agent, so that what was made
by either name is of one class, in every line.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any, ClassVar, Final, TypeVar, cast

from reasonact.agents.react import ReAct as TrajectoryReAct
from reasonact.agents.react_v2 import ReActV2 as StructuredReAct

__all__ = ["ReActV2", "StructuredReAct", "TrajectoryReAct"]

T = TypeVar("T")

_RENAMED: Final = "ReActV2 is named ReAct since 3.5, and the old name goes in 3.6: write ReAct"


class _Alias(type(StructuredReAct)):  # type: ignore[misc]
    """The class of a name that stands for `StructuredReAct`. Subclasses of it are ordinary agents."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(name, bases, namespace, **kwargs)
        if any(base.__dict__.get("_renamed") for base in bases):
            _warn_at(sys._getframe(1))

    def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:
        if cls is not ReActV2:
            return cast(T, super().__call__(*args, **kwargs))  # type: ignore[misc]
        _warn_at(sys._getframe(1))
        return cast(T, StructuredReAct(*args, **kwargs))

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, StructuredReAct) if cls is ReActV2 else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, StructuredReAct) if cls is ReActV2 else super().__subclasscheck__(subclass)


class ReActV2(StructuredReAct, metaclass=_Alias):
    """The structured agent under its old name; see `reasonact.v35.ReAct`."""

    _renamed: ClassVar[bool] = True


ReActV2.__module__ = "reasonact.v35"


def _warn_at(caller: FrameType) -> None:
    """Warn at a line of the program, once for each line, whatever the filters."""
    registry = caller.f_globals.setdefault("__warningregistry__", {})
    site = (_RENAMED, DeprecationWarning, caller.f_lineno)
    if site in registry:
        return
    warnings.warn_explicit(
        _RENAMED,
        DeprecationWarning,
        caller.f_code.co_filename,
        caller.f_lineno,
        caller.f_globals.get("__name__", "<unknown>"),
        registry,
    )
    registry[site] = True
