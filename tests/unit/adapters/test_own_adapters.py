"""Adapters of a program's own: what they override is what happens."""

from __future__ import annotations

from typing import Any

import pytest

import reasonact
from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.errors import AdapterParseError
from reasonact.streaming import OutputText
from reasonact.testing import ScriptedLM

ANSWER = "[[ ## answer ## ]]\nblue\n\n[[ ## completed ## ]]"


class Louder(ChatAdapter):
    """Calls of its own, which come from sync and from async code."""

    def __call__(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return [{"answer": f"{found['answer']}!"} for found in super().__call__(*args, **kwargs)]

    async def acall(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return [{"answer": f"{found['answer']}!!"} for found in await super().acall(*args, **kwargs)]


def test_a_call_of_its_own_is_what_a_predictor_uses_in_sync_code() -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER]), adapter=Louder()):
        assert "blue!" == reasonact.Predict("question -> answer")(question="q").answer


async def test_a_call_of_its_own_is_what_a_predictor_uses_in_async_code() -> None:
    with reasonact.context(lm=ScriptedLM([ANSWER]), adapter=Louder()):
        assert "blue!!" == (await reasonact.Predict("question -> answer").acall(question="q")).answer


class Lines(Adapter):
    """A form of its own: one line for each field, and no splitter of it."""

    def format_field_structure(self, signature: Any) -> str:
        return "One line for each field."

    def user_message_output_requirements(self, signature: Any) -> str:
        return "Answer in lines."

    def format_field_with_value(self, fields_with_values: Any) -> str:
        return "\n".join(f"{field.name} is {value}" for field, value in fields_with_values.items())

    def format_assistant_message_content(self, signature: Any, outputs: Any, missing_field_message: Any = None) -> str:
        return "\n".join(str(outputs.get(name, missing_field_message)) for name in signature.output_fields)

    def format_user_message_content(self, signature: Any, inputs: Any, *args: Any, **kwargs: Any) -> str:
        return "\n".join(f"{name} is {inputs[name]}" for name in signature.input_fields)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        lines = completion.splitlines()
        if len(lines) != len(signature.output_fields):
            raise AdapterParseError("Lines", signature, completion, parsed_result={"thought": lines[0]})
        return dict(zip(signature.output_fields, lines, strict=True))


def test_a_form_without_a_splitter_streams_each_field_when_it_is_read() -> None:
    with reasonact.context(lm=ScriptedLM(["blue"]), adapter=Lines()):
        events = list(reasonact.Predict("question -> answer").stream(question="q"))
    assert [("answer", "blue", True)] == [(e.field, e.text, e.done) for e in events if isinstance(e, OutputText)]


def test_a_form_of_its_own_writes_demonstrations_too() -> None:
    lm = ScriptedLM(["blue"])
    predict = reasonact.Predict("question -> answer")
    predict.demos = [{"question": "grass", "answer": "green"}]
    with reasonact.context(lm=lm, adapter=Lines()):
        assert "blue" == predict(question="sky").answer
    said = [(message["role"], message["content"]) for message in lm.requests[0].messages[1:]]
    assert [("user", "question is grass"), ("assistant", "green"), ("user", "question is sky")] == said


CALLING = reasonact.make_signature(
    {
        "question": reasonact.InputField(),
        "tools": (list[reasonact.Tool], reasonact.InputField()),
        "thought": reasonact.OutputField(),
        "mood": reasonact.OutputField(),
        "calls": (reasonact.ToolCalls, reasonact.OutputField()),
    }
)


def look(place: str) -> str:
    return place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fine\nglad", {"thought": "fine", "mood": "glad"}),
        ("fine", {"thought": "fine", "mood": None}),  # what its error says was read
    ],
)
def test_its_own_reading_of_the_text_beside_native_calls_may_find_only_a_part(text: str, expected: Any) -> None:
    lm = ScriptedLM([(text, [("1", "look", {"place": "here"})])], function_calling=True)
    with reasonact.context(lm=lm, adapter=Lines(use_native_function_calling=True)):
        found = reasonact.Predict(CALLING)(question="q", tools=[reasonact.Tool(look)])
    assert expected == {"thought": found.thought, "mood": found.mood}
    assert [("look", {"place": "here"})] == [(call.name, call.args) for call in found.calls.tool_calls]


def test_a_form_that_is_not_written_says_so() -> None:
    with reasonact.context(lm=ScriptedLM(["blue"]), adapter=Adapter()), pytest.raises(NotImplementedError):
        reasonact.Predict("question -> answer")(question="q")
