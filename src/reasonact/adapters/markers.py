"""Reading the ``[[ ## name ## ]]`` sections of a completion.

A marker opens a section where a line begins with it, and, if it names a field that is
looked for, inside a line too. It is content where the text around it says so: inside a
fenced code block, inside a string of a JSON value, between quotes or backticks on its
line. A fence or a quote that never closes protects nothing, or one stray backtick would
hide all the fields behind it: then the completion is read again without protection, and
that reading counts where it, unlike the first, finds every field.

The text is walked once from sign to sign; everything beside it looks only at the piece
between two of them, so that 50,000 markers on one line cost no more than their
bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reasonact.adapters.marker_line import DECORATION, Line
from reasonact.adapters.marker_tokens import BEFORE_MARKER, MARKER, Token, TokenFinder

END: Final = "completed"
"""The name in the marker that closes a completion."""

_JSON_START: Final = re.compile(r'\s*(?:```\w*\s*)?(?:[{"]|\[(?!\[[ \t]*##))')
_THOUGHTS: Final = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_OPENING_FENCE: Final = re.compile(r"[ \t]*(?P<run>`{3,}|~{3,})(?![ \t]*\[\[[ \t]*##)")
_FENCE_ENDS: Final = re.compile(r"[ \t]*(?:$|\[\[)", re.MULTILINE)
_OUTER_FENCE: Final = re.compile(r"\s*```[\w-]*[ \t]*\n(?=\s*\[\[[ \t]*##)")
_DOUBTFUL_END: Final = re.compile(r"(?:(?:`+[ \t]*)?\[[^\]\n]*\]{0,2}|`+[ \t]*)\Z")
_LOOKBACK: Final = 200  # characters of a line that may yet turn out to be a marker
_SIGN: Final = re.compile(r"\S")
_OPEN_LEAD: Final = re.compile(r"\[(?:\[[ \t]*#?)?")  # more has to come before it is known what this begins


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
    return "[[" in text and MARKER.search(text) is not None


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
    text = text[thoughts_end(text, final=True) :]
    needed = frozenset(required)
    found = _collect(_split(text, names, protect=True), names)
    if not needed <= found.values.keys() or found.conflicts:
        blunt = _collect(_split(text, names, protect=False), names)
        if needed <= blunt.values.keys() and not blunt.conflicts:
            return blunt
    return found


def thoughts_end(text: str, *, final: bool) -> int | None:
    """Where a completion goes on after the think block at its start.

    Args:
        text: The completion, as far as it has come.
        final: Whether that is all.

    Returns:
        The place, 0 where there is no such block; None while that is open.
    """
    opening = _THOUGHTS.match(text)
    if opening is None:
        if final:
            return 0
        sign = _SIGN.search(text)
        start = "" if sign is None else text[sign.start() : sign.start() + len("<thinking>")].casefold()
        return None if any(tag.startswith(start) for tag in ("<think>", "<thinking>")) else 0
    closing = re.compile(rf"</{opening.group(1)}>", re.IGNORECASE).search(text, opening.end())
    if closing is None:
        return 0 if final else None
    return closing.end()


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
    scan = MarkerScan(names, protect=protect)
    return [(name, text[start:end].strip()) for name, start, end in scan.extend(text, final=True)]


class MarkerScan:
    """One pass over a completion, which may still be coming; see the note on top of the file.

    Args:
        names: The names that markers may carry.
        protect: Whether code blocks and quotes make content of markers.
    """

    __slots__ = (
        "_fence",
        "_finder",
        "_in_fence",
        "_line",
        "_names",
        "_position",
        "_protect",
        "_stray",
        "_strings",
        "certain",
        "section",
        "start",
        "text",
    )

    def __init__(self, names: Names, *, protect: bool = True) -> None:
        self._names = names
        self._protect = protect
        self._line = Line()
        self._finder = TokenFinder()
        self._strings = False  # the open section is JSON
        self._fence: Token | None = None
        self._in_fence = -1  # where the first marker in the open fence is
        self._stray: Token | None = None
        self._position = 0
        self.text = ""
        self.section: str | None = None
        """The name of the section that is open; None before the first, and for a name that nobody knows."""
        self.start = 0
        """Where its content begins."""
        self.certain = 0
        """Up to where the text is known to be its content."""

    def extend(self, text: str, *, final: bool) -> list[tuple[str | None, int, int]]:
        """Take more of the text.

        Args:
            text: What follows.
            final: Whether that is all.

        Returns:
            The name, start and end of each section that is now complete; with ``final`` of
            the last one too.
        """
        self.text += text
        done: list[tuple[str | None, int, int]] = []
        while True:
            token = self._finder.next(self.text, self._position, strings=self._strings)
            if token is None:
                if final and self._fence is not None:
                    # It never closes, so it was no fence: from there on, no protection.
                    self._unprotect(self._fence.end)
                    continue
                break
            if not (final or self._is_settled(token)):
                break
            if token.kind == "string":
                if not token.text:
                    self._unprotect(token.start + 1)
                else:
                    if not self.text[self.start : token.start].strip():
                        self._strings = False  # a quoted text: what may follow it is prose
                    self._position = token.end
                continue
            self._position = token.end
            if token.kind != "marker":
                self._take_fence(token)
            elif self._fence is not None:
                self._in_fence = token.start if self._in_fence < 0 else self._in_fence
            else:
                name = self._names.find(token.text)
                if self._line.counts(self.text, token, self._names.opens_in_line(name), protect=self._protect):
                    done.append((self.section, self.start, self._end_before(token)))
                    self._open(name, token.end)
        if final:
            done.append((self.section, self.start, len(self.text)))
        else:
            self._note_certain(token)
        return done

    def _end_before(self, token: Token) -> int:
        stray = self._stray
        if stray is not None and not self.text[stray.end : token.start].strip():
            return stray.start
        return self._line.before(self.text, token)

    def _unprotect(self, position: int) -> None:
        self._position, self._fence, self._protect, self._strings = position, None, False, False

    def _open(self, name: str | None, start: int) -> None:
        if self.text.startswith("**", start):
            start += 2
        self.section, self.start, self.certain, self._stray = name, start, start, None
        self._strings = self._protect and _JSON_START.match(self.text, start) is not None
        fence = _OPENING_FENCE.match(self.text, start) if self._protect else None
        if fence is not None:
            self._fence = Token("fence", start, fence.end(), fence["run"])
            self._position = fence.end()

    def _take_fence(self, token: Token) -> None:
        if self._protect and self._fence is not None:
            if _closes(self._fence, token, self.text):
                self._fence, self._in_fence = None, -1
        elif BEFORE_MARKER.match(self.text, token.end):
            self._stray = token  # the end of a fence that nothing opened
        elif self._protect:
            self._fence = token

    def _is_settled(self, token: Token) -> bool:
        """Whether more text could not make another token, or another decision, of it."""
        end = token.end
        if token.kind == "string":
            return token.text != ""
        if token.kind != "marker":
            return self.text.find("\n", end) >= 0
        if self._fence is not None:
            return end < len(self.text)
        # A marker inside a line counts or not by the rest of its line.
        on_line = self._line.is_fresh(self.text, token) or self.text.find("\n", end) >= 0
        return on_line and self._value_is_known(end)

    def _value_is_known(self, start: int) -> bool:
        """Whether a value's first signs, by which it is JSON or prose, are there."""
        if self.text.startswith("*", start):
            if len(self.text) == start + 1:
                return False
            start += 2 if self.text.startswith("**", start) else 0
        sign = _SIGN.search(self.text, start)
        if sign is not None and sign.group() in "`~":
            line_end = self.text.find("\n", sign.end())
            sign = _SIGN.search(self.text, line_end) if line_end >= 0 else None
        if sign is None:
            return False
        lead = self.text[sign.start() : sign.start() + _LOOKBACK]
        return len(lead) == _LOOKBACK or _OPEN_LEAD.fullmatch(lead) is None

    def _note_certain(self, token: Token | None) -> None:
        """Note what of the open section is certain, and where to look on."""
        doubtful = _DOUBTFUL_END.search(self.text, max(self.start, len(self.text) - _LOOKBACK))
        certain = doubtful.start() if doubtful is not None else len(self.text)
        if token is not None:
            start = token.start
            if token.kind == "string":
                marked = self.text.find("[[", start)
                start = len(self.text) if marked < 0 else marked
            certain = min(certain, start)
        if self._in_fence >= 0:
            certain = min(certain, self._in_fence)
        if self._stray is not None and not self.text[self._stray.end : certain].strip():
            certain = min(certain, self._stray.start)
        begun = max(self.text.rfind("\n", 0, certain) + 1, self.start)
        if not self.text[begun:certain].strip(DECORATION + "`~"):
            certain = begun  # it may belong to a marker or a fence
        self.certain = max(self.start, certain)
        if token is None:
            last_line = self.text.rfind("\n", self._position) + 1
            long_line = len(self.text) - last_line > _LOOKBACK
            self._position = max(self._position, min(certain, len(self.text)) if long_line else last_line)


def _closes(opening: Token, token: Token, text: str) -> bool:
    longer = token.text[0] == opening.text[0] and len(token.text) >= len(opening.text)
    return longer and _FENCE_ENDS.match(text, token.end) is not None
