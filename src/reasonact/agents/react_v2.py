"""ReActV2: the structured agent. Any number of calls a turn; ``submit`` carries the outputs.

What is needed to build and run one is imported when one is built (`react_v2_loop`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from reasonact.agents.agent import Agent
from reasonact.agents.names import SUBMIT
from reasonact.runtime.deferred import deferred

if TYPE_CHECKING:
    from reasonact.agents import instructions as prompts
    from reasonact.agents import options, react_v2_loop, tool_table
    from reasonact.agents.result import AgentPrediction
    from reasonact.agents.run import Run
    from reasonact.agents.run_state import AgentKind, RunState
    from reasonact.runtime.flow import Flow
    from reasonact.runtime.limits import Limits
    from reasonact.signatures.signature import SignatureLike
    from reasonact.tools.policy import SyncTools
    from reasonact.tools.tool import Tool
    from reasonact.types.history import History
else:
    options = deferred("reasonact.agents.options")
    prompts = deferred("reasonact.agents.instructions")
    react_v2_loop = deferred("reasonact.agents.react_v2_loop")
    tool_table = deferred("reasonact.agents.tool_table")

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
        signature: SignatureLike,
        tools: Sequence[Callable[..., Any] | Tool],
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
        if on_overflow is not None and not callable(on_overflow):
            raise TypeError(f"on_overflow is a {type(on_overflow).__name__}, which cannot be called")
        self.strict = strict
        self.accept_text_answer = accept_text_answer
        self.on_overflow = on_overflow
        self.react = react_v2_loop.predictor(self)

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
        return tool_table.submit_tool(self.signature)

    def _with_tools(self, instructions: str) -> str:
        return prompts.with_tool_names(instructions, self.tools)

    def _call_arguments(self) -> tuple[str, ...]:
        return ("max_iters", "tools", "history")

    def _new_state(self, given: Mapping[str, Any]) -> RunState:
        return react_v2_loop.new_state(self, given)

    def _steps(self, run: Run) -> Flow[AgentPrediction]:
        return react_v2_loop.steps(self, run)
