"""Run: one agent run under way, and the bookkeeping that both loops share.

A `Run` lives in the flow of one call and nowhere else; the agent object holds none of
it, so that one agent serves any number of threads and tasks at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel

from reasonact.adapters.clip import clipped_event, clipped_history, clipped_observations
from reasonact.adapters.conversation import Rendered
from reasonact.agents.options import AgentOptions
from reasonact.agents.run_state import PendingCall, PendingTurn, RunState, SettledCall
from reasonact.lm.usage import UsageTracker
from reasonact.runtime.events import TurnFinished, emit
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.limits import ReadClock, Spent
from reasonact.signatures.signature import Signature
from reasonact.tools.nesting import TOO_DEEP, is_too_deep
from reasonact.tools.tool import Tool
from reasonact.types.history import History, fresh_call_id
from reasonact.types.tool_calls import ToolCallResults, ToolCalls
from reasonact.view.log import Asked, Event, Stage, notes_of

if TYPE_CHECKING:
    from reasonact.agents.telling import Told

T = TypeVar("T")

# Pydantic keeps with each object which of its fields were set. Here all of them are, so that none can be
# added, and one set serves every object: a turn's four models would hold as much again for their own.
_ALL_SET: Final[dict[type[BaseModel], set[str]]] = {
    model: set(model.model_fields)
    for model in (ToolCalls, ToolCalls.ToolCall, ToolCallResults, ToolCallResults.ToolCallResult)
}


@dataclass(slots=True)
class Run:
    """One run under way.

    Args:
        state: What a stored run would need; it is kept up to date at every step.
        options: The agent's options.
        tools: Every tool of this run by name, the one that ends it included.
        overrides: ``lm`` and ``config`` of the call, for its predictors.
        in_place: Whether the caller's own history grows (``grow_history_in_place``).
        tracker: Counts the run's model calls.
        began: The clock when the run, or its resumption, began.
        before: What had been spent when the run began, and by the model calls counted since.
        rendered: What has been rendered of the history so far.
        taken: The call ids that the history and the pending turn hold.
        calls_counted: How many model calls stand in ``before``.
        calls_reported: How many model calls stand in the state's ``turns``.
        calls_noted: How many model calls of the turn under way `noted` has put down.
        view: The history as the model is shown it: long results cut, shortened where it
            did not fit.
        announced: Ids of the calls whose results have been reported as events.
        clips: What the model is shown in place of long observations of ReAct's trajectory, by key.
        signature: The predictor's signature with the tools of this call, once it is made.
        told: What the turn under way told while the model wrote it.
        next_id_turn: The turn from which the next missing call id counts on.
        tool_calls: How many tool calls were made, in earlier parts of the run too.
    """

    state: RunState
    options: AgentOptions
    tools: dict[str, Tool]
    overrides: dict[str, Any]
    in_place: bool
    tracker: UsageTracker
    began: float
    before: Spent
    rendered: Rendered = field(default_factory=Rendered)
    taken: set[str] = field(default_factory=set)
    calls_counted: int = 0
    calls_reported: int = 0
    calls_noted: int = 0
    view: History = field(default_factory=lambda: History.model_construct(messages=[]))
    announced: set[str] = field(default_factory=set)
    clips: dict[str, Any] = field(default_factory=dict)
    signature: type[Signature] | None = None
    told: Told | None = None
    next_id_turn: int = 0
    tool_calls: int = field(init=False)

    def __post_init__(self) -> None:
        self.tool_calls = self.before.tool_calls
        self.taken = self.state.history.call_ids
        if self.state.pending is not None:
            self.taken.update(item.id for item in self.state.pending.calls)
            self.announced.update(self.state.pending.settled)
        shown = self.state.history if self.state.shown is None else self.state.shown
        if self.state.agent == "structured":
            self.view = clipped_history(shown, self.options.max_result_chars)
        else:
            self.clips = clipped_observations(self.steps(), self.options.max_result_chars)

    def steps(self) -> dict[str, Any]:
        """The steps of ReAct's trajectory that the model is shown."""
        view = self.state.trajectory if self.state.view is None else self.state.view
        return {} if view is None else view

    def spent(self, now: float) -> Spent:
        """What the run has spent so far, earlier parts included."""
        fresh = self.tracker.calls[self.calls_counted :]
        if fresh:
            self.calls_counted += len(fresh)
            self.before = replace(
                self.before,
                lm_calls=self.before.lm_calls + len(fresh),
                total_tokens=self.before.total_tokens + sum(_tokens(item.tokens) for item in fresh),
                cost_usd=self.before.cost_usd + sum(item.cost or 0.0 for item in fresh),
                cached_calls=self.before.cached_calls + sum(item.cached for item in fresh),
                unpriced_calls=self.before.unpriced_calls + sum(item.cost is None for item in fresh),
            )
        seconds = self.before.seconds + (now - self.began)
        return replace(self.before, tool_calls=self.tool_calls, seconds=seconds)

    def add_event(self, event: dict[str, Any]) -> None:
        """Add one event to the complete history, and to what the model is shown."""
        if self.in_place:
            self.state.history.messages.append(event)
        else:
            self.state.history = _grown(self.state.history, event)
        if self.state.agent != "structured":
            return  # its model is shown the trajectory
        self.view = _grown(self.view, clipped_event(event, self.options.max_result_chars))
        if self.state.shown is not None:
            self.state.shown = self.view

    def add_turn(self, turn: PendingTurn, outputs: Mapping[str, Any] | None) -> None:
        """Add a settled turn as one event."""
        self.add_event(self.opening({**turn_event(turn, turn.settled), **(outputs or {})}))

    def opening(self, event: dict[str, Any]) -> dict[str, Any]:
        """The event, with the inputs before it where no event has said them yet."""
        if self.state.said:
            return event
        self.state.said = True
        return {**self.state.inputs, **event}

    def said_inputs(self) -> dict[str, Any] | None:
        """The inputs that the next request has to say; None where the history says them."""
        return None if self.state.said else self.state.inputs

    def shorten(self, shorter: History) -> None:
        """Show the model a shorter history from now on. The complete one stays."""
        self.state.log.shorten(self.view.messages, shorter.messages, len(self.state.history.messages))
        self.view = self.state.shown = shorter


