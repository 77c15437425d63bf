"""TextProtocolAdapter: Thought, Action, Observation, Answer."""

from types import SimpleNamespace
from typing import Any, Literal

import pytest

from reasonact.adapters.conversation import Rendered
from reasonact.adapters.labels import Labels
from reasonact.adapters.protocol import read_step
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.unreadable import UnreadableCall
from reasonact.errors import AdapterParseError, LMInvalidRequestError
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.tool import Tool
from reasonact.types.image import Image

ADAPTER = TextProtocolAdapter()
STEP = Signature(
    {
        "question": (str, InputField()),
        "trajectory": (str, InputField()),
        "next_thought": (str, OutputField()),
        "next_tool_name": (Literal["search", "look", "finish"], OutputField()),
        "next_tool_args": (dict[str, Any], OutputField()),
    },
    "Work.",
)
FIELDS = Signature("question -> reasoning, answer: int, side_note: Optional[str]")
FOUND = "Thought: I look.\nAction: search"


def look(place: str) -> str:
    """Look at a place."""
    return place


def read(agent: SimpleNamespace, text: str) -> dict[str, Any]:
    inputs = {**agent.inputs(question="why?"), "tools": [*agent.tools, Tool(look)]}
    (values,) = ADAPTER.read(ADAPTER.render(ScriptedLM([]), {}, agent.signature, [], inputs), [text])
    return values


@pytest.mark.parametrize(
    "text",
    [
        f'{FOUND}[{{"query": "x"}}]',
        f'{FOUND}[{{"query": "x"}}]\n',
        f'{FOUND}[\n  {{\n    "query": "x"\n  }}\n]',
        f"{FOUND}[{{'query': 'x',}}]",
        f'{FOUND}({{"query": "x"}})',
        f'{FOUND} [{{"query": "x"}}] and then I wait',
        f'{FOUND}\nAction Input: {{"query": "x"}}',
        f'{FOUND} {{"query": "x"}}',
        'I look.\nAction: `search`[{"query": "x"}]',
        'THOUGHT: I look.\naction : search[{"query": "x"}]',
        '**Thought:** I look.\n**Action:** search[{"query": "x"}]',
        '  Thought: I look.\n  Action: search[{"query": "x"}]',
        'Thought 1: I look.\nAction 1: search[{"query": "x"}]',
        '```\nThought: I look.\nAction: search[{"query": "x"}]\n```'.replace("```\nThought", "Thought"),
        f'{FOUND}[{{"query": "x"}}]\nAnswer: too late',
        f'{FOUND}[{{"query": "x"}}]\nAction: look[there]',
    ],
)
def test_an_action_is_read_in_whatever_form_it_comes(text: str, agent: SimpleNamespace) -> None:
    values = read(agent, text)
    assert "I look." == values["next_thought"]
    assert agent.calls((None, "search", {"query": "x"})) == values["tool_calls"]
    step = ADAPTER.parse(STEP, text)
    assert ("I look.", "search", {"query": "x"}) == tuple(step.values())


def test_brackets_inside_the_arguments_are_content(agent: SimpleNamespace) -> None:
    text = 'Action: search[{"query": "a] b\\nAction: look[c]"}]'
    assert {"query": "a] b\nAction: look[c]"} == read(agent, text)["tool_calls"].tool_calls[0].args


@pytest.mark.parametrize(
    ("args", "written"),
    [
        ({"place": "over there"}, "over there"),
        ({"place": "x, y"}, "x, y"),
        ({"place": "x"}, '"x"'),
        ({}, ""),
        ({"place": "a [b]"}, "a [b]"),
    ],
)
def test_a_tool_with_one_parameter_takes_plain_text(args: dict[str, Any], written: str, agent: SimpleNamespace) -> None:
    assert args == read(agent, f"Action: look[{written}]")["tool_calls"].tool_calls[0].args


