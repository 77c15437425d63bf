"""Arguments nested more deeply than any tool takes are an error result, and never the end of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_scripts import extracted, fields, native, react, react_v2, results

import reasonact

PROBLEM = "not run: the arguments are nested too deeply: more than 100 levels"


def take(items: list[Any]) -> str:
    """Take items."""
    return "taken"


def nested(levels: int) -> str:
    return f'{{"items": {"[" * levels}{"]" * levels}}}'


def in_text(name: str, args: str) -> str:
    return fields(next_thought="t", tool_calls=f'[{{"name": "{name}", "args": {args}}}]')


def in_step(name: str, args: str) -> str:
    return fields(next_thought="t", next_tool_name=name, next_tool_args=args)


@pytest.mark.parametrize("levels", [101, 330, 600, 900])
@pytest.mark.parametrize("channel", ["native", "text", "react"])
def test_arguments_beyond_a_hundred_levels_are_an_error_result(channel: str, levels: int) -> None:
    prediction: Any
    if channel == "native":
        replies = [native(None, ("a", "take", nested(levels))), native(None, ("b", "submit", '{"answer": "x"}'))]
        prediction = react_v2(replies, [take], native=True)(question="q")
    elif channel == "text":
        prediction = react_v2([in_text("take", nested(levels)), in_text("submit", '{"answer": "x"}')], [take])(
            question="q"
        )
    else:
        replies = [in_step("take", nested(levels)), in_step("finish", "{}"), extracted(answer="x")]
        prediction = react(replies, [take])(question="q")
        assert PROBLEM == prediction.trajectory["observation_0"]
    assert "x" == prediction.answer
    assert (PROBLEM, True) == (results(prediction.history)[0].value, results(prediction.history)[0].is_error)
    assert json.loads(prediction.history.model_dump_json())


@pytest.mark.parametrize("levels", [3_000, 100_000])
def test_arguments_that_no_json_reader_takes_are_an_error_result_too(levels: int) -> None:
    replies = [native(None, ("a", "take", nested(levels))), native(None, ("b", "submit", '{"answer": "x"}'))]
    prediction = react_v2(replies, [take], native=True)(question="q")
    assert "x" == prediction.answer
    assert results(prediction.history)[0].is_error


def test_a_hundred_levels_are_taken() -> None:
    prediction = react_v2([in_text("take", nested(100)), in_text("submit", '{"answer": "x"}')], [take])(question="q")
    assert "taken" == results(prediction.history)[0].value


def test_a_submit_nested_too_deeply_is_an_error_result() -> None:
    deep = nested(700).replace("items", "answer")
    prediction = react_v2(
        [in_text("submit", deep), in_text("submit", '{"answer": ["x"]}')], [take], "question -> answer: list"
    )(question="q")
    assert ["x"] == prediction.answer
    assert PROBLEM == results(prediction.history)[0].value
    assert reasonact.History.from_any(prediction.history.model_dump_json()) == prediction.history
