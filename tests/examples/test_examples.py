"""Every example, run as a reader runs it: a process of its own, in an empty folder.

Offline each plays by itself. For ``--model`` a provider is played by an OpenAI-compatible
server that knows no example: it fills what it is asked for with made-up values.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from reasonact.demo.server import StandInServer

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = ("--model", "openai/gpt-4o-mini")


class Terminal:
    """Runs examples in one folder."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.env = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "REASONACT_CACHEDIR": str(folder), **env}

    def command(self, name: str, *arguments: str) -> list[str]:
        return [sys.executable, "-W", "error::DeprecationWarning:reasonact", str(EXAMPLES / name), *arguments]

    def run(self, name: str, *arguments: str, typed: str = "") -> list[str]:
        """What an example prints, line by line."""
        done = subprocess.run(
            self.command(name, *arguments), input=typed, capture_output=True, text=True, cwd=self.folder, env=self.env
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.fixture
def online(tmp_path: Path) -> Iterator[Terminal]:
    with StandInServer(made_up) as server:
        yield Terminal(tmp_path, OPENAI_API_BASE=server.url, OPENAI_API_KEY="none")


def made_up(body: Mapping[str, Any]) -> dict[str, Any]:
    """The shortest way to the end of a run: outputs of the right types, natively or under markers."""
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body.get("tools") or ()}
    if "submit" in tools:
        values = {name: example(schema) for name, schema in tools["submit"]["properties"].items()}
        function = {"name": "submit", "arguments": json.dumps(values)}
        call = {"id": f"call_{len(body['messages'])}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    prompt = str(body["messages"][0]["content"])
    if "next_tool_name" in prompt:
        done = any("observation_0" in str(message["content"]) for message in body["messages"][1:])
        name, args = ("finish", "{}") if done or "read_log" not in prompt else ("read_log", '{"machine": "press 9"}')
        fields = {"next_thought": "Go on.", "next_tool_name": name, "next_tool_args": args}
    else:
        fields = {name: "True" if name.startswith("is_") else "made up" for name in re.findall(r"## (\w+) ##", prompt)}
    return {"role": "assistant", "content": "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items())}


def example(schema: Mapping[str, Any]) -> Any:
    return {"integer": 12, "boolean": True}.get(schema.get("type", ""), "made up")


def test_every_example_is_run_here() -> None:
    tested = set(re.findall(r'"(\w+\.py)"[,)]', Path(__file__).read_text(encoding="utf-8")))
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*tested, "mcp_server.py"}


def test_quickstart_shows_the_run_and_the_total(terminal: Terminal) -> None:
    printed = terminal.run("quickstart.py")
    assert "total: 143324" == printed[-1]
    assert 'call        population(city="Brest")' in printed


def test_a_chat_is_remembered_by_another_process(terminal: Terminal) -> None:
    first = terminal.run("chat_sqlite.py", "--db", "chat.sqlite3", "Where is order 8?")
    assert ["you:  Where is order 8?", "shop: Your order is two chairs, not sent yet."] == first
    second = terminal.run("chat_sqlite.py", "--db", "chat.sqlite3", "Which order did I ask about?")
    assert "shop: You asked about order 8." == second[-1]
    stranger = terminal.run("chat_sqlite.py", "--db", "chat.sqlite3", "--name", "you", "Which order did I ask about?")
    assert "shop: You have not named an order yet." == stranger[-1]


def test_an_agent_calls_the_tools_of_a_server_process(terminal: Terminal) -> None:
    printed = terminal.run("mcp_tools.py")
    assert "tool in_stock: How many pieces of an item are in stock." == printed[0]
    assert ["in_stock {'item': 'lamp'} -> 4", "price {'item': 'lamp', 'pieces': 4} -> 80 EUR"] == printed[2:4]
    assert "answer: There are 4 lamps, for 80 EUR together." == printed[-1]


def test_an_approval_is_given_on_the_spot(terminal: Terminal) -> None:
    printed = terminal.run("approval.py", typed="yes\nno\n")
    assert "(here /tmp/a would be deleted)" in "\n".join(printed)
    assert printed[-1].endswith("report: /tmp/a is gone; The person refused this call.")
    assert not (terminal.folder / "paused_run.json").exists()


def test_an_approval_is_given_by_another_process(terminal: Terminal) -> None:
    waiting = terminal.run("approval.py", typed="yes\nlater\n")
    assert waiting[-1].endswith("The run waits in paused_run.json; start this program again to go on.")
    printed = terminal.run("approval.py", typed="yes\n")
    assert "going on with: Remove my old temporary files." == printed[0]
    assert ["/tmp/b"] == re.findall(r"\(here (\S+) would", "\n".join(printed))  # the first file is not deleted again
    assert "report: /tmp/a is gone; /tmp/b is gone" == printed[-1]


def test_a_chat_streams_thoughts_calls_and_replies(terminal: Terminal) -> None:
    printed = terminal.run("streaming_chat.py", typed="Will it rain?\n")
    assert [
        "I look out of the window.",
        "  weather {'city': 'Brest'}",
        "  -> rain over Brest, 14 degrees",
        "That is clear.",
        "There is rain over Brest, 14 degrees. Take a coat.",
    ] == printed


def test_an_http_service_streams_the_events_of_a_run(terminal: Terminal) -> None:
    with service(terminal) as url:
        with httpx.stream("POST", url, json={"question": "How many people live in Brest?"}, timeout=60) as response:
            assert "text/event-stream" == response.headers["content-type"].partition(";")[0]
            events = [event_of(block) for block in response.read().decode().strip().split("\n\n")]
        assert 400 == httpx.post(url, content="no JSON", timeout=60).status_code
    kinds = [kind for kind, _ in events]
    assert ["ToolCalled", "ToolReturned"] == kinds[:2]
    assert {"name": "population", "value": "139926", "is_error": False} == events[1][1]
    said = "".join(data["text"] for kind, data in events if kind == "OutputText")
    assert "139926 people live there." == said
    assert ("RunFinished", {"answer": said, "ended_by": "submit"}) == events[-1]


class service:
    """The example's address while it runs."""

    def __init__(self, terminal: Terminal, *arguments: str) -> None:
        self.terminal, self.arguments = terminal, arguments

    def __enter__(self) -> str:
        command = self.terminal.command("http_service.py", "--port", "0", *self.arguments)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=self.terminal.folder, env=self.terminal.env
        )
        assert self.process.stdout is not None
        return self.process.stdout.readline().removeprefix("listening on ").strip()

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)