def _grown(history: History, event: dict[str, Any]) -> History:
    """As `History.append`, for an event that nobody else holds: no copy of it is made."""
    return History.model_construct(messages=[*history.messages, event])


def limit_reached(run: Run, names: tuple[str, ...]) -> Flow[str | None]:
    """The limit that forbids one more call, by name, or None.

    Args:
        run: The run.
        names: The limits that count, `FOR_MODEL_CALLS` or `FOR_TOOL_CALLS`.
    """
    if run.options.limits is None:
        return None
    now = yield from call(ReadClock())
    return run.spent(now).reached(run.options.limits, names)


def turn_finished(run: Run, turn: int) -> Flow[None]:
    """Note the tokens of a turn's model calls, and report its end."""
    now = yield from call(ReadClock())
    seconds = run.before.seconds + now - run.began
    fresh = run.tracker.calls[run.calls_reported :]
    run.state.log.end_turn(turn, len(run.state.history.messages), seconds, fresh, run.calls_noted)
    run.calls_noted = 0
    run.announced.clear()  # the turn's calls are done with
    yield from emit(TurnFinished(turn, note_tokens(run)))


def noted(
    run: Run,
    stage: Stage,
    request: Flow[T],
    *,
    said: bool = True,
    first: int = 0,
    reshaped: bool = False,
    extra: tuple[Event, ...] = (),
) -> Flow[T]:
    """Make a request of the loop, and note in the run's log what it showed and took.

    Args:
        run: The run.
        stage: What it asks for.
        request: The request.
        said: As in `Asked`; so for the others.

    Returns:
        What the request gives.

    Raises:
        Exception: What the request raises, noted too.
    """
    turn, events = run.state.turn, len(run.state.history.messages)
    view = None if run.state.shown is None else len(run.state.log.views) - 1
    before, began = len(run.tracker.calls), (yield from call(ReadClock()))

    def put_down(now: float, error: str | None = None) -> None:
        calls = notes_of(run.tracker.calls[before:])
        new = run.state.log.new_messages(stage, view, calls)
        run.calls_noted += len(calls)
        run.state.log.asked.append(
            Asked(
                stage=stage,
                turn=turn,
                events=events,
                said=said,
                view=view,
                first=first,
                reshaped=reshaped,
                extra=extra,
                calls=calls,
                new_messages=new,
                seconds=now - began,
                error=error,
            )
        )

    try:
        reply = yield from request
    except Exception as error:
        put_down((yield from call(ReadClock())), type(error).__name__)
        raise
    put_down((yield from call(ReadClock())))
    return reply


