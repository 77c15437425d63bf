"""Batches, evaluations and bridges beside DSPy's: the same calls give the same results."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from pathlib import Path
from types import ModuleType
from typing import Any

import dspy
import pytest
from dspy.evaluate import EvaluationResult as DSPyEvaluationResult
from dspy.utils.parallelizer import ParallelExecutor as DSPyParallelExecutor

import reasonact
from reasonact.modules.parallel import ParallelExecutor

LIBRARIES = [dspy, reasonact]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def program(library: ModuleType, *bad: int) -> Any:
    class Double(library.Module):  # type: ignore[name-defined,misc]
        def forward(self, q: int) -> Any:
            if q in bad:
                raise ValueError(f"bad {q}")
            return library.Prediction(a=2 * q)

        async def aforward(self, q: int) -> Any:
            return self.forward(q)

    return Double()


def rows(library: ModuleType) -> list[Any]:
    return [library.Example(q=q, a=0 if q == 3 else 2 * q, note=[q]).with_inputs("q") for q in range(6)]


def plain(value: Any) -> Any:
    """Results in the terms of both libraries."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], list):
        results, failed, errors = map(plain, value)
        return results, sorted(failed, key=str), sorted(errors)  # DSPy's come in the order of their ends
    if isinstance(value, (dspy.Example, reasonact.Example)):
        return dict(value.items())
    if isinstance(value, Exception):
        return type(value).__name__, str(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def same(example: Any, prediction: Any, trace: Any = None) -> bool:
    return bool(example.a == prediction.a)


def outcome(call: Any) -> Any:
    try:
        return plain(call())
    except Exception:  # which class it is, is each library's own
        return "gave up"


@pytest.mark.parametrize("bad", [(), (2,), (2, 4)])
@pytest.mark.parametrize("max_errors", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("failed", [False, True])
def test_a_batch(bad: tuple[int, ...], max_errors: int | None, num_threads: int, failed: bool) -> None:
    theirs, ours = (
        outcome(
            lambda library=library: program(library, *bad).batch(
                rows(library),
                num_threads=num_threads,
                max_errors=max_errors,
                return_failed_examples=failed,
                disable_progress_bar=True,
            )
        )
        for library in LIBRARIES
    )
    assert theirs == ours


@pytest.mark.parametrize("access", [True, False])
@pytest.mark.parametrize("failed", [True, False])
def test_parallel(access: bool, failed: bool) -> None:
    found = []
    for library in LIBRARIES:
        parallel = library.Parallel(
            num_threads=2, access_examples=access, return_failed_examples=failed, disable_progress_bar=True
        )
        takes_either = lambda example=None, **inputs: plain(example) or inputs  # noqa: E731
        pairs = [(takes_either, row) for row in rows(library)]
        pairs += [(takes_either, {"q": 1}), (max, (1, 2)), (program(library, 1), {"q": 1})]
        found.append(plain(parallel(pairs)))
    assert found[0] == found[1]


def test_an_executor() -> None:
    found = []
    for cls in (DSPyParallelExecutor, ParallelExecutor):
        executor = cls(num_threads=2, disable_progress_bar=True)
        results = executor.execute(lambda n: 1 // n, [1, 0, 2])
        found.append(
            (results, executor.failed_indices, executor.error_count, plain(list(executor.exceptions_map.items())))
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("bad", [(), (5,)])
@pytest.mark.parametrize("failure_score", [0.0, 1.0])
@pytest.mark.parametrize(
    "metric", [same, lambda example, prediction: 1 / 3, lambda example, prediction: 1 / 0 if example.q == 2 else 1]
)
def test_an_evaluation(bad: tuple[int, ...], failure_score: float, metric: Any) -> None:
    results = [
        library.Evaluate(devset=rows(library), metric=metric, num_threads=2, failure_score=failure_score)(
            program(library, *bad)
        )
        for library in LIBRARIES
    ]
    theirs, ours = results
    assert theirs.score == ours.score
    assert plain(theirs.results) == plain(ours.results)
    assert repr(theirs) == repr(ours)


def test_the_files_of_an_evaluation(tmp_path: Path) -> None:
    texts = []
    for library in LIBRARIES:
        path = tmp_path / library.__name__
        library.Evaluate(devset=rows(library), metric=same, num_threads=1)(
            program(library), save_as_csv=f"{path}.csv", save_as_json=f"{path}.json"
        )
        texts.append((Path(f"{path}.csv").read_text(), json.loads(Path(f"{path}.json").read_text())))
    assert texts[0] == texts[1]


def test_a_row_that_failed_first_is_saved_here_and_ends_the_evaluation_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fields not in fieldnames"):
        dspy.Evaluate(devset=rows(dspy), metric=same, save_as_csv=str(tmp_path / "a.csv"))(program(dspy, 0))
    reasonact.Evaluate(devset=rows(reasonact), metric=same, save_as_csv=str(tmp_path / "b.csv"))(program(reasonact, 0))
    assert 7 == len((tmp_path / "b.csv").read_text().splitlines())


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (dspy.Parallel.__init__, reasonact.Parallel.__init__),
        (dspy.Parallel.forward, reasonact.Parallel.forward),
        (dspy.Evaluate.__init__, reasonact.Evaluate.__init__),
        (dspy.Evaluate.__call__, reasonact.Evaluate.__call__),
        (DSPyEvaluationResult.__init__, reasonact.EvaluationResult.__init__),
        (DSPyParallelExecutor.__init__, ParallelExecutor.__init__),
        (DSPyParallelExecutor.execute, ParallelExecutor.execute),
        (dspy.Module.batch, reasonact.Module.batch),
        (dspy.Module.save, reasonact.Module.save),
        (dspy.Module.load, reasonact.Module.load),
        (dspy.Module.dump_state, reasonact.Module.dump_state),
        (dspy.Module.load_state, reasonact.Module.load_state),
        (dspy.Predict.load_state, reasonact.Predict.load_state),
        (dspy.load, reasonact.load),
        (dspy.asyncify, reasonact.asyncify),
        (dspy.syncify, reasonact.syncify),
    ],
)
def test_call_signatures_begin_with_dspys(theirs: Any, ours: Any) -> None:
    def parameters(function: Any) -> list[Any]:
        found = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in found]

    expected = parameters(theirs)
    assert expected == parameters(ours)[: len(expected)]


@pytest.mark.parametrize("in_place", [True, False])
def test_syncify(in_place: bool) -> None:
    found = []
    for library in LIBRARIES:

        class Adding(library.Module):  # type: ignore[name-defined,misc]
            async def aforward(self, n: int) -> int:
                return n + 1

        module = Adding()
        synced = library.syncify(module, in_place=in_place)
        found.append((synced is module, synced(n=1)))
    assert found[0] == found[1]


async def test_asyncify() -> None:
    found = []
    for library in LIBRARIES:
        with library.context(mine=7):
            prediction = await library.asyncify(program(library))(q=2)
            setting = await library.asyncify(lambda library=library: library.settings.mine)()
        found.append((plain(prediction), setting, asyncio.iscoroutinefunction(library.asyncify(program(library)))))
    assert found[0] == found[1]
