"""Values in prompts and completions, beside `dspy.adapters.utils`."""

import dataclasses
import datetime
import enum
import uuid
import warnings
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from reasonact.adapters import values

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dspy.adapters import utils as oracle


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1


class Point(BaseModel):
    x: int = 1
    label: str | None = None
    colour: Colour = Colour.RED


class Trip(BaseModel):
    type: str = "walk"
    stops: list[Point] = Field(default=[], description="in order")
    start: datetime.datetime = datetime.datetime(2020, 1, 2)
    alias: str = Field(default="", alias="as")


@dataclasses.dataclass
class Pair:
    left: int = 1
    right: list[Any] = dataclasses.field(default_factory=list)


class Keyed(TypedDict):
    a: int


RENDERED: list[tuple[Any, Any]] = [
    (str, 'a\n"b"'),
    (str, None),
    (str, 5),
    (str, ["a", "b\nc"]),
    (str, ["one"]),
    (str, ["x»"]),
    (str, {"a": 1}),
    (str, ("a", "b")),
    (str, b"ab"),
    (list[str], ["a", 'b"\n']),
    (list[str], []),
    (list[int], [1, 2]),
    (dict, {"a": 1, "b": [1, None]}),
    (dict, {}),
    (dict, {1: 2, (1, 2): 3}),
    (int, 3),
    (int, 10**30),
    (float, 1.0),
    (float, float("nan")),
    (list[float], [float("nan"), float("inf")]),
    (bool, True),
    (Colour, Colour.RED),
    (Level, Level.LOW),
    (list[Colour], [Colour.RED]),
    (Point, Point()),
    (Trip, Trip(stops=[Point(x=2)])),
    (list[Point], [Point(), Point()]),
    (list[Any], [Point(), "x"]),
    (Pair, Pair()),
    (Keyed, {"a": 1}),
    (datetime.datetime, datetime.datetime(2020, 1, 2, 3)),
    (datetime.date, datetime.date(2020, 1, 2)),
    (datetime.timedelta, datetime.timedelta(seconds=90)),
    (Decimal, Decimal("1.50")),
    (bytes, b"\xff"),
    (set[int], {1}),
    (tuple[Any, ...], (1, "a")),
    (uuid.UUID, uuid.UUID(int=1)),
    (Any, PurePosixPath("/a")),
    (Any, [["a"], ["b"]]),
    (Any, ["é漢"]),
    (Any, 1 + 2j),
    (Any, range(3)),
    (Any, [ValueError("x")]),
]

PARSED: list[tuple[Any, Any]] = [
    (str, "x"),
    (str, '"x"'),
    (str, 5),
    (str, ["a"]),
    (str, True),
    (int, " 5 "),
    (int, "5.0"),
    (int, 5.5),
    (int, "five"),
    (int, "0x10"),
    (int, "1e3"),
    (int, '"5"'),
    (int, "[5]"),
    (float, "5"),
    (float, ".5"),
    (float, "inf"),
    (float, "1,5"),
    (bool, "yes"),
    (bool, "0"),
    (bool, "maybe"),
    (str | None, None),
    (str | None, "x"),
    (str | None, '"x"'),
    (int | None, "null"),
    (int | None, "None"),
    (int | None, ""),
    (int | str, "5"),
    (int | str, '"5"'),
    (int | str, "x"),
    (int | float, "1.5"),
    (int | list[int], "[1]"),
    (str | list[str], '["a"]'),
    (str | list[str], "a"),
    (Point | str, '{"x": 3}'),
    (Point | str, "hello"),
    (Colour, "r"),
    (Colour, "RED"),
    (Colour, "x"),
    (Level, 1),
    (Colour | None, "r"),
    (Literal["a", "b"], "'a'"),
    (Literal["a", "b"], "c"),
    (Literal["1", 1], "1"),
    (Literal["1", 1], 1),
    (Literal[True, False], "true"),
    (Literal["a"], "Literal['a']"),
    (Literal["a"] | None, "null"),
    (list[str], "['a','b']"),
    (list[str], '```json\n["a"]\n```'),
    (list[str], '["a", "b'),
    (list[str], "a, b"),
    (list[str], "null"),
    (list[int], "1, 2"),
    (list[int], '["1"]'),
    (list[int], "[1.5]"),
    (dict[str, int], '{"a": "1"}'),
    (dict[int, str], '{"1": "x"}'),
    (dict, "{'a': None, 'b': True}"),
    (dict, 'text {"a": 1} more'),
    (dict, "x"),
    (Point, '{"x": 3, "z": 1}'),
    (Point, "{'x': 3, 'label': None}"),
    (Point, 'Here: {"x": 3} ok'),
    (Point, '[{"x": 3}]'),
    (Point, '{"x": "bad"}'),
    (list[Point], '[{"x": 3}, {"x": 4}]'),
    (Pair, '{"left": "3"}'),
    (Keyed, '{"a": "3"}'),
    (Keyed, "{}"),
    (datetime.date, '"2020-01-02"'),
    (datetime.date, "Jan 2, 2020"),
    (datetime.datetime, "2020-01-02T03:04:05Z"),
    (datetime.timedelta, "60"),
    (Decimal, '"1.50"'),
    (uuid.UUID, "00000000-0000-0000-0000-000000000001"),
    (bytes, "b'ab'"),
    (Any, "5"),
    (Any, "{'a':1}"),
    (Any, "x"),
    (tuple[int, str], '(1,"a")'),
    (set[int], "{1,2}"),
    (Annotated[int, Field(gt=1)], "1"),
    (None, "null"),
]

