"""Tools in the text protocol: how they are listed, and how a step becomes a call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from reasonact.adapters.ending_tools import FINISH, SUBMIT
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.protocol import Step, call_arguments
from reasonact.adapters.step_form import TOOL
from reasonact.adapters.unreadable import UnreadableCall
from reasonact.adapters.values import serialize_for_json
from reasonact.types.tool_calls import ToolCalls


def tool_list_text(tools: Sequence[Any]) -> str:
    """The tools with their arguments, and what an answer holds.

    Args:
        tools: The tools; the arguments of ``submit`` are the answer's fields.

    Returns:
        Several lines.
    """
    lines = ["The tools that an action may name:", ""]
    for tool in tools:
        if tool.name != SUBMIT:
            lines.append(f"{tool.name}: {tool.desc or ''}".rstrip(": ").replace("\n", " "))
            lines += [f"    {_argument_line(name, schema)}" for name, schema in tool.args.items()]
    submit = named_tool(tools, SUBMIT)
    if submit is not None:
        wanted = [f"    {_argument_line(name, schema)}" for name, schema in submit.args.items()]
        form = "holds the text of" if len(wanted) == 1 else "is one JSON object with"
        lines += ["", f"`Answer:` {form}", *wanted]
    return "\n".join(lines)


def named_tool(tools: Iterable[Any], name: str | None) -> Any:
    """The tool of a name, or None."""
    return next((tool for tool in tools if tool.name == name), None)


def _argument_line(name: str, schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return name
    kind = schema.get("type") or json.dumps(serialize_for_json(schema), ensure_ascii=False)
    default = f", default {json.dumps(serialize_for_json(schema['default']))}" if "default" in schema else ""
    about = f": {schema['description']}" if schema.get("description") else ""
    return f"{name} ({kind}{default}){about}"


def example_call(signature: Any, tools: Iterable[Any]) -> tuple[str, dict[str, Any]]:
    """A made-up call of the first tool, to show the form.

    Args:
        signature: The signature as the prompt shows it.
        tools: The tools, as far as they are known.

    Returns:
        The tool's name and arguments of the right types.
    """
    for tool in tools:
        if tool.name not in (FINISH, SUBMIT):
            return tool.name, {name: _example_value(schema) for name, schema in tool.args.items()}
    info = signature.output_fields.get(TOOL)
    names = [name for name in get_args(info.annotation) if name != FINISH] if info is not None else []
    return (str(names[0]) if names else "tool"), {"argument": "..."}


def _example_value(schema: Any) -> Any:
    examples = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    if not isinstance(schema, Mapping):
        return "..."
    if schema.get("enum"):
        return schema["enum"][0]
    return examples.get(str(schema.get("type")), "...")


def called(step: Step, tools: Iterable[Any]) -> ToolCalls.ToolCall:
    """The call that a step of ReActV2 is; its answer is a call of ``submit``.

    Args:
        step: The step.
        tools: The tools of the request.

    Returns:
        The call; an `UnreadableCall` where its arguments cannot be used.
    """
    if step.answer is not None:
        name, arguments = SUBMIT, _answer_arguments(step.answer, named_tool(tools, SUBMIT))
    else:
        tool = named_tool(tools, step.name)
        name, arguments = step.name or "", call_arguments(step.arguments, None if tool is None else tool.args)
    if isinstance(arguments, str):
        return UnreadableCall(name=name, args={}, problem=arguments)
    return ToolCalls.ToolCall(name=name, args=arguments)


def _answer_arguments(answer: str, submit: Any) -> dict[str, Any] | str:
    parameters = {"answer": {"type": "string"}} if submit is None else submit.args
    if len(parameters) == 1:
        name, schema = next(iter(parameters.items()))
        if isinstance(schema, Mapping) and schema.get("type") != "string":
            try:
                return {name: loads_lenient(answer)}
            except ValueError:  # whether the text will do is for the tool to say
                return {name: answer}
        return {name: answer}
    try:
        value = loads_lenient(answer, tuple(parameters))
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    return f"the answer must be one JSON object with {', '.join(parameters)}, found {answer!r}"
