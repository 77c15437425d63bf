"""Putting the messages of a request together, by way of an adapter's hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from reasonact.adapters.conversation import Message, Rendered, history_events, history_messages
from reasonact.adapters.fields import FieldInfoWithName
from reasonact.adapters.layout import layout_of, spoken
from reasonact.adapters.native import tool_list
from reasonact.adapters.plan import Native
from reasonact.signatures.memo import kept

if TYPE_CHECKING:
    from reasonact.adapters.base import Adapter

_SYSTEM_HOOKS: Final = (
    "format_system_message",
    "format_field_description",
    "format_field_structure",
    "format_task_description",
)
HOOKS: Final = (
    "format",
    *_SYSTEM_HOOKS,
    "format_user_message_content",
    "format_assistant_message_content",
    "format_demos",
    "format_conversation_history",
    "user_message_output_requirements",
    "format_field_with_value",
    "format_tool_results",
    "format_worked_example",
)
"""The methods that make messages, any of which a program may override."""

_OWN_PACKAGE: Final = f"{__package__}."
_NOTHING_NATIVE: Final = Native()


def overrides(adapter: Adapter, *methods: str) -> bool:
    """Whether any of these methods of an adapter is a program's own."""
    kind, own = type(adapter), vars(adapter)
    return any(name in own or not getattr(kind, name).__module__.startswith(_OWN_PACKAGE) for name in methods)


def compose(
    adapter: Adapter,
    signature: Any,
    demos: list[Any],
    inputs: Mapping[str, Any],
    rendered: Rendered | None = None,
    native: Native = _NOTHING_NATIVE,
) -> list[Message]:
    """The messages of a request.

    Args:
        adapter: Gives messages their form.
        signature: The signature as the prompt shows it.
        demos: Examples.
        inputs: The signature's inputs.
        rendered: What the run that asks has rendered so far.
        native: What went native.

    Returns:
        System message, demos, past events, and what is asked now. An agent's turn that
        says no inputs ends with the last event: nothing stands there that would be gone,
        and break the prompt cache, in the next request.
    """
    layout = layout_of(signature)
    single = spoken(signature)
    said = {name: inputs[name] for name in single.input_fields if name in inputs}
    tools: list[Any] = []
    if layout.agent:
        said = {name: value for name, value in said.items() if value is not None and name != layout.tools}
        tools = tool_list(inputs.get(layout.tools or "")) if not layout.native else []
    key = (adapter, signature, demos, tools)
    head = rendered.head(*key) if rendered else None
    if head is None:
        head = _head(adapter, signature, demos, tools)
        if rendered:
            rendered.keep_head(head, *key)
    past: list[Message] = []
    if layout.history is not None:
        if overrides(adapter, "format_conversation_history"):
            past = adapter.format_conversation_history(signature, layout.history, dict(inputs))
        else:
            wire = {own: wire for wire, own in native.own_names.items()}
            past = history_messages(adapter, single, history_events(inputs.get(layout.history)), rendered, wire)
    messages = list(head)
    if layout.agent and not said and (not past or past[0]["role"] != "user"):
        # Providers refuse a conversation that no user opens, and a task may have no input to say.
        opening = adapter.user_message_output_requirements(single) or BEGIN
        messages.append({"role": "user", "content": opening})
    messages += past
    if said or not layout.agent:
        content = adapter.format_user_message_content(single, said, main_request=True)
        messages.append({"role": "user", "content": content})
    return messages


BEGIN: Final = "Begin."
"""What opens a conversation in which there is nothing else to say."""


def _head(adapter: Adapter, signature: Any, demos: list[Any], tools: list[Any]) -> list[Message]:
    """The messages before the history: what the run keeps unchanged."""
    system = [_system_message(adapter, signature)]
    name = layout_of(signature).tools
    if tools and name:
        field = FieldInfoWithName(name, signature.input_fields[name])
        system.append(adapter.format_tool_list(field, tools))
    if not demos:
        system.append(adapter.format_worked_example(signature, tools))
    return [
        {"role": "system", "content": "\n\n".join(part for part in system if part)},
        *adapter.format_demos(signature, demos),
    ]


def _system_message(adapter: Adapter, signature: Any) -> str:
    if overrides(adapter, *_SYSTEM_HOOKS):
        return adapter.format_system_message(signature)
    return kept(signature, (type(adapter), "system message"), adapter.format_system_message)
