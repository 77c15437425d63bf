"""Tool calls in the shapes that models and providers give them.

The shapes of a call as data are known to ``ToolCalls``. Here calls are found in text, also
one after another, and a provider's own calls are read. What has no known shape is an
error: a call that was misread must not run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from reasonact.adapters.lenient_json import json_values_in, unfenced, whole_value, without_thoughts
from reasonact.types.tool_calls import ToolCalls

_ARGUMENT_KEYS = ("args", "arguments", "parameters", "input")
_LIST_KEYS = ("tool_calls", "items")
_SHOWN = 120  # characters of a misread call in its error
_MARKER = re.compile(r"[ \t]*\[\[ ## (\w+) ## \]\][ \t]*")
_LAST_MARKER = "[[ ## completed ## ]]"


def read_tool_calls(value: Any) -> list[dict[str, Any]]:
    """Read the tool calls in a text or in parsed JSON.

    Args:
        value: A call, a list of calls, an object with ``tool_calls`` or ``items``, or a
            text with any of these (fenced, among prose, one after another).

    Returns:
        ``{"name": str, "args": dict}`` for each call, with ``"id"`` where one was given.

    Raises:
        ValueError: Something in it has no known shape, or a call's arguments are no object.
    """
    if isinstance(value, str):
        return _calls_in_text(value)
    try:
        calls = ToolCalls.model_validate(value).tool_calls
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise ValueError("; ".join(fault["msg"].removeprefix("Value error, ") for fault in faults)) from None
    if any(not call.name.strip() for call in calls):
        raise ValueError(f"a tool call names no tool: {_shown(value)}")
    return [_as_dict(call) for call in calls]


def _as_dict(call: ToolCalls.ToolCall) -> dict[str, Any]:
    named = {"name": call.name.strip(), "args": call.args}
    return {"id": call.id, **named} if call.id else named


def _calls_in_text(text: str) -> list[dict[str, Any]]:
    body = unfenced(without_thoughts(text))
    try:
        whole = whole_value(body)
    except ValueError:
        pass
    else:
        if whole is None or isinstance(whole, str):
            raise ValueError(f"expected tool calls, found {_shown(text)}")
        return read_tool_calls(whole)
    found = json_values_in(body)
    if not found:
        raise ValueError(f"expected tool calls as JSON, found {_shown(text)}")
    # An aside in braces before the calls is prose; what is like a call must be one.
    calls = [item for item in found if _is_like_calls(item)]
    return [call for item in calls or found for call in read_tool_calls(item)]


def _is_like_calls(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_like_calls(item) for item in value)
    return isinstance(value, dict) and any(key in value for key in ("name", "function", *_LIST_KEYS))


def _is_empty(arguments: Any) -> bool:
    return arguments is None or (isinstance(arguments, (str, list, Mapping)) and not arguments)


def _argument_object(arguments: Any, name: str) -> dict[str, Any]:
    if isinstance(arguments, str):
        if not arguments.strip():
            return {}
        try:
            read = whole_value(arguments)
        except ValueError as error:
            raise ValueError(f"the arguments of {name!r} are no JSON object: {_shown(arguments)} ({error})") from None
        arguments = {} if read is None else read
    if not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments of {name!r} are no object: {_shown(arguments)}")
    return {str(key): value for key, value in arguments.items()}


class NativeCall(NamedTuple):
    """A tool call as a provider reported it.

    Attributes:
        id: The provider's id, None where it gave none.
        name: The tool's name; empty where the provider gave none.
        args: The arguments by name; or a text that says why they could not be read.
    """

    id: str | None
    name: str
    args: dict[str, Any] | str


def read_native_call(call: Any) -> NativeCall:
    """Read one entry of a provider's ``tool_calls``.

    Args:
        call: An object or a dict of the OpenAI shape: ``id``, ``function.name`` and
            ``function.arguments`` (JSON text, or a dict from some clients).

    Returns:
        Id, name and arguments. Arguments that are no JSON object are no exception: the
        model hears of them under the call's own id.
    """
    function = _member(call, "function")
    holder = call if function is None else function
    name = _member(holder, "name")
    name = name.strip() if isinstance(name, str) else ""
    identifier = _member(call, "id") or _member(call, "call_id")
    identifier = identifier if isinstance(identifier, str) else None
    raw = next((found for key in ("arguments", *_ARGUMENT_KEYS) if (found := _member(holder, key)) is not None), None)
    if not name:
        return NativeCall(identifier, "", f"the call names no tool: {_shown(call)}")
    try:
        args = {} if _is_empty(raw) else _argument_object(raw, name)
    except ValueError as error:
        return NativeCall(identifier, name, str(error))
    return NativeCall(identifier, name, {key: _unwrapped(key, value) for key, value in args.items()})


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _unwrapped(name: str, value: Any) -> Any:
    return unwrap_markers(value, name) if isinstance(value, str) else value


def unwrap_markers(text: str, name: str) -> str:
    """Take off the field markers that a model wrote into an argument.

    Args:
        text: The argument's text.
        name: The argument's name; another field's marker at the start is content.

    Returns:
        The content of the field, without the closing marker; the same text where there is
        none. Markers inside the content stay.
    """
    if "[[ ## " not in text:
        return text
    start = text.lstrip()
    opened = _MARKER.match(start)
    if opened is None:
        return _without_last_marker(text)
    return _without_last_marker(start[opened.end() :]).strip() if opened[1] == name else text


def _without_last_marker(text: str) -> str:
    end = text.rstrip()
    return end.removesuffix(_LAST_MARKER).rstrip() if end.endswith(_LAST_MARKER) else text


def _shown(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
