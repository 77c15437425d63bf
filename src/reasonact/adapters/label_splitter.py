"""Splitting a completion at labels that begin a line, while it arrives."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from reasonact.adapters.labels import Labels
from reasonact.adapters.splitting import Splitter

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")


class LabelSplitter(Splitter):
    """Gives the text under labels.

    Args:
        labels: The labels.
        fields: The field that each of a label's keys stands for; text under others is passed over.
        lead: The field to which text before the first label belongs, if any.
        ends: Keys after which nothing of the completion counts.
    """

    def __init__(
        self, labels: Labels, fields: Mapping[str, str], lead: str | None = None, ends: Collection[str] = ()
    ) -> None:
        super().__init__()
        self._labels = labels
        self._fields = fields
        self._ends = frozenset(ends)
        self._line = ""
        self._begun_line = False  # the start of the line is out: it has no label
        self._fence: str | None = None
        self._held: list[str] = []  # lines of an open fence from the first label in it on
        self._given: set[str] = set()
        self._over = False
        if lead is not None:
            self._open(lead)

    def _take(self, text: str) -> None:
        while text and not self._over:
            end = text.find("\n") + 1
            self._line, text = self._line + text[: end or len(text)], text[end or len(text) :]
            if self._line.endswith("\n"):
                line, self._line = self._line, ""
                self._whole(line)
            else:
                self._start_of_line()

    def _end(self) -> None:
        if self._line and not self._over:
            self._whole(self._line)
        held, self._held, self._fence = self._held, [], None
        for line in held:  # the fence never closed, so it protected nothing
            self._prose(line)
        if self._field is not None and not self._said:
            self._field = None

    def _start_of_line(self) -> None:
        """Give out a line that is still coming, as soon as it is known whether it has a label."""
        if self._held:
            return
        if not self._begun_line:
            label = self._labels.match(self._line)
            if label is None:
                if self._labels.may_begin(self._line) or self._line.lstrip(" \t>*#_")[:1] in ("`", "~", "\\"):
                    return
            elif self._fence is not None or label[1] == len(self._line):
                return
            else:
                line, self._line, self._begun_line = self._line, "", True
                self._prose(line)
                return
        self._emit(self._line)
        self._line, self._begun_line = "", True

    def _whole(self, line: str) -> None:
        if self._begun_line:
            self._begun_line = False
            self._emit(line)
            return
        fence = _FENCE.match(line)
        if self._held:
            self._held.append(line)
            if self._closes(fence):
                held, self._held, self._fence = self._held, [], None
                for text in held:
                    self._emit(text)
        elif self._fence is not None:
            if self._closes(fence):
                self._fence = None
            elif self._labels.match(line) is not None:
                self._held.append(line)
                return
            self._emit(line)
        elif fence is not None:
            self._fence = fence[1]
            self._emit(line)
        else:
            self._prose(line)

    def _prose(self, line: str) -> None:
        if self._over:
            return
        label = self._labels.match(line)
        if label is None:
            self._emit(self._labels.unescape(line))
            return
        key, end = label
        if key in self._ends:
            self._leave()
            self._over = True
            return
        field = self._fields.get(key)
        if field is not None and field == self._field:
            self._resume("\n")
        else:
            self._leave()
            if field is not None and field not in self._given:
                self._open(field)
        self._emit(line[end:])

    def _closes(self, fence: re.Match[str] | None) -> bool:
        opened = self._fence or "```"
        return fence is not None and fence[1].startswith(opened) and not fence[2].strip()

    def _leave(self) -> None:
        if self._field is not None and not self._said:
            self._field = None
        if self._field is not None:
            self._given.add(self._field)
        self._finish()
