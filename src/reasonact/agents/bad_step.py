"""Reading ReAct's step: which are usable, and what is wrong with the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.adapters.call_shapes import read_native_call
from reasonact.adapters.step_form import tool_name
from reasonact.adapters.values import parse_value, serialize_for_json
from reasonact.errors import AdapterParseError


@dataclass(frozen=True, slots=True)
class Step:
    """A usable step: a thought and one call of a known tool."""

    thought: Any
    name: str
    args: Mapping[str, Any]
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class BadStep:
    """A step that cannot be carried out, as far as it could be read, and why."""

    thought: str
    name: str
    args: Mapping[str, Any]
    problem: str
    call_id: str | None = None


def judged(step: Any, tools: Iterable[str]) -> Step | BadStep:
    """A parsed step, its tool's name brought to the registered form.

    Args:
        step: The step predictor's prediction.
        tools: The registered names.

    Returns:
        The step, or what is wrong with it.
    """
    thought = step.get("next_thought")
    return _judged(thought, step.get("next_tool_name"), step.get("next_tool_args"), tools)


def problem_step(error: AdapterParseError, tools: Iterable[str]) -> Step | BadStep:
    """What can be made of a completion that did not parse.

    A native call in it is taken as the step; otherwise the fields that were found are
    judged one by one.

    Args:
        error: The parse failure, with the completion and what was read of it.
        tools: The registered names.

    Returns:
        The step, or what is wrong with it.
    """
    if error.tool_calls:
        native = read_native_call(error.tool_calls[0])
        text = error.lm_response if isinstance(error.lm_response, str) else ""
        if isinstance(native.args, str):
            return BadStep(text, native.name, {}, f"{native.args}.", native.id)
        return _judged(text, native.name, native.args, tools, native.id)
    first = error.__cause__
    if not error.raw_fields and isinstance(first, AdapterParseError) and first.raw_fields:
        error = first  # the second try, in another form, has told less than the first
    found = {**error.raw_fields, **(error.parsed_result if isinstance(error.parsed_result, Mapping) else {})}
    found["next_thought"] = error.raw_fields.get("next_thought", found.get("next_thought"))  # as it was written
    if not found.get("next_tool_name"):
        thought = _text(found.get("next_thought")) or _text(error.lm_response)
        return BadStep(thought, "", {}, "it names no tool in `next_tool_name`.")
    thought = _text(found.get("next_thought"))
    return _judged(thought, found["next_tool_name"], found.get("next_tool_args"), tools)


def _judged(thought: Any, name: Any, args: Any, tools: Iterable[str], call_id: str | None = None) -> Step | BadStep:
    given = str(name or "").strip()
    usable = _read(args)
    known = tool_name(given, tools)
    if known is None:
        what = f"`{given}` is no tool." if given else "it names no tool in `next_tool_name`."
        return BadStep(_text(thought), given, usable or {}, what, call_id)
    if usable is None:
        what = "`next_tool_args` is not one JSON object with the arguments by name."
        return BadStep(_text(thought), given, {}, what, call_id)
    return Step(thought, known, usable, call_id)


def _text(written: Any) -> str:
    """What the model wrote of a field; JSON stays JSON."""
    return written if isinstance(written, str) else "" if not written else json.dumps(serialize_for_json(written))


def _read(args: Any) -> dict[str, Any] | None:
    """Arguments as they were read, or as they were written; None where they are no object."""
    try:
        return dict(args) if isinstance(args, Mapping) else parse_value(args, dict[str, Any])
    except ValueError:
        return None
