"""ChatAdapter: what it sends and what it makes of an answer."""

import copy
import enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from reasonact.adapters.chat import ChatAdapter
from reasonact.errors import AdapterParseError
from reasonact.runtime.callbacks import BaseCallback
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.types.image import Image

PIXEL = Image(url="https://example.org/a.png")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    tags: list[str] = []


QA = Signature("question, k: int -> answer, score: float")


def texts(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in messages]


def test_a_request_is_system_and_user_message_under_markers() -> None:
    system, user = ChatAdapter().format(QA, [], {"question": "why?", "k": 2})
    assert "system" == system["role"]
    for part in ("1. `question` (str)", "2. `k` (int)", "[[ ## answer ## ]]\n{answer}\n", "[[ ## completed ## ]]"):
        assert part in system["content"]
    assert QA.instructions in system["content"]
    assert "user" == user["role"]
    assert user["content"].startswith("[[ ## question ## ]]\nwhy?\n\n[[ ## k ## ]]\n2\n\n")
    assert "`[[ ## answer ## ]]`, then `[[ ## score ## ]]` (of type float)" in user["content"]


def test_a_complete_demo_is_a_pair_of_messages() -> None:
    demo = {"question": "q", "k": 1, "answer": "a", "score": 0.5}
    assert [
        ("user", "[[ ## question ## ]]\nq\n\n[[ ## k ## ]]\n1"),
        ("assistant", "[[ ## answer ## ]]\na\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]\n"),
    ] == texts(ChatAdapter().format_demos(QA, [demo]))


def test_demos_that_lack_fields_come_first_and_say_so() -> None:
    complete = {"question": "q", "k": 1, "answer": "a", "score": 0.5}
    messages = ChatAdapter().format_demos(QA, [complete, {"question": "p", "answer": "b"}, {"question": "alone"}])
    assert 4 == len(messages)
    assert messages[0]["content"].endswith("\n\n[[ ## question ## ]]\np")
    assert not messages[0]["content"].startswith("[[")
    assert "[[ ## score ## ]]\n(left out here)" in messages[1]["content"]
    assert "[[ ## question ## ]]\nq\n\n[[ ## k ## ]]\n1" == messages[2]["content"]


def test_values_of_many_types_are_written() -> None:
    wide = Signature(
        "c: Colour, p: Place, xs: list[str], n: Optional[int] -> a", custom_types={"Colour": Colour, "Place": Place}
    )
    said = {"c": Colour.RED, "p": Place(name="x", tags=["t"]), "xs": [], "n": None}
    content = ChatAdapter().format_user_message_content(wide, said)
    assert (
        '[[ ## c ## ]]\nred\n\n[[ ## p ## ]]\n{"name": "x", "tags": ["t"]}\n\n[[ ## xs ## ]]\n[]\n\n[[ ## n ## ]]\nNone'
        == content
    )


def test_media_become_content_parts_where_they_stand() -> None:
    media = Signature(
        "q, one: dspy.Image, many: list[dspy.Image] -> a", custom_types={"dspy.Image": Image, "Image": Image}
    )
    said = {"q": "what?", "one": PIXEL, "many": [PIXEL, PIXEL]}
    parts = ChatAdapter().format(media, [], said)[-1]["content"]
    assert ["text", "image_url", "text", "image_url", "text", "image_url", "text"] == [part["type"] for part in parts]
    assert "[[ ## q ## ]]\nwhat?\n\n[[ ## one ## ]]\n" == parts[0]["text"]
    assert {"url": "https://example.org/a.png"} == parts[1]["image_url"]


def test_a_text_that_looks_like_an_image_stays_text() -> None:
    content = ChatAdapter().format(QA, [], {"question": "https://example.org/a.png <<IMAGE>>", "k": 1})[-1]["content"]
    assert isinstance(content, str)


