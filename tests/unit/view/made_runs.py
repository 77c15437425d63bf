"""Runs made by hand, as an agent would have left them."""

from __future__ import annotations

from typing import Any

from reasonact.adapters.chat import ChatAdapter
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCallResults, ToolCalls
from reasonact.view.live import Failure, LiveRun, Totals
from reasonact.view.log import Asked, CallNote, RunLog, TurnEnd, summed
from reasonact.view.record import RunRecord
from reasonact.view.recording import record_of

HOSTILE = "</pre></details><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>&amp;\x1b[31m\u202e"


def search(query: str) -> str:
    """Search."""
    return query


def event(thought: str | None, *calls: tuple[str, dict[str, Any], Any, bool], **others: Any) -> dict[str, Any]:
    """One turn's event; calls are (name, args, value, is_error)."""
    ids = [f"call_{abs(hash(str(calls))) % 1000}_{number}" for number in range(len(calls))]
    said = {} if thought is None else {"next_thought": thought}
    made = ToolCalls(
        tool_calls=[
            ToolCalls.ToolCall(id=id, name=name, args=args) for id, (name, args, _, _) in zip(ids, calls, strict=True)
        ],
        tool_call_results=ToolCallResults(
            tool_call_results=[
                ToolCallResults.ToolCallResult(call_id=id, name=name, value=value, is_error=failed)
                for id, (name, _, value, failed) in zip(ids, calls, strict=True)
            ]
        ),
    )
    return {**others, **said, "tool_calls": made}


def made_run(
    events: list[dict[str, Any]] | None = None,
    inputs: dict[str, Any] | None = None,
    outputs: dict[str, Any] | None = None,
    price: float | None = 0.002,
    failure: Failure | None = None,
) -> RunRecord:
    """A run of ReActV2 with one request for each event."""
    inputs = {"question": "How far is it?"} if inputs is None else inputs
    outputs = {"answer": "Far."} if outputs is None else outputs
    if events is None:
        long = "\n".join(f"line {number} of what was found" for number in range(40))
        events = [
            event("I search first.", ("search", {"query": "distance"}, long, False), **inputs),
            event("Once more.", ("search", {"query": "x" * 300}, "search: OSError: no line", True)),
            event(None, ("submit", outputs, outputs, False)),
        ]
    log = RunLog()
    for number, _ in enumerate(events):
        note = CallNote("small-model", 100 * (number + 1), 64 * number, 20, price, False, 2 + 2 * number)
        log.asked.append(Asked("turn", number, number, number == 0, calls=(note,), new_messages=2, seconds=0.4))
        log.ends.append(TurnEnd(number, number + 1, number + 1, 0.5 * (number + 1), 1, summed([note])))
    turn_signature = (
        Signature({name: (str, InputField()) for name in inputs}, "Answer the question.")
        .append("history", InputField(), type_=History)
        .append("tools", InputField(), type_=list[Tool])
        .append("next_thought", OutputField(), type_=Reasoning)
        .append("tool_calls", OutputField(), type_=ToolCalls)
    )
    count = len(events)
    return record_of(
        LiveRun(
            agent="ReActV2",
            kind="structured",
            signature=Signature(f"{', '.join(inputs)} -> {', '.join(outputs) or 'answer'}"),
            inputs=inputs,
            events=events,
            log=log,
            pending=None,
            outputs=outputs,
            termination_reason=None if failure else "submit",
            failure=failure,
            predictors={"react": (turn_signature, [])},
            tools=[Tool(search)],
            adapter=ChatAdapter(use_native_function_calling=True),
            lm=None,
            reasoning=False,
            max_result_chars=100_000,
            totals=Totals(count, 0, count, 120 * count, None if price is None else price * count, 0.5 * count),
        )
    )
