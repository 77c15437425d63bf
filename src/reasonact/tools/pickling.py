"""How a tool's callable goes through pickle.

A function that pickle finds by its name goes by its name. What has none, or holds a lock
or a connection, is shared: within this process the unpickled tool calls the very same
callable. Elsewhere it is the copy that cloudpickle could make, if it could.
"""

from __future__ import annotations

import contextvars
import importlib
import itertools
import pickle
import secrets
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

_PROCESS: Final = secrets.token_hex(8)
_numbers: Final = itertools.count()
_shared: Final[weakref.WeakValueDictionary[str, Callable[..., Any]]] = weakref.WeakValueDictionary()
_leaving: contextvars.ContextVar[bool] = contextvars.ContextVar("reasonact_pickle_leaves_the_process", default=False)


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


@dataclass(frozen=True, slots=True)
class SharedCallable:
    """A callable that pickle cannot take along; unpickling gives the callable itself."""

    func: Callable[..., Any]

    def __reduce__(self) -> tuple[Any, ...]:
        key = f"{_PROCESS}.{next(_numbers)}"
        try:
            _shared[key] = self.func
        except TypeError:  # an object that takes no weak references
            pass
        return _found, (key, _by_value(self.func), repr(self.func))


@contextmanager
def for_another_process() -> Iterator[None]:
    """Pickle callables whole in the block, or fail: what is written is to be read elsewhere."""
    token = _leaving.set(True)
    try:
        yield
    finally:
        _leaving.reset(token)


def picklable(func: Callable[..., Any]) -> Callable[..., Any] | DecoratedName | SharedCallable:
    """What to pickle for a callable.

    Args:
        func: A tool's callable.

    Returns:
        Its `DecoratedName` where a decorator has put the tool in its place; itself where
        pickle can take it; else a `SharedCallable`.
    """
    holder = _by_name(func)
    if func is holder:
        return func
    if getattr(holder, "func", None) is func and not (_leaving.get() and func.__module__ == "__main__"):
        return DecoratedName(str(func.__module__), str(func.__qualname__))
    if _leaving.get():
        return func
    try:
        pickle.dumps(func)
    except Exception:  # a __reduce__ of the program's own may raise anything
        return SharedCallable(func)
    return func


def _by_name(func: Callable[..., Any]) -> object:
    module, qualname = getattr(func, "__module__", None), getattr(func, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        return None
    holder: Any = sys.modules.get(module)
    for part in qualname.split("."):
        holder = getattr(holder, part, None)
    return holder


def _by_value(func: Callable[..., Any]) -> bytes | None:
    try:
        import cloudpickle

        content: bytes = cloudpickle.dumps(func)
    except Exception:  # not installed, or the callable holds what cannot leave the process
        return None
    return content


def _found(key: str, content: bytes | None, shown: str) -> Callable[..., Any]:
    func = _shared.get(key)
    if func is not None:
        return func
    if content is None:
        raise ValueError(
            f"the pickled tool calls {shown}, which exists only in the process that pickled it; "
            "make it a function of a module to take it along"
        )
    copied: Callable[..., Any] = pickle.loads(content)
    return copied
