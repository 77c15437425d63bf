"""Whether a person is asked, where a function of the program says so."""

from __future__ import annotations

from typing import Any

import pytest
from agent_scripts import react_v2, results, submit, turn

import reasonact


def test_a_predicate_sees_the_defaults_of_arguments_that_were_left_out() -> None:
    seen: list[dict[str, Any]] = []

    def wipe(path: str = "/tmp", deep: bool = False) -> str:
        return f"wiped {path}"

    def ask(args: Any) -> bool:
        seen.append(dict(args))
        return args["path"] == "/"

    played = react_v2([turn("t", ("wipe", {})), submit(answer="b")], [reasonact.Tool(wipe, require_confirmation=ask)])
    assert "wiped /tmp" == results(played(question="?").history)[0].value
    assert {"path": "/tmp", "deep": False} == seen[0]


def test_a_predicate_that_fails_means_that_a_person_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    def wipe(path: str) -> str:
        return f"wiped {path}"

    def ask(args: Any) -> bool:
        raise KeyError("owner")

    played = react_v2(
        [turn("t", ("wipe", {"path": "/x"})), submit(answer="b")], [reasonact.Tool(wipe, require_confirmation=ask)]
    )
    with pytest.raises(reasonact.ConfirmationRequired) as caught:
        played(question="?")
    stop = caught.value
    assert "wipe" == stop.tool_call.name
    assert "require_confirmation of the tool wipe failed" in caplog.text
    assert "wiped /x" == results(played.resume(True, stop.state).history)[0].value
