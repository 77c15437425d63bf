"""Agents: what a call, an awaited call, a resumed run and a stream give."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from typing import Any

from typing_extensions import assert_type

import reasonact as dspy
from reasonact.agents.result import AgentPrediction
from reasonact.agents.usage import RunUsage
from reasonact.streaming import Event, OutputText, RunFinished
from reasonact.view.recorded_run import RecordedRun


class QA(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc="one word")


def search(query: str, limit: int = 3) -> list[str]:
    return [query] * limit


# An agent is of its class, and its arguments are checked.
structured = dspy.ReActV2(QA, tools=[search, dspy.Tool(search, name="again")], max_iters=5)
assert_type(structured, dspy.ReActV2)
trajectory = dspy.ReAct("question -> answer: int", [search])
assert_type(trajectory, dspy.ReAct)
dspy.ReAct(dspy.Signature("question -> answer"), [])
dspy.ReAct(dspy.make_signature("question -> answer"), [])
dspy.ReActV2(QA)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
dspy.ReActV2(QA, tools=["search"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
dspy.ReActV2(QA, tools=[], sync_tools="forked")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
dspy.ReAct(QA, tools=[], strict=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# What a run gives: outputs by name, and the run itself in types of its own.
result = structured(question="q")
assert_type(result, AgentPrediction)
assert_type(result.answer, Any)
assert_type(result["answer"], Any)
assert_type(result.history, dspy.History)
assert_type(result.termination_reason, str)
assert_type(result.usage, RunUsage)
assert_type(result.usage.cost_usd, float | None)
assert_type(result.run, RecordedRun)
assert_type(result.show(), None)
assert_type(result.completions, dspy.Completions | None)
assert_type(trajectory(question="q").trajectory, dict[str, Any])
result.save_run("run.json")
result.save_run(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# A paused run.
try:
    structured(question="q")
except dspy.ConfirmationRequired as paused:
    assert_type(structured.resume(dspy.Approve(), paused.state), AgentPrediction)
    assert_type(dspy.respond_to_confirmation(paused.confirmation_id, approved=True), None)

assert_type(structured.tools, dict[str, dspy.Tool])
assert_type(structured.signature, type[dspy.Signature])
assert_type(structured.max_iters, int)
assert_type(structured.deepcopy(), dspy.ReActV2)


# The same from async code.
async def run() -> None:
    assert_type(await structured.acall(question="q"), AgentPrediction)
    assert_type(await structured.aresume(dspy.Reject()), AgentPrediction)
    assert_type(structured.astream(question="q"), AsyncIterator[Event])
    async for event in structured.astream(question="q", kinds=OutputText):
        if isinstance(event, RunFinished):
            assert_type(event.prediction, Any)
    async for chunk in structured.aexecute(stream=True, question="q"):
        assert_type(chunk, Any)
    assert_type(await structured.aexecute(question="q"), Any)
    await structured.aexecute(stream=True, question="q")  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]


assert_type(structured.stream(question="q"), Generator[Event, None, None])
for seen in structured.stream(question="q", fields="answer"):
    if isinstance(seen, OutputText):
        assert_type(seen.field, str)
