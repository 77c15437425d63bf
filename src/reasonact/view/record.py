"""RunRecord: one run of an agent as plain data, which a file can hold and anybody can look at.

It keeps the events of the history and what each request showed of them, by place and by
count. The prompts are not in it: `reasonact.view.prompts` works them out again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from reasonact.types.history import History
from reasonact.types.json_form import json_text
from reasonact.view.forms import PredictorForm, SignatureForm, ToolForm
from reasonact.view.live import Failure, Totals
from reasonact.view.log import Asked, CallNote, Stage, View

VERSION: Final = 1
KEY: Final = "reasonact_run"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, or what came after the last one.

    Args:
        number: From 0.
        stage: ``turn``; ``submit`` for the forced submit; ``extract`` for the extractor.
        first_event: The place of its first event in the history.
        events: How many events it added.
        seconds: How long it took, tools included; None where that was not noted.
        calls: Model calls, those of agents inside its tools included.
        spent: The sums of those calls.
        requests: The requests of the loop itself.
        finished: Whether it came to its end.
    """

    number: int
    stage: Stage
    first_event: int
    events: int
    seconds: float | None
    calls: int
    spent: CallNote
    requests: tuple[Asked, ...]
    finished: bool = True


@dataclass(frozen=True, slots=True)
class Rendering:
    """What is needed to write the prompts again.

    Args:
        adapter: The class of the adapter.
        base: The adapter of this library that it is, or that it derives from; None: neither.
        own_hooks: Whether the class makes messages in a way of its own.
        native_tools: Whether the adapter asks for native tool calls.
        fallback: Whether an unreadable answer is asked for once more as JSON.
        function_calling: Whether the model takes native tools.
        reasoning: Whether the model's reasoning comes beside its text.
        predictors: The signatures that were asked, by name.
        tools: The tools, in order.
        max_result_chars: The longest tool result that was shown whole; None: any.
    """

    adapter: str
    base: str | None
    own_hooks: bool
    native_tools: bool
    fallback: bool
    function_calling: bool
    reasoning: bool
    predictors: dict[str, PredictorForm]
    tools: tuple[ToolForm, ...]
    max_result_chars: int | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, whole or failed.

    Args:
        agent: The agent's class.
        kind: ``trajectory`` (ReAct) or ``structured`` (ReActV2).
        signature: The task.
        inputs: Its inputs, in the JSON form of a history's event.
        events: The events of the complete history in their JSON form, earlier runs included.
        start: How many of them are from earlier runs.
        pending: The event of a turn that was under way, if one was.
        outputs: The outputs, in the JSON form of a history's event; empty where there are none.
        termination_reason: Why the loop ended; None where an error ended it.
        error: That error.
        turns: The turns, in order.
        views: The shorter forms in which the history was shown.
        totals: What the run took.
        rendering: What is needed to write its prompts again.
    """

    agent: str
    kind: Literal["trajectory", "structured"]
    signature: SignatureForm
    inputs: dict[str, Any]
    events: tuple[dict[str, Any], ...]
    start: int
    pending: dict[str, Any] | None
    outputs: dict[str, Any]
    termination_reason: str | None
    error: Failure | None
    turns: tuple[Turn, ...]
    views: tuple[View, ...]
    totals: Totals
    rendering: Rendering

    def to_json(self) -> str:
        """The record as JSON text, with its version."""
        return json_text({KEY: VERSION, **asdict(self)})

    @classmethod
    def from_json(cls, text: str | bytes) -> RunRecord:
        """Read what `to_json` wrote.

        Args:
            text: The JSON text.

        Returns:
            An equal record.

        Raises:
            ValueError: The text is no run record, is damaged, or is of a newer version.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"this is no run of an agent: not JSON ({error})") from None
        if not isinstance(data, dict) or KEY not in data:
            raise ValueError(f"this is no run of an agent: the key {KEY!r} is missing; write one with save_run(path)")
        version = data.pop(KEY)
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise ValueError(f"this is no run of an agent: its version is {version!r}")
        if version > VERSION:
            raise ValueError(
                f"this run has version {version}, and this library reads up to {VERSION}; update reasonact"
            )
        try:
            record = _reader().validate_python(data)
            History.from_any(list(record.events))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"this run is incomplete or damaged at {where}: {first['msg']}") from None
        except ValueError as error:
            raise ValueError(f"this run is damaged: {error}") from None
        return record


@cache
def _reader() -> TypeAdapter[RunRecord]:
    return TypeAdapter(RunRecord)
