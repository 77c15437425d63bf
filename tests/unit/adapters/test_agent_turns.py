"""An agent's turn: tools, history and calls, in text and by the model's own channel."""

import copy
import json
from types import SimpleNamespace
from typing import Any

import pytest

from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.conversation import INTERRUPTED, RETURNED, Rendered
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.unreadable import UnreadableCall
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.errors import AdapterParseError
from reasonact.signatures.fields import OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.tool import Tool
from reasonact.types.history import CORRECTION, History
from reasonact.types.image import Image
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

NATIVE = [
    ChatAdapter(use_native_function_calling=True),
    JSONAdapter(),
    XMLAdapter(use_native_function_calling=True),
]
TEXT = [
    ChatAdapter(),
    JSONAdapter(use_native_function_calling=False),
    XMLAdapter(),
    TextProtocolAdapter(),
]
PIXEL = Image(url="https://example.org/a.png")


def model(*replies: Any, **knows: Any) -> ScriptedLM:
    return ScriptedLM(list(replies), **{"function_calling": True, **knows})


def name_of(adapter: Adapter) -> str:
    return f"{type(adapter).__name__}{' native' if adapter.use_native_function_calling else ''}"


def wire(name: str, arguments: str, call_id: str | None = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


# Native


@pytest.mark.parametrize("adapter", NATIVE, ids=name_of)
def test_native_tools_travel_as_options_and_the_prompt_asks_for_no_form(
    adapter: Adapter, agent: SimpleNamespace
) -> None:
    plan = adapter.render(model(), {"temperature": 0.1}, agent.signature, [], agent.inputs(question="why?"))
    assert ["search", "submit"] == [tool["function"]["name"] for tool in plan.options["tools"]]
    assert {"temperature", "tools"} == set(plan.options)
    system, user = plan.messages
    for word in ("next_thought", "tool_calls", "completed", "JSON object"):
        assert word not in system["content"] + user["content"]
    assert "Do the task." in system["content"]


@pytest.mark.parametrize("adapter", NATIVE, ids=name_of)
def test_the_text_beside_native_calls_is_the_thought(adapter: Adapter, agent: SimpleNamespace) -> None:
    plan = adapter.render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    output = {"text": " I look.\n", "tool_calls": [wire("search", '{"query": "x"}')]}
    (values,) = adapter.read(plan, [output])
    assert {
        "next_thought": Reasoning(content="I look."),
        "tool_calls": agent.calls(("c1", "search", {"query": "x"})),
    } == values


@pytest.mark.parametrize("adapter", NATIVE, ids=name_of)
@pytest.mark.parametrize(
    "text",
    [
        "[[ ## next_thought ## ]]\nI look.\n\n[[ ## completed ## ]]",
        '{"next_thought": "I look."}',
        '```json\n{"next_thought": "I look."}\n```',
        "<next_thought>\nI look.\n</next_thought>",
    ],
)
def test_a_form_that_the_model_puts_around_its_thought_is_taken_off(
    adapter: Adapter, agent: SimpleNamespace, text: str
) -> None:
    plan = adapter.render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    (values,) = adapter.read(plan, [{"text": text, "tool_calls": [wire("search", "{}")]}])
    assert "I look." == values["next_thought"]


def test_a_thought_that_is_json_of_another_kind_stays_text(agent: SimpleNamespace) -> None:
    plan = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    (values,) = NATIVE[0].read(plan, ['{"next_thought": "a", "other": 1}'])
    assert '{"next_thought": "a", "other": 1}' == values["next_thought"]


def test_calls_that_were_written_instead_of_made_are_taken(agent: SimpleNamespace) -> None:
    plan = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    text = '[[ ## next_thought ## ]]\nI look.\n[[ ## tool_calls ## ]]\n[{"name": "search", "args": {"query": "x"}}]'
    (values,) = NATIVE[0].read(plan, [text])
    assert agent.calls((None, "search", {"query": "x"})) == values["tool_calls"]


def test_a_native_turn_without_calls_is_a_thought_alone(agent: SimpleNamespace) -> None:
    plan = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    assert [{"next_thought": Reasoning(content="Hm."), "tool_calls": None}] == NATIVE[0].read(plan, ["Hm."])
    assert [{"next_thought": None, "tool_calls": None}] == NATIVE[0].read(plan, [""])


def test_arguments_that_are_no_json_stay_a_call_that_cannot_run(agent: SimpleNamespace) -> None:
    plan = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    output = {"text": None, "tool_calls": [wire("search", "{bad"), wire("search", '{"query": "x"}', "c2")]}
    (values,) = NATIVE[0].read(plan, [output])
    bad, good = values["tool_calls"].tool_calls
    assert isinstance(bad, UnreadableCall)
    assert ("c1", "search", {}) == (bad.id, bad.name, bad.args)
    assert "{bad" in bad.problem
    with pytest.raises(ValueError, match="cannot run"):
        bad.execute({"search": lambda **_: "ran"})
    assert {"query": "x"} == good.args


@pytest.mark.parametrize(
    ("expected", "setting", "options"),
    [
        ({}, None, {}),
        ({"parallel_tool_calls": True, "tool_choice": "auto"}, True, {}),
        ({"parallel_tool_calls": False, "tool_choice": "auto"}, False, {}),
        ({"parallel_tool_calls": True, "tool_choice": "auto"}, False, {"parallel_tool_calls": True}),
        ({"parallel_tool_calls": True, "tool_choice": "required"}, True, {"tool_choice": "required"}),
        ({"tool_choice": "none"}, None, {"tool_choice": "none"}),
    ],
)
def test_parallel_calls_and_the_choice_of_a_tool(
    expected: Any, setting: Any, options: Any, agent: SimpleNamespace
) -> None:
    adapter = ChatAdapter(use_native_function_calling=True, parallel_tool_calls=setting)
    plan = adapter.render(model(), options, agent.signature, [], agent.inputs(question="why?"))
    assert expected == {name: value for name, value in plan.options.items() if name != "tools"}


def test_a_tool_name_that_no_provider_takes_is_changed_on_the_wire_alone(agent: SimpleNamespace) -> None:
    tool = Tool(lambda query: query, name="my search!", arg_types={"query": str})
    inputs = {
        **agent.inputs({"question": "q", "tool_calls": agent.calls(("c1", "my search!", {}), results=[])}),
        "tools": [tool],
    }
    choice = {"tool_choice": {"type": "function", "function": {"name": "my search!"}}}
    plan = NATIVE[0].render(model(), choice, agent.signature, [], inputs)
    sent = plan.options["tools"][0]["function"]["name"]
    assert "my search!" != sent
    assert sent == plan.options["tool_choice"]["function"]["name"]
    assert sent == plan.messages[2]["tool_calls"][0]["function"]["name"]
    (values,) = NATIVE[0].read(plan, [{"text": None, "tool_calls": [wire(sent, "{}")]}])
    assert "my search!" == values["tool_calls"].tool_calls[0].name
    assert "my search!" == choice["tool_choice"]["function"]["name"]


@pytest.mark.parametrize("adapter", NATIVE, ids=name_of)
def test_a_model_without_tools_gets_text_and_no_option_that_speaks_of_tools(
    adapter: Adapter, agent: SimpleNamespace
) -> None:
    options = {"tool_choice": "required", "parallel_tool_calls": True}
    plan = adapter.render(model(function_calling=False), options, agent.signature, [], agent.inputs(question="why?"))
    assert {} == plan.options
    assert "tool_calls" in plan.messages[0]["content"]
    assert "hit" not in plan.messages[0]["content"] and "search" in plan.messages[0]["content"]


def test_native_calls_need_an_input_with_tools() -> None:
    bare = Signature("q -> answer").append("calls", OutputField(), type_=ToolCalls)
    with pytest.raises(ValueError, match="calls"):
        NATIVE[0].render(model(), {}, bare, [], {"q": "x"})


def test_other_outputs_beside_native_calls_keep_their_markers(agent: SimpleNamespace) -> None:
    mixed = Signature("q, tools: list[Tool] -> answer", custom_types={"Tool": Tool}).append(
        "calls", OutputField(), type_=ToolCalls
    )
    adapter = NATIVE[0]
    plan = adapter.render(model(), {}, mixed, [], {"q": "x", "tools": agent.tools})
    assert "[[ ## answer ## ]]" in plan.messages[0]["content"]
    assert "calls" not in plan.shown.output_fields
    made = [wire("search", "{}")]
    expected = agent.calls(("c1", "search", {}))
    for answer, text in (("yes", "[[ ## answer ## ]]\nyes"), ("Let me look.", "Let me look."), (None, "")):
        assert [{"answer": answer, "calls": expected}] == adapter.read(plan, [{"text": text, "tool_calls": made}])
    assert [{"answer": "yes", "calls": None}] == adapter.read(plan, ["[[ ## answer ## ]]\nyes"])
    with pytest.raises(AdapterParseError):
        adapter.read(plan, ["unmarked"])


def test_native_reasoning_fills_the_thought_where_there_is_no_text(agent: SimpleNamespace) -> None:
    lm = model(reasoning=True)
    plan = NATIVE[0].render(lm, {}, agent.signature, [], agent.inputs(question="why?"))
    assert "low" == plan.options["reasoning_effort"]
    calls = [wire("search", "{}")]
    (values,) = NATIVE[0].read(plan, [{"text": None, "reasoning_content": "deep", "tool_calls": calls}])
    assert "deep" == values["next_thought"]
    (values,) = NATIVE[0].read(plan, [{"text": "said", "reasoning_content": "deep", "tool_calls": calls}])
    assert "said" == values["next_thought"]


def test_reasoning_blocks_go_back_with_their_turn(agent: SimpleNamespace) -> None:
    plan = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(question="why?"))
    blocks = [{"type": "thinking", "thinking": "deep", "signature": "s"}]
    (values,) = NATIVE[0].read(plan, [{"text": None, "thinking_blocks": blocks, "tool_calls": [wire("search", "{}")]}])
    assert {"thinking_blocks": blocks} == values[RETURNED]
    calls = agent.calls(("c1", "search", {}), results=[("c1", "search", "r", False)])
    for thought, content in (("deep", None), ("said", "said"), (None, None)):
        event = {"question": "q", "next_thought": thought, "tool_calls": calls, RETURNED: {"thinking_blocks": blocks}}
        turn = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(event)).messages[2]
        assert (content, blocks) == (turn["content"], turn["thinking_blocks"])


