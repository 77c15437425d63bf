"""Signatures: classes, strings, and what is derived of them."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo
from typing_extensions import assert_type

import reasonact as dspy


class Summarise(dspy.Signature):
    """Say it in one sentence."""

    text: str = dspy.InputField(desc="the page", max_length=10_000)
    history: dspy.History = dspy.InputField()
    words: int = dspy.InputField(default=20)
    picture: dspy.Image | None = dspy.OutputField()
    summary: str = dspy.OutputField()


assert_type(Summarise.input_fields, dict[str, FieldInfo])
assert_type(Summarise.output_fields, dict[str, FieldInfo])
assert_type(Summarise.instructions, str)
assert_type(Summarise.signature, str)
assert_type(Summarise.with_instructions("Briefly."), type[dspy.Signature])
assert_type(Summarise.append("title", dspy.OutputField(), str), type[dspy.Signature])
assert_type(Summarise.delete("words").prepend("language", dspy.InputField()), type[dspy.Signature])

# An instance has its fields by their types.
given = Summarise(text="t", history=dspy.History(messages=[]), words=3, picture=None, summary="s")
assert_type(given.summary, str)
assert_type(given.picture, dspy.Image | None)
given.sumary  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

# From strings. mypy takes `Signature(...)` for an instance; its methods give classes all the same.
assert_type(dspy.make_signature("text -> summary", "Briefly."), type[dspy.Signature])
assert_type(dspy.Signature("text -> summary", "Briefly.").append("title", dspy.OutputField()), type[dspy.Signature])
dspy.Predict(dspy.Signature("text -> summary"))
dspy.ChainOfThought(dspy.Signature({"text": dspy.InputField(), "summary": (str, dspy.OutputField())}))

assert_type(dspy.ensure_signature(Summarise), type[Summarise])
assert_type(dspy.ensure_signature("text -> summary"), type[dspy.Signature])
assert_type(dspy.ensure_signature(None), None)


def derived(signature: type[dspy.Signature]) -> type[dspy.Signature]:
    assert_type(signature.fields, dict[str, FieldInfo])
    assert_type(signature.dump_state(), dict[str, Any])
    return signature.with_updated_fields("summary", desc="one sentence")


derived(Summarise)
derived(dspy.History)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
