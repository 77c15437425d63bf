"""RunState: an agent's run as plain data, so that it can be stored and gone on with.

A suspended generator cannot be stored; what it would need to begin again can. A state
holds inputs, history, trajectory, pending calls and counters, no code and no keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal

from pydantic_core import to_jsonable_python

from reasonact.adapters.values import serialize_for_json
from reasonact.runtime.limits import Spent
from reasonact.types.history import History

VERSION: Final = 1

AgentKind = Literal["trajectory", "structured"]
Phase = Literal["loop", "close"]


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that the model made.

    Args:
        id: Unique within the history.
        name: The tool's name as the model wrote it.
        args: Its arguments; ``{}`` where they could not be read.
        problem: Why the arguments could not be read, or None.
    """

    id: str
    name: str
    args: Mapping[str, Any]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class SettledCall:
    """What came of a call: the tool's value, or the line that tells the model of its failure."""

    value: Any
    is_error: bool


@dataclass(slots=True)
class PendingTurn:
    """A turn whose calls are not all settled.

    Args:
        thought: What the model wrote beside its calls, or None.
        calls: The calls, in the model's order.
        settled: What is done already, by call id.
        approved: Ids of the calls that a person has approved and that have not run yet.
        extra: Further keys of the turn's event (reasoning that the provider returned).
    """

    thought: Any
    calls: list[PendingCall]
    settled: dict[str, SettledCall] = field(default_factory=dict)
    approved: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class RunState:
    """Everything that a run needs to go on.

    Args:
        agent: The kind of agent, ``trajectory`` or ``structured``.
        run_id: Tells this run from every other; confirmations are bound to it.
        inputs: The signature's inputs of the run.
        history: The complete history, earlier runs that it continues included.
        turn: The number of the turn under way, from 0 within this run.
        max_iters: How many turns the run may take.
        phase: ``loop`` while turns go on; ``close`` when only the extractor or the forced
            submit is left.
        reason: Why the loop ended, in phase ``close``.
        said: Whether the inputs stand in the history already.
        bad_steps: Steps in a row that could not be used.
        trajectory: ReAct's trajectory, live.
        view: The shorter trajectory that the model is shown instead, if there is one.
        shown: The shorter history that the model is shown instead (ReActV2), if there is one.
        pending: The turn whose calls are not all settled, if any.
        confirmations: Confirmation ids that wait for a person, with the call id of each.
        spent: What the run has spent.
    """

    agent: AgentKind
    run_id: str
    inputs: dict[str, Any]
    history: History
    turn: int = 0
    max_iters: int = 20
    phase: Phase = "loop"
    reason: str | None = None
    said: bool = False
    bad_steps: int = 0
    trajectory: dict[str, Any] | None = None
    view: dict[str, Any] | None = None
    shown: History | None = None
    pending: PendingTurn | None = None
    confirmations: dict[str, str] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    def to_json(self) -> str:
        """The state as JSON text.

        Raises:
            ValueError: An input is nothing that JSON can hold; the message names it.
        """
        inputs = {}
        for name, value in self.inputs.items():
            try:
                inputs[name] = to_jsonable_python(value)
            except (ValueError, TypeError, RecursionError) as error:
                raise ValueError(
                    f"input {name!r} is a {type(value).__name__} that JSON cannot hold ({error}); "
                    "store it yourself and pass its name or id as the input"
                ) from error
        pending = self.pending
        data = {
            "reasonact_run_state": VERSION,
            "agent": self.agent,
            "run_id": self.run_id,
            "inputs": inputs,
            "history": _history_data(self.history),
            "turn": self.turn,
            "max_iters": self.max_iters,
            "phase": self.phase,
            "reason": self.reason,
            "said": self.said,
            "bad_steps": self.bad_steps,
            "trajectory": self.trajectory,
            "view": self.view,
            "shown": None if self.shown is None else _history_data(self.shown),
            "pending": None
            if pending is None
            else {
                "thought": pending.thought,
                "calls": [_as_data(call) for call in pending.calls],
                "settled": {call_id: _as_data(done) for call_id, done in pending.settled.items()},
                "approved": pending.approved,
                "extra": pending.extra,
            },
            "confirmations": self.confirmations,
            "spent": _as_data(self.spent),
        }
        return json.dumps(data, default=serialize_for_json, ensure_ascii=False)

    def copy(self) -> RunState:
        """A state that goes its own way: what one run does to it, the other does not see."""
        pending = self.pending
        return replace(
            self,
            inputs=dict(self.inputs),
            trajectory=None if self.trajectory is None else dict(self.trajectory),
            view=None if self.view is None else dict(self.view),
            confirmations=dict(self.confirmations),
            pending=None
            if pending is None
            else replace(
                pending,
                calls=list(pending.calls),
                settled=dict(pending.settled),
                approved=list(pending.approved),
                extra=dict(pending.extra),
            ),
        )

    @classmethod
    def from_json(cls, text: str) -> RunState:
        """Read what `to_json` wrote.

        Args:
            text: The JSON text.

        Returns:
            A state equal to the one that was written, but for values that JSON cannot hold:
            those are the text that the model was shown.

        Raises:
            ValueError: The text is no state, or one of a newer version.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ValueError(f"this is no run state: not JSON ({error})") from error
        if not isinstance(data, dict) or "reasonact_run_state" not in data:
            raise ValueError("this is no run state: the key 'reasonact_run_state' is missing")
        version = data.pop("reasonact_run_state")
        if version != VERSION:
            raise ValueError(f"this run state has version {version!r}; this library reads version {VERSION}")
        known = {item.name for item in fields(cls)}
        try:
            values = {name: data[name] for name in known}
            values["history"] = History.from_any(values["history"])
            values["shown"] = None if values["shown"] is None else History.from_any(values["shown"])
            values["spent"] = Spent(**values["spent"])
            values["pending"] = _pending_of(values["pending"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise ValueError(f"this run state is incomplete or damaged: {error!r}") from error


def _history_data(history: History) -> Any:
    return json.loads(history.model_dump_json())


def _as_data(item: Any) -> dict[str, Any]:
    return {name.name: getattr(item, name.name) for name in fields(item)}


def _pending_of(data: Any) -> PendingTurn | None:
    if data is None:
        return None
    return PendingTurn(
        thought=data["thought"],
        calls=[PendingCall(**call) for call in data["calls"]],
        settled={call_id: SettledCall(**done) for call_id, done in data["settled"].items()},
        approved=list(data["approved"]),
        extra=data["extra"],
    )
