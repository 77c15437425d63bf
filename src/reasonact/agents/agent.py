"""Agent: what ReAct and ReActV2 have in common. One flow, run sync or async, resumable.

What a run needs is imported when an agent is built (`runs`).
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from reasonact.modules.module import Module
from reasonact.runtime.deferred import deferred
from reasonact.runtime.drive import adrive, drive

if TYPE_CHECKING:
    from reasonact.agents import options as checks
    from reasonact.agents import runs
    from reasonact.agents.options import AgentOptions
    from reasonact.agents.result import AgentPrediction
    from reasonact.agents.run import Run
    from reasonact.agents.run_state import AgentKind, RunState
    from reasonact.runtime.flow import Flow
    from reasonact.signatures.signature import Signature, SignatureLike
    from reasonact.tools.tool import Tool
else:
    checks = deferred("reasonact.agents.options")
    runs = deferred("reasonact.agents.runs")

logger = logging.getLogger("reasonact.agents")


class Agent(Module):
    """Base of the agents. A subclass says how one run goes, in `_steps`."""

    saved_attributes: ClassVar[tuple[str, ...]] = ("max_iters",)
    kind: ClassVar[AgentKind]
    ending: ClassVar[str]
    reserved_inputs: ClassVar[frozenset[str]]
    reserved_outputs: ClassVar[frozenset[str]]
    signature: type[Signature]
    tools: dict[str, Tool]
    max_iters: int
    options: AgentOptions

    def __init__(
        self,
        signature: SignatureLike,
        tools: Sequence[Callable[..., Any] | Tool],
        max_iters: int,
        options: AgentOptions,
    ) -> None:
        super().__init__()
        runs.set_up(self, signature, tools, max_iters, options)

    if TYPE_CHECKING:  # what a run gives, also where a subclass has a `forward` that says less

        def __call__(self, /, *args: Any, **kwargs: Any) -> AgentPrediction: ...

        async def acall(self, /, *args: Any, **kwargs: Any) -> AgentPrediction: ...

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
        super().adopt_attribute(name, checks.check_max_iters(value) if name == "max_iters" else value)

    def forward(self, /, *positional: Any, **input_args: Any) -> Any:
        """Run the agent, blocking. See the class for what a call takes and returns."""
        runs.refuse_positional(self, positional)
        return drive(runs.run_flow(self, input_args))

    async def aforward(self, /, *positional: Any, **input_args: Any) -> Any:
        """As `forward`, on the running event loop."""
        runs.refuse_positional(self, positional)
        return await adrive(runs.run_flow(self, input_args))

    def resume(
        self,
        decision: Any,
        state: RunState | str | None = None,
        *,
        tools: Sequence[Callable[..., Any] | Tool] | None = None,
        claim: Callable[[str], bool] | None = None,
    ) -> AgentPrediction:
        """Go on with a run that was paused or that failed.

        Args:
            decision: What a person decided: `Approve`, `Reject`, `Answer`, their short
                forms, or a dict of these by confirmation id. For a run that waits for
                nobody, give the state alone.
            state: The state, from the exception that left the run, or its JSON text.
            tools: The tools that the call had been given beside the agent's own.
            claim: Called with each confirmation id before it is used; False refuses it.
                A copied state can run twice in two processes, unless this records the use.

        Returns:
            The prediction, as from a call.

        Raises:
            TypeError: The arguments are swapped, or the decision is none.
            ValueError: The state is damaged, or that of an agent of another kind or with other
                inputs; the call's own tools are missing; a confirmation does not fit the state or
                was used already; edited arguments do not fit the tool.
            ConfirmationRequired: A further call needs a person's word.
            DSPyError: As from a call.
        """
        return drive(runs.resume_flow(self, decision, state, tools, claim))

    async def aresume(
        self,
        decision: Any,
        state: RunState | str | None = None,
        *,
        tools: Sequence[Callable[..., Any] | Tool] | None = None,
        claim: Callable[[str], bool] | None = None,
    ) -> AgentPrediction:
        """As `resume`, on the running event loop."""
        return await adrive(runs.resume_flow(self, decision, state, tools, claim))

    def _call_arguments(self) -> tuple[str, ...]:
        return ("max_iters", "tools")

    def _new_state(self, given: Mapping[str, Any]) -> RunState:
        """The state in which a call begins."""
        return runs.new_state(self, given)
