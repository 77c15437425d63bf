"""Settling the calls of a turn: which run, in what order, and what the model is told.

Nothing that was done is lost: every result is put into the pending turn the moment it
is there, so that whatever leaves the loop afterwards leaves with it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.agents.confirmation import (
    Answer,
    Approve,
    ConfirmationRequired,
    Decision,
    Reject,
    check_edit,
    claim_confirmation,
    confirmation_id_of,
    decision_of,
    was_used,
)
from reasonact.agents.names import ASK
from reasonact.agents.run import Run, limit_reached
from reasonact.agents.run_state import PendingCall, PendingTurn, SettledCall
from reasonact.runtime.drive import run_coroutine, to_thread
from reasonact.runtime.events import ToolReturned, emit
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.limits import FOR_TOOL_CALLS, ReadClock
from reasonact.tools.execute import Invocation, Outcome, RunTools


def settle(run: Run, turn: PendingTurn, *, ending: str) -> Flow[str | None]:
    """Run what a turn's calls ask for, apart from the tool that ends the run.

    Args:
        run: The run; ``turn`` is its pending one.
        turn: The calls; their results are put into ``turn.settled``.
        ending: The name of the tool that ends a run, left alone here.

    Returns:
        The name of the limit that was reached on the way, or None. Calls that it forbade
        have an error result.

    Raises:
        ConfirmationRequired: A call needs a person's word; what came before it is done.
        BaseException: A control-flow exception of a tool, KeyboardInterrupt, cancellation.
    """
    while True:
        ready = _ready(run, turn, ending)
        yield from announce(run, turn)
        if ready:
            reached = yield from limit_reached(run, FOR_TOOL_CALLS)
            if reached is not None:
                refuse_others(turn, ending, f"not run: the run has reached its limit of {reached}")
                yield from announce(run, turn)
                return reached
            yield from _run_tools(run, turn, ready[: _batch_size(run)])
            continue
        waiting = _first_waiting(turn, ending)
        if waiting is None:
            return None
        yield from _ask(run, turn, waiting, ending)


def _ready(run: Run, turn: PendingTurn, ending: str) -> list[PendingCall]:
    """The calls that can run now; those that cannot ever are settled with an error on the way."""
    ready = []
    for item in turn.calls:
        if item.id in turn.settled or item.name == ending:
            continue
        problem = _problem(run, item)
        if problem is not None:
            turn.settled[item.id] = SettledCall(problem, is_error=True)
        elif _needs_a_person(run, turn, item):
            break  # what comes after waits with it, so that the order stays the model's
        else:
            ready.append(item)
    return ready


def _problem(run: Run, item: PendingCall) -> str | None:
    if item.problem is not None:
        return item.problem
    if item.name not in run.tools:
        return f"Unknown tool: {item.name}. The tools are: {', '.join(run.tools)}."
    return None


def _needs_a_person(run: Run, turn: PendingTurn, item: PendingCall) -> bool:
    return item.id not in turn.approved and run.tools[item.name].needs_confirmation(item.args)


def _first_waiting(turn: PendingTurn, ending: str) -> PendingCall | None:
    for item in turn.calls:
        if item.id not in turn.settled and item.name != ending:
            return item
    return None


def _batch_size(run: Run) -> int | None:
    """How many calls run before the limits are looked at again; None for all of them."""
    limits = run.options.limits
    if limits is None:
        return None
    if limits.tool_calls is None:
        return run.options.parallel_tools
    left = limits.tool_calls - run.tool_calls
    return max(1, min(left, run.options.parallel_tools))


def _run_tools(run: Run, turn: PendingTurn, ready: list[PendingCall]) -> Flow[None]:
    def settled(index: int, outcome: Outcome) -> None:
        turn.settled[ready[index].id] = SettledCall(outcome.value, outcome.is_error)
        run.tool_calls += 1

    yield from call(
        RunTools(
            # Copies: a tool may change a list that it is given, and the history must not change with it.
            tuple(Invocation(run.tools[item.name], copy.deepcopy(dict(item.args))) for item in ready),
            parallel=run.options.parallel_tools,
            sync_tools=run.options.sync_tools,
            on_settled=settled,
        )
    )


def announce(run: Run, turn: PendingTurn) -> Flow[None]:
    """Report the results of a turn's calls, each once."""
    for item in turn.calls:
        done = turn.settled.get(item.id)
        if done is not None and item.id not in run.announced:
            run.announced.add(item.id)
            yield from emit(ToolReturned(run.state.turn, item.id, item.name, done.value, done.is_error))


def refuse_others(turn: PendingTurn, ending: str, why: str) -> None:
    """Give every open call but the one that ends the run an error result."""
    for item in turn.calls:
        if item.id not in turn.settled and item.name != ending:
            turn.settled[item.id] = SettledCall(why, is_error=True)


def waiting_calls(run: Run, turn: PendingTurn, ending: str) -> dict[str, PendingCall]:
    """Every call of the turn that needs a person's word and has none, by confirmation id."""
    return {
        confirmation_id_of(run.state.run_id, item): item
        for item in turn.calls
        if item.id not in turn.settled
        and item.name != ending
        and _problem(run, item) is None
        and _needs_a_person(run, turn, item)
    }


