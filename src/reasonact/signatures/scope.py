"""Where the names of types are looked up: the code that makes the signature, then the type system.

A string cannot carry its scope along, so it is read off the call stack, as DSPy does.
Frames of this library are passed over: ``Predict("a: Mine -> b")`` sees what its caller sees.
"""

from __future__ import annotations

import builtins
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, NoneType
from typing import Any, Final

from pydantic.fields import FieldInfo

_PACKAGE: Final = __name__.partition(".")[0]
_OWN_ALIASES: Final = ("dspy", _PACKAGE)

BUILTIN_TYPES: Final[Mapping[str, Any]] = {
    "NoneType": NoneType,
    **{
        kind.__name__: kind
        for kind in (bool, bytearray, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple, type)
    },
}
"""Types that every signature string can name."""


def caller_scope(custom_types: Mapping[str, Any] | None) -> Callable[[str], Any]:
    """Make the look-up for the strings of the code that is calling this library now.

    Args:
        custom_types: Types by name; they go before everything else.

    Returns:
        A function from a name to its value, which raises LookupError where there is none.
        It holds no frame: call it only below the call that made it.
    """

    def find(name: str) -> Any:
        if custom_types and name in custom_types:
            return custom_types[name]
        if name in BUILTIN_TYPES:
            return BUILTIN_TYPES[name]
        caller = next(_outer_frames(), None)
        if caller is not None:
            for names in (caller.f_locals, caller.f_globals):
                if name in names:
                    return names[name]
        if name in typing.__all__:
            return getattr(typing, name)
        for frame in _outer_frames():
            for names in (frame.f_locals, frame.f_globals):
                if name in names:
                    return names[name]
        if name in _OWN_ALIASES:
            return sys.modules[_PACKAGE]
        if name in sys.modules:
            return sys.modules[name]  # `datetime.date` needs no import of its own where the module is there
        raise LookupError(name)

    return find


def _outer_frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module != _PACKAGE and not module.startswith(f"{_PACKAGE}."):
            yield frame
        frame = frame.f_back


class ClassBodyNames(Mapping[str, Any]):
    """The local names that an annotation of a class body, kept as text, may use.

    Args:
        body: The names of the class body itself.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self._frames = list(_outer_frames())  # now: evaluating an annotation puts a frame of its own on the stack

    def __getitem__(self, name: str) -> Any:
        if name in self._body and not isinstance(self._body[name], FieldInfo):  # `date: date = InputField()`
            return self._body[name]
        for frame in self._frames:
            if name in frame.f_locals:
                return frame.f_locals[name]
            if name in frame.f_globals or hasattr(builtins, name):
                break
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._body)

    def __len__(self) -> int:
        return len(self._body)
