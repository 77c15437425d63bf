"""How values look in a prompt."""

import dataclasses
import datetime
import enum
import json
import math
import pathlib
import uuid
from decimal import Decimal
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, model_serializer
from pydantic.fields import FieldInfo

from reasonact.adapters.values import (
    clean_text,
    custom_types_in,
    format_field_value,
    get_annotation_name,
    get_field_description_string,
    render_text,
    render_value,
    serialize_for_json,
    translate_field_type,
    value_schema,
)
from reasonact.types.base import Type
from reasonact.types.json_form import json_form


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1


class Point(BaseModel):
    x: int = 1
    label: str | None = None
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Pair:
    left: Any = 1
    right: Any = None


class Picture(Type):
    place: str

    def format(self) -> list[dict[str, Any]]:
        return [part(self.place)]

    @classmethod
    def description(cls) -> str:
        return "a picture"


class Note(Type):
    words: str

    def format(self) -> str:
        return f"note: {self.words}"


class Album(BaseModel):
    title: str
    cover: Picture
    hidden: str = Field(default="no", exclude=True)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


class FailingFormat(Type):
    def format(self) -> str:
        raise RuntimeError("no form")

    def __str__(self) -> str:
        return "as text"


def part(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def output_field(annotation: Any, **extra: Any) -> FieldInfo:
    return FieldInfo(annotation=annotation, json_schema_extra={"__dspy_field_type": "output", **extra})


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ('a\n"b"', 'a\n"b"'),
        ("None", None),
        ("True", True),
        ("3", 3),
        ("1.0", 1.0),
        ("nan", float("nan")),
        ("[]", []),
        ("{}", {}),
        ('["a", "é"]', ["a", "é"]),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ('[1, "a"]', (1, "a")),
        ("r", Colour.RED),
        ("1", Level.LOW),
        ('["r"]', [Colour.RED]),
        ('{"r": 1}', {Colour.RED: 1}),
        ('{"x": 1, "label": null, "colour": "r"}', Point()),
        ('[{"x": 2, "label": null, "colour": "b"}]', [Point(x=2, colour=Colour.BLUE)]),
        ('{"left": 1, "right": {"x": 1, "label": null, "colour": "r"}}', Pair(right=Point())),
        ("2020-01-02T03:00:00", datetime.datetime(2020, 1, 2, 3)),
        ("2020-01-02", datetime.date(2020, 1, 2)),
        ("PT1M30S", datetime.timedelta(seconds=90)),
        ("1.50", Decimal("1.50")),
        ('["1.50"]', [Decimal("1.50")]),
        ("ab", b"ab"),
        ("b'\\xff'", b"\xff"),
        ("[1, 2]", {2, 1}),
        ('["a", "b"]', frozenset(("b", "a"))),
        ("[null, null]", [float("nan"), float("inf")]),
        ('{"1": 2, "1,2": 3}', {1: 2, (1, 2): 3}),
        ("00000000-0000-0000-0000-000000000001", uuid.UUID(int=1)),
        ("/a", pathlib.PurePosixPath("/a")),
        ("1+2j", 1 + 2j),
        ("range(0, 3)", range(3)),
        ("went wrong", ValueError("went wrong")),
        ("note: hi", Note(words="hi")),
        ('["note: hi"]', [Note(words="hi")]),
        ("as text", FailingFormat()),
    ],
)
def test_a_value_is_written_as_text_or_json(expected: str, value: Any) -> None:
    assert expected == render_value(value)


def test_numpy_scalars_are_written_as_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert "3" == render_value(numpy.int64(3))
    assert '[3, 1.5, 2.5, true, "x"]' == render_value(
        [numpy.int64(3), numpy.float64(1.5), numpy.float32(2.5), numpy.bool_(True), numpy.str_("x")]
    )


def test_a_set_has_one_order_whatever_it_holds() -> None:
    assert render_value({"b", "a", 1, None}) == render_value({None, 1, "a", "b"})


def test_a_cycle_is_cut_where_it_closes() -> None:
    items: list[Any] = [1]
    items.append({"again": items})
    assert '[1, {"again": "[...]"}]' == render_value(items)


def test_a_cycle_through_models_is_cut_too() -> None:
    pair = Pair()
    pair.right = pair
    assert json.loads(str(render_value(pair)))["left"] == 1


def test_an_object_that_cannot_print_itself_shows_its_class() -> None:
    assert "Unprintable object" in str(render_value(Unprintable()))
    assert "Unprintable object" in str(render_value({"a": [Unprintable()]}))


def test_depth_beyond_any_use_is_left_out() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert str(render_value(deep)).startswith("[[[[")


def test_integers_of_thousands_of_digits_are_written_out() -> None:
    assert "1" + "0" * 6_000 == render_value(10**6_000)
    assert '["1' + "0" * 6_000 + '"]' == render_value([10**6_000])


def test_lone_surrogates_are_replaced_and_pairs_are_joined() -> None:
    assert "a�b" == clean_text("a\ud800b")
    assert "😀" == clean_text("\ud83d\ude00")
    assert '["�"]' == render_value(["\ud800"])
    sound = "plain é"
    assert sound is clean_text(sound)


def test_a_serializer_of_a_model_that_fails_shows_the_fields() -> None:
    class Failing(BaseModel):
        a: int = 1

        @model_serializer
        def write(self) -> dict[str, Any]:
            raise RuntimeError("no")

    assert '{"a": 1}' == render_value(Failing())


