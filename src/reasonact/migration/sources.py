"""The files that are checked: finding them, reading them, and writing them back."""

from __future__ import annotations

import io
import os
import tempfile
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reasonact.migration.checker import UnreadableError, check_source, rewritten, unreadable
from reasonact.migration.finding import FileReport, Finding
from reasonact.migration.notebooks import check_notebook
from reasonact.migration.rules import Target

_SUFFIXES: Final = (".py", ".pyi", ".ipynb")
_FOREIGN: Final = ("__pycache__", "node_modules", "site-packages")


def source_files(paths: Iterable[Path]) -> list[Path]:
    """The Python files and notebooks at and below some paths, each once, in order.

    Hidden folders, virtual environments and installed packages are passed over.

    Args:
        paths: Files and folders. A file is taken whatever its name.

    Returns:
        The files.

    Raises:
        FileNotFoundError: There is nothing at a path.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_below(path)))
        elif path.exists():
            found[path] = None
        else:
            raise FileNotFoundError(f"there is nothing at {path}")
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_foreign(Path(root, name)))
        yield from (Path(root, name) for name in sorted(files) if name.endswith(_SUFFIXES) and name[0] != ".")


def _is_foreign(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _FOREIGN or (folder / "pyvenv.cfg").exists()


def check_file(path: Path, target: Target = "3.5", *, fix: bool = False) -> FileReport:
    """Check a file, and write it back with what can be settled settled.

    Args:
        path: A Python file or a notebook.
        target: The line that it moves to.
        fix: Whether to write. A notebook is only read.

    Returns:
        What was found. A file that cannot be read is a finding.
    """
    name = str(path)
    try:
        raw = path.read_bytes()
        if path.suffix == ".ipynb":
            return FileReport(path, check_notebook(_decoded(raw, "utf-8-sig"), name, target))
        encoding = _encoding(raw)
        text = _decoded(raw, encoding)
        findings = check_source(text, name, target)
    except OSError as error:
        return FileReport(path, (unreadable(name, UnreadableError(f"it cannot be read: {error.strerror}")),))
    except UnreadableError as error:
        return FileReport(path, (unreadable(name, error),))
    after = rewritten(text, findings)
    if not fix or after == text:
        return FileReport(path, findings, (), text, after)
    left = check_source(after, name, target)
    try:
        _write(path, after.encode(encoding))
    except OSError as error:
        problem = UnreadableError(f"it cannot be written: {error.strerror}")
        return FileReport(path, (*findings, unreadable(name, problem)), (), text, after)
    return FileReport(path, left, _settled(findings), text, after)


def _settled(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.fixable)


def _encoding(raw: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
    except SyntaxError as error:
        raise UnreadableError(f"its encoding is not known: {error}") from None


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"it is no text in {encoding}: {error.reason} at byte {error.start}") from None


def _write(path: Path, content: bytes) -> None:
    """Put a file in another's place at once, so that no half of it is ever there."""
    goal = path.resolve()
    handle, name = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, goal.stat().st_mode)
        os.replace(name, goal)
    except BaseException:
        os.unlink(name)
        raise
