"""What a request leaves to the model's own channels: tool calls, reasoning, further types."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from reasonact.adapters.call_shapes import read_native_call
from reasonact.adapters.layout import Layout, layout_of, without_fields
from reasonact.adapters.plan import Native
from reasonact.adapters.unreadable import UnreadableCall
from reasonact.signatures.memo import kept
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

_NEED_TOOLS: Final = ("tool_choice", "parallel_tool_calls")
_THOUGHT: Final = "next_thought"


def tool_list(value: Any) -> list[Any]:
    """The tools that an input field holds: a list, one tool, or none."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def wire_name(tool: Any) -> str:
    """The name under which a tool is offered to a provider."""
    return str(getattr(tool, "wire_name", None) or tool.name)


def native_calls(signature: Any, tools: Iterable[Any]) -> tuple[Any, Native]:
    """Take tools and calls out of what the prompt shows.

    In an agent's turn whose only other output is ``next_thought``, that one is the plain
    text beside the calls.

    Args:
        signature: A signature with an input for tools and an output for calls.
        tools: The tools of this request.

    Returns:
        The signature to show, and the record of what went native.
    """
    shown = kept(signature, native_calls, _without_calls)
    layout = layout_of(shown)
    own_names = {wire: tool.name for tool in tools if (wire := wire_name(tool)) != tool.name}
    return shown, Native(layout.tool_calls, layout.free_text, own_names=MappingProxyType(own_names))


def _without_calls(signature: Any) -> Any:
    layout = layout_of(signature)
    assert layout.tools is not None and layout.tool_calls is not None
    rest = [name for name in signature.output_fields if name != layout.tool_calls]
    free = _THOUGHT if layout.agent and rest == [_THOUGHT] else None
    return without_fields(signature, [layout.tools, layout.tool_calls], replace(layout, native=True, free_text=free))


def read_calls(calls: Iterable[Any], own_names: Mapping[str, str]) -> ToolCalls:
    """The native calls of a completion.

    Args:
        calls: Entries of OpenAI's shape, objects or dicts.
        own_names: The names of tools on the wire to their own, where they differ.

    Returns:
        The calls; one whose arguments cannot be read is an `UnreadableCall`.
    """
    read: list[ToolCalls.ToolCall] = []
    for entry in calls:
        found = read_native_call(entry)
        name = own_names.get(found.name, found.name)
        if isinstance(found.args, str):
            read.append(UnreadableCall.model_construct(id=found.id, name=name, args={}, problem=found.args))
        else:
            read.append(ToolCalls.ToolCall.model_construct(id=found.id, name=name, args=found.args))
    return ToolCalls.model_construct(tool_calls=read)


def with_tool_choice(options: Mapping[str, Any], own_names: Mapping[str, str], parallel: bool | None) -> dict[str, Any]:
    """Complete the options of a request that has tools, as DSPy does.

    Args:
        options: The options of the request in the making.
        own_names: The names of tools on the wire to their own, where they differ.
        parallel: What the adapter was told to ask for.

    Returns:
        A new dict.
    """
    told = {} if parallel is None else {"parallel_tool_calls": parallel}
    chosen = {**told, **options}
    choice = chosen.get("tool_choice")
    if choice is None:
        return {**chosen, "tool_choice": "auto"} if "parallel_tool_calls" in chosen else chosen
    function = choice.get("function") if isinstance(choice, Mapping) else None
    if isinstance(function, Mapping):
        for wire, own in own_names.items():
            if function.get("name") == own:
                chosen["tool_choice"] = {**choice, "function": {**function, "name": wire}}
    return chosen


def without_lone_tool_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of options in which nothing speaks of tools that are not there."""
    if options.get("tools"):
        return dict(options)
    return {name: value for name, value in options.items() if name not in _NEED_TOOLS and name != "tools"}


def adapt_types(
    kinds: Iterable[type[Any]], lm: Any, signature: Any, shown: Any, native: Native, options: dict[str, Any]
) -> tuple[Any, Native, dict[str, Any]]:
    """Let output types of their own kind turn to the model's own channels.

    Args:
        kinds: The types that may.
        lm: The model.
        signature: The signature as it was asked.
        shown: What the prompt shows of it so far.
        native: What went native so far.
        options: The options so far; not changed.

    Returns:
        The same three, after every type had its say.
    """
    allowed = tuple(kinds)
    typed: dict[str, type[Any]] = {}
    for name, info in signature.output_fields.items():
        kind = info.annotation
        if not (isinstance(kind, type) and issubclass(kind, allowed)):
            continue
        # A type of the user's may reach into nested options; ours only sets one.
        adapted = dict(options) if kind is Reasoning else copy.deepcopy(options)
        changed = kind.adapt_to_native_lm_feature(signature, name, lm, adapted)  # type: ignore[attr-defined]
        options = adapted
        if changed is None or name in changed.output_fields:
            continue
        typed[name] = kind
        if name != native.free_text:
            shown = _without_output(shown, name)
    return shown, replace(native, typed=MappingProxyType(typed)) if typed else native, options


def _without_output(shown: Any, name: str) -> Any:
    layout: Layout = layout_of(shown)
    return without_fields(shown, [name], layout) if layout.native else without_fields(shown, [name])
