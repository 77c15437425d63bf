"""What the two agents tell the model about its work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool

# The tool block stands between these two lines, so that it can be found and put anew.
TOOLS_BEGIN: Final = "Tools you may name in `next_tool_name`:"
TOOLS_END: Final = (
    "Write `next_tool_args` as one JSON object that holds the arguments by name, {} where there are none."
)

# Saved instructions may be DSPy's, or an optimiser's that kept only the list itself.
_TOOL_LINE: Final = re.compile(
    r"\((?P<number>\d+)\) (?P<name>.+?)(?:[:,.].*)? "
    r"(?:It takes arguments \{.*\}\.|Arguments as JSON schemas: \{.*\})"
)
_TOOL_NAMES: Final = "Tools: "
_TOOL_NAMES_LINE: Final = re.compile(r"(?:Tools|The available tools are): `[^`]+`(?:, `[^`]+`)*\.")


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
    return "\n".join([TOOLS_BEGIN, "", *_tool_lines(tools), TOOLS_END])


def with_tool_block(instructions: str, tools: Mapping[str, Tool]) -> str:
    """Instructions whose list of tools is of ``tools``.

    Args:
        instructions: A text of this library or of DSPy, perhaps rewritten by an optimiser.
        tools: Every tool by name, the one that ends the work last.

    Returns:
        The text with its list put anew; where none is recognised, with the block appended.
    """
    begin, end = instructions.find(TOOLS_BEGIN), instructions.find(TOOLS_END)
    if 0 <= begin < end:
        return instructions[:begin] + tool_block(tools) + instructions[end + len(TOOLS_END) :]
    lines = instructions.split("\n")
    for last in range(len(lines) - 1, -1, -1):
        first = _start_of_list(lines, last, ending=list(tools)[-1])
        if first is not None:
            return "\n".join([*lines[:first], *_tool_lines(tools), *lines[last + 1 :]])
    return f"{instructions}\n\n{tool_block(tools)}"


def _start_of_list(lines: list[str], last: int, *, ending: str) -> int | None:
    """Where the numbered list of tools begins that ends with the tool ``ending`` on line ``last``, if one does."""
    found = _TOOL_LINE.fullmatch(lines[last])
    if found is None or found["name"] != ending:
        return None
    count = int(found["number"])
    listed = [_TOOL_LINE.fullmatch(line) for line in lines[max(last + 1 - count, 0) : last + 1]]
    numbers = [int(item["number"]) for item in listed if item is not None]
    return last + 1 - count if numbers == list(range(1, count + 1)) else None


def _tool_lines(tools: Mapping[str, Tool]) -> list[str]:
    return [f"({number}) {tool}" for number, tool in enumerate(tools.values(), start=1)]


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
    """Instructions whose line of tool names, ours or DSPy's, lists ``tools``; where there is none, it is appended."""
    lines = instructions.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        if _TOOL_NAMES_LINE.fullmatch(lines[index]):
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
