"""Trajectories to histories and back, and the view of a trajectory on the structured agent's results."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reasonact as dspy
from reasonact.testing import ScriptedLM

RUN = {
    "thought_0": "look it up",
    "tool_name_0": "search",
    "tool_args_0": {"query": "x"},
    "observation_0": ["a", "b"],
    "thought_1": "done",
    "tool_name_1": "finish",
    "tool_args_1": {},
    "observation_1": "Completed.",
}


def search(query: str) -> str:
    """Search."""
    if query == "boom":
        raise ValueError("no such thing")
    return f"found {query}"


def structured(*replies, **inputs):
    lm = ScriptedLM(list(replies), function_calling=True)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True)):
        return dspy.ReActV2("question -> answer", tools=[search])(question="q", **inputs)


def test_a_trajectory_becomes_one_event_for_each_step_with_the_inputs_first():
    history = dspy.history_from_trajectory(RUN, {"question": "q"})
    first, second = history.messages
    assert ["question", "next_thought", "tool_calls"] == list(first)
    assert ("q", "look it up") == (first["question"], first["next_thought"])
    assert ["next_thought", "tool_calls"] == list(second)
    (call,) = first["tool_calls"].tool_calls
    assert ("call_0_0", "search", {"query": "x"}) == (call.id, call.name, call.args)
    (result,) = first["tool_calls"].tool_call_results.tool_call_results
    assert ("call_0_0", "search", ["a", "b"], False) == (result.call_id, result.name, result.value, result.is_error)


def test_a_run_of_one_call_a_turn_comes_back_as_it_was():
    assert RUN == dspy.trajectory_from_history(dspy.history_from_trajectory(RUN, {"question": "q"}))
    assert list(RUN) == list(dspy.trajectory_from_history(dspy.history_from_trajectory(RUN, {})))


steps = st.fixed_dictionaries(
    {
        "thought": st.text(),
        "tool_name": st.text(),
        "tool_args": st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.none())),
        "observation": st.one_of(st.text(), st.integers(), st.lists(st.integers()), st.none()),
    }
)


@given(st.lists(steps, max_size=5))
def test_any_run_comes_back_as_it_was(run):
    for step in run:
        if not step["tool_name"]:
            step["tool_args"] = {}  # a step that names no tool has no arguments
    trajectory = {f"{part}_{number}": value for number, step in enumerate(run) for part, value in step.items()}
    history = dspy.history_from_trajectory(trajectory, {"question": "q"})
    assert trajectory == dspy.trajectory_from_history(history)
    stored = dspy.History.from_any(history.model_dump_json())
    assert trajectory == dspy.trajectory_from_history(stored)


def test_a_shortened_trajectory_is_numbered_from_zero():
    shortened = {key: value for key, value in RUN.items() if key.endswith("1")}
    history = dspy.history_from_trajectory(shortened, {})
    assert {"call_1_0"} == history.call_ids
    assert {key.replace("1", "0") for key in shortened} == set(dspy.trajectory_from_history(history))


def test_a_failed_tool_of_dspy_is_an_error_result():
    text = "Execution error in search: \nTraceback ..."
    history = dspy.history_from_trajectory({**RUN, "observation_0": text}, {})
    assert history.messages[0]["tool_calls"].tool_call_results.tool_call_results[0].is_error


def test_a_step_without_an_observation_is_a_call_without_a_result():
    pending = {key: value for key, value in RUN.items() if key != "observation_1"}
    history = dspy.history_from_trajectory(pending, {})
    assert None is history.messages[1]["tool_calls"].tool_call_results
    assert pending == dspy.trajectory_from_history(history)


def test_an_empty_trajectory_says_the_inputs_alone():
    assert [{"question": "q"}] == dspy.history_from_trajectory({}, {"question": "q"}).messages
    assert [] == dspy.history_from_trajectory({}).messages
    assert {} == dspy.trajectory_from_history({"messages": [{"question": "q", "answer": "a"}]})


def test_json_text_is_read_in_both_directions():
    history = dspy.history_from_trajectory(json.dumps(RUN), {"question": "q"})
    assert RUN == dspy.trajectory_from_history(history.model_dump_json())


def test_a_dump_of_dspy_is_read():
    # As DSPy 3.4.1 dumps an event: calls without ids, results with them.
    dump = {
        "messages": [
            {
                "question": "q",
                "next_thought": "t",
                "tool_calls": {
                    "tool_calls": [{"name": "search", "args": {"query": "x"}}],
                    "tool_call_results": {
                        "tool_call_results": [{"call_id": "c", "name": "search", "value": "v", "is_error": False}]
                    },
                },
            }
        ]
    }
    expected = {
        "thought_0": "t",
        "tool_name_0": "search",
        "tool_args_0": {"query": "x"},
        "observation_0": "v",
    }
    assert expected == dspy.trajectory_from_history(dump)


@pytest.mark.parametrize(
    ("trajectory", "inputs", "said"),
    [
        ({"summary": "s"}, {}, "key 'summary'"),
        ({"thought_x": "s"}, {}, "key 'thought_x'"),
        ({**RUN, "tool_args_0": "x"}, {}, "tool_args_0 must be a dict of arguments, found str"),
        ([], {}, "a trajectory is a dict, found list"),
        ("{", {}, "must be its JSON"),
        (RUN, {"tool_calls": 1}, "no input can have it"),
    ],
)
def test_what_is_no_trajectory_is_refused(trajectory, inputs, said):
    with pytest.raises(ValueError) as refused:
        dspy.history_from_trajectory(trajectory, inputs)
    assert said in str(refused.value)


def test_several_calls_of_a_turn_are_numbered_on():
    result = structured(
        ("both", [("a", "search", {"query": "x"}), ("b", "search", {"query": "boom"})]),
        (None, [("c", "submit", {"answer": "42"})]),
    )
    steps = dspy.trajectory_from_history(result.history)
    assert ["both", "", ""] == [steps[f"thought_{n}"] for n in range(3)]
    assert ["search", "search", "submit"] == [steps[f"tool_name_{n}"] for n in range(3)]
    assert "found x" == steps["observation_0"]
    assert "no such thing" in steps["observation_1"]
    assert {"answer": "42"} == steps["observation_2"]


def test_a_trajectory_of_react_goes_on_in_the_structured_agent():
    search_step = (
        "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nsearch\n\n"
        '[[ ## next_tool_args ## ]]\n{"query": "x"}'
    )
    replies = [
        search_step,
        "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nfinish\n\n[[ ## next_tool_args ## ]]\n{}",
        "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\n1",
    ]
    with dspy.context(lm=ScriptedLM(replies)):
        before = dspy.ReAct("question -> answer", tools=[search])(question="first")
    history = dspy.history_from_trajectory(before.trajectory, {"question": "first"})
    result = structured((None, [("c", "submit", {"answer": "42"})]), history=history)
    assert ["first", "q"] == [event["question"] for event in result.history.messages if "question" in event]
    assert before.trajectory == dspy.trajectory_from_history(before.history)


def test_the_view_on_a_result_warns_at_the_reader_s_line():
    result = structured(("t", [("a", "search", {"query": "x"})]), (None, [("c", "submit", {"answer": "42"})]))
    with pytest.warns(DeprecationWarning, match="trajectory_from_history") as caught:
        trajectory = result.trajectory
    assert [__file__] == [warning.filename for warning in caught]
    assert dspy.trajectory_from_history(result.history) == trajectory
    assert "trajectory" not in result and "trajectory" not in result.keys()


def test_the_view_shows_the_last_run_of_a_conversation():
    first = structured(("t", [("a", "search", {"query": "x"})]), (None, [("c", "submit", {"answer": "1"})]))
    second = structured((None, [("d", "submit", {"answer": "2"})]), history=first.history)
    with pytest.warns(DeprecationWarning):
        assert {"answer": "2"} == second.trajectory["observation_0"]
    assert 3 == sum(key.startswith("thought_") for key in dspy.trajectory_from_history(second.history))


def test_the_view_of_a_text_answer_shows_the_turns_before_it():
    lm = ScriptedLM([(None, [("a", "search", {"query": "x"})]), "plainly 42", "plainly 42"], function_calling=True)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True)):
        agent = dspy.ReActV2("question -> answer", tools=[search], accept_text_answer=True)
        result = agent(question="q")
    assert "text_answer" == result.termination_reason
    with pytest.warns(DeprecationWarning):
        assert "found x" == result.trajectory["observation_0"]


def test_a_stored_trajectory_is_read_without_a_warning():
    replies = [
        "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nfinish\n\n[[ ## next_tool_args ## ]]\n{}",
        "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\n1",
    ]
    with dspy.context(lm=ScriptedLM(replies)):
        result = dspy.ReAct("question -> answer", tools=[search])(question="q")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Completed." == result.trajectory["observation_0"]
    assert "Completed." == result["trajectory"]["observation_0"]
