"""A batch of one module: its examples as calls, its record, its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reasonact.modules.batch import Batch
from reasonact.modules.commands import CallModule
from reasonact.modules.parallel import inputs_of, run_in_tasks, run_in_threads
from reasonact.modules.resume_file import ResumeFile, key_of
from reasonact.types.example import Example


def run_batch(
    module: Any,
    examples: Iterable[Any],
    *,
    num_threads: int | None,
    timeout: float,
    straggler_limit: int,
    return_failed_examples: bool,
    **books: Any,
) -> Any:
    """Call a module for each example in threads; see ``Module.batch``."""
    examples = list(examples)  # it may be an iterator
    batch = _module_batch(module, examples, **books)
    run_in_threads(batch, num_threads, timeout, straggler_limit)
    return _outcome(batch, examples, return_failed_examples)


async def arun_batch(
    module: Any, examples: Iterable[Any], *, concurrency: int | None, return_failed_examples: bool, **books: Any
) -> Any:
    """Call a module for each example as tasks; see ``Module.abatch``."""
    examples = list(examples)
    batch = _module_batch(module, examples, **books)
    await run_in_tasks(batch, concurrency)
    return _outcome(batch, examples, return_failed_examples)


def _module_batch(
    module: Any,
    examples: Sequence[Any],
    *,
    max_errors: int | None,
    provide_traceback: bool | None,
    disable_progress_bar: bool,
    resume_file: str | Path | None,
) -> Batch:
    inputs = [inputs_of(example, index) for index, example in enumerate(examples)]
    return Batch(
        [CallModule(module, (), given) for given in inputs],
        examples,
        max_errors=max_errors,
        provide_traceback=provide_traceback,
        resume_file=None if resume_file is None else ResumeFile(resume_file),
        keys=[] if resume_file is None else [key_of(index, given) for index, given in enumerate(inputs)],
        progress=not disable_progress_bar,
    )


def _outcome(batch: Batch, examples: Sequence[Any], with_failed: bool) -> Any:
    if not with_failed:
        return batch.results
    failed = sorted(batch.errors)
    shown = [examples[index] for index in failed]
    inputs = [example.inputs() if isinstance(example, Example) else example for example in shown]  # as DSPy gives them
    return batch.results, inputs, [batch.errors[index] for index in failed]
