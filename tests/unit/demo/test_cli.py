"""The command line: what it takes, what it answers, how it ends."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from reasonact.cli import main


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert 0 == ended.value.code
    assert "demo" in capsys.readouterr().out


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert 0 == ended.value.code
    assert f"reasonact {version('reasonact')}\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [[], ["nothing"], ["demo", "q", "more"], ["demo", "--agent", "v3"], ["demo", "--model"], ["--x"]]
)
def test_wrong_usage_ends_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert 2 == ended.value.code
    assert "usage: reasonact" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["demo", "--api-base", "http://x"], "--api-base needs --model"),
        (["demo", "  "], "the question is empty"),
        (["demo", "--model", ""], "--model is empty"),
    ],
)
def test_usage_that_makes_no_sense_is_told(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(arguments)
    assert complaint in capsys.readouterr().err


def test_help_loads_neither_the_agents_nor_what_they_stand_on() -> None:
    code = (
        "import sys; from reasonact.cli import main\n"
        "try: main(['demo', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('pydantic', 'litellm', 'rich', 'reasonact.demo.run') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "reasonact", "--version"], capture_output=True, text=True, check=True)
    assert f"reasonact {version('reasonact')}\n" == done.stdout
