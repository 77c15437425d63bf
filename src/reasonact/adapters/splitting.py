"""Cutting a completion into its fields while it arrives.

A splitter takes text as it comes and gives back pieces of fields, each as soon as it is
certain whose it is. What may still turn out to be a marker is held back. The pieces of a
field add up to its raw text without outer white space; they are for showing progress, and
the whole completion, read by the plan, has the last word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple


class Piece(NamedTuple):
    """A piece of a field.

    Attributes:
        field: The field's name.
        delta: What came; may be empty where ``done``.
        done: Whether the field is complete.
    """

    field: str
    delta: str
    done: bool


class Splitter(ABC):
    """Takes a completion piece by piece. Pure: no I/O, no clock; one object for one completion."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._field: str | None = None
        self._begun = False
        self._said = False  # something of the open field is out
        self._lead = ""
        self._space = ""

    def feed(self, text: str) -> list[Piece]:
        """Take the next part of the completion.

        Args:
            text: Any number of characters.

        Returns:
            What has become certain.
        """
        self._take(text)
        return self._drained()

    def close(self) -> list[Piece]:
        """Take note that the completion is over.

        Returns:
            What was held back.
        """
        self._end()
        self._finish()
        return self._drained()

    @abstractmethod
    def _take(self, text: str) -> None: ...

    @abstractmethod
    def _end(self) -> None: ...

    def _open(self, field: str | None) -> None:
        """Begin a field (None: what belongs to none), ending the one before."""
        self._finish()
        self._field, self._begun, self._said, self._lead, self._space = field, False, False, "", ""

    def _resume(self, separator: str) -> None:
        """Go on with the open field in a further part of the text."""
        self._lead = separator if self._said else ""
        self._begun, self._space = False, ""

    def _emit(self, text: str) -> None:
        """Add to the field that is open; outer white space is held back until it proves to be inner."""
        if self._field is None or not text:
            return
        if not self._begun:
            text = text.lstrip()
            if not text:
                return
            text, self._lead = self._lead + text, ""
            self._begun = self._said = True
        kept = text.rstrip()
        if not kept:
            self._space += text
            return
        self._pieces.append(Piece(self._field, self._space + kept, False))
        self._space = text[len(kept) :]

    def _finish(self) -> None:
        if self._field is not None:
            self._pieces.append(Piece(self._field, "", True))
        self._field = None

    def _drained(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces


class SilentSplitter(Splitter):
    """For forms whose fields are known only once the completion is whole: gives out nothing."""

    def _take(self, text: str) -> None:
        """Nothing is kept."""

    def _end(self) -> None:
        """Nothing was held back."""


class FreeTextSplitter(Splitter):
    """The plain text beside native calls is one field, unless it looks as if it had a form after all.

    Args:
        field: The field.
        read: Takes the text out of any form, once it is whole.
    """

    def __init__(self, field: str, read: Callable[[str], str]) -> None:
        super().__init__()
        self._name = field
        self._read = read
        self._held: str | None = ""

    def _take(self, text: str) -> None:
        if self._held is None:
            self._emit(text)
            return
        self._held += text
        start = self._held.lstrip()
        if start and start[0] not in "[{<`":
            self._open(self._name)
            self._emit(self._held)
            self._held = None

    def _end(self) -> None:
        if self._held is not None and self._held.strip():
            self._open(self._name)
            self._emit(self._read(self._held))
