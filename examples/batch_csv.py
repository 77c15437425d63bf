"""Answer every row of a CSV file, many at once; a batch that was stopped goes on where it was.

python examples/batch_csv.py examples/questions.csv answers.csv

Finished rows are written to answers.csv.done.jsonl at once. Start the same command again, after Ctrl-C
or a power cut, and only the missing rows are asked.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import Any

import reasonact as dspy
from reasonact.testing import ScriptedLM

INHABITANTS = {"Brest": 139_926, "Quimper": 64_385, "Roscoff": 3_398}


def population(city: str) -> int:
    """Inhabitants of a city in Brittany."""
    return INHABITANTS[city]


def stand_in(messages: list[dict[str, Any]], options: dict[str, Any]) -> Any:
    """What the model says where none is named."""
    if messages[-1]["role"] == "tool":
        found = str(messages[-1]["content"])
        return None, [("b", "submit", {"answer": found if found.isdecimal() else "unknown"})]
    city = re.search(r"live in (\w+)", str(messages[-1]["content"]))
    return None, [("a", "population", {"city": city[1] if city else ""})]


def main() -> None:
    parser = argparse.ArgumentParser(description="Answer the questions of a CSV file.")
    parser.add_argument("source", nargs="?", type=Path, default=Path(__file__).with_name("questions.csv"))
    parser.add_argument("target", nargs="?", type=Path, default=Path("answers.csv"))
    parser.add_argument("--threads", type=int, default=8, help="how many rows at once")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it rules play")
    options = parser.parse_args()

    lm = dspy.LM(options.model) if options.model else ScriptedLM(stand_in, function_calling=True)
    dspy.configure(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True))
    agent = dspy.ReActV2("question -> answer", tools=[population], max_iters=5)

    with options.source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    results, _, errors = agent.batch(
        [{"question": row["question"]} for row in rows],
        num_threads=options.threads,
        return_failed_examples=True,
        resume_file=f"{options.target}.done.jsonl",
    )
    with options.target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "answer"])
        writer.writeheader()
        for row, result in zip(rows, results, strict=True):
            writer.writerow({**row, "answer": "" if result is None else result.get("answer", "")})
    print(f"{len(rows)} rows, {len(errors)} failed, {len(lm.history)} model calls -> {options.target}")


if __name__ == "__main__":
    main()
