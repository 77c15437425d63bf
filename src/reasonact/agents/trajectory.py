"""ReAct's trajectory at the model boundary: rendering it, and shortening it until it fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reasonact.adapters.active import active_adapter
from reasonact.adapters.clip import clipped_observations
from reasonact.adapters.composing import HOOKS, overrides
from reasonact.adapters.content import Pieces, put_together
from reasonact.agents.names import KEYS_PER_STEP
from reasonact.agents.run import Run, noted
from reasonact.agents.telling import told_live
from reasonact.errors import ContextWindowExceededError
from reasonact.modules.predict import Predict, call_predict
from reasonact.runtime.flow import Flow
from reasonact.runtime.settings import settings
from reasonact.view.log import Stage

if TYPE_CHECKING:
    from reasonact.agents.react import ReAct


def rendered_trajectory(trajectory: Mapping[str, Any]) -> Any:
    """A trajectory in the active adapter's own form of input fields."""
    return active_adapter().format_trajectory(trajectory)


def shrinking(agent: ReAct, run: Run, module: Any, inputs: Mapping[str, Any]) -> Flow[Any]:
    """Call a module with the trajectory, on an ever shorter view while it does not fit.

    Args:
        agent: The agent; its ``truncate_trajectory`` shortens.
        run: The run; a view that the hook returns is kept in its state.
        module: The step predictor or the extractor.
        inputs: Its other keyword arguments.

    Returns:
        The module's prediction.

    Raises:
        ContextWindowExceededError: The view cannot be made smaller.
    """
    shown = _shown(agent, run)
    tries_left: int | None = None
    while True:
        try:
            request = call_predict(module, {**inputs, "trajectory": _given(module, shown)}, run.rendered)
            stage: Stage = "extract" if module is agent.extract else "turn"
            if stage == "turn":
                request = told_live(run, request)
            return (yield from noted(run, stage, request, first=_first_step(run), reshaped=_is_reshaped(agent, run)))
        except ContextWindowExceededError:
            view = run.steps()
            if tries_left is None:
                tries_left = len(view) // KEYS_PER_STEP
            if tries_left <= 0 or not _shortened(agent, run, view):
                raise
            tries_left -= 1
            before, shown = shown, _shown(agent, run)
            if _size(shown) >= _size(before):
                raise


def _shortened(agent: ReAct, run: Run, view: dict[str, Any]) -> bool:
    try:
        shorter = agent.truncate_trajectory(view)
        if shorter is not None and not isinstance(shorter, Mapping):
            raise TypeError(f"truncate_trajectory gives a dict or None, not a {type(shorter).__name__}")
        if shorter is not None and shorter is not view:
            # The run adds its later steps to the view; the dict that was returned stays the hook's own.
            run.state.view = dict(shorter)
    except ValueError:  # the hook's way to say that nothing is left to take away
        return False
    finally:  # the hook may have changed the steps themselves, also where it then gave up
        run.clips = clipped_observations(run.steps(), run.options.max_result_chars)
        run.rendered.trajectory.forget()
    return True


def _shown(agent: ReAct, run: Run) -> Any:
    view = run.steps()
    if run.clips:
        view = {**view, **{key: text for key, text in run.clips.items() if key in view}}
    if agent.formats_trajectories_itself():
        return agent._format_trajectory(dict(view))
    return active_adapter().trajectory_pieces(view, run.rendered, run.state.failed_steps)


def _given(module: Any, shown: Any) -> Any:
    """The trajectory as a module is given it: in pieces where nothing but the library's own adapter reads it."""
    adapter = active_adapter()
    seen = (
        type(module) is not Predict
        or {"forward", "aforward", "acall", "flow"} & vars(module).keys()
        or settings.trace is not None
        or any((settings.callbacks, module.callbacks, adapter.callbacks))
        or overrides(adapter, "__call__", "acall", "call_flow", "flow", "render", *HOOKS)
    )
    return put_together(shown) if seen else shown


def _first_step(run: Run) -> int:
    """The number of the first step that the model is shown."""
    return next((int(number) for key in run.steps() if (number := key.rpartition("_")[2]).isdecimal()), 0)


def _is_reshaped(agent: ReAct, run: Run) -> bool:
    """Whether the program's own hooks have shaped what the model is shown."""
    if run.state.view is not None or agent.formats_trajectories_itself():
        return True
    if not agent.truncates_trajectories_itself() or not run.state.log.asked:
        return False
    last = run.state.log.asked[-1]
    return last.reshaped or last.error is not None


def _size(shown: Any) -> int:
    if isinstance(shown, Pieces):
        return sum(map(len, shown))
    return len(shown) if isinstance(shown, str) else len(str(shown))
