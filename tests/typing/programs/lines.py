"""The lines of DSPy, and the package under its other names: names with their whole types."""

from __future__ import annotations

from typing_extensions import assert_type

import reasonact
import reasonact as dspy
import reasonact.evaluate
import reasonact.testing
import reasonact.utils
import reasonact.v34
import reasonact.v35
import reasonact.v36
from reasonact import ReActV2, Tool
from reasonact.agents.react import ReAct as TrajectoryAgent
from reasonact.agents.react_v2 import ReActV2 as StructuredAgent
from reasonact.v35 import ReAct as Renamed

assert_type(dspy.ReAct, type[TrajectoryAgent])
assert_type(dspy.ReActV2, type[StructuredAgent])
assert_type(reasonact.v34.ReAct("a -> b", []), TrajectoryAgent)
assert_type(reasonact.v34.ReActV2("a -> b", []), StructuredAgent)
assert_type(reasonact.v35.ReAct("a -> b", []), StructuredAgent)
assert_type(reasonact.v36.ReAct("a -> b", []), StructuredAgent)
assert_type(Renamed("a -> b", []), StructuredAgent)
assert_type(ReActV2("a -> b", [Tool(len)]), StructuredAgent)
assert_type(reasonact.v35.TrajectoryReAct("a -> b", []), TrajectoryAgent)

old_name: StructuredAgent = reasonact.v35.ReActV2("a -> b", [])

for line in (reasonact.v34.Predict, reasonact.v35.Predict, reasonact.v36.Predict):
    assert_type(line("a -> b")(a=1), dspy.Prediction)

assert_type(reasonact.evaluate.Evaluate, type[dspy.Evaluate])
assert_type(reasonact.utils.DummyLM, type[reasonact.testing.DummyLM])

dspy.MIPROv2  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
reasonact.v34.BestOfN  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
dspy.ReactV2  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
