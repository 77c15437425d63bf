"""What type checkers show to callers of the installed package.

The programs beside this file say it: `assert_type` where a type is known, and a line that
has to be an error carries the comment that silences it. A comment that nothing needs is an
error itself, so each program fails on a type that is lost as well as on one that is wrong.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MYPY = ("mypy", "--config-file=", "--strict", "--python-executable", sys.executable)
PYRIGHT = ("pyright", "--pythonpath", sys.executable, "--project", "pyrightconfig.json")


def checked(*command: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", *command], cwd=HERE, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.timeout(600)  # the first run reads every dependency
def test_mypy_sees_every_type_of_the_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    code, said = checked(*MYPY, "--cache-dir", str(tmp_path_factory.mktemp("mypy")), "programs")
    assert 0 == code, said


@pytest.mark.timeout(600)
def test_pyright_sees_every_type_of_the_programs() -> None:
    code, said = checked(*PYRIGHT)
    assert 0 == code, said
