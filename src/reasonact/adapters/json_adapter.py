"""JSONAdapter: inputs under markers, outputs as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reasonact.adapters.annotation_names import translate_field_type
from reasonact.adapters.answer_schema import SCHEMA_FORMS, SchemaForm, constrained_format
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.fields import FieldInfoWithName
from reasonact.adapters.json_splitter import JsonSplitter
from reasonact.adapters.layout import layout_of
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.markers import marker
from reasonact.adapters.plan import Plan
from reasonact.adapters.readers import parse_error
from reasonact.adapters.refusals import Refusals
from reasonact.adapters.response_format import OBJECT_FORMAT, schema_format
from reasonact.adapters.splitting import Splitter
from reasonact.adapters.type_form import form_of
from reasonact.adapters.values import serialize_for_json
from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.counts import whole_number

_OPTION: Final = "response_format"
_refused_schema: Final = Refusals("response_format", "response format", "schema", "structured output")


class JSONAdapter(ChatAdapter):
    """Asks for one JSON object with all outputs, in the strongest form that the model takes.

    That is a JSON schema of the outputs, else any JSON object, else plain text. Where a
    server refuses the schema, the request is sent once more without it, and the model is
    not asked for a schema again.

    Args:
        callbacks: Callbacks for this object alone.
        use_native_function_calling: Let the model call tools by its provider's own interface.
        parallel_tool_calls: What to ask the provider for; None says nothing.
        constrain: Hold every answer to a schema, for a server that writes by one. In an
            agent's turn it lists the tools with the arguments of each; the calls are then
            part of the text, whatever ``use_native_function_calling`` says, and
            ``parallel_tool_calls=False`` makes it one a turn. ``"json_schema"`` sends the
            schema in OpenAI's ``response_format``, ``"json_object"`` beside that type, as
            llama-cpp-python takes it. Nothing is asked once more without it.
        max_text_chars: The most characters of each text in a constrained answer, where its
            type has no bound of its own. A small model may not stop before.

    Raises:
        ValueError: ``constrain`` names no form, or ``max_text_chars`` is below 1 or bounds
            nothing, as nothing is constrained.
        TypeError: ``max_text_chars`` is no whole number.
    """

    constrain: SchemaForm | None = None
    max_text_chars: int | None = None

    def __init__(
        self,
        callbacks: list[BaseCallback] | None = None,
        use_native_function_calling: bool = True,
        parallel_tool_calls: bool | None = None,
        *,
        constrain: SchemaForm | None = None,
        max_text_chars: int | None = None,
    ) -> None:
        if constrain is not None and constrain not in SCHEMA_FORMS:
            forms = ", ".join(map(repr, SCHEMA_FORMS))
            raise ValueError(f"JSONAdapter(constrain={constrain!r}): expected one of {forms}, or None")
        if max_text_chars is not None:
            whole_number("JSONAdapter(max_text_chars)", max_text_chars, least=1)
            if constrain is None:
                raise ValueError(f"JSONAdapter(max_text_chars={max_text_chars}) bounds nothing: say constrain too")
        native = use_native_function_calling and constrain is None
        super().__init__(callbacks, native, None, constrain is None, parallel_tool_calls)
        if constrain is not None:  # else there are no such settings, as in DSPy
            self.constrain, self.max_text_chars = constrain, max_text_chars

    def with_own_options(self, plan: Plan, lm: Any, options: Mapping[str, Any]) -> Plan:
        """The plan with a ``response_format``; see `Adapter.with_own_options`."""
        if _OPTION in plan.options or plan.native.free_text is not None or not plan.shown.output_fields:
            return plan
        form = (
            _strongest_form(lm, plan.shown)
            if self.constrain is None
            else constrained_format(self.constrain, plan, options, self.parallel_tool_calls, self.max_text_chars)
        )
        return plan if form is None else plan.with_option(_OPTION, form)

    def weaker(self, lm: Any, plan: Plan, error: Exception) -> Plan | None:
        """The plan with a weaker form where a schema was refused that nobody had asked for."""
        if self.constrain is not None or _OPTION not in plan.added or plan.options[_OPTION] == OBJECT_FORMAT:
            return None
        if not _refused_schema.note(lm, error):
            return None
        return plan.with_option(_OPTION, dict(OBJECT_FORMAT))

    def format_field_structure(self, signature: Any) -> str:
        """The layout of inputs and of the JSON object to write."""
        layout = layout_of(signature)
        if layout.free_text:
            return super().format_field_structure(signature)
        given = [f"{marker(name)}\n{translate_field_type(name, info)}" for name, info in signature.input_fields.items()]
        wanted = {name: translate_field_type(name, info) for name, info in signature.output_fields.items()}
        return (
            "What you are given has this form, each name in braces standing for a value:\n\n"
            + "\n\n".join(given)
            + "\n\nWhat you write is one JSON object with these keys:\n\n"
            + json.dumps(wanted, indent=2, ensure_ascii=False)
        )

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of the keys to write, in order."""
        if layout_of(signature).free_text or not signature.output_fields:
            return ""
        wanted = [f"`{name}`{form_of(info)}" for name, info in signature.output_fields.items()]
        return f"Now write one JSON object with these keys, in this order: {', then '.join(wanted)}."

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """The outputs as one JSON object."""
        fields = {
            FieldInfoWithName(name, info): outputs.get(name, missing_field_message)
            for name, info in signature.output_fields.items()
        }
        return self.format_field_with_value(fields, role="assistant")

    def format_field_with_value(self, fields_with_values: Mapping[FieldInfoWithName, Any], role: str = "user") -> Any:
        """Fields under markers, or for the assistant's role as one JSON object.

        Args:
            fields_with_values: Values by field.
            role: ``"user"`` or ``"assistant"``.

        Returns:
            Text, or content parts where a value holds media.
        """
        if role == "user":
            return super().format_field_with_value(fields_with_values)
        values = {field.name: serialize_for_json(value) for field, value in fields_with_values.items()}
        return json.dumps(values, indent=2, ensure_ascii=False)

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """The values of the JSON object; see `Adapter.raw_fields`."""
        wanted = tuple(signature.output_fields)
        try:
            value = loads_lenient(completion, wanted)
        except ValueError as error:
            raise parse_error(
                type(self).__name__, signature, completion, f"The completion is no JSON that can be read: {error}"
            ) from error
        if not isinstance(value, Mapping):
            raise parse_error(
                type(self).__name__, signature, completion, f"A JSON object was expected, found {_kind(value)}."
            )
        return _by_name(value, wanted)

    def field_splitter(self, signature: Any) -> Splitter:
        """What takes the fields out of the JSON object."""
        return JsonSplitter(signature.output_fields)

    def format_finetune_data(
        self, signature: Any, demos: list[Any], inputs: dict[str, Any], outputs: dict[str, Any]
    ) -> dict[str, list[Any]]:
        """Not offered for this form, as in DSPy.

        Raises:
            NotImplementedError: Always; ask a `ChatAdapter`.
        """
        raise NotImplementedError(
            "fine-tuning data has the form of ChatAdapter; ask ChatAdapter().format_finetune_data"
        )


def _strongest_form(lm: Any, shown: Any) -> Any:
    if _OPTION not in (lm.supported_params or ()):
        return None
    if lm.supports_response_schema and lm not in _refused_schema:
        form = schema_format(shown)
        if form is not None:
            return form
    return dict(OBJECT_FORMAT)


def _by_name(value: Mapping[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """The wanted keys, in any letter case where that leaves no doubt."""
    found = {name: value[name] for name in wanted if name in value}
    if len(found) < len(wanted):
        folded: dict[str, list[str]] = {}
        for key in value:
            if key not in found and isinstance(key, str):
                folded.setdefault(key.strip().casefold(), []).append(key)
        for name in wanted:
            keys = folded.get(name.casefold(), [])
            if name not in found and len(keys) == 1:
                found[name] = value[keys[0]]
    return found


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a value of type {type(value).__name__}"
