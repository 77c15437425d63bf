"""The same signatures made with DSPy and with this library: strings, fields, words, states."""

from __future__ import annotations

import enum
import random
import re
import typing
import warnings
from typing import Any

import pytest
from pydantic import BaseModel, Field

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy

import reasonact.signatures as ours


class Mine(BaseModel):
    x: int

    class Inner(BaseModel):
        y: int


class Colour(enum.Enum):
    RED = "red"


def facts(signature: Any) -> dict[str, Any]:
    return {
        "name": signature.__name__,
        "signature": signature.signature,
        "instructions": signature.instructions,
        "fields": [
            (
                name,
                field.annotation,
                field.is_required(),
                None if field.is_required() else field.default,
                {
                    key: bool(value) if key == "constraints" else value  # its words are each library's own
                    for key, value in field.json_schema_extra.items()
                    if not callable(value)
                },
                [repr(item) for item in field.metadata],
            )
            for name, field in signature.fields.items()
        ],
        "inputs": list(signature.input_fields),
        "outputs": list(signature.output_fields),
        "model_fields": list(signature.model_fields),
        "state": signature.dump_state(),
        "repr": re.sub(r"('constraints': )(\"[^\"]*\"|'[^']*')", r"\1(in words)", repr(signature)),
    }


def both(make: typing.Callable[[Any], Any]) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(dspy), make(ours)


STRINGS = [
    "question -> answer",
    "question, k: int -> answer: list[str]",
    "a -> b, c, d",
    "a, b, -> c",
    "a -> b,",
    "a\n->\nb",
    "  a :  list [ int ]  ->  b : dict[str, list[int | None]] ",
    "a ->",
    "-> b",
    "->",
    "a: Literal['x, y', 'z'] -> b: Literal[1, True]",
    "a: Optional[int] | None -> b: Union[int, str]",
    "a: float | None -> b: bool",
    "a: tuple[int, ...] -> b: tuple[()]",
    "a: Dict[str, List[int]] -> b: typing.List[int]",
    "a: Annotated[int, 3] -> b",
    "a: (int) -> b",
    "a: Any -> b: bytes",
    "a: datetime.datetime -> b: uuid.UUID",
    "a: collections.abc.Sequence[int] -> b: Sequence[int]",
    "a: Mine -> b: list[Mine], c: Mine.Inner",
    "a: Colour -> b: dict[str, Colour]",
    "a: set[int] -> b: frozenset[str]",
    "a: NoneType -> b: complex",
    "a: list -> b: dict",
    "model_x -> copy, json, schema, name, items, append, delete",
    "HTMLText, someValue, k1, x_1_y -> modelID",
    "A -> b",
    "a: Literal[b'x'] -> b",
    "a: pydantic.BaseModel -> b",
]


@pytest.mark.parametrize("text", STRINGS)
def test_a_string_makes_the_same_signature(text: str) -> None:
    theirs, own = both(lambda library: library.Signature(text))
    assert facts(theirs) == facts(own)


def test_types_local_to_the_caller_are_found() -> None:
    class Local(BaseModel):
        z: int

    theirs, own = both(lambda library: library.Signature("a: Local -> b: list[Local]"))
    assert Local is theirs.fields["a"].annotation
    assert facts(theirs) == facts(own)


def test_custom_types_go_first() -> None:
    theirs, own = both(lambda library: library.Signature("a: Foo -> b: Foo", custom_types={"Foo": Mine}))
    assert facts(theirs) == facts(own)


REFUSED = [
    "",
    "a",
    "a -> b -> c",
    "a b -> c",
    "1a -> b",
    "a -> a",
    "a: Nowhere -> b",
    "a: -> b",
    "a: list[ -> b",
    "a: list[int]], b -> c",
    "class -> b",
    "a-b -> c",
    "a: 3 -> b",
    "a: os.system -> b",
    "a: int or str -> b",
    "a: [int] -> b",
    "a: f(3) -> b",
    "a: 'int' -> b",
    "_a -> b",
    "a: int[3] -> b",
    "a: print -> b",
    "None -> b",
]


@pytest.mark.parametrize("text", REFUSED)
def test_both_refuse_the_same_strings(text: str) -> None:
    with pytest.raises(Exception):
        dspy.Signature(text)
    with pytest.raises(ValueError, match=r"\S"):
        ours.Signature(text)