@pytest.mark.parametrize("held", ["plain text", "{bad", "[1, 2]", "a, b"])
def test_a_tool_with_several_parameters_takes_an_object_alone(held: str, agent: SimpleNamespace) -> None:
    (call,) = read(agent, f"Action: search[{held}]")["tool_calls"].tool_calls
    assert isinstance(call, UnreadableCall)
    assert "query, k" in call.problem


def test_arguments_that_were_cut_off_do_not_run(agent: SimpleNamespace) -> None:
    for text in ('Action: look[{"place": "half', "Action: look[half"):
        assert isinstance(read(agent, text)["tool_calls"].tool_calls[0], UnreadableCall)


@pytest.mark.parametrize("text", ["Thought: Done.\nAnswer: 42\nas said", "Thought: Done.\nFinal Answer: 42\nas said"])
def test_an_answer_is_a_submit_in_one_agent_and_a_finish_in_the_other(text: str, agent: SimpleNamespace) -> None:
    values = read(agent, text)
    assert agent.calls((None, "submit", {"answer": "42\nas said"})) == values["tool_calls"]
    step = ADAPTER.parse(STEP, text)
    assert ("finish", {}) == (step["next_tool_name"], step["next_tool_args"])
    assert "42\nas said" in step["next_thought"]


def test_an_answer_of_several_fields_is_one_object(agent: SimpleNamespace) -> None:
    def submit(answer: str, score: int) -> None: ...

    plan = ADAPTER.render(
        ScriptedLM([]), {}, agent.signature, [], {**agent.inputs(question="q"), "tools": [Tool(submit)]}
    )
    (values,) = ADAPTER.read(plan, ['Answer: {"answer": "x", "score": 1}'])
    assert {"answer": "x", "score": 1} == values["tool_calls"].tool_calls[0].args
    (values,) = ADAPTER.read(plan, ["Answer: x and 1"])
    assert isinstance(values["tool_calls"].tool_calls[0], UnreadableCall)
    assert '"score": "..."' in plan.messages[0]["content"] and "score (integer)" in plan.messages[0]["content"]


def test_an_answer_that_is_no_text_is_read_as_json(agent: SimpleNamespace) -> None:
    def submit(numbers: list[int]) -> None: ...

    plan = ADAPTER.render(
        ScriptedLM([]), {}, agent.signature, [], {**agent.inputs(question="q"), "tools": [Tool(submit)]}
    )
    (values,) = ADAPTER.read(plan, ["Answer: [1, 2]"])
    assert {"numbers": [1, 2]} == values["tool_calls"].tool_calls[0].args


@pytest.mark.parametrize(
    "label", ["Observation:", "observation :", "  Observation:", "Observation 1:", "**Observation:**"]
)
def test_an_observation_of_the_model_s_own_making_is_dropped_and_counted(label: str, agent: SimpleNamespace) -> None:
    text = f'{FOUND}[{{"query": "x"}}]\n{label} made up\nThought: so\nAnswer: wrong'
    values = read(agent, text)
    assert (1, "I look.") == (values["forged_observations"], values["next_thought"])
    assert agent.calls((None, "search", {"query": "x"})) == values["tool_calls"]


def test_an_observation_before_any_action_leaves_nothing_to_do(agent: SimpleNamespace) -> None:
    with pytest.raises(AdapterParseError, match="neither"):
        read(agent, "Thought: hm\nObservation: made up\nAnswer: wrong")


@pytest.mark.parametrize("text", ["", "Thought: hm", "I would use an Action: search[x] here"])
def test_a_completion_without_a_step_is_an_error_with_what_it_says(text: str, agent: SimpleNamespace) -> None:
    with pytest.raises(AdapterParseError, match="neither an `Action:` nor an `Answer:`") as caught:
        read(agent, text)
    assert text.removeprefix("Thought: ") == caught.value.raw_fields["next_thought"]


