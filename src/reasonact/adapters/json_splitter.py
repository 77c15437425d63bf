"""Splitting one JSON object into its fields while it arrives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from reasonact.adapters.splitting import Splitter

_PLAIN: Final = re.compile(r'[^"\\]+')
_ESCAPE: Final = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_PART_OF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_KEY: Final = re.compile(r'\s*,?\s*"((?:[^"\\]|\\.)*)"\s*:\s*(?=\S)')
_KEY_BEGINS: Final = re.compile(r'\s*,?\s*(?:"(?:[^"\\]|\\.)*(?:"\s*:?\s*|\\?)?)?\Z')
_SIGN: Final = re.compile(r'["{}\[\],]')
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class JsonSplitter(Splitter):
    """Gives the values of wanted keys of an object: texts unescaped, other values as they are written.

    What stands before the object is passed over, and so is an object that is none.

    Args:
        wanted: The keys.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        super().__init__()
        self._wanted = frozenset(wanted)
        self._text = ""
        self._state = "outside"
        self._depth = 0
        self._string = False
        self._high = ""
        self._given: set[str] = set()

    def _take(self, text: str) -> None:
        self._text += text
        steps = {"outside": self._outside, "key": self._key, "text": self._string_value, "other": self._other_value}
        while self._text and steps[self._state]():
            pass

    def _end(self) -> None:
        self._text = ""

    def _outside(self) -> bool:
        opened = self._text.find("{")
        if opened < 0:
            self._text = ""
            return False
        self._text = self._text[opened + 1 :]
        self._state = "key"
        return True

    def _key(self) -> bool:
        match = _KEY.match(self._text)
        if match is None:
            if _KEY_BEGINS.match(self._text):
                return False
            self._state = "outside"  # the object is over, or it was none
            return True
        try:
            name = str(json.loads(f'"{match[1]}"', strict=False))
        except ValueError:
            name = match[1]
        self._text = self._text[match.end() :]
        if name in self._wanted and name not in self._given:
            self._given.add(name)
            self._open(name)
        if self._text.startswith('"'):
            self._text, self._state = self._text[1:], "text"
        else:
            self._state, self._depth, self._string = "other", 0, False
        return True

    def _string_value(self) -> bool:
        plain = _PLAIN.match(self._text)
        if plain is not None:
            self._say(plain.group())
            self._text = self._text[plain.end() :]
            return True
        if self._text[0] == '"':
            self._say("")
            self._text, self._state = self._text[1:], "key"
            self._finish()
            return True
        escape = _ESCAPE.match(self._text)
        if escape is None:
            if _PART_OF_ESCAPE.match(self._text):
                return False
            self._say(self._text[0])  # a stray backslash
            self._text = self._text[1:]
            return True
        self._say(str(json.loads(f'"{escape.group()}"')))
        self._text = self._text[escape.end() :]
        return True

    def _say(self, text: str) -> None:
        """Give out a part of a text; a character that comes as two escapes waits for its second half."""
        if self._high:
            pair = self._high + text[:1]
            if text and ord(text[0]) in _LOW:
                pair = pair.encode("utf-16", "surrogatepass").decode("utf-16")
            self._high, text = "", pair + text[1:]
        if len(text) == 1 and ord(text) in _HIGH:
            self._high = text
            return
        self._emit(text)

    def _other_value(self) -> bool:
        if self._string:
            plain = _PLAIN.match(self._text)
            if plain is not None:
                end = plain.end()
            elif self._text[0] == '"':
                self._string, end = False, 1
            elif len(self._text) > 1:
                end = 2
            else:
                return False
        else:
            sign = _SIGN.search(self._text)
            end = sign.start() if sign is not None else len(self._text)
            if end == 0:
                end = 1
                mark = self._text[0]
                if self._depth == 0 and mark in ",}]":
                    self._finish()
                    self._state = "key" if mark == "," else "outside"
                    if mark != ",":
                        self._text = self._text[1:]
                    return True
                self._string = mark == '"'
                self._depth += (mark in "{[") - (mark in "}]")
        self._emit(self._text[:end])
        self._text = self._text[end:]
        return True
