"""Notebooks: their code cells read as one program. They are reported, never rewritten."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

from reasonact.migration.checker import UnreadableError, check_source, unreadable
from reasonact.migration.finding import Finding, in_order, not_fixable
from reasonact.migration.rules import Target

_MAGIC: Final = ("%", "!", "?")
_PYTHON_MAGICS: Final = ("%%capture", "%%prun", "%%time", "%%timeit")


@dataclass(frozen=True)
class _Cell:
    """A code cell: its number in the notebook, from 1, and its lines."""

    number: int
    lines: list[str]


def check_notebook(text: str, file: str, target: Target = "3.5") -> tuple[Finding, ...]:
    """Check the code cells of a notebook, in their order, as one program.

    Args:
        text: The notebook's JSON.
        file: Its name, for the findings.
        target: The line that it moves to.

    Returns:
        The findings, by cell. A cell that is no Python is a finding, and the rest go on.

    Raises:
        UnreadableError: The text is no notebook.
    """
    findings: list[Finding] = []
    good: list[_Cell] = []
    for cell in _code_cells(text):
        try:
            check_source("\n".join(cell.lines), file, target)
        except UnreadableError as error:
            findings.append(replace(unreadable(file, error), cell=cell.number))
        else:
            good.append(cell)
    places = [(cell.number, line) for cell in good for line in range(1, len(cell.lines) + 1)]
    for finding in check_source("\n".join(line for cell in good for line in cell.lines), file, target):
        number, line = places[finding.line - 1]
        findings.append(replace(not_fixable(finding), cell=number, line=line))
    return in_order(findings)


def _code_cells(text: str) -> list[_Cell]:
    try:
        notebook = json.loads(text)
        cells = [(number, cell) for number, cell in enumerate(notebook["cells"], 1) if cell["cell_type"] == "code"]
        return [_Cell(number, _python_lines(cell["source"])) for number, cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"it is no notebook ({type(error).__name__}: {error})") from None


def _python_lines(source: Any) -> list[str]:
    """The lines of a cell, those that speak to the notebook itself as comments."""
    text: str = source if isinstance(source, str) else "".join(source)
    lines = text.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(_PYTHON_MAGICS):
        return ["#"]  # another language
    return [_silenced(line) for line in lines]


def _silenced(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith(_MAGIC) or stripped.rstrip().endswith("?"):
        return f"{line[: len(line) - len(stripped)]}pass  # {stripped}"
    return line
