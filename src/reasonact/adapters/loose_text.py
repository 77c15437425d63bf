"""Text beside native calls: plain as it was asked for, or in a form that a model fell back to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reasonact.adapters.lenient_json import loads_lenient, unfenced
from reasonact.adapters.markers import Names, holds_marker, read_sections
from reasonact.adapters.plan import Plan


def loose_text(plan: Plan, text: str) -> dict[str, Any]:
    """Read the text beside native calls.

    Args:
        plan: A plan of a native agent's turn.
        text: What the model wrote.

    Returns:
        Raw values: the field of the free text, taken out of markers, a JSON object or a
        tag where one stands around it, and the field of the calls where they were written
        in such a form instead of made.
    """
    free, calls = plan.native.free_text, plan.native.tool_calls
    assert free is not None and calls is not None
    wanted = (free, calls)
    found = _in_markers(wanted, text) or _in_json(wanted, text) or _in_tags(wanted, text)
    return found or {free: text.strip()}


def _in_markers(wanted: tuple[str, ...], text: str) -> dict[str, Any]:
    if not holds_marker(text):
        return {}
    return dict(read_sections(text, Names(wanted), ()).values)


def _in_json(wanted: tuple[str, ...], text: str) -> dict[str, Any]:
    body = unfenced(text).strip()
    if not (body.startswith("{") and body.endswith("}")) or not any(f'"{name}"' in body for name in wanted):
        return {}
    try:
        value = loads_lenient(body, wanted)
    except ValueError:  # no JSON after all, so it is text
        return {}
    if not isinstance(value, Mapping) or not value.keys() <= set(wanted):
        return {}
    return dict(value)


def _in_tags(wanted: tuple[str, ...], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in wanted:
        match = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        if match is not None:
            found[name] = match[1].strip()
    return found
