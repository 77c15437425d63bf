"""JSON as models write it: fenced, after prose or thoughts, nearly valid, cut off.

Strict JSON costs what ``json.loads`` costs. Everything else is found by reading
once from each bracket that may open a value (``tolerant_reader``). How often a stretch
of text may be read again is bounded, so that the whole stays linear for any text;
json-repair, which is not, is asked last and for little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NoReturn

from reasonact.adapters.tolerant_reader import Reading, read_from

REPAIR_LIMIT = 64 * 1024
"""Characters that json-repair may see: it is slow on long and hostile text."""

_REPAIRS = 8  # broken values in one text: each repair reads on to the end
_REREADING = 2  # how many times its own length a text may be read again after faults
_STRICT_TRIES = 4  # valid JSON in a fence or after a word of prose is left to the C parser
_DECODERS = {False: json.JSONDecoder(), True: json.JSONDecoder(parse_float=Decimal)}
_OPENER = re.compile(r"[{\[]")
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(_THOUGHT.pattern.removeprefix(r"\s*"), re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n")
_BARE_WORDS: dict[str, Any] = {"None": None, "True": True, "False": False}


def loads_lenient(text: str, wanted_keys: Sequence[str] | None = None, *, exact_numbers: bool = False) -> Any:
    """Read the JSON value in a completion.

    Args:
        text: What the model wrote. Thoughts, prose, fences and broken spots are allowed.
        wanted_keys: Keys of the object looked for. Of several objects that with the most
            of them is taken, the later one among equals; without keys the last object.
        exact_numbers: True to get numbers with a fraction as ``decimal.Decimal``.

    Returns:
        The value, as ``json.loads`` would give it.

    Raises:
        ValueError: There is no JSON value in the text, or it cannot be read for certain.
    """
    value = _strict(text, exact_numbers)
    if value is _NOT_JSON:
        body = without_thoughts(text)
        value = _strict(body, exact_numbers) if body is not text else _NOT_JSON
        if value is _NOT_JSON and body.strip() in _BARE_WORDS:
            value = _BARE_WORDS[body.strip()]
        if value is _NOT_JSON:
            return _chosen(body, wanted_keys, exact_numbers)
    if wanted_keys and isinstance(value, str) and _OPENER.search(value):
        return _chosen(value, wanted_keys, exact_numbers)  # the object as a JSON text
    if wanted_keys and isinstance(value, list) and len(value) == 1 and _score(value[0], wanted_keys) > 0:
        return value[0]
    return value


def whole_value(text: str, *, exact_numbers: bool = False) -> Any:
    """Read a text that is one JSON value or Python literal from end to end.

    Args:
        text: The text; a fence around it counts as form.
        exact_numbers: True to get numbers with a fraction as ``decimal.Decimal``.

    Returns:
        The value.

    Raises:
        ValueError: There is anything else in the text, or its end is missing.
    """
    body = unfenced(text).strip()
    value = _strict(body, exact_numbers)
    if value is not _NOT_JSON:
        return value
    if body in _BARE_WORDS:
        return _BARE_WORDS[body]
    if body[:1] in ("{", "[", "("):
        reading = read_from(body, 0, exact=exact_numbers)
        if reading.complete and reading.end == len(body):
            return reading.value
    if len(body) > 1 and body[0] in "\"'" and body[-1] == body[0]:
        reading = read_from(f"[{body}]", 0)
        if reading.complete and reading.end == len(body) + 2 and len(reading.value) == 1:
            return reading.value[0]
    raise ValueError("the text is not one JSON value from end to end")


def json_values_in(text: str) -> list[Any]:
    """Find the objects and arrays that stand in a text one after another.

    Args:
        text: Any text.

    Returns:
        The values, in order. Brackets missing at the end are closed.

    Raises:
        ValueError: One of them cannot be read for certain, or was cut inside a value.
    """
    body = without_thoughts(text)
    readings = list(_readings(body, False))
    if sum(bool(reading.fault) for reading in readings) <= _REPAIRS:
        readings = [_mended(reading, body) for reading in readings]
    _refuse_faults(body, readings)
    if any(reading.cut for reading in readings):
        raise ValueError("the JSON ends inside a value")
    return [reading.value for reading in readings]


def without_thoughts(text: str) -> str:
    """Leave out the think block that a completion starts with.

    Args:
        text: A completion.

    Returns:
        What follows the block; the same object where there is none, or no end to it.
    """
    opened = _THOUGHT.match(text)
    closed = _THOUGHT_END.search(text, opened.end() if opened else 0)
    if closed is None:
        return text
    before, after = text[: closed.start()], text[closed.end() :]
    if opened is not None:
        return after
    # Some servers send the end of the block without its start. A tag within a value is content.
    inside = _THOUGHT_START.search(before) or before.lstrip()[:1] in ("{", "[", "`")
    return text if inside or (_OPENER.search(before) and not _OPENER.search(after)) else after


def unfenced(text: str) -> str:
    """Take the fence off a text that is one fenced block.

    Args:
        text: Any text.

    Returns:
        The block's content; the same object where the text is anything else.
    """
    stripped = text.strip()
    opened = _FENCE.match(stripped)
    if opened is not None and stripped.endswith(opened[1]):
        body = stripped[opened.end() : -len(opened[1])]
        return text if opened[1] in body else body.rstrip(" \t").removesuffix("\n")
    if len(stripped) > 6 and stripped.startswith("```") and stripped.endswith("```") and "\n" not in stripped:
        return stripped.strip("`")
    return text


_NOT_JSON = object()


def _strict(text: str, exact: bool) -> Any:
    try:
        return json.loads(text, parse_float=Decimal) if exact else json.loads(text)
    except json.JSONDecodeError:
        return _NOT_JSON
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read") from None
    except ValueError as error:
        raise ValueError(f"the JSON holds a number that cannot be read: {error}") from None


def find_object(text: str, wanted_keys: Sequence[str] | None = None, *, exact_numbers: bool = False) -> dict[Any, Any]:
    """Find the object in a text that may hold other things too.

    Args:
        text: Any text.
        wanted_keys: As in :func:`loads_lenient`.
        exact_numbers: True to get numbers with a fraction as ``decimal.Decimal``.

    Returns:
        The object.

    Raises:
        ValueError: There is none, or it cannot be read for certain.
    """
    value = _chosen(without_thoughts(text), wanted_keys, exact_numbers)
    if not isinstance(value, dict):
        raise ValueError("there is no JSON object in the text")
    return value


def find_array(text: str, *, exact_numbers: bool = False) -> list[Any]:
    """Find the array in a text that may hold other things too.

    Args:
        text: Any text.
        exact_numbers: True to get numbers with a fraction as ``decimal.Decimal``.

    Returns:
        The one array; or, where the text is objects one after another and nothing else,
        the list of them.

    Raises:
        ValueError: There is none, there are several that differ, or it cannot be read.
    """
    body = without_thoughts(text)
    readings = [_mended(reading, body) for reading in _last_fault_only(_readings(body, exact_numbers))]
    _refuse_faults(body, readings)
    arrays = [reading.value for reading in readings if isinstance(reading.value, list)]
    if arrays:
        if any(array != arrays[0] for array in arrays):
            raise ValueError("the text holds several JSON arrays, and they differ")
        return arrays[0]
    if len(readings) > 1 and _nothing_between(unfenced(body)):
        return [reading.value for reading in readings]
    raise ValueError("there is no JSON array in the text")


def _nothing_between(text: str) -> bool:
    """Whether a text is objects to its end, with nothing but commas and space between them."""
    between, at = "", 0
    for reading in _readings(text, False):
        if not reading.complete:
            return False
        between += text[at : reading.start]
        at = reading.end
    return not (between + text[at:]).strip(", \t\r\n;")


def _chosen(text: str, wanted_keys: Sequence[str] | None, exact: bool) -> Any:
    readings = [_mended(reading, text) for reading in _last_fault_only(_readings(text, exact))]
    found = [reading for reading in readings if not reading.fault]
    if not found:
        _refuse(text, readings)
    keys = wanted_keys or ()
    best = max(enumerate(found), key=lambda pair: (_score(pair[1].value, keys), pair[0]))[1]
    later_fault = [reading for reading in readings if reading.fault and reading.start > best.start]
    if later_fault:
        _refuse(text, later_fault)
    return best.value


def _score(value: Any, keys: Sequence[str]) -> int:
    """How well a value answers: wanted keys held; an array, and an empty object, come last."""
    if not isinstance(value, dict):
        return -1
    return sum(key in value for key in keys)


def _refuse_faults(text: str, readings: list[Reading]) -> None:
    if faults := [reading for reading in readings if reading.fault]:
        _refuse(text, faults)


def _refuse(text: str, readings: list[Reading]) -> NoReturn:
    if not readings:
        raise ValueError("there is no JSON object or array in the text")
    fault = readings[-1]
    near = text[max(0, fault.end - 20) : fault.end + 20]
    raise ValueError(f"the JSON cannot be read at character {fault.end}, near {near!r}: {fault.fault}")


def _last_fault_only(readings: Iterator[Reading]) -> list[Reading]:
    """Keep every value, and of the broken ones only the last, as only that may be mended."""
    kept = list(readings)
    faults = [reading for reading in kept if reading.fault]
    return [reading for reading in kept if not reading.fault or reading is faults[-1]]


def _mended(reading: Reading, text: str) -> Reading:
    if not reading.fault:
        return reading
    if len(text) - reading.start > REPAIR_LIMIT:
        return replace(reading, fault=f"{reading.fault} (over {REPAIR_LIMIT} characters, no repair is tried)")
    import json_repair

    try:
        value = json_repair.loads(text[reading.start :], skip_json_loads=True)
    except Exception:  # a repairer's own failure on hostile text says no more than the fault does
        return reading
    if isinstance(value, list) and text[reading.start] == "{":
        value = next((item for item in value if isinstance(item, dict)), None)
    if not isinstance(value, (dict, list)) or not value:
        return reading
    return replace(reading, value=value, fault="")


def _readings(text: str, exact: bool) -> Iterator[Reading]:
    """Read from each bracket that may open a value; broken ones that look like values too."""
    at = 0
    allowance = _REREADING * len(text)
    strict_tries = _STRICT_TRIES
    while opener := _OPENER.search(text, at):
        start = opener.start()
        reading = (_strictly_from(text, start, exact) if strict_tries > 0 else None) or read_from(
            text, start, exact=exact
        )
        strict_tries -= 1
        at = max(reading.end, start + 1)
        if not reading.fault:
            if reading.complete or reading.begun:
                yield reading
        elif reading.begun and text[start] == "{":
            yield reading
        elif allowance > 0:
            allowance -= reading.end - start
            at = start + 1


def _strictly_from(text: str, start: int, exact: bool) -> Reading | None:
    try:
        value, end = _DECODERS[exact].raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return Reading(start, end, value, True, "", True)
