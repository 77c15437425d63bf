"""A person in the loop: what a paused run asks, and what it may be answered.

A confirmation is bound to its run, its call id, the tool's name and a digest of the
arguments; whoever approves it approves just that.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from reasonact.adapters.values import serialize_for_json
from reasonact.agents.run_state import PendingCall, RunState
from reasonact.errors import ControlFlow
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool

_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Approve:
    """Run the call, with ``args`` in place of the model's where they are given.

    Raises:
        TypeError: They are no dict.
    """

    args: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.args is not None and not isinstance(self.args, Mapping):
            raise TypeError(f"Approve(args=...) takes arguments by name, a dict, not a {type(self.args).__name__}")


@dataclass(frozen=True, slots=True)
class Reject:
    """Do not run the call; the model is told why."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person says to a ``user_clarification``."""

    text: str


Decision: TypeAlias = Approve | Reject | Answer


class ConfirmationRequired(ControlFlow):
    """A run has stopped at a call that needs a person's word.

    Args:
        question: What to ask the person.
        tool_call: The call: ``id``, ``name`` and ``args``.
        confirmation_id: What the answer refers to.
        state: The run so far; pass it to ``agent.resume(decision, state)``. Its
            ``confirmations`` list every call of the turn that waits.
    """

    default_code = "confirmation_required"

    def __init__(self, question: str, *, tool_call: PendingCall, confirmation_id: str, state: RunState) -> None:
        super().__init__(question)
        self.question = question
        self.tool_call = tool_call
        self.confirmation_id = confirmation_id
        self.state = state


def confirmation_id_of(run_id: str, pending: PendingCall) -> str:
    """The id that binds a confirmation to a run, a call, a tool and its arguments."""
    arguments = json.dumps(pending.args, sort_keys=True, default=serialize_for_json)
    digest = hashlib.sha256(f"{pending.name}\n{arguments}".encode("utf-8", "replace")).hexdigest()
    return f"{run_id}:{pending.id}:{digest[:16]}"


def decision_of(given: Any, *, asks: bool) -> Decision:
    """A decision in its full form.

    Args:
        given: A decision, or its short form: ``True`` / ``"yes"``, ``False`` / ``"no"``,
            and, for a clarification, any other text.
        asks: Whether the call is a clarification.

    Returns:
        The decision.

    Raises:
        TypeError: It is none, or one that does not fit the call.
    """
    if isinstance(given, (Approve, Reject)) and not (asks and isinstance(given, Approve)):
        return given
    if isinstance(given, Answer):
        if asks:
            return given
        raise TypeError("Answer(...) replies to a clarification; this call wants Approve() or Reject('reason')")
    if isinstance(given, Approve):
        raise TypeError("a clarification wants Answer('text') or Reject('reason'), not Approve()")
    word = given.strip().lower() if isinstance(given, str) else given
    if word is False or word == "no":
        return Reject()
    if asks and isinstance(given, str):
        return Answer(given)
    if not asks and (word is True or word == "yes"):
        return Approve()
    raise TypeError(
        f"{given!r} is no decision; write Approve(), Approve(args={{...}}), Reject('reason') or Answer('text')"
    )


def check_edit(tool: Tool | None, decision: Decision) -> None:
    """See that edited arguments fit the tool.

    Args:
        tool: The tool of the call; None where it is not known here.
        decision: What was decided.

    Raises:
        ValueError: They do not.
    """
    if tool is None or not isinstance(decision, Approve) or decision.args is None:
        return
    try:
        tool.check_args(decision.args)
    except InvalidArguments as error:
        raise ValueError(f"Approve(args=...) does not fit the tool {tool.name}: {error}") from None


class _Used:
    """The confirmations that this process has used, the oldest forgotten first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, confirmation_id: str) -> bool:
        with self._lock:
            return confirmation_id in self._ids

    def claim(self, confirmation_id: str) -> bool:
        with self._lock:
            if confirmation_id in self._ids:
                return False
            self._ids[confirmation_id] = None
            while len(self._ids) > _REMEMBERED:
                self._ids.popitem(last=False)
            return True


_used: Final = _Used()


def was_used(confirmation_id: str) -> bool:
    """Whether this process has used a confirmation."""
    return confirmation_id in _used


def claim_confirmation(confirmation_id: str) -> bool:
    """Take a confirmation for use. False where this process has used it already."""
    return _used.claim(confirmation_id)
