"""Say yourself what is left out when a run outgrows the model's context window.

python examples/own_truncation.py

Without an override the oldest step goes first. This agent keeps the plan that its first step made, and drops
the oldest of the others. What it drops is gone from the model's view, and from the view alone:
the history keeps every step.
"""

from __future__ import annotations

import argparse
from typing import Any

import reasonact as dspy
from reasonact.testing import ScriptedLM

STEP_KEYS = 4  # thought_i, tool_name_i, tool_args_i, observation_i


class Planner(dspy.ReAct):
    def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        keys = list(trajectory)
        plan, others = keys[:STEP_KEYS], keys[STEP_KEYS:]
        if len(others) <= STEP_KEYS:
            raise ValueError("only the plan and one step are left")
        return {key: trajectory[key] for key in plan + others[STEP_KEYS:]}


def make_plan(goal: str) -> str:
    """Make a plan for a goal."""
    return "PLAN: read chapters 1 to 4, then tell the story"


def read_chapter(number: int) -> str:
    """Read a chapter of the book."""
    return f"CHAPTER {number}: " + "and so on, " * 400


def written(thought: str, name: str, args: str) -> str:
    """A step as a model writes it in text."""
    return (
        f"[[ ## next_thought ## ]]\n{thought}\n[[ ## next_tool_name ## ]]\n{name}\n[[ ## next_tool_args ## ]]\n{args}"
    )


class SmallWindow:
    """What the model says where none is named: it reads four chapters, and takes 12,000 characters at a time."""

    def __init__(self) -> None:
        self.steps = iter(
            [
                written("Plan first.", "make_plan", '{"goal": "the story"}'),
                *[written("On.", "read_chapter", f'{{"number": {number}}}') for number in range(1, 5)],
                written("That is all.", "finish", "{}"),
            ]
        )

    def __call__(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Any:
        shown = str(messages[-1]["content"])
        chapters = [number for number in range(1, 5) if f"CHAPTER {number}" in shown]
        fits = len(shown) <= 12_000
        plan = "the plan and " if "PLAN" in shown else ""
        print(f"{len(shown):6,} characters: {plan}chapters {chapters}" + ("" if fits else ", too long"))
        if not fits:
            return dspy.ContextWindowExceededError(message="too long")
        summary = (
            f"[[ ## reasoning ## ]]\nAs planned.\n[[ ## story ## ]]\nIt ends in chapter {max(chapters, default=0)}."
        )
        return next(self.steps, summary)


def main() -> None:
    parser = argparse.ArgumentParser(description="Let an agent read more than its model can hold.")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it a script plays")
    options = parser.parse_args()

    lm = dspy.LM(options.model) if options.model else ScriptedLM(SmallWindow())
    dspy.configure(lm=lm)
    agent = Planner("task -> story", tools=[make_plan, read_chapter], max_iters=10)
    result = agent(task="Read the four chapters and tell the story.")
    print("story:", result.story)
    print("steps in the history:", len(result.history.messages))


if __name__ == "__main__":
    main()
