"""What the closing reminder says of a field's form."""

from __future__ import annotations

from typing import Any

from reasonact.adapters.annotation_names import get_annotation_name
from reasonact.adapters.layout import plain_type
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls


def form_of(info: Any) -> str:
    """A remark in brackets on the value of a field, empty for plain text.

    Args:
        info: The field.

    Returns:
        The remark, with a space before it.
    """
    kind = plain_type(info.annotation)
    if kind is str or kind is Reasoning:
        return ""
    if isinstance(kind, type) and issubclass(kind, ToolCalls):
        return ' (as {"tool_calls": [{"name": "...", "args": {...}}]})'
    return f" (of type {get_annotation_name(info.annotation)})"
