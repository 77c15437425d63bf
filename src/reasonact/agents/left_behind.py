"""What a run leaves behind for people to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reasonact.adapters.active import active_adapter
from reasonact.agents.result import AgentPrediction
from reasonact.agents.run import Run, calls_of
from reasonact.agents.usage import RunUsage
from reasonact.runtime.settings import settings
from reasonact.view.live import LiveRun, Totals, failure_of

if TYPE_CHECKING:
    from reasonact.agents.agent import Agent


def left_behind(agent: Agent, run: Run, end: AgentPrediction | BaseException, usage: RunUsage) -> LiveRun:
    """Gather what a record of a run is made from, by reference.

    Args:
        agent: The agent.
        run: The run, which is over.
        end: The prediction, or the exception that ended it.
        usage: What it spent.

    Returns:
        The run.
    """
    state = run.state
    failed = isinstance(end, BaseException)
    predictors = {name.partition(".")[0]: predict for name, predict in agent.named_predictors()}
    asked = {
        name: ((name == "react" and run.signature) or predict.signature, list(predict.demos))
        for name, predict in predictors.items()
    }
    react = predictors.get("react")
    lm = run.overrides.get("lm") or getattr(react, "lm", None) or settings.lm
    options = {**getattr(lm, "kwargs", {}), **getattr(react, "config", {}), **run.overrides.get("config", {})}
    return LiveRun(
        agent=type(agent).__name__,
        kind=agent.kind,
        signature=agent.signature,
        inputs=state.inputs,
        events=list(state.history.messages) if run.in_place else state.history.messages,
        log=state.log,
        pending=_pending(run),
        outputs={} if isinstance(end, BaseException) else _outputs(agent, end),
        termination_reason=None if failed else state.reason,
        failure=failure_of(end) if isinstance(end, BaseException) else None,
        predictors=asked,
        tools=list(run.tools.values()),
        adapter=active_adapter(),
        lm=lm,
        reasoning=options.get("reasoning_effort", "") is not None,
        max_result_chars=run.options.max_result_chars,
        totals=Totals(
            model_calls=usage.calls,
            cached_calls=usage.cached_calls,
            tool_calls=usage.tool_calls,
            total_tokens=usage.total_tokens,
            cost_usd=usage.cost_usd,
            seconds=usage.seconds,
        ),
    )


def _pending(run: Run) -> dict[str, Any] | None:
    turn = run.state.pending
    if turn is None:
        return None
    thought = {} if turn.thought is None else {"next_thought": turn.thought}
    return {**thought, "tool_calls": calls_of(turn.calls, turn.settled)}


def _outputs(agent: Agent, prediction: AgentPrediction) -> dict[str, Any]:
    """The outputs, and the extractor's reasoning; not what the agent adds under names of its own."""
    added = {"trajectory", "history", "termination_reason"} - set(agent.signature.output_fields)
    return {name: value for name, value in prediction.items() if name not in added}
