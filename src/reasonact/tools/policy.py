"""How a tool is run: its time, its second tries, what its failures become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

OnError = Literal["return", "raise"] | Callable[[Exception], Any]
SyncTools = Literal["thread", "inline"]


@dataclass(frozen=True, slots=True)
class Retries:
    """Run a tool again after failures that may pass.

    The waits double, from ``wait`` up to ``longest_wait``; they are tenacity's.

    Args:
        times: How often to run it again at most, after the first time.
        on: The exception classes that are worth another try. A timeout of the tool's policy
            is a `TimeoutError`.
        wait: Seconds before the first new try.
        longest_wait: Seconds that no wait exceeds.

    Raises:
        ValueError: ``times`` is below 1, a wait is negative, or ``on`` holds no exception class.
    """

    times: int
    on: tuple[type[Exception], ...]
    wait: float = 0.5
    longest_wait: float = 10.0

    def __post_init__(self) -> None:
        if self.times < 1 or self.wait < 0 or self.longest_wait < 0:
            raise ValueError(f"retries need times >= 1 and waits >= 0, got {self}")
        classes = self.on if isinstance(self.on, tuple) else (self.on,)
        if not classes or not all(isinstance(c, type) and issubclass(c, Exception) for c in classes):
            raise ValueError(f"retries need exception classes in on=, got {self.on!r}")
        object.__setattr__(self, "on", classes)


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The options of one tool beside what it is.

    Args:
        timeout: Seconds that one try may take. An async tool is cancelled then; a sync one
            cannot be stopped: it is left to end by itself in its thread, the run goes on.
        retries: Second tries; None for none.
        on_error: What a failure of the tool's own becomes. None: the exception, which an agent
            shows to the model. ``"return"``: a line about it, as the result. ``"raise"``: the
            exception, which leaves an agent's run too. A callable: its answer to the exception
            is the result. Refused arguments are not the tool's failure.
        sequential: Never run beside another call of the same turn.
        sync_tools: Where a sync tool runs in async code: in a worker ``"thread"`` or
            ``"inline"``, on the event loop. None: as the agent says.
        cache: Keep results (never errors) by the checked arguments.
        require_confirmation: Ask a person first; a predicate on the checked arguments says when.
        strict: Check arguments without converting them.

    Raises:
        ValueError: A value is none of these.
    """

    timeout: float | None = None
    retries: Retries | None = None
    on_error: OnError | None = None
    sequential: bool = False
    sync_tools: SyncTools | None = None
    cache: bool = False
    require_confirmation: bool | Callable[[Mapping[str, Any]], bool] = False
    strict: bool = False

    def __post_init__(self) -> None:
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0, got {self.timeout!r}")
        if self.retries is not None and not isinstance(self.retries, Retries):
            raise ValueError(f"retries is a Retries(times, on) or None, got {self.retries!r}")
        if not (self.on_error in (None, "return", "raise") or callable(self.on_error)):
            raise ValueError(f'on_error is "return", "raise", a callable or None, got {self.on_error!r}')
        if self.sync_tools not in (None, "thread", "inline"):
            raise ValueError(f'sync_tools is "thread", "inline" or None, got {self.sync_tools!r}')
