"""What a field's value may be written as, and what is refused."""

import collections
import dataclasses
import datetime
import enum
import typing
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypeVar

import pytest
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    StrictInt,
    field_validator,
    model_validator,
)
from typing_extensions import NotRequired, TypedDict

from reasonact.adapters.values import annotation_allows_none, parse_value, value_parser, wants_exact_numbers
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Swapped(enum.Enum):
    A = "B"
    B = "A"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Guess(enum.Enum):
    KNOWN = 1

    @classmethod
    def _missing_(cls, value: object) -> "Guess":
        return cls.KNOWN


class Point(BaseModel):
    x: int = 1
    label: str | None = None
    colour: Colour = Colour.RED


class Named(BaseModel):
    name: str = Field(alias="fullName")
    age: int = Field(default=0, validation_alias=AliasChoices("age", "years"))


class Plain(BaseModel):
    name: str = Field(alias="fullName")


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int = 1


class Percent(BaseModel):
    share: float = 0.0

    @field_validator("share", mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        return float(value.strip("%")) / 100 if isinstance(value, str) else value


class Coded(BaseModel):
    code: str

    @model_validator(mode="before")
    @classmethod
    def read(cls, value: Any) -> Any:
        return {"code": value} if isinstance(value, str) else value


class Numbers(RootModel[list[int]]):
    pass


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


@dataclasses.dataclass
class Pair:
    left: int = 1
    right: Colour = Colour.RED


class Keyed(TypedDict):
    a: int
    b: NotRequired[Colour]


class OldKeyed(typing.TypedDict, total=False):
    a: int
    inner: Keyed


class Place(NamedTuple):
    row: int
    column: int


class Opaque:
    pass


UserId = NewType("UserId", int)
T = TypeVar("T")

FENCED = "```json\n{}\n```"

READ: list[tuple[Any, Any, Any]] = [
    # text
    ("x", str, "x"),
    ('"x"', str, '"x"'),
    ("5", str, 5),
    ("1.5", str, 1.5),
    ("5", str | None, 5),
    (["1", "a"], list[str], [1, "a"]),
    ({"a": "1"}, dict[str, str], '{"a": 1}'),
    # numbers
    (5, int, "5"),
    (5, int, " 5 "),
    (5, int, '"5"'),
    (5, int, "**5**"),
    (5, int, "`5`"),
    (5, int, "```\n5\n```"),
    (5, int, "5.0"),
    (5, int, 5.0),
    (-3, int, "-3"),
    (3, int, "+3"),
    (16, int, "0x10"),
    (1000, int, "1e3"),
    (7, int, "007"),
    (1000, int, "1,000"),
    (1234567, int, "1,234,567.0"),
    (1.5, float, "1.5"),
    (0.5, float, ".5"),
    (float("inf"), float, "inf"),
    (1234.5, float, "1,234.5"),
    (Decimal("1.50"), Decimal, "1.50"),
    (Decimal("1.5000000000000000000001"), Decimal, "1.5000000000000000000001"),
    ([Decimal("1.10000000000000000000001")], list[Decimal], "[1.10000000000000000000001]"),
    ({"a": Decimal("0.1"), "b": 5}, dict[str, Decimal | int], '{"a": 0.1, "b": 5}'),
    (5, UserId, "5"),
    (5, Annotated[int, Field(gt=1)], "5"),
    (0.5, Annotated[float, BeforeValidator(lambda text: float(text.strip("%")) / 100)], "50%"),
    # yes and no
    (True, bool, "true"),
    (True, bool, "Yes."),
    (False, bool, "**No**"),
    (False, bool, 0),
    # nothing
    (None, int | None, "null"),
    (None, int | None, "None"),
    (None, int | None, "N/A"),
    (None, str | None, "null"),
    (None, str | None, "None"),
    ("none", str | None, "none"),
    (["null"], list[str | None], '["null"]'),
    (None, list[int] | None, "null"),
    (None, None, "null"),
    (None, Colour | None, None),
    # members
    (Colour.RED, Colour, "r"),
    (Colour.RED, Colour, "RED"),
    (Colour.RED, Colour, "red"),
    (Colour.RED, Colour, "Colour.RED"),
    (Colour.RED, Colour, '"r"'),
    (Colour.RED, Colour, Colour.RED),
    (Level.LOW, Level, "1"),
    (Level.LOW, Level, 1),
    (Level.LOW, Level, 1.0),
    (Level.HIGH, Level, "HIGH"),
    (Swapped.A, Swapped, "B"),
    (Access.READ | Access.WRITE, Access, 3),
    (Guess.KNOWN, Guess, "whatever"),
    (Colour.RED, Colour | None, "RED"),
    (Colour.BLUE, Colour | int, "BLUE"),
    (Colour.RED, Colour | str, "r"),
    ("green", Colour | str, "green"),
    ([Colour.RED, Colour.BLUE], list[Colour], '["RED", "b"]'),
    ([Colour.RED, Colour.BLUE], list[Colour], "RED, b"),
    ({"a": Colour.RED}, dict[str, Colour], '{"a": "RED"}'),
    ({Colour.RED: 1}, dict[Colour, int], '{"RED": 1}'),
    ("a", Literal["a", "b"], " 'a' "),
    ("a", Literal["a", "b"], "A"),
    ("a", Literal["a"], "Literal['a']"),
    (1, Literal[1, 2], "1"),
    ("1", Literal["1", 1], "1"),
    (1, Literal["1", 1], 1),
    (True, Literal[1, True], "True"),
    (1, Literal[1, True], "1"),
    (True, Literal[True, False], "true"),
    (None, Literal[None, "a"], "None"),
    ("None", Literal["None", "x"], "None"),
    (b"x", Literal[b"x"], "x"),
    (Colour.RED, Literal[Colour.RED], "RED"),
    ("a", Literal["a"] | None, '"a"'),
    # lists
    (["a", "b"], list[str], '["a", "b"]'),
    (["a", "b"], list[str], "['a', 'b',]"),
    (["a"], list[str], '```json\n["a"]\n```'),
    (["a"], list[str], 'Here it is: ["a"]. Good?'),
    (["a", "b"], list[str], '["a", "b'),
    (["a", "b"], list[str], "- a\n- b"),
    (["a", "b"], list[str], "1. a\n2) b"),
    (["a", "b\nc"], list[str], "[1] «a»\n[2] «««\n    b\n    c\n»»»"),
    (["a, b", "c"], list[str], '"a, b", "c"'),
    ([1, 2], list[int], "1, 2"),
    ([], list[int], "[]"),
    (["a"], list[str], '"[\\"a\\"]"'),
    ([[1], [2]], list[list[int]], '["[1]", [2]]'),
    ((1, "a"), tuple[int, str], '(1, "a")'),
    ((1, 2), tuple[int, ...], "[1, 2]"),
    ({1, 2}, set[int], "{1, 2}"),
    ({1}, set[int], "{1}"),
    (frozenset({"a"}), frozenset[str], '["a"]'),
    (collections.deque([1]), collections.deque[int], "[1]"),
    ([Point(x=3), Point(x=4)], list[Point], '{"x": 3}\n{"x": 4}'),
    ([Point(x=3)], list[Point], '["{\\"x\\": 3}"]'),
    # objects
    ({"a": None, "b": True}, dict, "{'a': None, 'b': True}"),
    ({1: "x"}, dict[int, str], '{"1": "x"}'),
    ({"a": 1}, dict, 'text {"a": 1} more'),
    (Point(x=3), Point, '{"x": "3", "label": null, "colour": "RED"}'),
    (Point(x=3), Point, "{'x': 3, 'label': None}"),
    (Point(x=3), Point, FENCED.format('{"x": 3}')),
    (Point(x=3), Point, 'The set {a, b} gives {"x": 3}.'),
    (Point(x=3), Point, '"{\\"x\\": 3}"'),
    (Point(x=3), Point, '{"Point": {"x": 3}}'),
    (Point(x=3), Point, '{"x": 3, "unknown": 1}'),
    (Point(label="5"), Point, {"label": 5}),
    (Point(), Point, "{}"),
    (Point(x=3), Point, Point(x=3)),
    (Named(fullName="A", age=3), Named, '{"name": "A", "years": "3"}'),
    (Plain(fullName="A"), Plain, '{"name": "A"}'),
    (Tree(value=1, children=[Tree(value=2)]), Tree, '{"value": "1", "children": [{"value": "2"}]}'),
    (Open(y=2), Open, '{"y": 2}'),
    (Percent(share=0.5), Percent, '{"share": "50%"}'),
    (Coded(code="{x}"), Coded, "{x}"),
    (Numbers([1, 2]), Numbers, '["1", 2]'),
    (Pair(3, Colour.BLUE), Pair, '{"left": "3", "right": "BLUE"}'),
    ({"a": 3, "b": Colour.RED}, Keyed, '{"a": "3", "b": "RED"}'),
    ({"inner": {"a": 1}}, OldKeyed, '{"inner": {"a": "1"}}'),
    (Place(1, 2), Place, "(1, 2)"),
    # unions
    (5, int | str, "5"),
    ("x", int | str, "x"),
    ("5", int | str, '"5"'),
    ("a b", str | list[str], '"a b"'),
    (["5"], list[int | str], '["5"]'),
    (1.5, int | float, "1.5"),
    (1, int | float, "1"),
    ([1], int | list[int], "[1]"),
    (["a"], str | list[str], '["a"]'),
    ("see [1]", str | list[str], "see [1]"),
    (Point(x=3), Point | str, '{"x": 3}'),
    ("hello {x}", Point | str, "hello {x}"),
    (Dog(kind="dog", tricks=["sit"]), Cat | Dog, '{"kind": "dog", "tricks": ["sit"]}'),
    (Point(colour=Colour.BLUE), Point | int, '{"colour": "BLUE"}'),
    # dates
    (datetime.date(2020, 1, 2), datetime.date, '"2020-01-02"'),
    (datetime.date(2020, 1, 2), datetime.date, "20200102"),
    (datetime.datetime(2020, 1, 2), datetime.datetime, "20200102"),
    (datetime.datetime(2020, 1, 2, 3, 4), datetime.datetime, "2020-01-02 03:04"),
    (datetime.time(3, 4), datetime.time, "03:04"),
    (datetime.timedelta(minutes=1), datetime.timedelta, "60"),
    (datetime.timedelta(minutes=1), datetime.timedelta, "PT1M"),
    ([datetime.date(2020, 1, 2)], list[datetime.date], '["2020-01-02"]'),
    # the rest
    (5, Any, "5"),
    ("x", Any, "x"),
    ({"a": 1}, Any, "{'a': 1}"),
    ("{x}", Any, "{x}"),
    ("NaN", Any, "NaN"),
    (5, object, "5"),
    (5, T, "5"),
    (b"ab", bytes, "b'ab'"),
    (b"ab", bytes, "ab"),
    (uuid.UUID(int=1), uuid.UUID, "`00000000-0000-0000-0000-000000000001`"),
    (Reasoning(content="because"), Reasoning, "because"),
    (Reasoning(content="5"), Reasoning, 5),
]

REFUSED: list[tuple[str, Any, Any]] = [
    ("null", str, None),
    ("fractional part", int, 5.5),
    ("valid integer", int, "5.5"),
    ("yes or no", int, True),
    ("valid integer", int, "true"),
    ("valid integer", int, "the answer is 5"),
    ("valid integer", int, "5%"),
    ("valid integer", int, ""),
    ("valid integer", int, None),
    ("out of range", int, "1e999999999"),
    ("limit", int, "9" * 5_000),
    ("valid number", float, "1,500"),
    ("yes or no", float, True),
    ("valid boolean", bool, "maybe"),
    ("greater than 1", Annotated[int, Field(gt=1)], "1"),
    ("valid integer", int | None, ""),
    ("none of 'r', 'b'", Colour, "x"),
    ("none of 1, 2", Literal[1, 2], True),
    ("none of 'a', 'b'", Literal["a", "b"], "a or b"),
    ("may mean 'Ab' or 'aB'", Literal["Ab", "aB"], "AB"),
    ("no JSON array", list[str], "a, b"),
    ("no JSON array", list[str], "a"),
    ("valid list", list[str], {"a": 1}),
    ("valid list", list[Point], '{"x": 3}'),
    ("several JSON arrays", list[int], "either [1] or [2]"),
    ("no JSON object", dict, "x"),
    ("none of its keys", Point, '{"foo": 1}'),
    ("none of its keys", list[Point], '[{"foo": 1}]'),
    ("x: ", Point, '{"x": "many"}'),
    ("Field required", Keyed, "{}"),
    ("valid date", datetime.date, "Jan 2, 2020"),
    ("is no date", datetime.datetime, "2020"),
    ("none of the types", int | list[int], "x"),
    ("none of the types", int | list[int], True),
    ("instance of Opaque", Opaque, "x"),
    ("no JSON object", dict, "[" * 100_000),
    ("no JSON object", Tree, "tree"),
]


@pytest.mark.parametrize(("expected", "annotation", "written"), READ)
def test_a_value_is_read_from_what_a_model_may_write_for_it(expected: Any, annotation: Any, written: Any) -> None:
    read = parse_value(written, annotation)
    assert expected == read
    assert type(expected) is type(read)


@pytest.mark.parametrize(("reason", "annotation", "written"), REFUSED)
def test_what_is_no_value_of_the_type_is_refused_with_the_reason(reason: str, annotation: Any, written: Any) -> None:
    with pytest.raises(ValueError, match="expected ") as refusal:
        parse_value(written, annotation)
    assert reason in str(refusal.value)
    assert len(str(refusal.value)) < 1_000


def test_a_refusal_names_the_type_and_shows_the_value() -> None:
    with pytest.raises(ValueError, match=r"expected list\[int\], found '\[1, \"x\"\]': 1: "):
        parse_value('[1, "x"]', list[int])


def test_an_instance_of_an_unknown_class_is_its_own_value() -> None:
    thing = Opaque()
    assert thing is parse_value(thing, Opaque)


def test_the_order_of_a_union_is_kept_though_such_unions_are_equal() -> None:
    class First(BaseModel):
        a: int

    class Second(BaseModel):
        a: int

    assert isinstance(parse_value('{"a": 1}', First | Second), First)
    assert isinstance(parse_value('{"a": 1}', Second | First), Second)


def test_constraints_given_beside_the_type_are_checked() -> None:
    parse = value_parser(int, [Field(ge=3)])
    assert 3 == parse("3")
    with pytest.raises(ValueError, match="greater than or equal to 3"):
        parse("2")


def test_a_strict_model_still_gets_its_outermost_text_read() -> None:
    assert 5 == parse_value("5", StrictInt)
    with pytest.raises(ValueError, match="valid integer"):
        parse_value('["5"]', list[StrictInt])


def test_an_annotation_that_cannot_be_hashed_is_read_too() -> None:
    assert 5 == parse_value("5", Annotated[int, ["unhashable"]])


def test_exact_numbers_are_wanted_where_a_decimal_may_stand() -> None:
    class Price(BaseModel):
        amount: Decimal | None = None

    assert wants_exact_numbers(dict[str, list[Price]])
    assert not wants_exact_numbers(Tree)
    assert [0.1] == parse_value('{"a": [0.1], "b": 0.5}', dict[str, Any])["a"]


def test_numbers_read_exactly_for_a_decimal_are_floats_elsewhere() -> None:
    class Mixed(BaseModel):
        price: Decimal
        rest: Any
        rate: float

    read = parse_value('{"price": 0.10, "rest": {"a": [0.5]}, "rate": 0.25}', Mixed)
    assert Mixed(price=Decimal("0.10"), rest={"a": [0.5]}, rate=0.25) == read
    assert isinstance(read.rest["a"][0], float)


def test_none_is_a_value_of_optional_types_only() -> None:
    assert annotation_allows_none(int | None)
    assert annotation_allows_none(Any)
    assert annotation_allows_none(Literal["a", None])
    assert annotation_allows_none(Annotated[str | None, Field(max_length=3)])
    assert not annotation_allows_none(int)
    assert not annotation_allows_none(list[None])


def test_a_type_of_the_user_reads_its_own_text() -> None:
    class Word(Type):
        letters: str

        @model_validator(mode="before")
        @classmethod
        def read(cls, value: Any) -> Any:
            return {"letters": value} if isinstance(value, str) else value

        def format(self) -> str:
            return self.letters

    assert "a {b}" == parse_value("a {b}", Word).letters
    assert "x" == parse_value('{"letters": "x"}', Word).letters
    assert '{"other": 1}' == parse_value('{"other": 1}', Word).letters


def test_tool_calls_are_read_from_text() -> None:
    calls = parse_value('{"name": "a", "args": {}}\n{"name": "b", "arguments": {"x": 1}}', ToolCalls)
    assert [("a", {}), ("b", {"x": 1})] == [(call.name, call.args) for call in calls.tool_calls]
    with pytest.raises(ValueError, match="expected ToolCalls"):
        parse_value('{"x": 1}', ToolCalls)
