"""What stands around a marker on its line, and whether it counts there."""

from __future__ import annotations

from typing import Final

from reasonact.adapters.marker_tokens import Token

DECORATION: Final = " \t*#>"
"""Signs that may stand before a marker without being content."""


class Line:
    """What stands around a marker on its line, looked at piece by piece from match to match."""

    __slots__ = ("_fresh", "_odd", "_quote_at", "_seen")

    def __init__(self) -> None:
        self._seen = 0
        self._fresh = True  # only decoration since the line began
        self._odd = {'"': False, "`": False}
        self._quote_at = {'"': -1, "`": -1}

    def is_fresh(self, text: str, token: Token) -> bool:
        """Whether a marker begins its line."""
        newline = text.rfind("\n", self._seen, token.start)
        fresh = self._fresh or newline >= 0
        return fresh and not text[max(newline + 1, self._seen) : token.start].strip(DECORATION)

    def counts(self, text: str, token: Token, known: bool, *, protect: bool) -> bool:
        """Whether a marker opens a section; the text behind it is looked at no more."""
        start, end = token.start, token.end
        newline = text.rfind("\n", self._seen, start)
        if newline >= 0:
            self._odd = {'"': False, "`": False}
        piece = text[max(newline + 1, self._seen) : start]
        self._fresh = self.is_fresh(text, token)
        self._seen = end
        if self._fresh:
            return True
        for quote in '"`':
            if piece.count(quote) % 2:
                self._odd[quote] = not self._odd[quote]
        if not known:
            return False
        if protect and text[start - 1 : start] == "'" == text[end : end + 1]:
            return False
        return not protect or not any(self._odd[quote] and self._closes(text, quote, end) for quote in '"`')

    def before(self, text: str, token: Token) -> int:
        """Where the text before a counted marker ends: its own decoration is not content."""
        start = token.start
        while start > 0 and text[start - 1] in DECORATION and self._fresh:
            start -= 1
        return start

    def _closes(self, text: str, quote: str, end: int) -> bool:
        at = self._quote_at[quote]
        if at < end:
            line_end = text.find("\n", end)
            line_end = len(text) if line_end < 0 else line_end
            found = text.find(quote, end, line_end)
            at = self._quote_at[quote] = found if found >= 0 else line_end
        return at < len(text) and text[at] == quote
