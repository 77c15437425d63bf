"""What a batch of agents reads back from its resume file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import reasonact
from reasonact.testing import ScriptedLM

ADDITIONS = ("run", "show", "to_html", "save_run")


def add(a: int) -> int:
    """Add one."""
    return a + 1


def batch(path: Path, replies: list[Any]) -> Any:
    lm = ScriptedLM(replies, function_calling=True)
    agent = reasonact.ReActV2("question -> answer", tools=[add])
    example = reasonact.Example(question="q").with_inputs("question")
    with reasonact.context(lm=lm, adapter=reasonact.ChatAdapter(use_native_function_calling=True)):
        return agent.batch([example], resume_file=path, num_threads=1, disable_progress_bar=True)[0]


def test_a_prediction_read_back_has_its_fields_and_what_lasts_of_its_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    replies = [(None, [("c", "add", {"a": 1})]), (None, [("s", "submit", {"answer": "2"})])]
    ran = batch(tmp_path / "done", replies)
    read = batch(tmp_path / "done", [])
    assert [] == [record.getMessage() for record in caplog.records if record.name == "reasonact.batch"]
    assert (dict(ran.items()), ran.termination_reason, ran.history, ran.usage) == (
        dict(read.items()),
        read.termination_reason,
        read.history,
        read.usage,
    )


@pytest.mark.parametrize("name", ADDITIONS)
def test_what_stayed_with_the_process_is_absent_and_said_to_be(tmp_path: Path, name: str) -> None:
    batch(tmp_path / "done", [(None, [("s", "submit", {"answer": "2"})])])
    with pytest.raises(AttributeError, match=f"has no output '{name}'"):
        getattr(batch(tmp_path / "done", []), name)
