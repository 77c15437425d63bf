"""ReAct: the trajectory agent. One tool call a step, then an extractor for the outputs.

The loop follows Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models"
(2022), in DSPy's form: the steps so far are one dict, rendered into one input field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from reasonact.agents.agent import Agent
from reasonact.agents.bad_step import BadStep, judged, problem_step
from reasonact.agents.instructions import correction, react_instructions, with_tool_block
from reasonact.agents.options import AgentOptions, SyncTools
from reasonact.agents.result import AgentPrediction, attach
from reasonact.agents.run import Run, calls_of, limit_reached, turn_finished, with_ids
from reasonact.agents.run_state import AgentKind, PendingTurn, SettledCall
from reasonact.agents.settle import announce, settle
from reasonact.agents.telling import tell_thought
from reasonact.agents.tool_table import FINISH, finish_tool
from reasonact.agents.trajectory import STEP_KEYS, rendered_trajectory, shrinking
from reasonact.errors import AdapterParseError, ContextWindowExceededError
from reasonact.modules.chain_of_thought import ChainOfThought
from reasonact.modules.predict import Predict
from reasonact.runtime.events import ToolCalled, emit
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.limits import FOR_MODEL_CALLS, Limits
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.execute import Invocation, RunTools
from reasonact.tools.tool import Tool
from reasonact.types.history import CORRECTION, History

_RESERVED_INPUTS = [
    "trajectory",
    "max_iters",
    "config",
    "lm",
    "demos",
    "signature",
    "next_thought",
    "next_tool_name",
    "next_tool_args",
]


class ReAct(Agent):
    """An agent that thinks, calls one tool, sees its result, and goes on until it calls ``finish``.

    A call takes the signature's inputs by keyword, and ``max_iters`` and ``tools`` for this
    call alone. It returns the outputs with ``trajectory``, a dict that holds
    ``thought_i``, ``tool_name_i``, ``tool_args_i`` and ``observation_i`` for each step, and
    with ``reasoning``, the extractor's. The prediction also knows its ``history`` and
    ``termination_reason`` (``finish``, ``max_iters``, ``bad_steps``,
    ``context_window_exceeded``, ``limit``).

    A tool that fails, and a step that cannot be used, are answered by an observation, and
    the loop goes on. Follows ``dspy.ReAct`` of DSPy 3.4.

    Args:
        signature: The task, a `Signature` class or its string form.
        tools: Functions or `Tool` objects.
        max_iters: How many steps a run may take.
        max_bad_steps: Unusable steps in a row that end the loop; 0: the first one raises.
        max_result_chars: See `AgentOptions`; so for the options below.
        parallel_tools: Of no effect here, where a step is one call.
        sync_tools: Where sync tools run under ``acall``.
        limits: What a run may spend.
        ask_user: Offer the model a tool to ask the person it works for.
        on_confirmation: Asked where a tool needs a person's word.

    Raises:
        TypeError: A tool that cannot be called, an option of the wrong type or an unknown one.
        ValueError: A signature without outputs or with a field name that the agent uses
            itself; two tools of one name, or one named ``finish``.
    """

    kind: ClassVar[AgentKind] = "trajectory"
    ending: ClassVar[str] = FINISH
    reserved_inputs: ClassVar[frozenset[str]] = frozenset(_RESERVED_INPUTS)
    reserved_outputs: ClassVar[frozenset[str]] = frozenset(("trajectory", "signature"))

    def __init__(
        self,
        signature: str | type[Signature],
        tools: list[Callable[..., Any] | Tool],
        max_iters: int = 20,
        *,
        max_bad_steps: int = 3,
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
        self.react = Predict(self._step_signature(react_instructions(self.signature, self.tools), self.tools))
        self.extract = ChainOfThought(self.signature.append("trajectory", InputField(), type_=str))

    @property
    def react_module(self) -> Any:
        """The step predictor, under udspy's name for it."""
        return self.react

    @property
    def extract_module(self) -> Any:
        """The extractor, under udspy's name for it."""
        return self.extract

    def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """Make room where a request did not fit the model's context window. Override it for another policy.

        Args:
            trajectory: The live trajectory (or the view that an earlier call returned).

        Returns:
            The same dict, changed in place: what is gone from it is gone from the
            prediction's too. Or another dict, which is what the model is shown from now
            on, while the prediction keeps the whole.

        Raises:
            ValueError: Nothing can be taken away; the loop then ends.
        """
        keys = list(trajectory)
        if len(keys) <= STEP_KEYS:
            raise ValueError("the trajectory holds a single step; there is nothing left to drop from it")
        for key in keys[:STEP_KEYS]:
            trajectory.pop(key)
        return trajectory

    def formats_trajectories_itself(self) -> bool:
        """Whether a subclass renders the trajectory in its own way, which is then whole at each step."""
        return "_format_trajectory" in self.__dict__ or type(self)._format_trajectory is not ReAct._format_trajectory

    def truncates_trajectories_itself(self) -> bool:
        """Whether a subclass makes room in its own way."""
        return "truncate_trajectory" in self.__dict__ or type(self).truncate_trajectory is not ReAct.truncate_trajectory

    def _format_trajectory(self, trajectory: Mapping[str, Any]) -> Any:
        """The trajectory as the model is shown it, rendered by the active adapter."""
        return rendered_trajectory(trajectory)

    def _ending_tool(self) -> Tool:
        return finish_tool(self.signature.output_fields)

    def _with_tools(self, instructions: str) -> str:
        return with_tool_block(instructions, self.tools)

    def _step_signature(self, instructions: str, tools: Mapping[str, Tool]) -> type[Signature]:
        names = Literal[tuple(tools)]  # type: ignore[valid-type]
        return (
            Signature(
                {name: (field.annotation, field) for name, field in self.signature.input_fields.items()}, instructions
            )
            .append("trajectory", InputField(), type_=str)
            .append("next_thought", OutputField(), type_=str)
            .append("next_tool_name", OutputField(), type_=names)
            .append("next_tool_args", OutputField(), type_=dict[str, Any])
        )

    def _steps(self, run: Run) -> Flow[AgentPrediction]:
        state = run.state
        if state.trajectory is None:
            state.trajectory = {}
        if state.phase == "loop":
            state.reason = yield from self._navigate(run)
            state.phase = "close"
        return (yield from self._extract(run))

    def _navigate(self, run: Run) -> Flow[str]:
        """Step after step, until there is a reason to stop."""
        state = run.state
        while True:
            if state.pending is None:
                if state.turn >= state.max_iters:
                    return "max_iters"
                if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
                    return "limit"
                try:
                    step = yield from self._next_step(run)
                except ContextWindowExceededError:
                    return "context_window_exceeded"
                if isinstance(step, BadStep):
                    yield from self._record_bad_step(run, step)
                    if state.bad_steps >= run.options.max_bad_steps:
                        return "bad_steps"
                    continue
                state.pending = step
                yield from tell_thought(run, str(step.thought or ""))
                for item in step.calls:
                    yield from emit(ToolCalled(state.turn, item.id, item.name, item.args))
            reason = yield from self._act(run, state.pending)
            if reason is not None:
                return reason

    def _next_step(self, run: Run) -> Flow[PendingTurn | BadStep]:
        overrides = dict(run.overrides)
        if run.state.extra_tools:
            if run.signature is None:
                instructions = with_tool_block(self.react.signature.instructions, run.tools)
                run.signature = self._step_signature(instructions, run.tools)
            overrides["signature"] = run.signature
        try:
            step = yield from shrinking(self, run, self.react, {**run.state.inputs, **overrides})
        except AdapterParseError as error:
            found = problem_step(error, run.tools)
            if isinstance(found, BadStep) and run.options.max_bad_steps == 0:
                raise
        else:
            found = judged(step, run.tools)
        if isinstance(found, BadStep):
            return found
        calls = with_ids(run, [(found.call_id, found.name, found.args, None)])
        return PendingTurn(found.thought, calls)

    def _act(self, run: Run, turn: PendingTurn) -> Flow[str | None]:
        """Run the step's call and add the step to the trajectory."""
        state = run.state
        reached = yield from settle(run, turn, ending=FINISH)
        (item,) = turn.calls  # a person may have edited the arguments
        if item.name == FINISH:
            finished = yield from call(RunTools((Invocation(run.tools[FINISH], dict(item.args)),)))
            turn.settled[item.id] = SettledCall(finished[0].value, finished[0].is_error)
            yield from announce(run, turn)
        done = turn.settled[item.id]
        self._record(run, turn.thought, item.name, dict(item.args), done)
        run.add_event(run.opening({"next_thought": turn.thought, "tool_calls": calls_of(turn.calls, turn.settled)}))
        state.pending, state.bad_steps = None, 0
        yield from turn_finished(run, state.turn)
        state.turn += 1
        if item.name == FINISH:
            return FINISH
        return "limit" if reached is not None else None

    def _record(self, run: Run, thought: Any, name: str, args: dict[str, Any], done: SettledCall) -> None:
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

    def _record_bad_step(self, run: Run, step: BadStep) -> Flow[None]:
        state = run.state
        observation = correction(step.problem, run.tools)
        done = SettledCall(observation, is_error=True)
        self._record(run, step.thought, step.name, dict(step.args), done)
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

    def _extract(self, run: Run) -> Flow[AgentPrediction]:
        state = run.state
        if (yield from limit_reached(run, FOR_MODEL_CALLS)) is not None:
            state.reason = "limit"
            return self._result(run, {})
        outputs = yield from shrinking(self, run, self.extract, {**state.inputs, **run.overrides})
        return self._result(run, dict(outputs.items()))

    def _result(self, run: Run, outputs: dict[str, Any]) -> AgentPrediction:
        state = run.state
        if outputs:
            declared = {name: outputs[name] for name in self.signature.output_fields if name in outputs}
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
