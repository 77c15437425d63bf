"""What an exception says of a turn that it broke off, and where the run goes on from there."""

from __future__ import annotations

from typing import Any

import pytest
from agent_scripts import WAYS, calls, look_up, react_v2, results, submit, turn

import reasonact

INTERRUPTED = "interrupted: the run was stopped before this call gave a result"
BOTH = turn("Both.", ("look_up", {"topic": "a"}), ("second", {}))


class Stop(reasonact.ControlFlow):
    """The program stops the run."""


@pytest.mark.parametrize("how", WAYS)
def test_the_history_of_an_interrupt_holds_what_the_broken_turn_has_done(how: str) -> None:
    ran: list[str] = []

    def note(topic: str) -> str:
        ran.append(topic)
        return f"noted {topic}"

    def second() -> str:
        if len(ran) == 1:
            ran.append("interrupt")
            raise Stop("later")
        return "done"

    played = react_v2(
        [turn("Both.", ("note", {"topic": "a"}), ("second", {})), submit(answer="b")], [note, second], how=how
    )
    with pytest.raises(Stop) as caught:
        played(question="q")
    error: Any = caught.value
    assert [("noted a", False), (INTERRUPTED, True)] == [(r.value, r.is_error) for r in results(error.history)]
    assert "q" == error.history.messages[0]["question"]
    assert [] == error.state.history.messages
    assert "b" == played.resume(error.state).answer
    assert ["a", "interrupt"] == ran


def test_the_history_of_a_keyboard_interrupt_holds_the_calls_before_it() -> None:
    def second() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        react_v2([BOTH], [look_up, second])(question="q")
    error: Any = caught.value
    assert ["3 pages on a", INTERRUPTED] == [result.value for result in results(error.history)]
    assert "Both." == error.history.messages[0]["next_thought"]


def test_the_history_of_a_pause_holds_the_call_that_waits() -> None:
    def second() -> str:
        return "done"

    played = react_v2([BOTH, submit(answer="b")], [look_up, reasonact.Tool(second, require_confirmation=True)])
    with pytest.raises(reasonact.ConfirmationRequired) as caught:
        played(question="q")
    error: Any = caught.value
    assert ["3 pages on a", INTERRUPTED] == [result.value for result in results(error.history)]
    prediction = played.resume(True, error.state)
    assert ["3 pages on a", "done", {"answer": "b"}] == [result.value for result in results(prediction.history)]
    assert ["look_up", "second", "submit"] == [item.name for item in calls(prediction.history)]


@pytest.mark.parametrize("how", WAYS)
def test_an_exit_that_a_tool_raises_carries_the_work_like_any_other(how: str) -> None:
    def second() -> str:
        raise GeneratorExit("from the tool")

    with pytest.raises(GeneratorExit) as caught:
        react_v2([BOTH], [look_up, second], how=how)(question="q")
    error: Any = caught.value
    assert ("from the tool",) == error.args
    assert ["3 pages on a", INTERRUPTED] == [result.value for result in results(error.history)]
    assert 1 == len(error.state.pending.settled)
