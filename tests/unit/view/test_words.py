"""Sizes, times and money in words, and texts that are safe to show."""

from __future__ import annotations

import pytest

from reasonact.view.messages import shared_start, text_of
from reasonact.view.words import arguments, cut, duration, laid_out, money, one_line, plain, shown, size, tokens


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"), (0.0031, "3 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (59.94, "59.9 s"), (59.96, "1 min 00 s"),
        (125, "2 min 05 s"), (3599.6, "1 h 00 min"), (7260, "2 h 01 min"),
    ],
)  # fmt: skip
def test_a_time_in_words(seconds, words):
    assert words == duration(seconds)


@pytest.mark.parametrize(
    ("dollars", "words"),
    [(None, "price unknown"), (0, "$0"), (0.0000042, "$4.2e-06"), (0.0123456, "$0.0123"), (1234.5, "$1,234.50")],
)
def test_money_in_words(dollars, words):
    assert words == money(dollars)


def test_tokens_in_words():
    assert "1,200 in (1,000 cached), 30 out" == tokens(1200, 1000, 30)
    assert "5 in, 0 out" == tokens(5, 0, 0)


def test_a_short_text_is_shown_whole():
    assert "  one\ntwo" == cut("  one\ntwo\n", 3, 100)


def test_a_long_text_is_cut_at_a_line_end_with_its_whole_size():
    text = "\n".join(f"line {number}" for number in range(10))
    assert "line 0\nline 1\n[cut: 10 lines, 69 characters in all]" == cut(text, 2, 100)
    assert "line 0\n[cut: 10 lines, 69 characters in all]" == cut(text, 5, 10)


def test_a_long_line_is_cut_in_its_middle():
    assert "aaa\n[cut: 9 characters in all]" == cut("a" * 9, 5, 3)


def test_sizes():
    assert ["0 characters", "1 character", "2 lines, 3 characters"] == [size(text) for text in ("", "a", "a\nb")]


def test_control_characters_and_turned_writing_are_shown_as_escapes():
    assert "a\\x1b[31m\\u202e\\x00\\ud800\tb\nc\nd" == plain("a\x1b[31m\u202e\x00\ud800\tb\nc\r\nd")
    assert "naïve 🦊 日本\u00a0x" == plain("naïve 🦊 日本\u00a0x")
    assert "\\x1b" == plain(plain("\x1b"))


def test_values_are_shown_as_json_and_text_as_it_is():
    assert ('{"a": [1, null]}', "a\nb", '{\n  "a": 1\n}') == (
        shown({"a": [1, None]}),
        shown("a\nb"),
        laid_out({"a": 1}),
    )
    assert '"<object' in shown({"x": object()})


def test_arguments_stand_on_one_line_and_are_cut():
    assert 'a="x\\ny", b="12345…, c=3' == arguments({"a": "x\ny", "b": "1234567", "c": 3}, 6)
    assert "one two…" == one_line("one\n two  three", 7)


def test_the_shared_start_of_two_texts_ends_at_a_line_end():
    line = "x" * 100
    assert 101 == shared_start(f"{line}\nabc", f"{line}\nabd and more")
    assert 101 == shared_start(f"{line}\n", f"{line}\nnew")
    assert 0 == shared_start("short\nabc", "short\nabd")
    assert 0 == shared_start("", line)


def test_a_message_says_its_content_its_calls_and_the_size_of_its_media():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert "why\nc1: f({})" == text_of({"role": "assistant", "content": "why", "tool_calls": [call]})
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "BBBB", "format": "wav"}},
        "plain",
    ]
    told = "see\n[image_url: data:image/png;base64, 26 characters]\n[input_audio: BBBB, 4 characters]\nplain"
    assert told == text_of({"role": "user", "content": parts})
    assert "thought" == text_of({"content": None, "thinking_blocks": [{"type": "thinking", "thinking": "thought"}]})
