"""From a history to messages.

An event is a dict with the fields of one turn: inputs that were said, a thought, calls
with their results, or a plain answer. It always becomes the same messages, and the same
as those of the live request that said its inputs: so each request of a run begins with
the whole one before it, and a provider's prompt cache holds.

What an event says under `CORRECTION` follows as a user message. An event that has ``role``
and ``content``, and no field of the signature by these names, is a message as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from reasonact.adapters.content import Content, joined, text_and_media
from reasonact.adapters.ending_tools import FINISH
from reasonact.adapters.fields import named
from reasonact.adapters.layout import Layout, layout_of, without_fields
from reasonact.adapters.native import wire_name
from reasonact.adapters.trajectory_text import TrajectoryText
from reasonact.adapters.values import clean_text, json_text, render_value
from reasonact.types.history import CORRECTION, History
from reasonact.types.tool_calls import ToolCalls

if TYPE_CHECKING:
    from reasonact.adapters.base import Adapter

Message = dict[str, Any]

INTERRUPTED: Final = "interrupted: the run was stopped before this call gave a result"
"""What the model reads in place of a result that never came."""


RETURNED: Final = "@provider_fields"
"""The key under which an event keeps the fields of an assistant message that go back to the provider with its turn."""


class Rendered:
    """What one run has rendered so far, so that each turn pays for its new events alone.

    It belongs to one run and is handed from request to request. What it holds is used
    only for the same adapter, the same signature, and a history that begins with the very
    same event objects; anything else is rendered anew.
    """

    __slots__ = (
        "_descriptors",
        "_descriptors_of",
        "_events",
        "_head",
        "_head_key",
        "_key",
        "_messages",
        "_names",
        "trajectory",
    )

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._events: list[Any] = []
        self._messages: list[Message] = []
        self._names = CallNames()
        self._head_key: list[Any] = []
        self._head: list[Message] = []
        self._descriptors_of: list[Any] = []
        self._descriptors: list[dict[str, Any]] = []
        self.trajectory = TrajectoryText()

    def head(self, *key: Any) -> list[Message] | None:
        """The messages before the history, if they were made for the very same objects."""
        same = len(key) == len(self._head_key) and all(map(_same, key, self._head_key))
        return self._head if same else None

    def keep_head(self, messages: list[Message], *key: Any) -> None:
        """Keep the messages before the history."""
        self._head_key = [list(item) if isinstance(item, list) else item for item in key]
        self._head = messages

    def descriptors(self, tools: list[Any]) -> list[dict[str, Any]]:
        """The tools as a provider is told of them, made once for the same tools."""
        if not _same(tools, self._descriptors_of):
            self._descriptors_of = list(tools)
            self._descriptors = [_descriptor(tool) for tool in tools]
        return list(self._descriptors)

    def history(
        self, adapter: Adapter, signature: Any, events: Sequence[Any], wire: Mapping[str, str]
    ) -> list[Message]:
        """The messages of a history; only events that are new since last time are rendered."""
        key = (adapter, signature, tuple(wire.items()))
        known = len(self._events)
        same = (
            len(self._key) == len(key)
            and self._key[0] is adapter
            and self._key[1] is signature
            and self._key[2] == key[2]
            and known <= len(events)
            and all(map(is_, self._events, events))
        )
        if not same:
            self._key, self._names = key, CallNames()
            self._events, self._messages = [], []
            known = 0
        for turn in range(known, len(events)):
            self._messages += event_messages(adapter, signature, events[turn], turn, self._names, wire)
            self._events.append(events[turn])
        return self._messages


class CallNames:
    """The call ids of a history, each given once."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, given: str | None, turn: int, index: int) -> str:
        """The id of a call: its own, or the next free ``call_<turn>_<index>``."""
        name = given
        while not name or (given is None and name in self._taken):
            name = f"call_{turn}_{index}"
            turn += 1
        self._taken.add(name)
        return name


