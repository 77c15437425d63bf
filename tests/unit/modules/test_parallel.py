"""Many runs: order, failures, limits, interrupts, settings in workers, and going on after a kill."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import decimal
import enum
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reasonact
from reasonact.modules.batch import TooManyErrors
from reasonact.modules.parallel import Parallel, ParallelExecutor
from reasonact.modules.resume_file import ResumeFile, key_of
from reasonact.modules.stored_output import from_stored, to_stored
from reasonact.testing import ScriptedLM


class Double(reasonact.Module):
    """Doubles a number; fails for those that it is told to fail for."""

    def __init__(self, *bad: int) -> None:
        super().__init__()
        self.bad = bad
        self.seen: list[int] = []

    def forward(self, n: int) -> Any:
        self.seen.append(n)
        if n in self.bad:
            raise ValueError(f"bad {n}")
        return reasonact.Prediction(double=2 * n)

    async def aforward(self, n: int) -> Any:
        await asyncio.sleep(0)
        return self.forward(n)


def examples(count: int) -> list[Any]:
    return [reasonact.Example(n=n, note="not an input").with_inputs("n") for n in range(count)]


def doubles(results: list[Any]) -> list[Any]:
    return [None if result is None else result.double for result in results]


def run(module: Any, rows: list[Any], way: str, **options: Any) -> Any:
    """A batch in threads, in the caller's thread, or as tasks."""
    options = {"disable_progress_bar": True, **options}
    if way == "tasks":
        return asyncio.run(module.abatch(rows, concurrency=4, **options))
    return module.batch(rows, num_threads=4 if way == "threads" else 1, **options)


WAYS = ("threads", "one thread", "tasks")


@pytest.mark.parametrize("way", WAYS)
def test_results_come_in_the_order_of_the_examples(way: str) -> None:
    assert [0, 2, 4, 6, 8, 10] == doubles(run(Double(), examples(6), way))


@pytest.mark.parametrize("way", WAYS)
def test_no_examples_give_no_results(way: str) -> None:
    assert [] == run(Double(), [], way)
    assert ([], [], []) == run(Double(), [], way, return_failed_examples=True)


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_example_is_kept_with_its_error(way: str, caplog: pytest.LogCaptureFixture) -> None:
    rows = examples(6)
    results, failed, errors = run(Double(2, 4), rows, way, return_failed_examples=True)
    assert [0, 2, None, 6, None, 10] == doubles(results)
    assert [rows[2].inputs(), rows[4].inputs()] == failed
    assert ["bad 2", "bad 4"] == [str(error) for error in errors]
    assert "example 2, Example" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("way", WAYS)
def test_without_asking_a_failed_example_is_none(way: str) -> None:
    assert [0, None, 4] == doubles(run(Double(1), examples(3), way))


@pytest.mark.parametrize("way", WAYS)
def test_as_many_errors_as_allowed_end_the_batch(way: str) -> None:
    with pytest.raises(TooManyErrors, match="2 of 100 examples failed, and max_errors is 2") as ended:
        run(Double(0, 1), examples(100), way, max_errors=2)
    assert [0, 1] == sorted(ended.value.errors)
    assert 100 == len(ended.value.results)
    assert isinstance(ended.value.__cause__, ValueError)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_new_is_begun_after_too_many_errors(way: str) -> None:
    module = Double(0)
    with pytest.raises(TooManyErrors):
        run(module, examples(1000), way, max_errors=1)
    assert len(module.seen) < 1000


def test_the_errors_allowed_for_are_a_setting() -> None:
    with reasonact.context(max_errors=1), pytest.raises(TooManyErrors):
        run(Double(0), examples(2), "threads")
    with pytest.raises(TooManyErrors):
        run(Double(0), examples(2), "threads", max_errors=0)


def test_too_many_errors_goes_through_pickle() -> None:
    error = pickle.loads(pickle.dumps(TooManyErrors("2 failed", results=[1, None], errors={1: ValueError("x")})))
    assert ("2 failed", [1, None], "x") == (str(error), error.results, str(error.errors[1]))


