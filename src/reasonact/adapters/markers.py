"""Reading the ``[[ ## name ## ]]`` sections of a completion.

A marker opens a section where a line begins with it, and, if it names a field that is
looked for, inside a line too. It is content where the text around it says so: inside a
fenced code block, inside a string of a JSON value, between quotes or backticks on its
line. A fence or a quote that never closes protects nothing, or one stray backtick would
hide all the fields behind it: then the completion is read again without protection, and
that reading counts where it, unlike the first, finds every field.

The text is walked once by one compiled pattern; everything beside it looks only at the
piece between two matches, so that 50,000 markers on one line cost no more than their
bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

END: Final = "completed"
"""The name in the marker that closes a completion."""

_MARKER = r"\[{2,4}[ \t]*##[ \t#]*(?P<name>\w+)[ \t]*##[ \t#]*\]{2,4}"
_FENCE = r"(?:^|(?<=\]\]))[ \t]*(?P<run>`{3,}|~{3,})|(?P<glued>`{3,})(?=[ \t]*\[\[[ \t]*##)"
_STRING = r'(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))'
_PROSE_TOKEN: Final = re.compile(f"{_FENCE}|{_MARKER}", re.MULTILINE)
_JSON_TOKEN: Final = re.compile(f"{_STRING}|{_FENCE}|{_MARKER}", re.MULTILINE | re.DOTALL)
_BARE_MARKER: Final = re.compile(_MARKER)
_JSON_START: Final = re.compile(r'\s*(?:```\w*\s*)?(?:[{"]|\[(?!\[[ \t]*##))')
_THOUGHTS: Final = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_BEFORE_MARKER: Final = re.compile(r"[ \t]*\[\[[ \t]*##")
_FENCE_ENDS: Final = re.compile(r"[ \t]*(?:$|\[\[)", re.MULTILINE)
_OUTER_FENCE: Final = re.compile(r"\s*```[\w-]*[ \t]*\n(?=\s*\[\[[ \t]*##)")
_DECORATION: Final = " \t*#>"


class Names:
    """The names that markers may carry, found in any letter case.

    Args:
        wanted: The fields that are looked for.
        others: Further names that open a section, such as those of the inputs.
    """

    __slots__ = ("_exact", "_folded", "wanted")

    def __init__(self, wanted: Iterable[str], others: Iterable[str] = ()) -> None:
        self.wanted = frozenset(wanted)
        self._exact = {*self.wanted, *others, END}
        self._folded: dict[str, str] = {}
        for name in sorted(self._exact, key=lambda name: name in self.wanted):
            self._folded[name.casefold()] = name

    def find(self, written: str) -> str | None:
        """The name that a marker means.

        Args:
            written: The name as it stands in the marker.

        Returns:
            The field's own name, ``"completed"``, or None for a name that nobody knows.
        """
        return written if written in self._exact else self._folded.get(written.casefold())

    def opens_in_line(self, name: str | None) -> bool:
        """Whether a marker of this name counts in the middle of a line."""
        return name in self.wanted or name == END


@dataclass(frozen=True, slots=True)
class Sections:
    """The raw text of each field that was found, and the fields given twice with different texts."""

    values: Mapping[str, str]
    conflicts: tuple[str, ...] = ()


def marker(name: str) -> str:
    """The marker of a field."""
    return f"[[ ## {name} ## ]]"


def holds_marker(text: str) -> bool:
    """Whether a text holds anything that reads as a marker."""
    return "[[" in text and _BARE_MARKER.search(text) is not None


def quoted(text: str) -> str:
    """A value as it can stand in a section: a text that holds a marker, as a JSON string."""
    return json.dumps(text, ensure_ascii=False) if holds_marker(text) else text


def unquoted(text: str) -> str:
    """What `quoted` was given."""
    if len(text) > 1 and text[0] == text[-1] == '"' and holds_marker(text):
        try:
            value: Any = json.loads(text, strict=False)
        except ValueError:
            return text
        if isinstance(value, str):
            return value
    return text


def read_sections(text: str, names: Names, required: Iterable[str]) -> Sections:
    """Find the fields of a completion.

    Args:
        text: The completion.
        names: The names that markers may carry.
        required: The fields without which a reading is not whole.

    Returns:
        The sections, outer white space taken off. What stands before the first marker,
        after the last field's end marker, or in a section of another name, is left out.
    """
    outer = _OUTER_FENCE.match(text)
    if outer is not None and text.rstrip().endswith("\n```"):
        text = text[outer.end() : text.rstrip().rfind("```")]
    text = _without_thoughts(text)
    needed = frozenset(required)
    found = _collect(_split(text, names, protect=True), names)
    if not needed <= found.values.keys() or found.conflicts:
        blunt = _collect(_split(text, names, protect=False), names)
        if needed <= blunt.values.keys() and not blunt.conflicts:
            return blunt
    return found


def _without_thoughts(text: str) -> str:
    opening = _THOUGHTS.match(text)
    if opening is None:
        return text
    closing = re.compile(rf"</{opening.group(1)}>", re.IGNORECASE).search(text, opening.end())
    return text if closing is None else text[closing.end() :]


def _collect(sections: Iterable[tuple[str | None, str]], names: Names) -> Sections:
    values: dict[str, str] = {}
    conflicts: list[str] = []
    for name, text in sections:
        if name not in names.wanted:
            continue
        assert name is not None
        known = values.get(name)
        if not known:
            values[name] = text
        elif len(values) == len(names.wanted):
            break  # all was said: a completion that goes on begins the next turn by itself
        elif text and text != known and name not in conflicts:
            conflicts.append(name)
    return Sections(values, tuple(conflicts))


def _split(text: str, names: Names, *, protect: bool) -> Iterable[tuple[str | None, str]]:
    """Yield each section's name and text; one pass, see the note on top of the file."""
    line = _Line(text)
    section: str | None = None
    start = position = 0
    pattern = _PROSE_TOKEN
    fence: re.Match[str] | None = None
    stray = -1
    while True:
        token = pattern.search(text, position)
        if token is None:
            if fence is None:
                break
            # It never closes, so it was no fence: from there on, no protection.
            position, fence, protect, pattern = fence.end(), None, False, _PROSE_TOKEN
            continue
        position = token.end()
        if token.lastgroup == "string":
            if not token.group().endswith('"') or len(token.group()) == 1:
                position, protect, pattern = token.start() + 1, False, _PROSE_TOKEN
            elif text[start : token.start()].strip() == "":
                pattern = _PROSE_TOKEN  # a quoted text: what may follow it is prose
            continue
        written = token.group("name")
        if written is None:
            if protect and fence is not None:
                fence = None if _closes(fence, token) else fence
            elif _BEFORE_MARKER.match(text, position):
                stray = token.start()  # the end of a fence that nothing opened
            elif protect:
                fence = token
            continue
        name = names.find(written)
        if fence is not None or not line.counts(token, names.opens_in_line(name), protect=protect):
            continue
        end = line.before(token) if stray < start else stray
        yield section, text[start:end].strip()
        section, start, stray = name, token.end(), -1
        if text.startswith("**", start):
            start += 2
        pattern = _JSON_TOKEN if protect and _JSON_START.match(text, start) else _PROSE_TOKEN
    yield section, text[start:].strip()


