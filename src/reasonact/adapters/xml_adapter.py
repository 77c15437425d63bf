"""XMLAdapter: fields between tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasonact.adapters.annotation_names import translate_field_type
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.content import Content, field_content, field_row, joined, stripped
from reasonact.adapters.fields import FieldInfoWithName
from reasonact.adapters.layout import layout_of
from reasonact.adapters.readers import parse_error
from reasonact.adapters.splitting import Splitter
from reasonact.adapters.tag_splitter import TagSplitter
from reasonact.adapters.xml_text import escaped, read_fields, tags_of
from reasonact.adapters.xml_values import element, example, nests, raw_value


class XMLAdapter(ChatAdapter):
    """Writes and reads fields between tags, ``<answer>…</answer>``; models and lists nest.

    Takes the arguments of `ChatAdapter`.
    """

    def format_field_structure(self, signature: Any) -> str:
        """The layout of a conversation, with a place-holder for every value."""
        layout = layout_of(signature)
        given = [_block(name, translate_field_type(name, info)) for name, info in signature.input_fields.items()]
        if layout.free_text:
            return (
                "What you are given has this form, each name in braces standing for a value:\n\n"
                + "\n\n".join(given)
                + "\n\nAnswer in plain text, without such tags: think aloud, and call tools."
            )
        wanted = [
            example(name, info.annotation) if nests(info.annotation) else _block(name, translate_field_type(name, info))
            for name, info in signature.output_fields.items()
        ]
        return "Every message keeps to this form, each name in braces standing for a value:\n\n" + "\n\n".join(
            given + wanted
        )

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of the tags to write, in order."""
        if layout_of(signature).free_text or not signature.output_fields:
            return ""
        fields = signature.output_fields
        nested = [example(name, info.annotation) for name, info in fields.items() if nests(info.annotation)]
        reminder = f"Now write these fields, each between its tags: {', then '.join(f'`<{name}>`' for name in fields)}."
        return f"{reminder} Nest them like this: {' '.join(nested)}" if nested else reminder

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """The outputs between their tags."""
        blocks: list[Content] = []
        for name, info in signature.output_fields.items():
            value = outputs.get(name, missing_field_message)
            if name in outputs and value is not None and nests(info.annotation):
                blocks.append(element(name, value))
                continue
            shown = field_content(info, value)
            text = escaped(shown) if isinstance(shown, str) else shown
            blocks.append(joined([f"<{name}>\n", text, f"\n</{name}>"]))
        return stripped(joined(blocks, "\n\n"))

    def field_pieces(self, field: FieldInfoWithName, value: Any) -> list[Content]:
        """A field between its tags; see `Adapter.field_pieces`."""
        return [f"<{field.name}>\n", *field_row(field.info, value), f"\n</{field.name}>"]

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """What stands between the tags of the output fields; see `Adapter.raw_fields`."""
        fields = signature.output_fields
        wanted = tags_of(fields)
        found: dict[str, Any] = {}
        for name, inner in read_fields(completion, wanted):
            try:
                value = raw_value(inner, fields[name].annotation)
            except ValueError as error:
                raise parse_error(
                    type(self).__name__, signature, completion, f"The value of field `{name}` cannot be read: {error}"
                ) from error
            if name not in found:
                found[name] = value
            elif len(found) == len(fields):
                break  # all was said: a completion that goes on begins the next turn by itself
            elif value != found[name]:
                message = f"Given twice, with different values: `{name}`."
                raise parse_error(type(self).__name__, signature, completion, message, raw=found)
        return found

    def field_splitter(self, signature: Any) -> Splitter:
        """What cuts a completion at its tags."""
        fields = signature.output_fields
        nested = [name for name, info in fields.items() if nests(info.annotation)]
        return TagSplitter(tags_of(fields), nested)


def _block(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"