def test_a_run_that_waits_for_a_person_does_not_count_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    class Asking(reasonact.Module):
        def forward(self, n: int) -> Any:
            raise reasonact.ControlFlow("a person is asked")

    results, _, errors = run(Asking(), examples(3), "threads", max_errors=1, return_failed_examples=True)
    assert ([None] * 3, 3) == (results, len(errors))
    assert "ERROR" not in caplog.text


def test_tracebacks_are_logged_where_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    run(Double(1), examples(2), "threads", provide_traceback=True)
    assert "Traceback" in caplog.text


def test_dicts_of_inputs_are_examples_too() -> None:
    assert [6] == doubles(run(Double(), [{"n": 3}], "threads"))


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([reasonact.Example(n=1)], ValueError, "example 0: this example has no inputs marked"),
        ([{"n": 1}, 3], TypeError, "example 1 is a int"),
    ],
)
def test_an_example_that_is_none_is_said_before_anything_runs(rows: Any, error: Any, message: str) -> None:
    module = Double()
    with pytest.raises(error, match=message):
        module.batch(rows, disable_progress_bar=True)
    assert [] == module.seen


@pytest.mark.parametrize("options", [{"num_threads": -1}, {"max_errors": -1}])
def test_a_negative_number_is_refused(options: Any) -> None:
    with pytest.raises(ValueError, match="the least it can be is"):
        Double().batch(examples(1), disable_progress_bar=True, **options)
    for maker in (Parallel, ParallelExecutor):
        with pytest.raises(ValueError, match="the least it can be is"):
            maker(**options)


@pytest.mark.parametrize("options", [{"num_threads": "2"}, {"max_errors": "2"}, {"num_threads": True}])
def test_what_is_no_whole_number_is_refused_by_name(options: Any) -> None:
    for run in (Parallel, ParallelExecutor, lambda **given: Double().batch(examples(1), **given)):
        with pytest.raises(TypeError, match=f"{next(iter(options))} is a whole number"):
            run(**options)


def test_a_negative_concurrency_is_refused() -> None:
    with pytest.raises(ValueError, match="the least it can be is 1"):
        asyncio.run(Double().abatch(examples(1), concurrency=-1, disable_progress_bar=True))


# In the workers


OWN = contextvars.ContextVar("OWN", default="unset")


@pytest.mark.parametrize("way", WAYS)
def test_settings_and_context_variables_hold_in_workers(way: str) -> None:
    class Looking(reasonact.Module):
        def forward(self, n: int) -> Any:
            found = (reasonact.settings.get("mine"), OWN.get())
            OWN.set(f"changed by {n}")
            return found

        async def aforward(self, n: int) -> Any:
            return self.forward(n)

    OWN.set("callers")
    with reasonact.context(mine=7):
        assert [(7, "callers")] * 5 == run(Looking(), examples(5), way)
    assert "callers" == OWN.get()


ANSWER = "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_usage_is_counted_for_the_caller_and_for_each_prediction(way: str, shown: bool) -> None:
    predict = reasonact.Predict("question -> answer")
    rows = [{"question": str(n)} for n in range(5)]
    lm = ScriptedLM([ANSWER] * 10, usage=USAGE)
    with reasonact.context(lm=lm, track_usage=True):
        results = run(predict, rows, way, disable_progress_bar=not shown)
        assert [12] * 5 == [result.get_lm_usage()["scripted"]["total_tokens"] for result in results]
        with reasonact.track_usage() as tracker:
            results = run(predict, rows, way, disable_progress_bar=not shown)
        assert 60 == tracker.get_total_tokens()["scripted"]["total_tokens"]
        assert [None] * 5 == [result.get_lm_usage() for result in results]


def test_several_threads_work_at_once() -> None:
    meeting = threading.Barrier(3, timeout=20)
    results = Parallel(num_threads=3, disable_progress_bar=True)([(meeting.wait, ())] * 3)
    assert {0, 1, 2} == set(results)


