"""Signature classes in a module whose annotations are objects, not text."""

from typing import Annotated, ClassVar, Optional

import pytest
from pydantic import Field

from reasonact.signatures import InputField, OutputField, Signature


def test_annotations_that_are_objects_are_taken_as_they_are() -> None:
    class Plain(Signature):
        """Plain."""

        LIMIT: ClassVar[int] = 3
        _private: int = 1
        a: int = InputField()
        b: Optional[list[str]] = InputField()  # noqa: UP045
        c: "int | None" = InputField()
        d: Optional["int"] = InputField()
        e: Annotated[int, Field(ge=2, description="words")] = OutputField()

    assert {
        "a": int,
        "b": list[str] | None,
        "c": int | None,
        "d": int | None,
        "e": int,
    } == Plain.__annotations__
    assert 3 == Plain.LIMIT
    assert "words" == Plain.fields["e"].description
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        Plain(a=1, b=None, c=None, d=None, e=1)


def test_a_text_annotation_with_an_error_names_the_field() -> None:
    with pytest.raises(TypeError, match="'list\\[Nowhere\\]' of the field 'a' of Wrong"):

        class Wrong(Signature):
            a: "list[Nowhere]" = InputField()  # type: ignore[name-defined]  # noqa: F821
