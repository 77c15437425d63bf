"""One turn of ReActV2: asking for it, reading it, and settling what ends the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.adapters.conversation import RETURNED
from reasonact.adapters.text_protocol import FORGED
from reasonact.adapters.unreadable import UnreadableCall
from reasonact.agents.instructions import ask_to_submit, with_tool_names
from reasonact.agents.names import SUBMIT
from reasonact.agents.run import Run, noted, with_ids
from reasonact.agents.run_state import PendingTurn, SettledCall
from reasonact.agents.settle import announce
from reasonact.agents.telling import told_live
from reasonact.errors import AdapterParseError
from reasonact.modules.predict import call_predict
from reasonact.runtime.flow import Flow, call
from reasonact.signatures.signature import Signature
from reasonact.tools.execute import Invocation, Outcome, RunTools
from reasonact.types.history import CORRECTION, History
from reasonact.types.tool_calls import ToolCalls


@dataclass(frozen=True, slots=True)
class Unusable:
    """A turn without a call.

    Args:
        reason: ``empty_tool_calls`` or ``parse_error``.
        text: What the model wrote instead.
        plain: Whether that is a text free of the adapter's scaffold.
        problem: What was wrong, for the model.
        error: The parse failure, if that is what it was.
    """

    reason: str
    text: str
    plain: bool
    problem: str
    error: AdapterParseError | None = None


def ask(
    predict: Any, run: Run, view: History, inputs: Mapping[str, Any] | None, *, native: bool, forced: bool = False
) -> Flow[PendingTurn | Unusable]:
    """Ask for one turn.

    Args:
        predict: The agent's predictor.
        run: The run.
        view: The history to show.
        inputs: The inputs to say, or None where the history says them.
        native: Whether the request carries native tools.
        forced: Ask for ``submit`` and nothing else.

    Returns:
        The turn with its calls, or what came instead.

    Raises:
        ContextWindowExceededError: The request does not fit.
        LMError: The model could not be asked.
    """
    signature: type[Signature] = predict.signature
    names = [name for name in signature.input_fields if name not in ("history", "tools")]
    said: dict[str, Any] = dict.fromkeys(names) if inputs is None else dict(inputs)
    arguments: dict[str, Any] = {**said, "history": view, "tools": list(run.tools.values()), **run.overrides}
    if run.state.extra_tools:
        if run.signature is None:  # made once: what is rendered so far belongs to the signature
            run.signature = signature.with_instructions(with_tool_names(signature.instructions, run.tools))
        arguments["signature"] = run.signature
    if forced:
        # Reasoning is switched off along with it, as some providers refuse a forced call beside it.
        choice = {"tool_choice": {"type": "function", "function": {"name": SUBMIT}}, "reasoning_effort": None}
        arguments["config"] = {**arguments.get("config", {}), **choice}
    try:
        reply = yield from noted(
            run,
            "submit" if forced else "turn",
            told_live(run, call_predict(predict, arguments, run.rendered)),
            said=inputs is not None,
            extra=tuple(view.messages[len(run.view.messages) :]),
        )
    except AdapterParseError as error:
        run.state.forged_observations += error.forged_observations
        plain = not error.raw_fields and not error.parsed_result
        # What stands under markers is kept without them: they are written anew around the thought.
        fields = list(error.raw_fields.values())
        marked = bool(fields) and all(isinstance(part, str) for part in fields)
        text = "\n\n".join(part for part in (fields if marked else [error.lm_response]) if part).strip()
        return Unusable("parse_error", text, plain, f"it could not be read ({_first_line(error)}).", error)
    run.state.forged_observations += reply.get(FORGED) or 0
    thought = reply.get("next_thought")
    calls = reply.get("tool_calls")
    if not isinstance(calls, ToolCalls) or not calls.tool_calls:
        return Unusable("empty_tool_calls", str(thought or ""), native, "it holds no tool call.")
    return PendingTurn(
        None if thought is None else str(thought),
        with_ids(run, [(item.id, item.name, item.args, _problem(item)) for item in calls.tool_calls]),
        extra={RETURNED: reply[RETURNED]} if reply.get(RETURNED) else {},
    )


def closing_view(run: Run, signature: type[Signature], *, native: bool) -> Callable[[History], History]:
    """What turns a history into that of the forced submit.

    Inputs that no event has said yet are said; a closing user message asks for ``submit``
    where the request has no ``tool_choice`` to do so, or would end with an assistant turn,
    which some providers refuse. The message is no part of the run's history.

    Args:
        run: The run.
        signature: The task.
        native: Whether the request carries native tools.

    Returns:
        A function from the history shown so far to the one to show now.
    """

    def view(history: History) -> History:
        shown = history if run.state.said else history.append(dict(run.state.inputs))
        last = shown.messages[-1] if shown.messages else {}
        if native and ("tool_calls" in last or "next_thought" not in last or CORRECTION in last):
            return shown
        return shown.append({CORRECTION: ask_to_submit(signature.output_fields)})

    return view


def settle_submits(run: Run, turn: PendingTurn) -> Flow[dict[str, Any] | None]:
    """Validate a turn's ``submit`` calls; the first valid one ends the run.

    Args:
        run: The run.
        turn: The turn; each ``submit`` in it gets a result.

    Returns:
        The outputs, of their declared types, or None.
    """
    outputs: dict[str, Any] | None = None
    for item in turn.calls:
        if item.name != SUBMIT or item.id in turn.settled:
            continue
        if outputs is not None:
            done = SettledCall("Only one `submit` counts, and an earlier one in this turn was valid.", is_error=True)
        elif item.problem is not None:
            done = SettledCall(item.problem, is_error=True)
        else:
            outcome: Outcome = (yield from call(RunTools((Invocation(run.tools[SUBMIT], dict(item.args)),))))[0]
            done = SettledCall(outcome.value, outcome.is_error)
            outputs = None if outcome.is_error else outcome.value
        turn.settled[item.id] = done
    yield from announce(run, turn)
    return outputs


def weight(history: History) -> int:
    """How much text a history holds, in characters, to tell a shorter one."""
    return sum(len(str(event)) for event in history.messages)


def _problem(item: ToolCalls.ToolCall) -> str | None:
    return item.problem if isinstance(item, UnreadableCall) else None


def _first_line(error: AdapterParseError) -> str:
    return error.message.split("\n", 1)[0]
