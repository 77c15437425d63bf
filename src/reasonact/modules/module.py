"""Module: what programs subclass, and how one is called.

`__call__` and `acall` run one flow (`reported`): callbacks at start and end, the stack of
calling modules, usage. The flow's only command, `RunForward`, runs `forward` or
`aforward`, so an override of either wins on its own path, as in DSPy.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, ParamSpec, Protocol, TextIO, TypeVar, cast, overload

from reasonact.modules.attribute_path import set_attribute_by_name
from reasonact.modules.base_module import BaseModule
from reasonact.runtime.callbacks import BaseCallback, observed
from reasonact.runtime.deferred import deferred
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.settings import settings

if TYPE_CHECKING:
    from reasonact.lm import inspect_history as history_pages
    from reasonact.lm import usage
    from reasonact.modules import execute, module_batch, progress, streamed
    from reasonact.modules.streamed import Fields, Kinds
    from reasonact.runtime.events import Event
    from reasonact.types import prediction as predictions
else:
    history_pages = deferred("reasonact.lm.inspect_history")
    usage = deferred("reasonact.lm.usage")
    execute = deferred("reasonact.modules.execute")
    module_batch = deferred("reasonact.modules.module_batch")
    progress = deferred("reasonact.modules.progress")
    streamed = deferred("reasonact.modules.streamed")
    predictions = deferred("reasonact.types.prediction")

logger = logging.getLogger("reasonact.modules")

__all__ = ["BaseModule", "Module", "RunForward", "call_module", "reported"]

M = TypeVar("M", bound="Module")
P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class _Forwards(Protocol[P, T_co]):
    """What a call takes and returns, as type checkers read it from the class's own ``forward``."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class _Aforwards(Protocol[P, T_co]):
    """The same of ``acall`` and ``aforward``."""

    def aforward(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T_co]: ...


class _ModuleMeta(type):
    def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:  # the instance, or type checkers take it for anything
        # A subclass that forgets super().__init__() still gets a module's own attributes.
        module: Any = cls.__new__(cls, *args, **kwargs)
        if isinstance(module, cls):
            if isinstance(module, Module):
                module._base_init()
            module.__init__(*args, **kwargs)  # type: ignore[misc]
        return cast(T, module)


