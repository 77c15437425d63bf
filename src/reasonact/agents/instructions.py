"""What the two agents tell the model about its work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool

# The tool block stands between these two lines, so that it can be found and put anew.
TOOLS_BEGIN: Final = "Tools you may name in `next_tool_name`:"
TOOLS_END: Final = (
    "Write `next_tool_args` as one JSON object that holds the arguments by name, {} where there are none."
)

_TOOL_NAMES: Final = "Tools: "


def react_instructions(signature: type[Signature], tools: Mapping[str, Tool]) -> str:
    """Instructions of ReAct's step predictor: the task's own, the way of working, the tools.

    Args:
        signature: The task.
        tools: Every tool by name, ``finish`` among them.

    Returns:
        The text.
    """
    inputs, outputs = _names(signature.input_fields), _names(signature.output_fields)
    task = [signature.instructions, ""] if signature.instructions else []
    return "\n".join(
        [
            *task,
            f"You are an agent that works step by step. You are given {inputs}; you gather, with the tools below,",
            f"whatever is needed to produce {outputs}.",
            "",
            "A step is a `next_thought` (what you know, what is missing, what to do about it), one `next_tool_name`,",
            "and the `next_tool_args` for it. The tool is then run, and its result is added to `trajectory` as an",
            "observation that you see in your next step. Choose `finish` as the tool once nothing is missing.",
            "",
            tool_block(tools),
        ]
    )


def tool_block(tools: Mapping[str, Tool]) -> str:
    """The numbered list of tools inside ReAct's instructions.

    Args:
        tools: Every tool by name.

    Returns:
        Several lines, from `TOOLS_BEGIN` to `TOOLS_END`.
    """
    return "\n".join(
        [TOOLS_BEGIN, "", *(f"({number}) {tool}" for number, tool in enumerate(tools.values(), start=1)), TOOLS_END]
    )


def with_tool_block(instructions: str, tools: Mapping[str, Tool]) -> str:
    """Instructions whose tool block lists ``tools``; where there is none, it is appended."""
    begin, end = instructions.find(TOOLS_BEGIN), instructions.find(TOOLS_END)
    if begin < 0 or end < begin:
        return f"{instructions}\n\n{tool_block(tools)}"
    return instructions[:begin] + tool_block(tools) + instructions[end + len(TOOLS_END) :]


def react_v2_instructions(signature: type[Signature], tools: Mapping[str, Tool]) -> str:
    """Instructions of ReActV2's predictor.

    Args:
        signature: The task.
        tools: Every tool by name, ``submit`` among them.

    Returns:
        The text.
    """
    inputs, outputs = _names(signature.input_fields), _names(signature.output_fields)
    task = [signature.instructions] if signature.instructions else []
    return "\n".join(
        [
            *task,
            f"You are an agent: from {inputs} you produce {outputs}, with the help of tools.",
            "Call a tool for whatever you do not know yet; calls that do not need each other can share a turn.",
            f"As soon as you have what you need, call `submit` with {outputs}: that ends the work.",
            tool_names_line(tools),
        ]
    )


def tool_names_line(tools: Iterable[str]) -> str:
    """The line of ReActV2's instructions that names the tools."""
    return f"{_TOOL_NAMES}{_names(tools)}."


def with_tool_names(instructions: str, tools: Iterable[str]) -> str:
    """Instructions whose line of tool names lists ``tools``; where there is none, it is appended."""
    lines = instructions.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        if lines[index].startswith(_TOOL_NAMES):
            return "\n".join([*lines[:index], tool_names_line(tools), *lines[index + 1 :]])
    return f"{instructions}\n{tool_names_line(tools)}"


def correction(problem: str, tools: Iterable[str]) -> str:
    """The observation that answers a step that could not be used.

    Args:
        problem: What was wrong with it.
        tools: The names to choose from.

    Returns:
        The text.
    """
    return f"This step was not carried out: {problem} Tools to choose from: {_names(tools)}."


def ask_to_submit(outputs: Mapping[str, Any]) -> str:
    """The closing message of a forced submit."""
    return f"This is the last turn. Call `submit` now, with {_names(outputs)} as well as you can tell from the above."


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