FORMS: dict[str, typing.Callable[[Any], Any]] = {
    "instructions": lambda d: d.Signature("a -> b", "Do it."),
    "indented instructions": lambda d: d.Signature("a -> b", "  One\n    two\n"),
    "empty instructions": lambda d: d.Signature("a -> b", ""),
    "a name": lambda d: d.make_signature("a -> b", "i", "Mine"),
    "keywords": lambda d: d.Signature(signature="a -> b", instructions="x"),
    "dict of fields": lambda d: d.Signature({"a": d.InputField(), "b": d.OutputField(desc="x")}, "i"),
    "dict of tuples": lambda d: d.Signature({"a": (str, d.InputField()), "b": (int, d.OutputField(ge=1))}),
    "dict, outputs first": lambda d: d.Signature({"b": d.OutputField(), "a": d.InputField()}),
    "empty dict": lambda d: d.Signature({}),
    "dict, no desc": lambda d: d.Signature({"a": d.InputField(desc=None), "b": d.OutputField(desc="${b}")}),
    "append": lambda d: d.Signature("a -> b").append("c", d.OutputField(), int),
    "append with desc": lambda d: d.Signature("a -> b").append("c", d.InputField(desc="d")),
    "append an old name": lambda d: d.Signature("a, k -> b").append("k", d.OutputField(desc="d")),
    "append an old name of its side": lambda d: d.Signature("a -> b, c").append("b", d.OutputField(desc="d")),
    "prepend": lambda d: d.Signature("a -> b").prepend("c", d.OutputField(), list[str]),
    "insert": lambda d: d.Signature("a, b -> c").insert(1, "n", d.InputField(), float),
    "insert at -1": lambda d: d.Signature("a, b -> c").insert(-1, "n", d.InputField()),
    "insert at -2": lambda d: d.Signature("a, b -> c").insert(-2, "n", d.InputField()),
    "insert at -3": lambda d: d.Signature("a, b -> c").insert(-3, "n", d.InputField()),
    "delete": lambda d: d.Signature("a, b -> c").delete("a"),
    "delete nothing": lambda d: d.Signature("a, b -> c").delete("zz"),
    "delete all": lambda d: d.Signature("a, b -> c").delete("a").delete("b").delete("c"),
    "with_instructions": lambda d: d.Signature("a -> b").with_instructions("new"),
    "with_instructions none": lambda d: d.Signature("a -> b", "x").with_instructions(None),
    "append_instructions": lambda d: d.Signature("a -> b", "x").append_instructions("y"),
    "append_instructions empty": lambda d: d.Signature("a -> b", "x").append_instructions(""),
    "update desc": lambda d: d.Signature("a -> b").with_updated_fields("a", desc="k", foo=3),
    "update type": lambda d: d.Signature("a -> b").with_updated_fields("b", float),
    "load_state": lambda d: d.Signature("a -> b").load_state(
        {"instructions": "new", "fields": [{"prefix": "P:", "description": "D"}, {"prefix": "Q:", "description": "E"}]}
    ),
    "load_state, fewer fields": lambda d: d.Signature("a -> b").load_state(
        {"instructions": "new", "fields": [{"prefix": "P:", "description": "D"}]}
    ),
    "own state": lambda d: d.Signature("a: int -> b", "x").load_state(d.Signature("a: int -> b", "y").dump_state()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_way_of_making_one_gives_the_same(form: str) -> None:
    theirs, own = both(FORMS[form])
    assert facts(theirs) == facts(own)


def constrained(d: Any) -> Any:
    class Constrained(d.Signature):  # type: ignore[misc,name-defined]
        """First line.

        More.
        """

        q: str = d.InputField(desc="the q", max_length=10, min_length=2, prefix="Q!:")
        k: int = d.InputField(default=3, ge=1, lt=10, multiple_of=2, gt=0, le=8)
        x = d.InputField()
        y: float = d.InputField(allow_inf_nan=False, description="words")
        answer: list[str] = d.OutputField(format=lambda x: x, parser=str, pattern="a", title="T")

    return Constrained


def annotated(d: Any) -> Any:
    class Noted(d.Signature):  # type: ignore[misc,name-defined]
        a: typing.Annotated[int, Field(ge=2, description="AA")] = d.InputField()
        b: int = d.OutputField(default=4, desc="bb")

    return Noted


def outputs_first(d: Any) -> Any:
    class Mixed(d.Signature):  # type: ignore[misc,name-defined]
        """doc"""

        b: str = d.OutputField()
        a: str = d.InputField()
        LIMIT: typing.ClassVar[int] = 3

        def method(self) -> int:
            return 1

    return Mixed


def inherited(d: Any) -> Any:
    class Base(d.Signature):  # type: ignore[misc,name-defined]
        """Base doc."""

        q: str = d.InputField()
        z: Mine | None = d.OutputField()

    class Derived(Base):
        """Derived doc."""

        w: int = d.InputField()
        q: list[str] = d.InputField(desc="over")

    return Derived


def inherited_without_docstring(d: Any) -> Any:
    class Base(d.Signature):  # type: ignore[misc,name-defined]
        """Base doc."""

        q: str = d.InputField()

    class Derived(Base):
        w: int = d.OutputField()

    return Derived


def without_docstring(d: Any) -> Any:
    class Bare(d.Signature):  # type: ignore[misc,name-defined]
        q: str = d.InputField()
        w: int = d.OutputField()

    return Bare


def empty_docstring(d: Any) -> Any:
    class Empty(d.Signature):  # type: ignore[misc,name-defined]
        """"""

        q: str = d.InputField()

    return Empty


CLASSES = [
    constrained,
    annotated,
    outputs_first,
    inherited,
    inherited_without_docstring,
    without_docstring,
    empty_docstring,
]


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
def test_class_forms_agree(make: typing.Callable[[Any], Any]) -> None:
    theirs, own = both(make)
    expected, found = facts(theirs), facts(own)
    expected.pop("repr"), found.pop("repr")  # a function's address stands in it
    assert expected == found


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
def test_deriving_from_classes_agrees(make: typing.Callable[[Any], Any]) -> None:
    theirs, own = both(lambda d: make(d).append("extra", d.OutputField(), int).with_instructions("k").delete("q"))
    expected, found = facts(theirs), facts(own)
    expected.pop("repr"), found.pop("repr")
    assert expected == found


def test_the_base_itself_is_empty() -> None:
    assert repr(dspy.Signature) == repr(ours.Signature)
    assert ({}, "", " -> ") == (ours.Signature.fields, ours.Signature.instructions, ours.Signature.signature)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("q -> z", "q -> z"),
        ("q: str -> z", "q -> z"),
        ("q -> z", "q, r -> z"),
        ("q -> z: list[int]", "q -> z: list[int]"),
    ],
)
def test_equality_agrees(one: str, other: str) -> None:
    theirs, own = both(lambda d: (d.Signature(one).equals(d.Signature(other)), d.Signature(one) == d.Signature(one)))
    assert theirs == own


