"""`reasonact view`: a saved run on the terminal or as a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_runs import made_run

from reasonact.cli import main
from reasonact.view.page import page


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(made_run().to_json(), encoding="utf-8")
    return path


def test_a_saved_run_is_shown(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["view", str(saved)])
    assert "ended by submit" in capsys.readouterr().out


def test_a_saved_run_is_written_as_a_page(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = saved.with_name("run.html")
    assert 0 == main(["view", str(saved), "--html", str(out)])
    assert page(made_run()) == out.read_text(encoding="utf-8")
    assert "" == capsys.readouterr().out


def test_what_cannot_be_read_or_written_is_named(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing, foreign = saved.with_name("missing.json"), saved.with_name("foreign.json")
    foreign.write_text("{}")
    for arguments, words in (
        ([str(missing)], "missing.json: No such file"),
        ([str(foreign)], "foreign.json: this is no run of an agent"),
        ([str(saved.parent)], "Is a directory"),
        ([str(saved), "--html", str(saved.parent / "none" / "run.html")], "run.html: No such file"),
    ):
        assert 1 == main(["view", *arguments])
        assert words in capsys.readouterr().err
