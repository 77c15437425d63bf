"""From what a run left behind to its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.composing import HOOKS, overrides
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.two_step import TwoStepAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.types.history_form import dump_events
from reasonact.view.forms import predictor_form, signature_form, tool_form
from reasonact.view.live import LiveRun
from reasonact.view.log import RunLog, summed
from reasonact.view.record import Rendering, RunRecord, Turn

ADAPTERS: Final[Mapping[str, type[Adapter]]] = {
    cls.__name__: cls for cls in (ChatAdapter, JSONAdapter, XMLAdapter, TextProtocolAdapter, TwoStepAdapter)
}
"""The adapters that can be made again by name."""


def record_of(run: LiveRun) -> RunRecord:
    """Make the record of a run.

    Args:
        run: What it left behind.

    Returns:
        Everything as plain data.
    """
    log = run.log.plain()
    return RunRecord(
        agent=run.agent,
        kind=run.kind,
        signature=signature_form(run.signature),
        inputs=_event_form(run.inputs),
        events=tuple(dump_events(run.events, versioned=True)),
        start=log.start,
        pending=None if run.pending is None else _event_form(run.pending),
        outputs=_event_form(run.outputs),
        termination_reason=run.termination_reason,
        error=run.failure,
        turns=tuple(_turns(run, log)),
        views=tuple(log.views),
        totals=run.totals,
        rendering=_rendering(run),
    )


def _turns(run: LiveRun, log: RunLog) -> list[Turn]:
    turns: list[Turn] = []
    asked, event, clock = 0, log.start, 0.0
    for end in log.ends:
        requests = log.asked[asked : end.asked]
        turns.append(
            Turn(
                number=end.turn,
                stage=requests[-1].stage if requests else "turn",
                first_event=event,
                events=end.events - event,
                seconds=end.seconds - clock,
                calls=end.calls,
                spent=end.spent,
                requests=tuple(requests),
            )
        )
        asked, event, clock = end.asked, end.events, end.seconds
    rest, events = log.asked[asked:], len(run.events) - event
    if rest or events or run.pending is not None:
        notes = [note for item in rest for note in item.calls]
        turns.append(
            Turn(
                number=turns[-1].number + 1 if turns else 0,
                stage=rest[-1].stage if rest else "turn",
                first_event=event,
                events=events,
                seconds=max(0.0, run.totals.seconds - clock),
                calls=len(notes),
                spent=summed(notes),
                requests=tuple(rest),
                finished=run.failure is None,
            )
        )
    return turns


def _rendering(run: LiveRun) -> Rendering:
    adapter = run.adapter
    kinds = [cls.__name__ for cls in type(adapter).__mro__ if ADAPTERS.get(cls.__name__) is cls]
    return Rendering(
        adapter=type(adapter).__name__,
        base=kinds[0] if kinds else None,
        own_hooks=not kinds or overrides(adapter, *HOOKS),
        native_tools=bool(getattr(adapter, "use_native_function_calling", False)),
        fallback=bool(getattr(adapter, "use_json_adapter_fallback", False)),
        function_calling=bool(getattr(run.lm, "supports_function_calling", False)),
        reasoning=run.reasoning and bool(getattr(run.lm, "supports_reasoning", False)),
        predictors={name: predictor_form(asked, demos) for name, (asked, demos) in run.predictors.items()},
        tools=tuple(map(tool_form, run.tools)),
        max_result_chars=run.max_result_chars,
    )


def _event_form(values: Mapping[str, Any]) -> dict[str, Any]:
    return dump_events([values], versioned=False)[0]
