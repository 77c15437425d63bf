"""Signature classes: their fields, what is derived from them, and what goes wrong at definition."""

from __future__ import annotations

import copy
import datetime
import pickle
import typing
import warnings
from typing import Any, ClassVar

import cloudpickle
import pydantic
import pytest
from pydantic import BaseModel, field_validator

from reasonact.signatures import (
    InputField,
    OutputField,
    Signature,
    SignatureMeta,
    ensure_signature,
    infer_prefix,
    make_signature,
)


class Ask(Signature):
    """Answer the question."""

    question: str = InputField(desc="what is asked")
    limit: int = InputField(default=3, ge=1)
    answer: list[str] = OutputField()


def test_a_class_has_its_fields_its_words_and_a_string() -> None:
    assert ["question", "limit"] == list(Ask.input_fields)
    assert ["answer"] == list(Ask.output_fields)
    assert "Answer the question." == Ask.instructions
    assert "question, limit -> answer" == Ask.signature
    assert "at least 1" == Ask.fields["limit"].json_schema_extra["constraints"]


def test_deriving_leaves_the_original_as_it_was() -> None:
    before = repr(Ask)
    Ask.append("more", OutputField()).prepend("first", InputField()).delete("answer").with_instructions("x")
    Ask.with_updated_fields("question", desc="changed", type_=int)
    Ask.load_state({"instructions": "z", "fields": [{"prefix": "P", "description": "D"}]})
    assert before == repr(Ask)


def test_the_field_that_is_passed_in_stays_as_it_was() -> None:
    field = OutputField(desc="d")
    Ask.append("more", field, int)
    assert field.annotation is None
    assert {"desc": "d", "__dspy_field_type": "output"} == field.json_schema_extra


def test_the_dicts_of_fields_are_copies() -> None:
    for view in (Ask.fields, Ask.input_fields, Ask.output_fields, Ask.model_fields):
        view.clear()
    assert ["question", "limit", "answer"] == list(Ask.fields)


def test_a_memo_belongs_to_one_class_alone() -> None:
    derived = Ask.with_instructions("other")

    class Child(Ask):
        """Child."""

    Ask.memo["key"] = 1
    assert {} == derived.memo == Child.memo
    assert Ask.memo is Ask.memo
    assert isinstance(Ask.memo, dict)


def test_new_instructions_in_place_forget_what_was_worked_out() -> None:
    signature = Signature("a -> b", "old")
    signature.memo["rendered"] = "old"
    signature.instructions = "new"
    assert ("new", {}) == (signature.instructions, signature.memo)


def test_names_of_methods_and_of_pydantic_can_name_fields() -> None:
    names = ["model", "schema", "copy", "json", "fields", "instructions", "signature", "append", "memo", "cls", "self",
             "model_fields", "model_config", "model_dump", "model_validate", "register", "mro", "dict"]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signature = Signature(f"{', '.join(names)} -> out", "Do.")
        filled = signature(**dict.fromkeys(names, "x"), out="y")
    assert names == list(signature.input_fields)
    assert "Do." == signature.instructions
    assert ["Do.", "more"] == [signature.instructions, signature.with_instructions("more").instructions]
    assert "x" == filled.instructions


def test_names_of_methods_can_name_fields_of_a_class() -> None:
    class Odd(Signature):
        """Odd."""

        instructions: list[str] = InputField()
        copy: int = OutputField()
        append = OutputField()

    assert {"instructions": list[str], "copy": int, "append": str} == Odd.__annotations__
    assert ["instructions", "copy", "append", "more"] == list(Odd.append("more", OutputField()).fields)


def test_the_name_of_a_field_may_be_that_of_its_type() -> None:
    class Day(Signature):
        """Day."""

        datetime: datetime.datetime = InputField()

    assert datetime.datetime is Day.fields["datetime"].annotation


def test_types_local_to_a_function_are_found_in_annotations_kept_as_text() -> None:
    class Local(BaseModel):
        x: int

    class UsesLocal(Signature):
        """Uses it."""

        one: Local = InputField()
        many: list[Local] | None = OutputField()

    assert Local is UsesLocal.fields["one"].annotation
    assert typing.get_args(list[Local] | None) == typing.get_args(UsesLocal.fields["many"].annotation)


