"""Module: what programs subclass, and how one is called.

`__call__` and `acall` run one flow (`reported`): callbacks at start and end, the stack of
calling modules, usage. The flow's only command, `RunForward`, runs `forward` or
`aforward`, so an override of either wins on its own path, as in DSPy.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TextIO, TypeVar

from reasonact.lm.inspect_history import pretty_print_history
from reasonact.lm.usage import track_usage
from reasonact.modules.attribute_path import set_attribute_by_name
from reasonact.modules.parameter import Parameter
from reasonact.runtime.callbacks import BaseCallback, observed
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.settings import settings

logger = logging.getLogger("reasonact.modules")

B = TypeVar("B", bound="BaseModule")
M = TypeVar("M", bound="Module")


class BaseModule:
    """A tree of modules and parameters, walked by attribute.

    Attributes, and the items of lists, tuples and dicts in them, are visited in order;
    names are paths such as ``steps[0].predict`` or ``by_kind['a']``.
    """

    def named_parameters(self) -> list[tuple[str, Any]]:
        """Every `Parameter` below this module with its path; ``self`` where it is one itself.

        A sub-module that is marked as compiled is passed over: its state is frozen.
        """
        found: list[tuple[str, Any]] = []
        seen: set[int] = set()

        def visit(path: str, value: Any) -> None:
            if isinstance(value, Parameter):
                if id(value) not in seen:
                    seen.add(id(value))
                    found.append((path, value))
            elif isinstance(value, BaseModule):
                if not getattr(value, "_compiled", False) and id(value) not in seen:
                    seen.add(id(value))
                    for name, below in value.__dict__.items():
                        visit(f"{path}.{name}" if path else name, below)
            elif isinstance(value, (list, tuple)):
                for index, below in enumerate(value):
                    visit(f"{path}[{index}]", below)
            elif isinstance(value, dict):
                for key, below in value.items():
                    visit(f"{path}['{key}']", below)

        if isinstance(self, Parameter):
            visit("self", self)
        seen.add(id(self))
        for name, value in self.__dict__.items():
            visit(name, value)
        return found

    def parameters(self) -> list[Any]:
        """The parameters of `named_parameters` without their paths."""
        return [parameter for _, parameter in self.named_parameters()]

    def named_sub_modules(
        self, type_: type[Any] | None = None, skip_compiled: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Every module below this one and itself, with its path from ``self``.

        Args:
            type_: Only modules of this class; by default of any.
            skip_compiled: Leave out what is marked as compiled, and what is below it.

        Yields:
            Pairs of path and module, this one first.
        """
        wanted = type_ or BaseModule
        waiting: list[tuple[str, Any]] = [("self", self)]
        seen = {id(self)}
        while waiting:
            path, value = waiting.pop(0)
            if isinstance(value, wanted):
                yield path, value
            below: list[tuple[str, Any]] = []
            if isinstance(value, BaseModule):
                if not (skip_compiled and getattr(value, "_compiled", False)):
                    below = [(f"{path}.{name}", item) for name, item in value.__dict__.items()]
            elif isinstance(value, (list, tuple)):
                below = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
            elif isinstance(value, dict):
                below = [(f"{path}[{key}]", item) for key, item in value.items()]
            for name, item in below:
                if isinstance(item, (BaseModule, list, tuple, dict)) and id(item) not in seen:
                    seen.add(id(item))
                    waiting.append((name, item))

    def deepcopy(self: B) -> B:
        """A copy in which nothing that is learned or recorded is shared.

        What cannot be copied deeply (a lock, a connection, a client) is copied shallowly,
        or shared where that fails too.
        """
        twin = self.__class__.__new__(self.__class__)
        memo: dict[int, Any] = {id(self): twin}
        for name, value in self.__dict__.items():
            setattr(twin, name, _copied(value, memo))
        return twin

    def reset_copy(self: B) -> B:
        """A deep copy whose parameters are back in their initial state."""
        twin = self.deepcopy()
        for parameter in twin.parameters():
            parameter.reset()
        return twin


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, BaseModule):
        return memo.get(id(value)) or memo.setdefault(id(value), value.deepcopy())
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        try:
            return copy.copy(value)
        except Exception:
            return value


class _ModuleMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # A subclass that forgets super().__init__() still gets a module's own attributes.
        module: Any = cls.__new__(cls, *args, **kwargs)  # type: ignore[arg-type]
        if isinstance(module, cls):
            if isinstance(module, Module):
                module._base_init()
            module.__init__(*args, **kwargs)
        return module


class Module(BaseModule, metaclass=_ModuleMeta):
    """Base class of programs: define ``forward`` (and ``aforward``), call the object.

    Args:
        callbacks: Callbacks for this object alone, after the global ones.
    """

    callback_kind: ClassVar[str] = "module"
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

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` and report the run to callbacks and usage trackers."""
        return drive(call_module(self, args, kwargs))

    async def acall(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run ``aforward``; otherwise as calling the object."""
        return await adrive(call_module(self, args, kwargs))

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
        for name, predictor in self.named_predictors():
            set_attribute_by_name(self, name, func(predictor))
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

    def inspect_history(self, n: int = 1, file: TextIO | None = None) -> None:
        """Print the last ``n`` model calls made inside this module.

        Args:
            n: How many.
            file: Where to; by default the terminal, in colours.
        """
        pretty_print_history(self.history, n, file=file)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["history"], state["callbacks"] = [], []  # records and observers stay where they are
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._base_init()
        self.__dict__.update(state)

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


@dataclass(frozen=True, slots=True)
class CallModule(Command[Any]):
    """Call a module from inside a flow, by its ``__call__`` or ``acall``."""

    module: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def run(self) -> Any:
        return self.module(*self.args, **self.kwargs)

    async def arun(self) -> Any:
        return await self.module.acall(*self.args, **self.kwargs)


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
    with settings.context(caller_modules=callers), observed("module", module, {**_named(args), **kwargs}) as seen:
        if settings.track_usage and settings.usage_tracker is None:
            with track_usage() as tracker:
                seen.outputs = yield from body
            if hasattr(seen.outputs, "set_lm_usage"):
                seen.outputs.set_lm_usage(tracker.get_total_tokens())
        else:
            seen.outputs = yield from body
    return seen.outputs


def _named(args: tuple[Any, ...]) -> dict[str, Any]:
    return {"args": args} if args else {}
