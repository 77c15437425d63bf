"""Runs of real agents as the page and the terminal show them: continued, mended, failed, answered from a cache."""

from __future__ import annotations

import html
import io
from dataclasses import replace
from typing import Any

import pytest
from made_runs import made_run

import reasonact
from reasonact.testing import ScriptedLM
from reasonact.view.page import page
from reasonact.view.terminal import show

SUBMIT = (None, [("1", "submit", {"answer": "blue"})])
AS_JSON = '{"next_thought": "t", "tool_calls": [{"name": "submit", "args": {"answer": "blue"}}]}'


def run(replies: list[Any], native: bool = True, **inputs: Any) -> Any:
    agent = reasonact.ReActV2("question -> answer", tools=[])
    adapter = reasonact.ChatAdapter(use_native_function_calling=native)
    with reasonact.context(lm=ScriptedLM(replies, function_calling=native), adapter=adapter):
        return agent(question="q", **inputs)


def in_terminal(record: Any) -> str:
    out = io.StringIO()
    show(record, out, 100)
    return out.getvalue()


def test_a_run_that_goes_on_from_a_history_says_so() -> None:
    first = run([SUBMIT])
    record = run([SUBMIT], history=first.history).run.record
    assert "The run goes on from a history of 1 event." in page(record)
    assert "1 earlier event, not shown" in in_terminal(record)


def test_a_second_try_in_another_form_is_told() -> None:
    assert "asked once more as JSON" in page(run(["nothing of use", AS_JSON], native=False).run.record)


def test_a_request_that_failed_is_told_in_both_views() -> None:
    with pytest.raises(reasonact.LMServerError) as caught:
        run([reasonact.LMServerError("down")])
    record = caught.value.run.record  # type: ignore[attr-defined]
    assert "failed: LMServerError" in page(record)
    assert "failed: LMServerError" in in_terminal(record)


def test_an_answer_out_of_a_cache_is_told() -> None:
    record = made_run()
    turn = record.turns[0]
    (asked,) = turn.requests
    cached = replace(asked, calls=tuple(replace(note, from_cache=True) for note in asked.calls))
    turns = (replace(turn, requests=(cached,)), *record.turns[1:])
    assert 1 == page(replace(record, turns=turns)).count("answered from a cache")


def test_a_run_of_the_trajectory_agent_shows_its_reasoning() -> None:
    step = "[[ ## next_thought ## ]]\nt\n[[ ## next_tool_name ## ]]\nfinish\n[[ ## next_tool_args ## ]]\n{}"
    extract = "[[ ## reasoning ## ]]\nso it is\n[[ ## answer ## ]]\nblue"
    with reasonact.context(lm=ScriptedLM([step, extract])):
        record = reasonact.ReAct("question -> answer", tools=[])(question="q").run.record
    assert "reasoning" in in_terminal(record)
    assert "so it is" in in_terminal(record)


def test_a_notebook_gets_the_page_in_a_frame() -> None:
    prediction = run([SUBMIT])
    framed = prediction.run._repr_html_()
    assert framed.startswith("<iframe")
    assert html.escape(page(prediction.run.record))[:60] in framed
    assert framed == prediction._repr_html_()
