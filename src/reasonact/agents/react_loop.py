"""ReAct's loop: step after step on the trajectory, then the extractor.

The loop follows Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models"
(2022), in DSPy's form: the steps so far are one dict, rendered into one input field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from reasonact.adapters.clip import clipped_observations
from reasonact.adapters.step_form import offer_tools
from reasonact.adapters.text_protocol import FORGED
from reasonact.agents.bad_step import BadStep, judged, problem_step
from reasonact.agents.instructions import correction, react_instructions, with_tool_block
from reasonact.agents.names import FINISH
from reasonact.agents.result import AgentPrediction, attach
from reasonact.agents.run import Run, calls_of, limit_reached, turn_finished, with_ids
from reasonact.agents.run_state import PendingTurn, SettledCall
from reasonact.agents.settle import announce, settle
from reasonact.agents.telling import tell_thought
from reasonact.agents.trajectory import shrinking
from reasonact.errors import AdapterParseError, ContextWindowExceededError
from reasonact.modules.chain_of_thought import ChainOfThought
from reasonact.modules.predict import Predict
from reasonact.runtime.events import ToolCalled, emit
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.limits import FOR_MODEL_CALLS
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.execute import Invocation, RunTools
from reasonact.tools.tool import Tool
from reasonact.types.history import CORRECTION, History

if TYPE_CHECKING:
    from reasonact.agents.react import ReAct


_REASONING: Final = "extraction_reasoning"  # the extractor's own field beside an input `reasoning`


def predictors(agent: ReAct) -> tuple[Any, Any]:
    """The step predictor and the extractor of an agent whose signature and tools are set."""
    instructions = react_instructions(agent.signature, agent.tools)
    return (
        Predict(_step_signature(agent, instructions, agent.tools)),
        _extractor(agent.signature.append("trajectory", InputField(), type_=str)),
    )


def _extractor(signature: type[Signature]) -> ChainOfThought:
    extract = ChainOfThought(signature)
    if "reasoning" in signature.input_fields:  # the extractor's own field must not take the input's place
        extract.predict = Predict(signature.prepend(_REASONING, OutputField(desc="${reasoning}"), type_=str))
    return extract


def _step_signature(agent: ReAct, instructions: str, tools: Mapping[str, Tool]) -> type[Signature]:
    names = Literal[tuple(tools)]  # type: ignore[valid-type]
    signature = (
        Signature(
            {name: (field.annotation, field) for name, field in agent.signature.input_fields.items()}, instructions
        )
        .append("trajectory", InputField(), type_=str)
        .append("next_thought", OutputField(), type_=str)
        .append("next_tool_name", OutputField(), type_=names)
        .append("next_tool_args", OutputField(), type_=dict[str, Any])
    )
    offer_tools(signature, tools.values())
    return signature


def steps(agent: ReAct, run: Run) -> Flow[AgentPrediction]:
    """A run, from where its state stands to the prediction."""
    state = run.state
    if state.trajectory is None:
        state.trajectory = {}
    if state.phase == "loop":
        state.reason = yield from _navigate(agent, run)
        state.phase = "close"
    return (yield from _extract(agent, run))


def _navigate(agent: ReAct, run: Run) -> Flow[str]:
    """Step after step, until there is a reason to stop."""
    state = run.state
    while True:
        if state.pending is None:
            if state.turn >= state.max_iters:
                return "max_iters"
            if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
                return "limit"
            try:
                step = yield from _next_step(agent, run)
            except ContextWindowExceededError:
                return "context_window_exceeded"
            if isinstance(step, BadStep):
                yield from _record_bad_step(agent, run, step)
                if state.bad_steps >= run.options.max_bad_steps:
                    return "bad_steps"
                continue
            state.pending = step
            yield from tell_thought(run, str(step.thought or ""))
            for item in step.calls:
                yield from emit(ToolCalled(state.turn, item.id, item.name, item.args))
        reason = yield from _act(agent, run, state.pending)
        if reason is not None:
            return reason


def _next_step(agent: ReAct, run: Run) -> Flow[PendingTurn | BadStep]:
    overrides = dict(run.overrides)
    if run.state.extra_tools:
        if run.signature is None:
            instructions = with_tool_block(agent.react.signature.instructions, run.tools)
            run.signature = _step_signature(agent, instructions, run.tools)
        overrides["signature"] = run.signature
    else:
        # With other instructions, of an optimizer or a saved file, it is another signature.
        offer_tools(getattr(agent.react, "signature", None), run.tools.values())
    try:
        step = yield from shrinking(agent, run, agent.react, {**run.state.inputs, **overrides})
    except AdapterParseError as error:
        run.state.forged_observations += error.forged_observations
        found = problem_step(error, run.tools)
        if isinstance(found, BadStep) and run.options.max_bad_steps == 0:
            raise
    else:
        run.state.forged_observations += step.get(FORGED) or 0
        found = judged(step, run.tools)
    if isinstance(found, BadStep):
        return found
    calls = with_ids(run, [(found.call_id, found.name, found.args, None)])
    return PendingTurn(found.thought, calls)


def _act(agent: ReAct, run: Run, turn: PendingTurn) -> Flow[str | None]:
    """Run the step's call and add the step to the trajectory."""
    state = run.state
    reached = yield from settle(run, turn, ending=FINISH)
    (item,) = turn.calls  # a person may have edited the arguments
    if item.name == FINISH:
        finished = yield from call(RunTools((Invocation(run.tools[FINISH], dict(item.args)),)))
        turn.settled[item.id] = SettledCall(finished[0].value, finished[0].is_error)
        yield from announce(run, turn)
    done = turn.settled[item.id]
    _record(agent, run, turn.thought, item.name, dict(item.args), done)
    run.add_event(run.opening({"next_thought": turn.thought, "tool_calls": calls_of(turn.calls, turn.settled)}))
    state.pending, state.bad_steps = None, 0
    yield from turn_finished(run, state.turn)
    state.turn += 1
    if item.name == FINISH:
        return FINISH
    return "limit" if reached is not None else None


