"""Trajectories and histories into one another, for the move from the one agent to the other.

A trajectory is a flat dict with ``thought_i``, ``tool_name_i``, ``tool_args_i`` and
``observation_i`` for each step; a `History` holds one event for each turn, with any number
of calls. Runs of one call a turn come back as they were. Both forms are DSPy's, dumps of
its own included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from reasonact.types.history import CORRECTION, TURN_KEYS, History, fresh_call_id
from reasonact.types.tool_calls import ToolCallResults, ToolCalls

_PARTS: Final = ("thought", "tool_name", "tool_args", "observation")
_KEY: Final = re.compile(rf"({'|'.join(_PARTS)})_(\d+)")
_FAILED: Final = "Execution error in "  # how DSPy begins the observation of a tool that raised


def history_from_trajectory(
    trajectory: Mapping[str, Any] | str | bytes, inputs: Mapping[str, Any] | None = None
) -> History:
    """Turn what ReAct did into the history that the structured agent goes on from.

    Args:
        trajectory: A ``prediction.trajectory``, whole or shortened, or its JSON text.
        inputs: The task's inputs by name; the first event says them.

    Returns:
        One event for each step, in the trajectory's order. A call gets the id
        ``call_<step>_0``; a step that names no tool keeps its observation as the
        correction that it was.

    Raises:
        ValueError: The trajectory is no dict, a key is none of the four of a step, a
            step's arguments are no dict, or an input has a name that events use themselves.
    """
    steps = _steps_of(trajectory)
    said = dict(inputs or {})
    for name in said:
        if name in TURN_KEYS:
            raise ValueError(f"an event of a history uses the name {name!r} itself, so no input can have it")
    events: list[dict[str, Any]] = []
    for number, step in steps.items():
        events.append({**said, **_event(number, step)})
        said = {}
    if said:
        events.append(said)
    return History.model_construct(messages=events)


def trajectory_from_history(history: Any) -> dict[str, Any]:
    """Turn a history into the trajectory of the same steps.

    Args:
        history: A `History`, its JSON text, its dict, or a list of events.

    Returns:
        ``thought_i``, ``tool_name_i``, ``tool_args_i``, ``observation_i`` for each call,
        numbered on from 0. Of several calls in a turn the first has the thought and the
        others ``""``. A turn without calls has the tool name ``""``. A call without a result
        has no ``observation_i``. Inputs and outputs are left out.

    Raises:
        ValueError: It is no history.
    """
    trajectory: dict[str, Any] = {}
    number = 0
    for event in History.from_any(history).messages:
        for step in _steps_of_event(event):
            trajectory.update({f"{part}_{number}": step[part] for part in _PARTS if part in step})
            number += 1
    return trajectory


def latest_run(history: History, outputs: Iterable[str]) -> History:
    """The part of a continued history that its last run has added.

    Args:
        history: The history that a run has returned.
        outputs: The names of the run's output fields, which an event of their own may hold.

    Returns:
        The events from the last one that says inputs.
    """
    known = {*TURN_KEYS, *outputs}
    events = history.messages
    openings = [number for number, event in enumerate(events) if next(iter(event), CORRECTION) not in known]
    return History.model_construct(messages=events[openings[-1] :] if openings else events)


def _steps_of(trajectory: Mapping[str, Any] | str | bytes) -> dict[int, dict[str, Any]]:
    data: Any = trajectory
    if isinstance(data, (str, bytes)):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"a trajectory given as text must be its JSON ({error}): {str(data)[:200]!r}") from None
    if not isinstance(data, Mapping):
        raise ValueError(f"a trajectory is a dict, found {type(data).__name__}")
    steps: dict[int, dict[str, Any]] = {}
    for key, value in data.items():
        match = _KEY.fullmatch(str(key))
        if match is None:
            raise ValueError(
                f"the trajectory has a key {key!r}, which no step has; its keys are "
                f"{', '.join(f'{part}_0' for part in _PARTS)}, and so on"
            )
        steps.setdefault(int(match[2]), {})[match[1]] = value
    return steps


def _event(number: int, step: Mapping[str, Any]) -> dict[str, Any]:
    event: dict[str, Any] = {"next_thought": step["thought"]} if "thought" in step else {}
    name = step.get("tool_name")
    args = step.get("tool_args", {})
    if not isinstance(args, Mapping):
        raise ValueError(f"tool_args_{number} must be a dict of arguments, found {type(args).__name__}")
    if not name:
        return {**event, CORRECTION: step["observation"]} if "observation" in step else event
    call_id = fresh_call_id(number, 0, ())
    results = None
    if "observation" in step:
        value = step["observation"]
        failed = isinstance(value, str) and value.startswith(f"{_FAILED}{name}:")
        result = ToolCallResults.ToolCallResult(call_id=call_id, name=str(name), value=value, is_error=failed)
        results = ToolCallResults(tool_call_results=[result])
    call = ToolCalls.ToolCall(id=call_id, name=str(name), args=dict(args))
    return {**event, "tool_calls": ToolCalls(tool_calls=[call], tool_call_results=results)}


def _steps_of_event(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    calls = event.get("tool_calls")
    thought = event.get("next_thought", "")
    if not isinstance(calls, ToolCalls) or not calls.tool_calls:
        if not any(key in event for key in ("next_thought", CORRECTION)):
            return []
        seen = {"observation": event[CORRECTION]} if CORRECTION in event else {}
        return [{"thought": thought, "tool_name": "", "tool_args": {}, **seen}]
    results = calls.tool_call_results.tool_call_results if calls.tool_call_results else []
    values = {result.call_id: result.value for result in results}
    return [
        {
            "thought": thought if index == 0 else "",
            "tool_name": call.name,
            "tool_args": dict(call.args),
            **({"observation": values[call.id]} if call.id in values else {}),
        }
        for index, call in enumerate(calls.tool_calls)
    ]
