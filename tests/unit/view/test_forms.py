"""Signatures and tools as plain data and back, as prompts show them."""

from __future__ import annotations

import enum
import json
from typing import Any, Literal

import pydantic
import pytest

import reasonact
from reasonact.adapters.annotation_names import get_annotation_name, get_field_description_string, translate_field_type
from reasonact.tools.tool import Tool
from reasonact.view.forms import signature_again, signature_form, tool_again, tool_form


class Point(pydantic.BaseModel):
    """Two numbers."""

    x: int
    y: float = 0.5


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


class Said(reasonact.Type):
    text: str

    @classmethod
    def description(cls) -> str:
        return "what somebody said"

    def format(self) -> str:
        return self.text


KINDS: list[Any] = [
    str, int, float, bool, bytes, object, list, dict, Any, list[str], dict[str, Any], tuple[int, ...], Literal["a", 1],
    int | None, int | str | None, list[dict[str, list[float]]], reasonact.Image, list[reasonact.Image],
    reasonact.History, list[reasonact.Tool], reasonact.ToolCalls, reasonact.Reasoning, reasonact.Code,
    Point, list[Point], Point | None, dict[str, Point], Size, Size | None, Said, type, set[int],
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=get_annotation_name)
def test_a_field_reads_the_same_after_a_round_trip(kind):
    signature = reasonact.Signature(
        {
            "given": (kind, reasonact.InputField(desc="what is given")),
            "made": (kind, reasonact.OutputField()),
        },
        "Do it.",
    )
    form = signature_form(signature)
    again = signature_again(form)
    assert "Do it." == again.instructions
    assert get_field_description_string(signature.fields) == get_field_description_string(again.fields)
    for name, info in signature.fields.items():
        assert translate_field_type(name, info) == translate_field_type(name, again.fields[name])
    assert form == signature_form(again)


def test_constraints_and_prefixes_are_kept():
    signature = reasonact.Signature({"n": (int, reasonact.OutputField(ge=1, lt=5))})
    again = signature_again(signature_form(signature))
    assert signature.fields["n"].json_schema_extra == again.fields["n"].json_schema_extra


def test_a_type_that_a_file_names_is_never_looked_up_in_the_program():
    form = signature_form(reasonact.Signature("a -> b"))
    for name in ("os.system", "Point", "__import__", "reasonact.Image", "list[", "int] -> x", "a: int, b"):
        field = type(form.fields[0])(name="a", kind="input", type=name, desc="", prefix="A:")
        again = signature_again(type(form)("a -> b", "", (field, form.fields[1])))
        assert name == again.fields["a"].annotation.__name__
        assert again.fields["a"].annotation.__module__ == "reasonact.view.forms"


def count(number: int, where: Point, names: list[str] | None = None) -> int:
    """Count
    something."""
    return number


@pytest.mark.parametrize(
    "tool",
    [
        Tool(count),
        Tool(count, name="counted things", desc="", arg_desc={"number": "how many"}),
        Tool(lambda **words: None, name="any", args={"free": {"type": "string"}}),
        Tool(lambda: None, name="nothing"),
    ],
    ids=lambda tool: tool.name,
)
def test_a_tool_reads_the_same_after_a_round_trip(tool):
    again = tool_again(tool_form(tool))
    assert str(tool) == str(again)
    assert json.dumps(tool.format_as_litellm_function_call()) == json.dumps(again.format_as_litellm_function_call())
    assert tool_form(tool) == tool_form(again)
