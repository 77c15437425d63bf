"""Callbacks see the start and end of work, and cannot disturb it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from reasonact.runtime.callbacks import ACTIVE_CALL_ID, BaseCallback, observed, with_callbacks
from reasonact.runtime.settings import settings


class Recorder(BaseCallback):
    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.append(("start", call_id, ACTIVE_CALL_ID.get(), inputs))

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        self.seen.append(("end", call_id, outputs, exception))


class Observed:
    callback_kind = "module"

    def __init__(self, *callbacks: BaseCallback) -> None:
        self.callbacks = list(callbacks)

    @with_callbacks
    def double(self, number: int) -> int:
        return number * 2

    @with_callbacks
    async def adouble(self, number: int) -> int:
        return number * 2


def test_start_and_end_carry_one_call_id_inputs_and_outputs() -> None:
    recorder = Recorder()
    assert 4 == Observed(recorder).double(2)
    (start, call_id, parent, inputs), (end, same_id, outputs, exception) = recorder.seen
    assert ("start", "end") == (start, end)
    assert call_id == same_id
    assert ({"number": 2}, 4, None, None) == (inputs, outputs, exception, parent)


def test_async_methods_report_alike() -> None:
    recorder = Recorder()
    assert 4 == asyncio.run(Observed(recorder).adouble(2))
    assert ["start", "end"] == [entry[0] for entry in recorder.seen]


def test_global_callbacks_hear_before_those_of_the_object() -> None:
    order: list[str] = []

    class Named(BaseCallback):
        def __init__(self, name: str) -> None:
            self.name = name

        def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            order.append(self.name)

    with settings.context(callbacks=[Named("global")]):
        Observed(Named("own")).double(1)
    assert ["global", "own"] == order


def test_work_inside_work_knows_its_parents_call_id() -> None:
    recorder = Recorder()
    outer = Observed(recorder)
    with observed("module", outer, {}):
        with observed("module", outer, {}):
            pass
    outer_start, inner_start = recorder.seen[0], recorder.seen[1]
    assert outer_start[1] == inner_start[2]
    assert None is ACTIVE_CALL_ID.get()


@pytest.mark.parametrize("failure", [ValueError("x"), KeyboardInterrupt(), asyncio.CancelledError()])
def test_failed_and_cancelled_work_reports_its_exception(failure: BaseException) -> None:
    recorder = Recorder()
    with pytest.raises(type(failure)):
        with observed("module", Observed(recorder), {}):
            raise failure
    assert (None, failure) == recorder.seen[-1][2:]


def test_a_callback_that_raises_is_logged_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(BaseCallback):
        def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            raise RuntimeError("broken")

    recorder = Recorder()
    with caplog.at_level(logging.WARNING, "reasonact.callbacks"):
        assert 6 == Observed(Broken(), recorder).double(3)
    assert "Broken.on_module_start raised" in caplog.text
    assert 2 == len(recorder.seen)


def test_a_plain_class_needs_only_the_hooks_that_it_has(caplog: pytest.LogCaptureFixture) -> None:
    class Starts:
        seen: tuple[Any, ...] = ()

        def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            self.seen = (*self.seen, inputs)

    callback = Starts()
    with settings.context(callbacks=[callback]), observed("tool", None, {"a": 1}):
        pass
    assert ({"a": 1},) == callback.seen
    assert [] == caplog.records