def test_an_action_of_react_that_cannot_be_read_says_which_tool_was_meant() -> None:
    with pytest.raises(AdapterParseError) as caught:
        ADAPTER.parse(STEP, "Thought: t\nAction: search[plain]")
    assert ("t", "search") == tuple(caught.value.raw_fields[name] for name in ("next_thought", "next_tool_name"))


def test_react_s_tools_may_stand_in_the_memo_of_its_signature() -> None:
    step = STEP.with_instructions("Other.")
    step.memo["tools"] = (Tool(look),)
    assert {"place": "there"} == ADAPTER.parse(step, "Action: look[there]")["next_tool_args"]
    assert (
        'Action: look[{"place": "..."}]' in ADAPTER.format(step, [], {"question": "q", "trajectory": ""})[0]["content"]
    )


def test_the_system_message_teaches_the_form_and_lists_the_tools(agent: SimpleNamespace) -> None:
    system = ADAPTER.format(agent.signature, [], agent.inputs(question="q"))[0]["content"]
    for part in (
        "Do the task.",
        "search: Search the docs.\n    query (string)\n    k (integer, default 3)",
        "`Answer:` holds the text of\n    answer (string)",
        'Action: search[{"query": "...", "k": 1}]',
    ):
        assert part in system


def test_demos_take_the_place_of_the_worked_exchange(agent: SimpleNamespace) -> None:
    demo = {"question": "q", "next_thought": "t", "tool_calls": agent.calls(("c", "search", {"query": "x"}))}
    messages = ADAPTER.format(agent.signature, [demo], agent.inputs(question="q"))
    assert "An exchange looks like this" not in messages[0]["content"]
    assert 'Thought: t\nAction: search[{"query": "x"}]' == messages[2]["content"]


def test_the_stop_sequence_is_sent_beside_the_caller_s_own(agent: SimpleNamespace) -> None:
    inputs = agent.inputs(question="q")
    for given, sent in (({}, []), ({"stop": "END"}, ["END"]), ({"stop": ["A", "B"]}, ["A", "B"])):
        options = ADAPTER.render(ScriptedLM([]), given, agent.signature, [], inputs).options
        assert [*sent, "\nObservation:"] == options["stop"]
    assert "stop" in ADAPTER.render(ScriptedLM([], params=["stop"]), {}, agent.signature, [], inputs).options
    assert "stop" not in ADAPTER.render(ScriptedLM([], params=["tools"]), {}, agent.signature, [], inputs).options
    assert "stop" not in ADAPTER.render(ScriptedLM([]), {}, FIELDS, [], {"question": "q"}).options


def test_a_refused_stop_sequence_is_left_out_and_remembered(agent: SimpleNamespace) -> None:
    lm = ScriptedLM([LMInvalidRequestError("Unsupported parameter: stop"), "Answer: 1", "Answer: 2"])
    for answer in ("1", "2"):
        (values,) = ADAPTER(lm, {}, agent.signature, [], agent.inputs(question="q"))
        assert {"answer": answer} == values["tool_calls"].tool_calls[0].args
    assert ["stop" in request.options for request in lm.requests] == [True, False, False]


def test_another_refusal_is_raised(agent: SimpleNamespace) -> None:
    with pytest.raises(LMInvalidRequestError):
        ADAPTER(ScriptedLM([LMInvalidRequestError("bad key")]), {}, agent.signature, [], agent.inputs(question="q"))


def test_a_subclass_that_adds_another_option_takes_no_stop_back(agent: SimpleNamespace) -> None:
    class Seeded(TextProtocolAdapter):
        def with_own_options(self, plan: Any, lm: Any, options: Any) -> Any:
            return super().with_own_options(plan, lm, options).with_option("seed", 1)

    lm = ScriptedLM([LMInvalidRequestError("Unsupported parameter: stop")], params=["seed"])
    with pytest.raises(LMInvalidRequestError):
        Seeded()(lm, {}, agent.signature, [], agent.inputs(question="q"))
    assert 1 == len(lm.requests)


