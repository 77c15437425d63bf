"""RunState: an agent's run as plain data, so that it can be stored and gone on with.

A suspended generator cannot be stored; what it would need to begin again can. A state
holds inputs, history, trajectory, pending calls and counters, no code and no keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, get_args

from pydantic_core import to_jsonable_python

from reasonact.runtime.limits import Spent
from reasonact.types.history import History
from reasonact.types.history_form import dump_events, read_events
from reasonact.types.json_form import json_form, json_text
from reasonact.view.log import RunLog

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
        failed_steps: ReAct's steps whose observation is a complaint and no tool's result.
        shown: The shorter history that the model is shown instead (ReActV2), if there is one.
        pending: The turn whose calls are not all settled, if any.
        confirmations: Confirmation ids that wait for a person, with the call id of each.
        extra_tools: Names of the tools that the call brought beside the agent's own; to go
            on, the run has to be given them again.
        turns: The tokens of each turn so far.
        forged_observations: How many tool results of the model's own making were dropped.
        spent: What the run has spent.
        log: What the run has noted for people to look at.
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
    failed_steps: list[int] = field(default_factory=list)
    shown: History | None = None
    pending: PendingTurn | None = None
    confirmations: dict[str, str] = field(default_factory=dict)
    extra_tools: list[str] = field(default_factory=list)
    turns: list[Mapping[str, Any]] = field(default_factory=list)
    forged_observations: int = 0
    spent: Spent = field(default_factory=Spent)
    log: RunLog = field(default_factory=RunLog)

    def to_json(self) -> str:
        """The state as JSON text.

        Raises:
            ValueError: An input is nothing that JSON can hold; the message names it.
        """
        for name, value in self.inputs.items():
            try:
                to_jsonable_python(value)
            except Exception as error:  # whatever an object does that cannot be written
                raise ValueError(
                    f"input {name!r} is a {type(value).__name__} that JSON cannot hold ({error}); "
                    "store it yourself and pass its name or id as the input"
                ) from error
        pending = self.pending
        data = {
            "reasonact_run_state": VERSION,
            "agent": self.agent,
            "run_id": self.run_id,
            "inputs": _values_data(self.inputs),
            "history": self.history.model_dump(mode="json"),
            "turn": self.turn,
            "max_iters": self.max_iters,
            "phase": self.phase,
            "reason": self.reason,
            "said": self.said,
            "bad_steps": self.bad_steps,
            "trajectory": _values_data(self.trajectory),
            "view": _values_data(self.view),
            "failed_steps": self.failed_steps,
            "shown": None if self.shown is None else self.shown.model_dump(mode="json"),
            "pending": None if pending is None else _pending_data(pending),
            "confirmations": self.confirmations,
            "extra_tools": self.extra_tools,
            "turns": json_form(self.turns),
            "forged_observations": self.forged_observations,
            "spent": _fields_of(self.spent),
            "log": self.log.to_data(),
        }
        return json_text(data)

    def copy(self) -> RunState:
        """A state that goes its own way: what one run does to it, the other does not see."""
        pending = self.pending
        return replace(
            self,
            inputs=dict(self.inputs),
            trajectory=None if self.trajectory is None else dict(self.trajectory),
            view=None if self.view is None else dict(self.view),
            confirmations=dict(self.confirmations),
            failed_steps=list(self.failed_steps),
            turns=list(self.turns),
            log=self.log.copy(),
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
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"this is no run state: not JSON ({error})") from error
        if not isinstance(data, dict) or "reasonact_run_state" not in data:
            raise ValueError("this is no run state: the key 'reasonact_run_state' is missing")
        version = data.pop("reasonact_run_state")
        if version != VERSION:
            raise ValueError(f"this run state has version {version!r}; this library reads version {VERSION}")
        try:
            values = {item.name: data[item.name] for item in fields(cls)}
            for name, known in (("agent", get_args(AgentKind)), ("phase", get_args(Phase))):
                if values[name] not in known:
                    raise ValueError(f"{name} is {values[name]!r}, not one of {', '.join(known)}")
            values["inputs"] = _values_of(values["inputs"]) or {}
            values["trajectory"] = _values_of(values["trajectory"])
            values["view"] = _values_of(values["view"])
            values["history"] = History.from_any(values["history"])
            values["shown"] = None if values["shown"] is None else History.from_any(values["shown"])
            values["spent"] = Spent(**values["spent"])
            values["log"] = RunLog.from_data(values["log"])
            values["pending"] = None if values["pending"] is None else _pending_of(values["pending"])
            return cls(**values)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"this run state is incomplete or damaged: {error!r}") from error


def _values_data(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Values of any kind in the form that history events have, which keeps their types."""
    return None if values is None else dump_events([values], versioned=False)[0]


def _values_of(data: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if data is None else read_events([data])[0]


def _fields_of(item: Any) -> dict[str, Any]:
    return {name.name: getattr(item, name.name) for name in fields(item)}


def _pending_data(pending: PendingTurn) -> dict[str, Any]:
    return {
        "thought": json_form(pending.thought),
        "calls": [{**_fields_of(call), "args": json_form(call.args)} for call in pending.calls],
        "values": _values_data({call_id: done.value for call_id, done in pending.settled.items()}),
        "errors": [call_id for call_id, done in pending.settled.items() if done.is_error],
        "approved": pending.approved,
        "extra": json_form(pending.extra),
    }


def _pending_of(data: Mapping[str, Any]) -> PendingTurn:
    errors = set(data["errors"])
    return PendingTurn(
        thought=data["thought"],
        calls=[PendingCall(**call) for call in data["calls"]],
        settled={
            call_id: SettledCall(value, is_error=call_id in errors)
            for call_id, value in (_values_of(data["values"]) or {}).items()
        },
        approved=list(data["approved"]),
        extra=data["extra"],
    )
