"""Agent: what ReAct and ReActV2 have in common. One flow, run sync or async, resumable."""

from __future__ import annotations

import logging
import secrets
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from reasonact.agents.confirmation import ConfirmationRequired
from reasonact.agents.left_behind import left_behind
from reasonact.agents.options import AgentOptions, check_max_iters
from reasonact.agents.respond import forget, keep_paused, take_answered
from reasonact.agents.result import AgentPrediction, attach
from reasonact.agents.retyping import retyped, retyped_history
from reasonact.agents.run import Run, note_tokens
from reasonact.agents.run_state import AgentKind, RunState
from reasonact.agents.settle import apply_decisions
from reasonact.agents.tool_table import ASK, clarification_tool, tool_table
from reasonact.agents.usage import usage_of
from reasonact.lm.usage import track_usage
from reasonact.modules.module import Module, reported
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.events import RunFinished, RunStarted, emit
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.limits import ReadClock
from reasonact.runtime.settings import settings
from reasonact.signatures.signature import Signature, ensure_signature
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.view.recorded_run import RecordedRun

logger = logging.getLogger("reasonact.agents")

# What a call of an agent hands through to its predictors, as calls of a predictor take it.
_FOR_PREDICTORS = ("lm", "config")


class Agent(Module):
    """Base of the agents. A subclass says how one run goes, in `_steps`."""

    saved_attributes: ClassVar[tuple[str, ...]] = ("max_iters",)
    kind: ClassVar[AgentKind]
    ending: ClassVar[str]
    reserved_inputs: ClassVar[frozenset[str]]
    reserved_outputs: ClassVar[frozenset[str]]

    def __init__(
        self,
        signature: str | type[Signature],
        tools: list[Callable[..., Any] | Tool],
        max_iters: int,
        options: AgentOptions,
    ) -> None:
        super().__init__()
        self.signature: type[Signature] = ensure_signature(signature)
        self._check_names()
        self.max_iters = check_max_iters(max_iters)
        self.options = options
        table = tool_table(tools, self._reserved_tools())
        if options.ask_user:
            table[ASK] = clarification_tool()
        ending = self._ending_tool()
        self.tools: dict[str, Tool] = {**table, ending.name: ending}

    @abstractmethod
    def _ending_tool(self) -> Tool:
        """The tool by which the model ends a run."""

    @abstractmethod
    def _steps(self, run: Run) -> Flow[AgentPrediction]:
        """The run, from where its state stands to the prediction."""

    @abstractmethod
    def _with_tools(self, instructions: str) -> str:
        """Instructions of the predictor ``react`` in which this agent's tools stand."""

    def adopt_instructions(self, name: str, instructions: str) -> str:
        """Saved instructions with the tools that the agent has now in place of those it was saved with.

        Args:
            name: The predictor's path below the agent.
            instructions: The saved text.

        Returns:
            The text; where it holds no list of tools that is recognised, with the tools at its end.
        """
        if name.partition(".")[0] != "react":
            return instructions
        adopted = self._with_tools(instructions)
        if adopted.startswith(f"{instructions}\n"):
            logger.warning(
                "the saved instructions of %s hold no list of tools as this library or DSPy writes it; they were "
                "taken whole, and the tools of the agent added at their end",
                type(self).__name__,
            )
        return adopted

    def adopt_attribute(self, name: str, value: Any) -> None:
        """Take ``max_iters`` over from a saved file.

        Args:
            name: The attribute.
            value: What the file holds for it.

        Raises:
            TypeError: It is no whole number.
            ValueError: It is negative.
        """
        super().adopt_attribute(name, check_max_iters(value) if name == "max_iters" else value)

    def forward(self, /, **input_args: Any) -> Any:
        """Run the agent, blocking. See the class for what a call takes and returns."""
        return drive(self._run_flow(input_args))

    async def aforward(self, /, **input_args: Any) -> Any:
        """As `forward`, on the running event loop."""
        return await adrive(self._run_flow(input_args))

    def resume(
        self,
        decision: Any,
        state: RunState | None = None,
        *,
        tools: list[Callable[..., Any] | Tool] | None = None,
        claim: Callable[[str], bool] | None = None,
    ) -> Any:
        """Go on with a run that was paused or that failed.

        Args:
            decision: What a person decided: `Approve`, `Reject`, `Answer`, their short
                forms, or a dict of these by confirmation id. For a run that waits for
                nobody, give the state alone.
            state: The state, from the exception that left the run.
            tools: The tools that the call had been given beside the agent's own.
            claim: Called with each confirmation id before it is used; False refuses it.
                A copied state can run twice in two processes, unless this records the use.

        Returns:
            The prediction, as from a call.

        Raises:
            TypeError: The arguments are swapped, or the decision is none.
            ValueError: The state is another kind of agent's, the call's own tools are
                missing, or a confirmation does not fit the state or was used already.
            ConfirmationRequired: A further call needs a person's word.
            DSPyError: As from a call.
        """
        return drive(self._resume_flow(decision, state, tools, claim))

    async def aresume(
        self,
        decision: Any,
        state: RunState | None = None,
        *,
        tools: list[Callable[..., Any] | Tool] | None = None,
        claim: Callable[[str], bool] | None = None,
    ) -> Any:
        """As `resume`, on the running event loop."""
        return await adrive(self._resume_flow(decision, state, tools, claim))

    def _run_flow(self, given: Mapping[str, Any]) -> Flow[AgentPrediction]:
        paused = take_answered(self, self._asked(given))
        if paused is None:
            return (yield from self._tracked(self._new_state(given), given))
        return (yield from self._tracked(paused.state.copy(), given, paused.own_decisions()))

    def _resume_flow(
        self, decision: Any, state: RunState | None, tools: Any, claim: Callable[[str], bool] | None
    ) -> Flow[AgentPrediction]:
        if state is None and isinstance(decision, RunState):
            decision, state = None, decision
        if not isinstance(state, RunState):
            swapped = " (the two are swapped)" if isinstance(decision, RunState) else ""
            raise TypeError(f"resume(decision, state) wants a RunState as its second argument{swapped}")
        if state.agent != self.kind:
            raise ValueError(f"this state belongs to a {state.agent} agent; {type(self).__name__} is a {self.kind} one")
        forget(self, state.run_id)
        given = {} if tools is None else {"tools": tools}
        body = self._tracked(self._restored(state), given, decision, claim)
        prediction: AgentPrediction = yield from reported(self, (), state.inputs, body)
        return prediction

    def _tracked(
        self,
        state: RunState,
        given: Mapping[str, Any],
        decision: Any = None,
        claim: Callable[[str], bool] | None = None,
    ) -> Flow[AgentPrediction]:
        began = yield from call(ReadClock())
        with track_usage() as tracker:
            run = Run(
                state=state,
                options=self.options,
                tools=self._tools_of(given, state),
                overrides={name: given[name] for name in _FOR_PREDICTORS if name in given and not self._is_input(name)},
                in_place=settings.grow_history_in_place and state.history is given.get("history"),
                tracker=tracker,
                began=began,
                before=state.spent,
            )
            if decision is not None:
                apply_decisions(run, decision, ending=self.ending, claim=claim)
            state.confirmations = {}
            try:
                yield from emit(RunStarted(type(self).__name__, state.inputs))
                prediction = yield from self._steps(run)
                state.spent = run.spent((yield from call(ReadClock())))
            except GeneratorExit:  # the driver is gone; nobody is left to hand the work to
                raise
            except BaseException as error:
                state.spent = run.spent((yield from call(ReadClock())))
                self._hand_over(error, run)
                if isinstance(error, ConfirmationRequired):
                    keep_paused(self, self._asked({**state.inputs, **given}), error)
                raise
        note_tokens(run)
        attach(prediction, **self._additions(run, prediction))
        yield from emit(RunFinished(prediction))
        return prediction

    def _hand_over(self, error: BaseException, run: Run) -> None:
        """Put the work so far on the exception that ends the run."""
        note_tokens(run)
        additions: dict[str, Any] = {"history": run.state.history, "state": run.state, **self._additions(run, error)}
        if run.state.trajectory is not None:
            additions["trajectory"] = run.state.trajectory
        for name, value in additions.items():
            try:
                setattr(error, name, value)
            except (AttributeError, TypeError):  # an exception with slots, or a read-only property of that name
                continue

    def _additions(self, run: Run, end: AgentPrediction | BaseException) -> dict[str, Any]:
        """What people look at afterwards: the usage, and the run with the ways to show it."""
        usage = usage_of(run.state.spent, run.state.turns)
        seen = RecordedRun(left_behind(self, run, end, usage))
        ways: dict[str, Any] = {name: getattr(seen, name) for name in ("show", "to_html", "save_run", "_repr_html_")}
        return {"usage": usage, "run": seen, **ways}

    def _new_state(self, given: Mapping[str, Any]) -> RunState:
        max_iters = given.get("max_iters")
        inputs = {
            name: given[name] if name in given else field.get_default(call_default_factory=True, validated_data={})
            for name, field in self.signature.input_fields.items()
            if name in given or not field.is_required()
        }
        self._check_inputs(given)
        return RunState(
            agent=self.kind,
            run_id=secrets.token_hex(8),
            inputs=inputs,
            history=History.model_construct(messages=[]),
            max_iters=self.max_iters if max_iters is None else check_max_iters(max_iters),
        )

    def _restored(self, state: RunState) -> RunState:
        """A copy of a state in which values that were read from JSON have their declared types."""
        copied = state.copy()
        copied.inputs = dict(retyped(self.signature, copied.inputs))
        copied.history = retyped_history(self.signature, copied.history)
        copied.shown = None if copied.shown is None else retyped_history(self.signature, copied.shown)
        return copied

    def _asked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What of a call says what is asked, apart from how."""
        names = {*self.signature.input_fields, *self._call_arguments()} - {"max_iters", "tools"}
        return {name: given[name] for name in given if name in names or self._is_input(name)}

    def _tools_of(self, given: Mapping[str, Any], state: RunState) -> dict[str, Tool]:
        extra: dict[str, Tool] = {}
        if given.get("tools") is not None and not self._is_input("tools"):
            extra = tool_table(given["tools"], self._reserved_tools())
        missing = [name for name in state.extra_tools if name not in extra]
        if missing:
            raise ValueError(
                f"this run was given tools of its own, which no state can hold: {', '.join(missing)}; "
                "pass them again, as in resume(decision, state, tools=[...])"
            )
        state.extra_tools = list(extra)
        if not extra:
            return dict(self.tools)
        own = {name: tool for name, tool in self.tools.items() if name != self.ending}
        return {**own, **extra, self.ending: self.tools[self.ending]}

    def _is_input(self, name: str) -> bool:
        return name in self.signature.input_fields

    def _reserved_tools(self) -> tuple[str, ...]:
        return (self.ending, ASK) if self.options.ask_user else (self.ending,)

    def _check_inputs(self, given: Mapping[str, Any]) -> None:
        fields = self.signature.input_fields
        known = {*fields, *self._call_arguments(), *_FOR_PREDICTORS}
        unknown = [name for name in given if name not in known]
        missing = [name for name, field in fields.items() if name not in given and field.is_required()]
        problems = []
        if unknown:
            problems.append(f"unknown inputs: {', '.join(unknown)}")
        if missing:
            problems.append(f"missing inputs: {', '.join(missing)}")
        if not problems:
            return
        text = f"{'; '.join(problems)}. {type(self).__name__} takes {', '.join(fields) or 'no inputs'}"
        if settings.strict_inputs:
            raise ValueError(text)
        logger.warning("%s", text)

    def _call_arguments(self) -> tuple[str, ...]:
        return ("max_iters", "tools")

    def _check_names(self) -> None:
        if not self.signature.output_fields:
            raise ValueError(
                f"the signature {self.signature.signature!r} has no output field; an agent needs one to end on"
            )
        for fields, reserved, role in (
            (self.signature.input_fields, self.reserved_inputs, "an input"),
            (self.signature.output_fields, self.reserved_outputs, "an output"),
        ):
            for name in fields:
                if name in reserved:
                    raise ValueError(
                        f"{type(self).__name__} uses the name {name!r} itself, so {role} field cannot have it; "
                        "give the field another name"
                    )
