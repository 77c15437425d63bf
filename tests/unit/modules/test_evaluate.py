"""Evaluate: scores, failures, what a metric may be, files, tables and callbacks."""

from __future__ import annotations

import csv
import json
import logging
from pathlib import Path
from typing import Any

import pytest

import reasonact
from reasonact.evaluate import Evaluate, EvaluationResult
from reasonact.modules.batch import TooManyErrors
from reasonact.runtime.callbacks import BaseCallback


class Double(reasonact.Module):
    def __init__(self, *bad: int) -> None:
        super().__init__()
        self.bad = bad

    def forward(self, q: int) -> Any:
        if q in self.bad:
            raise ValueError(f"bad {q}")
        return reasonact.Prediction(a=2 * q)


def rows(count: int = 6) -> list[Any]:
    """Examples whose answer is the double, but for number 3."""
    return [reasonact.Example(q=q, a=0 if q == 3 else 2 * q).with_inputs("q") for q in range(count)]


def same(example: Any, prediction: Any, trace: Any = None) -> bool:
    return bool(example.a == prediction.a)


def evaluate(**options: Any) -> Evaluate:
    return Evaluate(**{"devset": rows(), "metric": same, "num_threads": 2, **options})


def test_the_score_is_a_percentage_and_results_are_in_order() -> None:
    result = evaluate()(Double())
    assert 83.33 == result.score
    assert [(0, 0, True), (1, 2, True), (2, 4, True), (3, 6, False), (4, 8, True), (5, 10, True)] == [
        (example.q, prediction.a, score) for example, prediction, score in result.results
    ]


def test_the_result_is_a_prediction_of_two_fields() -> None:
    result = evaluate()(Double())
    assert isinstance(result, EvaluationResult)
    assert isinstance(result, reasonact.Prediction)
    assert ["score", "results"] == result.keys()
    assert "EvaluationResult(score=83.33, results=<list of 6 results>)" == repr(result)
    assert result > 83


def test_a_failed_program_scores_as_said_with_an_empty_prediction() -> None:
    result = evaluate(failure_score=1.0)(Double(2))
    assert 83.33 == result.score
    assert ([], 1.0) == (result.results[2][1].keys(), result.results[2][2])


def test_a_failed_metric_is_a_failure() -> None:
    assert 0.0 == evaluate(metric=lambda example, prediction: 1 / 0)(Double()).score


def test_a_metric_that_returns_nothing_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    assert 0.0 == evaluate(metric=lambda example, prediction: None)(Double()).score
    assert "NoneType" in caplog.text


def test_too_many_failures_end_the_evaluation() -> None:
    with pytest.raises(TooManyErrors):
        evaluate(max_errors=1)(Double(2))


class Grader:
    def __call__(self, example: Any, prediction: Any) -> float:
        return 0.5


@pytest.mark.parametrize(
    "metric",
    [
        lambda example, prediction: 0.5,
        lambda example, prediction, trace=None: 0.5 if trace is None else 0.0,
        lambda example, prediction, trace: 0.5 if trace is None else 0.0,
        lambda gold, pred, trace, pred_name, pred_trace: 0.5,
        lambda *both: 0.5 if len(both) == 2 else 0.0,
        lambda example, prediction: reasonact.Prediction(score=0.5, feedback="half"),
        Grader(),
    ],
)
def test_a_metric_may_have_any_of_dspys_forms(metric: Any) -> None:
    assert 50.0 == evaluate(metric=metric)(Double()).score


def test_a_program_may_be_any_callable() -> None:
    assert 83.33 == evaluate()(lambda q: reasonact.Prediction(a=2 * q)).score


def test_what_the_call_is_given_counts() -> None:
    given = evaluate(metric=None, devset=[])
    assert 100.0 == given(Double(), metric=lambda example, prediction: 1, devset=rows(2), num_threads=1).score


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": None}, ValueError, "there is no metric"),
        ({"metric": 3}, TypeError, "cannot be called"),
        ({"devset": []}, ValueError, "holds no example"),
        ({"devset": [reasonact.Example(q=1)]}, ValueError, "example 0: this example has no inputs"),
    ],
)
def test_a_wrong_setup_is_said_before_anything_runs(options: Any, error: Any, message: str) -> None:
    called: list[Any] = []
    with pytest.raises(error, match=message):
        evaluate(**options)(lambda q: called.append(q))
    assert [] == called


