"""Callbacks: a program's own code at the start and end of modules, models, tools and adapters.

An object is observed where its class names a ``callback_kind`` (``"module"``, ``"lm"``,
``"tool"``, ``"adapter_format"`` and so on); `observed` brackets the work with the hooks
of that kind. Hooks are DSPy's; those for compiling and interpreters are there to be
overridden by programs that do, and are never called.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import logging
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from reasonact.runtime.settings import settings

logger = logging.getLogger("reasonact.callbacks")

ACTIVE_CALL_ID: contextvars.ContextVar[str | None] = contextvars.ContextVar("reasonact_active_call_id", default=None)

F = TypeVar("F", bound=Callable[..., Any])


class BaseCallback:
    """Override the hooks you need; pass objects of it in ``configure(callbacks=[...])`` or to one object.

    Each start hook gets ``call_id``, the object and its inputs; each end hook the same
    ``call_id``, the outputs (None on failure) and the exception, if any: what ends a run
    from outside too (KeyboardInterrupt, CancelledError), though the type is DSPy's. During
    the call ``ACTIVE_CALL_ID`` holds the id; in a start hook it still holds the parent's.
    What a hook raises is logged and changes nothing.
    """

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A module is about to run."""

    def on_module_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        """A module has run."""

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A language model is about to be asked."""

    def on_lm_end(self, call_id: str, outputs: dict[str, Any] | None, exception: Exception | None = None) -> None:
        """A language model has answered."""

    def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """An adapter is about to render messages."""

    def on_adapter_format_end(
        self, call_id: str, outputs: dict[str, Any] | None, exception: Exception | None = None
    ) -> None:
        """An adapter has rendered messages."""

    def on_adapter_parse_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """An adapter is about to read a completion."""

    def on_adapter_parse_end(
        self, call_id: str, outputs: dict[str, Any] | None, exception: Exception | None = None
    ) -> None:
        """An adapter has read a completion."""

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A tool is about to run."""

    def on_tool_end(self, call_id: str, outputs: dict[str, Any] | None, exception: Exception | None = None) -> None:
        """A tool has run."""

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """An evaluation is about to run."""

    def on_evaluate_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        """An evaluation has run."""

    def on_compile_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Never called: this library compiles nothing."""

    def on_compile_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        """Never called: this library compiles nothing."""

    def on_interpreter_execute_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_execute_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_tool_call_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_tool_call_end(
        self, call_id: str, outputs: Any | None, exception: Exception | None = None
    ) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_startup_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_startup_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_shutdown_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Never called: there is no interpreter here."""

    def on_interpreter_shutdown_end(
        self, call_id: str, outputs: Any | None, exception: Exception | None = None
    ) -> None:
        """Never called: there is no interpreter here."""


class observed:
    """Bracket some work with the start and end hooks of a kind.

    Entering gives the object itself; what the block puts into its ``outputs`` is reported. A
    class and no generator function, as a turn of an agent has six of these and mostly nobody
    who listens.

    Args:
        kind: The middle of the hooks' names: ``module``, ``lm``, ``tool``,
            ``adapter_format``, ``adapter_parse`` or ``evaluate``.
        instance: The object at work; callbacks of its own come after the global ones.
        inputs: What it was given, by argument name.
    """

    __slots__ = ("_call_id", "_callbacks", "_inputs", "_instance", "_kind", "_token", "outputs")

    def __init__(self, kind: str, instance: Any, inputs: dict[str, Any]) -> None:
        self._kind, self._instance, self._inputs = kind, instance, inputs
        self.outputs: Any = None

    def __enter__(self) -> observed:
        instance = self._instance
        self._callbacks = callbacks = [*(settings.callbacks or ()), *(getattr(instance, "callbacks", None) or ())]
        if callbacks:
            self._call_id = uuid.uuid4().hex
            hook = f"on_{self._kind}_start"
            _notify(callbacks, hook, call_id=self._call_id, instance=instance, inputs=self._inputs)
            self._token = ACTIVE_CALL_ID.set(self._call_id)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if self._callbacks:
            ACTIVE_CALL_ID.reset(self._token)
            outputs = self.outputs if error is None else None
            hook = f"on_{self._kind}_end"
            _notify(self._callbacks, hook, call_id=self._call_id, outputs=outputs, exception=error)


def _notify(callbacks: list[Any], hook: str, **arguments: Any) -> None:
    for callback in callbacks:
        called = getattr(callback, hook, None)
        if called is None:  # a class of the program's own that has only the hooks it needs
            continue
        try:
            called(**arguments)
        except Exception as error:
            logger.warning("%s.%s raised and was passed over: %r", type(callback).__name__, hook, error)


def with_callbacks(func: F) -> F:
    """Report every call of a method to the callbacks, by the ``callback_kind`` of its class.

    For classes of a program's own; the library's classes report by themselves.

    Args:
        func: A method, sync or async, of a class that has a ``callback_kind``.

    Returns:
        The method, reporting.
    """
    signature = inspect.signature(func)

    def arguments(instance: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(instance, *args, **kwargs).arguments
        return dict(list(bound.items())[1:])

    def kind_of(instance: Any) -> str:
        kind = getattr(instance, "callback_kind", "module")
        return f"adapter_{func.__name__}" if kind == "adapter" else kind

    if inspect.iscoroutinefunction(func):

        @functools.wraps(func)
        async def areported(instance: Any, *args: Any, **kwargs: Any) -> Any:
            with observed(kind_of(instance), instance, arguments(instance, args, kwargs)) as call:
                call.outputs = await func(instance, *args, **kwargs)
            return call.outputs

        return areported  # type: ignore[return-value]

    @functools.wraps(func)
    def reported(instance: Any, *args: Any, **kwargs: Any) -> Any:
        with observed(kind_of(instance), instance, arguments(instance, args, kwargs)) as call:
            call.outputs = func(instance, *args, **kwargs)
        return call.outputs

    return reported  # type: ignore[return-value]
