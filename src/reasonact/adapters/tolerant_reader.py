"""A reader for the JSON that models write: one pass, no recursion, no guessing.

It accepts what JSON is not but plainly means the same: single quotes, Python's
``None`` / ``True`` / ``(…)`` / ``{…}``, bare keys, comments, trailing commas, raw line
breaks in strings, unknown escapes, and an end of text before the last bracket. What
needs a guess (an unescaped quote, a missing comma) is refused at its place.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

DEPTH_LIMIT = 500

_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|#[^\n]*|/\*(?s:.*?)(?:\*/|\Z))*")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)("|\\?\Z)', re.DOTALL)
_TRIPLE = re.compile(r'("""|\'\'\')((?:[^\\]|\\.)*?)(\1|\\?\Z)', re.DOTALL)
_SINGLE = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)('|\\?\Z)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_HALF_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*[eE][-+]?)?\Z")
_WORD = re.compile(r"[^\W\d][\w$-]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|x[0-9a-fA-F]{2}|\r?\n|.)", re.DOTALL)
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS: dict[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
    "NaN": float("nan"),
    "nan": float("nan"),
    "Infinity": float("inf"),
    "inf": float("inf"),
}
_LONGEST_INT = 4_000  # digits; Python refuses to read longer ones from text
_OPENERS = {"{": "}", "[": "]", "(": ")"}
_CLOSERS = "}])"
_NO_KEY = object()


@dataclass(frozen=True)
class Reading:
    """What was read from one opening bracket on.

    Attributes:
        start: Index of the bracket.
        end: Index after the last character that was understood.
        value: The value read; None where ``fault`` says why there is none.
        complete: False where the text ended first and the brackets were closed for it.
        fault: What could not be read, at ``end``; empty for a value.
        cut: Whether the text ended inside a key, a text, a number or a word.
        begun: Whether at least one whole key or element was read before the fault.
    """

    start: int
    end: int
    value: Any
    complete: bool
    fault: str = ""
    begun: bool = False
    cut: bool = False


class _Frame:
    """An open bracket and what it holds so far."""

    __slots__ = ("closer", "items", "key", "members", "opener", "state")

    def __init__(self, opener: str) -> None:
        self.opener = opener
        self.closer = _OPENERS[opener]
        self.items: list[Any] = []
        self.members: dict[Any, Any] = {}
        self.key: Any = _NO_KEY
        self.state = "first"  # then "colon" after a key, "value", "comma" after a value, "next" after a comma

    @property
    def is_object(self) -> bool:
        return self.opener == "{" and not self.items

    def add(self, value: Any) -> None:
        if self.key is not _NO_KEY:
            self.members[self.key] = value
            self.key = _NO_KEY
        else:
            self.items.append(value)
        self.state = "comma"

    def value(self) -> Any:
        return self.members if self.is_object else self.items


class _Fault(Exception):
    pass


def read_from(text: str, start: int, *, exact: bool = False) -> Reading:
    """Read the value whose bracket opens at an index.

    Args:
        text: The whole text.
        start: Index of a ``{``, ``[`` or ``(``.
        exact: True to get numbers with a fraction as ``Decimal``, digit by digit.

    Returns:
        The reading; its ``fault`` is set where the text from there on is no such value.
    """
    reader = _Reader(text, start, exact)
    try:
        return reader.read()
    except _Fault as fault:
        return Reading(start, reader.at, None, False, str(fault), reader.begun)


class _Reader:
    def __init__(self, text: str, start: int, exact: bool) -> None:
        self.text = text
        self.start = start
        self.at = start
        self.exact = exact
        self.begun = False
        self.stack: list[_Frame] = []

    def read(self) -> Reading:
        text, stack = self.text, self.stack
        while True:
            self.at = _end_of_space(text, self.at)
            if self.at >= len(text):
                return self._close_all()
            char = text[self.at]
            if char in _CLOSERS and stack:
                value = self._closed(char)
                if not stack:
                    return Reading(self.start, self.at, value, True)
                self._place(value)
            elif char in _OPENERS:
                self._expect_value(char)
                if stack and stack[-1].opener == "{" and stack[-1].state != "value":
                    raise _Fault("a key is missing before this bracket")
                if len(stack) >= DEPTH_LIMIT:
                    raise _Fault(f"more than {DEPTH_LIMIT} brackets are open at once")
                stack.append(_Frame(char))
                self.at += 1
            elif char == ",":
                self._comma()
            elif char == ":":
                self._colon()
            elif self._scalar(char):
                return self._close_all(cut=True)

    def _closed(self, char: str) -> Any:
        frame = self.stack[-1]
        if char != frame.closer or frame.state in ("colon", "value"):
            raise _Fault(f"{char!r} closes nothing here")
        self.at += 1
        self.stack.pop()
        return frame.value()

    def _place(self, value: Any) -> None:
        self.begun = True
        frame = self.stack[-1]
        if frame.opener == "{" and frame.key is _NO_KEY and frame.members:
            raise _Fault("a key is missing before this value")
        frame.add(value)

    def _expect_value(self, char: str) -> None:
        if self.stack and self.stack[-1].state in ("colon", "comma"):
            raise _Fault(f"{char!r} stands where a comma or a colon belongs")

    def _comma(self) -> None:
        frame = self.stack[-1]
        if frame.state == "colon" and not frame.members:
            frame.items.append(frame.key)  # no object after all: a Python set
            frame.key = _NO_KEY
            frame.state = "comma"
        if frame.state != "comma":
            raise _Fault("a comma without a value before it")
        frame.state = "next"
        self.at += 1

    def _colon(self) -> None:
        frame = self.stack[-1]
        if frame.state != "colon":
            raise _Fault("a colon without a key before it")
        frame.state = "value"
        self.at += 1

    def _scalar(self, char: str) -> bool:
        """Read text, a number or a word; True where the text ended inside it."""
        text, frame = self.text, self.stack[-1]
        self._expect_value(char)
        wants_key = frame.opener == "{" and frame.state in ("first", "next") and not frame.items
        value: Any
        match: re.Match[str] | None
        if char in "\"'" and text.startswith(char * 3, self.at):
            match = _TRIPLE.match(text, self.at)
            value, cut = (_unescaped(match[2]), not match[3]) if match else ("", True)
        elif char in "\"'":
            match = (_DOUBLE if char == '"' else _SINGLE).match(text, self.at)
            if match is None:  # a lone backslash at the end
                return True
            value = _unescaped(match[1])
            cut = match[2] != char
        elif _HALF_NUMBER.match(text, self.at):
            return True
        else:
            value, match = self._bare(char, wants_key)
            cut = match.end() == len(text)
        if match is None or (cut and wants_key):
            self.at = len(text)
            return True  # half a key says nothing
        if wants_key:
            self._key(value, match.end(), bare=char not in "\"'")
        else:
            self.at = match.end()
            self._place(value)
        return cut

    def _bare(self, char: str, wants_key: bool) -> tuple[Any, re.Match[str]]:
        if match := _NUMBER.match(self.text, self.at):
            if match.end() < len(self.text) and (self.text[match.end()].isalnum() or self.text[match.end()] in "._"):
                raise _Fault("a number runs into other characters")
            return _number(match[0], self.exact), match
        sign = 1 if char in "+-" else 0
        if match := _WORD.match(self.text, self.at + sign):
            word = match[0]
            if word in _WORDS and (not sign or isinstance(_WORDS[word], float)):
                return (-_WORDS[word] if char == "-" else _WORDS[word]), match
            if wants_key and not sign:
                return word, match
            if match.end() == len(self.text) and any(known.startswith(word) for known in _WORDS):
                return next(_WORDS[known] for known in _WORDS if known.startswith(word)), match
        raise _Fault(f"{self.text[self.at : self.at + 20]!r} is no value")

    def _key(self, value: Any, end: int, bare: bool) -> None:
        frame = self.stack[-1]
        after = _end_of_space(self.text, end)
        follows = self.text[after : after + 1]
        known = value is None or isinstance(value, (bool, int, float, Decimal))
        if follows not in ("", ":") and bare and not known:
            raise _Fault(f"{value!r} is neither a quoted text nor a key")
        if follows == "}" and not frame.members:
            frame.items.append(value)  # a Python set of one
            frame.state = "comma"
            self.begun = True
        else:
            frame.key = value
            frame.state = "colon"
            self.begun = self.begun or follows == ":"
        self.at = end

    def _close_all(self, cut: bool = False) -> Reading:
        """The text has ended: close what is open, innermost first."""
        while self.stack:
            frame = self.stack.pop()
            cut = cut or frame.key is not _NO_KEY
            value = frame.value()
            if not self.stack:
                return Reading(self.start, len(self.text), value, False, "", self.begun, cut)
            self._place(value)
        raise _Fault("nothing was opened")


def _end_of_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _unescaped(body: str) -> str:
    if "\\" not in body:
        return body
    text = _ESCAPE.sub(_unescape, body)
    return _SURROGATE_PAIR.sub(_joined, text) if not text.isascii() else text


def _unescape(match: re.Match[str]) -> str:
    what = match[1]
    if what[0] in "uUx" and len(what) > 1:
        code = int(what[1:], 16)
        return chr(code) if code <= sys.maxunicode else match[0]
    if what[-1] == "\n":
        return ""  # Python's continued line
    return _ESCAPES.get(what, match[0])  # `\d`, `\_`: a regular expression, a LaTeX command


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _number(digits: str, exact: bool) -> int | float | Decimal:
    if len(digits) > _LONGEST_INT:
        raise _Fault(f"a number of {len(digits)} digits is too long to be read")
    plain = digits.replace("_", "")
    if plain.lstrip("+-")[:2].lower() == "0x":
        return int(plain, 16)
    if "." in plain or "e" in plain or "E" in plain:
        return Decimal(plain) if exact else float(plain)
    return int(plain)