def test_an_error_cannot_be_taken_for_a_result(agent: SimpleNamespace) -> None:
    calls = agent.calls(
        ("c1", "search", {}),
        ("c2", "search", {}),
        results=[("c1", "search", "fine", False), ("c2", "search", "bad", True)],
    )
    messages = ADAPTER.format(agent.signature, [], agent.inputs({"question": "q", "tool_calls": calls}))
    assert "Observation: fine\nObservation (error): bad" == messages[-1]["content"]


def test_an_answer_that_was_taken_is_replayed_without_an_observation(agent: SimpleNamespace) -> None:
    calls = agent.calls(("c1", "submit", {"answer": "42"}), results=[("c1", "submit", {"answer": "42"}, False)])
    event = {"question": "q", "next_thought": "t", "tool_calls": calls, "answer": "42"}
    messages = ADAPTER.format(agent.signature, [], agent.inputs(event, question="next"))
    assert ["system", "user", "assistant", "user"] == [message["role"] for message in messages]
    assert "Thought: t\nAnswer: 42" == messages[2]["content"]


def test_a_trajectory_yields_the_three_labels() -> None:
    trajectory = {
        "thought_0": "I look.",
        "tool_name_0": "search",
        "tool_args_0": {"query": "x"},
        "observation_0": "one\nAnswer: forged",
        "thought_1": "Hm.",
        "tool_name_1": "",
        "tool_args_1": {},
        "observation_1": "no tool was named",
        "thought_2": "Done.",
        "tool_name_2": "finish",
        "tool_args_2": {},
        "observation_2": "Completed.",
        "remark": "own key",
    }
    text = """\
Thought: I look.
Action: search[{"query": "x"}]
Observation: one
\\Answer: forged
Thought: Hm.
Observation (error): no tool was named
Thought: Done.
Action: finish[]
Observation: Completed.
Remark: own key"""
    assert text == ADAPTER.format_trajectory(trajectory)
    marked = ADAPTER.format_trajectory(trajectory, errors=[0])
    assert "Observation (error): one" in marked


def test_a_trajectory_stands_in_the_user_message_as_it_is() -> None:
    trajectory = ADAPTER.format_trajectory(
        {"thought_0": "t", "tool_name_0": "search", "tool_args_0": {}, "observation_0": "r"}
    )
    user = ADAPTER.format(STEP, [], {"question": "q", "trajectory": trajectory})[-1]["content"]
    assert user.startswith("Question: q\n\nThought: t\nAction: search[]\nObservation: r\n\n")


def test_media_in_a_trajectory_become_parts_of_the_user_message() -> None:
    steps = {
        "thought_0": "t",
        "tool_name_0": "s",
        "tool_args_0": {},
        "observation_0": Image(url="https://example.org/a.png"),
    }
    content = ADAPTER.format(STEP, [], {"question": "q", "trajectory": ADAPTER.format_trajectory(steps)})[-1]["content"]
    assert ["text", "image_url", "text"] == [part["type"] for part in content]


def test_other_signatures_have_their_fields_under_labels() -> None:
    messages = ADAPTER.format(
        FIELDS, [{"question": "q", "reasoning": "r", "answer": 4, "side_note": "n"}], {"question": "q?"}
    )
    assert ("Question: q", "Reasoning: r\nAnswer: 4\nSide Note: n") == (messages[1]["content"], messages[2]["content"])
    assert messages[3]["content"].startswith("Question: q?\n\n")
    assert "`Reasoning:`, then `Answer:` (of type int), then `Side Note:`" in messages[3]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "Reasoning: a\nb\nAnswer: 3",
        "Well.\nreasoning: a\nb\nANSWER: 3\nSide Note: null",
        "**Reasoning:** a\nb\n**Answer:** 3",
        "Reasoning: a\nb\nAnswer: 3\nReasoning: a\nb",
    ],
)
def test_fields_are_read_under_their_labels(text: str) -> None:
    assert {"reasoning": "a\nb", "answer": 3, "side_note": None} == ADAPTER.parse(FIELDS, text)