def _ask(run: Run, turn: PendingTurn, item: PendingCall, ending: str) -> Flow[None]:
    confirmation_id = confirmation_id_of(run.state.run_id, item)
    run.state.confirmations = {key: waiting.id for key, waiting in waiting_calls(run, turn, ending).items()}
    error = ConfirmationRequired(_question(item), tool_call=item, confirmation_id=confirmation_id, state=run.state)
    if run.options.on_confirmation is None:
        raise error
    asked = yield from call(ReadClock())
    inline = run.options.sync_tools == "inline"
    given = yield from call(_AskOnTheSpot(run.options.on_confirmation, error, inline))
    run.began += (yield from call(ReadClock())) - asked  # a person's time is not the run's
    decision_of(given, asks=item.name == ASK)
    run.state.confirmations = {}
    if not claim_confirmation(confirmation_id):
        raise _used_already(confirmation_id)
    decide(turn, item, given)


def _question(item: PendingCall) -> str:
    if item.name == ASK:
        return str(item.args.get("question", ""))
    arguments = ", ".join(f"{name}={value!r}" for name, value in item.args.items())
    return f"Run {item.name}({arguments})?"


def decide(turn: PendingTurn, item: PendingCall, given: Any) -> None:
    """Apply a person's decision to one call.

    Args:
        turn: The pending turn.
        item: The call that waited.
        given: The decision, or its short form.

    Raises:
        TypeError: It is no decision for this call.
    """
    decision: Decision = decision_of(given, asks=item.name == ASK)
    if isinstance(decision, Reject):
        why = f": {decision.reason}" if decision.reason else ""
        turn.settled[item.id] = SettledCall(f"The person refused this call{why}.".replace("..", "."), is_error=True)
    elif isinstance(decision, Answer):
        turn.settled[item.id] = SettledCall(decision.text, is_error=False)
    else:
        _approve(turn, item, decision)


def _approve(turn: PendingTurn, item: PendingCall, decision: Approve) -> None:
    turn.approved.append(item.id)
    if decision.args is not None:
        index = turn.calls.index(item)
        turn.calls[index] = PendingCall(item.id, item.name, dict(decision.args))


def apply_decisions(run: Run, given: Any, *, ending: str, claim: Callable[[str], bool] | None = None) -> None:
    """Apply what a person decided to the calls that wait.

    Args:
        run: The run.
        given: One decision, for the first call that waits, or a dict of decisions by
            confirmation id; what is not in it stays pending.
        ending: The name of the tool that ends a run.
        claim: ``fn(confirmation_id) -> bool``, by which the program records a use.

    Raises:
        TypeError: A decision that is none.
        ValueError: Nothing waits, a confirmation that does not belong to this run, or one
            that was used already; edited arguments that do not fit the tool.
    """
    turn = run.state.pending
    waiting = {} if turn is None else waiting_calls(run, turn, ending)
    if turn is None or not waiting:
        raise ValueError(_nothing_waits(turn))
    if isinstance(given, Mapping):
        decisions: dict[str, Any] = dict(given)
    elif isinstance(given, (Approve, Reject, Answer, bool, str)):
        decisions = {next(iter(waiting)): given}
    else:
        raise TypeError(f"{given!r} is no decision; write Approve(), Reject('reason') or Answer('text')")
    unknown = [key for key in decisions if key not in waiting]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no confirmation that this run waits for (its calls or arguments may be others); "
            f"waiting: {', '.join(waiting)}"
        )
    for confirmation_id, decision in decisions.items():  # all of them are good before one is used
        item = waiting[confirmation_id]
        check_edit(run.tools[item.name], decision_of(decision, asks=item.name == ASK))
        if was_used(confirmation_id):
            raise _used_already(confirmation_id)
    for confirmation_id, decision in decisions.items():
        if not claim_confirmation(confirmation_id) or (claim is not None and not claim(confirmation_id)):
            raise _used_already(confirmation_id)
        decide(turn, waiting[confirmation_id], decision)


def _nothing_waits(turn: PendingTurn | None) -> str:
    if turn is not None and any(item.id not in turn.settled for item in turn.calls):
        return (
            "this run waits for no decision on a call of its own; if the pause is inside one of its tools (an agent "
            "within), say respond_to_confirmation(confirmation_id), then resume(state)"
        )
    return "this run waits for no decision; resume it with the state alone"


def _used_already(confirmation_id: str) -> ValueError:
    return ValueError(f"the confirmation {confirmation_id!r} was used already; a call is approved once")


@dataclass(frozen=True, slots=True)
class _AskOnTheSpot(Command[Any]):
    """Ask the program's ``on_confirmation`` for a decision; it may well wait for a person."""

    ask: Callable[[ConfirmationRequired], Any]
    error: ConfirmationRequired
    inline: bool

    def run(self) -> Any:
        answer = self.ask(self.error)
        return run_coroutine(answer) if inspect.iscoroutine(answer) else answer

    async def arun(self) -> Any:
        here = self.inline or inspect.iscoroutinefunction(self.ask)
        answer = self.ask(self.error) if here else await to_thread(self.ask, self.error)
        return await answer if inspect.isawaitable(answer) else answer
