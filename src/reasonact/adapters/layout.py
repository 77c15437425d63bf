"""Which fields of a signature carry a conversation and its tools; worked out once per signature."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

from reasonact.signatures.memo import kept
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls


@dataclass(frozen=True, slots=True)
class Layout:
    """The roles that fields of a signature play.

    Args:
        history: The input that holds past events.
        tools: The input that holds the tools.
        tool_calls: The output that holds the calls the model asks for.
        agent: The signature is an agent's turn: it has all three, with a list of tools.
        native: The calls come by the model's own channel, not in its text.
        free_text: In a native agent's turn, the output that is plain, unmarked text.
        thought: In an agent's turn, the output that holds what the model thinks; calls may come without it.
    """

    history: str | None
    tools: str | None
    tool_calls: str | None
    agent: bool
    native: bool = False
    free_text: str | None = None
    thought: str | None = None


def layout_of(signature: Any) -> Layout:
    """The layout of a signature, kept in its memo.

    Args:
        signature: A signature class.

    Returns:
        Its layout.
    """
    return kept(signature, Layout, _read_layout)


def without_fields(signature: Any, names: Iterable[str], layout: Layout | None = None) -> Any:
    """A signature without some fields, made once and kept in the memo of the one it comes from.

    Args:
        signature: A signature class.
        names: Fields to leave out.
        layout: The layout that the result is to have; by default that of what remains.

    Returns:
        A signature class; the same one for the same question.
    """
    dropped = frozenset(names)
    if not dropped and layout is None:
        return signature
    memo = signature.memo
    key = ("without", dropped, layout)
    found = memo.get(key)
    if found is None:
        found = signature
        for name in [name for name in signature.fields if name in dropped]:
            found = found.delete(name)
        if layout is not None:
            if found is signature:
                found = signature.with_instructions(signature.instructions)
            found.memo[Layout] = layout
        memo[key] = found
    return found


def spoken(signature: Any) -> Any:
    """What of a signature stands in single messages: everything but the history.

    Args:
        signature: The signature as the prompt shows it.

    Returns:
        A signature class that plays the same roles.
    """
    return kept(signature, spoken, _without_history)


def _without_history(signature: Any) -> Any:
    layout = layout_of(signature)
    return signature if layout.history is None else without_fields(signature, [layout.history], layout)


def plain_type(annotation: Any) -> Any:
    """An annotation without its ``| None``.

    Args:
        annotation: Any annotation.

    Returns:
        The one other member of a union with None, else the annotation itself.
    """
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        if len(members) == 1:
            return members[0]
    return annotation


def _read_layout(signature: Any) -> Layout:
    history = tools = tool_calls = thought = None
    listed = False
    for name, info in signature.input_fields.items():
        kind = plain_type(info.annotation)
        if history is None and _is(kind, History):
            history = name
        elif tools is None and _is(kind, Tool):
            tools = name
        elif tools is None and get_origin(kind) is list and get_args(kind) and _is(get_args(kind)[0], Tool):
            tools, listed = name, True
    for name, info in signature.output_fields.items():
        if tool_calls is None and _is(plain_type(info.annotation), ToolCalls):
            tool_calls = name
        elif thought is None and _is(plain_type(info.annotation), Reasoning):
            thought = name
    agent = bool(history and listed and tool_calls)
    return Layout(history, tools, tool_calls, agent=agent, thought=thought if agent else None)


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