def _record(agent: ReAct, run: Run, thought: Any, name: str, args: dict[str, Any], done: SettledCall) -> None:
    number = run.state.turn
    step = {
        f"thought_{number}": thought,
        f"tool_name_{number}": name,
        f"tool_args_{number}": args,
        f"observation_{number}": done.value,
    }
    if done.is_error:
        run.state.failed_steps.append(number)
    assert run.state.trajectory is not None
    run.state.trajectory.update(step)
    if run.state.view is not None:
        run.state.view.update(step)
    run.clips.update(clipped_observations(step, run.options.max_result_chars))


def _record_bad_step(agent: ReAct, run: Run, step: BadStep) -> Flow[None]:
    state = run.state
    observation = correction(step.problem, run.tools)
    done = SettledCall(observation, is_error=True)
    _record(agent, run, step.thought, step.name, dict(step.args), done)
    if step.name:
        calls = with_ids(run, [(step.call_id, step.name, step.args, None)])
        event = {"next_thought": step.thought, "tool_calls": calls_of(calls, {calls[0].id: done})}
    else:
        event = {"next_thought": step.thought, CORRECTION: observation}
    run.add_event(run.opening(event))
    state.bad_steps += 1
    yield from tell_thought(run, step.thought)
    yield from turn_finished(run, state.turn)
    state.turn += 1


def _extract(agent: ReAct, run: Run) -> Flow[AgentPrediction]:
    state = run.state
    if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
        state.reason = "limit"
        return _result(agent, run, {})
    outputs = yield from shrinking(agent, run, agent.extract, {**state.inputs, **run.overrides})
    return _result(agent, run, dict(outputs.items()))


def _result(agent: ReAct, run: Run, outputs: dict[str, Any]) -> AgentPrediction:
    state = run.state
    if outputs:
        declared = {name: outputs[name] for name in agent.signature.output_fields if name in outputs}
        state.history = _with_outputs(state.history, declared, run)
    prediction = AgentPrediction({"trajectory": state.trajectory, **outputs})
    attach(prediction, history=state.history, termination_reason=state.reason)
    return prediction


def _with_outputs(history: History, outputs: dict[str, Any], run: Run) -> History:
    """The history with the outputs on the event that ended the run, or, where none did, on one of their own."""
    if run.state.reason == FINISH:
        *before, last = history.messages
        return History.model_construct(messages=[*before, {**last, **outputs}])
    return history.append(run.opening(outputs))