NAMED: list[Any] = [
    str,
    int,
    bool,
    float,
    list[str],
    str | None,
    dict[str, list[Colour]],
    Point,
    Trip,
    list[Trip],
    Colour,
    Level,
    Literal["a", 1, True],
    Literal["it's"],
    Literal["a"] | None,
    Any,
    tuple[int, ...],
    Pair,
    Keyed,
    datetime.datetime,
    int | list[Point],
    bytes,
    set[int],
    Decimal,
]

# (annotation, written, what DSPy reads, what reasonact reads): why, in docs/differences.md.
DIFFERENT: list[tuple[Any, Any, Any, Any]] = [
    (str, None, "None", ValueError),
    (int, True, 1, ValueError),
    (int, "true", 1, ValueError),
    (int, "1,000", ValueError, 1000),
    (str | None, "null", "null", None),
    (str | None, 5, ValueError, "5"),
    (list[str], "[1, 2]", ValueError, ["1", "2"]),
    (list[str], "- a\n- b", ValueError, ["a", "b"]),
    (Colour, "red", ValueError, Colour.RED),
    (Colour, Colour.RED, ValueError, Colour.RED),
    (Level, "1", ValueError, Level.LOW),
    (Colour | None, "RED", ValueError, Colour.RED),
    (Literal["a", "b"], "A", ValueError, "a"),
    (Decimal, "1.5000000000000000000001", Decimal("1.5"), Decimal("1.5000000000000000000001")),
    (Point, '{"Point": {"x": 3}}', Point(x=1), Point(x=3)),
    (Point, '{"foo": 1}', Point(x=1), ValueError),
    (list[Point], '{"x": 3}\n{"x": 4}', ValueError, [Point(x=3), Point(x=4)]),
    (Any, "[1", [1], "[1"),
    (Any, "{x}", ["x}"], "{x}"),
]


def outcome(read: Any, *args: Any) -> Any:
    """What is read, with its type; the class of a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = read(*args)
        except ValueError:
            return ValueError
    return type(value), repr(value)


def field(annotation: Any, kind: str = "output") -> FieldInfo:
    return FieldInfo(annotation=annotation, json_schema_extra={"__dspy_field_type": kind, "desc": "${f}"})


@pytest.mark.parametrize(("annotation", "value"), RENDERED)
def test_a_value_looks_the_same_in_a_prompt(annotation: Any, value: Any) -> None:
    info = field(annotation)
    assert oracle.format_field_value(info, value) == values.format_field_value(info, value)
    assert outcome(oracle.serialize_for_json, value) == outcome(values.serialize_for_json, value)


@pytest.mark.parametrize(("annotation", "written"), PARSED)
def test_a_value_is_read_or_refused_alike(annotation: Any, written: Any) -> None:
    assert outcome(oracle.parse_value, written, annotation) == outcome(values.parse_value, written, annotation)


@pytest.mark.parametrize(("annotation", "written", "theirs", "ours"), DIFFERENT)
def test_a_value_is_read_otherwise_on_purpose(annotation: Any, written: Any, theirs: Any, ours: Any) -> None:
    def expected(value: Any) -> Any:
        return value if value is ValueError else (type(value), repr(value))

    assert expected(theirs) == outcome(oracle.parse_value, written, annotation)
    assert expected(ours) == outcome(values.parse_value, written, annotation)


@pytest.mark.parametrize("annotation", NAMED)
def test_names_placeholders_and_schemas_agree(annotation: Any) -> None:
    assert oracle.get_annotation_name(annotation) == values.get_annotation_name(annotation)
    theirs = oracle.translate_field_type("f", field(annotation))
    ours = values.translate_field_type("f", field(annotation))
    assert facts(theirs) == facts(ours)
    assert oracle.translate_field_type("f", field(annotation, "input")) == values.translate_field_type(
        "f", field(annotation, "input")
    )


def facts(line: str) -> tuple[str, bool, str]:
    """The placeholder, whether there is a note, and the schema or the words to choose from in it."""
    placeholder, _, note = line.partition("        # ")
    _, brace, schema = note.partition("{")
    return placeholder, bool(note), brace + schema or note.removeprefix("note: ").partition(": ")[2]


def test_the_list_of_fields_has_the_same_lines() -> None:
    fields = {
        "a": field(int),
        "b": FieldInfo(annotation=list[str], json_schema_extra={"__dspy_field_type": "output", "desc": "the b"}),
        "c": FieldInfo(annotation=str, json_schema_extra={"desc": "x\ny", "constraints": "maximum length: 3"}),
    }
    assert oracle.get_field_description_string(fields) == values.get_field_description_string(fields)
