"""Where model calls are remembered: per LM, per module that was running, and for the process."""

from __future__ import annotations

from typing import Any, Final

from reasonact.runtime.settings import settings

MAX_HISTORY_SIZE: Final = 10_000
GLOBAL_HISTORY: Final[list[dict[str, Any]]] = []


def record_history(history: list[dict[str, Any]], entry: dict[str, Any]) -> None:
    """Remember one call of a model, unless ``disable_history`` is set.

    Args:
        history: The history of the LM itself; it, the history of every module that is
            running here each get the entry, and lose their oldest where they are full
            (``max_history_size``; 0 keeps none). The process's own keeps its last
            `MAX_HISTORY_SIZE`.
        entry: The call, under DSPy's keys.
    """
    if settings.disable_history:
        return
    _append(GLOBAL_HISTORY, entry, MAX_HISTORY_SIZE)
    bound = settings.max_history_size
    if bound <= 0:
        return
    _append(history, entry, bound)
    for module in settings.caller_modules or ():
        _append(module.history, entry, bound)


def _append(history: list[dict[str, Any]], entry: dict[str, Any], bound: int) -> None:
    history.append(entry)
    if len(history) > bound:
        del history[: len(history) - bound]
