"""What to leave out of a history that does not fit the model's context window."""

from __future__ import annotations

from typing import Any

from reasonact.types.history import TURN_KEYS, History


def drop_oldest_turns(history: History) -> History | None:
    """Leave out the older half of the turns, inputs kept. Pass it to ``ReActV2(on_overflow=...)``.

    A turn goes with its calls and their results, never one without the other. The inputs
    of the first event and of the newest question stay, so that the model still knows its
    task.

    Args:
        history: What the model was shown.

    Returns:
        A shorter history; None where nothing is left to drop. The given one is unchanged.
    """
    events = history.messages
    openings = [number for number, event in enumerate(events) if _inputs_of(event)]
    kept_inputs = {openings[0], openings[-1]} if openings else set()
    droppable = [number for number, event in enumerate(events[:-1]) if number not in kept_inputs or _has_step(event)]
    if not droppable:
        return None
    gone = set(droppable[: (len(droppable) + 1) // 2])
    shorter: list[dict[str, Any]] = []
    for number, event in enumerate(events):
        if number not in gone:
            shorter.append(event)
        elif number in kept_inputs:
            shorter.append(_inputs_of(event))
    return History.model_construct(messages=shorter)


def _has_step(event: dict[str, Any]) -> bool:
    return any(key in event for key in TURN_KEYS)


def _inputs_of(event: dict[str, Any]) -> dict[str, Any]:
    """What an event says before its step: a run's inputs stand first, its outputs last."""
    inputs: dict[str, Any] = {}
    for name, value in event.items():
        if name in TURN_KEYS:
            break
        inputs[name] = value
    return inputs
