"""RunLog: what a run notes about itself as it goes, so that it can be looked at afterwards.

Counts and places alone: no prompt and no copy of an event is kept. What was sent is worked
out again from the events when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from reasonact.lm.usage import CallUsage
from reasonact.types.history_form import dump_events, read_events

Stage = Literal["turn", "submit", "extract"]
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallNote:
    """One answer of a model.

    Args:
        model: Its name.
        prompt: Prompt tokens, those read from the provider's prompt cache included.
        cached: Prompt tokens that came from the provider's prompt cache.
        completion: Completion tokens.
        cost: US dollars; None where no price is known.
        from_cache: The answer came from this library's cache, and no model was asked.
        messages: How many messages the request had.
    """

    model: str
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    cost: float | None = None
    from_cache: bool = False
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the loop, second tries in another form included.

    Args:
        stage: ``turn``; ``submit`` for the forced submit; ``extract`` for ReAct's extractor.
        turn: The turn's number, from 0.
        events: How many events the run's history had.
        said: Whether the request said the inputs beside the history.
        view: Which of the log's views of the history was shown; None for the whole.
        first: ReAct: the first step of the trajectory that was shown.
        reshaped: A hook of the program's own shaped what was shown, so that it cannot be
            worked out again.
        extra: Events that were shown and are no part of the history.
        calls: The answers, in order.
        new_messages: How many messages of the first of them the request before did not have,
            or had otherwise.
        seconds: How long it took.
        error: The class of the exception that it ended in, if it did.
    """

    stage: Stage
    turn: int
    events: int
    said: bool = True
    view: int | None = None
    first: int = 0
    reshaped: bool = False
    extra: tuple[Event, ...] = ()
    calls: tuple[CallNote, ...] = ()
    new_messages: int = 0
    seconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a turn.

    Args:
        turn: The turn's number, from 0.
        asked: How many requests the log had by then.
        events: How many events the history had by then.
        seconds: What the run had taken by then, earlier parts included.
        calls: Model calls of the turn, those of agents inside its tools included.
        spent: The sums of those calls.
    """

    turn: int
    asked: int
    events: int
    seconds: float
    calls: int
    spent: CallNote


@dataclass(frozen=True, slots=True)
class View:
    """A history as it was shortened: places in the whole, or events of its own, and where the whole then ended."""

    places: tuple[int | Event, ...]
    events: int

    def at(self, events: int) -> tuple[int | Event, ...]:
        """The places once the history has that many events."""
        return (*self.places, *range(self.events, events))


@dataclass(slots=True)
class RunLog:
    """The notes of one run.

    Args:
        start: How many events the history had before the run.
        asked: Its requests.
        ends: The ends of its turns.
        views: The shorter forms in which its history was shown.
    """

    start: int = 0
    asked: list[Asked] = field(default_factory=list)
    ends: list[TurnEnd] = field(default_factory=list)
    views: list[View] = field(default_factory=list)

    def new_messages(self, stage: Stage, view: int | None, calls: Sequence[CallNote]) -> int:
        """How many messages of the next request the last one did not have.

        Args:
            stage: What the next one asks for.
            view: Which view of the history it shows; None for the whole.
            calls: Its answers, in order.

        Returns:
            The number; 0 where nothing answered.
        """
        new = calls[0].messages if calls else 0
        if self.asked and stage != "extract" and view == self.asked[-1].view:
            before = self.asked[-1].calls[:1]
            new = max(new - before[0].messages, 1) if calls and before else new
        return new

    def end_turn(self, turn: int, events: int, seconds: float, calls: Sequence[CallUsage], noted: int) -> None:
        """Note that a turn is over.

        Args:
            turn: Its number.
            events: How many events the history has.
            seconds: What the run has taken so far.
            calls: The model calls since the turn before, or since the run went on.
            noted: How many of them stand with the requests.
        """
        requests = self.asked[self.ends[-1].asked if self.ends else 0 :]
        own = [note for asked in requests for note in asked.calls]
        # A turn may have begun before the run was paused, and its tools may have asked models themselves.
        notes = own if len(calls) == noted else [*own[: len(own) - noted], *notes_of(calls)]
        self.ends.append(TurnEnd(turn, len(self.asked), events, seconds, len(notes), summed(notes)))

    def shorten(self, before: Sequence[Event], after: Sequence[Event], events: int) -> None:
        """Note that the model is shown a shorter history from now on.

        Args:
            before: The events that it was shown so far.
            after: Those that it is shown now; the same objects where they are the same.
            events: How many events the whole history has.
        """
        places = self.views[-1].at(events) if self.views else tuple(range(events))
        known = {id(event): place for event, place in zip(before, places, strict=False)}
        self.views.append(View(tuple(known.get(id(event), event) for event in after), events))

    def plain(self) -> RunLog:
        """The log with the events in it in their JSON form."""
        asked = [replace(item, extra=tuple(map(_dumped, item.extra))) if item.extra else item for item in self.asked]
        views = [replace(view, places=_mapped(view.places, _dumped)) for view in self.views]
        return replace(self, asked=asked, views=views)

    def to_data(self) -> dict[str, Any]:
        """The log as data that JSON can hold."""
        return asdict(self.plain())

    @classmethod
    def from_data(cls, data: Any) -> RunLog:
        """Read what `to_data` gave.

        Args:
            data: The data.

        Returns:
            An equal log.

        Raises:
            ValueError: It is no log.
        """
        log = _reader().validate_python(data)
        asked = [replace(item, extra=tuple(map(_read, item.extra))) if item.extra else item for item in log.asked]
        views = [replace(view, places=_mapped(view.places, _read)) for view in log.views]
        return replace(log, asked=asked, views=views)

    def copy(self) -> RunLog:
        """A log that goes its own way."""
        return replace(self, asked=list(self.asked), ends=list(self.ends), views=list(self.views))


def notes_of(calls: Iterable[CallUsage]) -> tuple[CallNote, ...]:
    """Model calls as notes.

    Args:
        calls: What a usage tracker has counted.

    Returns:
        A note for each.
    """
    return tuple(
        CallNote(
            call.model,
            _count(call.tokens, "prompt_tokens"),
            _cached(call.tokens),
            _count(call.tokens, "completion_tokens"),
            call.cost,
            call.cached,
            call.messages,
        )
        for call in calls
    )


def summed(notes: Sequence[CallNote]) -> CallNote:
    """The sums of several calls; the cost is None where one of them has no known price."""
    if len(notes) == 1:
        return notes[0]
    costs = [note.cost for note in notes]
    known = [cost for cost in costs if cost is not None]
    return CallNote(
        model=", ".join(dict.fromkeys(note.model for note in notes)),
        prompt=sum(note.prompt for note in notes),
        cached=sum(note.cached for note in notes),
        completion=sum(note.completion for note in notes),
        cost=sum(known) if len(known) == len(costs) else None,
        messages=sum(note.messages for note in notes),
    )


@cache
def _reader() -> TypeAdapter[RunLog]:
    return TypeAdapter(RunLog)


def _dumped(event: Event) -> dict[str, Any]:
    return dump_events([event], versioned=False)[0]


def _read(event: Event) -> dict[str, Any]:
    return read_events([event])[0]


def _mapped(places: Iterable[int | Event], change: Callable[[Event], Event]) -> tuple[int | Event, ...]:
    return tuple(place if isinstance(place, int) else change(place) for place in places)


def _count(tokens: Mapping[str, Any], kind: str) -> int:
    value = tokens.get(kind)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _cached(tokens: Mapping[str, Any]) -> int:
    """What providers report of their prompt caches: OpenAI's nested count, or Anthropic's flat one."""
    details = tokens.get("prompt_tokens_details")
    nested = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return nested or _count(tokens, "cache_read_input_tokens")
