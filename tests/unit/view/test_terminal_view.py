"""The terminal view: what it says, and that it fits."""

from __future__ import annotations

import io

import pytest
from made_runs import HOSTILE, event, made_run

from reasonact.types.history import CORRECTION
from reasonact.view.live import Failure
from reasonact.view.terminal import show


def seen(record, width=100):
    out = io.StringIO()
    show(record, out, width)
    return out.getvalue()


def test_a_run_is_shown_turn_by_turn_with_its_end():
    text = seen(made_run())
    for part in (
        "ReActV2  small-model, ChatAdapter",
        "question: str -> answer: str",
        "How far is it?",
        "turn 1",
        "100 in, 20 out · 500 ms · $0.0020",
        "200 in (64 cached), 20 out",
        "I search first.",
        'search(query="distance")',
        "[cut: 40 lines, 1,029 characters in all]",
        "error       search: OSError: no line",
        "call        submit",
        "answer      Far.",
        "ended by submit",
        "3 turns, 3 model calls, 3 tool calls, 360 tokens, 1.5 s, $0.0060",
    ):
        assert part in text
    assert "line 30" not in text


@pytest.mark.parametrize("width", [30, 49, 60, 120])
def test_no_line_is_wider_than_the_terminal(width):
    assert [] == [line for line in seen(made_run(), width).splitlines() if len(line) > width]


def test_a_failed_run_says_what_stopped_it():
    text = seen(made_run(outputs={}, failure=Failure("LMServerError", "the server is down"), price=None))
    assert "stopped by LMServerError" in text
    assert "error       the server is down" in text
    assert "price unknown" in text


def test_what_a_tool_wrote_takes_no_effect():
    text = seen(made_run([event(HOSTILE, ("[bold]x[/bold]", {"a": HOSTILE}, HOSTILE, False))]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold](a=" in text
    assert "\\x1b[31m\\u202e" in text


def test_errors_are_coloured_on_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31m" in seen(made_run())


def test_a_correction_and_a_call_without_result_are_told():
    waiting = event(None, ("search", {}, "", False))
    waiting["tool_calls"] = waiting["tool_calls"].model_copy(update={"tool_call_results": None})
    text = seen(made_run([{"next_thought": "hm", CORRECTION: "Call a tool."}, waiting]))
    assert "correction  Call a tool." in text
    assert "no result" in text


def test_a_terminal_without_line_drawing_gets_plain_signs():
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    show(made_run([event(None, ("search", {"query": "x"}, "y", False))]), out, 80)
    out.flush()
    assert b"-- turn 1 ---" in raw.getvalue()
