"""One run of the demonstration: a question, an agent, its tools, and a model over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TextIO

from reasonact.adapters.chat import ChatAdapter
from reasonact.agents.react import ReAct
from reasonact.agents.react_v2 import ReActV2
from reasonact.demo.screen import Screen
from reasonact.demo.server import MODEL, StandInServer
from reasonact.demo.tools import evaluate, read, search
from reasonact.errors import DSPyError
from reasonact.lm.litellm_client import LM
from reasonact.runtime.events import listening
from reasonact.runtime.settings import settings
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature

QUESTION: Final = "which function removes common leading whitespace from every line of a text?"
MAX_ITERS: Final = 10


class AnswerFromLibrary(Signature):
    """Answer a question about Python's standard library from its own documentation, or work out a calculation."""

    question: str = InputField()
    answer: str = OutputField(desc="one or two sentences, based on what the tools returned")
    qualified_name: str = OutputField(desc="full dotted name of the object in question; empty for a calculation")
    confidence: float = OutputField(desc="from 0 to 1: how well the documentation fits the question")


class NoAnswerError(Exception):
    """The run ended, and no error came up, but there is no answer either."""


def run_demo(
    question: str = QUESTION,
    *,
    model: str | None = None,
    agent: Literal["react", "v2"] = "v2",
    api_base: str | None = None,
    out: TextIO | None = None,
) -> dict[str, Any]:
    """Let an agent answer a question, and show the run while it happens.

    Args:
        question: About the standard library of this interpreter.
        model: Any model as LiteLLM names it; without one the embedded stand-in plays.
        agent: ``react`` for ReAct, ``v2`` for ReActV2.
        api_base: Where the model is served, if not at its provider's.
        out: Where to show the run; standard output by default.

    Returns:
        The answer's fields: ``answer``, ``qualified_name``, ``confidence``.

    Raises:
        DSPyError: The model could not be asked, or wrote what cannot be read.
        NoAnswerError: The agent ended without an answer.
    """
    screen = Screen(out or sys.stdout)
    agent_class: type[ReAct] | type[ReActV2] = ReAct if agent == "react" else ReActV2
    with _model(model, api_base) as (lm, shown, notes):
        screen.opening(f"{agent_class.__name__} with {shown}", notes, question)
        program = agent_class(AnswerFromLibrary, tools=[search, read, evaluate], max_iters=MAX_ITERS)
        with settings.context(lm=lm, adapter=ChatAdapter(use_native_function_calling=True)), listening(screen):
            prediction = program(question=question)
    outputs = {name: prediction[name] for name in AnswerFromLibrary.output_fields if name in prediction.keys()}  # noqa: SIM118
    if len(outputs) < len(AnswerFromLibrary.output_fields):
        raise NoAnswerError(f"{shown} gave no answer: the run ended with {prediction.termination_reason!r}")
    used = prediction.usage
    about = "about " if model is None else ""
    tokens = f"{about}{used.total_tokens:,} tokens" if used.total_tokens else "tokens unknown"
    calls = f"{used.calls} model call{'' if used.calls == 1 else 's'}"
    screen.closing(outputs, f"{calls}, {tokens}, {used.seconds:.1f} s")
    return outputs


def failure_line(error: DSPyError | NoAnswerError) -> str:
    """A failed run in one line: what happened, and which model, provider and status it came from.

    Args:
        error: What `run_demo` raised.

    Returns:
        The line.
    """
    if isinstance(error, NoAnswerError):
        return str(error)
    facts = {"model": error.model, "provider": error.provider, "status": error.status}
    told = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    words = " ".join(error.message.split() if isinstance(error.message, str) else str(error).split())
    words = words if len(words) <= 400 else f"{words[:400]}..."
    return f"{type(error).__name__} ({told}): {words}" if told else f"{type(error).__name__}: {words}"


@contextmanager
def _model(model: str | None, api_base: str | None) -> Iterator[tuple[LM, str, list[str]]]:
    if model is not None:
        place: dict[str, Any] = {} if api_base is None else {"api_base": api_base}
        yield LM(model, **place), model, []
        return
    with StandInServer() as server:
        notes = [
            f"This is no language model: it is rules, served at {server.url}.",
            "Name a real model with --model, e.g. --model openai/gpt-4o-mini with its key in",
            "the environment, or --model openai/NAME --api-base URL for one of your own.",
        ]
        lm = LM(
            f"openai/{MODEL}", api_base=server.url, api_key="none", cache=False, supports={"function_calling": True}
        )
        yield lm, "the embedded stand-in", notes
