"""Cutting what is too long to show to a model."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any

from reasonact.adapters.values import render_value
from reasonact.types.base import Type
from reasonact.types.history import History
from reasonact.types.tool_calls import ToolCallResults, ToolCalls

_SHORT = (bool, int, float, type(None), Type)


def clipped(value: Any, limit: int) -> Any:
    """A tool's value, or its text cut to ``limit`` characters with a note of how much is gone.

    Args:
        value: What a tool returned.
        limit: The longest text, in characters, that is shown whole.

    Returns:
        The same object where it is short enough.
    """
    if isinstance(value, _SHORT):
        return value
    text = value if isinstance(value, str) else render_value(value)
    if not isinstance(text, str) or len(text) <= limit:
        return value
    return f"{text[:limit]}\n[... cut here: {len(text) - limit:,} of {len(text):,} characters are not shown]"


def clipped_event(event: dict[str, Any], limit: int | None) -> dict[str, Any]:
    """A history event whose tool results are cut to what the model is shown.

    Args:
        event: The event; it is not changed.
        limit: As in `clipped`; None cuts nothing.

    Returns:
        The same object where nothing had to be cut.
    """
    calls = event.get("tool_calls")
    if limit is None or not isinstance(calls, ToolCalls) or not isinstance(calls.tool_call_results, ToolCallResults):
        return event
    results = calls.tool_call_results.tool_call_results
    shown = [clipped(result.value, limit) for result in results]
    if all(new is result.value for new, result in zip(shown, results, strict=True)):
        return event
    cut = [result.model_copy(update={"value": new}) for new, result in zip(shown, results, strict=True)]
    return {
        **event,
        "tool_calls": calls.model_copy(
            update={"tool_call_results": ToolCallResults.model_construct(tool_call_results=cut)}
        ),
    }


def clipped_history(history: History, limit: int | None) -> History:
    """A history as the model is shown it; the given one is not changed."""
    return History.model_construct(messages=[clipped_event(event, limit) for event in history.messages])


class ClippedTrajectory:
    """A growing trajectory as the model is shown it, so that each step looks at its new values alone."""

    __slots__ = ("_shown", "_values")

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._shown: dict[str, Any] = {}

    def of(self, trajectory: Mapping[str, Any], limit: int | None) -> Mapping[str, Any]:
        """The trajectory with long observations cut.

        Args:
            trajectory: Values by key.
            limit: As in `clipped`; None cuts nothing.

        Returns:
            The same object, or a dict that is not to be changed; its values are the same
            objects as last time where the trajectory's are.
        """
        if limit is None:
            return trajectory
        keys, values = list(trajectory), list(trajectory.values())
        known = len(self._values)
        if not (list(self._shown) == keys[:known] and all(map(is_, self._values, values))):
            self._shown, known = {}, 0
        for key, value in zip(keys[known:], values[known:], strict=True):
            self._shown[key] = clipped(value, limit) if key.startswith("observation_") else value
        self._values = values
        return self._shown
