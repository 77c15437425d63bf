"""Examples and predictions beyond what they share with DSPy's."""

from __future__ import annotations

from typing import Any

import pytest

from reasonact.types import Completions, Example, Prediction


def test_fields_named_like_methods_work_by_item_however_they_are_set() -> None:
    row = Example(items=1, keys=2)
    row.values = 3  # type: ignore[method-assign, assignment]
    assert (1, 2, 3) == (row["items"], row["keys"], row["values"])
    assert ["items", "keys", "values"] == row.keys()


def test_a_field_named_base_is_a_field() -> None:
    assert {"base": "x"} == Example(base="x").toDict() == Example(base="x").copy().toDict()


def test_copies_share_values_and_nothing_else() -> None:
    value: list[int] = []
    row = Example(a=value).with_inputs("a")
    copied = row.copy(b=1)
    copied["c"] = 2
    assert {"a": []} == row.toDict()
    assert value is copied.a


def test_a_subclass_with_arguments_of_its_own_can_be_copied() -> None:
    class Asking(Prediction):
        def __init__(self, agent: str, **fields: Any) -> None:
            super().__init__(**fields)
            self._agent = agent

    prediction = Asking("me", a=1)
    assert ("me", {"a": 1, "b": 2}) == (prediction.copy(b=2)._agent, prediction.copy(b=2).toDict())


def test_the_completions_of_a_prediction_cannot_be_set_by_attribute() -> None:
    with pytest.raises(AttributeError):
        Prediction(a=1).completions = 3  # type: ignore[misc, assignment]


def test_uneven_completions_are_named() -> None:
    with pytest.raises(ValueError, match=r"\{'a': 2, 'b': 1\}"):
        Prediction.from_completions({"a": [1, 2], "b": [1]})
    with pytest.raises(ValueError, match="not int"):
        Completions(3)


def test_no_completions_are_an_empty_prediction() -> None:
    prediction = Prediction.from_completions([])
    assert ("Prediction(\n    \n)", 0) == (repr(prediction), len(prediction.completions or ()))
    assert [] == list(Completions([]))


def test_an_unmarked_prediction_says_how_to_mark_its_inputs() -> None:
    with pytest.raises(ValueError, match="with_inputs"):
        Prediction(a=1).inputs()