def history_events(value: Any) -> Sequence[Any]:
    """The events of what a history field holds: a `History`, its dict, or nothing."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = History.model_validate(value)
    return value.messages  # type: ignore[no-any-return]


def history_messages(
    adapter: Adapter, signature: Any, events: Sequence[Any], rendered: Rendered | None, wire: Mapping[str, str]
) -> list[Message]:
    """The messages of a history.

    Args:
        adapter: Gives messages their form.
        signature: The signature as single messages show it.
        events: The events.
        rendered: What the run has rendered so far.
        wire: Names of tools to their names on the wire, where they differ.

    Returns:
        The messages, in order. Not to be changed: a run shares them between requests.
    """
    return (rendered or Rendered()).history(adapter, signature, events, wire)


def event_messages(
    adapter: Adapter, signature: Any, event: Mapping[str, Any], turn: int, names: CallNames, wire: Mapping[str, str]
) -> list[Message]:
    """The messages of one event.

    Args:
        adapter: Gives messages their form.
        signature: The signature as single messages show it.
        event: The event.
        turn: Its number in the history, from 0.
        names: The call ids so far.
        wire: Names of tools to their names on the wire, where they differ.

    Returns:
        What the user said, what the model said, what the tools returned.
    """
    layout = layout_of(signature)
    if "role" in event and "content" in event and not {"role", "content"} & signature.fields.keys():
        return [{"role": event["role"], "content": event["content"]}]
    messages: list[Message] = []
    said = {name: event[name] for name in signature.input_fields if name in event}
    if layout.agent:
        said = {name: value for name, value in said.items() if value is not None and name != layout.tools}
    if said:
        content = adapter.format_user_message_content(signature, said, main_request=True)
        messages.append({"role": "user", "content": content})
    calls = _calls_of(event, layout)
    if calls is None or not calls.tool_calls:
        messages += _answer(adapter, signature, layout, event, said=bool(said))
    else:
        ids = [names.claim(item.id, turn, index) for index, item in enumerate(calls.tool_calls)]
        results = _results(calls, ids)
        if layout.native:
            messages += _native_turn(adapter, signature, layout, event, calls, ids, results, wire)
        else:
            messages.append({"role": "assistant", "content": _outputs(adapter, signature, layout, event)})
            content = adapter.format_tool_results(results)
            if content:
                messages.append({"role": "user", "content": content})
        if layout.agent and any(item.name == FINISH for item in calls.tool_calls):
            messages += _said_beside(adapter, signature, layout, _after_calls(event, layout))
    if CORRECTION in event:
        messages.append({"role": "user", "content": event[CORRECTION]})
    return messages


def _calls_of(event: Mapping[str, Any], layout: Layout) -> ToolCalls | None:
    value = event.get(layout.tool_calls) if layout.tool_calls else None
    if value is None or isinstance(value, ToolCalls):
        return value
    return ToolCalls.model_validate(value)


def _results(calls: ToolCalls, ids: Sequence[str]) -> list[dict[str, Any]]:
    """One result for every call, in the order of the calls; results of no call are left out."""
    given = {
        item.call_id: item for item in (calls.tool_call_results.tool_call_results if calls.tool_call_results else ())
    }
    results = []
    for name, item in zip(ids, calls.tool_calls, strict=True):
        found = given.get(name)
        value, failed = (INTERRUPTED, True) if found is None else (found.value, found.is_error)
        if isinstance(value, float) and not math.isfinite(value):
            value = str(float(value))  # alone it is a word, in every form; within JSON there is only null
        results.append({"call_id": name, "name": item.name, "value": value, "is_error": failed})
    return results


def _native_turn(
    adapter: Adapter,
    signature: Any,
    layout: Layout,
    event: Mapping[str, Any],
    calls: ToolCalls,
    ids: Sequence[str],
    results: Sequence[Mapping[str, Any]],
    wire: Mapping[str, str],
) -> list[Message]:
    turn: Message = {"role": "assistant", "content": None}
    if layout.free_text:
        turn.update(_thought(event, layout.free_text))
    else:
        if any(name in event for name in signature.output_fields):
            turn["content"] = _outputs(adapter, signature, layout, event)
        turn.update(event.get(RETURNED) or {})
    turn["tool_calls"] = [_wire_call(name, item, wire) for name, item in zip(ids, calls.tool_calls, strict=True)]
    messages = [turn]
    shown: list[Content] = []
    for result in results:
        # A tool message takes text alone; media follow the turn in a user message.
        text, media = text_and_media(render_value(result["value"]), f"result {result['call_id']}")
        name = wire.get(result["name"], result["name"])
        messages.append({"role": "tool", "tool_call_id": result["call_id"], "name": name, "content": text})
        shown.append(media)
    if any(shown):
        messages.append({"role": "user", "content": joined(shown)})
    return messages


def _wire_call(call_id: str, item: ToolCalls.ToolCall, wire: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": wire.get(item.name, item.name), "arguments": json_text(item.args)}
    return {"id": call_id, "type": "function", "function": function}


def _thought(event: Mapping[str, Any], field: str) -> Message:
    """The part of an assistant message that a thought is."""
    text = clean_text(str(event.get(field) or ""))
    returned = event.get(RETURNED) or {}
    # A thought that is the model's reasoning goes back as that, not a second time as text.
    return {"content": None if text.strip() in _reasoned(returned) else text or None, **returned}


def _reasoned(returned: Mapping[str, Any]) -> tuple[str, ...]:
    """The reasoning that goes back to the provider, as text, in each form that it has."""
    blocks = returned.get("thinking_blocks") or ()
    thought = "".join(str(block.get("thinking", "")) for block in blocks if isinstance(block, Mapping))
    return thought.strip(), str(returned.get("reasoning_content") or "").strip()


def _answer(adapter: Adapter, signature: Any, layout: Layout, event: Mapping[str, Any], *, said: bool) -> list[Message]:
    """What the model said in a turn without calls."""
    present = [name for name in signature.output_fields if event.get(name) is not None]
    if not layout.agent:
        if not present and not said:
            return []  # an event with none of the signature's fields, a correction perhaps
        return [{"role": "assistant", "content": adapter.format_assistant_message_content(signature, event)}]
    if present:
        if layout.free_text and layout.free_text in present:
            return [{"role": "assistant", **_thought(event, layout.free_text)}]
        return [{"role": "assistant", "content": _outputs(adapter, signature, layout, event)}]
    return _said_beside(adapter, signature, layout, event)


def _after_calls(event: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """What an event holds behind its calls: where `finish` ended a run, the outputs, which no result tells."""
    names = list(event)
    return {name: event[name] for name in names[names.index(layout.tool_calls or "") + 1 :]}


def _said_beside(adapter: Adapter, signature: Any, layout: Layout, event: Mapping[str, Any]) -> list[Message]:
    """Values of an agent's event that are none of its turn's fields, as the model's own words."""
    fields = {layout.tool_calls, layout.tools, RETURNED, CORRECTION, *signature.fields}
    others = {name: value for name, value in event.items() if name not in fields}
    if not others:
        return []
    first = next(iter(others.values()))
    if layout.free_text and len(others) == 1 and isinstance(first, str):
        return [{"role": "assistant", "content": first}]
    return [
        {
            "role": "assistant",
            "content": adapter.format_field_with_value({named(name): value for name, value in others.items()}),
        }
    ]


def _outputs(adapter: Adapter, signature: Any, layout: Layout, event: Mapping[str, Any]) -> Content:
    """The outputs that an event has. An agent's turn may lack some, and lacking is not a value."""
    lacking = [name for name in signature.output_fields if event.get(name) is None]
    present = without_fields(signature, lacking, layout) if lacking else signature
    content: Content = adapter.format_assistant_message_content(present, event)
    return content


def _descriptor(tool: Any) -> dict[str, Any]:
    descriptor: dict[str, Any] = tool.format_as_litellm_function_call()
    name = wire_name(tool)
    function = descriptor.get("function")
    if isinstance(function, dict) and function.get("name") != name:
        return {**descriptor, "function": {**function, "name": name}}
    return descriptor


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_, one, other))
    return one is other
