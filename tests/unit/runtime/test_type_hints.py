"""Annotations that name types in text, also inside of others, on every Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, TypedDict

import pytest
from pydantic import BaseModel

from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.runtime.type_hints import member_type, type_hints
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool

# ruff: noqa: UP045  # names in text inside of types are what is tested


class Item(BaseModel):
    number: int


class Tree(BaseModel):
    label: str
    below: list["Tree"] = []


@dataclass
class Box:
    items: list["Item"]


class Row(TypedDict):
    items: "dict[str, list['Item']]"


def holding(annotation: Any) -> Any:
    def holder() -> None:
        """Holds an annotation."""

    holder.__annotations__ = {"it": annotation}
    return holder


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (list[Item], list["Item"]),
        (list[Item], "list['Item']"),
        (Optional[dict[str, Item]], Optional[dict[str, "Item"]]),
        (list[Item] | None, list["Item"] | None),
        (Annotated[list[Item], 3], Annotated[list["Item"], 3]),
        (tuple[Item, list[Item]], tuple["Item", list["Item"]]),
        (Callable[[list[Item]], int], Callable[[list["Item"]], int]),
        (list[Literal["Item"]], list[Literal["Item"]]),
        (int, int),
    ],
    ids=range(9),
)
def test_a_name_in_text_is_looked_up_wherever_it_stands(expected: Any, annotation: Any) -> None:
    assert expected == type_hints(holding(annotation))["it"]


def test_members_of_classes_are_looked_up_where_the_class_stands() -> None:
    assert {"items": list[Item]} == type_hints(Box)
    assert {"items": dict[str, list[Item]]} == type_hints(Row)
    assert list[Tree] == member_type(Tree, Tree.model_fields["below"].annotation)


def test_a_name_that_is_nowhere_is_a_name_error() -> None:
    with pytest.raises(NameError):
        type_hints(holding("list[Nowhere]"))
    assert list["Nowhere"] == member_type(Tree, list["Nowhere"])  # type: ignore[name-defined]  # noqa: F821


def test_outputs_and_arguments_get_the_types_that_are_named_in_text() -> None:
    class Answer(Signature):
        q: str = InputField()
        items: list["Item"] = OutputField()
        tree: Tree = OutputField()

    def take(items: list["Item"], more: Optional[dict[str, "Item"]] = None) -> None:
        """Take items."""

    values = {"items": [Item(number=1)], "tree": Tree(label="a", below=[Tree(label="b")])}
    for adapter in (JSONAdapter(), XMLAdapter()):
        assert values == adapter.parse(Answer, adapter.format_assistant_message_content(Answer, values))
    assert {"items": [Item(number=1)], "more": {"a": Item(number=2)}} == Tool(take).check_args(
        {"items": [{"number": "1"}], "more": {"a": {"number": 2}}}
    )
