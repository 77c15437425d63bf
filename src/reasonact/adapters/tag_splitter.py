"""Splitting a completion at the tags of its fields while it arrives."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from reasonact.adapters.splitting import Splitter
from reasonact.adapters.xml_text import TAG, TAG_BEGINS, field_of, unescaped_part

_ENTITY_BEGINS: Final = re.compile(r"&#?\w{0,8}\Z")


class TagSplitter(Splitter):
    """Gives the fields between tags; a closing tag counts once nothing but another field follows it.

    Args:
        wanted: The fields by the names of their tags.
        nested: Fields whose value is written in elements; they come as they are written.
    """

    def __init__(self, wanted: Mapping[str, str], nested: Collection[str]) -> None:
        super().__init__()
        self._wanted = wanted
        self._nested = frozenset(nested)
        self._text = ""
        self._depth = 0
        self._held = ""  # from a closing tag on, until it is known whether it closes the field
        self._given: set[str] = set()

    def _take(self, text: str) -> None:
        self._text += text
        position = 0
        while (match := TAG.search(self._text, position)) is not None:
            name = field_of(match["name"], self._wanted)
            if name is None:
                position = match.end()
                continue
            before, tag = self._text[: match.start()], match.group()
            self._text, position = self._text[match.end() :], 0
            self._take_tag(name, before, tag, closes=bool(match["close"]))
        begins = TAG_BEGINS.search(self._text)
        certain = len(self._text) if begins is None else begins.start()
        if self._held:
            self._held += self._text[:certain]
        elif self._field is not None:
            begun = _ENTITY_BEGINS.search(self._text, 0, certain)
            certain = certain if begun is None else begun.start()
            self._say(self._text[:certain])
        self._text = self._text[certain:]

    def _end(self) -> None:
        if self._field is not None and not self._held:
            self._say(self._text)
        self._text = ""

    def _take_tag(self, name: str, before: str, tag: str, *, closes: bool) -> None:
        if self._field is None:
            if not closes and name not in self._given:
                self._begin(name, tag)
            return
        if closes and name == self._field:
            if self._held:
                self._say(self._held + before)  # the closing tag before this one was content
            else:
                self._say(before)
            self._held = ""
            self._depth -= 1
            if self._depth <= 0:
                self._held = tag
            else:
                self._say(tag)
            return
        if self._held and not closes:
            self._held = ""
            self._finish()
            if name not in self._given:
                self._begin(name, tag)
            return
        if self._held:
            self._held += before + tag
            return
        self._depth += not closes and name == self._field and not tag.endswith("/>")
        self._say(before + tag)

    def _begin(self, name: str, tag: str) -> None:
        self._open(name)
        self._given.add(name)
        self._depth = 1
        if tag.endswith("/>"):
            self._finish()

    def _say(self, text: str) -> None:
        self._emit(text if self._field in self._nested else unescaped_part(text))
