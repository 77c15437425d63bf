"""The bytes of a fuzzer as choices, texts and JSON-like values.

A byte below 128 is its character, one above it a piece of what the adapters write and read. So a
fuzzer that knows nothing of markers, tags or calls soon writes them, and a small change of the bytes
is a small change of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

PIECES: Final = [
    *("[[ ## a ## ]]", "[[ ## b ## ]]", "[[ ## c ## ]]", "[[ ## completed ## ]]", "[[ ## next_thought ## ]]"),
    *("[[ ## tool_calls ## ]]", "[[ ## next_tool_name ## ]]", "[[ ## next_tool_args ## ]]", "[[ ##", "## ]]", "[["),
    *("<a>", "</a>", "<b>", "</b>", "<c>", "</c>", "<a/>", "<item>", "</item>", "<name>", "</name>", "<tags>"),
    *("</tags>", "<tool_calls>", "</tool_calls>", "<args>", "</args>", "<next_thought>", "</next_thought>"),
    *("<next_tool_name>", "</next_tool_name>", "<next_tool_args>", "</next_tool_args>", "<query>", "</query>"),
    *("<![CDATA[", "]]>", "<!--", "-->", "<?xml ", "?>", "&lt;", "&amp;", "&#10;", "&#x1F600;", "&#", "</", "/>"),
    *("<think>", "</think>", "<a kind='", '<a name="'),
    *("```", "```json\n", "\n```\n", "~~~", "`"),
    *("\nA: ", "\nB: ", "\nC:", "A:", "\\A:", "**A:** ", "# B: "),
    *("\nThought: ", "\nAction: ", "\nAction Input: ", "\nObservation: ", "\nAnswer: ", "\nFinal Answer:"),
    *("Next Tool Args: ", "Next Thought: ", "Next Tool Name: ", "search[", "search(", "submit", "finish"),
    *('{"a": ', '{"b": 1', '"c": [', '{"name": "search", "args": ', '{"query": "x"}', '"arguments": ', '"query": '),
    *('"next_tool_args": ', '"tool_calls": [', '"next_tool_name": ', '"next_thought": ', '"function": {', '"id": "c"'),
    *('"', "\\", "\\n", "\\u00e9", "\\ud83d", "\\ude00", "\\u", "\\x41", "'''", '"""', '\\"'),
    *("null", "None", "true", "False", "NaN", "-Infinity", "1e999", "0x1f", "1_000", "-0.0", "9" * 30, "{" * 9),
    *("[" * 9, "}" * 9, "//", "/*", "*/", "é", "İ", "\u2028", "\ud800", "\x00"),
]
assert len(PIECES) <= 128, len(PIECES)

DATA: Final = [
    *(None, True, False, 0, 1, -1, 2.5, 10**30, 1e308, float("nan"), float("inf"), "", "1", "2.5", "[1]", "{}"),
    *('{"name": "q"}', '"{\\"x\\": 1}"', "RED", "b", "null", "2024-05-06", "true", "[", "NaN", "\ud800", "1" * 5000),
]
KEYS: Final = ["name", "count", "tags", "value", "below", "x", "y", "k", "", "\ud800", "a.b", "0"]


class Input:
    """A fuzzer's bytes, taken from the front.

    Args:
        data: The bytes. Once they are used up, every choice is the first one.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        """The next byte, 0 where there is none."""
        if self._at >= len(self._data):
            return 0
        self._at += 1
        return self._data[self._at - 1]

    def choice(self, options: Any) -> Any:
        """One of at most 256 options."""
        return options[self.byte() % len(options)]

    def rest(self) -> bytes:
        """The bytes that are left, taken."""
        rest, self._at = self._data[self._at :], len(self._data)
        return rest

    def text(self, longest: int = 10_000) -> str:
        """All that is left as text; one of 64 is repeated until it is long, which shows what is not linear."""
        often = self.byte()
        written = text_of(self.rest())
        if often < 252 or not written:
            return written
        return (written * (longest // len(written) + 1))[:longest]

    def value(self, depth: int = 0) -> Any:
        """A JSON-like value: also NaN, numbers and texts of any size, lone surrogates."""
        kind = self.byte()
        if kind < 128 or depth > 6:
            return DATA[kind % len(DATA)]
        if kind < 160:
            return text_of(bytes(self.byte() for _ in range(kind % 32)))
        if kind < 208:
            return [self.value(depth + 1) for _ in range(kind % 4)]
        if kind < 250:
            return {self.choice(KEYS): self.value(depth + 1) for _ in range(kind % 4)}
        nested: Any = self.value(depth + 1)  # deeper than any recursion goes
        for _ in range(3_000):
            nested = [nested] if kind % 2 else {"below": nested}
        return nested


def text_of(data: bytes) -> str:
    """Bytes as text."""
    return "".join(chr(byte) if byte < 128 else PIECES[(byte - 128) % len(PIECES)] for byte in data)


def bytes_of(text: str) -> bytes:
    """Bytes that `text_of` makes this text of, but for characters that no byte stands for."""
    return bytes(_encoded(text))


def _encoded(text: str) -> Iterator[int]:
    longest_first = sorted(range(len(PIECES)), key=lambda index: -len(PIECES[index]))
    at = 0
    while at < len(text):
        index = next((index for index in longest_first if text.startswith(PIECES[index], at)), None)
        if index is not None:
            yield 128 + index
            at += len(PIECES[index])
        else:
            yield ord(text[at]) % 128
            at += 1


def cuts(data: bytes, text: str) -> list[str]:
    """A text cut at places that the bytes choose."""
    places = sorted({(byte * 257 + position) % (len(text) + 1) for position, byte in enumerate(data)})
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def is_json(value: Any) -> bool:
    """Whether a value can be sent as JSON."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True
