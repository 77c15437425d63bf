"""Agents and predictors on a real model that writes everything as text, held to a schema and not."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal

import pytest

import reasonact
from reasonact.errors import AdapterParseError, LMInvalidRequestError
from reasonact.runtime.callbacks import BaseCallback
from reasonact.streaming import OutputText, RunFinished, ThoughtText, ToolCalled, ToolReturned

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning"),  # LiteLLM leaves one behind
]


def held() -> reasonact.JSONAdapter:
    return reasonact.JSONAdapter(constrain="json_object", parallel_tool_calls=False, max_text_chars=60)


class Requests(BaseCallback):
    """Keeps the options of every request."""

    def __init__(self) -> None:
        self.formats: list[Any] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.formats.append(inputs.get("kwargs", inputs).get("response_format"))


# Held to a schema


def test_react_held_to_a_schema(lm: Any, checks: Any) -> None:
    agent = reasonact.ReAct(checks.task, tools=list(checks.tools), max_iters=2)
    with reasonact.context(lm=lm, adapter=held()):
        result = agent(city="Paris")
    checks.outputs(result)
    calls = checks.calls(agent, result.history)
    steps = len(calls)
    assert 1 <= steps <= 2
    assert [call.name for call in calls] == [result.trajectory[f"tool_name_{step}"] for step in range(steps)]
    assert [call.args for call in calls] == [result.trajectory[f"tool_args_{step}"] for step in range(steps)]
    for step, call in enumerate(calls):
        wanted = "Completed." if call.name == "finish" else f"{call.args['city']} is a city in France."
        assert wanted == result.trajectory[f"observation_{step}"]
    assert result.termination_reason == ("finish" if calls[-1].name == "finish" else "max_iters")
    checks.usage(result, requests=steps + 1)


def test_react_v2_held_to_a_schema_on_the_event_loop(lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=2)
    with reasonact.context(lm=lm, adapter=held()):
        result = asyncio.run(agent.acall(city="Paris"))
    checks.outputs(result)
    calls = checks.calls(agent, result.history)
    assert all(1 == len(event["tool_calls"].tool_calls) for event in result.history.messages)
    assert "submit" == calls[-1].name
    assert {"country": result.country, "sure": result.sure} == calls[-1].args
    assert result.termination_reason == ("submit" if len(calls) <= 2 else "forced_submit")
    assert "Paris" == result.history.messages[0]["city"]
    checks.usage(result, requests=len(calls))


def test_a_forced_submit_submits(lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=0)
    with reasonact.context(lm=lm, adapter=held()):
        result = agent(city="Paris")
    checks.outputs(result)
    assert ["submit"] == [call.name for call in checks.calls(agent, result.history)]
    assert "forced_submit" == result.termination_reason
    checks.usage(result, requests=1)


def test_a_conversation_goes_on_from_a_stored_history(lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=0)
    with reasonact.context(lm=lm, adapter=held()):
        first = agent(city="Paris")
        stored = reasonact.History.model_validate_json(first.history.model_dump_json())
        second = agent(city="Lyon", history=stored)
    checks.outputs(second)
    assert ["Paris", "Lyon"] == [event["city"] for event in second.history.messages]
    assert 2 == len(checks.calls(agent, second.history))


@pytest.mark.parametrize("agent_class", [reasonact.ReAct, reasonact.ReActV2])
def test_a_run_can_be_watched(agent_class: Any, lm: Any, checks: Any) -> None:
    agent = agent_class(checks.task, tools=list(checks.tools), max_iters=1)
    with reasonact.context(lm=lm, adapter=held()):
        events = list(agent.stream(city="Paris"))
    (finished,) = [event for event in events if isinstance(event, RunFinished) and event.source is agent]
    result = finished.prediction
    checks.outputs(result)
    called = [event for event in events if isinstance(event, ToolCalled)]
    returned = [event for event in events if isinstance(event, ToolReturned)]
    assert [event.call_id for event in called] == [event.call_id for event in returned]
    assert [call.id for call in checks.calls(agent, result.history)] == [event.call_id for event in called]
    thought = "".join(event.text for event in events if isinstance(event, ThoughtText) and event.turn == 0)
    assert thought.strip() == (result.history.messages[0].get("next_thought") or "").strip()
    said = "".join(event.text for event in events if isinstance(event, OutputText) and event.field == "country")
    assert result.country == said
    assert result.usage.total_tokens > 0


def test_plain_outputs_are_of_their_types(lm: Any) -> None:
    class Shelf(reasonact.Signature):
        """Describe a shelf."""

        kind: str = reasonact.InputField()
        books: list[int] = reasonact.OutputField(max_length=3)
        full: bool = reasonact.OutputField()
        height: float = reasonact.OutputField()
        wood: Literal["oak", "pine"] | None = reasonact.OutputField()

    with reasonact.context(lm=lm, adapter=held()):
        result = reasonact.Predict(Shelf)(kind="small")
    assert all(type(number) is int for number in result.books)
    assert (bool, float) == (type(result.full), type(result.height))
    assert result.wood in ("oak", "pine", None)


# JSONAdapter's other ways of asking


def test_any_object_is_json(lm: Any) -> None:
    requests = Requests()
    signature = reasonact.Signature("city -> country")
    with reasonact.context(lm=lm, adapter=reasonact.JSONAdapter(), callbacks=[requests]):
        try:
            assert isinstance(reasonact.Predict(signature)(city="Paris").country, str)
        except AdapterParseError as error:
            assert error.lm_response.lstrip().startswith("{")
    assert [{"type": "json_object"}] == requests.formats


def test_a_refused_schema_is_given_up_once(lm: Any) -> None:
    lm.supports["response_schema"] = True
    requests = Requests()
    predict = reasonact.Predict("city -> country")
    with reasonact.context(lm=lm, adapter=reasonact.JSONAdapter(), callbacks=[requests]):
        for _ in range(2):
            try:
                predict(city="Paris", config={"max_tokens": 20})
            except AdapterParseError:
                pass
    first, *later = requests.formats
    assert "country" in first.model_json_schema()["properties"]
    assert [{"type": "json_object"}, {"type": "json_object"}] == later


def test_a_schema_that_was_asked_for_by_name_is_not(lm: Any) -> None:
    with reasonact.context(lm=lm, adapter=reasonact.JSONAdapter(constrain="json_schema")):
        with pytest.raises(LMInvalidRequestError, match="response_format"):
            reasonact.Predict("city -> country")(city="Paris")


# Nothing held: whatever comes, the run ends in order


@pytest.mark.parametrize(
    "adapter", [reasonact.ChatAdapter(), reasonact.JSONAdapter(use_native_function_calling=False)], ids=["chat", "json"]
)
def test_react_v2_in_free_text_ends_in_order(adapter: Any, lm: Any, checks: Any) -> None:
    agent = reasonact.ReActV2(checks.task, tools=list(checks.tools), max_iters=1)
    with reasonact.context(lm=lm, adapter=adapter):
        result = agent(city="Paris")
    for event in result.history.messages:
        for call in event["tool_calls"].tool_calls if "tool_calls" in event else ():
            assert call.id
    if "country" in result:
        checks.outputs(result)
    assert result.termination_reason in ("submit", "forced_submit", "parse_error", "empty_tool_calls", "max_iters")
    assert result.usage.total_tokens > 0


def test_react_in_free_text_ends_in_order(lm: Any, checks: Any) -> None:
    agent = reasonact.ReAct(checks.task, tools=list(checks.tools), max_iters=1)
    with reasonact.context(lm=lm, adapter=reasonact.ChatAdapter()):
        try:
            result = agent(city="Paris")
        except AdapterParseError as error:  # of the extractor; the run is on the error
            assert error.state.trajectory["thought_0"] is not None
            json.dumps(error.state.trajectory, default=str)
        else:
            checks.outputs(result)
            assert "observation_0" in result.trajectory
