"""One process of a program that pauses for a person: `paused_program.py WORK AGENT HOW [DECISION]`.

Without a decision it starts a run, and stores the state of its pause; with one it goes on
from the stored state. Each call of the tool appends a line to a file.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agent_scripts import extracted, native, step, submit, turn

import reasonact
from reasonact.testing import ScriptedLM

WORK, AGENT, HOW = Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def note(line: str) -> str:
    """Write a line."""
    with (WORK / "effects").open("a") as file:
        file.write(f"{line}\n")
    return f"wrote {line}"


@reasonact.tool(name="delete", require_confirmation=True)
def delete(path: str) -> str:
    """Delete a path."""
    return note(f"deleted {path}")


def model(messages: list[Any], options: dict[str, Any]) -> Any:
    """What the model says, by how many of its turns the request shows."""
    if AGENT == "react":
        if "next_tool_name" not in messages[0]["content"]:
            return extracted(answer=str(messages[1]["content"].count("[[ ## thought_")))
        steps = [
            step("a", "note", line="first"),
            step("b", "delete", path="/x"),
            step("c", "delete", path="/y"),
            step("d", "user_clarification", question="Which one?"),
            step("e", "finish"),
        ]
        return steps[messages[1]["content"].count("[[ ## thought_")]
    made = [
        ("note", {"line": "first"}),
        ("delete", {"path": "/x"}),
        ("delete", {"path": "/y"}),
        ("user_clarification", {"question": "Which one?"}),
        ("note", {"line": "last"}),
    ]
    done = any("wrote last" in str(m["content"]) for m in messages)
    if AGENT == "native":
        calls = [(f"id{i}", *item) for i, item in enumerate(made)]
        return native(None, ("s", "submit", {"answer": "4"})) if done else native("a", *calls)
    return submit(answer="4") if done else turn("a", *made)


def main(decision: Any) -> dict[str, Any]:
    """Start or go on; tell what came of it."""
    make = reasonact.ReAct if AGENT == "react" else reasonact.ReActV2
    agent = make("question -> answer", [note, delete], ask_user=True)
    adapter = reasonact.ChatAdapter(use_native_function_calling=AGENT == "native")
    stored = WORK / "state.json"
    with reasonact.context(lm=ScriptedLM(model, function_calling=AGENT == "native"), adapter=adapter):
        try:
            if decision is None:
                prediction = asyncio.run(agent.acall(question="?")) if HOW == "async" else agent(question="?")
            else:
                state = reasonact.RunState.from_json(stored.read_text())
                if HOW == "async":
                    prediction = asyncio.run(agent.aresume(decision, state))
                else:
                    prediction = agent.resume(decision, state)
        except reasonact.ConfirmationRequired as pause:
            stored.write_text(pause.state.to_json())
            return {
                "asks": pause.question,
                "tool": pause.tool_call.name,
                "args": dict(pause.tool_call.args),
                "id": pause.confirmation_id,
                "waiting": list(pause.state.confirmations),
            }
    values = [
        r.value
        for e in prediction.history.messages
        if "tool_calls" in e
        for r in e["tool_calls"].tool_call_results.tool_call_results
    ]
    return {"answer": prediction.answer, "results": values}


if __name__ == "__main__":
    words = {"Approve": reasonact.Approve, "Reject": reasonact.Reject, "Answer": reasonact.Answer}
    print(json.dumps(main(eval(sys.argv[4], words) if len(sys.argv) > 4 else None)))
