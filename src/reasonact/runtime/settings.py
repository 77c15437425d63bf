"""Settings: one process-wide table, and overrides that follow a thread or task.

`configure` changes the table for the whole process, from any thread or task. `context`
lays a set of values over it for the code inside the ``with`` block alone: the overlay
lives in a context variable, so tasks started inside inherit it and others never see it.
"""

from __future__ import annotations

import contextvars
import functools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "lm": None,
        "adapter": None,
        "callbacks": [],
        "track_usage": False,
        "usage_tracker": None,
        "trace": None,  # DSPy fills a process-wide list; here a program that wants a trace gives one
        "max_trace_size": 10_000,
        "disable_history": False,
        "max_history_size": 10_000,
        "caller_predict": None,
        "caller_modules": None,
        "send_stream": None,
        "stream_listeners": [],
        "async_max_workers": 8,
        "num_threads": 8,
        "max_errors": 10,
        "provide_traceback": False,
        "allow_tool_async_sync_conversion": False,
        "warn_on_type_mismatch": True,
        "strict_inputs": False,
        "grow_history_in_place": False,
        "error_traceback_frames": 0,
        "control_flow": (),
        "context_window_patterns": (),
    }
)

_overrides: contextvars.ContextVar[Mapping[str, Any]] = contextvars.ContextVar(
    "reasonact_settings", default=MappingProxyType({})
)


class Settings:
    """Every setting as an attribute, as this thread or task sees it.

    There is one object, ``reasonact.settings``. A value comes from the innermost
    `context` that names it, else from `configure`, else from the defaults. Names beyond
    the defaults may be set too; programs keep values of their own here.
    """

    __slots__ = ("_base", "_lock")

    def __init__(self) -> None:
        self._base: dict[str, Any] = _fresh_defaults()
        self._lock = threading.Lock()

    def configure(self, **values: Any) -> None:
        """Set values for the whole process; overlays of `context` stay above them.

        Args:
            **values: Settings by name.
        """
        with self._lock:  # two threads that set different names both prevail
            self._base = {**self._base, **values}  # one assignment: readers see all of it or none
        overlay = _overrides.get()
        if not overlay.keys().isdisjoint(values):
            # inside a context that names the same setting, the program means what it says now
            _overrides.set(MappingProxyType({k: v for k, v in overlay.items() if k not in values}))

    @contextmanager
    def context(self, **values: Any) -> Iterator[None]:
        """Lay values over the settings for the block, in this thread or task alone.

        Args:
            **values: Settings by name.
        """
        token = _overrides.set(MappingProxyType({**_overrides.get(), **values}))
        try:
            yield
        finally:
            _overrides.reset(token)

    def bind(self, func: Callable[P, T]) -> Callable[P, T]:
        """Make a function that runs with the settings in force now.

        For a thread pool of your own: ``pool.submit(settings.bind(work), item)``.

        Args:
            func: Any callable.

        Returns:
            A callable of the same signature.
        """
        overlay = _overrides.get()

        @functools.wraps(func)
        def bound(*args: P.args, **kwargs: P.kwargs) -> T:
            token = _overrides.set(overlay)
            try:
                return func(*args, **kwargs)
            finally:
                _overrides.reset(token)

        return bound

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a setting, or ``default`` where nothing names it."""
        overlay = _overrides.get()
        return overlay[name] if name in overlay else self._base.get(name, default)

    def copy(self) -> dict[str, Any]:
        """All settings in force here, as a new dict."""
        return {**self._base, **_overrides.get()}

    @property
    def config(self) -> dict[str, Any]:
        """The same as `copy`."""
        return self.copy()

    def __getattr__(self, name: str) -> Any:
        overlay = _overrides.get()
        if name in overlay:
            return overlay[name]
        try:
            return self._base[name]
        except KeyError:
            raise AttributeError(f"there is no setting {name!r}; configure({name}=...) would make one") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            object.__setattr__(self, name, value)
        else:
            self.configure(**{name: value})

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.configure(**{name: value})

    def __contains__(self, name: object) -> bool:
        return name in _overrides.get() or name in self._base

    def __repr__(self) -> str:
        return f"Settings({self.copy()!r})"

    def save(self, path: str | Path, exclude_keys: list[str] | None = None) -> None:
        """Write the settings that JSON can hold to a file.

        Objects (a model, an adapter, callbacks) and everything in ``exclude_keys`` stay out.

        Args:
            path: The file to write.
            exclude_keys: Names to leave out.
        """
        plain = {}
        for name, value in self.copy().items():
            if name in (exclude_keys or ()):
                continue
            try:
                plain[name] = json.loads(json.dumps(value))
            except (TypeError, ValueError):
                continue
        Path(path).write_text(json.dumps(plain, indent=2), encoding="utf-8")

    def load(self, path: str | Path) -> None:
        """Read back what `save` wrote, and set it for the whole process.

        Args:
            path: A file that `save` wrote.

        Raises:
            OSError: The file cannot be read.
            ValueError: It holds no JSON object.
        """
        self.configure(**load_settings(path))


def load_settings(path: str | Path) -> dict[str, Any]:
    """The settings in a file that ``settings.save`` wrote, without setting them.

    Args:
        path: The file.

    Returns:
        Values by name.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds no JSON object.
    """
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(values, dict):
        raise ValueError(f"{path} holds no settings: expected a JSON object, found {type(values).__name__}")
    return values


def _fresh_defaults() -> dict[str, Any]:
    return {name: list(value) if isinstance(value, list) else value for name, value in DEFAULTS.items()}


settings: Final = Settings()
configure: Final = settings.configure
context: Final = settings.context