def test_one_thread_is_the_callers() -> None:
    assert [threading.current_thread()] == Parallel(num_threads=1, disable_progress_bar=True)(
        [(threading.current_thread, ())]
    )


def test_no_more_tasks_are_under_way_than_allowed() -> None:
    class Counting(reasonact.Module):
        under_way = most = 0

        async def aforward(self, n: int) -> Any:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.001)
            self.under_way -= 1

    module = Counting()
    asyncio.run(module.abatch(examples(12), concurrency=3, disable_progress_bar=True))
    assert 3 == module.most


def test_a_straggler_is_tried_again_and_the_quicker_try_counts() -> None:
    hanging = threading.Event()
    tries = Counter()

    def slow(n: int) -> int:
        tries[n] += 1
        if n == 0 and tries[n] == 1:
            hanging.wait(60)
        return n

    try:
        pairs = [(slow, {"n": n}) for n in range(4)]
        assert [0, 1, 2, 3] == Parallel(num_threads=2, timeout=0.1, disable_progress_bar=True)(pairs)  # type: ignore[arg-type]
        assert 2 == tries[0]
    finally:
        hanging.set()


# Interrupts


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_in_a_worker_reaches_the_caller_with_the_results(threads: int) -> None:
    class Interrupted(Double):
        def forward(self, n: int) -> Any:
            if n == 4:
                raise KeyboardInterrupt
            return super().forward(n)

    with pytest.raises(KeyboardInterrupt) as stopped:
        Interrupted().batch(examples(5), num_threads=threads, disable_progress_bar=True)
    assert 5 == len(stopped.value.results)  # type: ignore[attr-defined]
    assert None is stopped.value.results[4]  # type: ignore[attr-defined]


CTRL_C = """
import os, signal, sys, threading
import reasonact

class Hanging(reasonact.Module):
    def forward(self, n):
        if n == 2:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Event().wait(60)
        return reasonact.Prediction(n=n)

try:
    Hanging().batch([{"n": n} for n in range(3)], num_threads=3, disable_progress_bar=True, resume_file=sys.argv[1])
except KeyboardInterrupt as stopped:
    print([None if result is None else result.n for result in stopped.results])
"""


def test_ctrl_c_is_raised_again_at_once_with_the_results(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CTRL_C, str(tmp_path / "r.jsonl")], capture_output=True, text=True, timeout=50
    )
    assert ("[0, 1, None]\n", "") == (ran.stdout, ran.stderr)
    assert 2 == len((tmp_path / "r.jsonl").read_text().splitlines())


async def test_a_cancelled_batch_hands_over_its_results_and_leaves_no_task() -> None:
    reached = asyncio.Event()

    class Hanging(reasonact.Module):
        async def aforward(self, n: int) -> Any:
            if n == 1:
                reached.set()
                await asyncio.Event().wait()
            return n

    batch = asyncio.create_task(Hanging().abatch(examples(3), concurrency=1, disable_progress_bar=True))
    await reached.wait()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await batch
    # before Python 3.11 a cancelled task raises another exception in place of its own, which is then the context
    own: Any = cancelled.value if sys.version_info >= (3, 11) else cancelled.value.__context__
    assert [0, None, None] == own.results
    assert {asyncio.current_task()} == asyncio.all_tasks()


# The bar


def test_the_bar_shows_how_far_how_fast_how_many_failed_and_what_it_costs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)

    class Priced(reasonact.BaseLM):
        def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            message = {"content": ANSWER}
            hidden = {"response_cost": 0.25}
            return {"choices": [{"message": message}], "usage": dict(USAGE), "_hidden_params": hidden}

    predict = reasonact.Predict("question -> answer")
    with reasonact.context(lm=Priced("m")):
        predict.batch([{"question": "q"}] * 3, num_threads=1)
    assert "Processed 3 / 3 examples: 100%" in screen.getvalue()
    assert "cost=$0.7500" in screen.getvalue()
    assert "ex/s" in screen.getvalue() or "s/ex" in screen.getvalue()
    Double(1).batch(examples(2), num_threads=1)
    assert "Processed 1 / 2 examples" in screen.getvalue()
    assert "errors=1" in screen.getvalue()


