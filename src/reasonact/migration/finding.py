"""What the checker tells: findings, the edits that settle them, and what a file came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True, order=True)
class Place:
    """Where something stands in a text.

    Args:
        line: From 1.
        column: In characters, from 1.
    """

    line: int
    column: int


@dataclass(frozen=True, order=True)
class Edit:
    """A piece of a text to replace.

    Args:
        start: Its first character.
        end: The character after its last.
        old: What stands there.
        new: What is to stand there.
    """

    start: Place
    end: Place
    old: str
    new: str


@dataclass(frozen=True, order=True)
class Finding:
    """Something in a program that the move changes.

    Args:
        file: The file.
        line: The line, from 1; in a notebook, within the cell.
        column: The column in characters, from 1.
        code: What kind of finding it is, a key of `rules.RULES`.
        what: What changes.
        write: What to write.
        fixable: Whether ``--fix`` settles it.
        cell: The notebook's cell, from 1; None in a Python file.
        edits: What ``--fix`` replaces.
    """

    file: str
    line: int
    column: int
    code: str
    what: str
    write: str
    fixable: bool = False
    cell: int | None = None
    edits: tuple[Edit, ...] = field(default=(), repr=False)

    def plain(self) -> dict[str, Any]:
        """The finding as JSON data."""
        names = ("file", "cell", "line", "column", "code", "what", "write", "fixable")
        data = {name: getattr(self, name) for name in names}
        return data if self.cell is not None else {name: value for name, value in data.items() if name != "cell"}


@dataclass(frozen=True)
class FileReport:
    """What the checker found in a file, and what became of it.

    Args:
        path: The file.
        findings: What is left, in the file's order.
        fixed: What was settled.
        before: The text as it was.
        after: The text with every fixable finding settled; the same where there is none.
    """

    path: Path
    findings: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    before: str = ""
    after: str = ""


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by place.

    Args:
        findings: Findings of one file.
    """
    return tuple(sorted(findings, key=lambda found: (found.cell or 0, found.line, found.column, found.code)))


def not_fixable(finding: Finding) -> Finding:
    """The finding, for a file that is only read."""
    return replace(finding, fixable=False, edits=())
