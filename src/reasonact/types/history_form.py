"""The events of a history, to JSON data and back.

DSPy refuses unknown keys beside ``messages`` and passes over unknown keys within an event.
So what this library has to note stands in the events: ``__reasonact__`` holds, in the first
one, the version of the form, and in any one the places of values that JSON would turn into
plain data. They are noted beside the data and not in it, so that no tool's result can name
a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from reasonact.types.audio import Audio
from reasonact.types.base import Type
from reasonact.types.code import Code
from reasonact.types.file import File
from reasonact.types.image import Image
from reasonact.types.json_form import Path, json_form
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCallResults, ToolCalls

VERSION: Final = 1
NOTES: Final = "__reasonact__"

_CALLS: Final = "tool_calls"
_RESULTS: Final = "tool_call_results"
_TYPES: Final[Mapping[str, type[Any]]] = {kind.__name__: kind for kind in (Audio, Code, File, Image, Reasoning)}


def dump_events(events: Sequence[Mapping[str, Any]], *, versioned: bool) -> list[dict[str, Any]]:
    """Turn events into JSON data.

    Args:
        events: Events of a history.
        versioned: Whether the first event carries the version.

    Returns:
        New dicts, from which `read_events` makes equal events.
    """
    dumped = []
    for number, event in enumerate(events):
        places: list[list[Any]] = []
        data = {str(name): _dumped(name, value, places) for name, value in event.items() if name != NOTES}
        notes: dict[str, Any] = {"version": VERSION} if versioned and number == 0 else {}
        if places:
            notes["types"] = places
        dumped.append({**data, NOTES: notes} if notes else data)
    return dumped


def holds_types(events: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether JSON data alone would lose the type of something in the events."""
    places: list[list[Any]] = []
    for event in events:
        for name, value in event.items():
            if not isinstance(value, (str, int, float, type(None))):
                _dumped(name, value, places)
            if places:
                return True
    return False


def read_events(data: Sequence[Any]) -> list[dict[str, Any]]:
    """Turn JSON data, of this library or of DSPy, into events; events that are objects already pass through.

    Calls without an id take that of their result, else ``call_<turn>_<index>``; a call whose
    id an earlier turn has gets a new one.

    Args:
        data: Events.

    Returns:
        Events; those that needed no change are the same objects.

    Raises:
        ValueError: An event is no dict, its notes are not of a known form or version, or it
            holds tool calls that cannot be read.
    """
    events: list[dict[str, Any]] = []
    taken: set[str] = set()
    for turn, item in enumerate(data):
        if not isinstance(item, Mapping):
            raise ValueError(f"event {turn} of the history must be a dict of fields, found {type(item).__name__}")
        event = _with_types(item, turn) if NOTES in item else item if isinstance(item, dict) else dict(item)
        calls = event.get(_CALLS)
        if isinstance(calls, Mapping) and isinstance(calls.get(_CALLS), (list, tuple)):
            calls = ToolCalls.model_validate({**calls})
        if isinstance(calls, ToolCalls):
            calls = _with_ids(calls, turn, taken)
            taken.update(call.id for call in calls.tool_calls if call.id)
            if calls is not event[_CALLS]:
                event = {**event, _CALLS: calls}
        events.append(event)
    return events


def fresh_call_id(turn: int, index: int, taken: Iterable[str]) -> str:
    """An id for a call that has none: ``call_<turn>_<index>``, with the turn counted on while it is taken.

    Args:
        turn: The number of the turn, from 0.
        index: The number of the call within it, from 0.
        taken: The ids of the history so far.

    Returns:
        An id that is not among them.
    """
    used = taken if isinstance(taken, (set, frozenset, dict)) else set(taken)
    while f"call_{turn}_{index}" in used:
        turn += 1
    return f"call_{turn}_{index}"


def _dumped(name: str, value: Any, places: list[list[Any]]) -> Any:
    if isinstance(value, ToolCalls):
        dumped = _dumped_calls(name, value, places)
        if name != _CALLS:  # under its own name it is known by its shape, as in DSPy's dump
            places.append([[name], ToolCalls.__name__])
        return dumped
    found: list[tuple[Path, Type]] = []
    data = json_form(value, found, (str(name),))
    if any(_type_name(item) is None for _, item in found):
        # A class of the program's own cannot be named in a file: it is kept as the model was shown it.
        return json_form(value)
    places.extend([list(path), _type_name(item)] for path, item in found)
    return data


