"""ReActV2's loop: turn after turn on the history, and a last request for ``submit``."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Optional

from pydantic import ValidationError

from reasonact.adapters.active import active_adapter
from reasonact.adapters.layout import plain_type
from reasonact.agents import runs
from reasonact.agents.instructions import correction, react_v2_instructions
from reasonact.agents.names import SUBMIT
from reasonact.agents.overflow import drop_oldest_turns
from reasonact.agents.result import AgentPrediction
from reasonact.agents.retyping import retyped_history
from reasonact.agents.run import Run, limit_reached, turn_finished
from reasonact.agents.run_state import PendingTurn, RunState
from reasonact.agents.settle import refuse_others, settle
from reasonact.agents.telling import tell_outputs, tell_thought
from reasonact.agents.turn import Unusable, ask, closing_view, settle_submits, weight
from reasonact.errors import ContextWindowExceededError
from reasonact.lm.base import BaseLM
from reasonact.modules.predict import Predict
from reasonact.runtime.events import ToolCalled, emit
from reasonact.runtime.flow import Flow
from reasonact.runtime.limits import FOR_MODEL_CALLS
from reasonact.runtime.settings import settings
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool
from reasonact.types.history import CORRECTION, History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

if TYPE_CHECKING:
    from reasonact.agents.react_v2 import ReActV2

Outputs = dict[str, Any]


def predictor(agent: ReActV2) -> Predict:
    """The predictor of an agent whose signature and tools are set."""
    return Predict(_turn_signature(agent))


def _turn_signature(agent: ReActV2) -> type[Signature]:
    optional = Optional  # subscripted by value: an annotation may be any object, not only a type that takes `|`
    fields = {name: (optional[field.annotation], field) for name, field in agent.signature.input_fields.items()}
    return (
        Signature(fields, react_v2_instructions(agent.signature, agent.tools))
        .append("history", InputField(), type_=History)
        .append("tools", InputField(), type_=list[Tool])
        .append("next_thought", OutputField(), type_=Reasoning)
        .append("tool_calls", OutputField(), type_=ToolCalls)
    )


def new_state(agent: ReActV2, given: Mapping[str, Any]) -> RunState:
    """The state in which a call begins: with the history that it goes on from."""
    state = runs.new_state(agent, given)
    if given.get("history") is not None:
        read = retyped_history(agent.signature, _with_calls(History.from_any(given["history"])))
        state.history = History.model_construct(messages=list(read.messages))
        if settings.grow_history_in_place and isinstance(given["history"], History):
            given["history"].messages[:] = read.messages
            state.history = given["history"]
    state.log.start = len(state.history.messages)
    return state


def _with_calls(history: History) -> History:
    """The history with the calls of every event as objects, in whatever form they were given."""
    if all(isinstance(event.get("tool_calls"), (ToolCalls, NoneType)) for event in history.messages):
        return history
    events = []
    for number, event in enumerate(history.messages):
        try:
            calls = event.get("tool_calls")
            events.append(event if calls is None else {**event, "tool_calls": ToolCalls.model_validate(calls)})
        except ValueError as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise ValueError(f"this is no history: event {number} holds no tool calls: {why}") from None
    return History.from_any(events)  # where each call gets an id of its own


def steps(agent: ReActV2, run: Run) -> Flow[AgentPrediction]:
    """A run, from where its state stands to the prediction."""
    state = run.state
    if state.phase == "loop":
        reason, outputs = yield from _converse(agent, run)
        if outputs is not None:
            return _result(agent, run, reason, outputs)
        state.phase, state.reason = "close", reason
    return (yield from _close(agent, run))


def _converse(agent: ReActV2, run: Run) -> Flow[tuple[str, Outputs | None]]:
    """Turn after turn, until there is an answer or another reason to stop."""
    state = run.state
    while True:
        if state.pending is None:
            if state.turn >= state.max_iters:
                return "max_iters", None
            if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
                return "limit", None
            try:
                reply = yield from _turn(agent, run)
            except ContextWindowExceededError:
                return "context_window_exceeded", None
            if isinstance(reply, Unusable):
                answer = _text_answer(agent, run, reply)
                if answer is not None:
                    yield from tell_outputs(run, agent.signature.output_fields, answer)
                    return "text_answer", answer
                yield from _add_unusable(agent, run, reply)
                if state.bad_steps > run.options.max_bad_steps:
                    return reply.reason, None
                continue
            state.pending = reply
            yield from _announce(agent, run, reply)
        reached, outputs = yield from _act(agent, run, state.pending)
        if outputs is not None:
            return "submit", outputs
        if reached is not None:
            return "limit", None


def _turn(agent: ReActV2, run: Run) -> Flow[PendingTurn | Unusable]:
    """One turn's request, on a shorter view where the hook gives one."""
    while True:
        try:
            return (yield from ask(agent.react, run, run.view, run.said_inputs(), native=_calls_natively(agent, run)))
        except ContextWindowExceededError:
            shorter = agent.truncate_history(run.view)
            if shorter is not None and not isinstance(shorter, History):
                raise TypeError(f"truncate_history gives a History or None, not a {type(shorter).__name__}") from None
            if shorter is None or weight(shorter) >= weight(run.view):
                raise
            run.shorten(shorter)


