"""The demonstration on a real model, on this machine: both agents, every step held to a schema."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, TextIO

from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.demo.local_server import MODEL, LocalServer, LocalServerError, NotInstalledError, model_file
from reasonact.demo.run import QUESTION, AgentName, Cast, play
from reasonact.demo.screen import Screen
from reasonact.lm.litellm_client import LM
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature

__all__ = ["LocalServerError", "NotInstalledError", "run_local_demo"]

MAX_ITERS: Final = 2
MAX_RESULT_CHARS: Final = 400
MAX_TEXT_CHARS: Final = 120
MAX_TOKENS: Final = 400  # more than a step of such texts needs


class ShortAnswer(Signature):
    """Answer a question about Python's standard library from its own documentation, or work out a calculation."""

    question: str = InputField()
    answer: str = OutputField(desc="one sentence, based on what the tools returned")
    confidence: Literal["low", "medium", "high"] = OutputField()


def run_local_demo(
    question: str = QUESTION, *, agents: Sequence[AgentName] = ("react", "v2"), out: TextIO | None = None
) -> list[dict[str, Any]]:
    """Let agents answer a question by SmolLM2-135M-Instruct, and show the runs while they happen.

    Args:
        question: About the standard library of this interpreter.
        agents: Who answers it, one after the other.
        out: Where to show the runs; standard output by default.

    Returns:
        The fields of each answer: ``answer``, ``confidence``.

    Raises:
        NotInstalledError: The server or the model is missing.
        LocalServerError: The server did not come up.
        DSPyError: The model could not be asked, or wrote what cannot be read.
        NoAnswerError: An agent ended without an answer.
    """
    screen = Screen(out or sys.stdout)
    with LocalServer(model_file()) as server:
        cast = Cast(
            lm=LM(
                f"openai/{MODEL}",
                api_base=server.url,
                api_key="none",
                cache=False,
                temperature=0.2,
                max_tokens=MAX_TOKENS,
                supports={"function_calling": False},
            ),
            shown=MODEL,
            notes=[
                f"A real model of 135 million parameters, on one thread of this machine, served at {server.url}.",
                "Every step is held to a schema, so each call is a valid one; what it says is another matter.",
            ],
            adapter=JSONAdapter(constrain="json_object", parallel_tool_calls=False, max_text_chars=MAX_TEXT_CHARS),
            task=ShortAnswer,
            options={"max_iters": MAX_ITERS, "max_result_chars": MAX_RESULT_CHARS},
        )
        return [play(cast, agent, question, screen) for agent in agents]
