"""ReActV2: the structured agent. Any number of calls a turn; ``submit`` carries the outputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Optional

from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.layout import plain_type
from reasonact.agents.agent import Agent
from reasonact.agents.instructions import correction, react_v2_instructions, with_tool_names
from reasonact.agents.options import AgentOptions, SyncTools
from reasonact.agents.overflow import drop_oldest_turns
from reasonact.agents.result import AgentPrediction
from reasonact.agents.retyping import retyped_history
from reasonact.agents.run import Run, limit_reached, turn_finished
from reasonact.agents.run_state import AgentKind, PendingTurn, RunState
from reasonact.agents.settle import refuse_others, settle
from reasonact.agents.telling import tell_outputs, tell_thought
from reasonact.agents.tool_table import SUBMIT, submit_tool
from reasonact.agents.turn import Unusable, ask, closing_view, settle_submits, weight
from reasonact.errors import ContextWindowExceededError
from reasonact.modules.predict import Predict
from reasonact.runtime.events import ToolCalled, emit
from reasonact.runtime.flow import Flow
from reasonact.runtime.limits import FOR_MODEL_CALLS, Limits
from reasonact.runtime.settings import settings
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool
from reasonact.types.history import CORRECTION, History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

Outputs = dict[str, Any]

_RESERVED_INPUTS = ["history", "tools", "max_iters", "config", "lm", "demos", "signature", "next_thought", "tool_calls"]
_RESERVED_OUTPUTS = ["history", "termination_reason", "next_thought", "tool_calls", "signature"]

_NEVER_CALLED = ("truncate_trajectory", "_format_trajectory")


class ReActV2(Agent):
    """An agent whose history is structured: user, assistant and tool messages that only grow.

    A call takes the signature's inputs by keyword, and ``history`` (a `History`, its dict or
    its JSON text) to go on from, ``max_iters`` and ``tools`` for this call alone. It returns
    the outputs with ``history``, a new `History` of the whole conversation, and with
    ``termination_reason``: ``submit``, ``forced_submit`` or ``text_answer``; without
    outputs ``max_iters``, ``empty_tool_calls``, ``parse_error``,
    ``context_window_exceeded`` or ``limit``.

    Follows ``dspy.ReActV2`` of DSPy 3.4, which becomes ``dspy.ReAct`` in 3.5.

    Args:
        signature: The task, a `Signature` class or its string form.
        tools: Functions or `Tool` objects.
        max_iters: How many turns a run may take before it is asked to submit.
        strict: Raise where a run ends without outputs, as DSPy does, with ``history`` on
            the exception.
        max_bad_steps: How many turns in a row without a usable call are answered by a
            correction; 0: the first one leads to the forced submit.
        accept_text_answer: Take a plain text in place of a call as the answer, where the
            signature has one output and that is a text.
        on_overflow: ``policy(history) -> History | None``, for a full context; see
            `truncate_history`. `drop_oldest_turns` is one.
        max_result_chars: See `AgentOptions`; so for the options below.
        parallel_tools: How many calls of one turn may run side by side.
        sync_tools: Where sync tools run under ``acall``.
        limits: What a run may spend.
        ask_user: Offer the model a tool to ask the person it works for.
        on_confirmation: Asked where a tool needs a person's word.

    Raises:
        TypeError: A tool that cannot be called, an option of the wrong type or an unknown one.
        ValueError: A signature without outputs or with a field name that the agent uses
            itself; two tools of one name, or one named ``submit``.
    """

    kind: ClassVar[AgentKind] = "structured"
    ending: ClassVar[str] = SUBMIT
    reserved_inputs: ClassVar[frozenset[str]] = frozenset(_RESERVED_INPUTS)
    reserved_outputs: ClassVar[frozenset[str]] = frozenset(_RESERVED_OUTPUTS)

    def __init__(
        self,
        signature: str | type[Signature],
        tools: list[Callable[..., Any] | Tool],
        max_iters: int = 20,
        *,
        strict: bool = False,
        max_bad_steps: int = 0,
        accept_text_answer: bool = False,
        on_overflow: Callable[[History], History | None] | None = None,
        max_result_chars: int | None = 100_000,
        parallel_tools: int = 1,
        sync_tools: SyncTools = "thread",
        limits: Limits | None = None,
        ask_user: bool = False,
        on_confirmation: Callable[..., Any] | None = None,
    ) -> None:
        options = AgentOptions(
            max_bad_steps=max_bad_steps,
            max_result_chars=max_result_chars,
            parallel_tools=parallel_tools,
            sync_tools=sync_tools,
            limits=limits,
            ask_user=ask_user,
            on_confirmation=on_confirmation,
        )
        super().__init__(signature, tools, max_iters, options)
        if on_overflow is not None and not callable(on_overflow):
            raise TypeError(f"on_overflow is a {type(on_overflow).__name__}, which cannot be called")
        self.strict = strict
        self.accept_text_answer = accept_text_answer
        self.on_overflow = on_overflow
        self.react = Predict(self._turn_signature())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _NEVER_CALLED:
            if name in vars(cls):
                warnings.warn(
                    f"{cls.__name__} defines {name}, which the structured agent never calls: it has no trajectory. "
                    "Define truncate_history(history) to make room in a full context",
                    stacklevel=2,
                )

    def truncate_history(self, history: History) -> History | None:
        """Make room where a request did not fit the model's context window. Override it, or pass ``on_overflow``.

        The returned history of the run stays complete, whatever the model is shown.

        Args:
            history: What the model was shown; not to be changed.

        Returns:
            A shorter history to show from now on; None to end the loop and ask for
            ``submit`` on what fits.
        """
        return None if self.on_overflow is None else self.on_overflow(history)

    def _ending_tool(self) -> Tool:
        return submit_tool(self.signature)

    def _with_tools(self, instructions: str) -> str:
        return with_tool_names(instructions, self.tools)

    def _call_arguments(self) -> tuple[str, ...]:
        return ("max_iters", "tools", "history")

    def _turn_signature(self) -> type[Signature]:
        optional = Optional  # subscripted by value: an annotation may be any object, not only a type that takes `|`
        fields = {name: (optional[field.annotation], field) for name, field in self.signature.input_fields.items()}
        return (
            Signature(fields, react_v2_instructions(self.signature, self.tools))
            .append("history", InputField(), type_=History)
            .append("tools", InputField(), type_=list[Tool])
            .append("next_thought", OutputField(), type_=Reasoning)
            .append("tool_calls", OutputField(), type_=ToolCalls)
        )

    def _new_state(self, given: Mapping[str, Any]) -> RunState:
        state = super()._new_state(given)
        if given.get("history") is not None:
            read = retyped_history(self.signature, History.from_any(given["history"]))
            state.history = History.model_construct(messages=list(read.messages))
            if settings.grow_history_in_place and isinstance(given["history"], History):
                given["history"].messages[:] = read.messages
                state.history = given["history"]
        state.log.start = len(state.history.messages)
        return state

    def _steps(self, run: Run) -> Flow[AgentPrediction]:
        state = run.state
        if state.phase == "loop":
            reason, outputs = yield from self._converse(run)
            if outputs is not None:
                return self._result(run, reason, outputs)
            state.phase, state.reason = "close", reason
        return (yield from self._close(run))

    def _converse(self, run: Run) -> Flow[tuple[str, Outputs | None]]:
        """Turn after turn, until there is an answer or another reason to stop."""
        state = run.state
        while True:
            if state.pending is None:
                if state.turn >= state.max_iters:
                    return "max_iters", None
                if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
                    return "limit", None
                try:
                    reply = yield from self._ask(run)
                except ContextWindowExceededError:
                    return "context_window_exceeded", None
                if isinstance(reply, Unusable):
                    answer = self._text_answer(run, reply)
                    if answer is not None:
                        yield from tell_outputs(run, self.signature.output_fields, answer)
                        return "text_answer", answer
                    yield from self._add_unusable(run, reply)
                    if state.bad_steps > run.options.max_bad_steps:
                        return reply.reason, None
                    continue
                state.pending = reply
                yield from self._announce(run, reply)
            reached, outputs = yield from self._act(run, state.pending)
            if outputs is not None:
                return "submit", outputs
            if reached is not None:
                return "limit", None

    def _ask(self, run: Run) -> Flow[PendingTurn | Unusable]:
        """One turn's request, on a shorter view where the hook gives one."""
        while True:
            try:
                return (yield from ask(self.react, run, run.view, run.said_inputs(), native=self._calls_natively(run)))
            except ContextWindowExceededError:
                shorter = self.truncate_history(run.view)
                if shorter is not None and not isinstance(shorter, History):
                    raise TypeError(
                        f"truncate_history gives a History or None, not a {type(shorter).__name__}"
                    ) from None
                if shorter is None or weight(shorter) >= weight(run.view):
                    raise
                run.shorten(shorter)

    def _announce(self, run: Run, turn: PendingTurn) -> Flow[None]:
        if turn.thought is not None:
            yield from tell_thought(run, str(turn.thought))
        for item in turn.calls:
            yield from emit(ToolCalled(run.state.turn, item.id, item.name, item.args))

    def _act(self, run: Run, turn: PendingTurn) -> Flow[tuple[str | None, Outputs | None]]:
        """Settle a turn's calls, ``submit`` last, and add the turn to the history."""
        state = run.state
        reached = yield from settle(run, turn, ending=SUBMIT)
        outputs = yield from settle_submits(run, turn)
        yield from tell_outputs(run, self.signature.output_fields, outputs)
        run.add_turn(turn, outputs)
        state.pending, state.bad_steps = None, 0
        yield from turn_finished(run, state.turn)
        state.turn += 1
        return reached, outputs

    def _text_answer(self, run: Run, reply: Unusable) -> Outputs | None:
        """The outputs that a plain text in place of a call is, if it may be one and fits."""
        fields = self.signature.output_fields
        if not (self.accept_text_answer and reply.plain and reply.text.strip()) or len(fields) != 1:
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

    def _add_unusable(self, run: Run, reply: Unusable) -> Flow[None]:
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

    def _close(self, run: Run) -> Flow[AgentPrediction]:
        """One last request for ``submit``, on a view that fits."""
        state = run.state
        assert state.reason is not None
        if state.pending is None:
            if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
                state.reason = "limit"
                return self._without_outputs(run, None)
            state.turn = max(state.turn, state.max_iters)
            try:
                reply = yield from self._ask_to_submit(run)
            except ContextWindowExceededError as error:
                return self._without_outputs(run, error)
            if isinstance(reply, Unusable):
                if reply.text:
                    run.add_event(run.opening({"next_thought": reply.text}))
                return self._without_outputs(run, reply.error)
            state.pending = reply
            yield from self._announce(run, reply)
        turn = state.pending
        refuse_others(turn, SUBMIT, f"not run: only `{SUBMIT}` was asked for")
        outputs = yield from settle_submits(run, turn)
        yield from tell_outputs(run, self.signature.output_fields, outputs)
        run.add_turn(turn, outputs)
        state.pending = None
        yield from turn_finished(run, state.turn)
        return self._without_outputs(run, None) if outputs is None else self._result(run, "forced_submit", outputs)

    def _ask_to_submit(self, run: Run) -> Flow[PendingTurn | Unusable]:
        if run.state.reason == "context_window_exceeded":
            self._shorten_for_the_last(run)
        native = self._calls_natively(run)
        view = closing_view(run, self.signature, native=native)
        while True:
            try:
                return (yield from ask(self.react, run, view(run.view), None, native=native, forced=True))
            except ContextWindowExceededError:
                if not self._shorten_for_the_last(run):
                    raise

    def _shorten_for_the_last(self, run: Run) -> bool:
        shorter = drop_oldest_turns(run.view)
        if shorter is None or weight(shorter) >= weight(run.view):
            return False
        run.shorten(shorter)
        return True

    def _calls_natively(self, run: Run) -> bool:
        adapter: Adapter = settings.adapter or ChatAdapter()
        lm = run.overrides.get("lm") or getattr(self.react, "lm", None) or settings.lm
        return adapter.calls_natively(lm)

    def _without_outputs(self, run: Run, failure: Exception | None) -> AgentPrediction:
        """The end of a run that brought no outputs; ``strict`` raises what kept the last request from them."""
        reason = run.state.reason
        assert reason is not None
        if not self.strict:
            return self._result(run, reason, {})
        if failure is not None:
            raise failure
        raise ValueError(
            f"{type(self).__name__} ended without outputs: {reason}, and the last request brought no valid `submit`"
        )

    def _result(self, run: Run, reason: str, outputs: Outputs) -> AgentPrediction:
        run.state.reason = reason
        return AgentPrediction({**outputs, "history": run.state.history, "termination_reason": reason})
