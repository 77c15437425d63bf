"""Values on their way into a prompt and out of a completion."""

from reasonact.adapters.annotation_names import (
    custom_types_in,
    get_annotation_name,
    get_field_description_string,
    translate_field_type,
    value_note,
    value_schema,
)
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.parse_value import annotation_allows_none, parse_value, value_parser, wants_exact_numbers
from reasonact.adapters.render_value import (
    clean_text,
    format_field_value,
    json_text,
    render_text,
    render_value,
    serialize_for_json,
)

__all__ = [
    "annotation_allows_none",
    "clean_text",
    "custom_types_in",
    "format_field_value",
    "get_annotation_name",
    "get_field_description_string",
    "json_text",
    "loads_lenient",
    "parse_value",
    "render_text",
    "render_value",
    "serialize_for_json",
    "translate_field_type",
    "value_note",
    "value_parser",
    "value_schema",
    "wants_exact_numbers",
]