def test_a_child_keeps_adds_and_replaces_fields() -> None:
    class Child(Ask):
        extra: int = InputField()
        question: list[str] = InputField(desc="many")

    assert ["question", "limit", "extra"] == list(Child.input_fields)
    assert list[str] == Child.fields["question"].annotation
    assert "Answer the question." == Child.instructions


def test_a_child_of_a_class_without_a_docstring_lists_its_own_fields() -> None:
    class Bare(Signature):
        q: str = InputField()

    class Child(Bare):
        a: str = OutputField()

    assert "Given the fields `q`, produce the fields `a`." == Child.instructions


def test_methods_constants_and_validators_of_a_class_work() -> None:
    class Rich(Signature):
        """Rich."""

        LIMIT: ClassVar[int] = 2
        a: int = InputField()

        def doubled(self) -> int:
            return self.a * self.LIMIT

        @field_validator("a")
        @classmethod
        def positive(cls, value: int) -> int:
            return abs(value)

    assert 6 == Rich(a=-3).doubled()


def test_instances_are_validated() -> None:
    assert 3 == Ask(question="q", answer=[]).limit
    with pytest.raises(pydantic.ValidationError, match="greater than or equal to 1"):
        Ask(question="q", limit=0, answer=[])


def test_a_derived_signature_makes_instances_schemas_and_parts_of_models() -> None:
    derived = Ask.delete("limit")
    filled = derived(question="q", answer=["a"])
    assert isinstance(filled, derived)
    assert (
        {"question": "q", "answer": ["a"]}
        == filled.model_dump()
        == derived.model_validate(filled.model_dump()).model_dump()
    )
    assert '{"question":"q","answer":["a"]}' == filled.model_dump_json()
    assert ["question", "answer"] == Ask.delete("limit").model_json_schema()["required"]
    fresh = Ask.delete("limit")
    assert "q" == pydantic.TypeAdapter(list[fresh]).validate_python([{"question": "q", "answer": []}])[0].question  # type: ignore[valid-type]


def test_every_signature_is_a_class_of_models() -> None:
    for signature in (Ask, Signature("a -> b"), Ask.delete("limit")):
        assert issubclass(signature, Signature)
        assert issubclass(signature, BaseModel)
        assert isinstance(signature, SignatureMeta)
    assert not issubclass(Ask.delete("limit"), Ask)


def test_equality_asks_for_the_same_words_and_types() -> None:
    assert Ask.equals(Ask.with_instructions("x").with_instructions("Answer the question."))
    assert not Ask.equals(Ask.with_updated_fields("question", desc="other"))
    assert not Ask.equals(Ask.with_updated_fields("limit", float))
    assert not Ask.equals(Ask.delete("limit"))
    assert not Ask.equals("question -> answer")
    assert Ask == Ask
    assert Ask != Ask.with_instructions("Answer the question.")


def test_a_saved_state_gives_the_words_back() -> None:
    changed = Ask.with_instructions("Other.").with_updated_fields("answer", desc="D", prefix="P:")
    assert changed.equals(Ask.load_state(changed.dump_state()))


@pytest.mark.parametrize(
    "state",
    [{}, {"instructions": "x"}, {"instructions": "x", "fields": [{}]}, {"instructions": "x", "fields": 3}, None],
)
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match="no saved signature"):
        Ask.load_state(state)


def test_signatures_are_copied_and_pickled() -> None:
    derived = Signature("a, k: int -> b", "Do.").append("c", OutputField(desc="d"), list[int])
    assert derived is copy.copy(derived) is copy.deepcopy(derived)
    assert Ask is pickle.loads(pickle.dumps(Ask))
    assert Signature is pickle.loads(pickle.dumps(Signature))
    assert derived.equals(pickle.loads(pickle.dumps(derived)))
    assert {"s": derived.signature} == {
        name: made.signature for name, made in pickle.loads(pickle.dumps({"s": derived})).items()
    }