def test_a_reasoning_field_of_a_plain_signature_goes_native_where_the_model_reasons() -> None:
    thoughtful = Signature("q -> answer").prepend("why", OutputField(), type_=Reasoning)
    plan = ChatAdapter().render(model(reasoning=True), {}, thoughtful, [], {"q": "x"})
    assert "[[ ## why ## ]]" not in plan.messages[0]["content"]
    output = {"text": "[[ ## answer ## ]]\nyes", "reasoning_content": "since"}
    assert [{"why": Reasoning(content="since"), "answer": "yes"}] == ChatAdapter().read(plan, [output])
    plain = ChatAdapter().render(model(), {}, thoughtful, [], {"q": "x"})
    assert "[[ ## why ## ]]" in plain.messages[0]["content"]


# History


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


@pytest.mark.parametrize("adapter", NATIVE, ids=name_of)
def test_a_native_turn_is_replayed_as_user_assistant_and_tool_messages(
    adapter: Adapter, agent: SimpleNamespace
) -> None:
    calls = agent.calls(
        ("c1", "search", {"query": "é"}),
        ("c2", "search", {"query": "b"}),
        results=[("c2", "search", "boom", True), ("c1", "search", {"x": [1]}, False)],
    )
    event = {"question": "why?", "next_thought": "I look.", "tool_calls": calls}
    messages = adapter.render(model(), {}, agent.signature, [], agent.inputs(event)).messages
    assert ["system", "user", "assistant", "tool", "tool"] == roles(messages)
    assert {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [wire("search", '{"query": "é"}'), wire("search", '{"query": "b"}', "c2")],
    } == messages[2]
    assert {"role": "tool", "tool_call_id": "c1", "name": "search", "content": '{"x": [1]}'} == messages[3]
    assert {"role": "tool", "tool_call_id": "c2", "name": "search", "content": "boom"} == messages[4]


