"""Many runs at once: in threads for sync programs, as tasks for async ones.

A worker runs each example in a copy of the caller's context, so that settings, usage
trackers and context variables of the caller hold there too. Threads are daemons: Ctrl-C
reaches the caller at once, and what is still under way does not keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from reasonact.modules.batch import Batch
from reasonact.modules.commands import CallModule
from reasonact.modules.progress import AverageScore
from reasonact.runtime.counts import whole_number
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.settings import settings
from reasonact.runtime.threads import start_in_thread
from reasonact.types.example import Example

# Windows lets no Ctrl-C through to a thread that waits without an end.
_LONGEST_WAIT = 1.0


def run_in_threads(batch: Batch, num_threads: int | None, timeout: float, straggler_limit: int) -> None:
    """Run a batch in threads; with one thread, in the caller's.

    Args:
        batch: The batch.
        num_threads: How many; None for the setting of that name.
        timeout: Seconds after which one of the last examples is started a second time, the
            quicker of the two being kept; 0 for never.
        straggler_limit: How many examples may be left for that.

    Raises:
        ValueError: ``num_threads`` is negative.
        TooManyErrors: As many examples failed as the batch allows for.
        BaseException: KeyboardInterrupt and the like, with ``results`` on it.
    """
    count = whole_number("num_threads", num_threads or settings.num_threads, least=1)
    with _keeping_books(batch):
        if count == 1:
            for index in batch.unfinished:
                if batch.too_many_errors() is None:
                    contextvars.copy_context().run(drive, batch.flow(index))
        else:
            _Threads(batch, count, timeout, straggler_limit).run()


async def run_in_tasks(batch: Batch, concurrency: int | None) -> None:
    """Run a batch as tasks of the running event loop.

    Args:
        batch: The batch.
        concurrency: How many at once; None for the setting ``async_max_workers``.

    Raises:
        ValueError: ``concurrency`` is negative.
        TooManyErrors: As many examples failed as the batch allows for.
        BaseException: CancelledError and the like, with ``results`` on it.
    """
    count = whole_number("concurrency", concurrency or settings.async_max_workers, least=1)
    waiting = deque(batch.unfinished)

    async def work() -> None:
        while waiting and batch.too_many_errors() is None:
            await asyncio.create_task(adrive(batch.flow(waiting.popleft())))  # a task has a context of its own

    with _keeping_books(batch):
        workers = [asyncio.create_task(work()) for _ in range(min(count, len(waiting)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


@contextmanager
def _keeping_books(batch: Batch) -> Iterator[None]:
    """Open a batch for the block, close it after, and end it as its errors say."""
    counting = nullcontext() if batch.usage is None else settings.context(usage_tracker=batch.usage)
    with counting:
        batch.open()
        try:
            yield
        except BaseException as error:
            batch.close()
            try:
                error.results = list(batch.results)  # type: ignore[attr-defined]
            except (AttributeError, TypeError):  # an exception with slots
                pass
            raise
        batch.close()
    failure = batch.too_many_errors()
    if failure is not None:
        raise failure


class _Threads:
    """The threads of one batch. Whatever they share is touched under ``change``."""

    def __init__(self, batch: Batch, count: int, timeout: float, straggler_limit: int) -> None:
        self.batch = batch
        self.count = count
        self.timeout = timeout
        self.straggler_limit = straggler_limit
        self.context = contextvars.copy_context()
        self.change = threading.Condition()
        self.waiting = deque(batch.unfinished)
        self.started: dict[int, float] = {}
        self.tried_again: set[int] = set()
        self.alive = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Run everything that is to do, as far as the errors allow."""
        stopped_at: float | None = None
        with self.change:
            for _ in range(min(self.count, len(self.waiting))):
                self._start(self._work)
            while self.alive and self.failure is None:
                under_way = list(self.started)
                if not under_way and not self.waiting:
                    break  # a first try may still hang whose second one was quicker
                now = time.monotonic()
                if self.batch.too_many_errors() is not None:
                    stopped_at = now if stopped_at is None else stopped_at
                    if not under_way or now - stopped_at > self.timeout:
                        break
                else:
                    self._try_stragglers_again(under_way, now)
                self.change.wait(min(_LONGEST_WAIT, self.timeout) if self.timeout > 0 else _LONGEST_WAIT)
        if self.failure is not None:
            raise self.failure

    def _try_stragglers_again(self, under_way: list[int], now: float) -> None:
        if self.waiting or self.timeout <= 0 or len(under_way) > self.straggler_limit:
            return
        for index in under_way:
            if index not in self.tried_again and now - self.started[index] >= self.timeout:
                self.tried_again.add(index)
                self._start(functools.partial(self._run_one, index))

    def _start(self, work: Callable[[], None]) -> None:
        def to_the_end() -> None:
            try:
                work()
            finally:
                with self.change:
                    self.alive -= 1
                    self.change.notify_all()

        self.alive += 1
        start_in_thread(to_the_end)

    def _work(self) -> None:
        while True:
            with self.change:
                ended = self.batch.stopped or self.failure is not None or self.batch.too_many_errors() is not None
                if ended or not self.waiting:
                    return
                index = self.waiting.popleft()
                self.started[index] = time.monotonic()
            self._run_one(index)

    def _run_one(self, index: int) -> None:
        try:
            self.context.copy().run(drive, self.batch.flow(index))
        except BaseException as error:
            with self.change:
                self.failure = self.failure or error
        with self.change:
            self.started.pop(index, None)  # of two tries the quicker one
            self.change.notify_all()


