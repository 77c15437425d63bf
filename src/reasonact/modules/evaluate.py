"""Evaluate: a program's average score over examples. Follows ``dspy.Evaluate`` of DSPy 3.4."""

from __future__ import annotations

import csv
import inspect
import io
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reasonact.modules.batch import Batch
from reasonact.modules.disk import write_whole
from reasonact.modules.parallel import inputs_of, run_in_threads
from reasonact.modules.progress import AverageScore
from reasonact.runtime.callbacks import observed
from reasonact.runtime.flow import Command
from reasonact.types.example import Example
from reasonact.types.json_form import json_form
from reasonact.types.prediction import Prediction

logger = logging.getLogger("reasonact.evaluate")

Metric = Callable[..., Any]
Scored = tuple[Any, Any, Any]

_TIMEOUT = 120
_STRAGGLERS = 3
_CELL_CHARS = 60


class EvaluationResult(Prediction):
    """What an evaluation gives: fields ``score`` and ``results``.

    Args:
        score: The average in percent, rounded to two decimals.
        results: One ``(example, prediction, score)`` for each example, in their order.
    """

    score: float
    results: list[Scored]

    def __init__(self, score: float, results: list[Scored]) -> None:
        super().__init__(score=score, results=results)

    def __repr__(self) -> str:
        return f"EvaluationResult(score={self['score']}, results=<list of {len(self['results'])} results>)"


class Evaluate:
    """Run a program on examples and average what a metric says.

    The metric is called as ``metric(example, prediction)``; parameters beyond these two
    that have no default (``trace``) get None. It returns a number, a bool, or a
    `Prediction` with a ``score``.

    Args:
        devset: `Example` objects with their inputs marked.
        metric: The metric.
        num_threads: How many examples at once; None for the setting of that name.
        display_progress: Show a bar with the average so far.
        display_table: Print a table of the results; a number prints that many rows.
        max_errors: How many failures end the evaluation; None for the setting.
        provide_traceback: Whether failures are logged with their traceback.
        failure_score: The score of an example whose program or metric failed.
        save_as_csv: A file to write the rows to.
        save_as_json: The same as JSON.
        **kwargs: Taken for DSPy's sake, and of no effect.

    Raises:
        ValueError: ``return_outputs`` is given: results are always returned.
    """

    def __init__(
        self,
        *,
        devset: list[Any],
        metric: Metric | None = None,
        num_threads: int | None = None,
        display_progress: bool = False,
        display_table: bool | int = False,
        max_errors: int | None = None,
        provide_traceback: bool | None = None,
        failure_score: float = 0.0,
        save_as_csv: str | None = None,
        save_as_json: str | None = None,
        **kwargs: Any,
    ) -> None:
        if "return_outputs" in kwargs:
            raise ValueError("return_outputs is gone: the outputs are always there, in result.results")
        if kwargs:
            logger.warning("Evaluate knows no %s; passed over", ", ".join(kwargs))
        self.metric, self.failure_score = metric, failure_score
        self.devset = devset
        self.max_errors, self.num_threads, self.provide_traceback = max_errors, num_threads, provide_traceback
        self.display_table, self.display_progress = display_table, display_progress
        self.save_as_json, self.save_as_csv = save_as_json, save_as_csv

    def __call__(
        self,
        program: Callable[..., Any],
        metric: Metric | None = None,
        devset: list[Any] | None = None,
        num_threads: int | None = None,
        display_progress: bool | None = None,
        display_table: bool | int | None = None,
        callback_metadata: dict[str, Any] | None = None,
        save_as_csv: str | None = None,
        save_as_json: str | None = None,
    ) -> EvaluationResult:
        """Evaluate a program. What is given here counts in place of what the constructor was given.

        Args:
            program: A module, or any callable that takes the inputs by name.
            callback_metadata: Handed to callbacks.

        Returns:
            The average score in percent, and every example with prediction and score. Where
            the program failed, the prediction is empty.

        Raises:
            ValueError: There are no examples or no metric, or an example has no inputs marked.
            TypeError: The metric cannot be called, or an example is none.
            TooManyErrors: ``max_errors`` examples failed.
            KeyboardInterrupt: Ctrl-C; the ``results`` so far, pairs of prediction and score,
                are on it.
            OSError: A file cannot be written.
        """
        inputs = {
            "program": program,
            "metric": metric,
            "devset": devset,
            "num_threads": num_threads,
            "display_progress": display_progress,
            "display_table": display_table,
            "callback_metadata": callback_metadata,
            "save_as_csv": save_as_csv,
            "save_as_json": save_as_json,
        }
        chosen_metric = metric if metric is not None else self.metric
        examples = list(devset if devset is not None else self.devset)
        shown = self.display_table if display_table is None else display_table
        with observed("evaluate", self, inputs) as seen:
            result = self._evaluate(
                program,
                chosen_metric,
                examples,
                num_threads or self.num_threads,
                self.display_progress if display_progress is None else display_progress,
            )
            rows = _Rows(result["results"], _name_of(chosen_metric))
            if shown:
                rows.print(len(examples) if shown is True else int(shown))
            if save_as_csv or self.save_as_csv:
                write_whole(Path(save_as_csv or self.save_as_csv or ""), rows.csv())
            if save_as_json or self.save_as_json:
                write_whole(Path(save_as_json or self.save_as_json or ""), rows.json())
            seen.outputs = result
        return result

    def _evaluate(
        self,
        program: Callable[..., Any],
        metric: Metric | None,
        examples: list[Any],
        num_threads: int | None,
        bar: bool,
    ) -> EvaluationResult:
        if metric is None:
            raise ValueError("there is no metric; give Evaluate(metric=...) or evaluate(program, metric=...)")
        if not examples:
            raise ValueError("devset holds no example; there is nothing to evaluate")
        score = _two_arguments(metric)
        batch = Batch(
            [_Score(program, score, example, inputs_of(example, index)) for index, example in enumerate(examples)],
            examples,
            max_errors=self.max_errors,
            provide_traceback=self.provide_traceback,
            progress=bar,
            label=AverageScore(),
        )
        run_in_threads(batch, num_threads, _TIMEOUT, _STRAGGLERS)
        results: list[Scored] = []
        for index, example in enumerate(examples):
            failed = index in batch.errors
            prediction, value = (Prediction(), self.failure_score) if failed else batch.results[index]
            results.append((example, prediction, value))
        total: Any = sum(value for _, _, value in results)
        logger.info("Average Metric: %s / %d (%.1f%%)", total, len(examples), 100 * total / len(examples))
        return EvaluationResult(round(100 * total / len(examples), 2), results)


