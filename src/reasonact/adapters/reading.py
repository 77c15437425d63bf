"""Reading one completion by the plan of its request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reasonact.adapters.composing import overrides
from reasonact.adapters.conversation import RETURNED
from reasonact.adapters.layout import layout_of
from reasonact.adapters.native import read_calls
from reasonact.adapters.plan import Plan
from reasonact.adapters.readers import parse_error, typed_fields
from reasonact.errors import AdapterParseError
from reasonact.runtime.callbacks import observed
from reasonact.types.reasoning import Reasoning

if TYPE_CHECKING:
    from reasonact.adapters.base import Adapter


def read_completion(adapter: Adapter, plan: Plan, output: Any) -> dict[str, Any]:
    """Read one completion.

    Args:
        adapter: Reads the text.
        plan: The plan of the request.
        output: A text, or a dict with ``text`` and what came beside it.

    Returns:
        The output fields in the signature's order; behind them ``logprobs`` where they
        came, and in an agent's turn what the provider wants back of its reasoning.

    Raises:
        AdapterParseError: The completion does not hold the output fields.
    """
    record = output if isinstance(output, Mapping) else {"text": output}
    text: str = record.get("text") or ""
    native = plan.native
    with observed("adapter_parse", adapter, {"signature": plan.shown, "completion": text}) as observation:
        beside: dict[str, Any] = {}
        for name, kind in native.typed.items():
            value = kind.parse_lm_response(output)
            if value is not None:
                beside[name] = value
        if native.tool_calls and record.get("tool_calls"):
            beside[native.tool_calls] = read_calls(record["tool_calls"], native.own_names)
        try:
            found = {**beside, **_read_text(adapter, plan, text, beside)}
        except AdapterParseError as error:
            error.tool_calls = list(record.get("tool_calls") or ())  # they may say what the text does not
            raise
        values = {name: found.pop(name, None) for name in plan.signature.output_fields}
        values.update((name, value) for name, value in found.items() if name not in beside)
        returned = _returned(record) if layout_of(plan.signature).agent else None
        if returned:
            values[RETURNED] = returned
        if record.get("logprobs") is not None:
            values["logprobs"] = record["logprobs"]
        observation.outputs = values
    return values


def _returned(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a completion's message that its provider wants back with the turn."""
    given = dict(record.get("provider_fields") or {})
    specific = given.pop("provider_specific_fields", {})
    for name in ("thinking_blocks", "reasoning_content"):
        if record.get(name) and not given.get("thinking_blocks"):
            given[name] = record[name]
    # LiteLLM names there too what it has put into fields of their own.
    specific = {name: value for name, value in specific.items() if name not in given and name != "reasoning_content"}
    return {**given, "provider_specific_fields": specific} if specific else given


def _read_text(adapter: Adapter, plan: Plan, text: str, beside: Mapping[str, Any]) -> dict[str, Any]:
    native, shown, who = plan.native, plan.shown, type(adapter).__name__
    if native.free_text is not None:
        raw = adapter.free_text(plan, text) if text.strip() else {}
        raw = {name: value for name, value in raw.items() if name not in beside or name != native.tool_calls}
        return typed_fields(who, plan.signature, text, raw, partial=True)
    if not shown.output_fields:
        if native.typed and not beside:
            raise parse_error(who, plan.signature, text, "The completion is empty, and nothing came beside it.")
        return {}
    if native.tool_calls in beside:
        return _text_beside_calls(adapter, shown, text) if text.strip() else {}
    if overrides(adapter, "parse"):
        return adapter.parse(shown, text)
    return typed_fields(who, shown, text, adapter.raw_fields(shown, text, plan.tools))


def _text_beside_calls(adapter: Adapter, shown: Any, text: str) -> dict[str, Any]:
    """What there is of an answer: the model chose to call, so its fields may still be to come."""
    if overrides(adapter, "parse"):
        try:
            return adapter.parse(shown, text)
        except AdapterParseError as error:
            return dict(error.parsed_result) if isinstance(error.parsed_result, Mapping) else {}
    try:
        raw = dict(adapter.raw_fields(shown, text))
    except AdapterParseError as error:
        if error.raw_fields:
            raise
        raw = {}
    only = next(iter(shown.output_fields)) if len(shown.output_fields) == 1 else None
    if not raw and only is not None and shown.output_fields[only].annotation in (str, Reasoning):
        raw = {only: text.strip()}
    return typed_fields(type(adapter).__name__, shown, text, raw, partial=True)
