"""AgentPrediction: a prediction that also knows its run.

What a run adds (``history``, ``termination_reason``, ...) is read as an attribute, yet is
no stored field: it is in no key, item, length, equality, repr, ``toDict`` or ``**``.
A stored field of the same name wins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from reasonact.agents.convert import latest_run, trajectory_from_history
from reasonact.types.history import History
from reasonact.types.prediction import Prediction

if TYPE_CHECKING:
    from os import PathLike

    from reasonact.agents.usage import RunUsage
    from reasonact.view.recorded_run import RecordedRun

_TRAJECTORY_GOES: Final = (
    "the structured agent keeps a history, and `.trajectory` is only worked out from it: "
    "read `.history`, or call trajectory_from_history(prediction.history)"
)


class AgentPrediction(Prediction):
    """What an agent returns: the signature's outputs, and how they came about.

    Attributes that every agent adds:
        history: The complete run as a `History`, dropped steps included.
        termination_reason: Why the loop ended.
        usage: What the run spent, as a `RunUsage`.
        forged_observations: How many tool results the model wrote itself, where it is asked
            in the text protocol; they were dropped, and it was never shown them.
        trajectory: Where it is no stored field (the structured agent), the run's steps worked
            out from ``history``, with a DeprecationWarning.
        run: The run to look at, as a `RecordedRun`; its ways to do so are here too:
            ``show``, ``to_html``, ``save_run``.
    """

    if TYPE_CHECKING:
        history: History
        termination_reason: str
        usage: RunUsage
        forged_observations: int
        trajectory: dict[str, Any]
        run: RecordedRun
        show: Callable[..., None]
        to_html: Callable[[str | PathLike[str]], None]
        save_run: Callable[[str | PathLike[str]], None]

    def __getitem__(self, name: str) -> Any:
        try:
            return super().__getitem__(name)
        except KeyError:
            raise KeyError(self._missing(name) or name) from None

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            additions = self.__dict__.get("_additions") or {}
            if name in additions:
                return additions[name]
            history = self.get("history")
            if name == "trajectory" and isinstance(history, History):
                warnings.warn(_TRAJECTORY_GOES, DeprecationWarning, stacklevel=2)
                return trajectory_from_history(latest_run(history, self.keys()))
            text = self._missing(name)
            if text is None:
                raise
            raise AttributeError(text) from None

    def _missing(self, name: str) -> str | None:
        additions = self.__dict__.get("_additions") or {}
        reason = self.get("termination_reason", additions.get("termination_reason"))
        if reason is None:
            return None
        return (
            f"the run ended with termination_reason={reason!r} and has no output {name!r}; "
            f"its fields are: {', '.join(self.keys()) or 'none'}"
        )


def attach(prediction: AgentPrediction, **additions: Any) -> None:
    """Add attributes to a prediction that are no stored fields.

    Args:
        prediction: The prediction.
        **additions: Values by name.
    """
    kept: Mapping[str, Any] = prediction.__dict__.get("_additions") or {}
    object.__setattr__(prediction, "_additions", {**kept, **additions})