def test_return_outputs_is_refused_and_others_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="return_outputs is gone"):
        evaluate(return_outputs=True)
    with caplog.at_level(logging.WARNING, "reasonact.evaluate"):
        evaluate(provide_everything=True)
    assert "knows no provide_everything" in caplog.text


def test_the_average_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "reasonact.evaluate"):
        evaluate()(Double())
    assert "Average Metric: 5 / 6 (83.3%)" in caplog.text


def test_the_bar_shows_the_average(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(display_progress=True, num_threads=1)(Double(2))
    shown = capsys.readouterr().err
    assert "Average Metric: 4.00 / 5 (80.0%)" in shown
    assert "errors=1" in shown


def test_no_bar_is_shown_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate()(Double())
    assert ("", "") == tuple(capsys.readouterr())


def test_the_rows_are_saved_as_csv_and_json(tmp_path: Path) -> None:
    evaluate(save_as_csv=str(tmp_path / "rows.csv"))(Double(0), save_as_json=str(tmp_path / "rows.json"))
    with open(tmp_path / "rows.csv", newline="") as file:
        read = list(csv.DictReader(file))
    assert {"q": "1", "example_a": "2", "pred_a": "2", "same": "True", "a": ""} == read[1]
    assert {"q": "0", "a": "0", "same": "0.0", "example_a": "", "pred_a": ""} == read[0]
    assert {"q": 1, "example_a": 2, "pred_a": 2, "same": True} == json.loads((tmp_path / "rows.json").read_text())[1]


def test_rows_of_values_that_json_does_not_know_are_saved(tmp_path: Path) -> None:
    example = reasonact.Example(q="ä\ud800", kinds={2, 1}).with_inputs("q")
    path = tmp_path / "rows.json"
    score = reasonact.Prediction(score=0.5)
    Evaluate(devset=[example], metric=lambda example, prediction: score, save_as_json=str(path))(lambda q: {"a": q})
    assert [{"q": "ä\ud800", "kinds": [1, 2], "a": "ä\ud800", "<lambda>": 0.5}] == json.loads(path.read_text())


def test_a_table_shows_as_many_rows_as_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(display_table=2)(Double())
    shown = capsys.readouterr().out
    assert "example_a" in shown
    assert "4 more rows" in shown
    evaluate()(lambda q: "[bold]plain text[/bold]", metric=lambda example, prediction: 1, display_table=True)
    shown = capsys.readouterr().out
    assert 6 == shown.count("[bold]plain text[/bold]")
    assert "more rows" not in shown


def test_a_long_value_is_cut_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(display_table=1)(lambda q: reasonact.Prediction(a="long\n" * 100))
    assert "…" in capsys.readouterr().out


def test_callbacks_are_told_of_start_and_end() -> None:
    told: list[Any] = []

    class Telling(BaseCallback):
        def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            told.append((type(instance), sorted(inputs), inputs["callback_metadata"]))

        def on_evaluate_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
            told.append((outputs, exception))

    with reasonact.context(callbacks=[Telling()]):
        result = evaluate()(Double(), callback_metadata={"round": 1})
    names = (
        "callback_metadata devset display_progress display_table metric num_threads program save_as_csv save_as_json"
    )
    assert [(Evaluate, names.split(), {"round": 1}), (result, None)] == told


def test_a_builtin_without_a_signature_is_a_metric_of_two_arguments() -> None:
    class Told:
        """As some builtins: it can be called, and Python cannot tell how."""

        @property
        def __signature__(self) -> Any:
            raise ValueError("no signature")

        def __call__(self, example: Any, prediction: Any) -> bool:
            return bool(example.a == prediction.a)

    assert 83.33 == evaluate(metric=Told())(Double()).score
