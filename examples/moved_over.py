"""A program that was written for DSPy. The import is all that has changed.

python examples/moved_over.py

What stands below the import runs on DSPy 3.4 as it is: a module with an agent in it, a signature class,
the trajectory, a saved program.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import reasonact as dspy  # it was: import dspy
from reasonact.utils import DummyLM  # it was: from dspy.utils import DummyLM


class Diagnosis(dspy.Signature):
    """Say what is wrong with a machine, from its log."""

    machine: str = dspy.InputField()
    fault: str = dspy.OutputField(desc="in a few words")
    is_urgent: bool = dspy.OutputField()


def read_log(machine: str, lines: int = 10) -> str:
    """Read the end of a machine's log."""
    return f"{machine}: oil pressure 0.2 bar, {lines} lines in all"


class Workshop(dspy.Module):
    def __init__(self) -> None:
        super().__init__()
        self.agent = dspy.ReAct(Diagnosis, tools=[read_log], max_iters=5)

    def forward(self, machine: str) -> Any:
        found = self.agent(machine=machine)
        logs = [value for key, value in found.trajectory.items() if key.startswith("observation_")]
        return dspy.Prediction(fault=found.fault, is_urgent=found.is_urgent, evidence=logs[0])


ANSWERS: list[dict[str, Any]] = [  # what the model says where none is named
    {"next_thought": "Look.", "next_tool_name": "read_log", "next_tool_args": {"machine": "press 3"}},
    {"next_thought": "Known.", "next_tool_name": "finish", "next_tool_args": {}},
    {"reasoning": "The pressure is far too low.", "fault": "loss of oil", "is_urgent": True},
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Diagnose a machine.")
    parser.add_argument("machine", nargs="?", default="press 3")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it a script plays")
    options = parser.parse_args()

    dspy.configure(lm=dspy.LM(options.model) if options.model else DummyLM(ANSWERS))
    workshop = Workshop()
    with tempfile.TemporaryDirectory() as folder:  # a state that DSPy has saved loads as well
        workshop.save(Path(folder) / "workshop.json")
        workshop.load(Path(folder) / "workshop.json")
    result = workshop(machine=options.machine)
    print("fault:", result.fault)
    print("urgent:", result.is_urgent)
    print("evidence:", result.evidence)


if __name__ == "__main__":
    main()
