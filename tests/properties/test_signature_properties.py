"""Arbitrary text as a signature: a signature or a ValueError, and nothing runs."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from reasonact.signatures import InputField, OutputField, Signature

NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,8}", fullmatch=True)
PIECES = st.sampled_from(
    [
        "->",
        ",",
        ":",
        "[",
        "]",
        "(",
        ")",
        "|",
        ".",
        "...",
        "=",
        "-",
        "'",
        '"',
        " ",
        "\n",
        "\\",
        "a",
        "b",
        "question",
        "int",
        "str",
        "list",
        "dict",
        "Literal",
        "Optional",
        "Union",
        "Annotated",
        "Callable",
        "typing",
        "os",
        "system",
        "None",
        "True",
        "'x'",
        '"y"',
        "1",
        "-2.5",
        "0x",
        "1e999",
        "lambda",
        "__import__",
        "exec",
        "fired",
        "é",
        "²",
        "\0",
        "\ud800",
        "#",
        ";",
        "Any",
        "type",
        "object",
        "Generic",
        "Protocol",
        "Final",
        "ClassVar",
        "Self",
        "TypeVar",
    ]
)

fired: list[str] = []


def is_signature_or_value_error(text: str) -> None:
    try:
        made = Signature(text)
    except ValueError as error:
        assert str(error)
    else:
        assert issubclass(made, Signature)
        assert made.signature.count("->") == 1
    assert [] == fired


@examples(300)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_pieces_of_the_grammar_in_any_order(text: str) -> None:
    is_signature_or_value_error(text)


@examples(200)
@given(st.lists(PIECES, max_size=15).map(lambda pieces: "a: " + "".join(pieces) + " -> b"))
def test_any_text_as_a_type(text: str) -> None:
    is_signature_or_value_error(text)


@examples(200)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    is_signature_or_value_error(text)
    is_signature_or_value_error(f"{text} -> {text}")


@examples(20)
@given(st.sampled_from(list("[](){}'\"|.,:=-> a1\\")), st.integers(1_000, 50_000))
def test_long_runs_of_one_character_end_soon(character: str, count: int) -> None:
    is_signature_or_value_error(character * count)
    is_signature_or_value_error(f"a: {character * count} -> b")


@examples(100)
@given(st.lists(NAMES, min_size=2, max_size=8, unique=True), st.data())
def test_the_string_of_a_signature_makes_it_again(names: list[str], data: st.DataObject) -> None:
    import keyword

    names = [name for name in names if not keyword.iskeyword(name)]
    cut = data.draw(st.integers(0, len(names)))
    text = f"{', '.join(names[:cut])} -> {', '.join(names[cut:])}"
    made = Signature(text)
    assert text == made.signature
    assert names == list(made.fields)
    assert made.equals(Signature(made.signature))


@examples(50)
@given(st.lists(st.tuples(NAMES, st.booleans(), st.integers(-6, 6)), max_size=6))
def test_inserting_keeps_the_others_in_their_order(steps: list[tuple[str, bool, int]]) -> None:
    signature = Signature("first -> last")
    for name, is_input, index in steps:
        before = list(signature.fields)
        try:
            made = signature.insert(index, name, InputField() if is_input else OutputField())
        except ValueError:
            continue
        assert name in (made.input_fields if is_input else made.output_fields)
        if name not in before:
            assert before == [other for other in made.fields if other != name]
        assert before == list(signature.fields)
        signature = made


def test_the_alphabet_is_no_accident() -> None:
    assert all(len(Signature(f"{letter} -> out").fields) == 2 for letter in string.ascii_letters)