def test_types_count_for_equality_where_dspy_passes_over_them() -> None:
    theirs, own = both(lambda d: d.Signature("q: int -> z").equals(d.Signature("q: float -> z")))
    assert (True, False) == (theirs, own)


def test_ensure_signature_agrees() -> None:
    theirs, own = both(lambda d: (d.ensure_signature(None), facts(d.ensure_signature("a -> b", "x"))))
    assert theirs == own
    for library in (dspy, ours):
        signature = library.Signature("a -> b")
        assert signature is library.ensure_signature(signature)
        with pytest.raises(ValueError):
            library.ensure_signature(signature, "x")


def test_prefixes_are_inferred_alike() -> None:
    from dspy.signatures import infer_prefix

    source = random.Random(7)
    names = ["".join(source.choice("aBcDe_12XyÜß") for _ in range(source.randint(0, 9))) for _ in range(3000)]
    assert [infer_prefix(name) for name in names] == [ours.infer_prefix(name) for name in names]


def test_states_go_both_ways() -> None:
    theirs, own = both(lambda d: d.Signature("a, k: int -> b", "Do.").with_updated_fields("a", desc="D", prefix="P:"))
    assert facts(theirs) == facts(ours.Signature("a, k: int -> b").load_state(theirs.dump_state()))
    assert facts(own) == facts(dspy.Signature("a, k: int -> b").load_state(own.dump_state()))