def test_without_a_bar_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run(Double(), examples(3), "threads")
    assert ("", "") == tuple(capsys.readouterr())


def test_a_tracker_of_the_programs_own_is_left_in_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    class Tracker:
        def __init__(self) -> None:
            self.entries: list[Any] = []

        def add_usage(self, lm: str, usage: Any) -> None:
            self.entries.append(usage)

    tracker = Tracker()
    with reasonact.context(lm=ScriptedLM([ANSWER], usage=USAGE), usage_tracker=tracker):
        reasonact.Predict("question -> answer").batch([{"question": "q"}])
    assert 1 == len(tracker.entries)


# Parallel and ParallelExecutor


def test_parallel_calls_programs_in_every_way_an_example_says() -> None:
    example = reasonact.Example(n=1, z=2).with_inputs("n")
    pairs = [(Double(), example), (Double(), {"n": 4}), (max, (1, 2)), [min, [1, 2]]]
    first, second, *others = Parallel(num_threads=2, disable_progress_bar=True)(pairs)
    assert (2, 8, [2, 1]) == (first.double, second.double, others)


def test_parallel_hands_over_the_example_itself_where_asked() -> None:
    example = reasonact.Example(n=1)
    assert [example] == Parallel(access_examples=False, disable_progress_bar=True)([(lambda given: given, example)])


def test_parallel_tells_afterwards_what_failed() -> None:
    rows = examples(2)
    parallel = Parallel(num_threads=2, disable_progress_bar=True)
    assert [None, 2] == doubles(parallel([(Double(0), row) for row in rows]))
    assert ([rows[0]], ["bad 0"]) == (parallel.failed_examples, [str(error) for error in parallel.exceptions])
    both = Parallel(num_threads=2, disable_progress_bar=True, return_failed_examples=True)
    results, failed, errors = both([(Double(0), row) for row in rows])
    assert ([None, 2], [rows[0]], 1) == (doubles(results), failed, len(errors))


@pytest.mark.parametrize(
    ("pair", "error"), [(Double(), ValueError), ((3, {}), ValueError), ((Double(), 3), TypeError), ("ab", ValueError)]
)
def test_what_is_no_pair_is_said_before_anything_runs(pair: Any, error: Any) -> None:
    module = Double()
    with pytest.raises(error):
        Parallel(disable_progress_bar=True)([(module, {"n": 1}), pair])
    assert [] == module.seen


