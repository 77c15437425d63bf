"""The steps of the Thought / Action / Observation protocol, as text.

The protocol is that of "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao
and others, 2022), with one change: arguments are one JSON object, since commas between
positional values would tie the meaning of a call to their number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from reasonact.adapters.content import Content, joined
from reasonact.adapters.labels import Labels
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.values import clean_text, render_value, serialize_for_json

OBSERVATION: Final = "Observation"
STOP: Final = f"\n{OBSERVATION}:"
"""The stop sequence: what follows it would be a result of the model's own making."""

LABELS: Final = Labels(
    {
        "Thought": "thought",
        "Action": "action",
        "Action Input": "input",
        OBSERVATION: "observation",
        "Answer": "answer",
        "Final Answer": "answer",
    }
)
PROTOCOL: Final = """\
Work in steps. A message of yours is one step, and each label stands at the start of a line:

Thought: what you know, what is missing, and what to do about it.
Action: name[{"argument": "value"}]

The action names one tool and holds its arguments as one JSON object. Where a tool has a
single argument, its plain text may stand in the brackets. After an action your message
ends: the next one you get begins with `Observation:` and holds what the tool returned.
Never write an observation yourself. `Observation (error):` means that the step failed and why.

Once nothing is missing, a step ends the work in place of an action:

Answer: the answer"""
STEP_TERMS: Final = (
    "Here `next_thought` is written as `Thought:`, and `next_tool_name` with `next_tool_args` as `Action:`. "
    "`Answer:` stands for choosing `finish`."
)
CALL_TERMS: Final = "Here a tool is called by `Action:`, and `Answer:` stands for calling `submit`."
_NAME: Final = re.compile(r"[\s`*\"']*([\w.:-]+)(?:\(\)(?=[`*\"' \t]*\[))?[`*\"']*(?:\s*(?=\[)|[ \t]*)([\[(]?)")
_OPEN_FENCE: Final = re.compile(r"\n?```\w*\s*\Z")
_CLOSERS: Final = {"[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands in an action's brackets where that is neither an object nor plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """What a completion says, up to the first action or answer.

    Args:
        thought: The text before it.
        name: The tool, where it is an action.
        arguments: What stands in the action's brackets: a dict, plain text, or `Unreadable`.
        answer: The answer, where it is one.
        forged: How many observations of its own making stood behind it.
    """

    thought: str
    name: str | None = None
    arguments: Any = None
    answer: str | None = None
    forged: int = 0


def read_step(text: str) -> Step:
    """Read a completion of the protocol.

    Args:
        text: The completion.

    Returns:
        Its first action or answer. What follows an observation label is dropped and
        only counted: the model cannot know what a tool returns.
    """
    step = _read_step(text, protect=True)
    if step.name is None and step.answer is None:
        blunt = _read_step(text, protect=False)  # the whole step may stand in a code block
        return replace(blunt, thought=_OPEN_FENCE.sub("", blunt.thought))
    return step


def _read_step(text: str, *, protect: bool) -> Step:
    thoughts: list[str] = []
    name = answer = None
    arguments: Any = None
    waiting = False
    forged = 0
    for section in LABELS.split(text, protect=protect):
        body = section.text
        if section.key == "observation":
            forged += 1
        elif forged or answer is not None or (name is not None and not (waiting and section.key == "input")):
            continue
        elif section.key in (None, "thought"):
            if body:
                thoughts.append(LABELS.unescape(body))
        elif section.key == "answer":
            answer = LABELS.unescape(body)
        elif section.key == "action":
            name, arguments, waiting = _read_action(LABELS.unescape(body))
        elif waiting:
            arguments, waiting = _read_arguments(LABELS.unescape(body)), False
    return Step("\n".join(thoughts), name, arguments, answer, forged)


def call_arguments(arguments: Any, parameters: Mapping[str, Any] | None) -> dict[str, Any] | str:
    """The arguments of an action by name.

    Args:
        arguments: What `read_step` found.
        parameters: The tool's parameters by name; None where the tool is not known.

    Returns:
        The arguments, or a text that says why they cannot be used.
    """
    if isinstance(arguments, dict):
        return arguments
    if isinstance(arguments, Unreadable):
        arguments = arguments.text
    elif parameters is not None and len(parameters) == 1:
        return {next(iter(parameters)): arguments}
    names = "" if parameters is None else f" with {', '.join(parameters) or 'no arguments'}"
    return f"the brackets must hold one JSON object{names}, found {arguments!r}"


def written_thought(thought: Any) -> str:
    """A thought under its label."""
    return f"Thought: {LABELS.escape(clean_text(str(thought)))}"


def written_action(name: str, arguments: Any) -> str:
    """A call under its label."""
    held = "" if arguments == {} else json.dumps(serialize_for_json(arguments), ensure_ascii=False)
    return f"Action: {clean_text(name)}[{held}]"


def written_answer(answer: Any) -> str:
    """An answer under its label."""
    rendered = (
        clean_text(answer) if isinstance(answer, str) else json.dumps(serialize_for_json(answer), ensure_ascii=False)
    )
    return f"Answer: {LABELS.escape(rendered)}"


def written_observation(value: Any, *, is_error: bool = False) -> Content:
    """A result under its label; one that is an error says so, and cannot pass for a tool's result."""
    label = f"{OBSERVATION} (error): " if is_error else f"{OBSERVATION}: "
    rendered = render_value(value)
    return joined([label, LABELS.escape(rendered) if isinstance(rendered, str) else rendered])


def _read_action(body: str) -> tuple[str, Any, bool]:
    """Name, arguments, and whether the arguments may still come under a label of their own."""
    match = _NAME.match(body)
    if match is None:
        return body.split("\n", 1)[0], "", False
    name, bracket = match.groups()
    if not bracket:
        rest = body[match.end() :].strip()
        return name, _read_arguments(rest), not rest
    closer = _CLOSERS[bracket]
    held = body[match.end() :]
    start = held.lstrip()
    if start.startswith("{"):
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(start)
        except (ValueError, RecursionError):
            pass
        else:
            if isinstance(value, dict):
                return name, value, False
    end = held.rfind(closer)
    if end < 0:
        return name, Unreadable(f"{bracket}{held}"), False  # cut off: what is there may not be all
    return name, _read_arguments(held[:end]), False


def _read_arguments(text: str) -> Any:
    text = text.strip()
    if not text:
        return {}
    if text.startswith("{"):
        try:
            value = loads_lenient(text)
        except ValueError:
            return Unreadable(text)
        return value if isinstance(value, dict) else Unreadable(text)
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            value = json.loads(text, strict=False)
        except ValueError:
            return text
        return value if isinstance(value, str) else text
    return text
