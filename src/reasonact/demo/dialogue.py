"""How an agent's request reads to the stand-in model, and how its move is written back.

Four forms of request are known: ReAct's step and its final extraction, and ReActV2 with
native tool calls or with calls in the text. Everything comes from the request itself;
nothing is kept between two of them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Form = Literal["react", "extract", "native", "text", "other"]

_MARKER: Final = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*$", re.MULTILINE)
_FIELD_LINE: Final = re.compile(r"^\d+\. `(\w+)` \((.*?)\):", re.MULTILINE)
_RESULTS: Final = "tool_call_results"
_TOOL_NAMES: Final = ("search", "read", "evaluate")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool by name, with its arguments."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A call that was made in this run, and the text that came back (None: nothing yet)."""

    call: Call
    result: str | None


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a request says.

    ``outputs`` maps the fields to answer with to the kind of value each takes: ``string``,
    ``number``, ``integer``, ``boolean``, ``array`` or ``object``. ``closing`` means that
    the answer is due now, whatever is known.
    """

    form: Form
    question: str
    tools: frozenset[str]
    outputs: Mapping[str, str]
    steps: tuple[Step, ...]
    closing: bool


@dataclass(frozen=True, slots=True)
class Move:
    """What the model does next: a thought, then tool calls, or else an answer by field."""

    thought: str
    calls: tuple[Call, ...] = ()
    answer: Mapping[str, Any] | None = None


def understand(body: Mapping[str, Any]) -> Situation:
    """Read a chat completion request.

    Args:
        body: The request: ``messages`` and, in native form, ``tools`` and ``tool_choice``.

    Returns:
        The situation that it describes; form ``other`` where it comes from no agent.
    """
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    system = "\n".join(_text(message) for message in messages if message.get("role") in {"system", "developer"})
    markers = set(_MARKER.findall(system))
    if body.get("tools"):
        return _native(body, messages)
    tools = frozenset(name for name in _TOOL_NAMES if re.search(rf"[`'\"]{name}\b|^\(\d+\) {name}\b", system, re.M))
    if "tool_calls" in markers:
        start, question = _inputs(messages)
        last = _text(messages[-1])
        # What an agent says when it asks for the end is a message without a field.
        closing = messages[-1].get("role") == "user" and not _sections(last) and "`submit`" in last
        return Situation("text", question, tools, _submit_fields(system), _text_steps(messages[start:]), closing)
    if "trajectory" in markers:
        _, question = _inputs(messages)
        sections = _sections(_text(messages[-1]))
        steps = _trajectory_steps(sections)
        if "next_tool_name" in markers:
            return Situation("react", question, tools, {}, steps, False)
        asked = {name for name, _ in sections}
        kinds = {name: _kind_of_annotation(note) for name, note in _FIELD_LINE.findall(system)}
        outputs = {name: kinds.get(name, "string") for name in _MARKER.findall(system)}
        outputs = {name: kind for name, kind in outputs.items() if name not in asked and name != "completed"}
        return Situation("extract", question, frozenset(), outputs, steps, True)
    return Situation("other", _inputs(messages)[1], frozenset(), {}, (), True)


def express(move: Move, form: Form, turn: int) -> dict[str, Any]:
    """Write a move as the assistant message that a request of this form asks for.

    Args:
        move: What to do.
        form: The form of the request.
        turn: A number that no other turn of the conversation has; it goes into the ids of calls.

    Returns:
        ``role``, ``content`` and, in native form, ``tool_calls`` with ids.
    """
    calls = move.calls if move.answer is None else (Call("submit", move.answer),)
    if form == "native":
        made = [
            {
                "id": f"stand_in_{turn}_{number}",
                "function": {"arguments": json.dumps(call.args), "name": call.name},
                "type": "function",
            }
            for number, call in enumerate(calls)
        ]
        return {"role": "assistant", "content": move.thought, "tool_calls": made}
    if form == "text":
        made = [{"name": call.name, "args": dict(call.args)} for call in calls]
        fields: dict[str, Any] = {"next_thought": move.thought, "tool_calls": {"tool_calls": made}}
    elif form == "react":
        first = move.calls[0] if move.answer is None else Call("finish", {})
        parts_of_step = {"thought": move.thought, "tool_name": first.name, "tool_args": dict(first.args)}
        fields = {f"next_{name}": value for name, value in parts_of_step.items()}
    elif form == "extract":
        fields = dict(move.answer or {})
    else:
        return {"role": "assistant", "content": move.thought}
    parts = [f"[[ ## {name} ## ]]\n{_written(value)}" for name, value in fields.items()]
    return {"role": "assistant", "content": "\n\n".join([*parts, "[[ ## completed ## ]]"])}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _sections(text: str) -> list[tuple[str, str]]:
    """Marked sections in order; a closing reminder, which names markers inside a sentence, is left out."""
    pieces = _MARKER.split(text)
    found = [(name, body.strip()) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)]
    if found:
        name, body = found[-1]
        paragraphs = body.split("\n\n")
        while paragraphs and "[[ ##" in paragraphs[-1]:
            paragraphs.pop()
        found[-1] = (name, "\n\n".join(paragraphs).strip())
    return found


def _inputs(messages: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    """Where this run begins (its user message with inputs) and the question that stands there."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") != "user":
            continue
        sections = dict(_sections(_text(messages[place])))
        given = {name: text for name, text in sections.items() if name not in {_RESULTS, "tools", "history"}}
        if "question" in given:
            return place, given["question"]
        if given:
            return place, next(iter(given.values()))
    users = [place for place, message in enumerate(messages) if message.get("role") == "user"]
    return (users[-1], _text(messages[users[-1]])) if users else (0, "")


