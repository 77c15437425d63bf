"""Values and JSON for arbitrary input."""

import dataclasses
import datetime
import enum
import json
import uuid
from decimal import Decimal
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from reasonact.adapters.call_shapes import read_native_call, read_tool_calls
from reasonact.adapters.lenient_json import loads_lenient
from reasonact.adapters.values import parse_value, render_text, render_value, serialize_for_json
from reasonact.types.base import Type


class Colour(enum.Enum):
    RED = "r"
    ONE = 1


def part(place: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": place}}


class Picture(Type):
    place: str

    def format(self) -> list[dict[str, Any]]:
        return [part(self.place)]


@dataclasses.dataclass
class Box:
    inside: Any


class Leaf(BaseModel):
    words: str
    number: int = 0
    colour: Colour = Colour.RED
    more: list["Leaf"] = []


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("broken")

    def __repr__(self) -> str:
        raise RuntimeError("broken too")


ANY_TEXT = st.text(st.characters())  # lone surrogates among them
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | ANY_TEXT
    | st.binary(max_size=8)
    | st.decimals()
    | st.datetimes()
    | st.timedeltas()
    | st.uuids()
    | st.sampled_from([*Colour, Picture(place="u"), int, ..., NotImplemented, ValueError("x")])
    | st.just(Broken).map(lambda kind: kind())
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(ANY_TEXT | st.integers() | st.none() | st.booleans(), inner, max_size=4)
        | inner.map(Box)
        | st.frozensets(st.integers() | ANY_TEXT, max_size=4)
    ),
    max_leaves=12,
)
PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)
LEAVES = st.deferred(
    lambda: st.builds(
        Leaf,
        words=st.text(),
        number=st.integers(),
        colour=st.sampled_from(Colour),
        more=st.lists(LEAVES, max_size=2),
    )
)
FRAGMENTS = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"', "'", ":", ",", "\\", "a", "1", "-", "e", ".", " ", "\n", "null", "None", "tru", "//",
         "/*", "#", "```", "<think>", "</think>", '{"a": 1}', "[[ ## a ## ]]", "(", ")", '"""', "\\u00e9", "\ud800"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(VALUES)
def test_any_value_renders(value: Any) -> None:
    rendered = render_value(value)
    for piece in [rendered] if isinstance(rendered, str) else [json.dumps(part) for part in rendered]:
        piece.encode("utf-8")
    render_text(value).encode("utf-8")
    json.dumps(serialize_for_json(value))


@given(PLAIN_JSON)
def test_json_is_read_as_json_reads_it(value: Any) -> None:
    text = json.dumps(value)
    assert json.loads(text) == loads_lenient(text)
    assert json.loads(text) == loads_lenient(f" {text}\n")


@given(st.dictionaries(st.text(), PLAIN_JSON, min_size=1, max_size=4), st.text("abc .,\n"), st.text("abc .,\n"))
def test_an_object_is_found_in_prose(value: dict[str, Any], before: str, after: str) -> None:
    assert value == loads_lenient(f"{before}{json.dumps(value)}{after}")


@given(st.dictionaries(st.text(), PLAIN_JSON, min_size=1, max_size=4))
def test_a_python_literal_is_read_like_the_json(value: dict[str, Any]) -> None:
    if "inf" not in repr(value):
        assert value == loads_lenient(repr(value))


@given(PLAIN_JSON.filter(lambda value: isinstance(value, (dict, list))), st.data())
def test_truncated_json_is_closed_or_refused(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text)))]
    try:
        read = loads_lenient(cut)
    except ValueError:
        return
    assert isinstance(read, (dict, list, str, int, float, bool, type(None)))


@given(ANY_TEXT | FRAGMENTS)
def test_arbitrary_text_is_a_value_or_a_value_error(text: str) -> None:
    for read in (loads_lenient, lambda text: loads_lenient(text, ["a"]), read_tool_calls):
        try:
            read(text)
        except ValueError:
            pass
    read_native_call({"id": "c", "function": {"name": "f", "arguments": text}})


ANNOTATIONS = [
    str, int, float, bool, Any, list[str], list[int], dict[str, Any], Leaf, list[Leaf], Colour, Colour | None,
    int | str, Leaf | str, Literal["a", 1, None], Decimal, datetime.date, datetime.datetime, datetime.timedelta,
    tuple[int, str], set[int], bytes, uuid.UUID, list[Decimal], None,
]  # fmt: skip


@given(ANY_TEXT | FRAGMENTS | VALUES, st.sampled_from(ANNOTATIONS))
def test_arbitrary_input_is_a_value_of_the_type_or_a_value_error(written: Any, annotation: Any) -> None:
    try:
        parse_value(written, annotation)
    except ValueError as refusal:
        assert str(refusal).startswith("expected ")  # a fault of ours would say something else


TYPED = st.one_of(
    st.tuples(st.just(str), st.text()),
    st.tuples(st.just(int), st.integers()),
    st.tuples(st.just(float), st.floats(allow_nan=False)),
    st.tuples(st.just(bool), st.booleans()),
    st.tuples(st.just(Decimal), st.decimals(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(int | None), st.none() | st.integers()),
    st.tuples(st.just(Colour), st.sampled_from(Colour)),
    st.tuples(st.just(list[Colour]), st.lists(st.sampled_from(Colour))),
    st.tuples(st.just(list[str]), st.lists(st.text())),
    st.tuples(st.just(list[str | None]), st.lists(st.none() | st.text())),
    st.tuples(st.just(list[int | str]), st.lists(st.integers() | st.text())),
    st.tuples(st.just(list[float]), st.lists(st.floats(allow_nan=False, allow_infinity=False))),
    st.tuples(st.just(list[Decimal]), st.lists(st.decimals(allow_nan=False, allow_infinity=False))),
    st.tuples(st.just(set[int]), st.sets(st.integers())),
    st.tuples(st.just(tuple[int, str]), st.tuples(st.integers(), st.text())),
    st.tuples(st.just(dict[str, list[int]]), st.dictionaries(st.text(), st.lists(st.integers()))),
    st.tuples(st.just(dict[int, bool]), st.dictionaries(st.integers(), st.booleans())),
    st.tuples(st.just(Leaf), LEAVES),
    st.tuples(st.just(list[Leaf]), st.lists(LEAVES, max_size=3)),
    st.tuples(st.just(datetime.date), st.dates()),
    st.tuples(st.just(datetime.datetime), st.datetimes()),
    st.tuples(st.just(datetime.timedelta), st.timedeltas()),
    st.tuples(st.just(uuid.UUID), st.uuids()),
    st.tuples(st.just(Literal["a", 1, True, None]), st.sampled_from(["a", 1, True, None])),
)


@given(TYPED)
def test_a_typed_value_comes_back_from_its_rendering(pair: tuple[Any, Any]) -> None:
    annotation, value = pair
    read = parse_value(render_value(value), annotation)
    assert value == read
    assert type(value) is type(read)
