"""TwoStepAdapter: a free answer, and a second model that takes the fields out."""

from typing import Any

import pytest

from reasonact.adapters.two_step import TwoStepAdapter
from reasonact.errors import AdapterParseError
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM

QA = Signature("q -> answer, score: int", "Answer well.")
FIELDS = "[[ ## answer ## ]]\nyes\n[[ ## score ## ]]\n3"


def test_the_first_model_answers_in_its_own_words_and_the_second_fills_the_fields() -> None:
    first, second = ScriptedLM(["Yes, I give it 3."]), ScriptedLM([FIELDS])
    assert [{"answer": "yes", "score": 3}] == TwoStepAdapter(second)(first, {"temperature": 1}, QA, [], {"q": "well?"})
    system, user = first.requests[0].messages
    assert (
        "[[" not in system["content"] and "Answer well." in system["content"] and "`score` (int)" in system["content"]
    )
    assert "q: well?" == user["content"]
    assert {"temperature": 1} == first.requests[0].options
    assert "[[ ## text ## ]]\nYes, I give it 3." in second.requests[0].messages[1]["content"]


async def test_both_models_are_asked_on_the_event_loop_too() -> None:
    adapter = TwoStepAdapter(ScriptedLM([FIELDS, FIELDS]))
    values = await adapter.acall(
        ScriptedLM([["one", {"text": "two", "logprobs": {}}]]), {"logprobs": True}, QA, [], {"q": "x"}
    )
    assert [{"answer": "yes", "score": 3}] == [{k: v for k, v in one.items() if k != "logprobs"} for one in values[:1]]
    assert 2 == len(values)


def test_demos_show_the_outputs_that_there_are() -> None:
    messages = TwoStepAdapter(ScriptedLM([])).format(
        QA, [{"q": "a", "answer": "b"}, {"q": "c", "answer": "d", "score": 1}], {"q": "e"}
    )
    assert ["answer: b", "answer: d\n\nscore: 1"] == [m["content"] for m in messages if m["role"] == "assistant"]


def test_parse_asks_the_second_model() -> None:
    assert {"answer": "yes", "score": 3} == TwoStepAdapter(ScriptedLM([FIELDS])).parse(QA, "Yes, 3.")


def test_fields_that_cannot_be_taken_out_are_an_error_with_the_first_answer() -> None:
    with pytest.raises(AdapterParseError, match="taken out") as caught:
        TwoStepAdapter(ScriptedLM(["no idea"]))(ScriptedLM(["Yes."]), {}, QA, [], {"q": "x"})
    assert "Yes." == caught.value.lm_response


@pytest.mark.parametrize("model", ["openai/gpt", None, object()])
def test_an_extraction_model_that_is_none_is_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="extraction_model"):
        TwoStepAdapter(model)


def test_nothing_is_known_before_the_second_step() -> None:
    splitter = TwoStepAdapter(ScriptedLM([])).field_splitter(QA)
    assert [] == [*splitter.feed("Yes, 3."), *splitter.close()]