def _announce(agent: ReActV2, run: Run, turn: PendingTurn) -> Flow[None]:
    if turn.thought is not None:
        yield from tell_thought(run, str(turn.thought))
    for item in turn.calls:
        yield from emit(ToolCalled(run.state.turn, item.id, item.name, item.args))


def _act(agent: ReActV2, run: Run, turn: PendingTurn) -> Flow[tuple[str | None, Outputs | None]]:
    """Settle a turn's calls, ``submit`` last, and add the turn to the history."""
    state = run.state
    reached = yield from settle(run, turn, ending=SUBMIT)
    outputs = yield from settle_submits(run, turn)
    yield from tell_outputs(run, agent.signature.output_fields, outputs)
    run.add_turn(turn, outputs)
    state.pending, state.bad_steps = None, 0
    yield from turn_finished(run, state.turn)
    state.turn += 1
    return reached, outputs


def _text_answer(agent: ReActV2, run: Run, reply: Unusable) -> Outputs | None:
    """The outputs that a plain text in place of a call is, if it may be one and fits."""
    fields = agent.signature.output_fields
    if not (agent.accept_text_answer and reply.plain and reply.text.strip()) or len(fields) != 1:
        return None
    ((name, field),) = fields.items()
    if plain_type(field.annotation) is not str:
        return None
    try:
        outputs = run.tools[SUBMIT].check_args({name: reply.text})
    except InvalidArguments:
        return None
    run.add_event(run.opening(outputs))
    return outputs


def _add_unusable(agent: ReActV2, run: Run, reply: Unusable) -> Flow[None]:
    state = run.state
    state.bad_steps += 1
    event: dict[str, Any] = {"next_thought": reply.text} if reply.text else {}
    if state.bad_steps <= run.options.max_bad_steps:
        event[CORRECTION] = correction(reply.problem, run.tools)
    if event:
        run.add_event(run.opening(event))
    if reply.text:
        yield from tell_thought(run, reply.text)
    yield from turn_finished(run, state.turn)
    state.turn += 1


def _close(agent: ReActV2, run: Run) -> Flow[AgentPrediction]:
    """One last request for ``submit``, on a view that fits."""
    state = run.state
    assert state.reason is not None
    if state.pending is None:
        if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
            state.reason = "limit"
            return _without_outputs(agent, run, None)
        state.turn = max(state.turn, state.max_iters)
        try:
            reply = yield from _ask_to_submit(agent, run)
        except ContextWindowExceededError as error:
            return _without_outputs(agent, run, error)
        if isinstance(reply, Unusable):
            if reply.text:
                run.add_event(run.opening({"next_thought": reply.text}))
            return _without_outputs(agent, run, reply.error)
        state.pending = reply
        yield from _announce(agent, run, reply)
    turn = state.pending
    refuse_others(turn, SUBMIT, f"not run: only `{SUBMIT}` was asked for")
    outputs = yield from settle_submits(run, turn)
    yield from tell_outputs(run, agent.signature.output_fields, outputs)
    run.add_turn(turn, outputs)
    state.pending = None
    yield from turn_finished(run, state.turn)
    return _without_outputs(agent, run, None) if outputs is None else _result(agent, run, "forced_submit", outputs)


def _ask_to_submit(agent: ReActV2, run: Run) -> Flow[PendingTurn | Unusable]:
    if run.state.reason == "context_window_exceeded":
        _shorten_for_the_last(agent, run)
    native = _calls_natively(agent, run)
    view = closing_view(run, agent.signature, native=native)
    while True:
        try:
            return (yield from ask(agent.react, run, view(run.view), None, native=native, forced=True))
        except ContextWindowExceededError:
            if not _shorten_for_the_last(agent, run):
                raise


def _shorten_for_the_last(agent: ReActV2, run: Run) -> bool:
    shorter = drop_oldest_turns(run.view)
    if shorter is None or weight(shorter) >= weight(run.view):
        return False
    run.shorten(shorter)
    return True


def _calls_natively(agent: ReActV2, run: Run) -> bool:
    lm = run.overrides.get("lm") or getattr(agent.react, "lm", None) or settings.lm
    return isinstance(lm, BaseLM) and active_adapter().calls_natively(lm)  # of another one the predictor will speak


def _without_outputs(agent: ReActV2, run: Run, failure: Exception | None) -> AgentPrediction:
    """The end of a run that brought no outputs; ``strict`` raises what kept the last request from them."""
    reason = run.state.reason
    assert reason is not None
    if not agent.strict:
        return _result(agent, run, reason, {})
    if failure is not None:
        raise failure
    raise ValueError(
        f"{type(agent).__name__} ended without outputs: {reason}, and the last request brought no valid `submit`"
    )


def _result(agent: ReActV2, run: Run, reason: str, outputs: Outputs) -> AgentPrediction:
    run.state.reason = reason
    return AgentPrediction({**outputs, "history": run.state.history, "termination_reason": reason})
