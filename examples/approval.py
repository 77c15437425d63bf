"""An agent asks before it deletes a file, and waits for the answer: also until tomorrow, in another process.

python examples/approval.py        asks on the terminal; "later" ends the process and keeps the run
python examples/approval.py        goes on with the run that was kept

A program with several readers of one state also records which decisions were used: see `claim` in docs/confirmation.md.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import reasonact as dspy
from reasonact.testing import ScriptedLM


@dspy.tool(require_confirmation=True)
def delete(path: str) -> str:
    """Delete a file."""
    print(f"(here {path} would be deleted)")
    return f"{path} is gone"


def stand_in(messages: list[dict[str, Any]], options: dict[str, Any]) -> Any:
    """What the model says where none is named: delete two files, then report."""
    done = [message["content"] for message in messages if message["role"] == "tool"]
    if not done:
        return "Both are old.", [("a", "delete", {"path": "/tmp/a"}), ("b", "delete", {"path": "/tmp/b"})]
    return None, [("c", "submit", {"report": "; ".join(done)})]


def decision(pause: dspy.ConfirmationRequired) -> Any:
    """What the person says; None where that is to wait."""
    try:
        said = input(f"{pause.question} [yes / no / later / a reason against it] ").strip()
    except EOFError:
        said = "later"
    if said.lower() in ("later", ""):
        return None
    return said.lower() if said.lower() in ("yes", "no") else dspy.Reject(said)


def keep(text: str, path: Path) -> None:
    """Write the run whole or not at all."""
    draft = path.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Clean up, with a person's word.")
    parser.add_argument("request", nargs="?", default="Remove my old temporary files.")
    parser.add_argument("--state", type=Path, default=Path("paused_run.json"), help="where a run that waits is kept")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it rules play")
    options = parser.parse_args()

    dspy.configure(
        lm=dspy.LM(options.model) if options.model else ScriptedLM(stand_in, function_calling=True),
        adapter=dspy.ChatAdapter(use_native_function_calling=True),
    )
    agent = dspy.ReActV2("request -> report", tools=[delete], max_iters=10)

    state = None
    if options.state.exists():
        state = dspy.RunState.from_json(options.state.read_text(encoding="utf-8"))
        print("going on with:", state.inputs["request"])
    answer: Any = None
    while True:
        try:
            result = agent(request=options.request) if state is None else agent.resume(answer, state)
            break
        except dspy.ConfirmationRequired as pause:
            state = pause.state
            keep(state.to_json(), options.state)
            answer = decision(pause)
            if answer is None:
                print(f"The run waits in {options.state}; start this program again to go on.")
                return
    options.state.unlink(missing_ok=True)
    print("report:", result.get("report", f"none ({result.termination_reason})"))


if __name__ == "__main__":
    main()