@pytest.mark.parametrize("adapter", TEXT, ids=name_of)
def test_a_text_turn_is_replayed_with_its_results_as_a_user_message(adapter: Adapter, agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "search", {"query": "a"}), results=[("c1", "search", "hit", False)])
    event = {"question": "why?", "next_thought": "I look.", "tool_calls": calls}
    messages = adapter.render(model(), {}, agent.signature, [], agent.inputs(event)).messages
    assert ["system", "user", "assistant", "user"] == roles(messages)
    assert "I look." in messages[2]["content"] and '"query": "a"' in messages[2]["content"]
    assert "hit" in messages[3]["content"]
    (values,) = adapter.read(adapter.render(model(), {}, agent.signature, [], agent.inputs()), [messages[2]["content"]])
    assert ("I look.", {"query": "a"}) == (values["next_thought"], values["tool_calls"].tool_calls[0].args)


def test_the_results_of_a_text_turn_stand_under_their_marker(agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "search", {"query": "a"}), results=[("c1", "search", {"x": 1}, True)])
    messages = ChatAdapter().format(agent.signature, [], agent.inputs({"tool_calls": calls}))
    label, body = messages[-1]["content"].split("\n")
    assert "[[ ## tool_call_results ## ]]" == label
    assert {
        "tool_call_results": [{"call_id": "c1", "name": "search", "value": {"x": 1}, "is_error": True}]
    } == json.loads(body)


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_live_request_and_its_replay_say_the_inputs_in_the_same_bytes(
    adapter: Adapter, agent: SimpleNamespace
) -> None:
    first = adapter.render(model(), {}, agent.signature, [], agent.inputs(question="why?")).messages
    calls = agent.calls(("c1", "search", {"query": "a"}), results=[("c1", "search", "hit", False)])
    event = {"question": "why?", "next_thought": "I look.", "tool_calls": calls}
    second = adapter.render(model(), {}, agent.signature, [], agent.inputs(event, question=None)).messages
    assert first == second[: len(first)]
    assert len(second) > len(first)
    third = adapter.render(model(), {}, agent.signature, [], agent.inputs(event, {"next_thought": "Hm."})).messages
    assert second == third[: len(second)]


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_call_without_a_result_gets_one_that_says_interrupted(adapter: Adapter, agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "search", {}), ("c2", "search", {}), results=[("c2", "search", "late", False)])
    messages = adapter.render(model(), {}, agent.signature, [], agent.inputs({"tool_calls": calls})).messages
    said = "\n".join(str(message["content"]) for message in messages[3:])
    assert INTERRUPTED in said and "late" in said
    if adapter in NATIVE:
        assert ["c1", "c2"] == [message["tool_call_id"] for message in messages[3:]]


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_result_without_a_call_is_left_out(adapter: Adapter, agent: SimpleNamespace) -> None:
    calls = agent.calls(
        ("c1", "search", {}), results=[("c1", "search", "mine", False), ("c9", "search", "orphan", False)]
    )
    messages = adapter.render(model(), {}, agent.signature, [], agent.inputs({"tool_calls": calls})).messages
    said = "\n".join(str(message["content"]) for message in messages)
    assert "mine" in said and "orphan" not in said


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_plain_question_and_answer_shows_its_answer(adapter: Adapter, agent: SimpleNamespace) -> None:
    messages = adapter.render(
        model(), {}, agent.signature, [], agent.inputs({"question": "q", "answer": "plain"})
    ).messages
    assert ["system", "user", "assistant"] == roles(messages)
    assert "plain" in messages[2]["content"]
    if adapter in NATIVE:
        assert "plain" == messages[2]["content"]


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_thought_without_calls_is_kept(adapter: Adapter, agent: SimpleNamespace) -> None:
    messages = adapter.render(
        model(), {}, agent.signature, [], agent.inputs({"question": "q", "next_thought": "Hm."})
    ).messages
    assert ["system", "user", "assistant"] == roles(messages)
    assert "Hm." in messages[2]["content"]
    assert "None" not in messages[2]["content"]


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_correction_follows_its_turn_as_a_user_message(adapter: Adapter, agent: SimpleNamespace) -> None:
    event = {"question": "q", "next_thought": "Hm.", CORRECTION: "Call a tool."}
    messages = adapter.render(
        model(), {}, agent.signature, [], agent.inputs(event, {CORRECTION: "Now submit."})
    ).messages
    assert ["system", "user", "assistant", "user", "user"] == roles(messages)
    assert ["Call a tool.", "Now submit."] == [message["content"] for message in messages[3:]]


