"""Batch: the books of many runs, the same for threads and tasks.

It knows what is still to do, keeps what came out in input order, counts failures, and says
when to stop. `reasonact.modules.parallel` does the running.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reasonact.errors import DSPyError
from reasonact.lm.usage import UsageTracker
from reasonact.modules.progress import BatchUsage, Label, ProgressBar
from reasonact.modules.resume_file import ResumeFile
from reasonact.runtime.counts import whole_number
from reasonact.runtime.drive import to_thread
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.settings import settings
from reasonact.tools.control_flow import is_control_flow

logger = logging.getLogger("reasonact.batch")


class TooManyErrors(DSPyError):
    """A batch was given up, because as many examples failed as ``max_errors`` allows for.

    Args:
        message: How many, and what the last one was.
        results: The outputs so far, in input order; None where there is none.
        errors: The failures by position.
    """

    default_code = "too_many_errors"

    def __init__(
        self, message: str = "", *, results: Sequence[Any] = (), errors: dict[int, Exception] | None = None
    ) -> None:
        super().__init__(message)
        self.results = list(results)
        self.errors = dict(errors or {})


class Batch:
    """The books of many runs; safe for threads.

    Args:
        commands: What to do for each example, in order.
        shown: Each example as a log line names it.
        max_errors: How many failures end the batch; None for the setting of that name.
        provide_traceback: Whether failures are logged with their traceback; None for the setting.
        resume_file: The record of an earlier try, to go on from and to write to.
        keys: What each example is known by in that record.
        progress: Whether a bar is shown.
        label: Its text.

    Raises:
        ValueError: ``max_errors`` is negative.
    """

    def __init__(
        self,
        commands: Sequence[Command[Any]],
        shown: Sequence[Any],
        *,
        max_errors: int | None = None,
        provide_traceback: bool | None = None,
        resume_file: ResumeFile | None = None,
        keys: Sequence[str] = (),
        progress: bool = False,
        label: Label | None = None,
    ) -> None:
        self.results: list[Any] = [None] * len(commands)
        self.errors: dict[int, Exception] = {}
        self.stopped = False
        self._commands = commands
        self._shown = shown
        self._max_errors = whole_number(
            "max_errors", settings.max_errors if max_errors is None else max_errors, least=0
        )
        self._counted = 0
        self._last_error: Exception | None = None
        self._provide_traceback = settings.provide_traceback if provide_traceback is None else provide_traceback
        self._label = label or Label()
        self._record = resume_file
        self._keys = keys
        self._lock = threading.Lock()
        self._done: set[int] = set()
        for index, key in enumerate(keys):
            found, output = resume_file.find(key) if resume_file is not None else (False, None)
            if found:
                self.results[index] = output
                self._done.add(index)
                self._label.add(output)
        tracker = settings.usage_tracker
        countable = tracker is None or isinstance(tracker, UsageTracker)  # a program's own is left alone
        self.usage = BatchUsage() if progress and countable else None
        self._progress = progress
        self._bar: ProgressBar | None = None

    @property
    def unfinished(self) -> list[int]:
        """The positions that are still to do, in order."""
        with self._lock:
            return [index for index in range(len(self._commands)) if index not in self._done]

    @property
    def finished(self) -> int:
        """How many are over, failed ones among them."""
        return len(self._done)

    def flow(self, index: int) -> Flow[None]:
        """The run of one example. Its failure goes into the books; only what ends the batch comes out.

        Args:
            index: Its position.
        """
        try:
            output = yield from call(self._commands[index])
        except Exception as error:
            self._failed(index, error)
        else:
            if self._record is not None:
                yield from call(_Write(self, index, output))
            else:
                self.keep(index, output)

    def keep(self, index: int, output: Any) -> None:
        """Put an output into the books, and into the record where there is one.

        Args:
            index: The example's position.
            output: What its run gave. Where a second try was quicker, it is passed over.
        """
        with self._lock:
            if index in self._done or self.stopped:
                return
            if self._record is not None:
                self._record.write(self._keys[index], output)
            self.results[index] = output
            self._label.add(output)
            self._over(index)

    def open(self) -> None:
        """Show the bar, where one is wanted."""
        if self._progress:
            self._bar = ProgressBar(len(self._commands), len(self._done), self.usage, self._label)

    def close(self) -> None:
        """Take nothing more into the books, and close bar and record."""
        with self._lock:
            self.stopped = True
            if self._bar is not None:
                self._bar.close()
            if self._record is not None:
                self._record.close()

    def too_many_errors(self) -> TooManyErrors | None:
        """The error that ends the batch, where one is due."""
        if self._last_error is None or self._counted < self._max_errors:
            return None
        error = TooManyErrors(
            f"{self._counted} of {len(self._commands)} examples failed, and max_errors is {self._max_errors}; "
            f"the last: {type(self._last_error).__name__}: {self._last_error}",
            results=self.results,
            errors=self.errors,
        )
        error.__cause__ = self._last_error
        return error

    def _failed(self, index: int, error: Exception) -> None:
        with self._lock:
            if index in self._done or self.stopped:
                return
            self.errors[index] = error
            if is_control_flow(error):  # a run that waits for a person has not failed
                logger.warning("example %d stopped: %s", index, error)
            else:
                self._counted += 1
                self._last_error = error
                hint = "" if self._provide_traceback else "; provide_traceback=True shows where"
                trace = error if self._provide_traceback else None
                shown = f"{self._shown[index]!r:.500}"
                logger.error(
                    "example %d, %s: %s: %s%s", index, shown, type(error).__name__, error, hint, exc_info=trace
                )
            self._over(index)

    def _over(self, index: int) -> None:
        self._done.add(index)
        if self._bar is not None:
            self._bar.advance(len(self.errors))


@dataclass(frozen=True, slots=True)
class _Write(Command[None]):
    """Keep an output in the record on the disk, which takes a while."""

    batch: Batch
    index: int
    output: Any

    def run(self) -> None:
        self.batch.keep(self.index, self.output)

    async def arun(self) -> None:
        await to_thread(self.batch.keep, self.index, self.output)
