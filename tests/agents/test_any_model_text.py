"""Whatever a model writes, a run ends in a documented way; whatever a history is, it can be shortened."""

from __future__ import annotations

import json
from typing import Any

from agent_scripts import look_up
from hypothesis import given
from hypothesis import strategies as st

import reasonact
from budget import examples
from reasonact.testing import ScriptedLM

FIELDS = ("next_thought", "next_tool_name", "next_tool_args", "tool_calls", "reasoning", "answer", "completed")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["look_up", "finish", "submit", "Look_Up()", "nothing", ""]) | st.text(max_size=9)
some_calls = st.lists(st.fixed_dictionaries({"name": names, "args": json_values}), max_size=3)
values = (
    st.text(max_size=30) | json_values.map(json.dumps) | names | some_calls.map(lambda c: json.dumps({"tool_calls": c}))
)
marked = st.lists(st.tuples(st.sampled_from(FIELDS), values), max_size=5).map(
    lambda parts: "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in parts)
)
arguments = st.text(max_size=20) | json_values.map(json.dumps)
native_calls = st.lists(st.tuples(st.none() | st.text(max_size=3), names, arguments), max_size=3)
replies = st.text(max_size=60) | marked | st.tuples(st.none() | st.text(max_size=20), native_calls)

REASONS = {
    *("finish", "max_iters", "bad_steps"),
    *("submit", "forced_submit", "max_iters", "empty_tool_calls", "parse_error"),
}


@examples(150)
@given(st.lists(replies, min_size=1, max_size=8), st.booleans(), st.sampled_from([0, 2]))
def test_react_v2_ends_in_a_documented_way(script: list[Any], is_native: bool, bad_steps: int) -> None:
    agent = reasonact.ReActV2("question -> answer", [look_up], max_iters=4, max_bad_steps=bad_steps)
    turns = iter(script * 10)  # four turns and the last request, each asked for twice
    lm = ScriptedLM(lambda messages, options: next(turns), function_calling=is_native)
    adapter = reasonact.ChatAdapter(use_native_function_calling=is_native)
    with reasonact.context(lm=lm, adapter=adapter):
        prediction = agent(question="?")
        again = ScriptedLM([prediction_text(is_native)], function_calling=is_native)
        with reasonact.context(lm=again):
            agent(question="on?", history=prediction.history.model_dump_json())
            stored = again.requests[0].messages
        again = ScriptedLM([prediction_text(is_native)], function_calling=is_native)
        with reasonact.context(lm=again):
            agent(question="on?", history=prediction.history)
    assert prediction.termination_reason in REASONS
    assert json.dumps(again.requests[0].messages) == json.dumps(stored)
    ids = [
        call.id
        for event in prediction.history.messages
        if "tool_calls" in event
        for call in event["tool_calls"].tool_calls
    ]
    assert len(set(ids)) == len(ids)


def prediction_text(is_native: bool) -> Any:
    """A reply that submits."""
    if is_native:
        return ("", [("end", "submit", {"answer": "1"})])
    call = json.dumps({"tool_calls": [{"name": "submit", "args": {"answer": "1"}}]})
    return f"[[ ## next_thought ## ]]\n\n\n[[ ## tool_calls ## ]]\n{call}\n\n[[ ## completed ## ]]"


@examples(150)
@given(st.lists(replies, min_size=1, max_size=8))
def test_react_ends_in_a_documented_way(script: list[Any]) -> None:
    agent = reasonact.ReAct("question -> answer", [look_up], max_iters=4)
    turns = iter(script * 10)  # four turns and the last request, each asked for twice

    def model(messages: list[Any], options: dict[str, Any]) -> Any:
        extracting = "next_tool_name" not in messages[0]["content"]
        return "[[ ## reasoning ## ]]\nx\n\n[[ ## answer ## ]]\n1" if extracting else next(turns)

    with reasonact.context(lm=ScriptedLM(model)):
        prediction = agent(question="?")
    assert prediction.termination_reason in REASONS
    numbers = range(len(prediction.trajectory) // 4)
    keys = [f"{key}_{n}" for n in numbers for key in ("thought", "tool_name", "tool_args", "observation")]
    assert keys == list(prediction.trajectory)
    assert all(isinstance(prediction.trajectory[f"tool_args_{n}"], dict) for n in numbers)


events = st.lists(
    st.fixed_dictionaries(
        {}, optional={"question": st.text(max_size=3), "next_thought": st.text(max_size=9), "tool_calls": some_calls}
    )
    .filter(bool)
    .map(lambda event: {name: event[name] for name in ("question", "next_thought", "tool_calls") if name in event})
    .map(lambda event: {**event, "tool_calls": called(event["tool_calls"])} if "tool_calls" in event else event),
    max_size=12,
)


def called(made: list[dict[str, Any]]) -> reasonact.ToolCalls:
    calls = [{"id": str(n), "name": item["name"] or "x", "args": {}} for n, item in enumerate(made)]
    tool_calls = reasonact.ToolCalls.from_dict_list(calls)
    results = reasonact.ToolCallResults.from_tool_calls_and_values(tool_calls, ["v"] * len(calls))
    return tool_calls.model_copy(update={"tool_call_results": results})


@examples(200)
@given(events)
def test_the_ready_policy_ends_and_keeps_calls_with_results_and_the_inputs(messages: list[dict[str, Any]]) -> None:
    history: reasonact.History | None = reasonact.History(messages=messages)
    inputs = [event["question"] for event in messages if "question" in event]
    for _ in range(100):
        assert history is not None
        shorter = reasonact.drop_oldest_turns(history)
        if shorter is None:
            break
        kept = [event["question"] for event in shorter.messages if "question" in event]
        assert kept[:1] == inputs[:1]
        assert kept[-1:] == inputs[-1:]
        assert all(
            len(event["tool_calls"].tool_calls) == len(event["tool_calls"].tool_call_results.tool_call_results)
            for event in shorter.messages
            if "tool_calls" in event
        )
        assert sum(map(len, shorter.messages)) < sum(map(len, history.messages))
        history = shorter
    else:
        raise AssertionError("the policy does not end")
