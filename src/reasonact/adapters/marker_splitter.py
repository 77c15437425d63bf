"""Splitting a completion at its ``[[ ## name ## ]]`` markers while it arrives."""

from __future__ import annotations

from reasonact.adapters.markers import MarkerScan, Names, thoughts_end
from reasonact.adapters.splitting import Splitter


class MarkerSplitter(Splitter):
    """Gives the sections of the wanted fields, by the scan that reads whole completions too.

    Args:
        names: The names that markers may carry.
    """

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names
        self._scan = MarkerScan(names)
        self._held: str | None = ""
        self._given: set[str] = set()
        self._out = 0

    def _take(self, text: str, *, final: bool = False) -> None:
        if self._held is not None:
            self._held += text
            end = thoughts_end(self._held, final=final)
            if end is None:
                return
            text, self._held = self._held[end:], None
        for name, start, end in self._scan.extend(text, final=final):
            self._enter(name, start)
            self._emit(self._scan.text[self._out : end])
            self._out = end
            self._enter(None, end)
        if not final:
            self._enter(self._scan.section, self._scan.start)
            self._emit(self._scan.text[self._out : self._scan.certain])
            self._out = max(self._out, self._scan.certain)

    def _end(self) -> None:
        self._take("", final=True)

    def _enter(self, name: str | None, start: int) -> None:
        """Go over to a section, unless it is the one that is open."""
        self._out = max(self._out, start)
        if name is not None and name == self._field:
            return
        if name in self._names.wanted and name not in self._given:
            self._open(name)
        elif self._field is not None:
            self._leave()

    def _leave(self) -> None:
        field = self._field
        if field is not None and not self._said:
            self._field = None  # a marker without a value is said twice, or the value is to come
            return
        if field is not None:
            self._given.add(field)
        self._finish()
