"""Past calls: where they are kept, and how they are shown to people."""

from __future__ import annotations

import io
from typing import Any

import pytest

import reasonact
from reasonact.lm.history import record_history
from reasonact.lm.inspect_history import pretty_print_history
from reasonact.testing import ScriptedLM


def shown(entry: dict[str, Any]) -> str:
    out = io.StringIO()
    pretty_print_history([{"timestamp": "now", **entry}], file=out)
    return out.getvalue()


def test_a_call_is_shown_with_every_message_and_its_answer() -> None:
    text = shown({"messages": [{"role": "system", "content": "Be brief."}], "outputs": ["Yes."]})
    assert ["[now]", "System message:", "Be brief.", "Response:", "Yes."] == [
        line for line in text.splitlines() if line
    ]


def test_a_prompt_is_shown_as_a_message_of_the_user() -> None:
    assert "User message:\n\nhi\n" in shown({"prompt": "hi", "outputs": []})


@pytest.mark.parametrize(("content", "expected"), [(None, ""), (5, "5"), ([{"type": "text", "text": "a"}], "a")])
def test_content_of_any_kind_is_shown(content: Any, expected: str) -> None:
    assert f"User message:\n\n{expected}\n" in shown({"messages": [{"role": "user", "content": content}]})


def test_an_answer_of_reasoning_alone_has_no_empty_text() -> None:
    lines = [line for line in shown({"prompt": "hi", "outputs": [{"reasoning_content": "so"}]}).splitlines() if line]
    assert ["Response:", "Reasoning:", "so"] == lines[-3:]


def test_a_terminal_gets_colours(capsys: pytest.CaptureFixture[str]) -> None:
    pretty_print_history([{"timestamp": "now", "prompt": "hi", "outputs": ["Yes."]}])
    assert "\x1b[32mYes.\x1b[0m" in capsys.readouterr().out


def test_a_module_shows_the_calls_made_inside_it() -> None:
    predict, out = reasonact.Predict("question -> answer"), io.StringIO()
    with reasonact.context(lm=ScriptedLM(["[[ ## answer ## ]]\nblue"])):
        predict(question="the colour of the sky")
    predict.inspect_history(file=out)
    assert "the colour of the sky" in out.getvalue()


@pytest.mark.parametrize(("setting", "kept"), [({}, 1), ({"disable_history": True}, 0), ({"max_history_size": 0}, 0)])
def test_a_call_is_kept_as_the_settings_say(setting: dict[str, Any], kept: int) -> None:
    history: list[dict[str, Any]] = []
    with reasonact.context(**setting):
        record_history(history, {"prompt": "hi"})
    assert kept == len(history)
