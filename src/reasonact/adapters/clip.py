"""Cutting what is too long to show to a model."""

from __future__ import annotations

from collections.abc import Mapping
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


def clipped_observations(trajectory: Mapping[str, Any], limit: int | None) -> dict[str, Any]:
    """What ReAct's model is shown in place of observations that are too long.

    Args:
        trajectory: Values by key.
        limit: As in `clipped`; None cuts nothing.

    Returns:
        The cut observations by key; empty where none had to be cut.
    """
    if limit is None:
        return {}
    shown = {key: clipped(value, limit) for key, value in trajectory.items() if key.startswith("observation_")}
    return {key: value for key, value in shown.items() if value is not trajectory[key]}
