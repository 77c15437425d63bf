"""The string form: what it reads, and what it says of what it cannot read."""

from __future__ import annotations

import enum
import sys
import types
import warnings
from pathlib import Path
from typing import Any, Literal

import pytest

from reasonact.signatures import Signature


class Colour(enum.Enum):
    RED = "red"


class Trap:
    """An object whose attributes run code."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit("an attribute of an object was followed")


fired: list[str] = []


def types_of(text: str) -> dict[str, Any]:
    return {name: field.annotation for name, field in Signature(text).fields.items()}


def test_every_field_of_a_list_is_kept_in_its_order() -> None:
    signature = Signature("a, b: int, c -> d, e: list[str], f")
    assert ["a", "b", "c"] == list(signature.input_fields)
    assert ["d", "e", "f"] == list(signature.output_fields)


def test_arrows_commas_and_colons_within_quotes_are_text() -> None:
    assert {"a": Literal["x -> y, z: w"], "b": str} == types_of("a: Literal['x -> y, z: w'] -> b")


def test_literals_of_every_kind_are_read() -> None:
    assert Literal[-1, True, None, "x", b"y"] == types_of("a: Literal[-1, True, None, 'x', b'y'] -> b")["a"]


def test_a_member_of_an_enum_can_stand_in_a_literal() -> None:
    assert Literal[Colour.RED] == types_of("a: Literal[Colour.RED] -> b")["a"]


def test_a_backslash_in_a_literal_is_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Literal["\\d"] == types_of("a: Literal['\\d'] -> b")["a"]


def test_none_is_the_type_of_none() -> None:
    assert {"a": type(None), "b": int | None} == types_of("a: None -> b: int | None")


def test_a_default_of_a_plain_kind_is_kept() -> None:
    fields = Signature(
        "k: int = 3, name: str = 'x', low: float = -1.5, flag: bool = True, none: int | None = None -> b"
    ).fields
    assert [3, "x", -1.5, True, None] == [fields[name].default for name in ("k", "name", "low", "flag", "none")]
    assert fields["b"].is_required()


def test_callable_types_are_read() -> None:
    assert "typing.Callable[[int], str]" == repr(types_of("f: Callable[[int], str] -> b")["f"])


def test_thousands_of_members_of_a_union_are_no_trouble() -> None:
    assert int is types_of("a: " + " | ".join(["int"] * 5_000) + " -> b")["a"]


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "expected '->'"),
        ("question", 8, "expected '->'"),
        ("a -> b -> c", 7, "second '->'"),
        ("a b -> c", 2, "found 'b'"),
        ("a, a -> b", 3, "'a' is named twice"),
        ("a -> b, b", 8, "'b' is named twice"),
        ("a,, b -> c", 2, "expected the name of a field"),
        ("class -> b", 0, "'class'"),
        ("² -> b", 0, "'²'"),
        ("a: -> b", 3, "expected a type"),
        ("a: Nowhere -> b", 3, "custom_types={'Nowhere'"),
        ("a: list[ -> b", 9, "expected a type"),
        ("a: list[] -> b", 8, "empty"),
        ("a: list[int -> b", 12, "expected ']'"),
        ("a: int[3] -> b", 8, "int does not take"),
        ("a: 3 -> b", 3, "expected a type"),
        ("a: Literal -> b", 3, "needs a type"),
        ("a: print -> b", 3, "there is no type 'print'"),
        ("a: types_of -> b", 3, "needs a type"),
        ("a: list[types_of] -> b", 16, "is no type"),
        ("a: Colour.BLUE -> b", 10, "no attribute 'BLUE'"),
        ("a: str = InputField() -> b", 9, "signature class"),
        ("a: int = -> b", 9, "expected a number"),
        ("a: Literal[0x] -> b", 12, "expected"),
        ("a; b -> c", 1, "';' has no meaning"),
        ("a: " + "list[" * 60 + "int" + "]" * 60 + " -> b", 253, "levels deep"),
    ],
)
def test_an_error_says_where_and_what(text: str, position: int, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        Signature(text)
    assert f"at position {position}:" in str(caught.value)
    assert words in str(caught.value)


def test_a_name_on_both_sides_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="answer is on both sides"):
        Signature("question, answer -> answer")


def test_attributes_of_objects_are_not_followed() -> None:
    with pytest.raises(ValueError, match="no module and no class"):
        Signature("a: trap.anything -> b", custom_types={"trap": Trap()})


def test_calls_are_not_made() -> None:
    with pytest.raises(ValueError):
        Signature("a: fired.append('x') -> b")
    assert [] == fired


def test_a_module_is_not_imported_for_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "not_asked_for.py").write_text("class Node: ...")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="no type 'not_asked_for'"):
        Signature("a: not_asked_for.Node -> b")
    assert "not_asked_for" not in sys.modules


def test_the_nearest_scope_wins_over_typing() -> None:
    class List:
        """A class of the program's own with a name of typing's."""

    assert List is Signature("a: List -> b").fields["a"].annotation


def test_scopes_further_out_are_searched_too() -> None:
    class Far:
        """Known to the outer function alone."""

    def made_by_a_module() -> Any:
        return Signature("a: Far -> b").fields["a"].annotation

    assert Far is made_by_a_module()


def test_the_library_is_found_under_both_names_without_an_import() -> None:
    namespace: dict[str, Any] = {"__name__": "program", "make": Signature}
    exec("made = make('a: dspy.errors.LMError -> b: reasonact.errors.LMError')", namespace)
    fields = namespace["made"].fields
    assert "LMError" == fields["a"].annotation.__name__ == fields["b"].annotation.__name__


def test_a_lazy_module_that_fails_is_an_error_of_the_string() -> None:
    lazy = types.ModuleType("lazy")

    def missing(name: str) -> Any:
        raise ImportError("the part is not installed")

    lazy.__getattr__ = missing  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="no attribute 'Part'"):
        Signature("a: lazy.Part -> b", custom_types={"lazy": lazy})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: enum.[int] -> b", "expected a name after '.'"),
        ("a: " + "list[" * 60 + "int" + "]" * 60 + " -> b", "nested more than 50 levels deep"),
        ("a: Literal[0777] -> b", "is no valid literal"),
        ("a: fired[int] -> b", "takes no type arguments"),
        ("a: Any[int] -> b", "int"),
    ],
)
def test_a_type_that_is_none_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        Signature(text, custom_types={"enum": enum, "fired": fired})
    assert complaint in str(caught.value)


def test_the_type_of_no_arguments_and_of_any_arguments_is_read() -> None:
    assert tuple[int, ...] == types_of("a: tuple[int, ...] -> b")["a"]
    assert tuple[()] == types_of("a: tuple[()] -> b")["a"]
