"""From the raw values of a completion to the types of a signature's outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from reasonact.adapters.layout import layout_of, plain_type
from reasonact.adapters.markers import thoughts_end
from reasonact.adapters.step_form import TOOL, is_step, tool_reader
from reasonact.adapters.values import value_parser
from reasonact.errors import AdapterParseError
from reasonact.signatures.memo import kept
from reasonact.types.reasoning import Reasoning

_BEFORE_MARKER: Final = re.compile(r"(?:```\w*|[*#>\s])+\Z")  # a fence around the marker, or its decoration
_SHOWN: Final = 200  # characters of a bad value that an error repeats; the completion stands below it


class FieldReader:
    """How one output field is read.

    Args:
        name: The field's name.
        info: The field.
        names_a_tool: Whether it is the tool of ReAct's step.
    """

    __slots__ = ("_info", "name", "parse", "required")

    def __init__(self, name: str, info: FieldInfo, *, names_a_tool: bool = False) -> None:
        self.name = name
        self._info = info
        self.parse: Callable[[Any], Any] = value_parser(info.annotation)
        if names_a_tool:
            self.parse = tool_reader(info.annotation, self.parse)
        self.required: bool = info.is_required() and plain_type(info.annotation) is info.annotation
        """Whether a completion without the field is incomplete."""

    def absent(self) -> Any:
        """The value of a field that is not required and was left out."""
        if not self._info.is_required():
            default = self._info.get_default(call_default_factory=True, validated_data={})
            if default is not PydanticUndefined:
                return default
        return None


def readers_of(signature: Any) -> Mapping[str, FieldReader]:
    """The readers of a signature's output fields, kept in its memo."""
    return kept(signature, FieldReader, _readers)


def _readers(signature: Any) -> Mapping[str, FieldReader]:
    tool = TOOL if is_step(signature) else None
    return {name: FieldReader(name, info, names_a_tool=name == tool) for name, info in signature.output_fields.items()}


def required_fields(signature: Any) -> frozenset[str]:
    """The outputs without which a completion is incomplete, kept in the signature's memo."""
    return kept(signature, required_fields, _required)


def _required(signature: Any) -> frozenset[str]:
    return frozenset(name for name, reader in readers_of(signature).items() if reader.required)


def typed_fields(
    adapter: str, signature: Any, completion: str, raw: Mapping[str, Any], *, partial: bool = False
) -> dict[str, Any]:
    """Turn raw values into the types of the signature's outputs.

    Args:
        adapter: The adapter's name, for the error.
        signature: The signature as the prompt shows it.
        completion: The whole completion, for the error.
        raw: Values by field, as they were written.
        partial: Whether fields may be missing; those are then left out.

    Returns:
        The output fields in the signature's order.

    Raises:
        AdapterParseError: A field is missing, or a value does not fit.
    """
    values: dict[str, Any] = {}
    missing: list[str] = []
    layout = layout_of(signature)
    if layout.thought is not None:
        raw = _with_thought(layout.thought, layout.tool_calls, completion, raw)
    for name, reader in readers_of(signature).items():
        if name in raw:
            if name == layout.thought and raw[name] is None:
                values[name] = None
                continue
            try:
                values[name] = reader.parse(raw[name])
            except ValueError as error:
                if name == layout.thought:  # whatever it is, it is what the model thought
                    values[name] = Reasoning(content=json.dumps(raw[name], ensure_ascii=False, default=str))
                    continue
                raise parse_error(
                    adapter,
                    signature,
                    completion,
                    f"The value of field `{name}` does not fit its type.\nValue: {_short(raw[name])}\nWhy: {error}",
                    values,
                    raw,
                ) from error
        elif reader.required:
            missing.append(name)
        elif not partial:
            values[name] = reader.absent()
    if missing and not partial:
        named = ", ".join(f"`{name}`" for name in missing)
        empty = "" if completion.strip() else " (it is empty)"
        raise parse_error(adapter, signature, completion, f"The completion{empty} lacks {named}.", values, raw)
    return values


def _with_thought(thought: str, calls: str | None, completion: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The raw values of an agent's turn, in which calls need no thought; prose before their marker is one."""
    if thought in raw or calls not in raw:
        return raw
    text = completion[thoughts_end(completion, final=True) :]
    begins = re.search(rf"\[\[[ \t]*##|<{calls}[\s/>]", text, re.IGNORECASE)
    lead = "" if begins is None else _BEFORE_MARKER.sub("", text[: begins.start()]).strip()
    return {**raw, thought: lead or None}


def parse_error(
    adapter: str,
    signature: Any,
    completion: str,
    message: str,
    values: Mapping[str, Any] | None = None,
    raw: Mapping[str, Any] | None = None,
) -> AdapterParseError:
    """The error for a completion that cannot be read."""
    return AdapterParseError(
        adapter_name=adapter,
        signature=signature,
        lm_response=completion,
        message=message,
        parsed_result=None if values is None else dict(values),
        raw_fields=raw,
    )


def _short(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply to be shown"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
