"""The whole demonstration as a newcomer starts it: a process, a socket, LiteLLM, an agent."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from reasonact.demo.server import StandInServer

QUESTION = "which function removes common leading whitespace from every line of a text?"


@pytest.fixture
def environment() -> dict[str, str]:
    """No key, no proxy, no colour."""
    kept = {name: value for name, value in os.environ.items() if not re.search(r"_API_KEY$|_proxy$|COLOR", name, re.I)}
    return kept | {"COLUMNS": "100", "PYTHONUTF8": "1"}


def demo(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reasonact", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)


@pytest.mark.parametrize(
    ("arguments", "agent"), [((QUESTION, "--agent", "react"), "ReAct"), ((), "ReActV2")], ids=["react", "defaults"]
)
def test_both_agents_answer_over_http_without_a_key(
    arguments: tuple[str, ...], agent: str, environment: dict[str, str]
) -> None:
    done = demo(*arguments, environment=environment)
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(f"{agent} with the embedded stand-in\n")
    answer = done.stdout[done.stdout.index("answer ─") :]
    assert "textwrap.dedent" in answer
    assert re.search(r"confidence +0\.\d+  \(float\)", answer)
    assert re.search(r"\d model calls, about [\d,]+ tokens, \d+\.\d s", answer)
    assert "This is no language model" in done.stdout
    assert "--model" in done.stdout
    assert "search(query=" in done.stdout
    assert "\x1b" not in done.stdout


def test_another_question_gets_another_answer(environment: dict[str, str]) -> None:
    done = demo("what is 2**10 + 5", environment=environment)
    assert 0 == done.returncode
    assert "2**10 + 5 = 1029  (str)" in done.stdout


def test_a_named_model_plays_at_its_own_address(environment: dict[str, str]) -> None:
    with StandInServer() as server:
        done = demo(
            QUESTION,
            *("--model", "openai/some-model", "--api-base", server.url),
            environment=environment | {"OPENAI_API_KEY": "none"},
        )
    assert 0 == done.returncode
    assert done.stdout.startswith("ReActV2 with openai/some-model")
    assert "textwrap.dedent" in done.stdout
    assert "no language model" not in done.stdout


def test_a_model_that_cannot_be_asked_ends_with_one_line(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    done = demo(
        *("--model", "openai/some-model", "--api-base", f"http://127.0.0.1:{port}/v1"),
        environment=environment | {"OPENAI_API_KEY": "none"},
    )
    assert 1 == done.returncode
    assert 1 == len(done.stderr.splitlines())
    assert "openai/some-model" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.fixture
def silent_provider() -> Iterator[tuple[str, threading.Event]]:
    """An address that takes requests and never answers, and the sign that one has come."""
    asked = threading.Event()
    taken: list[socket.socket] = []

    def accept() -> None:
        try:
            while True:
                taken.append(listener.accept()[0])
                taken[-1].recv(1)
                asked.set()
        except OSError:
            return

    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=accept)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()
    for connection in taken:
        connection.close()


@pytest.mark.skipif(os.name == "nt", reason="SIGINT to one process alone is POSIX")
@pytest.mark.parametrize("agent", ["react", "v2"])
def test_ctrl_c_while_a_model_is_asked_ends_cleanly(
    agent: str, silent_provider: tuple[str, threading.Event], environment: dict[str, str]
) -> None:
    url, asked = silent_provider
    process = subprocess.Popen(
        [sys.executable, "-m", "reasonact", "demo", "--agent", agent, "--model", "openai/m", "--api-base", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | {"OPENAI_API_KEY": "none"},
    )
    try:
        while not asked.wait(0.2):
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (130, "reasonact: interrupted\n") == (process.returncode, errors)


@pytest.mark.skipif(os.name == "nt", reason="SIGINT to one process alone is POSIX")
def test_ctrl_c_stops_the_stand_in_s_server_too(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "reasonact", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("question"):  # the server runs, LiteLLM is still to be loaded
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (130, "reasonact: interrupted\n") == (process.returncode, errors)
