"""ChatAdapter: fields under ``[[ ## name ## ]]`` markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reasonact.adapters.annotation_names import translate_field_type
from reasonact.adapters.base import Adapter
from reasonact.adapters.content import Content, field_row, joined
from reasonact.adapters.fields import FieldInfoWithName, output_fields
from reasonact.adapters.layout import layout_of
from reasonact.adapters.marker_splitter import MarkerSplitter
from reasonact.adapters.markers import END, Names, marker, quoted, read_sections, unquoted
from reasonact.adapters.readers import parse_error, required_fields
from reasonact.adapters.splitting import Splitter
from reasonact.adapters.type_form import form_of
from reasonact.runtime.callbacks import BaseCallback
from reasonact.signatures.memo import kept
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning

__all__ = ["ChatAdapter", "FieldInfoWithName"]


_CLOSING: Final = f"{marker(END)}\n"


class ChatAdapter(Adapter):
    """Writes and reads fields under markers, ``[[ ## answer ## ]]``; the default.

    Args:
        callbacks: Callbacks for this object alone.
        use_native_function_calling: Let the model call tools by its provider's own interface.
        native_response_types: Types whose fields may come by a channel of the model's own.
        use_json_adapter_fallback: Let `Predict` ask once more by `JSONAdapter` where a
            completion cannot be read.
        parallel_tool_calls: What to ask the provider for; None says nothing.
    """

    def __init__(
        self,
        callbacks: list[BaseCallback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: list[type[Type]] | None = None,
        use_json_adapter_fallback: bool = True,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, native_response_types, parallel_tool_calls)
        self.use_json_adapter_fallback = use_json_adapter_fallback

    def format_field_structure(self, signature: Any) -> str:
        """The layout of a conversation, with a place-holder for every value."""
        layout = layout_of(signature)
        fields = signature.input_fields if layout.free_text else signature.fields
        blocks = [f"{marker(name)}\n{translate_field_type(name, info)}" for name, info in fields.items()]
        if layout.free_text:
            return (
                "What you are given has this form, each name in braces standing for a value:\n\n"
                + "\n\n".join(blocks)
                + "\n\nAnswer in plain text, without such markers: think aloud, and call tools."
            )
        blocks.append(marker(END))
        return "Every message keeps to this form, each name in braces standing for a value:\n\n" + "\n\n".join(blocks)

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of the markers to write, in order."""
        if layout_of(signature).free_text or not signature.output_fields:
            return ""
        wanted = [f"`{marker(name)}`{form_of(info)}" for name, info in signature.output_fields.items()]
        return f"Now write {', then '.join(wanted)}, and close with `{marker(END)}`."

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """The outputs under their markers, and the end marker."""
        fields = [(field, outputs.get(field.name, missing_field_message)) for field in output_fields(signature)]
        row = self.field_row(fields)
        return joined([*row, "\n\n", _CLOSING] if row else [_CLOSING])

    def field_pieces(self, field: FieldInfoWithName, value: Any) -> list[Content]:
        """A field under its marker; see `Adapter.field_pieces`."""
        name, info = field
        shown = field_row(info, value)
        if isinstance(value, (str, Reasoning)) and _is_output(info) and "[[" in (text := str(shown[0])):
            shown = [quoted(text)]
        return [f"{marker(name)}\n", *shown]

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """The sections of the output fields; see `Adapter.raw_fields`."""
        found = read_sections(completion, _names(signature), required_fields(signature))
        if found.conflicts:
            named = ", ".join(f"`{name}`" for name in found.conflicts)
            message = f"Given twice, with different values: {named}."
            raise parse_error(type(self).__name__, signature, completion, message, raw=found.values)
        return {name: unquoted(value) for name, value in found.values.items()}

    def field_splitter(self, signature: Any) -> Splitter:
        """What cuts a completion at its markers."""
        return MarkerSplitter(_names(signature))


def _names(signature: Any) -> Names:
    return kept(signature, Names, lambda asked: Names(asked.output_fields, asked.input_fields))


def _is_output(info: Any) -> bool:
    extra = info.json_schema_extra
    return isinstance(extra, dict) and extra.get("__dspy_field_type") == "output"
