"""The deliberate differences, each taken out of a pair of records by a function of its own.

A function changes the two records it is given (copies) so that the difference is gone, and
says whether it was there. It takes out no more than that: whatever else differs stays, and
fails the comparison. docs/differences.md has the reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness import Record, Scenario

from reasonact.adapters.composing import BEGIN

Path = tuple[Any, ...]


def error_text(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """A failed call is told in one short line instead of five traceback frames."""
    pairs = []
    for path, text in list(strings(theirs.results)):
        other = at(ours.results, path)
        failed = re.match(r"(?:Execution error in|Unknown tool:) (\w+)", text)
        if failed and isinstance(other, str) and other != text:
            assert failed[1] in other and len(other.splitlines()) == 1, other
            pairs.append((text, other))
    for number, (text, other) in enumerate(pairs):
        replace_everywhere(theirs, text, f"(error {number})")
        replace_everywhere(ours, other, f"(error {number})")
    return bool(pairs)


def finish_arguments(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """Values that the model passes to `finish` are no error."""
    if scenario.name != "finish with arguments":
        return False
    text = theirs.results[0]["trajectory"]["observation_0"]
    assert text.startswith("Execution error in finish")
    replace_everywhere(theirs, text, "Completed.")
    return True


def null_for_optional(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """The text ``null`` in an optional field is None."""
    found = False
    for path, text in list(strings(theirs.results)):
        if text == "null" and at(ours.results, path, "(nothing)") is None:
            put(theirs.results, path, None)
            found = True
    return found


def list_in_a_text_field(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """A list that stands in a text field is JSON, not a numbered list of quoted reprs."""
    found = False
    for path, text in list(strings(theirs.requests)):
        other = at(ours.requests, path)
        if (
            text.startswith("[1] «")
            and isinstance(other, str)
            and len(json.loads(other)) == text.count("» ") + text.count("»\n") + 1
        ):
            put(theirs.requests, path, other)
            found = True
    return found


def tools_in_the_system_message(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """In text mode ReActV2's tools stand in the system message, not in the last user message."""
    found = False
    for left, right in zip(theirs.requests, ours.requests, strict=False):
        slots = right["messages"][0].get("slots", [])
        if slots.count("tools") == 2:
            slots.reverse()
            slots.remove("tools")
            slots.reverse()
            for message in left["messages"][1:]:
                if message["role"] == "user" and isinstance(message["content"], list):
                    found |= "tools" in dict(message["content"])
                    message["content"] = [pair for pair in message["content"] if pair[0] != "tools"]
    return found