def test_media_become_parts_in_their_place() -> None:
    assert [part("u")] == render_value(Picture(place="u"))
    assert [text('["'), part("u"), text('", "t"]')] == render_value([Picture(place="u"), "t"])
    assert [text('{"a": {"b": "'), part("u"), text('"}}')] == render_value({"a": {"b": Picture(place="u")}})


def test_media_are_found_in_models_and_dataclasses() -> None:
    album = Album(title="t", cover=Picture(place="u"))
    assert [text('{"title": "t", "cover": "'), part("u"), text('"}')] == render_value(album)
    assert [text('{"left": "'), part("u"), text('", "right": null}')] == render_value(Pair(left=Picture(place="u")))


def test_media_beside_values_that_need_the_careful_pass_keep_their_place() -> None:
    assert [text('[null, "'), part("u"), text('"]')] == render_value([float("nan"), Picture(place="u")])


def test_parts_are_copies() -> None:
    picture = Picture(place="u")
    rendered = render_value([picture, picture])
    assert isinstance(rendered, list)
    rendered[1]["type"] = "changed"
    assert part("u") == rendered[3]


def test_text_that_looks_like_a_tag_stays_text() -> None:
    tag = '<<CUSTOM-TYPE-START-IDENTIFIER>>[{"type": "image_url"}]<<CUSTOM-TYPE-END-IDENTIFIER>>'
    assert tag == render_value(tag)
    assert json.dumps([tag]) == render_value([tag])


def test_a_medium_shows_as_json_where_only_text_will_do() -> None:
    assert '[{"type": "image_url", "image_url": {"url": "u"}}]' == render_text(Picture(place="u"))


def test_json_data_need_no_help_from_the_encoder() -> None:
    data = serialize_for_json({Colour.RED: [Point(), Decimal("1.5"), {1}, b"a", float("inf"), Picture(place="u")]})
    shown = {"x": 1, "label": None, "colour": "r"}
    assert {"r": [shown, "1.5", [1], "a", None, [part("u")]]} == json.loads(json.dumps(data))


@pytest.mark.parametrize(
    ("expected", "items"),
    [
        ("[]", []),
        ("«a»", ["a"]),
        ("[1] «a»\n[2] «b»", ["a", "b"]),
        ("[1] «a»\n[2] «««\n    b\n    c\n»»»", ["a", "b\nc"]),
        ("«««\n    x»\n»»»", ["x»"]),
        ("[1] «1»\n[2] «None»", [1, None]),
    ],
)
def test_a_list_for_a_text_field_is_numbered(expected: str, items: list[Any]) -> None:
    assert expected == format_field_value(FieldInfo(annotation=str), items)


def test_a_field_value_may_be_asked_for_as_a_part() -> None:
    assert text("hi") == format_field_value(FieldInfo(annotation=str), "hi", assume_text=False)
    assert [part("u")] == format_field_value(FieldInfo(annotation=Picture), Picture(place="u"), assume_text=False)


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        ("str", str),
        ("list[str]", list[str]),
        ("Union[str, NoneType]", str | None),
        ("Literal['a', 1, True, Colour.RED]", Literal["a", 1, True, Colour.RED]),
        ('Literal["it\'s"]', Literal["it's"]),
        ("dict[str, list[Colour]]", dict[str, list[Colour]]),
        ("tuple[int, Ellipsis]", tuple[int, ...]),
        ("Any", Any),
    ],
)
def test_a_type_has_a_short_name(expected: str, annotation: Any) -> None:
    assert expected == get_annotation_name(annotation)


def test_fields_are_listed_with_their_types_descriptions_and_constraints() -> None:
    fields = {
        "a": output_field(int, desc="${a}", constraints="greater than: 3"),
        "b": output_field(list[Picture], desc="the pictures"),
        "c": output_field(str),
    }
    assert [
        "1. `a` (int): ",
        "Constraints: greater than: 3",
        "2. `b` (list[Picture]): the pictures",
        "    About Picture: a picture",
        "3. `c` (str):",
    ] == get_field_description_string(fields).split("\n")


def test_custom_types_are_named_once_each() -> None:
    assert [Picture, Note] == custom_types_in(dict[str, list[Picture | Note] | Picture])


def test_plain_text_and_inputs_get_no_note() -> None:
    assert "{f}" == translate_field_type("f", output_field(str))
    assert "{f}" == translate_field_type(
        "f", FieldInfo(annotation=int, json_schema_extra={"__dspy_field_type": "input"})
    )


@pytest.mark.parametrize(
    ("told", "annotation"),
    [
        ("int", int),
        ("float", float),
        ("True or False", bool),
        ("r; b", Colour),
        ("a; 1", Literal["a", 1]),
        ('{"type": "array", "items": {"type": "integer"}}', list[int]),
    ],
)
def test_the_note_tells_the_form_of_the_value(told: str, annotation: Any) -> None:
    placeholder, note = translate_field_type("f", output_field(annotation)).split("        # ")
    assert "{f}" == placeholder
    assert note.endswith(told) or told in note


def test_a_type_without_a_schema_is_named() -> None:
    assert value_schema(type) is None
    assert translate_field_type("f", output_field(type)).endswith("type type")


@pytest.mark.parametrize("value", [{None: 1}, {True: [2]}, {(1, "a"): 3}, {"n": 1 << 12_000}])
@pytest.mark.parametrize("beside", [1.5, math.nan])
def test_a_mapping_is_shown_as_it_is_stored_whichever_pass_writes_it(value: dict[Any, Any], beside: float) -> None:
    whole = {**value, "x": beside}
    assert json.dumps(json_form(whole)) == render_value(whole)
