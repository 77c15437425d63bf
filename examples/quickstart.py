"""An agent with one tool answers a question.

python examples/quickstart.py
python examples/quickstart.py --model openai/gpt-4o-mini "How many more people live in Brest than in Roscoff?"
"""

from __future__ import annotations

import argparse

import reasonact as dspy
from reasonact.testing import ScriptedLM

INHABITANTS = {"Brest": 139_926, "Quimper": 64_385, "Roscoff": 3_398}

SCRIPT = [  # what the model says where none is named
    ("I need both numbers.", [("a", "population", {"city": "Brest"}), ("b", "population", {"city": "Roscoff"})]),
    ("139,926 and 3,398 make 143,324.", [("c", "submit", {"total": 143_324})]),
]


def population(city: str) -> int:
    """Inhabitants of a city in Brittany."""
    return INHABITANTS[city]


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask an agent about cities in Brittany.")
    parser.add_argument("question", nargs="?", default="How many people live in Brest and Roscoff together?")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it a script plays")
    options = parser.parse_args()

    dspy.configure(
        lm=dspy.LM(options.model) if options.model else ScriptedLM(SCRIPT, function_calling=True),
        adapter=dspy.ChatAdapter(use_native_function_calling=True),
    )
    agent = dspy.ReActV2("question -> total: int", tools=[population], max_iters=10)
    result = agent(question=options.question)
    result.show()  # every turn: the thought, the calls, their results
    print("total:", result.total)


if __name__ == "__main__":
    main()
