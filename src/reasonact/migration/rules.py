"""The kinds of findings: what each says, and what it says to write.

Texts are templates; the checker fills in the names it found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Target = Literal["3.4", "3.5", "3.6"]

TARGETS: Final[tuple[Target, ...]] = ("3.4", "3.5", "3.6")


@dataclass(frozen=True)
class Rule:
    """A kind of finding.

    Args:
        what: What changes.
        write: What to write.
        since: The first target that it matters for.
    """

    what: str
    write: str
    since: Target = "3.5"


_SEE_HISTORY: Final = (
    "read `.history`, or `trajectory_from_history(result.history)`; `TrajectoryReAct` keeps the old agent"
)
_NO_TRAJECTORY: Final = "define `truncate_history(self, history)`; a subclass of `TrajectoryReAct` keeps this hook"

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "unreadable": Rule("{problem}", "mend the file, or leave it out", "3.4"),
        "import-dspy": Rule("`{old}` brings in DSPy itself", "{new}", "3.4"),
        "deep-path": Rule("`{old}` is a path inside DSPy", "{new}", "3.4"),
        "dspy-in-text": Rule("the string names `{name}`, DSPy itself", "name this library's own module in it", "3.4"),
        "not-ours": Rule("`{name}` has no counterpart here: {reason}", "{new}", "3.4"),
        "history-growth": Rule(
            "`{name}` is used again after a run, by which DSPy adds to it; here the caller's History stays as it is",
            "go on with `result.history`, or set `configure(grow_history_in_place=True)`",
            "3.4",
        ),
        "finish-tool": Rule(
            "`finish` is the tool that ends ReAct; the structured agent ends by `submit`, which carries the outputs",
            "look at `termination_reason` of the result",
        ),
        "own-finish-tool": Rule(
            "a tool named `finish` is refused by ReAct, which has its own of that name",
            "give the tool another name",
            "3.4",
        ),
        "submit-tool": Rule(
            "a tool named `submit` is refused by the structured agent, which has its own of that name",
            "give the tool another name",
        ),
        "reserved-field": Rule(
            "the structured agent uses {names} itself, so no field of its signature can have such a name",
            "give the field another name{hint}",
        ),
        "react-v2-name": Rule("the agent `ReActV2` is named `ReAct` since 3.5, and the old name goes in 3.6", "{new}"),
        "trajectory-read": Rule("`{name}` goes: the structured agent keeps a `History`", _SEE_HISTORY),
        "trajectory-view": Rule(
            "`{name}` is only worked out from the history, with a DeprecationWarning",
            "read `.history`, or `trajectory_from_history(result.history)`",
        ),
        "trajectory-key": Rule(
            "`{name}` is a key of a trajectory, which goes: a `History` has one event for each turn",
            "go through `history.messages` and their `tool_calls`, or `trajectory_from_history(result.history)`",
        ),
        "extractor": Rule(
            "`{name}` goes: the structured agent has no extractor, the outputs come with `submit`",
            "leave it out; the agent's thoughts are `next_thought` in the events of `.history`",
        ),
        "react-predictor": Rule(
            "`{name}` has other fields in the structured agent: `history` and `tools` go in, `next_thought` and "
            "`tool_calls` come out",
            "go by these fields; demos and saved states of the old predictor do not fit",
        ),
        "override-truncate": Rule(
            "`{name}` overrides `truncate_trajectory`, which the structured agent never calls", _NO_TRAJECTORY
        ),
        "override-format": Rule(
            "`{name}` overrides `_format_trajectory`, which the structured agent never calls",
            "let the adapter render the history; a subclass of `TrajectoryReAct` keeps this hook",
        ),
        "override-forward": Rule(
            "`{name}` overrides `{method}`, and what the agent's own returns has `history` and `termination_reason` "
            "in place of `trajectory` and `reasoning`",
            "go over the body, and let it take `history=None`; a subclass of `TrajectoryReAct` stays as it is",
        ),
    }
)
"""Code to rule."""


def matters(code: str, target: Target) -> bool:
    """Whether a kind of finding counts on the way to a target.

    Args:
        code: A key of `RULES`.
        target: The line of DSPy that the program moves to.
    """
    return TARGETS.index(RULES[code].since) <= TARGETS.index(target)