def _closes(opening: re.Match[str], token: re.Match[str]) -> bool:
    first, run = opening.group("run"), token.group("run") or "```"
    return run[0] == first[0] and len(run) >= len(first) and _FENCE_ENDS.match(token.string, token.end()) is not None


class _Line:
    """What stands around a marker on its line, looked at piece by piece from match to match."""

    __slots__ = ("_fresh", "_odd", "_quote_at", "_seen", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen = 0
        self._fresh = True  # only decoration since the line began
        self._odd = {'"': False, "`": False}
        self._quote_at = {'"': -1, "`": -1}

    def counts(self, token: re.Match[str], known: bool, *, protect: bool) -> bool:
        """Whether a marker opens a section."""
        start, end = token.span()
        newline = self._text.rfind("\n", self._seen, start)
        if newline >= 0:
            self._fresh = True
            self._odd = {'"': False, "`": False}
        piece = self._text[max(newline + 1, self._seen) : start]
        self._seen = end
        if self._fresh and not piece.strip(_DECORATION):
            return True
        self._fresh = False
        for quote in '"`':
            if piece.count(quote) % 2:
                self._odd[quote] = not self._odd[quote]
        if not known:
            return False
        if protect and self._text[start - 1 : start] == "'" == self._text[end : end + 1]:
            return False
        return not protect or not any(self._odd[quote] and self._closes(quote, end) for quote in '"`')

    def before(self, token: re.Match[str]) -> int:
        """Where the text before a counted marker ends: its own decoration is not content."""
        start = token.start()
        while start > 0 and self._text[start - 1] in " \t*#>" and self._fresh:
            start -= 1
        return start

    def _closes(self, quote: str, end: int) -> bool:
        at = self._quote_at[quote]
        if at < end:
            line_end = self._text.find("\n", end)
            line_end = len(self._text) if line_end < 0 else line_end
            found = self._text.find(quote, end, line_end)
            at = self._quote_at[quote] = found if found >= 0 else line_end
        return at < len(self._text) and self._text[at] == quote