def test_an_executor_calls_one_function_for_each_item() -> None:
    executor = ParallelExecutor(num_threads=2, disable_progress_bar=True)
    assert [1, None, 0] == executor.execute(lambda n: 1 // n, [1, 0, 2])
    assert ([1], 1) == (executor.failed_indices, executor.error_count)
    assert isinstance(executor.exceptions_map[1], ZeroDivisionError)


def test_an_executor_shows_the_average_of_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert [("a", 1.0), ("a", 0.0)] == ParallelExecutor(num_threads=1, compare_results=True).execute(
        lambda score: ("a", score), [1.0, 0.0]
    )
    assert "Average Metric: 1.00 / 2 (50.0%)" in capsys.readouterr().err


# Going on after the process died


@pytest.mark.parametrize("way", WAYS)
def test_finished_examples_are_skipped_and_failed_ones_run_again(way: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run(Double(2), examples(4), way, resume_file=path)
    assert 3 == len(path.read_text().splitlines())
    module = Double()
    results = run(module, examples(6), way, resume_file=path)
    assert [0, 2, 4, 6, 8, 10] == doubles(results)
    assert [2, 4, 5] == sorted(module.seen)
    assert [reasonact.Prediction] * 6 == [type(result) for result in results]
    assert 6 == len(path.read_text().splitlines())


def test_an_example_is_known_by_its_inputs_and_position(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run(Double(), examples(3), "threads", resume_file=path)
    module = Double()
    run(module, list(reversed(examples(3))), "threads", resume_file=path)
    assert [0, 2] == sorted(module.seen)  # the middle one stayed in its place
    assert key_of(0, {"a": 1, "b": 2}) == key_of(0, {"b": 2, "a": 1})
    assert key_of(0, {"a": 1}) != key_of(0, {"a": "1"})


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_half_a_line_at_the_end_is_cut_off(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run(Double(), examples(3), "one thread", resume_file=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    module = Double()
    run(module, examples(3), "one thread", resume_file=path)
    assert [2] == module.seen
    assert whole == path.read_bytes()


def test_a_file_killed_in_its_first_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run(Double(), examples(1), "threads", resume_file=path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        run(Double(), examples(1), "threads", resume_file=path)
        assert whole == path.read_bytes()


def test_a_line_that_cannot_be_read_runs_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "r.jsonl"
    run(Double(), examples(3), "one thread", resume_file=path)
    lines = path.read_text().splitlines()
    lines[1] = lines[1][:40]
    path.write_text("\n".join(lines) + "\n")
    module = Double()
    assert [0, 2, 4] == doubles(run(module, examples(3), "one thread", resume_file=path))
    assert [1] == module.seen
    assert "r.jsonl:2 cannot be read" in caplog.text


@pytest.mark.parametrize("content", ["no record\n", "some text", "{}\n", "[1]\n", '{"key": 1, "output": 2}\n'])
def test_a_file_of_something_else_is_refused_and_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match="is no record of a batch"):
        run(Double(), examples(1), "threads", resume_file=path)
    assert content == path.read_text()


def test_a_record_of_a_newer_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"form": 2, "key": "x", "output": 1}\n')
    with pytest.raises(ValueError, match="newer version"):
        run(Double(), examples(1), "threads", resume_file=path)


def test_a_disk_that_is_full_ends_the_batch(tmp_path: Path) -> None:
    with pytest.raises(OSError) as ended:
        run(Double(), examples(3), "threads", resume_file=tmp_path / "no folder" / "r.jsonl")
    assert [None] * 3 == ended.value.results  # type: ignore[attr-defined]


def test_an_output_whose_type_is_gone_runs_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "r.jsonl"
    record = ResumeFile(path)
    record.write("k", reasonact.Prediction(a=1))
    record.close()
    path.write_text(path.read_text().replace("types.prediction:Prediction", "types.gone:Prediction"))
    assert (False, None) == ResumeFile(path).find("k")
    assert "it runs again" in caplog.text


KILLED = """
import os, sys
import reasonact

class Logged(reasonact.Module):
    def forward(self, n):
        log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{n}\\n".encode())
        os.close(log)
        return reasonact.Prediction(double=2 * n)

rows = [reasonact.Example(n=n).with_inputs("n") for n in range(1000)]
results = Logged().batch(rows, num_threads=8, disable_progress_bar=True, resume_file=sys.argv[1])
assert [2 * n for n in range(1000)] == [result.double for result in results]
"""


def test_a_batch_of_a_thousand_killed_three_times_records_every_example_once(tmp_path: Path) -> None:
    record, log = tmp_path / "r.jsonl", tmp_path / "ran.log"
    command = [sys.executable, "-c", KILLED, str(record), str(log)]
    for target in (200, 450, 700):
        process = subprocess.Popen(command)
        while process.poll() is None and (record.read_bytes().count(b"\n") if record.exists() else 0) < target:
            time.sleep(0.002)
        assert None is process.poll(), "it was over before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert record.read_bytes().count(b"\n") < 1000
    subprocess.run(command, check=True)

    keys = [json.loads(line)["key"] for line in record.read_text().splitlines()]
    assert sorted(key_of(n, {"n": n}) for n in range(1000)) == sorted(keys)
    runs = Counter(log.read_text().splitlines())
    assert 1000 == len(runs)
    again = sum(count - 1 for count in runs.values())
    assert again <= 3 * 8  # those under way at a kill, eight at most each time


# Outputs on the disk


class Colour(enum.Enum):
    RED = "red"


class Place(pydantic.BaseModel):
    name: str
    opened: datetime.date
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Point:
    x: int
    y: float


def look_up(word: str) -> str:
    return word


HISTORY = reasonact.History(
    messages=[
        {
            "question": "q",
            "tool_calls": reasonact.ToolCalls(
                tool_calls=[reasonact.ToolCalls.ToolCall(id="c1", name="look_up", args={"word": "w"})]
            ),
        }
    ]
)
VALUES = [
    None,
    "text \ud800 ä",
    10**30,
    1.5,
    float("inf"),
    [1, (2, {3})],
    frozenset({1}),
    {"@": "not a type"},
    {1: "one", (1, 2): "pair"},
    Place(name="Ulm", opened=datetime.date(1890, 5, 31)),
    [Place(name="Ulm", opened=datetime.date(1890, 5, 31))],
    Point(1, 2.5),
    Colour.RED,
    datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.timezone.utc),
    datetime.timedelta(seconds=3.5),
    decimal.Decimal("1.10"),
    uuid.UUID(int=7),
    b"bytes",
    reasonact.Image(url="http://x/y.png"),
    reasonact.Reasoning(content="because"),
    HISTORY,
    HISTORY.messages[0]["tool_calls"],
    reasonact.Example(n=1, inner=reasonact.Example(m=Colour.RED)).with_inputs("n"),
    reasonact.Prediction(answer=Place(name="Ulm", opened=datetime.date(1890, 5, 31))),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_an_output_comes_back_as_what_it_was(value: Any) -> None:
    back = from_stored(json.loads(json.dumps(to_stored(value))))
    assert value == back
    assert type(value) is type(back)


def test_ids_of_tool_calls_are_kept() -> None:
    back = from_stored(json.loads(json.dumps(to_stored(HISTORY))))
    assert {"c1"} == back.call_ids


def test_what_belongs_to_a_prediction_beside_its_fields_is_kept() -> None:
    prediction = reasonact.Prediction.from_completions([{"a": 1}, {"a": 2}])
    prediction.set_lm_usage({"m": {"total_tokens": 3}})
    back = from_stored(json.loads(json.dumps(to_stored(prediction))))
    assert ([1, 2], {"m": {"total_tokens": 3}}) == (back.completions.a, back.get_lm_usage())


def test_a_resumed_agents_prediction_still_knows_its_run(tmp_path: Path) -> None:
    agent = reasonact.ReActV2("question -> answer", tools=[look_up])
    react = reasonact.ReAct("question -> answer", tools=[look_up])
    submit = (None, [("c1", "submit", {"answer": "42"})])
    step = (
        "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nfinish\n\n[[ ## next_tool_args ## ]]\n{}\n\n"
        "[[ ## completed ## ]]"
    )
    end = "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"
    rows = [{"question": "q"}]
    for program, replies in ((agent, [submit]), (react, [step, end])):
        path = tmp_path / f"{type(program).__name__}.jsonl"
        adapter = reasonact.ChatAdapter(use_native_function_calling=program is agent)
        with reasonact.context(lm=ScriptedLM(replies, function_calling=True), adapter=adapter):
            (first,) = run(program, rows, "threads", resume_file=path)
            (second,) = run(program, rows, "threads", resume_file=path)
        assert first == second
        assert type(first) is type(second)
        assert first.history == second.history
        assert first.termination_reason == second.termination_reason
        assert first.usage == second.usage


def test_a_type_that_cannot_be_found_again_is_kept_as_data_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    class Local(pydantic.BaseModel):
        x: int

    assert [{"x": 1}, {"x": 2}] == from_stored(to_stored([Local(x=1), Local(x=2)]))
    assert 1 == caplog.text.count("cannot be stored as such")


@pytest.mark.parametrize("name", ["os:system", "builtins:eval", "no such:Thing", "reasonact:"])
def test_a_record_can_name_types_alone(name: str) -> None:
    with pytest.raises(ValueError, match="there is no type"):
        from_stored({"@": name, "value": "x"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_nesting_of_plain_values_comes_back(value: Any) -> None:
    assert value == from_stored(json.loads(json.dumps(to_stored(value))))