def trailing_reminder(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """No user message says nothing but the wanted fields, to be gone from the next request."""
    found = False
    for request in theirs.requests:
        last = request["messages"][-1]
        if (
            scenario.agent == "ReActV2"
            and last["role"] == "user"
            and not last["content"]
            and len(request["messages"]) > 2
        ):
            request["messages"].pop()
            found = True
    return found


def no_markers_in_native_turns(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """A native turn of ReActV2 is asked for no marker, and its thought is replayed as plain text."""
    found = False
    for left, right in zip(theirs.requests, ours.requests, strict=False):
        if scenario.agent != "ReActV2" or "tools" not in left["options"]:
            continue
        system = left["messages"][0]
        if ["next_thought", "str"] in system["fields"] and ["next_thought", "str"] not in right["messages"][0][
            "fields"
        ]:
            system["fields"].remove(["next_thought", "str"])
            system["slots"] = [slot for slot in system["slots"] if slot not in ("next_thought", "completed")]
            found = True
        for message in left["messages"][1:]:
            if message.get("asks for") == ["next_thought"]:
                del message["asks for"]
            if message["role"] == "assistant":
                message["content"] = plain_thought(message["content"])
        opening = right["messages"][1] if len(right["messages"]) > 1 else {}
        if (
            opening.get("content") == BEGIN
        ):  # with no marker to ask for and no input to say, something has to stand there
            opening["content"] = []
    return found


def plain_thought(content: Any) -> Any:
    if isinstance(content, list) and len(content) == 1 and content[0][0] == "next_thought":
        return content[0][1]
    if isinstance(content, dict) and set(content.get("(json)", {})) == {"next_thought"}:
        return content["(json)"]["next_thought"]
    return content


def unmarked_thought(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """Text beside native calls is the thought, marker or not."""
    if scenario.name != "a thought without its marker":
        return False
    event = ours.results[0]["history"]["(History)"][0]
    assert event.pop("next_thought") == "I look."
    assistant = ours.requests[1]["messages"][2]
    assert (assistant["role"], assistant["content"]) == ("assistant", "I look.")
    assistant["content"] = None
    return True


def first_submit(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """Of two submits in a turn the first valid one wins."""
    if scenario.name != "two submits in a turn":
        return False
    left, right = theirs.results[0], ours.results[0]
    assert (left["answer"], right["answer"]) == ("2", "1")
    event, other = left["history"]["(History)"][0], right["history"]["(History)"][0]
    assert [r["is_error"] for r in other["tool_calls"]["results"]] == [False, True]
    event["tool_calls"]["results"][1] = other["tool_calls"]["results"][1]
    left["answer"] = event["answer"] = "1"
    return True


def kept_text_turn(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """Text that came instead of calls is an event with the thought alone, and is replayed."""
    for result in ours.results:
        events = result.get("history", {}).get("(History)", [])
        for number, event in enumerate(events[:-1]):
            if "next_thought" in event and "tool_calls" not in event:
                inputs = {name: value for name, value in event.items() if name != "next_thought"}
                events[number : number + 2] = [{**inputs, **events[number + 1]}]
                break
    if scenario.agent != "ReActV2" or len(ours.requests) < 2:
        return False
    left, right = theirs.requests[-1]["messages"], ours.requests[-1]["messages"]
    replays = [m for m in right if m["role"] == "assistant" and not m.get("calls") and has_thought_alone(m["content"])]
    if not replays or any(m["role"] == "assistant" and not m.get("calls") for m in left):
        return False
    right.remove(replays[-1])
    return True


def has_thought_alone(content: Any) -> bool:
    if isinstance(content, dict):
        return "next_thought" in content.get("(json)", {})
    return isinstance(content, str) or (bool(content) and "next_thought" in dict(content))


def plain_answer(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """An event of a question and its answer is replayed to ReActV2 with the answer."""
    if scenario.name != "a history of plain questions and answers":
        return False
    left, right = theirs.requests[0]["messages"][2], ours.requests[0]["messages"][2]
    assert "earlier answer" in json.dumps(right) and "earlier answer" not in json.dumps(left)
    left["content"] = right["content"]
    return True


def closing_request(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """The forced submit is asked for by one closing user message, where ``tool_choice`` cannot do it alone."""
    if scenario.agent != "ReActV2" or not ours.requests or "reasoning_effort" not in ours.requests[-1]["options"]:
        return False
    messages = ours.requests[-1]["messages"]
    if messages[-1]["role"] != "user" or "submit" not in messages[-1].get("asks for", []):
        return False
    messages.pop()
    return True


def shortened_view(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """After a full context the forced submit is sent on a shorter view."""
    if scenario.name != "a full context" or scenario.agent != "ReActV2":
        return False
    left, right = theirs.requests[-1], ours.requests[-1]
    assert len(right["messages"]) < len(left["messages"])
    left["messages"] = right["messages"]
    return True


def submit_schema(scenario: Scenario, theirs: Record, ours: Record) -> bool:
    """The schema of `submit` tells a field's description and constraints, and which outputs may be left out."""
    found = False
    theirs_all = [theirs.tools.get("submit"), *sent_submits(theirs)]
    ours_all = [ours.tools.get("submit"), *sent_submits(ours)]
    for left, right in zip(theirs_all, ours_all, strict=False):
        if not left or not right:
            continue
        left, right = left["function"]["parameters"], right["function"]["parameters"]
        for name, schema in right["properties"].items():
            if name in left["properties"] and "description" in schema and "description" not in left["properties"][name]:
                del schema["description"]
                found = True
            if "default" in schema and name not in right["required"] and name in left.get("required", ()):
                del schema["default"]  # an output that has a default, or may be null, may be left out
                right["required"] = [known for known in left["required"] if known in (*right["required"], name)]
                found = True
    return found


def sent_submits(record: Record) -> Iterator[Any]:
    for request in record.requests:
        for tool in request["options"].get("tools", []):
            if tool["function"]["name"] == "submit":
                yield tool


DIFFERENCES: tuple[Callable[[Scenario, Record, Record], bool], ...] = (
    finish_arguments,
    error_text,
    null_for_optional,
    list_in_a_text_field,
    plain_answer,
    closing_request,
    tools_in_the_system_message,
    no_markers_in_native_turns,
    trailing_reminder,
    kept_text_turn,
    unmarked_thought,
    first_submit,
    shortened_view,
    submit_schema,
)


# Walking through plain data


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from strings(item, (*path, index))


def at(value: Any, path: Path, default: Any = None) -> Any:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return default
    return value


def put(value: Any, path: Path, new: Any) -> None:
    at(value, path[:-1])[path[-1]] = new


def replace_everywhere(record: Record, text: str, new: str) -> None:
    """Put a text's stand-in wherever it stands, as it is or inside JSON."""
    forms = [text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]]
    for data in (record.results, record.requests):
        for path, found in list(strings(data)):
            for form in forms:
                found = found.replace(form, new)
            put(data, path, found)