def _dumped_calls(name: str, calls: ToolCalls, places: list[list[Any]]) -> dict[str, Any]:
    dumped: dict[str, Any] = {
        "tool_calls": [
            {**({"id": call.id} if call.id else {}), "name": call.name, "args": json_form(call.args)}
            for call in calls.tool_calls
        ]
    }
    if calls.tool_call_results is None:
        return dumped
    results = []
    for index, result in enumerate(calls.tool_call_results.tool_call_results):
        inner: list[list[Any]] = []
        value = _dumped("value", result.value, inner)
        results.append({"call_id": result.call_id, "name": result.name, "value": value, "is_error": result.is_error})
        places.extend([[name, _RESULTS, _RESULTS, index, *path], kind] for path, kind in inner)
    return {**dumped, _RESULTS: {_RESULTS: results}}


def _type_name(value: Type) -> str | None:
    kind = type(value)
    if isinstance(value, Code) and kind is Code.for_language(value.language):
        return f"Code:{value.language}"
    return kind.__name__ if _TYPES.get(kind.__name__) is kind else None


def _named_type(name: Any) -> type[Any]:
    kind, _, language = str(name).partition(":")
    if kind == ToolCalls.__name__:
        return ToolCalls
    if kind not in _TYPES:
        raise ValueError(f"a history of this form cannot hold {name!r}")
    return Code.for_language(language) if language and kind == "Code" else _TYPES[kind]


def _with_types(item: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """An event whose noted places hold values of their types again."""
    notes = item[NOTES]
    event = {name: value for name, value in item.items() if name != NOTES}
    version = notes.get("version", VERSION) if isinstance(notes, Mapping) else None
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"event {turn} of the history has notes of no known form under {NOTES!r}")
    if version > VERSION:
        raise ValueError(f"the history has version {version}, and this library reads up to {VERSION}; update reasonact")
    try:
        for path, name in notes.get("types", ()):
            event = _replaced(event, tuple(path), _named_type(name))
    except (TypeError, LookupError, ValueError) as error:
        raise ValueError(f"event {turn} of the history notes a type where there is none ({error})") from None
    return event


def _replaced(data: Any, path: Path, kind: type[Any]) -> Any:
    if not path:
        return kind.model_validate(data)
    if isinstance(data, list):
        copied: Any = list(data)
    elif isinstance(data, dict):
        copied = dict(data)
    else:
        raise TypeError(f"{type(data).__name__} holds no {path[0]!r}")
    copied[path[0]] = _replaced(copied[path[0]], path[1:], kind)
    return copied


def _with_ids(calls: ToolCalls, turn: int, taken: set[str]) -> ToolCalls:
    """The calls with an id for each that no earlier one has, and results that say the same ids."""
    results = list(calls.tool_call_results.tool_call_results) if calls.tool_call_results else []
    # DSPy's dump drops the ids of calls and keeps those of results: then the place links them.
    in_place = len(results) == len(calls.tool_calls) and all(
        result.name == call.name and (call.id is None or result.call_id in (None, call.id))
        for result, call in zip(results, calls.tool_calls, strict=True)
    )
    used = set(taken)
    ids: list[str] = []
    for index, call in enumerate(calls.tool_calls):
        wanted = call.id or (results[index].call_id if in_place else None)
        if not wanted or wanted in used:
            wanted = fresh_call_id(turn, index, used)
        used.add(wanted)
        ids.append(wanted)
    if all(call.id == call_id for call, call_id in zip(calls.tool_calls, ids, strict=True)) and not any(
        in_place and result.call_id is None for result in results
    ):
        return calls
    renamed: dict[str | None, str] = {}
    for call, call_id in zip(calls.tool_calls, ids, strict=True):
        renamed.setdefault(call.id, call_id)
    linked = [
        result.model_copy(update={"call_id": ids[index] if in_place else renamed.get(result.call_id, result.call_id)})
        for index, result in enumerate(results)
    ]
    return ToolCalls.model_construct(
        tool_calls=[
            call.model_copy(update={"id": call_id}) for call, call_id in zip(calls.tool_calls, ids, strict=True)
        ],
        tool_call_results=ToolCallResults.model_construct(tool_call_results=linked) if results else None,
    )
