"""The checker: reads programs without running them, and says what the move to another line changes.

Results of agents are followed through assignments, returns, arguments and attributes
within a file. What it cannot follow it passes over: a finding is about something seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from reasonact.migration.finding import Edit, Finding, in_order
from reasonact.migration.histories import report_growth
from reasonact.migration.imports import settle_imports
from reasonact.migration.members import trajectory_key
from reasonact.migration.rules import RULES, Target
from reasonact.migration.statements import go_over
from reasonact.migration.study import SourceText, Study

_LIBRARIES = ("dspy", "reasonact")
_KEEP_KEYS = ("TrajectoryReAct", "trajectory_from_history")  # a program with these has trajectories in any line


class UnreadableError(ValueError):
    """A text is no Python.

    Args:
        problem: What is wrong with it.
        line: Where, from 1.
        column: Where, from 1.
    """

    def __init__(self, problem: str, line: int = 1, column: int = 1) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.column = column


def check_source(text: str, file: str, target: Target = "3.5") -> tuple[Finding, ...]:
    """Check one program.

    Args:
        text: Its source.
        file: Its name, for the findings.
        target: The line that it moves to.

    Returns:
        The findings, in the text's order.

    Raises:
        UnreadableError: It is no Python.
    """
    try:
        module = cst.parse_module(text)
        if not any(name in text for name in _LIBRARIES):
            return ()
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        study = Study(file, SourceText(text, wrapper.resolve(PositionProvider)), target)
        go_over(study, wrapper.module)
        report_growth(study, wrapper.module)
        if study.bindings and not study.mentions & set(_KEEP_KEYS):
            for node in study.loose_keys.values():
                trajectory_key(study, "trajectory", node)
        settle_imports(study)
    except cst.ParserSyntaxError as error:
        raise UnreadableError(f"it is no Python: {error.message}", error.raw_line, error.raw_column + 1) from None
    except RecursionError:
        raise UnreadableError("its expressions stand too deep in one another") from None
    return in_order(study.findings)


def unreadable(file: str, error: UnreadableError) -> Finding:
    """The finding about a file that could not be checked.

    Args:
        file: Its name.
        error: What is wrong.
    """
    rule = RULES["unreadable"]
    return Finding(file, error.line, error.column, "unreadable", rule.what.format(problem=error.problem), rule.write)


def rewritten(text: str, findings: Iterable[Finding]) -> str:
    """A program with its fixable findings settled.

    Args:
        text: The source.
        findings: What was found in it.

    Returns:
        The new source, equal but for the pieces that the findings' edits replace; the same
        text where an edit does not fit.
    """
    edits = sorted({edit for finding in findings if finding.fixable for edit in finding.edits})
    source = SourceText(text, {})
    if not _fit(source, edits):
        return text
    for edit in reversed(edits):
        text = text[: source.offset(edit.start)] + edit.new + text[source.offset(edit.end) :]
    return text


def _fit(source: SourceText, edits: Sequence[Edit]) -> bool:
    apart = all(one.end <= other.start for one, other in pairwise(edits))
    return apart and all(source.text[source.offset(e.start) : source.offset(e.end)] == e.old for e in edits)
