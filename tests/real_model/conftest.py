"""SmolLM2-135M-Instruct on this machine: a task small enough for it, and what every run of it has to be like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

import reasonact
from reasonact.demo.local_server import LocalServer, NotInstalledError, model_file


class Where(reasonact.Signature):
    """Say in which country a city lies."""

    city: str = reasonact.InputField()
    country: str = reasonact.OutputField(max_length=30)
    sure: Literal["yes", "no"] = reasonact.OutputField()


def look_up(city: Annotated[str, Field(max_length=30)]) -> str:
    """Look a city up."""
    return f"{city} is a city in France."


class Checks:
    """Structure, never wit: what holds of a run whatever the model says."""

    task = Where
    tools = (look_up,)

    @staticmethod
    def outputs(result: Any) -> None:
        """The outputs are there and of their types."""
        assert isinstance(result.country, str)
        assert len(result.country) <= 30
        assert result.sure in ("yes", "no")

    @staticmethod
    def calls(agent: Any, history: Any) -> list[Any]:
        """Every call is one that its tool takes, has an id of its own, and one result by that id."""
        calls = [call for event in history.messages if "tool_calls" in event for call in event["tool_calls"].tool_calls]
        for event in history.messages:
            if "tool_calls" not in event:
                continue
            made = event["tool_calls"]
            results = made.tool_call_results.tool_call_results
            assert [(call.id, call.name) for call in made.tool_calls] == [(item.call_id, item.name) for item in results]
        for call in calls:
            assert call.name in agent.tools
            agent.tools[call.name].check_args(call.args)
        ids = [call.id for call in calls]
        assert all(ids)
        assert len(ids) == len(set(ids))
        return calls

    @staticmethod
    def usage(result: Any, requests: int) -> None:
        """The tokens of every request are counted."""
        assert requests == result.usage.calls
        turns = result.usage.turns
        assert all(turn["prompt_tokens"] > 0 and turn["completion_tokens"] > 0 for turn in turns)
        assert sum(turn["total_tokens"] for turn in turns) <= result.usage.total_tokens


@pytest.fixture(scope="session")
def checks() -> Checks:
    return Checks()


def _served(**options: Any) -> Iterator[LocalServer]:
    try:
        model = model_file()
    except NotInstalledError as missing:
        pytest.skip(str(missing))
    with LocalServer(model, n_ctx=2048, **options) as server:
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    """The server as it comes: it calls no tools itself."""
    yield from _served()


@pytest.fixture(scope="module")
def calling_server() -> Iterator[LocalServer]:
    """The server with its own form of native calls."""
    yield from _served(chat_format="chatml-function-calling")


def lm_at(server: LocalServer, **options: Any) -> Any:
    """The model at a server, its answers short and nearly the same each time."""
    ours = {"temperature": 0.2, "max_tokens": 160, "seed": 1, "cache": False, "timeout": 300}
    return reasonact.LM("openai/small", api_base=server.url, api_key="none", **{**ours, **options})


@pytest.fixture
def lm(server: LocalServer) -> Any:
    return lm_at(server, supports={"function_calling": False})


@pytest.fixture
def calling_lm(calling_server: LocalServer) -> Any:
    return lm_at(calling_server, supports={"function_calling": True})
