"""The corpus: small programs, each with the findings that it should have beside it.

``findings`` holds line, code and whether ``--fix`` settles it. A program with ``replies`` has
a ``main``: it runs on DSPy as it stands and on this library after ``--fix``, on the same
scripted replies.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import Any

import pytest

from reasonact.migration.checker import check_source, rewritten

CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.py"))
EXPECTED = {path: json.loads(path.with_suffix(".json").read_text(encoding="utf-8")) for path in CORPUS}
RUNNABLE = [path for path in CORPUS if "replies" in EXPECTED[path]]
UNCHANGED = [path for path in CORPUS if not EXPECTED[path]["findings"]]

RUNNER = """
import importlib, json, sys, warnings
from types import SimpleNamespace

warnings.simplefilter("ignore")
library = importlib.import_module(sys.argv[1])


class Scripted(library.BaseLM):
    def __init__(self, replies):
        super().__init__("scripted", cache=False)
        self.left = list(replies)

    def forward(self, prompt=None, messages=None, **options):
        message = SimpleNamespace(role="assistant", content=self.left.pop(0), tool_calls=None)
        choice = SimpleNamespace(index=0, message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model="scripted")


results = {}
for name, (text, replies) in json.load(sys.stdin).items():
    lm = Scripted(replies)
    namespace = {"__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    with library.context(lm=lm, adapter=library.ChatAdapter()):
        results[name] = [namespace["main"](), len(lm.left), sorted(m for m in ("dspy",) if m in sys.modules)]
print(json.dumps(results))
"""


def source(path: Path) -> str:
    return path.read_bytes().decode("utf-8")  # as it stands, line ends included


def fixed(path: Path) -> str:
    return rewritten(source(path), check_source(source(path), path.name, EXPECTED[path]["to"]))


def run(library: str, programs: dict[str, Any]) -> dict[str, Any]:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, library],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        env=environment,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def test_the_corpus_is_large_and_holds_programs_that_need_no_change():
    assert len(CORPUS) >= 40
    assert len(UNCHANGED) >= 8
    assert len(RUNNABLE) >= 12


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_program_has_the_findings_it_should_have(path):
    found = check_source(source(path), path.name, EXPECTED[path]["to"])
    assert EXPECTED[path]["findings"] == [[finding.line, finding.code, finding.fixable] for finding in found]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_fixing_settles_what_it_says_and_leaves_the_rest(path):
    left = check_source(fixed(path), path.name, EXPECTED[path]["to"])
    expected = [(line, code) for line, code, fixable in EXPECTED[path]["findings"] if not fixable]
    assert expected == [(finding.line, finding.code) for finding in left]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_fixing_leaves_lines_comments_and_line_ends_alone(path):
    before, after = source(path), fixed(path)
    touched = {line for line, _, fixable in EXPECTED[path]["findings"] if fixable}
    lines = list(zip(before.splitlines(keepends=True), after.splitlines(keepends=True), strict=True))
    changed = {number for number, (old, new) in enumerate(lines, 1) if old != new}
    assert touched <= changed
    assert comments(before) == comments(after)
    assert before.count("\r\n") == after.count("\r\n")
    if not touched:
        assert before == after


def test_fixed_programs_give_on_this_library_what_they_gave_on_dspy():
    on_dspy = run("dspy", {path.stem: [source(path), EXPECTED[path]["replies"]] for path in RUNNABLE})
    here = run("reasonact", {path.stem: [fixed(path), EXPECTED[path]["replies"]] for path in RUNNABLE})
    for path in RUNNABLE:
        assert on_dspy[path.stem][:2] == here[path.stem][:2], path.stem
        assert [] == here[path.stem][2], f"{path.stem} still brings in dspy"
