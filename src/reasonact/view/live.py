"""LiveRun: a run that is over, by reference; its record is made when somebody asks for it.

Every run makes one, so nothing is worked out here, and little is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from reasonact.view.log import Event, RunLog

if TYPE_CHECKING:
    from reasonact.signatures.signature import Signature
    from reasonact.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended a run: its class and its message."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Totals:
    """What a whole run took.

    Args:
        model_calls: Model calls, those of agents inside tools and those from a cache included.
        cached_calls: Model calls that a cache answered.
        tool_calls: Tool calls.
        total_tokens: Prompt and completion tokens.
        cost_usd: US dollars; None where a call has no known price.
        seconds: Wall-clock time, waiting for a person not included.
    """

    model_calls: int = 0
    cached_calls: int = 0
    tool_calls: int = 0
    total_tokens: int = 0
    cost_usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveRun:
    """What a run leaves behind. Nothing of it is copied until a record is made.

    Args:
        agent: The agent's class.
        kind: ``trajectory`` or ``structured``.
        signature: The task.
        inputs: Its inputs.
        events: The events of the complete history, earlier runs included.
        log: The run's notes.
        pending: The event of a turn that was under way, if one was.
        outputs: The outputs.
        termination_reason: Why the loop ended.
        failure: The exception that ended the run, if one did.
        predictors: Signature and demos of each predictor, by name.
        tools: The tools of the run.
        adapter: The adapter that was active.
        lm: The model that was asked; None where there was none.
        reasoning: Whether the model was asked for reasoning beside its text.
        max_result_chars: The longest tool result that was shown whole.
        totals: What the run took.
    """

    agent: str
    kind: Literal["trajectory", "structured"]
    signature: type[Signature]
    inputs: Mapping[str, Any]
    events: Sequence[Event]
    log: RunLog
    pending: Event | None
    outputs: Mapping[str, Any]
    termination_reason: str | None
    failure: Failure | None
    predictors: Mapping[str, tuple[type[Signature], list[Any]]]
    tools: Sequence[Tool]
    adapter: Any
    lm: Any
    reasoning: bool
    max_result_chars: int | None
    totals: Totals


def failure_of(error: BaseException) -> Failure:
    """An exception as plain data."""
    try:
        message = str(error)
    except Exception:  # a class of the program's own whose __str__ fails
        message = "(its message cannot be shown)"
    return Failure(type(error).__name__, message)
