"""Turns of ReActV2 in text mode that carry calls and no thought, or one that is no text."""

from __future__ import annotations

import json

import pytest
from agent_scripts import look_up

import reasonact
from reasonact.testing import ScriptedLM

SUBMIT = '[{"name": "submit", "args": {"answer": "a"}}]'


def thoughts(reply: str, adapter: reasonact.Adapter, requests: int = 1) -> list[str | None]:
    lm = ScriptedLM([reply] * requests)
    with reasonact.context(lm=lm, adapter=adapter):
        prediction = reasonact.ReActV2("question -> answer", [look_up])(question="q")
    assert ("a", "submit") == (prediction.answer, prediction.termination_reason)
    return [event.get("next_thought") for event in prediction.history.messages]


@pytest.mark.parametrize(
    ("adapter", "reply"),
    [
        (reasonact.ChatAdapter(), f"[[ ## tool_calls ## ]]\n{SUBMIT}\n\n[[ ## completed ## ]]"),
        (reasonact.JSONAdapter(), f'{{"tool_calls": {SUBMIT}}}'),
        (reasonact.JSONAdapter(), f'{{"next_thought": null, "tool_calls": {SUBMIT}}}'),
        (reasonact.XMLAdapter(), f"<tool_calls>{SUBMIT}</tool_calls>"),
    ],
)
def test_calls_without_a_thought_are_run(adapter: reasonact.Adapter, reply: str) -> None:
    assert [None] == thoughts(reply, adapter)


def test_a_bare_json_object_where_markers_were_asked_for_is_read_on_the_second_try() -> None:
    assert [None] == thoughts(f'{{"tool_calls": {SUBMIT}}}', reasonact.ChatAdapter(), requests=2)


@pytest.mark.parametrize(
    ("adapter", "reply"),
    [
        (reasonact.ChatAdapter(), f"I will end here.\n\n[[ ## tool_calls ## ]]\n{SUBMIT}\n\n[[ ## completed ## ]]"),
        (reasonact.ChatAdapter(), f"<think>hm</think>I will end here.\n```\n[[ ## tool_calls ## ]]\n{SUBMIT}"),
        (reasonact.XMLAdapter(), f"I will end here.\n<tool_calls>{SUBMIT}</tool_calls>"),
    ],
)
def test_prose_before_the_marker_of_the_calls_is_the_thought(adapter: reasonact.Adapter, reply: str) -> None:
    assert ["I will end here."] == thoughts(reply, adapter)


@pytest.mark.parametrize("thought", ['["a", 1, null]', "true", '{"plan": ["a"]}'])
def test_a_thought_that_is_no_text_is_kept_as_the_json_it_was(thought: str) -> None:
    reply = f'{{"next_thought": {thought}, "tool_calls": {SUBMIT}}}'
    assert [thought] == thoughts(reply, reasonact.JSONAdapter())


def test_a_json_reply_that_holds_no_calls_is_kept_as_it_was_written() -> None:
    reply = json.dumps({"next_thought": {"sure": True}})
    with reasonact.context(lm=ScriptedLM([reply] * 4), adapter=reasonact.JSONAdapter()):
        prediction = reasonact.ReActV2("question -> answer", [look_up])(question="q")
    assert [reply, reply] == [event["next_thought"] for event in prediction.history.messages]


def test_a_thought_of_react_that_is_no_text_is_kept_as_the_json_it_was() -> None:
    reply = '{"next_thought": ["a", true], "next_tool_args": {}}'
    agent = reasonact.ReAct("question -> answer", [look_up], max_bad_steps=1)
    lm = ScriptedLM([reply, reply, '{"reasoning": "r", "answer": "a"}'])
    with reasonact.context(lm=lm, adapter=reasonact.JSONAdapter()):
        prediction = agent(question="q")
    assert '["a", true]' == prediction.trajectory["thought_0"]
