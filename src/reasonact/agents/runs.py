"""What a call of an agent does: its state, its tools, the flow around its steps, and going on."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reasonact.adapters.conversation import INTERRUPTED
from reasonact.adapters.layout import layout_of
from reasonact.agents.confirmation import ConfirmationRequired
from reasonact.agents.left_behind import left_behind
from reasonact.agents.names import ASK
from reasonact.agents.options import AgentOptions, check_max_iters
from reasonact.agents.respond import forget, keep_paused, take_answered
from reasonact.agents.result import AgentPrediction, attach
from reasonact.agents.retyping import retyped, retyped_history
from reasonact.agents.run import Run, note_tokens, turn_event
from reasonact.agents.run_state import RunState, SettledCall
from reasonact.agents.settle import apply_decisions
from reasonact.agents.tool_table import clarification_tool, tool_table
from reasonact.agents.usage import usage_of
from reasonact.lm.usage import track_usage
from reasonact.modules.inputs import check_inputs
from reasonact.modules.module import reported
from reasonact.runtime.events import RunFinished, RunStarted, emit
from reasonact.runtime.flow import Flow, RaisedExit, call
from reasonact.runtime.limits import ReadClock
from reasonact.runtime.settings import settings
from reasonact.signatures.signature import ensure_signature
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.view.recorded_run import RecordedRun

if TYPE_CHECKING:
    from reasonact.agents.agent import Agent

# What a call of an agent hands through to its predictors, as calls of a predictor take it.
_FOR_PREDICTORS = ("lm", "config")


def set_up(agent: Agent, signature: Any, tools: Any, max_iters: Any, options: AgentOptions) -> None:
    """Give a new agent its signature, options and tools.

    Raises:
        TypeError, ValueError: As the agents' constructors say.
    """
    if signature is None:
        raise TypeError("an agent needs a signature, a class or a string such as 'question -> answer', found None")
    agent.signature = ensure_signature(signature)
    _check_names(agent)
    agent.max_iters = check_max_iters(max_iters)
    agent.options = options
    table = tool_table(tools, _reserved_tools(agent))
    if options.ask_user:
        table[ASK] = clarification_tool()
    ending = agent._ending_tool()
    agent.tools = {**table, ending.name: ending}


def run_flow(agent: Agent, given: Mapping[str, Any]) -> Flow[AgentPrediction]:
    """A call, from its arguments to the prediction."""
    _check_call(agent, given)
    paused = take_answered(agent, _asked(agent, given))
    if paused is None:
        return (yield from _tracked(agent, agent._new_state(given), given))
    return (yield from _tracked(agent, paused.state.copy(), given, paused.own_decisions()))


def refuse_positional(agent: Agent, given: tuple[Any, ...]) -> None:
    """Say how an agent is called.

    Raises:
        TypeError: Something was given without its name.
    """
    if given:
        names = list(agent.signature.input_fields) if "signature" in vars(agent) else []
        example = ", ".join(f"{name}=..." for name in names)
        raise TypeError(f"{type(agent).__name__} takes its inputs by name: agent({example})")


def _check_call(agent: Agent, given: Mapping[str, Any]) -> None:
    if "options" not in vars(agent):
        raise TypeError(f"{type(agent).__name__} is not set up: its __init__ does not call super().__init__()")
    config = given.get("config")
    if config is not None and not isinstance(config, Mapping) and not _is_input(agent, "config"):
        raise TypeError(f"config is a dict of options for the model, not a {type(config).__name__}")


def resume_flow(
    agent: Agent, decision: Any, state: RunState | str | None, tools: Any, claim: Callable[[str], bool] | None
) -> Flow[AgentPrediction]:
    """A stored run, from where its state stands to the prediction."""
    if state is None and isinstance(decision, RunState):
        decision, state = None, decision
    if state is None and isinstance(decision, str) and decision.lstrip().startswith("{"):
        decision, state = None, decision
    if isinstance(state, str):
        state = RunState.from_json(state)
    if not isinstance(state, RunState):
        swapped = " (the two are swapped)" if isinstance(decision, RunState) else ""
        raise TypeError(f"resume(decision, state) wants a RunState as its second argument{swapped}")
    if state.agent != agent.kind:
        raise ValueError(f"this state belongs to a {state.agent} agent; {type(agent).__name__} is a {agent.kind} one")
    _check_fits(agent, state)
    forget(agent, state.run_id)
    given = {} if tools is None else {"tools": tools}
    body = _tracked(agent, _restored(agent, state), given, decision, claim)
    prediction: AgentPrediction = yield from reported(agent, (), state.inputs, body)
    return prediction


def _check_fits(agent: Agent, state: RunState) -> None:
    fields = agent.signature.input_fields
    unknown = [name for name in state.inputs if name not in fields]
    missing = [name for name, field in fields.items() if name not in state.inputs and field.is_required()]
    if unknown or missing:
        said = "; ".join(
            f"{what} {', '.join(names)}"
            for what, names in (("the agent has no input", unknown), ("the state has no", missing))
            if names
        )
        raise ValueError(f"this state belongs to an agent with other inputs: {said}")


def _tracked(
    agent: Agent,
    state: RunState,
    given: Mapping[str, Any],
    decision: Any = None,
    claim: Callable[[str], bool] | None = None,
) -> Flow[AgentPrediction]:
    began = yield from call(ReadClock())
    with track_usage() as tracker:
        run = Run(
            state=state,
            options=agent.options,
            tools=_tools_of(agent, given, state),
            overrides={name: given[name] for name in _FOR_PREDICTORS if name in given and not _is_input(agent, name)},
            in_place=settings.grow_history_in_place and state.history is given.get("history"),
            tracker=tracker,
            began=began,
            before=state.spent,
        )
        try:
            if decision is not None:
                # Inside: where the second of two is refused, the first is used, and goes along in the error's state.
                apply_decisions(run, decision, ending=agent.ending, claim=claim)
            state.confirmations = {}
            yield from emit(RunStarted(type(agent).__name__, state.inputs))
            prediction: AgentPrediction = yield from agent._steps(run)
            state.spent = run.spent((yield from call(ReadClock())))
        except GeneratorExit:  # the driver is gone; nobody is left to hand the work to
            raise
        except BaseException as error:
            state.spent = run.spent((yield from call(ReadClock())))
            _hand_over(agent, error.error if isinstance(error, RaisedExit) else error, run)
            if isinstance(error, ConfirmationRequired):
                keep_paused(agent, _asked(agent, {**state.inputs, **given}), error)
            raise
    note_tokens(run)
    attach(prediction, **_additions(agent, run, prediction))
    yield from emit(RunFinished(prediction))
    return prediction


def _hand_over(agent: Agent, error: BaseException, run: Run) -> None:
    """Put the work so far on the exception that ends the run."""
    note_tokens(run)
    additions: dict[str, Any] = {"history": _with_pending(run), "state": run.state, **_additions(agent, run, error)}
    if run.state.trajectory is not None:
        additions["trajectory"] = run.state.trajectory
    for name, value in additions.items():
        try:
            setattr(error, name, value)
        except (AttributeError, TypeError):  # an exception with slots, or a read-only property of that name
            continue


def _with_pending(run: Run) -> History:
    """The history with the turn under way: the results that are there, and for the other calls that they have none.

    The state keeps that turn apart, as it goes on there.
    """
    state, turn = run.state, run.state.pending
    if turn is None:
        return state.history
    settled = {item.id: turn.settled.get(item.id) or SettledCall(INTERRUPTED, is_error=True) for item in turn.calls}
    said = {} if state.said else state.inputs
    return state.history.append({**said, **turn_event(turn, settled)})


def _additions(agent: Agent, run: Run, end: AgentPrediction | BaseException) -> dict[str, Any]:
    """What people look at afterwards: the usage, and the run with the ways to show it."""
    usage = usage_of(run.state.spent, run.state.turns)
    seen = RecordedRun(left_behind(agent, run, end, usage))
    ways: dict[str, Any] = {name: getattr(seen, name) for name in ("show", "to_html", "save_run", "_repr_html_")}
    return {"usage": usage, "forged_observations": run.state.forged_observations, "run": seen, **ways}


def new_state(agent: Agent, given: Mapping[str, Any]) -> RunState:
    """The state in which a call begins."""
    max_iters = given.get("max_iters")
    inputs = {
        name: given[name] if name in given else field.get_default(call_default_factory=True, validated_data={})
        for name, field in agent.signature.input_fields.items()
        if name in given or not field.is_required()
    }
    check_inputs(type(agent).__name__, agent.signature, given, {*agent._call_arguments(), *_FOR_PREDICTORS})
    past = layout_of(agent.signature).history
    if past is not None and inputs.get(past) is not None:
        inputs[past] = History.from_any(inputs[past])
    return RunState(
        agent=agent.kind,
        run_id=secrets.token_hex(8),
        inputs=inputs,
        history=History.model_construct(messages=[]),
        max_iters=agent.max_iters if max_iters is None else check_max_iters(max_iters),
    )


def _restored(agent: Agent, state: RunState) -> RunState:
    """A copy of a state in which values that were read from JSON have their declared types."""
    copied = state.copy()
    copied.inputs = dict(retyped(agent.signature, copied.inputs))
    copied.history = retyped_history(agent.signature, copied.history)
    copied.shown = None if copied.shown is None else retyped_history(agent.signature, copied.shown)
    return copied


def _asked(agent: Agent, given: Mapping[str, Any]) -> dict[str, Any]:
    """What of a call says what is asked, apart from how."""
    names = {*agent.signature.input_fields, *agent._call_arguments()} - {"max_iters", "tools"}
    return {name: given[name] for name in given if name in names or _is_input(agent, name)}


def _tools_of(agent: Agent, given: Mapping[str, Any], state: RunState) -> dict[str, Tool]:
    extra: dict[str, Tool] = {}
    if given.get("tools") is not None and not _is_input(agent, "tools"):
        extra = tool_table(given["tools"], _reserved_tools(agent))
    missing = [name for name in state.extra_tools if name not in extra]
    if missing:
        raise ValueError(
            f"this run was given tools of its own, which no state can hold: {', '.join(missing)}; "
            "pass them again, as in resume(decision, state, tools=[...])"
        )
    state.extra_tools = list(extra)
    if not extra:
        return dict(agent.tools)
    own = {name: tool for name, tool in agent.tools.items() if name != agent.ending}
    return {**own, **extra, agent.ending: agent.tools[agent.ending]}


def _is_input(agent: Agent, name: str) -> bool:
    return name in agent.signature.input_fields


def _reserved_tools(agent: Agent) -> tuple[str, ...]:
    return (agent.ending, ASK) if agent.options.ask_user else (agent.ending,)


def _check_names(agent: Agent) -> None:
    if not agent.signature.output_fields:
        raise ValueError(
            f"the signature {agent.signature.signature!r} has no output field; an agent needs one to end on"
        )
    for fields, reserved, role in (
        (agent.signature.input_fields, agent.reserved_inputs, "an input"),
        (agent.signature.output_fields, agent.reserved_outputs, "an output"),
    ):
        for name in fields:
            if name in reserved:
                raise ValueError(
                    f"{type(agent).__name__} uses the name {name!r} itself, so {role} field cannot have it; "
                    "give the field another name"
                )
