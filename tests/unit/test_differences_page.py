"""docs/differences.md keeps its word: every row says why, and every test that it names is there."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "differences.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
COMPARING = ("test_differences.py", "test_more_differences.py")


def tables() -> dict[str, list[list[str]]]:
    """The rows of each section, cell by cell; the first is the heading of its table."""
    found: dict[str, list[list[str]]] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]
        found[title] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return found


SECTIONS = tables()
ROWS = [row for rows in SECTIONS.values() for row in rows[1:]]


@functools.cache
def functions(path: str) -> frozenset[str]:
    """The functions of a file, those of a class as ``Class::name``."""
    names: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        names |= {prefix + item.name for item in inside if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return frozenset(names)


def test_the_page_lists_differences_under_every_heading():
    assert 9 == len(SECTIONS)
    assert [] == [title for title, rows in SECTIONS.items() if len(rows) < 5]
    assert {"matter"} == {rows[0][0] for rows in SECTIONS.values()}


def test_every_heading_is_linked_from_the_top():
    top = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    linked = [f"- [{title}](#{title.lower().replace(' ', '-')})" for title in SECTIONS]
    assert linked == [line for line in top.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_its_cells_its_reason_and_a_test_that_exists(row: list[str]):
    assert 6 == len(row)
    matter, theirs, ours, why, _, tests = row
    assert all((matter, theirs, ours, why))
    named = NAMED.findall(tests)
    assert named
    assert [] == [f"{path}::{name}" for path, name in named if name not in functions(path)]


def test_no_matter_is_listed_twice():
    matters = [row[0] for row in ROWS]
    assert len(matters) == len(set(matters))


@pytest.mark.parametrize("file", COMPARING)
def test_every_test_that_compares_a_difference_is_named_on_the_page(file: str):
    path = f"tests/conformance/{file}"
    named = {name for row in ROWS for found, name in NAMED.findall(row[5]) if found == path}
    there = {name for name in functions(path) if name.startswith("test_") and "page" not in name}
    assert set() == there - named
