"""Subclasses as programs write them: each override has the types that the base leaves room for."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import reasonact as dspy
from reasonact.agents.result import AgentPrediction
from reasonact.utils import BaseCallback


class Keeps(dspy.ReAct):
    """The override that most programs have."""

    def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        kept = super().truncate_trajectory(trajectory)
        assert_type(kept, dict[str, Any])
        return kept


class Forgets(dspy.ReAct):
    def truncate_trajectory(self, trajectory: dict[str, Any]) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        trajectory.clear()


class Shortens(dspy.ReActV2):
    def truncate_history(self, history: dspy.History) -> dspy.History | None:
        return dspy.drop_oldest_turns(history)


class Reports(dspy.ReActV2):
    """An agent with a constructor and a run of its own."""

    def __init__(self, name: str) -> None:
        super().__init__("question -> answer", tools=[])
        self.name = name

    def forward(self, **inputs: Any) -> dspy.Prediction:
        made = super().forward(**inputs)
        assert_type(made, Any)
        return dspy.Prediction(answer=made.answer)


assert_type(Keeps("question -> answer", [])(question="q"), AgentPrediction)
assert_type(Reports("r"), Reports)
Reports()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


class Echo(dspy.BaseLM):
    """A model of a program's own."""

    def forward(
        self, prompt: str | None = None, messages: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> list[str]:
        return [prompt or ""]

    @property
    def supports_function_calling(self) -> bool:
        return True


assert_type(Echo("echo")("hi"), list[Any])


class Bare(dspy.ChatAdapter):
    """An adapter with DSPy's hooks replaced."""

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        return [{"role": "user", "content": str(inputs)}, *super().format(signature, demos, inputs)]

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        return dict.fromkeys(signature.output_fields, completion)


class Watches(BaseCallback):
    def on_tool_end(self, call_id: str, outputs: Any | None, exception: Exception | None = None) -> None:
        print(call_id, outputs, exception)


dspy.configure(callbacks=[Watches()], adapter=Bare(callbacks=[Watches()]))


class Stars(dspy.Type):
    """A type of a program's own."""

    count: int

    def format(self) -> str:
        return "*" * self.count


assert_type(Stars(count=3).count, int)
