"""One run of the demonstration: a question, an agent, its tools, and a model over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TextIO

from reasonact.adapters.base import Adapter
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

AgentName = Literal["react", "v2"]

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


@dataclass(frozen=True)
class Cast:
    """What plays in a demonstration: a model, and what suits it.

    Args:
        lm: The model.
        shown: What to call it.
        notes: Lines to show at the beginning.
        estimated: Whether its token counts are estimates.
        adapter: How it is asked.
        task: The signature, with an input ``question``.
        tools: The tools.
        options: Of the agent.
    """

    lm: LM
    shown: str
    notes: Sequence[str] = ()
    estimated: bool = False
    adapter: Adapter = field(default_factory=lambda: ChatAdapter(use_native_function_calling=True))
    task: type[Signature] = AnswerFromLibrary
    tools: Sequence[Callable[..., Any]] = (search, read, evaluate)
    options: Mapping[str, Any] = field(default_factory=lambda: {"max_iters": MAX_ITERS})


def run_demo(
    question: str = QUESTION,
    *,
    model: str | None = None,
    agent: AgentName = "v2",
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
    with _cast(model, api_base) as cast:
        return play(cast, agent, question, screen)


def play(cast: Cast, agent: AgentName, question: str, screen: Screen) -> dict[str, Any]:
    """One run, shown while it happens.

    Args:
        cast: What plays.
        agent: ``react`` for ReAct, ``v2`` for ReActV2.
        question: The question.
        screen: Where to show it.

    Returns:
        The answer's fields.

    Raises:
        DSPyError: The model could not be asked, or wrote what cannot be read.
        NoAnswerError: The agent ended without an answer.
    """
    agent_class: type[ReAct] | type[ReActV2] = ReAct if agent == "react" else ReActV2
    screen.opening(f"{agent_class.__name__} with {cast.shown}", cast.notes, question)
    program = agent_class(cast.task, tools=list(cast.tools), **cast.options)
    with settings.context(lm=cast.lm, adapter=cast.adapter), listening(screen):
        prediction = program(question=question)
    outputs = {name: prediction[name] for name in cast.task.output_fields if name in prediction.keys()}  # noqa: SIM118
    if len(outputs) < len(cast.task.output_fields):
        raise NoAnswerError(f"{cast.shown} gave no answer: the run ended with {prediction.termination_reason!r}")
    used = prediction.usage
    about = "about " if cast.estimated else ""
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
def _cast(model: str | None, api_base: str | None) -> Iterator[Cast]:
    if model is not None:
        place: dict[str, Any] = {} if api_base is None else {"api_base": api_base}
        yield Cast(LM(model, **place), model)
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
        yield Cast(lm, "the embedded stand-in", notes, estimated=True)
