"""A module's run as a stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.modules.commands import CallModule
from reasonact.runtime.drive import adrive, drive, run_coroutine, to_thread
from reasonact.runtime.events import Event, OutputText, RunFinished, RunStarted, emit, listening
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.handoff import Handoff
from reasonact.runtime.stream import astream, stream

Kinds = type[Any] | Iterable[type[Any]] | None
Fields = str | Iterable[str] | None


class Choice:
    """Which events of a run its reader wants to see.

    Args:
        module: The module that is streamed.
        kinds: Classes of events; None for all.
        fields: Names of output fields; None for all. Events of other kinds have no field and are not touched.

    Raises:
        TypeError: What is given names no classes or fields.
    """

    def __init__(self, module: Any, kinds: Kinds, fields: Fields) -> None:
        self._module = module
        self._kinds = _classes(kinds)
        self._fields = _names(fields)
        self.running = False

    def __call__(self, event: Event) -> bool:
        """Whether an event is wanted."""
        if self._kinds is not None and not isinstance(event, self._kinds):
            return False
        if isinstance(event, OutputText):
            return self._fields is None or event.field in self._fields
        # The stream itself tells of the start and end of its module; an agent does too.
        return not (self.running and isinstance(event, (RunStarted, RunFinished)) and event.source is self._module)


@dataclass(frozen=True, slots=True)
class Streamed:
    """A call of a module that is to be streamed.

    Args:
        module: The module.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        kinds: See `Choice`.
        fields: See `Choice`.
        base: The class in which ``forward`` and ``aforward`` are still unwritten.
    """

    module: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    kinds: Kinds
    fields: Fields
    base: type[Any]

    def events(self) -> Generator[Event, None, None]:
        """The events of the run in a thread of its own."""
        choice, handoff = self._chosen()
        flow = _told(self, handoff, choice)
        if self._writes("forward") or not self._writes("aforward"):
            return stream(lambda: drive(flow), handoff)
        return stream(lambda: run_coroutine(adrive(flow)), handoff)

    def aevents(self) -> AsyncIterator[Event]:
        """The events of the run in a task of its own."""
        choice, handoff = self._chosen()
        flow = _told(self, handoff, choice)
        if self._writes("aforward") or not self._writes("forward"):
            return astream(lambda: adrive(flow), handoff)
        return astream(lambda: to_thread(drive, flow), handoff)

    def _writes(self, name: str) -> bool:
        return name in vars(self.module) or getattr(type(self.module), name) is not getattr(self.base, name)

    def _chosen(self) -> tuple[Choice, Handoff[Event]]:
        choice = Choice(self.module, self.kinds, self.fields)
        return choice, Handoff(choice)


def streamed(
    module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], kinds: Any, fields: Any, base: type[Any]
) -> Streamed:
    """Take the arguments of ``stream`` apart.

    Args:
        module: The module.
        args: Its positional arguments.
        kwargs: Its keyword arguments.
        kinds: A filter, or the input of that name where the module's signature has one.
        fields: As ``kinds``.
        base: The class in which ``forward`` and ``aforward`` are still unwritten.

    Returns:
        The call.
    """
    inputs = getattr(getattr(module, "signature", None), "input_fields", {})
    given = dict(kwargs)
    filters = {"kinds": kinds, "fields": fields}
    for name in [name for name in filters if name in inputs]:
        given[name] = filters.pop(name)
    return Streamed(module, args, given, filters.get("kinds"), filters.get("fields"), base)


def _told(this: Streamed, handoff: Handoff[Event], choice: Choice) -> Flow[None]:
    module = this.module
    inputs = {**({"args": this.args} if this.args else {}), **this.kwargs}
    with listening(handoff, live=True):
        yield from emit(RunStarted(type(module).__name__, inputs, source=module))
        choice.running = True
        prediction = yield from call(CallModule(module, this.args, this.kwargs))
        choice.running = False
        yield from emit(RunFinished(prediction, source=module))


def _classes(kinds: Kinds) -> tuple[type[Any], ...] | None:
    if kinds is None:
        return None
    classes = (kinds,) if isinstance(kinds, type) else tuple(kinds)
    wrong = [kind for kind in classes if not isinstance(kind, type)]
    if wrong:
        raise TypeError(f"kinds={wrong[0]!r} is no class of events, such as reasonact.streaming.OutputText")
    return classes


def _names(fields: Fields) -> frozenset[str] | None:
    if fields is None:
        return None
    names = frozenset((fields,) if isinstance(fields, str) else fields)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"fields={wrong[0]!r} is no name of an output field")
    return names