def test_prefix_and_suffix_stand_around_the_fields() -> None:
    content = ChatAdapter().format_user_message_content(QA, {"question": "q"}, prefix="PRE", suffix="SUF")
    assert "PRE\n\n[[ ## question ## ]]\nq\n\nSUF" == content


def test_an_answer_is_read_into_the_types_of_its_fields() -> None:
    lm = ScriptedLM(["[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]"])
    assert [{"answer": "yes", "score": 0.5}] == ChatAdapter()(lm, {}, QA, [], {"question": "q", "k": 1})


async def test_an_answer_is_read_on_the_event_loop_too() -> None:
    lm = ScriptedLM(["[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5"])
    assert [{"answer": "yes", "score": 0.5}] == await ChatAdapter().acall(lm, {}, QA, [], {"question": "q", "k": 1})


@pytest.mark.parametrize(
    ("value", "annotation", "text"),
    [
        (3, int, "3"),
        (3.5, float, "`3.5`"),
        (True, bool, "true"),
        (None, int | None, "None"),
        (None, int | None, "null"),
        (Colour.BLUE, Colour, "blue"),
        (Colour.BLUE, Colour | None, "BLUE"),
        ("b", Literal["a", "b"], '"b"'),
        (2, Literal[1, 2], "2"),
        (["x", "y"], list[str], "```json\n['x', 'y',]\n```"),
        ({"k": 1}, dict[str, int], '{"k": 1}'),
        (Place(name="n"), Place, '{"name": "n"}'),
        ([Place(name="n")], list[Place], '[{"name": "n"}]'),
        ("42", str, "42"),
    ],
)
def test_a_value_is_read_as_its_type(value: Any, annotation: Any, text: str) -> None:
    one = Signature({"q": (str, InputField()), "v": (annotation, OutputField())})
    assert {"v": value} == ChatAdapter().parse(one, f"[[ ## v ## ]]\n{text}\n\n[[ ## completed ## ]]")


def test_a_missing_field_is_named() -> None:
    with pytest.raises(AdapterParseError, match="lacks `score`") as caught:
        ChatAdapter().parse(QA, "[[ ## answer ## ]]\nyes")
    assert {"answer": "yes"} == caught.value.parsed_result
    assert {"answer": "yes"} == caught.value.raw_fields


def test_a_value_that_does_not_fit_is_named_with_the_field_and_the_completion() -> None:
    completion = "[[ ## answer ## ]]\nyes\n[[ ## score ## ]]\nhigh"
    with pytest.raises(AdapterParseError, match="`score`") as caught:
        ChatAdapter().parse(QA, completion)
    assert "high" in str(caught.value)
    assert completion == caught.value.lm_response
    assert {"answer": "yes", "score": "high"} == caught.value.raw_fields


def test_an_empty_completion_is_an_error() -> None:
    for text in ("", None, "  "):
        with pytest.raises(AdapterParseError, match="empty"):
            ChatAdapter()(ScriptedLM([[text]]), {}, QA, [], {"question": "q", "k": 1})


def test_two_different_values_for_one_field_are_an_error() -> None:
    with pytest.raises(AdapterParseError, match="twice"):
        ChatAdapter().parse(QA, "[[ ## answer ## ]]\nyes\n[[ ## answer ## ]]\nno\n[[ ## score ## ]]\n1")


def test_optional_and_defaulted_fields_may_be_left_out() -> None:
    class Wide(Signature):
        q: str = InputField()
        a: str = OutputField()
        b: int | None = OutputField()
        c: int = OutputField(default=7)
        d: list[str] = OutputField(default_factory=list)

    assert {"a": "x", "b": None, "c": 7, "d": []} == ChatAdapter().parse(Wide, "[[ ## a ## ]]\nx")


def test_native_calls_beside_a_text_that_does_not_parse_go_with_the_error() -> None:
    lm = ScriptedLM([(None, [("c1", "search", {"query": "x"})])])
    with pytest.raises(AdapterParseError) as caught:
        ChatAdapter()(lm, {}, QA, [], {"question": "q", "k": 1})
    assert "search" == caught.value.tool_calls[0].function.name