def note_tokens(run: Run) -> Mapping[str, Any]:
    """Note the tokens that were used since the last turn, and return them."""
    fresh = run.tracker.calls[run.calls_reported :]
    run.calls_reported += len(fresh)
    usage = _summed([item.tokens for item in fresh])
    if fresh:
        run.state.turns.append(usage)
    return usage


def _summed(tokens: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The counts of some calls; those of one call as they are, where they are nothing but counts."""
    if len(tokens) == 1 and all(type(count) is int for count in tokens[0].values()):
        return tokens[0]
    usage: dict[str, int] = {}
    for counts in tokens:
        for kind, count in counts.items():
            if isinstance(count, int) and not isinstance(count, bool):
                usage[kind] = usage.get(kind, 0) + count
    return usage


def with_ids(run: Run, calls: Iterable[tuple[str | None, str, Mapping[str, Any], str | None]]) -> list[PendingCall]:
    """Calls of one turn under ids that are unique within the history.

    A missing id, or one that the history holds already, becomes ``call_<turn>_<index>``;
    where such an id is taken, the turn in it is counted on.

    Args:
        run: The run.
        calls: For each call its id or None, name, arguments, and the problem with them.

    Returns:
        The calls; their ids are taken from now on. Arguments that are nested too deeply are a
        problem too, and not kept.
    """
    given = list(calls)
    turn = max(run.state.turn, run.next_id_turn)
    while any(f"call_{turn}_{index}" in run.taken for index in range(len(given))):
        turn += 1
    pending = []
    for index, (call_id, name, args, problem) in enumerate(given):
        if not call_id or call_id in run.taken:
            call_id = fresh_call_id(turn, index, run.taken)
            run.next_id_turn = turn + 1  # what was counted over once is not counted over again
        run.taken.add(call_id)
        if is_too_deep(args):
            args, problem = {}, f"not run: {TOO_DEEP}"
        pending.append(PendingCall(call_id, name, args, problem))
    return pending


def turn_event(turn: PendingTurn, settled: Mapping[str, SettledCall]) -> dict[str, Any]:
    """A turn as the event that a history holds, with these results."""
    thought = {} if turn.thought is None else {"next_thought": turn.thought}
    return {**thought, "tool_calls": calls_of(turn.calls, settled), **turn.extra}


def calls_of(pending: Iterable[PendingCall], settled: Mapping[str, SettledCall]) -> ToolCalls:
    """A turn's calls with their results, as a history event holds them."""
    items = list(pending)
    return ToolCalls.model_construct(
        _ALL_SET[ToolCalls],
        tool_calls=[
            ToolCalls.ToolCall.model_construct(
                _ALL_SET[ToolCalls.ToolCall], id=item.id, name=item.name, args=dict(item.args)
            )
            for item in items
        ],
        tool_call_results=ToolCallResults.model_construct(
            _ALL_SET[ToolCallResults],
            tool_call_results=[
                ToolCallResults.ToolCallResult.model_construct(
                    _ALL_SET[ToolCallResults.ToolCallResult],
                    call_id=item.id,
                    name=item.name,
                    value=settled[item.id].value,
                    is_error=settled[item.id].is_error,
                )
                for item in items
                if item.id in settled
            ],
        ),
    )


def _tokens(counts: Mapping[str, Any]) -> int:
    total = counts.get("total_tokens")
    if isinstance(total, int):
        return total
    return sum(value for name in ("prompt_tokens", "completion_tokens") if isinstance(value := counts.get(name), int))