def inputs_of(example: Any, index: int) -> dict[str, Any]:
    """What a program is called with for an example.

    Args:
        example: An `Example` with its inputs marked, or a dict of inputs.
        index: Its position, for the error.

    Returns:
        Inputs by name.

    Raises:
        ValueError: The example has no inputs marked.
        TypeError: It is neither.
    """
    if isinstance(example, Example):
        try:
            return dict(example.inputs().items())
        except ValueError as error:
            raise ValueError(f"example {index}: {error}") from None
    if isinstance(example, Mapping):
        return dict(example)
    raise TypeError(f"example {index} is a {type(example).__name__}; give an Example with its inputs marked, or a dict")


class Parallel:
    """Run pairs of a program and an example at once, in threads.

    Follows ``dspy.Parallel`` of DSPy 3.4. After a call ``failed_examples`` and
    ``exceptions`` tell what went wrong.

    Args:
        num_threads: How many; None for the setting of that name.
        max_errors: How many failures end the whole; None for the setting.
        access_examples: Call programs with an example's inputs by name; False hands over
            the `Example` itself.
        return_failed_examples: Return failed examples and their errors beside the results.
        provide_traceback: Whether failures are logged with their traceback.
        disable_progress_bar: Show nothing.
        timeout: Seconds after which one of the last examples is tried a second time; 0: never.
        straggler_limit: How many may be left for that.

    Raises:
        ValueError: A number is negative.
    """

    def __init__(
        self,
        num_threads: int | None = None,
        max_errors: int | None = None,
        access_examples: bool = True,
        return_failed_examples: bool = False,
        provide_traceback: bool | None = None,
        disable_progress_bar: bool = False,
        timeout: int = 120,
        straggler_limit: int = 3,
    ) -> None:
        self.num_threads, self.max_errors = _numbers(num_threads, max_errors)
        self.return_failed_examples, self.access_examples = return_failed_examples, access_examples
        self.straggler_limit, self.timeout = straggler_limit, timeout
        self.disable_progress_bar, self.provide_traceback = disable_progress_bar, provide_traceback
        self.failed_examples: list[Any] = []
        self.exceptions: list[Exception] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The same as `forward`."""
        return self.forward(*args, **kwargs)

    def forward(self, exec_pairs: Sequence[Any], num_threads: int | None = None) -> Any:
        """Run the pairs.

        Args:
            exec_pairs: Pairs of a program (a module or any callable) and what to call it
                with: an `Example`, a dict of keyword arguments, a tuple or list of
                positional ones.
            num_threads: For this call.

        Returns:
            The outputs in the order of the pairs, None where one failed; with
            ``return_failed_examples`` a tuple of them, the failed examples and the errors.

        Raises:
            TypeError: What stands beside a program is none of these.
            ValueError: An example has no inputs marked, or a pair is none.
            TooManyErrors: ``max_errors`` of them failed.
        """
        pairs = [_pair(pair, index) for index, pair in enumerate(exec_pairs)]
        batch = Batch(
            [self._command(program, example, index) for index, (program, example) in enumerate(pairs)],
            [example for _, example in pairs],
            max_errors=self.max_errors,
            provide_traceback=self.provide_traceback,
            progress=not self.disable_progress_bar,
        )
        try:
            run_in_threads(batch, num_threads or self.num_threads, self.timeout, self.straggler_limit)
        finally:
            failed = sorted(batch.errors)
            self.failed_examples = [pairs[index][1] for index in failed]
            self.exceptions = [batch.errors[index] for index in failed]
        if self.return_failed_examples:
            return batch.results, self.failed_examples, self.exceptions
        return batch.results

    def _command(self, program: Any, example: Any, index: int) -> CallModule:
        if isinstance(example, Example) and not self.access_examples:
            return CallModule(program, (example,), {})
        if isinstance(example, (tuple, list)):
            return CallModule(program, tuple(example), {})
        return CallModule(program, (), inputs_of(example, index))


class ParallelExecutor:
    """Call one function for each item of a list, in threads. Follows DSPy's class of that name.

    After `execute`, ``failed_indices``, ``exceptions_map`` and ``error_count`` tell what
    went wrong.

    Args:
        num_threads: How many; None for the setting of that name.
        max_errors: How many failures end the whole; None for the setting.
        disable_progress_bar: Show nothing.
        provide_traceback: Whether failures are logged with their traceback.
        compare_results: The function returns pairs whose second part is a score, and the
            bar shows their average.
        timeout: Seconds after which one of the last items is tried a second time; 0: never.
        straggler_limit: How many may be left for that.

    Raises:
        ValueError: A number is negative.
    """

    def __init__(
        self,
        num_threads: int | None = None,
        max_errors: int | None = None,
        disable_progress_bar: bool = False,
        provide_traceback: bool | None = None,
        compare_results: bool = False,
        timeout: int = 120,
        straggler_limit: int = 3,
    ) -> None:
        self.num_threads, self.max_errors = _numbers(num_threads, max_errors)
        self.straggler_limit, self.timeout = straggler_limit, timeout
        self.compare_results = compare_results
        self.disable_progress_bar, self.provide_traceback = disable_progress_bar, provide_traceback
        self.error_count = 0
        self.failed_indices: list[int] = []
        self.exceptions_map: dict[int, Exception] = {}

    def execute(self, function: Callable[[Any], Any], data: Iterable[Any]) -> list[Any]:
        """Call the function for each item.

        Args:
            function: It gets one item.
            data: The items.

        Returns:
            What it returned, in the order of the items; None where it failed.

        Raises:
            TooManyErrors: ``max_errors`` of the calls failed.
        """
        items = list(data)
        batch = Batch(
            [CallModule(function, (item,), {}) for item in items],
            items,
            max_errors=self.max_errors,
            provide_traceback=self.provide_traceback,
            progress=not self.disable_progress_bar,
            label=AverageScore() if self.compare_results else None,
        )
        try:
            run_in_threads(batch, self.num_threads, self.timeout, self.straggler_limit)
        finally:
            self.failed_indices, self.exceptions_map = sorted(batch.errors), dict(batch.errors)
            self.error_count = len(batch.errors)
        return batch.results


def _numbers(num_threads: int | None, max_errors: int | None) -> tuple[int, int]:
    """How many threads and failures there may be, by the settings where nothing is given."""
    return (
        whole_number("num_threads", num_threads or settings.num_threads, least=1),
        whole_number("max_errors", settings.max_errors if max_errors is None else max_errors, least=0),
    )


def _pair(pair: Any, index: int) -> tuple[Any, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not callable(pair[0]):
        raise ValueError(f"item {index} is no pair of a program and an example: {pair!r:.200}")
    return pair[0], pair[1]