@dataclass(frozen=True, slots=True)
class _Score(Command[tuple[Any, Any]]):
    """Run the program on one example and score what it gives."""

    program: Any
    metric: Metric
    example: Any
    inputs: Mapping[str, Any]

    def run(self) -> tuple[Any, Any]:
        return self._scored(self.program(**self.inputs))

    async def arun(self) -> tuple[Any, Any]:
        return self._scored(await self.program.acall(**self.inputs))

    def _scored(self, prediction: Any) -> tuple[Any, Any]:
        score = self.metric(self.example, prediction)
        float(score)  # a metric that forgot its return fails here, and is said to by the example's number
        return prediction, score


def _two_arguments(metric: Metric) -> Metric:
    """The metric as a function of example and prediction."""
    if not callable(metric):
        raise TypeError(f"the metric is a {type(metric).__name__}, which cannot be called")
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):  # a builtin that tells no signature
        return metric
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in by_position and p.default is inspect.Parameter.empty]
    extra = (None,) * (len(required) - 2)
    return (lambda example, prediction: metric(example, prediction, *extra)) if extra else metric


def _name_of(metric: Any) -> str:
    return getattr(metric, "__name__", None) or type(metric).__name__


class _Rows:
    """The results as rows of one width: the example's fields, the prediction's, the score."""

    def __init__(self, results: Sequence[Scored], metric_name: str) -> None:
        self.rows = [
            {**_merged(_fields(example), _fields(prediction)), metric_name: _number(score)}
            for example, prediction, score in results
        ]
        self.columns = list(dict.fromkeys(name for row in self.rows for name in row if name != metric_name))
        self.columns.append(metric_name)

    def csv(self) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, restval="")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue().encode("utf-8", "backslashreplace")

    def json(self) -> bytes:
        return json.dumps([json_form(row) for row in self.rows]).encode("ascii")

    def print(self, count: int) -> None:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for name in self.columns:
            table.add_column(Text(name))
        for row in self.rows[:count]:
            table.add_row(*(Text(_cell(row.get(name, ""))) for name in self.columns))
        console = Console(file=sys.stdout)
        console.print(table)
        if count < len(self.rows):
            console.print(Text(f"{len(self.rows) - count} more rows"))


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, Example):
        return dict(value.items())
    return dict(value) if isinstance(value, Mapping) else {"prediction": value}


def _merged(example: Mapping[str, Any], prediction: Mapping[str, Any]) -> dict[str, Any]:
    both = example.keys() & prediction.keys()
    return {
        **{f"example_{name}" if name in both else name: value for name, value in example.items()},
        **{f"pred_{name}" if name in both else name: value for name, value in prediction.items()},
    }


def _number(value: Any) -> Any:
    """A score that is a prediction as the number it stands for; anything else as it is."""
    return value["score"] if isinstance(value, Prediction) and "score" in value else value


def _cell(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…"
