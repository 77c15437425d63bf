"""Answering a paused run without its state: respond by confirmation id, then make the same call again.

The form is udspy's. Paused runs are kept in one table of this process, the oldest
forgotten first.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from reasonact.agents.confirmation import Answer, Approve, ConfirmationRequired, Decision, Reject, check_edit
from reasonact.agents.names import ASK
from reasonact.agents.run_state import RunState

_KEPT: Final = 1_000
_TEXT_KEYS: Final = ("answer", "response", "feedback", "reason", "message", "text")

Status = Literal["pending", "approved", "rejected", "edited", "feedback"]


@dataclass(slots=True, eq=False)
class PausedRun:
    """A run that waits for a person.

    Args:
        agent: The agent, weakly.
        asked: What the call asked, by name.
        state: Where the run stands.
        calls: The tool's name for each confirmation id, those of agents within included.
        decisions: What was decided so far, by confirmation id.
    """

    agent: weakref.ref[Any]
    asked: Mapping[str, Any]
    state: RunState
    calls: Mapping[str, str]
    decisions: dict[str, Decision] = field(default_factory=dict)

    def own_decisions(self) -> dict[str, Decision] | None:
        """The decisions on this run's own calls; None where there are only those of agents within."""
        return {key: made for key, made in self.decisions.items() if key in self.state.confirmations} or None


class _Table:
    """The paused runs, safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: deque[PausedRun] = deque(maxlen=_KEPT)

    def keep(self, run: PausedRun) -> None:
        with self._lock:
            for gone in [one for one in self._runs if one.agent() is None]:  # nobody can go on with these
                self._runs.remove(gone)
            self._runs.append(run)

    def answer(self, confirmation_id: str, decision: Any) -> bool:
        with self._lock:
            found = [run for run in self._runs if confirmation_id in run.calls]
        made = [None if decision is None else decision(run.calls[confirmation_id]) for run in found]
        for run, one in zip(found, made, strict=True):
            if one is not None and confirmation_id in run.state.confirmations:  # else an agent within has the tool
                check_edit(getattr(run.agent(), "tools", {}).get(run.calls[confirmation_id]), one)
        with self._lock:
            for run, one in zip(found, made, strict=True):
                if one is None:
                    run.decisions.pop(confirmation_id, None)
                else:
                    run.decisions[confirmation_id] = one
        return bool(found)

    def take(self, agent: Any, asked: Mapping[str, Any]) -> PausedRun | None:
        with self._lock:
            for run in self._runs:
                if run.decisions and run.agent() is agent and _same(run.asked, asked):
                    self._runs.remove(run)
                    return run
        return None

    def forget(self, agent: Any, run_id: str) -> None:
        with self._lock:
            for run in [run for run in self._runs if run.state.run_id == run_id and run.agent() is agent]:
                self._runs.remove(run)


_table: Final = _Table()


def respond_to_confirmation(
    confirmation_id: str,
    approved: bool = True,
    data: Mapping[str, Any] | str | None = None,
    status: Status | None = None,
) -> None:
    """Say what a person decided; then make the same call of the same agent again, and it goes on.

    This serves within one process. ``agent.resume(decision, state)`` does the same with
    the state in hand, in any process.

    Args:
        confirmation_id: From the `ConfirmationRequired`.
        approved: Whether the call may run; ``status`` goes before it.
        data: With an approval the edited arguments, if any. With a rejection or feedback
            the person's words, as text or under ``feedback``, ``reason`` or ``answer``; so
            too for a clarification.
        status: ``approved``; ``edited``, an approval with ``data``; ``rejected``;
            ``feedback``, the person's words in place of the call; or ``pending``, which
            takes a decision back.

    Raises:
        TypeError: ``approved`` is no bool, or ``data`` neither text nor dict.
        ValueError: No run of this process waits for this confirmation, the status is none of
            these, edited arguments are missing or no dict, or they do not fit the agent's tool
            (a tool that one call alone was given is looked at when the run goes on).
    """
    if not isinstance(approved, bool):
        raise TypeError(f"approved is True or False, not {approved!r}")
    if data is not None and not isinstance(data, (str, Mapping)):
        raise TypeError(f"data is a dict or a text, not a {type(data).__name__}")
    chosen = status if status is not None else "approved" if approved else "rejected"
    if chosen not in ("pending", "approved", "rejected", "edited", "feedback"):
        raise ValueError(f"status is 'pending', 'approved', 'rejected', 'edited' or 'feedback', not {status!r}")

    def decision(tool: str) -> Decision:
        if chosen == "rejected":
            return Reject(_words(data))
        if tool == ASK:
            return Answer(_words(data) or "yes")
        if chosen == "feedback":
            return Reject(_words(data))
        if isinstance(data, str) or (chosen == "edited" and data is None):
            raise ValueError(f"edited arguments of {tool} are a dict by name, not {data!r}; nothing was approved")
        return Approve(None if data is None else dict(data))

    if not _table.answer(confirmation_id, None if chosen == "pending" else decision):
        raise ValueError(
            f"no run of this process waits for the confirmation {confirmation_id!r}; "
            "across processes, store the state and use agent.resume(decision, state)"
        )


def keep_paused(agent: Any, asked: Mapping[str, Any], error: ConfirmationRequired) -> None:
    """Put a run that has just paused into the table.

    Args:
        agent: The agent that was called.
        asked: What the call asked, by name.
        error: The pause; its state is this agent's run.
    """
    state = error.state
    names = {} if state.pending is None else {item.id: item.name for item in state.pending.calls}
    own = {key: names.get(call_id, "") for key, call_id in state.confirmations.items()}
    calls = {error.confirmation_id: error.tool_call.name, **own}
    _table.keep(PausedRun(weakref.ref(agent), dict(asked), state, calls))


def take_answered(agent: Any, asked: Mapping[str, Any]) -> PausedRun | None:
    """The oldest run of this agent that asked the same and has been answered, taken out of the table."""
    return _table.take(agent, asked)


def forget(agent: Any, run_id: str) -> None:
    """Drop a run that goes on by its state."""
    _table.forget(agent, run_id)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_equal(value, other[name]) for name, value in one.items())


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # values that cannot be compared as a whole, such as arrays
        return False


def _words(data: Mapping[str, Any] | str | None) -> str:
    if data is None or isinstance(data, str):
        return data or ""
    return next((str(data[key]) for key in _TEXT_KEYS if data.get(key)), "")