def test_cloudpickle_carries_a_signature_without_its_memo() -> None:
    derived = Signature("a -> b", "Do.")
    derived.memo["lock"] = iter([])  # nothing can pickle it
    derived(a="x", b="y")
    copied = cloudpickle.loads(cloudpickle.dumps(derived))
    assert derived.equals(copied)


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: Ask.append("x", 3), TypeError, "the field 'x' must be InputField"),
        (lambda: Ask.append("x", pydantic.Field()), TypeError, "the field 'x' must be InputField"),
        (lambda: Ask.append("x", InputField(), "int"), TypeError, "the field 'x' needs a type"),
        (lambda: Ask.append("x y", InputField()), ValueError, "'x y' cannot name a field"),
        (lambda: Ask.append("_x", InputField()), ValueError, "underscore: write 'x'"),
        (lambda: Ask.insert(9, "x", InputField()), ValueError, "index 9 is out of range"),
        (lambda: Ask.insert(-9, "x", InputField()), ValueError, "it may be -3 to 2"),
        (lambda: Ask.with_updated_fields("nope", desc="x"), KeyError, "no field 'nope'"),
        (lambda: Ask.with_updated_fields("limit", 3), TypeError, "'limit' needs a type"),
        (lambda: Ask.with_instructions(3), TypeError, "instructions must be text"),
        (lambda: Ask.append_instructions(None), TypeError, "instructions must be text"),
        (lambda: Signature(3), TypeError, "not from int"),
        (lambda: Signature("a -> b", 3), TypeError, "instructions must be text"),
        (lambda: Signature({"a": int}), TypeError, "the field 'a' must be InputField"),
        (lambda: Signature({"a": (str,)}), TypeError, "the field 'a' must be"),
        (lambda: Signature({3: InputField()}), ValueError, "3 cannot name a field"),
        (lambda: Signature({"a": ("int", InputField())}), TypeError, "the field 'a' needs a type"),
        (lambda: Signature("_a -> b"), ValueError, "'_a' may not start"),
        (lambda: Signature("a -> b", instruction="x"), TypeError, "instruction"),
        (lambda: ensure_signature(3), TypeError, "found 3"),
        (lambda: ensure_signature(Ask, "x"), ValueError, "with_instructions"),
    ],
)  # fmt: skip
def test_misuse_is_named(make: typing.Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert words in str(caught.value)


def body_without_value() -> None:
    class Wrong(Signature):
        a: str


def body_with_pydantic_field() -> None:
    class Wrong(Signature):
        a: str = pydantic.Field(description="x")


def body_with_plain_default() -> None:
    class Wrong(Signature):
        a: str = "x"


def body_with_unknown_type() -> None:
    class Wrong(Signature):
        a: Nowhere = InputField()  # type: ignore[name-defined]  # noqa: F821


def body_with_number_as_type() -> None:
    class Wrong(Signature):
        a: 3 = InputField()  # type: ignore[valid-type]


def body_with_constant() -> None:
    class Wrong(Signature):
        a = 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            body_without_value,
            "the field 'a' of Wrong must be declared with InputField() or OutputField(), it has no value",
        ),
        (body_with_pydantic_field, "the field 'a' of Wrong must be declared"),
        (body_with_plain_default, "found 'x' of type str"),
        (body_with_unknown_type, "'Nowhere' of the field 'a' of Wrong cannot be resolved"),
        (body_with_number_as_type, "of Wrong"),
        (body_with_constant, "The signature Wrong cannot be made"),
    ],
)
def test_a_wrong_class_body_is_a_type_error_that_names_the_field(body: typing.Callable[[], None], words: str) -> None:
    with pytest.raises(TypeError) as caught:
        body()
    assert words in str(caught.value)


def test_a_new_field_takes_the_place_of_one_of_the_other_side() -> None:
    assert "a, k -> b" == Signature("a -> k, b").append("k", InputField()).signature
    assert "a -> k, b" == Signature("a, k -> b").append("k", OutputField()).signature


def test_arguments_without_effect_are_said_to_be_so() -> None:
    with pytest.warns(DeprecationWarning, match="prefix, format") as seen:
        InputField(prefix="P:", format=str)
    assert __file__ == seen[0].filename


def test_other_arguments_are_kept_beside_the_prompt_words() -> None:
    extra = InputField(desc="d", unit="metre", json_schema_extra={"k": 1}).json_schema_extra
    assert {"desc": "d", "unit": "metre", "k": 1, "__dspy_field_type": "input"} == extra


def test_a_limit_of_none_is_no_constraint() -> None:
    assert "constraints" not in OutputField(ge=None).json_schema_extra


def test_prefixes() -> None:
    assert ["Some Attr", "Model ID", "Get HTTP Code", "Step 0"] == [
        infer_prefix(name) for name in ("some_attr", "modelID", "getHTTPCode", "step0")
    ]


def test_a_name_for_the_class_can_be_given() -> None:
    assert "Mine" == make_signature("a -> b", signature_name="Mine").__name__
