"""Text under labels that begin a line: ``Thought: …``, ``Answer: …``.

A label counts at the start of a line alone, after white space or Markdown's decoration.
Inside a fenced code block it is content, unless the fence never closes. Where a value
itself has such a line, `Labels.escape` puts a backslash before the label and
`Labels.unescape` takes it away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_FENCE: Final = r"^[ \t]*(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)$"
_DECORATION: Final = r"[ \t>*#_]*"
# What may stand between a label and its colon is bounded: that much is held back while a text arrives.
_REMARK: Final = r"\([^()\n]{0,40}"
_NUMBER: Final = r"[ \t]{0,9}(?:\d{1,9}[ \t]{0,9})?"
_CLOSING: Final = rf"{_NUMBER}(?:{_REMARK}\)[ \t]{{0,9}})?[*_]*:[*_]*"
_LONGEST: Final = 400  # characters of a line that decide; what begins no label by then never does
_CLOSING_BEGINS: Final = re.compile(rf"[ \d]*(?:{_REMARK}|(?:{_REMARK}\) ?)?[* ]*)")


@dataclass(frozen=True, slots=True)
class Section:
    """A label with the text under it.

    Args:
        key: What the label stands for; None for the text before the first one.
        start: Where the label's line begins in the whole text.
        text: The text, outer white space taken off.
    """

    key: str | None
    start: int
    text: str


class Labels:
    """A set of labels, found in any letter case.

    Args:
        keys: What each label stands for, by its words without the colon.
    """

    __slots__ = ("_escaped", "_exact", "_keys", "_label", "_loose", "_patterns", "_start", "_token")

    def __init__(self, keys: Mapping[str, str]) -> None:
        self._exact = dict(keys)  # two may differ in letter case alone
        self._keys = {_folded(label): key for label, key in keys.items()}
        self._patterns = {_pattern(label): key for label, key in keys.items()}
        # The longest first, so that "Action Input" is not read as "Action".
        words = "|".join(_pattern(label) for label in sorted(keys, key=len, reverse=True))
        label = rf"(?P<label>{words}){_CLOSING}"
        self._label = re.compile(rf"^({_DECORATION}\\*)(?={words}{_CLOSING})", _FLAGS)
        self._escaped = re.compile(rf"^({_DECORATION}\\*)\\(?={words}{_CLOSING})", _FLAGS)
        self._start = re.compile(rf"{_DECORATION}{label}", _FLAGS)
        self._token = re.compile(rf"{_FENCE}|^{_DECORATION}{label}", _FLAGS)
        self._loose = tuple(_loosely(label) for label in keys)

    def split(self, text: str, *, protect: bool = True) -> Iterator[Section]:
        """Cut a text at its labels.

        Args:
            text: The text.
            protect: Whether labels inside a code block are content.

        Yields:
            The text before the first label, then each label's section, in order.
        """
        key: str | None = None
        opened = start = position = 0
        fence: re.Match[str] | None = None
        while True:
            token = self._token.search(text, position)
            if token is None:
                if fence is None:
                    break
                position, fence, protect = fence.end(), None, False  # it never closes, so it was none
                continue
            position = max(token.end(), position + 1)
            run = token.group("run")
            if run is not None:
                if protect and fence is None:
                    fence = token
                elif fence is not None and _closes(fence, token):
                    fence = None
                continue
            if fence is not None:
                continue
            yield Section(key, opened, text[start : token.start()].strip())
            key, opened, start = self._key_of(token.group("label")), token.start(), token.end()
        yield Section(key, opened, text[start:].strip())

    def match(self, line: str) -> tuple[str, int] | None:
        """The label at the start of a line.

        Args:
            line: The line.

        Returns:
            What the label stands for, and where the text behind it begins; None where there is none.
        """
        found = self._start.match(line)
        return None if found is None else (self._key_of(found.group("label")), found.end())

    def may_begin(self, line: str) -> bool:
        """Whether a line that is still coming may turn out to have a label.

        Args:
            line: Its start.

        Returns:
            False once more text cannot make a label of it.
        """
        start = _loosely(line.lstrip(" \t>*#_\\")[:_LONGEST])
        return any(
            label.startswith(start)
            or (start.startswith(label) and _CLOSING_BEGINS.fullmatch(start, len(label)) is not None)
            for label in self._loose
        )

    def _key_of(self, label: str) -> str:
        key = self._exact.get(label) or self._keys.get(_folded(label))
        if key is not None:
            return key
        # A pattern's letter case is wider than that of folded text: a dotless i is an i to it.
        return next(key for pattern, key in self._patterns.items() if re.fullmatch(pattern, label, _FLAGS))

    def escape(self, text: str) -> str:
        """A value as it can stand under a label."""
        return self._label.sub(r"\1\\", text)

    def unescape(self, text: str) -> str:
        """What `escape` was given."""
        return self._escaped.sub(r"\1", text) if "\\" in text else text


_BETWEEN_WORDS: Final = r"[ \t_]{1,9}"
_FLAGS: Final = re.MULTILINE | re.IGNORECASE


def _loosely(text: str) -> str:
    """A text in which whatever a pattern takes for one sign in any letter case is one sign, such as i, İ and ı."""
    return re.sub(r"[\s_]+", " ", "".join(sign.upper()[0].lower()[0] for sign in text))


def _closes(fence: re.Match[str], token: re.Match[str]) -> bool:
    first, run = fence.group("run"), token.group("run")
    return run[0] == first[0] and len(run) >= len(first) and not token.group("info").strip()


def _folded(label: str) -> str:
    return re.sub(r"[\s_]+", " ", label).strip().casefold()


def _pattern(label: str) -> str:
    return _BETWEEN_WORDS.join(re.escape(word) for word in re.split(r"[\s_]+", label) if word)