def _native(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Situation:
    functions = {tool["function"]["name"]: tool["function"] for tool in body["tools"] if "function" in tool}
    start, question = _inputs(messages)
    results = {str(m.get("tool_call_id")): _text(m) for m in messages[start:] if m.get("role") == "tool"}
    steps = []
    for message in messages[start:]:
        for made in message.get("tool_calls") or ():
            function = made["function"]
            call = Call(function["name"], _mapping(function.get("arguments")))
            steps.append(Step(call, results.get(str(made.get("id")))))
    properties = functions.get("submit", {}).get("parameters", {}).get("properties", {})
    outputs = {name: str(schema.get("type", "string")) for name, schema in properties.items()}
    chosen = body.get("tool_choice")
    forced = isinstance(chosen, Mapping) and chosen.get("function", {}).get("name") == "submit"
    closing = forced or not functions.keys() & set(_TOOL_NAMES)
    return Situation("native", question, frozenset(functions), outputs, tuple(steps), closing)


def _text_steps(messages: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    waiting: list[Call] = []
    for message in messages:
        sections = dict(_sections(_text(message)))
        if message.get("role") == "assistant" and "tool_calls" in sections:
            steps.extend(Step(call, None) for call in waiting)
            listed = _mapping(sections["tool_calls"]).get("tool_calls", [])
            waiting = [Call(str(made.get("name")), _mapping(made.get("args"))) for made in listed]
        elif _RESULTS in sections:
            values = _mapping(sections[_RESULTS]).get(_RESULTS, [])
            for call, value in zip(waiting, values, strict=False):
                steps.append(Step(call, _written(value.get("value"))))
            waiting = waiting[len(values) :]
    return (*steps, *(Step(call, None) for call in waiting))


def _trajectory_steps(sections: Sequence[tuple[str, str]]) -> tuple[Step, ...]:
    fields = dict(sections)
    steps = []
    turn = 0
    while f"tool_name_{turn}" in fields:
        call = Call(fields[f"tool_name_{turn}"], _mapping(fields.get(f"tool_args_{turn}")))
        steps.append(Step(call, fields.get(f"observation_{turn}")))
        turn += 1
    return tuple(steps)


def _submit_fields(system: str) -> dict[str, str]:
    """The arguments of ``submit`` as the system message shows them: in its list of tools, or in a line of prose."""
    listed = next((text for name, text in reversed(_sections(system)) if name == "tools"), "")
    try:
        shown = [item for item in json.loads(listed) if isinstance(item, str)]
    except (ValueError, TypeError):
        shown = system.splitlines()
    for line in shown:
        if re.match(r"\W*(?:\d+\W+)?submit\b", line):
            for place in (found.start() for found in re.finditer(r"\{", line)):
                fields = _argument_kinds(_balanced(line, place))
                if fields:
                    return fields
    return {"answer": "string"}


def _argument_kinds(text: str) -> dict[str, str]:
    for read in (json.loads, ast.literal_eval):
        try:
            schemas = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(schemas, dict) and all(isinstance(schema, dict) for schema in schemas.values()):
            return {str(name): str(schema.get("type", "string")) for name, schema in schemas.items()}
    return {}


def _balanced(text: str, start: int) -> str:
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start : place + 1]
    return text[start:]


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return dict(value) if isinstance(value, Mapping) else {}


def _kind_of_annotation(annotation: str) -> str:
    kinds = {"int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
    return kinds.get(annotation.partition("[")[0].strip(), "string")