def event_of(block: str) -> tuple[str, Any]:
    kind, data = block.split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_a_batch_writes_its_answers_and_asks_nothing_twice(terminal: Terminal) -> None:
    assert "4 rows, 0 failed, 8 model calls -> answers.csv" == terminal.run("batch_csv.py")[-1]
    with (terminal.folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        assert ["139926", "3398", "unknown", "64385"] == [row["answer"] for row in csv.DictReader(file)]

    done = terminal.folder / "answers.csv.done.jsonl"
    answers = (terminal.folder / "answers.csv").read_bytes()
    lines = done.read_bytes().splitlines(keepends=True)
    done.write_bytes(b"".join(lines[:-1]))  # as if the process had been killed before its last row
    assert "4 rows, 0 failed, 2 model calls -> answers.csv" == terminal.run("batch_csv.py")[-1]
    assert answers == (terminal.folder / "answers.csv").read_bytes()


def test_an_own_truncation_keeps_the_plan(terminal: Terminal) -> None:
    *requests, story, steps = terminal.run("own_truncation.py")
    assert "story: It ends in chapter 4." == story
    assert "steps in the history: 6" == steps
    assert 2 == sum(line.endswith("too long") for line in requests)
    assert all("the plan and" in line for line in requests[1:])
    assert requests[-1].endswith("the plan and chapters [3, 4]")


def test_a_program_of_dspy_runs_as_it_is(terminal: Terminal) -> None:
    printed = terminal.run("moved_over.py")
    assert [
        "fault: loss of oil",
        "urgent: True",
        "evidence: press 3: oil pressure 0.2 bar, 10 lines in all",
    ] == printed


@pytest.mark.parametrize(
    ("name", "typed", "last"),
    [
        ("quickstart.py", "", "total: 12"),
        ("chat_sqlite.py", "", "shop: made up"),
        ("mcp_tools.py", "", "answer: made up"),
        ("approval.py", "", "report: made up"),
        ("streaming_chat.py", "Hello?\n", "made up"),
        ("batch_csv.py", "", "4 rows, 0 failed, 4 model calls -> answers.csv"),
        ("own_truncation.py", "", "steps in the history: 1"),
        ("moved_over.py", "", "evidence: press 9: oil pressure 0.2 bar, 10 lines in all"),
    ],
)
def test_an_example_asks_the_model_that_is_named(online: Terminal, name: str, typed: str, last: str) -> None:
    assert last == online.run(name, *MODEL, typed=typed)[-1]


def test_the_service_asks_the_model_that_is_named(online: Terminal) -> None:
    with service(online, *MODEL) as url:
        response = httpx.post(url, json={"question": "Who?"}, timeout=60)
    blocks = response.text.strip().split("\n\n")
    assert ("RunFinished", {"answer": "made up", "ended_by": "submit"}) == event_of(blocks[-1])
