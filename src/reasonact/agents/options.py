"""What a program can set on an agent, beside signature, tools and ``max_iters``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reasonact.runtime.counts import whole_number
from reasonact.runtime.limits import Limits
from reasonact.tools.policy import SyncTools


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """The options that both agents share; each is a keyword argument of their constructors.

    Args:
        max_bad_steps: Steps in a row that may be unusable. In `ReAct` that many end the
            loop (0: the first one raises, as in DSPy); in `ReActV2` that many are answered
            by a correction (0: the first one leads to the forced submit).
        max_result_chars: The longest tool result, in characters, that the model is shown
            whole; longer ones are cut with a note. None shows everything.
        parallel_tools: How many calls of one turn may run side by side.
        sync_tools: Where sync tools run under ``acall``: in a worker ``thread``, or
            ``inline`` on the event loop, for those that must stay in its thread.
        limits: What a run may spend.
        ask_user: Offer the model the tool ``user_clarification(question)``.
        on_confirmation: Called with a `ConfirmationRequired` where a tool needs a person's
            word; it returns the decision, and the run goes on at once. It may be async
            under ``acall``.

    Raises:
        TypeError: An option has the wrong type.
        ValueError: An option has an impossible value.
    """

    max_bad_steps: int = 0
    max_result_chars: int | None = 100_000
    parallel_tools: int = 1
    sync_tools: SyncTools = "thread"
    limits: Limits | None = None
    ask_user: bool = False
    on_confirmation: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        whole_number("max_bad_steps", self.max_bad_steps, least=0)
        whole_number("parallel_tools", self.parallel_tools, least=1)
        if self.max_result_chars is not None:
            whole_number("max_result_chars", self.max_result_chars, least=1)
        if self.sync_tools not in ("thread", "inline"):
            raise ValueError(f"sync_tools is 'thread' or 'inline', not {self.sync_tools!r}")
        if self.limits is not None and not isinstance(self.limits, Limits):
            raise TypeError(f"limits is a {type(self.limits).__name__}; write limits=Limits(lm_calls=...)")
        if self.on_confirmation is not None and not callable(self.on_confirmation):
            raise TypeError(f"on_confirmation is a {type(self.on_confirmation).__name__}, which cannot be called")


def check_max_iters(value: Any) -> int:
    """``max_iters`` as a number of turns from 0 on.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is negative.
    """
    return whole_number("max_iters", value, least=0)
