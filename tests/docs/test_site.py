"""The documentation builds into a site: every page in its menu, every link with an end, every name in the API there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the docs extra is not installed")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert 0 == built.returncode, built.stdout + built.stderr
    return target


def test_a_block_behind_a_comment_with_replies_is_shown_as_code(site: Path) -> None:
    page = site.joinpath("quickstart", "index.html").read_text(encoding="utf-8")
    body = page.partition("<article")[2].partition("</article>")[0]
    assert "```" not in body
    blocks = ROOT.joinpath("docs", "quickstart.md").read_text(encoding="utf-8").count("```") // 2
    assert blocks == body.count("<pre")


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    fetched = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?https?:|<link\b[^>]*stylesheet[^>]*https?:")
    assert [] == [found for page in pages for found in fetched.findall(page)]
    assert 16 <= len(pages)


def test_the_reference_shows_arguments_and_errors(site: Path) -> None:
    page = site.joinpath("api", "index.html").read_text(encoding="utf-8")
    for anchor in (
        "reasonact.agents.react_v2.ReActV2",
        "reasonact.runtime.events.OutputText",
        "reasonact.errors.LMError",
    ):
        assert f'id="{anchor}"' in page