def test_an_event_with_role_and_content_is_a_message(agent: SimpleNamespace) -> None:
    messages = ChatAdapter().format(agent.signature, [], agent.inputs({"role": "user", "content": "hello"}))
    assert {"role": "user", "content": "hello"} == messages[1]


def test_missing_ids_are_counted_by_turn_and_taken_ones_passed_over(agent: SimpleNamespace) -> None:
    events = [
        {"tool_calls": agent.calls(("call_1_0", "search", {}))},
        {"tool_calls": agent.calls((None, "search", {}), (None, "search", {}))},
    ]
    messages = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(*events)).messages
    assert ["call_1_0", "call_2_0", "call_1_1"] == [m["tool_call_id"] for m in messages if m["role"] == "tool"]


def test_media_in_a_result_follow_the_tool_messages(agent: SimpleNamespace) -> None:
    results = [("c1", "search", [PIXEL, "x"], False), ("c2", "search", "text", False)]
    calls = agent.calls(("c1", "search", {}), ("c2", "search", {}), results=results)
    event = {"question": "q", "tool_calls": calls}
    messages = NATIVE[0].render(model(), {}, agent.signature, [], agent.inputs(event)).messages
    assert ["system", "user", "assistant", "tool", "tool", "user"] == roles(messages)
    assert "attachment 1 of result c1" in messages[3]["content"] and '"x"' in messages[3]["content"]
    assert ["text", "image_url"] == [part["type"] for part in messages[5]["content"]]


