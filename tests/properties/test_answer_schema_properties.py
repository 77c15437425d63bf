"""For any tools: a valid turn is allowed and reads back as it was written, and no other tool can be named."""

from __future__ import annotations

import inspect
import json
import keyword
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from budget import examples
from reasonact.adapters.answer_schema import answer_schema
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.agents.react import ReAct
from reasonact.agents.react_v2 import ReActV2
from reasonact.tools.tool import Tool

names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and name not in ("finish", "submit")
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# Each type beside values of it, as JSON holds them.
KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, texts),
    (int, st.integers(-(10**6), 10**6)),
    (float, st.floats(-1e6, 1e6)),
    (bool, st.booleans()),
    (list[str], st.lists(texts, max_size=3)),
    (dict[str, int], st.dictionaries(texts, st.integers(-9, 9), max_size=3)),
    (str | None, st.none() | texts),
]


@st.composite
def tools_with_calls(draw: st.DrawFn) -> tuple[list[Tool], list[tuple[str, dict[str, Any]]]]:
    """Some tools, and calls of them with valid arguments."""
    tools, possible = [], []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        parameters, given_args = [], {}
        for parameter in draw(st.lists(names, max_size=3, unique=True)):
            kind, values = draw(st.sampled_from(KINDS))
            value, optional = draw(values), draw(st.booleans())
            default = value if optional else inspect.Parameter.empty
            parameters.append(
                inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            )
            if not optional or draw(st.booleans()):
                given_args[parameter] = value

        def run(**arguments: Any) -> str:
            return str(arguments)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        tools.append(Tool(run, name=name))
        possible.append((name, given_args))
    return tools, draw(st.lists(st.sampled_from(possible), min_size=1, max_size=3))


def allowed(schema: dict[str, Any], turn: Any) -> bool:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(turn)


@examples(60)
@given(tools_with_calls(), texts, names)
def test_a_turn_of_react_v2(given_tools: Any, thought: str, other: str) -> None:
    tools, calls = given_tools
    agent = ReActV2("question -> answer", tools)
    schema = answer_schema(agent.react.signature, agent.tools.values())
    turn: Any = {
        "next_thought": thought,
        "tool_calls": {"tool_calls": [{"name": name, "args": args} for name, args in calls]},
    }
    assert allowed(schema, turn)
    read = JSONAdapter().parse(agent.react.signature, json.dumps(turn))
    assert calls == [(call.name, call.args) for call in read["tool_calls"].tool_calls]
    for name, args in calls:
        agent.tools[name].check_args(args)

    turn["tool_calls"]["tool_calls"][-1]["name"] = other
    if other not in agent.tools:
        assert not allowed(schema, turn)


@examples(60)
@given(tools_with_calls(), texts, names)
def test_a_step_of_react(given_tools: Any, thought: str, other: str) -> None:
    tools, calls = given_tools
    agent = ReAct("question -> answer", tools)
    schema = answer_schema(agent.react.signature, agent.tools.values())
    for name, args in [*calls, ("finish", {})]:
        step = {"next_thought": thought, "next_tool_name": name, "next_tool_args": args}
        assert allowed(schema, step)
        assert step == JSONAdapter().parse(agent.react.signature, json.dumps(step))
        if other not in agent.tools:
            assert not allowed(schema, {**step, "next_tool_name": other})