def test_nothing_of_the_callers_is_changed() -> None:
    options, inputs, demos = {"temperature": 0.5, "tool_choice": "auto"}, {"question": "q", "k": 1}, [{"question": "d"}]
    before = copy.deepcopy((options, inputs, demos))
    lm = ScriptedLM(["[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1"])
    ChatAdapter()(lm, options, QA, demos, inputs)
    assert before == (options, inputs, demos)
    assert {"temperature": 0.5} == lm.requests[0].options


def test_hooks_that_a_subclass_overrides_are_used() -> None:
    class Loud(ChatAdapter):
        def format_task_description(self, signature: Any) -> str:
            return "SHOUT"

        def format_field_with_value(self, fields_with_values: Any) -> str:
            return "|".join(f"{field.name}={value}" for field, value in fields_with_values.items())

        def user_message_output_requirements(self, signature: Any) -> str:
            return "ANSWER!"

        def parse(self, signature: Any, completion: str) -> dict[str, Any]:
            return {"answer": completion.upper(), "score": 1.0}

    lm = ScriptedLM(["yes"])
    assert [{"answer": "YES", "score": 1.0}] == Loud()(lm, {}, QA, [], {"question": "q", "k": 1})
    assert lm.requests[0].messages[0]["content"].endswith("SHOUT")
    assert "question=q|k=1\n\nANSWER!" == lm.requests[0].messages[1]["content"]


def test_an_overridden_format_makes_the_messages() -> None:
    class Own(ChatAdapter):
        def format(self, signature: Any, demos: list[Any], inputs: dict[str, Any]) -> list[dict[str, Any]]:
            return [*super().format(signature, demos, inputs), {"role": "user", "content": "and be brief"}]

    lm = ScriptedLM(["[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1"])
    Own()(lm, {}, QA, [], {"question": "q", "k": 1})
    assert "and be brief" == lm.requests[0].messages[-1]["content"]


def test_the_system_message_is_made_once_for_a_signature_and_anew_for_changed_instructions() -> None:
    sig = Signature("q -> a", "One.")
    first = ChatAdapter().format(sig, [], {"q": "x"})[0]["content"]
    assert first is ChatAdapter().format(sig, [], {"q": "y"})[0]["content"]
    sig.instructions = "Two."
    assert "Two." in ChatAdapter().format(sig, [], {"q": "x"})[0]["content"]


def test_callbacks_see_formatting_and_parsing() -> None:
    seen = []

    class Watch(BaseCallback):
        def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
            seen.append(("format", inputs["inputs"]))

        def on_adapter_format_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            seen.append(("formatted", len(outputs)))

        def on_adapter_parse_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            seen.append(("parsed", outputs))

    lm = ScriptedLM(["[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1"])
    ChatAdapter(callbacks=[Watch()])(lm, {}, QA, [], {"question": "q", "k": 1})
    assert [
        ("format", {"question": "q", "k": 1}),
        ("formatted", 2),
        ("parsed", {"answer": "yes", "score": 1.0}),
    ] == seen


def test_finetuning_data_is_the_request_with_its_answer() -> None:
    data = ChatAdapter().format_finetune_data(QA, [], {"question": "q", "k": 1}, {"answer": "a", "score": 1.0})
    assert ["system", "user", "assistant"] == [message["role"] for message in data["messages"]]
    assert data["messages"][-1]["content"].startswith("[[ ## answer ## ]]\na")


def test_log_probabilities_stand_beside_the_fields() -> None:
    lm = ScriptedLM([])
    plan = ChatAdapter().render(lm, {}, QA, [], {"question": "q", "k": 1})
    output = {"text": "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1", "logprobs": {"content": []}}
    assert [{"answer": "yes", "score": 1.0, "logprobs": {"content": []}}] == ChatAdapter().read(plan, [output])
