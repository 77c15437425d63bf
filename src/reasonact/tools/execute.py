"""Running the tool calls of one agent turn.

Order and exactly-once: every invocation is started once, in call order; at most ``parallel``
run at a time, and a tool with ``sequential=True`` runs when all before it have ended and before
any after it starts. Results are in call order whatever the order of ending. `on_settled` hears
of each end before anything propagates, so that finished work can be kept.

What propagates: control flow (`is_control_flow`), a tool with ``on_error="raise"``,
KeyboardInterrupt, SystemExit, cancellation of the run. Invocations not yet started then never
start. Running async siblings are cancelled and waited for, `CANCEL_GRACE` seconds at most;
running sync siblings cannot be stopped: for an ordinary exception they are waited for and
reported, for the other three they are left to end in their daemon threads.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from reasonact.errors import format_error_for_lm
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, RaisedExit
from reasonact.runtime.settings import settings
from reasonact.runtime.threads import in_daemon_thread
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.control_flow import is_control_flow
from reasonact.tools.invoke import cancelled
from reasonact.tools.policy import SyncTools
from reasonact.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one invocation ended.

    Args:
        value: The tool's result, or the line about its failure that the model reads.
        is_error: Whether it failed.
        error: The exception, where it failed.
    """

    value: Any
    is_error: bool = False
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call to be made: the tool and its arguments as the model gave them."""

    tool: Tool
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunTools(Command[list[Outcome]]):
    """Run the calls of a turn.

    Args:
        invocations: The calls, in order.
        parallel: How many may run side by side: threads in sync code, tasks in async code. One
            at a time, a sync driver runs them in its own thread.
        sync_tools: Where sync tools run in async code, if they do not say so themselves.
        on_settled: Called with index and outcome when a call has ended, in the caller's thread.

    Raises:
        ValueError: ``parallel`` is below 1.

    The result is one `Outcome` for each invocation, in their order.
    """

    invocations: tuple[Invocation, ...]
    parallel: int = 1
    sync_tools: SyncTools = "thread"
    on_settled: Callable[[int, Outcome], None] | None = None

    def __post_init__(self) -> None:
        if self.parallel < 1:
            raise ValueError(f"parallel is how many tools may run side by side, at least 1, got {self.parallel}")

    def run(self) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for batch in self._batches():
            if self.parallel <= 1 or len(batch) == 1:
                for index in batch:
                    self._settle(outcomes, index, self._attempt(self.invocations[index]))
            else:
                self._run_in_threads(batch, outcomes)
        return [outcomes[index] for index in range(len(self.invocations))]

    async def arun(self) -> list[Outcome]:
        outcomes: dict[int, Outcome] = {}
        for batch in self._batches():
            await self._run_in_tasks(batch, outcomes)
        return [outcomes[index] for index in range(len(self.invocations))]

    def _batches(self) -> Iterator[list[int]]:
        """The invocations' indexes, cut where a sequential tool needs to be alone."""
        batch: list[int] = []
        for index, invocation in enumerate(self.invocations):
            if not invocation.tool.policy.sequential:
                batch.append(index)
                continue
            if batch:
                yield batch
            yield [index]
            batch = []
        if batch:
            yield batch

    def _run_in_threads(self, batch: list[int], outcomes: dict[int, Outcome]) -> None:
        waiting = iter(batch)
        running: dict[concurrent.futures.Future[Outcome], int] = {}
        failure: BaseException | None = None
        while True:
            while failure is None and len(running) < self.parallel and (index := next(waiting, None)) is not None:
                running[in_daemon_thread(partial(self._attempt, self.invocations[index]))] = index
            if not running:
                break
            try:
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            except BaseException as error:  # an interrupt, while others may have ended in this moment
                failure, done = error, {future for future in running if future.done()}
            for future in sorted(done, key=running.__getitem__):
                error_of_tool = self._collect(outcomes, running.pop(future), future)
                failure = failure or error_of_tool
            if failure is not None and not isinstance(failure, Exception):
                break
        if failure is not None:
            raise failure

    async def _run_in_tasks(self, batch: list[int], outcomes: dict[int, Outcome]) -> None:
        waiting = iter(batch)
        running: dict[asyncio.Future[Outcome], int] = {}
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(running) < self.parallel and (index := next(waiting, None)) is not None:
                    running[asyncio.ensure_future(self._aattempt(self.invocations[index]))] = index
                if not running:
                    break
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(done, key=running.__getitem__):
                    error = self._collect(outcomes, running.pop(task), task)
                    failure = failure or error
                if failure is not None:
                    stoppable = {t: index for t, index in running.items() if self.invocations[index].tool.is_async}
                    await self._abandon(stoppable, outcomes)
                    running = {t: index for t, index in running.items() if t not in stoppable}
        finally:
            # not empty only where this run itself is being cancelled
            await self._abandon(running, outcomes)
        if failure is not None:
            raise RaisedExit(failure) if isinstance(failure, GeneratorExit) else failure

    async def _abandon(self, running: dict[asyncio.Future[Outcome], int], outcomes: dict[int, Outcome]) -> None:
        await cancelled(list(running))
        for task, index in running.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                self._settle(outcomes, index, task.result())

    def _collect(
        self,
        outcomes: dict[int, Outcome],
        index: int,
        ended: concurrent.futures.Future[Outcome] | asyncio.Future[Outcome],
    ) -> BaseException | None:
        """Settle one that has ended; what must propagate is handed back."""
        try:
            error = ended.exception()
        except asyncio.CancelledError as own:  # nobody cancelled this task from here: the tool raised it itself
            self._settle(outcomes, index, _failed(self.invocations[index], own))
            return None
        if error is None:
            self._settle(outcomes, index, ended.result())
        return error.error if isinstance(error, RaisedExit) else error

    def _settle(self, outcomes: dict[int, Outcome], index: int, outcome: Outcome) -> None:
        outcomes[index] = outcome
        if self.on_settled is not None:
            self.on_settled(index, outcome)

    def _attempt(self, invocation: Invocation) -> Outcome:
        try:
            return Outcome(drive(invocation.tool.flow(invocation.args, self.sync_tools)))
        except (Exception, asyncio.CancelledError) as error:  # no sync run is ever cancelled: it is the tool's own
            return _outcome_of(invocation, error)

    async def _aattempt(self, invocation: Invocation) -> Outcome:
        try:
            return Outcome(await adrive(invocation.tool.flow(invocation.args, self.sync_tools)))
        except Exception as error:
            return _outcome_of(invocation, error)
        except (KeyboardInterrupt, SystemExit) as error:  # a task that lets these out stops the event loop
            raise RaisedExit(error) from None


def _outcome_of(invocation: Invocation, error: BaseException) -> Outcome:
    refused = isinstance(error, InvalidArguments)  # then the tool has not run: the model's fault, not the tool's
    if is_control_flow(error) or (invocation.tool.policy.on_error == "raise" and not refused):
        raise error
    return _failed(invocation, error)


def _failed(invocation: Invocation, error: BaseException) -> Outcome:
    line = format_error_for_lm(error, traceback_frames=settings.error_traceback_frames)
    return Outcome(f"{invocation.tool.name}: {line}", True, error)
