"""JSONAdapter: the object it asks for, the form of the request, and what it makes of an answer."""

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.plan import Plan
from reasonact.errors import (
    AdapterParseError,
    ContextWindowExceededError,
    LMInvalidRequestError,
    LMUnsupportedFeatureError,
)
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.tool import Tool
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

QA = Signature("q -> answer, score: int")
ANSWER = '{"answer": "yes", "score": 1}'
OBJECT = {"type": "json_object"}


class Place(BaseModel):
    name: str
    tags: list[str] = []


def strong(*replies: Any) -> ScriptedLM:
    return ScriptedLM(list(replies), response_schema=True, params=["response_format"])


def test_the_prompt_names_the_keys_and_inputs_stand_under_markers() -> None:
    system, user = JSONAdapter().format(QA, [], {"q": "why?"})
    assert "[[ ## q ## ]]\n{q}" in system["content"]
    assert '{\n  "answer": "{answer}",\n  "score": "{score}' in system["content"]
    assert user["content"].startswith("[[ ## q ## ]]\nwhy?\n\n")
    assert "`answer`, then `score` (of type int)" in user["content"]


def test_a_demo_s_answer_is_one_json_object() -> None:
    messages = JSONAdapter().format_demos(QA, [{"q": "x", "answer": "é", "score": 2}])
    assert '{\n  "answer": "é",\n  "score": 2\n}' == messages[1]["content"]


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        f"Here you are: {ANSWER} Good?",
        f"```json\n{ANSWER}\n```",
        f"```python\n{ANSWER}\n```",
        f"<think>maybe {{x}} or {{'answer': 'no'}}</think>{ANSWER}",
        f'{{"draft": true}}\n{ANSWER}',
        f"[{ANSWER}]",
        "{'answer': 'yes', 'score': 1,}",
        '{"answer": "yes", "score": "1"}',
        '{"Answer": "yes", "SCORE": 1}',
        '{"answer": "yes", "score": 1, "note": null}',
        '{"answer": "yes", "score": 1',
    ],
)
def test_an_object_is_found_in_whatever_form_it_comes(text: str) -> None:
    assert {"answer": "yes", "score": 1} == JSONAdapter().parse(QA, text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no JSON"),
        ("nothing here", "no JSON"),
        ("5", "object was expected"),
        ("null", "nothing"),
        ('{"answer": "yes"}', "lacks `score`"),
        ('{"answer": "yes", "score": "high"}', "`score`"),
        ('{"answer": null, "score": 1}', "`answer`"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, what: str) -> None:
    with pytest.raises(AdapterParseError, match=what) as caught:
        JSONAdapter().parse(QA, text)
    assert text == caught.value.lm_response


def test_the_strongest_form_that_the_model_takes_is_asked_for() -> None:
    schema = JSONAdapter().render(strong(), {}, QA, [], {"q": "x"}).options["response_format"]
    assert {
        "additionalProperties": False,
        "properties": {"answer": {"title": "Answer", "type": "string"}, "score": {"title": "Score", "type": "integer"}},
        "required": ["answer", "score"],
        "title": "DSPyProgramOutputs",
        "type": "object",
    } == schema.model_json_schema()
    weaker = ScriptedLM([], params=["response_format"])
    assert OBJECT == JSONAdapter().render(weaker, {}, QA, [], {"q": "x"}).options["response_format"]
    assert {} == JSONAdapter().render(ScriptedLM([]), {}, QA, [], {"q": "x"}).options


def test_the_schema_is_closed_all_the_way_down_and_made_once() -> None:
    nested = Signature("q -> places: list[Place]", custom_types={"Place": Place})
    first = JSONAdapter().render(strong(), {}, nested, [], {"q": "x"}).options["response_format"]
    place = first.model_json_schema()["$defs"]["Place"]
    assert (["name", "tags"], False) == (place["required"], place["additionalProperties"])
    assert first is JSONAdapter().render(strong(), {}, nested, [], {"q": "x"}).options["response_format"]
    assert first.model_json_schema() is not first.model_json_schema()


@pytest.mark.parametrize("annotation", [dict[str, int], dict, list[dict[str, Any]], dict[str, Any] | None])
def test_outputs_with_open_keys_ask_for_any_object(annotation: Any) -> None:
    open_ended = Signature({"q": (str, InputField()), "a": (annotation, OutputField())})
    assert OBJECT == JSONAdapter().render(strong(), {}, open_ended, [], {"q": "x"}).options["response_format"]


def test_an_output_of_no_schema_asks_for_any_object() -> None:
    class Odd:
        pass

    odd = Signature({"q": (str, InputField()), "a": (list[Any], OutputField())}).with_updated_fields(
        "a", type_=type(Odd)
    )
    assert OBJECT == JSONAdapter().render(strong(), {}, odd, [], {"q": "x"}).options["response_format"]


def test_reasoning_is_a_text_in_the_schema() -> None:
    thoughtful = QA.prepend("why", OutputField(), type_=Reasoning)
    schema = JSONAdapter().render(strong(), {}, thoughtful, [], {"q": "x"}).options["response_format"]
    assert {"title": "Why", "type": "string"} == schema.model_json_schema()["properties"]["why"]


def test_a_form_that_the_caller_asks_for_is_kept() -> None:
    options = {"response_format": {"type": "text"}}
    assert options == JSONAdapter().render(strong(), options, QA, [], {"q": "x"}).options


@pytest.mark.parametrize(
    "refusal",
    [
        LMInvalidRequestError("response_format of type json_schema is not supported", status=400),
        LMInvalidRequestError("Invalid schema for the answer"),
        LMUnsupportedFeatureError("cannot do that", features=["response_format"]),
    ],
)
def test_a_refused_schema_steps_down_once_and_is_remembered_for_that_model(refusal: Exception) -> None:
    lm = strong(refusal, ANSWER, ANSWER)
    for _ in range(2):
        assert [{"answer": "yes", "score": 1}] == JSONAdapter()(lm, {}, QA, [], {"q": "x"})
    forms = [request.options["response_format"] for request in lm.requests]
    assert [OBJECT, OBJECT] == forms[1:]
    assert OBJECT != JSONAdapter().render(strong(), {}, QA, [], {"q": "x"}).options["response_format"]


async def test_a_refused_schema_steps_down_on_the_event_loop_too() -> None:
    lm = strong(LMInvalidRequestError("no json_schema here"), ANSWER)
    assert [{"answer": "yes", "score": 1}] == await JSONAdapter().acall(lm, {}, QA, [], {"q": "x"})


@pytest.mark.parametrize(
    "error",
    [
        LMInvalidRequestError("your messages are empty"),
        ContextWindowExceededError(message="json_schema and all: too long"),
    ],
)
def test_another_refusal_is_raised(error: Exception) -> None:
    lm = strong(error)
    with pytest.raises(type(error)):
        JSONAdapter()(lm, {}, QA, [], {"q": "x"})
    assert 1 == len(lm.requests)


@pytest.mark.parametrize("given", [{}, {"response_format": {"type": "text"}}], ids=["no form", "the caller's form"])
def test_a_subclass_that_adds_another_option_steps_down_from_no_form_of_its_own(given: dict[str, Any]) -> None:
    class Seeded(JSONAdapter):
        def with_own_options(self, plan: Plan, lm: Any, options: Mapping[str, Any]) -> Plan:
            return super().with_own_options(plan, lm, options).with_option("seed", 1)

    lm = ScriptedLM([LMInvalidRequestError("no response_format here")])
    with pytest.raises(LMInvalidRequestError):
        Seeded()(lm, given, QA, [], {"q": "x"})
    assert [{**given, "seed": 1}] == [request.options for request in lm.requests]


def test_a_refusal_of_the_object_form_is_raised() -> None:
    lm = ScriptedLM([LMInvalidRequestError("no response_format here")], params=["response_format"])
    with pytest.raises(LMInvalidRequestError):
        JSONAdapter()(lm, {}, QA, [], {"q": "x"})


def test_the_note_of_a_refusal_keeps_no_model_alive() -> None:
    lm = strong(LMInvalidRequestError("no json_schema here"), ANSWER)
    JSONAdapter()(lm, {}, QA, [], {"q": "x"})
    gone = weakref.ref(lm)
    del lm
    gc.collect()
    assert gone() is None


def test_calls_that_are_written_as_text_ask_for_any_object() -> None:
    tools = [Tool(lambda x: x, name="t", arg_types={"x": str})]
    calling = Signature("q, tools: list[Tool] -> a", custom_types={"Tool": Tool}).append(
        "c", OutputField(), type_=ToolCalls
    )
    adapter = JSONAdapter(use_native_function_calling=False)
    assert OBJECT == adapter.render(strong(), {}, calling, [], {"q": "x", "tools": tools}).options["response_format"]


def test_finetuning_data_has_the_chat_form() -> None:
    with pytest.raises(NotImplementedError, match="ChatAdapter"):
        JSONAdapter().format_finetune_data(QA, [], {"q": "x"}, {"answer": "a", "score": 1})
