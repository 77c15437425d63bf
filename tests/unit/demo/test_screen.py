"""The live view, as the characters that reach the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest

from reasonact.demo.screen import Screen, shortened, visible
from reasonact.runtime.events import (
    Event,
    RunFinished,
    RunStarted,
    ThoughtText,
    ToolCalled,
    ToolReturned,
    TurnFinished,
)

RUN: list[Event] = [
    RunStarted("ReActV2", {"question": "q"}),
    ThoughtText(0, "I look "),
    ThoughtText(0, "it up."),
    ToolCalled(0, "c1", "search", {"query": "x", "limit": 3}),
    ToolCalled(0, "c2", "read", {"name": "y"}),
    ToolReturned(0, "c1", "search", "hit [bold]x[/bold]", False),
    ToolReturned(0, "c2", "read", "LookupError: no y", True),
    TurnFinished(0, {"total_tokens": 5}),
    ThoughtText(1, "Done."),
    ToolCalled(1, "c3", "submit", {"answer": "42"}),
    ToolReturned(1, "c3", "submit", {"answer": "42"}, False),
    TurnFinished(1, {}),
    RunFinished(None),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(events: list[Event], out: io.StringIO | None = None, **options: Any) -> str:
    out = io.StringIO() if out is None else out
    screen = Screen(out, **options)
    screen.opening("ReActV2 with a model", ["a note"], "q?")
    for event in events:
        screen.put(event)
    screen.closing({"answer": "42", "confidence": 0.5}, "2 model calls")
    return out.getvalue()


def test_a_run_reads_as_turns_of_thought_call_and_result() -> None:
    text = shown(RUN)
    order = [
        "turn 1",
        "I look it up.",
        "search(query='x', limit=3)",
        "read(name='y')",
        "hit",
        "LookupError",
        "turn 2",
        "Done.",
    ]
    places = [text.index(part) for part in order]
    assert sorted(places) == places
    assert 1 == text.count("turn 1")


def test_the_typed_answer_stands_at_the_end_once() -> None:
    text = shown(RUN)
    assert 1 == text.count("42")
    assert "42  (str)" in text
    assert "0.5  (float)" in text
    assert text.rstrip().endswith("2 model calls")


def test_markup_and_control_characters_of_models_and_tools_take_no_effect() -> None:
    events: list[Event] = [ToolReturned(0, "c", "read", "[bold red]hi[/] :smile: \x1b[31mred\x07[link=x]", False)]
    text = shown(events, width=200)
    assert "[bold red]hi[/] :smile: \\x1b[31mred\\x07[link=x]" in text
    assert "\x1b" not in text


def test_without_a_terminal_the_text_is_plain_and_with_one_it_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" not in shown(RUN)
    assert "\x1b[" in shown(RUN, Terminal())


@pytest.mark.parametrize("width", [12, 20, 47, 48, 200])
def test_a_line_is_never_wider_than_the_terminal(width: int) -> None:
    lines = shown(RUN, width=width).splitlines()
    assert width >= max(len(line.rstrip()) for line in lines)
    assert "hit[bold]x[/bold]" in "".join("".join(lines).split())


async def test_an_async_run_is_shown_alike() -> None:
    out = io.StringIO()
    screen = Screen(out)
    for event in RUN:
        await screen.aput(event)
    assert "search(query='x', limit=3)" in out.getvalue()


def test_a_long_result_is_cut_with_its_sizes() -> None:
    assert "a\nb" == shortened("a\nb\n")
    assert "1\n2\n3\n4\n5\n6\n[cut: 9 lines, 17 characters in all]" == shortened("\n".join("123456789"))
    assert f"{'x' * 480}\n[cut: 1 line, 1,000 characters in all]" == shortened("x" * 1_000)
    assert "" == shortened("")


def test_only_harmless_characters_are_visible_as_they_are() -> None:
    assert "é\n\t漢\\x00\\u202e" == visible("é\n\t漢\x00\u202e")