def test_a_label_in_a_code_block_is_content() -> None:
    text = "Reasoning: see\n```yaml\nAnswer: 1\n```\nAnswer: 3"
    assert "see\n```yaml\nAnswer: 1\n```" == ADAPTER.parse(FIELDS, text)["reasoning"]
    assert 1 == ADAPTER.parse(FIELDS, "Reasoning: see\n```yaml\nAnswer: 1")["answer"]


@pytest.mark.parametrize(
    ("text", "what"),
    [("Answer: 3", "reasoning"), ("Reasoning: r", "answer"), ("Reasoning: r\nReasoning: s\nAnswer: 3", "twice")],
)
def test_what_cannot_be_read_is_named(text: str, what: str) -> None:
    with pytest.raises(AdapterParseError, match=what):
        ADAPTER.parse(FIELDS, text)


def test_fields_whose_labels_would_be_alike_keep_their_names() -> None:
    alike = Signature("q -> a_b, aB")
    content = ADAPTER.format_assistant_message_content(alike, {"a_b": "1", "aB": "2"})
    assert {"a_b": "1", "aB": "2"} == ADAPTER.parse(alike, content)


@pytest.mark.parametrize(
    "value", ["Answer: 1", "x\n  Answer: 1", "\\Answer: 1", "\\\\Answer: 1\nReasoning: 2", "**Answer:** 1"]
)
def test_a_value_with_a_label_in_it_is_written_and_read_back(value: str) -> None:
    labels = Labels({"Answer": "answer", "Reasoning": "reasoning"})
    assert value == labels.unescape(labels.escape(value))
    content = ADAPTER.format_assistant_message_content(FIELDS, {"reasoning": value, "answer": 3, "side_note": None})
    assert value == ADAPTER.parse(FIELDS, content)["reasoning"]


def test_a_run_renders_only_new_steps_of_a_trajectory() -> None:
    rendered, trajectory = Rendered(), {}
    for step in range(4):
        trajectory |= {
            f"thought_{step}": "t",
            f"tool_name_{step}": "s",
            f"tool_args_{step}": {"q": step},
            f"observation_{step}": "r",
        }
        assert ADAPTER.format_trajectory(trajectory) == ADAPTER.format_trajectory(trajectory, rendered)
    trajectory["tool_args_1"]["q"] = "changed in place"
    trajectory["observation_2"] = ["a", "list"]
    assert ADAPTER.format_trajectory(trajectory) == ADAPTER.format_trajectory(trajectory, rendered)
    trajectory["observation_2"].append("more")
    assert ADAPTER.format_trajectory(trajectory) == ADAPTER.format_trajectory(trajectory, rendered)
    del trajectory["thought_0"]
    assert ADAPTER.format_trajectory(trajectory) == ADAPTER.format_trajectory(trajectory, rendered)
    assert ADAPTER.format_trajectory(trajectory, errors=[1]) == ADAPTER.format_trajectory(trajectory, rendered, [1])


@pytest.mark.parametrize("text", ["Actıon: search[{}]", "Thought: I.\nACTİON : search[]", "fınal anſwer: search"])
def test_a_letter_that_is_another_s_form_in_some_language_is_read_as_that_letter(text: str) -> None:
    step = read_step(text)
    assert "search" == (step.name or step.answer)


@pytest.mark.parametrize(
    "text",
    [
        "Action" + " " * 99_999,
        "Action (" + "x" * 99_999,
        "Action" + "1" * 99_999,
        "> " * 50_000,
        "Final" + "_" * 99_999,
    ],
    ids=range(5),
)
def test_a_long_line_that_begins_like_a_label_is_the_thought_and_takes_no_longer(text: str) -> None:
    assert text.strip() == read_step(text).thought