class Module(BaseModule, metaclass=_ModuleMeta):
    """Base class of programs: define ``forward`` (and ``aforward``), call the object.

    Args:
        callbacks: Callbacks for this object alone, after the global ones.
    """

    callback_kind: ClassVar[str] = "module"
    records: ClassVar[frozenset[str]] = frozenset(("callbacks", "history"))
    callbacks: list[BaseCallback]
    history: list[dict[str, Any]]
    _compiled: bool
    _half_overrides_said: ClassVar[set[str]] = set()

    def __init__(self, callbacks: list[BaseCallback] | None = None) -> None:
        self.callbacks = list(callbacks or [])
        self._compiled = False
        self.history = []

    def _base_init(self) -> None:
        self._compiled = False
        self.callbacks = []
        self.history = []

    def __call__(self: _Forwards[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``forward`` and report the run to callbacks and usage trackers."""
        result: T = drive(call_module(cast(Module, self), args, kwargs))
        return result

    async def acall(self: _Aforwards[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``aforward``; otherwise as calling the object."""
        result: T = await adrive(call_module(cast(Module, self), args, kwargs))
        return result

    def stream(
        self, /, *args: Any, kinds: Kinds = None, fields: Fields = None, **kwargs: Any
    ) -> Generator[Event, None, None]:
        """Run the module, and see what happens while it happens: ``for event in module.stream(...)``.

        The run goes on while the next event is waited for, in a thread of its own with the
        caller's settings. Leaving the loop ends it.

        Args:
            *args: As for a call.
            kinds: Classes of events to see; by default all. See ``reasonact.streaming``.
            fields: Names of output fields whose text to see; by default all.
            **kwargs: As for a call. Where the signature has an input ``kinds`` or
                ``fields``, these are that, and there is no such filter.

        Returns:
            A generator of events: `RunStarted` first, `RunFinished` with the prediction last.

        Raises:
            TypeError: A filter names no classes or fields.
            BaseException: What a call raises, after the events before it.
        """
        return streamed.streamed(self, args, kwargs, kinds, fields, Module).events()

    def astream(self, /, *args: Any, kinds: Kinds = None, fields: Fields = None, **kwargs: Any) -> AsyncIterator[Event]:
        """As `stream`, on the running event loop: ``async for event in module.astream(...)``."""
        return streamed.streamed(self, args, kwargs, kinds, fields, Module).aevents()

    @overload
    def aexecute(self, /, *, stream: Literal[False] = False, **inputs: Any) -> Awaitable[Any]: ...

    @overload
    def aexecute(self, /, *, stream: Literal[True], **inputs: Any) -> AsyncIterator[Any]: ...

    def aexecute(self, /, *, stream: bool = False, **inputs: Any) -> Awaitable[Any] | AsyncIterator[Any]:
        """Run the module in the form of udspy.

        Args:
            stream: Whether to get the answer in pieces.
            **inputs: As for a call.

        Returns:
            An awaitable of the prediction; with ``stream`` an async iterator of
            `OutputStreamChunk`, the thought of an agent as field ``reasoning``, and of the
            prediction at the end.
        """
        return execute.executed(self.astream(**inputs), self) if stream else self.acall(**inputs)

    def forward(self, /, *args: Any, **kwargs: Any) -> Any:
        """What the module does. Override it.

        Raises:
            NotImplementedError: The subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no forward(); a sync call needs one")

    async def aforward(self, /, *args: Any, **kwargs: Any) -> Any:
        """What the module does under ``acall``. Override it for async programs.

        Raises:
            NotImplementedError: The subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no aforward(); acall() needs one")

    def named_predictors(self) -> list[tuple[str, Any]]:
        """Every `Predict` below this module with its path."""
        return [(name, p) for name, p in self.named_parameters() if getattr(p, "is_predictor", False)]

    def predictors(self) -> list[Any]:
        """The predictors of `named_predictors` without their paths."""
        return [predictor for _, predictor in self.named_predictors()]

    def map_named_predictors(self: M, func: Callable[[Any], Any]) -> M:
        """Put ``func(predictor)`` in the place of every predictor, and return this module."""
        replaced = [(path, func(found)) for path, found in self.named_predictors()]
        for path, found in replaced:
            set_attribute_by_name(self, path, found)
        return self

    def set_lm(self, lm: Any) -> None:
        """Make every predictor below this module use ``lm``."""
        for predictor in self.predictors():
            predictor.lm = lm

    def get_lm(self) -> Any:
        """The one LM that all predictors use.

        Raises:
            ValueError: They use different ones.
        """
        lms = [predictor.lm for predictor in self.predictors()]
        if lms and all(lm is lms[0] for lm in lms):
            return lms[0]
        raise ValueError(f"{type(self).__name__} has no one LM: its {len(lms)} predictors do not share it")

    def batch(
        self,
        examples: Iterable[Any],
        num_threads: int | None = None,
        max_errors: int | None = None,
        return_failed_examples: bool = False,
        provide_traceback: bool | None = None,
        disable_progress_bar: bool = False,
        timeout: int = 120,
        straggler_limit: int = 3,
        resume_file: str | Path | None = None,
    ) -> Any:
        """Call the module for each example, in threads.

        Settings, usage tracking and context variables of the caller hold in the threads.

        Args:
            examples: `Example` objects with their inputs marked, or dicts of inputs.
            num_threads: How many at once; None for the setting of that name.
            max_errors: How many failures end the batch; None for the setting.
            return_failed_examples: Return the inputs of failed examples and their errors too.
            provide_traceback: Whether failures are logged with their traceback.
            disable_progress_bar: Show no bar.
            timeout: Seconds after which one of the last examples is tried a second time,
                the quicker one being kept; 0: never.
            straggler_limit: How many examples may be left for that.
            resume_file: A file of JSON lines, one for each finished example, written at
                once. A batch that finds it goes on behind it, also after a kill. Examples
                are known by position and inputs; failed ones run again.

        Returns:
            The predictions in the order of the examples, None where one failed; with
            ``return_failed_examples`` a tuple of them, the failed examples' inputs and the errors.

        Raises:
            TypeError, ValueError: An example has no inputs marked or is none, or a number
                is negative, or the file holds something else.
            TooManyErrors: ``max_errors`` of them failed; ``results`` is on it.
            KeyboardInterrupt: Ctrl-C; ``results`` is on it.
            OSError: The file cannot be written.
        """
        return module_batch.run_batch(
            self,
            examples,
            num_threads=num_threads,
            timeout=timeout,
            straggler_limit=straggler_limit,
            return_failed_examples=return_failed_examples,
            max_errors=max_errors,
            provide_traceback=provide_traceback,
            disable_progress_bar=disable_progress_bar,
            resume_file=resume_file,
        )

    async def abatch(
        self,
        examples: Iterable[Any],
        concurrency: int | None = None,
        max_errors: int | None = None,
        return_failed_examples: bool = False,
        provide_traceback: bool | None = None,
        disable_progress_bar: bool = False,
        resume_file: str | Path | None = None,
    ) -> Any:
        """As `batch`, by ``acall`` and as tasks of the running event loop.

        Args:
            concurrency: How many at once; None for the setting ``async_max_workers``.

        Raises:
            CancelledError: The caller was cancelled; ``results`` is on it.
        """
        return await module_batch.arun_batch(
            self,
            examples,
            concurrency=concurrency,
            return_failed_examples=return_failed_examples,
            max_errors=max_errors,
            provide_traceback=provide_traceback,
            disable_progress_bar=disable_progress_bar,
            resume_file=resume_file,
        )

    def inspect_history(self, n: int = 1, file: TextIO | None = None) -> None:
        """Print the last ``n`` model calls made inside this module.

        Args:
            n: How many.
            file: Where to; by default the terminal, in colours.
        """
        history_pages.pretty_print_history(self.history, n, file=file)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["history"], state["callbacks"] = [], []  # records and observers stay where they are
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._base_init()
        vars(self).update(state)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {predictor!r}" for name, predictor in self.named_predictors())


@dataclass(frozen=True, slots=True)
class RunForward(Command[Any]):
    """Run a module's ``forward`` or ``aforward``, whichever the driver is for."""

    module: Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def run(self) -> Any:
        _warn_of_half_an_override(self.module, overridden="aforward", used="forward")
        return self.module.forward(*self.args, **self.kwargs)

    async def arun(self) -> Any:
        _warn_of_half_an_override(self.module, overridden="forward", used="aforward")
        return await self.module.aforward(*self.args, **self.kwargs)


def _warn_of_half_an_override(module: Module, *, overridden: str, used: str) -> None:
    cls = type(module)
    said: set[str] = cls.__dict__.get("_half_overrides_said") or set()
    if used in said:
        return
    owner = {name: next(c for c in cls.__mro__ if name in c.__dict__) for name in (overridden, used)}
    # A library class defines both; a subclass of it that overrides one has left the other behind.
    if owner[used] is Module or owner[used] is owner[overridden] or not issubclass(owner[overridden], owner[used]):
        return
    cls._half_overrides_said = {*said, used}  # once for each class and path
    logger.warning(
        "%s overrides %s but not %s; this call goes through %s.%s and does not see the override",
        cls.__name__,
        overridden,
        used,
        owner[used].__name__,
        used,
    )


def call_module(module: Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Flow[Any]:
    """The flow behind calling a module."""
    return (yield from reported(module, args, kwargs, call(RunForward(module, args, kwargs))))


def reported(module: Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], body: Flow[Any]) -> Flow[Any]:
    """Run a module's body with its callbacks, caller stack and usage tracking around it.

    Args:
        module: The module at work.
        args: Its positional arguments, for the callbacks.
        kwargs: Its keyword arguments, for the callbacks.
        body: The flow that does the work.

    Returns:
        What the body returns.
    """
    callers = [*(settings.caller_modules or ()), module]
    with (
        settings.context(caller_modules=callers),
        observed("module", module, {"args": args, "kwargs": dict(kwargs)}) as seen,
    ):
        if settings.track_usage and _counts_for_itself():
            with usage.track_usage() as tracker:
                seen.outputs = yield from body
            if isinstance(seen.outputs, predictions.Prediction):
                own = hasattr(seen.outputs, "usage")  # an agent's says more
                seen.outputs.set_lm_usage(tracker.get_total_tokens(), None if own else tracker.summary())
            elif hasattr(seen.outputs, "set_lm_usage"):
                seen.outputs.set_lm_usage(tracker.get_total_tokens())
        else:
            seen.outputs = yield from body
    return seen.outputs


def _counts_for_itself() -> bool:
    outer = settings.usage_tracker
    return outer is None or (isinstance(outer, progress.BatchUsage) and outer.stands_alone)
