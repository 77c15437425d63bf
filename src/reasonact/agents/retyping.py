"""Giving values that were read from JSON the types that a signature declares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from reasonact.signatures.signature import Signature
from reasonact.types.history import TURN_KEYS, History
from reasonact.types.json_form import json_form

_DATA: Final = (str, int, float, list, dict)
_PLAIN: Final = (str, int, float, bool, Any)


def retyped(signature: type[Signature], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values with those of declared fields in their declared types.

    A value changes only where it is plain data that the declared type, in JSON, would be
    again: so what the model is shown of it stays the same.

    Args:
        signature: The task.
        values: Values by name; other names than the signature's are let be.

    Returns:
        The same mapping where nothing had to be changed.
    """
    changed: dict[str, Any] = {}
    for name, value in values.items():
        field = signature.fields.get(name)
        if field is None or field.annotation in _PLAIN or not isinstance(value, _DATA):
            continue
        typed = _typed(signature, name, field.annotation, value)
        if typed is not value:
            changed[name] = typed
    return {**values, **changed} if changed else values


def retyped_history(signature: type[Signature], history: History) -> History:
    """A history whose inputs and outputs have their declared types, inputs first in each event.

    Some stores of JSON give keys back in an order of their own, while what an event says
    before its step is what a person said.

    Args:
        signature: The task.
        history: As it was read; it is not changed.

    Returns:
        The same object where nothing had to be changed.
    """
    events: list[Any] = [_inputs_first(signature, retyped(signature, event)) for event in history.messages]
    if all(new is old for new, old in zip(events, history.messages, strict=True)):
        return history
    return History.model_construct(messages=events)


def _inputs_first(signature: type[Signature], event: Mapping[str, Any]) -> Mapping[str, Any]:
    inputs = [name for name in event if name in signature.input_fields]
    if inputs == list(event)[: len(inputs)]:
        return event
    steps = [name for name in TURN_KEYS if name in event]
    others = [name for name in event if name not in inputs and name not in steps]
    return {name: event[name] for name in (*inputs, *steps, *others)}


def _typed(signature: type[Signature], name: str, annotation: Any, value: Any) -> Any:
    key = ("reader of stored values", name)
    try:
        adapter = signature.memo.get(key)
        if adapter is None:
            adapter = signature.memo[key] = TypeAdapter(annotation)
        typed = adapter.validate_python(value)
        changed = type(typed) is not type(value) or typed != value
        return typed if changed and _form(typed) == _form(value) else value
    except Exception:  # a type that pydantic cannot read, or a value of another kind: it stays as it is
        return value


def _form(value: Any) -> str:
    return json.dumps(json_form(value))
