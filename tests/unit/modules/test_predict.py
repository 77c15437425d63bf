"""Predict: which model is asked, with what options, and what it says of wrong inputs."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import reasonact
from reasonact.modules.predict import call_predict
from reasonact.runtime.drive import adrive, drive
from reasonact.testing import ScriptedLM

ANSWER = "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"


def test_positional_inputs_are_refused_with_the_keywords_to_use() -> None:
    with pytest.raises(ValueError, match=r"question=\.\.\."):
        reasonact.Predict("question -> answer")("q")


def test_without_a_model_the_error_says_how_to_name_one() -> None:
    with pytest.raises(reasonact.LMNotConfiguredError, match=r"configure\(lm="):
        reasonact.Predict("question -> answer")(question="q")
    with pytest.raises(ValueError):  # what DSPy raises
        reasonact.Predict("question -> answer")(question="q")


@pytest.mark.parametrize("lm", ["openai/gpt-4o-mini", object()])
def test_an_lm_that_is_none_is_refused_before_it_is_asked(lm: Any) -> None:
    with pytest.raises(ValueError, match="not an LM"):
        reasonact.Predict("question -> answer")(question="q", lm=lm)


def test_a_signature_without_outputs_is_refused_at_construction() -> None:
    class Nothing(reasonact.Signature):
        question: str = reasonact.InputField()

    with pytest.raises(ValueError, match="no output field"):
        reasonact.Predict(Nothing)


def test_the_call_then_the_module_then_the_settings_say_which_model_is_asked() -> None:
    lms = {name: ScriptedLM([ANSWER]) for name in ("settings", "module", "call")}
    predict = reasonact.Predict("question -> answer")
    with reasonact.context(lm=lms["settings"]):
        predict(question="q")
        predict.lm = lms["module"]
        predict(question="q")
        predict(question="q", lm=lms["call"])
    for lm in lms.values():
        lm.assert_complete()


def test_options_of_the_call_win_over_those_of_the_module() -> None:
    lm = ScriptedLM([ANSWER])
    predict = reasonact.Predict("question -> answer", temperature=0.1, top_p=0.5)
    with reasonact.context(lm=lm):
        predict(question="q", config={"temperature": 0.9})
    assert {"temperature": 0.9, "top_p": 0.5} == lm.requests[0].options
    assert {"temperature": 0.1, "top_p": 0.5} == predict.config


@pytest.mark.parametrize(("given", "sent"), [(None, 0.7), (0.0, 0.7), (0.15, 0.7), (0.3, 0.3)])
def test_several_completions_are_not_asked_for_greedily(given: float | None, sent: float) -> None:
    config = {"n": 2} if given is None else {"n": 2, "temperature": given}
    lm = ScriptedLM([lambda messages, options: [ANSWER, ANSWER]])
    with reasonact.context(lm=lm):
        prediction = reasonact.Predict("question -> answer")(question="q", config=config)
    assert sent == lm.requests[0].options["temperature"]
    assert ["42", "42"] == prediction.completions.answer


def test_unknown_and_missing_inputs_are_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER])), caplog.at_level(logging.WARNING, "reasonact"):
        reasonact.Predict("question, context -> answer")(question="q", other=1)
    assert "other" in caplog.text
    assert "context" in caplog.text


@pytest.mark.parametrize("inputs", [{}, {"question": "q", "other": 1}])
def test_strict_inputs_make_them_an_error(inputs: dict[str, Any]) -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER]), strict_inputs=True), pytest.raises(ValueError, match="inputs"):
        reasonact.Predict("question -> answer")(**inputs)


def test_a_default_fills_a_missing_input() -> None:
    class Asked(reasonact.Signature):
        question: str = reasonact.InputField()
        tone: str = reasonact.InputField(default="calm")
        answer: str = reasonact.OutputField()

    lm = ScriptedLM([ANSWER])
    with reasonact.context(lm=lm, strict_inputs=True):
        reasonact.Predict(Asked)(question="q")
    assert "calm" in lm.requests[0].messages[-1]["content"]


@pytest.mark.parametrize(("value", "warned"), [(3, False), ("three", True), ([3], True), (True, False)])
def test_an_input_of_clearly_another_type_is_logged(value: Any, warned: bool, caplog: pytest.LogCaptureFixture) -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER])), caplog.at_level(logging.WARNING, "reasonact"):
        reasonact.Predict("count: int -> answer")(count=value)
    assert warned == ("the signature says" in caplog.text)


def test_a_completion_that_does_not_parse_gets_one_try_as_json() -> None:
    lm = ScriptedLM(["nonsense", '{"answer": "42"}'])
    with reasonact.context(lm=lm):
        assert "42" == reasonact.Predict("question -> answer")(question="q").answer
    lm.assert_complete()


def test_without_the_fallback_the_first_failure_is_raised() -> None:
    adapter = reasonact.ChatAdapter(use_json_adapter_fallback=False)
    lm = ScriptedLM(["nonsense"])
    with reasonact.context(lm=lm, adapter=adapter), pytest.raises(reasonact.AdapterParseError, match="answer"):
        reasonact.Predict("question -> answer")(question="q")
    lm.assert_complete()


def test_both_failures_are_told_apart_when_the_fallback_fails_too() -> None:
    with reasonact.context(lm=ScriptedLM(["nonsense", "more"])), pytest.raises(reasonact.AdapterParseError) as caught:
        reasonact.Predict("question -> answer")(question="q")
    assert "more" == caught.value.lm_response
    assert "nonsense" == caught.value.__cause__.lm_response  # type: ignore[union-attr]


def test_a_trace_is_kept_where_one_is_asked_for_and_stays_within_its_size() -> None:
    predict = reasonact.Predict("question -> answer")
    with reasonact.context(lm=ScriptedLM([ANSWER] * 3), trace=[], max_trace_size=2):
        for question in "abc":
            predict(question=question)
        trace = reasonact.settings.trace
    assert [{"question": "b"}, {"question": "c"}] == [inputs for _, inputs, _ in trace]
    assert all(item[0] is predict for item in trace)


def test_usage_is_tracked_when_asked_for() -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER]), track_usage=True):
        prediction = reasonact.Predict("question -> answer")(question="q")
    assert prediction.get_lm_usage() is not None


def test_nothing_given_to_a_call_is_changed() -> None:
    demos = [{"question": "a", "answer": "b"}]
    config = {"temperature": 0.2}
    with reasonact.context(lm=ScriptedLM([ANSWER])):
        reasonact.Predict("question -> answer")(question="q", demos=demos, config=config)
    assert ([{"question": "a", "answer": "b"}], {"temperature": 0.2}) == (demos, config)


async def test_a_function_in_the_place_of_a_predictor_is_called_in_async_code_too() -> None:
    def fixed(**inputs: Any) -> Any:
        return reasonact.Prediction(answer=inputs["question"])

    assert "q" == (await adrive(call_predict(fixed, {"question": "q"}))).answer
    assert "q" == drive(call_predict(fixed, {"question": "q"})).answer


@pytest.mark.parametrize("adapter", ["chat", reasonact.ChatAdapter, 3])
def test_a_setting_that_is_no_adapter_is_named(adapter):
    with reasonact.context(lm=ScriptedLM([]), adapter=adapter), pytest.raises(TypeError, match="not an adapter; write"):
        reasonact.Predict("question -> answer")(question="?")


def test_a_text_in_place_of_an_lm_is_named_by_an_agent_with_native_calls_too():
    agent = reasonact.ReActV2("question -> answer", tools=[])
    with (
        reasonact.context(lm="openai/x", adapter=reasonact.JSONAdapter()),
        pytest.raises(ValueError, match="not an LM"),
    ):
        agent(question="?")


def test_options_can_be_added_and_read_back() -> None:
    predict = reasonact.Predict("q -> a", temperature=0.5)
    predict.update_config(n=2)
    assert {"temperature": 0.5, "n": 2} == predict.get_config()


def test_a_rationale_field_brings_its_own_type_and_words() -> None:
    field = reasonact.OutputField(desc="three steps")
    field.annotation = list[str]
    shown = reasonact.ChainOfThought("q -> a", rationale_field=field).predict.signature.output_fields
    assert ["reasoning", "a"] == list(shown)
    assert list[str] == shown["reasoning"].annotation
    assert "three steps" == shown["reasoning"].json_schema_extra["desc"]
