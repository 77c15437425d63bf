"""ReAct: the trajectory agent. One tool call a step, then an extractor for the outputs.

What is needed to build and run one is imported when one is built (`react_loop`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from reasonact.agents.agent import Agent
from reasonact.agents.names import FINISH, KEYS_PER_STEP
from reasonact.runtime.deferred import deferred

if TYPE_CHECKING:
    from reasonact.agents import instructions as prompts
    from reasonact.agents import options, react_loop, tool_table
    from reasonact.agents import trajectory as rendered
    from reasonact.agents.result import AgentPrediction
    from reasonact.agents.run import Run
    from reasonact.agents.run_state import AgentKind
    from reasonact.runtime.flow import Flow
    from reasonact.runtime.limits import Limits
    from reasonact.signatures.signature import SignatureLike
    from reasonact.tools.policy import SyncTools
    from reasonact.tools.tool import Tool
else:
    options = deferred("reasonact.agents.options")
    prompts = deferred("reasonact.agents.instructions")
    react_loop = deferred("reasonact.agents.react_loop")
    rendered = deferred("reasonact.agents.trajectory")
    tool_table = deferred("reasonact.agents.tool_table")

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
        signature: SignatureLike,
        tools: Sequence[Callable[..., Any] | Tool],
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
        chosen = options.AgentOptions(
            max_bad_steps=max_bad_steps,
            max_result_chars=max_result_chars,
            parallel_tools=parallel_tools,
            sync_tools=sync_tools,
            limits=limits,
            ask_user=ask_user,
            on_confirmation=on_confirmation,
        )
        super().__init__(signature, tools, max_iters, chosen)
        self.react, self.extract = react_loop.predictors(self)

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
        if len(keys) <= KEYS_PER_STEP:
            raise ValueError("the trajectory holds a single step; there is nothing left to drop from it")
        for key in keys[:KEYS_PER_STEP]:
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
        return rendered.rendered_trajectory(trajectory)

    def _ending_tool(self) -> Tool:
        return tool_table.finish_tool(self.signature.output_fields)

    def _with_tools(self, instructions: str) -> str:
        return prompts.with_tool_block(instructions, self.tools)

    def _steps(self, run: Run) -> Flow[AgentPrediction]:
        return react_loop.steps(self, run)
