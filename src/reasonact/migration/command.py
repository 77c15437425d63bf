"""``reasonact migrate``: checks paths, prints what was found, and says by its exit status whether anything is left."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

from reasonact.migration.finding import FileReport, Finding
from reasonact.migration.rules import Target
from reasonact.migration.sources import check_file, source_files


def migrate(
    paths: Sequence[Path],
    *,
    target: Target = "3.5",
    fix: bool = False,
    diff: bool = False,
    output: Literal["text", "json"] = "text",
    stream: TextIO | None = None,
) -> bool:
    """Check programs and print the findings.

    Args:
        paths: Files and folders.
        target: The line that the programs move to.
        fix: Rewrite what keeps its meaning for certain.
        diff: Show what is rewritten, or would be.
        output: The form of the print.
        stream: Where to print; ``sys.stdout`` by default.

    Returns:
        Whether anything is left.

    Raises:
        FileNotFoundError: There is nothing at a path.
    """
    reports = [check_file(path, target, fix=fix) for path in source_files(paths)]
    shown = _as_json(reports, diff) if output == "json" else _as_text(reports, diff)
    print(shown, file=stream or sys.stdout)
    return any(report.findings for report in reports)


def _as_text(reports: Sequence[FileReport], diff: bool) -> str:
    lines = [_line(finding) for report in reports for finding in report.findings]
    if diff:
        lines.extend(difference for report in reports if (difference := _difference(report)))
    left = sum(len(report.findings) for report in reports)
    fixed = sum(len(report.fixed) for report in reports)
    fixable = sum(finding.fixable for report in reports for finding in report.findings)
    summary = f"{len(reports)} files: {left} findings"
    if fixed:
        summary += f" left, {fixed} settled"
    elif fixable:
        summary += f", {fixable} of them for --fix"
    return "\n".join([*lines, summary])


def _line(finding: Finding) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{finding.file}:{cell}{finding.line}:{finding.column}: {finding.code}: {finding.what} -> {finding.write}"


def _as_json(reports: Sequence[FileReport], diff: bool) -> str:
    data: dict[str, Any] = {
        "files": len(reports),
        "findings": _plain(finding for report in reports for finding in report.findings),
        "fixed": _plain(finding for report in reports for finding in report.fixed),
    }
    if diff:
        data["diff"] = {str(report.path): text for report in reports if (text := _difference(report))}
    return json.dumps(data, indent=2, ensure_ascii=False)


def _plain(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [finding.plain() for finding in findings]


def _difference(report: FileReport) -> str:
    if report.before == report.after:
        return ""
    name = report.path.as_posix().lstrip("/")
    lines = difflib.unified_diff(
        report.before.splitlines(), report.after.splitlines(), f"a/{name}", f"b/{name}", lineterm=""
    )
    return "\n".join(lines)