def test_a_task_without_inputs_is_opened_by_a_user_message_that_stays(agent: SimpleNamespace) -> None:
    for adapter in (*NATIVE, *TEXT):
        first = adapter.render(model(), {}, agent.signature, [], agent.inputs()).messages
        assert ["system", "user"] == roles(first)
        event = {"tool_calls": agent.calls(("c1", "search", {}), results=[("c1", "search", "r", False)])}
        assert first == adapter.render(model(), {}, agent.signature, [], agent.inputs(event)).messages[:2]


@pytest.mark.parametrize("adapter", TEXT, ids=name_of)
def test_media_in_a_result_of_a_text_turn_are_parts_of_it(adapter: Adapter, agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "search", {}), results=[("c1", "search", PIXEL, False)])
    content = adapter.format(agent.signature, [], agent.inputs({"tool_calls": calls}))[-1]["content"]
    assert "image_url" in [part["type"] for part in content]


def test_a_history_of_a_plain_signature_is_replayed_with_its_reminder() -> None:
    talk = Signature("q, history: History -> a, r: int", custom_types={"History": History})
    history = History(messages=[{"q": "h1", "a": "a1", "r": 1}, {"q": "h2", "a": "a2"}, {"zzz": 1}])
    messages = ChatAdapter().format(talk, [], {"q": "now", "history": history})
    assert ["system", "user", "assistant", "user", "assistant", "user"] == roles(messages)
    assert messages[1]["content"].replace("h1", "now") == messages[5]["content"]
    assert "[[ ## a ## ]]\na1\n\n[[ ## r ## ]]\n1\n\n[[ ## completed ## ]]\n" == messages[2]["content"]
    assert "[[ ## r ## ]]\nNone" in messages[4]["content"]


