"""Where the signs are that decide how a completion is cut: markers, fences, quoted strings.

Signs are rare in a text and are looked for by what they begin with, which Python finds at
the speed of memory; a pattern is tried only there.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

MARKER: Final = re.compile(r"\[{2,4}[ \t]*##[ \t#]*(?P<name>\w+)[ \t]*##[ \t#]*\]{2,4}")
BEFORE_MARKER: Final = re.compile(r"[ \t]*\[\[[ \t]*##")

_RUN: Final = re.compile(r"`{3,}|~{3,}")
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:(?P<closed>")|\\?\Z)', re.DOTALL)
_PROSE: Final = ("[[", "```", "~~~")
_JSON: Final = (*_PROSE, '"')


class Token(NamedTuple):
    """One sign.

    Attributes:
        kind: A marker; a fence that begins its line; a fence right before a marker; a
            string in double quotes.
        start: Where it begins.
        end: Where it ends.
        text: A marker's name, a fence's run of signs, a string's closing quote if it has one.
    """

    kind: Literal["marker", "fence", "glued", "string"]
    start: int
    end: int
    text: str


class TokenFinder:
    """Finds the signs of a text one after another; the text may grow between two questions."""

    __slots__ = ("_ahead", "_asked", "_length")

    def __init__(self) -> None:
        self._ahead: dict[str, int] = {}  # where each beginning is next; -1: nowhere in the text so far
        self._asked = 0
        self._length = 0

    def next(self, text: str, position: int, *, strings: bool) -> Token | None:
        """The first sign at or after a place.

        Args:
            text: The text.
            position: The place.
            strings: Whether strings in double quotes are signs.

        Returns:
            The sign, or None where there is none.
        """
        if position < self._asked or len(text) != self._length:
            self._ahead.clear()
        self._asked, self._length = position, len(text)
        beginnings, ahead = _JSON if strings else _PROSE, self._ahead
        while True:
            at, beginning = len(text), ""
            for candidate in beginnings:
                place = ahead.get(candidate)
                if place is None or 0 <= place < position:
                    place = ahead[candidate] = _find(text, candidate, position)
                if 0 <= place < at:
                    at, beginning = place, candidate
            if not beginning:
                return None
            token, position = _token_at(text, at, beginning)
            if token is not None:
                return token


def _find(text: str, beginning: str, position: int) -> int:
    """As ``text.find``, by way of the first sign: Python looks for one sign several times as fast as for two."""
    first = text.find(beginning[0], position)
    return first if first < 0 else text.find(beginning, first)


def _token_at(text: str, at: int, beginning: str) -> tuple[Token | None, int]:
    """The sign at a place, or where to look on."""
    if beginning == "[[":
        marked = MARKER.match(text, at)
        return (None, at + 1) if marked is None else (Token("marker", at, marked.end(), marked["name"]), at)
    if beginning == '"':
        string = _STRING.match(text, at)
        assert string is not None
        return Token("string", at, string.end(), string["closed"] or ""), at
    run = _RUN.match(text, at)
    assert run is not None
    line = at
    while line > 0 and text[line - 1] in " \t":
        line -= 1
    if line == 0 or text[line - 1] == "\n":
        return Token("fence", line, run.end(), run.group()), at
    if beginning == "```" and BEFORE_MARKER.match(text, run.end()):
        return Token("glued", at, run.end(), run.group()), at
    return None, run.end()
