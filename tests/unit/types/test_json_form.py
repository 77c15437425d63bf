"""The JSON form of values that are hard to put into JSON."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import json
import types
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, RootModel, model_serializer

from reasonact.adapters.render_value import render_value
from reasonact.types import Image, Type
from reasonact.types.json_form import json_form


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    """A text of a class of its own."""


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = None


class Row(BaseModel):
    when: datetime.date
    point: Point


class Refusing(BaseModel):
    n: int

    @model_serializer
    def refuse(self) -> dict[str, Any]:
        raise RuntimeError("no")


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Silent(Type):
    """It has no form."""


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        ([Level.HIGH, True], [3, True]),
        (Word("w"), "w"),
        ({Word("k"): Colour.RED, Colour.RED: 1}, {"k": "red", "red": 1}),
        (Point(1, Point(2)), {"x": 1, "y": {"x": 2, "y": None}}),
        (Row(when=datetime.date(2024, 1, 2), point=Point(1)), {"when": "2024-01-02", "point": {"x": 1, "y": None}}),
        (RootModel[list[int]]([1]), [1]),
        (Refusing(n=1), {"n": 1}),
        (datetime.timedelta(days=1), "P1D"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Decimal("0.10"), "0.10"),
        (1 + 2j, "1+2j"),
        (collections.deque([1]), [1]),
        (collections.OrderedDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (frozenset([2, 1]), [1, 2]),
        ({1: 3, 1.5: 2, False: 0, (1, "a"): 4, datetime.date(2024, 1, 2): 5},
         {"1": 3, "1.5": 2, "false": 0, "1,a": 4, "2024-01-02": 5}),
        (bytearray(b"x"), "x"),
        ("x\ud800", "x\ud800"),
        (10**5000, str(Decimal(10**5000))),
        (-0.0, -0.0),
        (Image("http://x/y"), [{"type": "image_url", "image_url": {"url": "http://x/y"}}]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_each_kind_of_value_has_its_form(value: Any, form: Any) -> None:
    assert form == json_form(value)
    json.dumps(json_form(value))


def test_sets_that_cannot_be_sorted_have_a_fixed_order() -> None:
    assert [1, None, "a"] == sorted(json_form({"a", 1, None}), key=str)
    assert json_form({"b", 1, "a"}) == json_form({"a", "b", 1})


def test_cycles_end() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    table: dict[str, Any] = {}
    table["self"] = table
    assert [1, "[...]"] == json_form(loop)
    assert {"self": "{...}"} == json_form(table)


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = [1]
    assert [[1], [1]] == json_form([shared, shared])


def test_depth_ends() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert "…" in json.dumps(json_form(deep), ensure_ascii=False)


def test_what_cannot_be_printed_is_still_something() -> None:
    assert "Unprintable object" in json_form([Unprintable()])[0]
    assert "" == json_form(Silent())


def test_scalars_of_numpy_are_numbers_and_arrays_are_text() -> None:
    numpy = pytest.importorskip("numpy")
    for value, form in ((numpy.int64(3), 3), (numpy.float32(0.5), 0.5), (numpy.bool_(True), True)):
        assert form == json_form(value)
    assert "[1 2]" == json_form(numpy.array([1, 2]))


def test_values_of_a_type_are_found_with_their_places() -> None:
    picture = Image("http://x/y")
    found: list[Any] = []
    form = json_form({"a": [1, Point(picture)], "b": (picture,)}, found, ("field",))
    assert {"a": [1, {"x": {"url": "http://x/y"}, "y": None}], "b": [{"url": "http://x/y"}]} == form
    assert [(("field", "a", 1, "x"), picture), (("field", "b", 0), picture)] == found


@pytest.mark.parametrize("value", [Colour.RED, Point(1, [2]), {1: None}, [float("nan")], float("inf"), {3, 1}, b"\xff"])
def test_the_form_is_shown_to_a_model_as_the_value_was(value: Any) -> None:
    assert render_value(value) == render_value(json_form(value))