def test_a_history_may_be_a_dict_or_absent() -> None:
    talk = Signature("q, history: History -> a", custom_types={"History": History})
    assert 4 == len(ChatAdapter().format(talk, [], {"q": "now", "history": {"messages": [{"q": "1", "a": "2"}]}}))
    assert 2 == len(ChatAdapter().format(talk, [], {"q": "now"}))


# What a run keeps


@pytest.mark.parametrize("adapter", [*NATIVE, *TEXT], ids=name_of)
def test_a_run_renders_only_new_events_and_sends_the_same(adapter: Adapter, agent: SimpleNamespace) -> None:
    rendered = Rendered()
    events: list[dict[str, Any]] = []
    shared: list[dict[str, Any]] = []
    for turn in range(6):
        inputs = agent.inputs(*events, **({"question": "why?"} if turn == 0 else {}))
        kept = adapter.render(model(), {}, agent.signature, [], inputs, rendered)
        fresh = adapter.render(model(), {}, agent.signature, [], inputs)
        assert fresh.messages == kept.messages
        assert fresh.options == kept.options
        assert all(new is old for new, old in zip(kept.messages[2:], shared[2:], strict=False))
        shared = kept.messages
        calls = agent.calls((f"c{turn}", "search", {"query": "a"}), results=[(f"c{turn}", "search", "hit", False)])
        events.append({**({"question": "why?"} if turn == 0 else {}), "next_thought": "t", "tool_calls": calls})


def test_a_history_that_begins_differently_is_rendered_anew(agent: SimpleNamespace) -> None:
    rendered = Rendered()
    adapter = ChatAdapter()
    one, two, other = ({"question": word} for word in ("one", "two", "other"))
    adapter.render(model(), {}, agent.signature, [], agent.inputs(one, two), rendered)
    messages = adapter.render(model(), {}, agent.signature, [], agent.inputs(other, two), rendered).messages
    assert "other" in messages[1]["content"] and "two" in messages[2]["content"]
    shorter = adapter.render(model(), {}, agent.signature, [], agent.inputs(other), rendered).messages
    assert 2 == len(shorter)


def test_other_tools_or_another_adapter_are_rendered_anew(agent: SimpleNamespace) -> None:
    rendered = Rendered()
    inputs = agent.inputs({"question": "why?"})
    ChatAdapter().render(model(), {}, agent.signature, [], inputs, rendered)
    as_xml = XMLAdapter().render(model(), {}, agent.signature, [], inputs, rendered)
    assert "<question>" in as_xml.messages[1]["content"]
    fewer = {**inputs, "tools": agent.tools[:1]}
    assert "submit" not in XMLAdapter().render(model(), {}, agent.signature, [], fewer, rendered).messages[0]["content"]
    native = NATIVE[0].render(model(), {}, agent.signature, [], fewer, rendered)
    assert 1 == len(native.options["tools"])


def test_an_overridden_hook_renders_the_history_whole(agent: SimpleNamespace) -> None:
    class Loud(ChatAdapter):
        def format_user_message_content(self, *args: Any, **kwargs: Any) -> str:
            return f"{super().format_user_message_content(*args, **kwargs)}!"

        def format_conversation_history(
            self, signature: Any, history_field_name: str, inputs: dict[str, Any]
        ) -> list[Any]:
            assert "history" == history_field_name
            messages = super().format_conversation_history(signature, history_field_name, inputs)
            del inputs["history"]  # as DSPy's own does
            return messages

    messages = Loud().render(model(), {}, agent.signature, [], agent.inputs({"question": "why?"}), Rendered()).messages
    assert messages[1]["content"].endswith("!")


def test_a_request_changes_neither_history_nor_inputs(agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "search", {"query": "a"}), results=[("c1", "search", "hit", False)])
    inputs = agent.inputs({"question": "why?", "tool_calls": calls})
    before = copy.deepcopy(inputs["history"].messages)
    for adapter in (*NATIVE, *TEXT):
        adapter.render(model(), {}, agent.signature, [], inputs, Rendered())
    assert before == inputs["history"].messages
    assert {"history", "tools"} == set(inputs)
