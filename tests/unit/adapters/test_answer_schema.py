"""JSONAdapter(constrain=...): the schema that an answer is held to, and how a request carries it."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

import reasonact
from reasonact.adapters.answer_schema import answer_schema
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.agents.react import ReAct
from reasonact.agents.react_v2 import ReActV2
from reasonact.errors import AdapterParseError, LMInvalidRequestError
from reasonact.modules.predict import Predict
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.tool import Tool
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls


class Node(BaseModel):
    name: str
    below: list[Node] = []


class Task(Signature):
    """Answer."""

    question: str = InputField()
    answer: str = OutputField(max_length=20)
    share: float = OutputField(ge=0, le=1)


def search(query: str, limit: int = 5) -> str:
    """Search."""
    return f"{query} {limit}"


def grow(node: Node, mood: Literal["glad", "sad"] = "glad") -> str:
    """Grow a tree."""
    return node.name + mood


def anything(**more: Any) -> str:
    """Take anything."""
    return str(more)


TOOLS = [Tool(search), Tool(grow), Tool(anything)]
NODE = {"name": "a", "below": [{"name": "b", "below": []}]}
OUTPUTS = {"answer": "yes", "share": 0.5}


def accepts(schema: dict[str, Any], value: Any) -> bool:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(value)


def react_step(name: str, args: Any, **more: Any) -> dict[str, Any]:
    return {"next_thought": "So.", "next_tool_name": name, "next_tool_args": args, **more}


def v2_turn(*calls: tuple[str, Any]) -> dict[str, Any]:
    return {"next_thought": "So.", "tool_calls": {"tool_calls": [{"name": name, "args": args} for name, args in calls]}}


@pytest.fixture
def of_react() -> dict[str, Any]:
    agent = ReAct(Task, TOOLS)
    return answer_schema(agent.react.signature, agent.tools.values())


@pytest.fixture
def of_react_v2() -> dict[str, Any]:
    agent = ReActV2(Task, TOOLS)
    return answer_schema(agent.react.signature, agent.tools.values())


VALID_CALLS = [
    ("search", {"query": "x"}),
    ("search", {"query": "x", "limit": 3}),
    ("grow", {"node": NODE}),
    ("grow", {"node": NODE, "mood": "sad"}),
    ("anything", {}),
    ("anything", {"of": ["any", "kind"]}),
]
WRONG_CALLS = [
    ("nothing", {}),
    ("Search", {"query": "x"}),
    ("search", {}),
    ("search", {"query": 5}),
    ("search", {"query": "x", "more": 1}),
    ("search", {"node": NODE}),
    ("search", None),
    ("grow", {"node": {"name": "a", "below": [{}]}}),
    ("grow", {"node": NODE, "mood": "so-so"}),
]


@pytest.mark.parametrize(("name", "args"), [*VALID_CALLS, ("finish", {})])
def test_a_step_of_react_with_a_tool_and_its_arguments_is_allowed(
    name: str, args: Any, of_react: dict[str, Any]
) -> None:
    assert accepts(of_react, react_step(name, args))


@pytest.mark.parametrize(("name", "args"), WRONG_CALLS)
def test_a_step_of_react_with_another_tool_or_the_arguments_of_another_is_not(
    name: str, args: Any, of_react: dict[str, Any]
) -> None:
    assert not accepts(of_react, react_step(name, args))


def test_a_step_of_react_has_all_of_its_fields_and_no_other(of_react: dict[str, Any]) -> None:
    whole = react_step("search", {"query": "x"})
    assert not accepts(of_react, {**whole, "answer": "x"})
    for name in whole:
        assert not accepts(of_react, {key: value for key, value in whole.items() if key != name})


@pytest.mark.parametrize(("name", "args"), [*VALID_CALLS, ("submit", OUTPUTS)])
def test_a_turn_of_react_v2_with_a_tool_and_its_arguments_is_allowed(
    name: str, args: Any, of_react_v2: dict[str, Any]
) -> None:
    assert accepts(of_react_v2, v2_turn((name, args)))
    assert accepts(of_react_v2, v2_turn((name, args), ("search", {"query": "y"})))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        *WRONG_CALLS,
        ("submit", {"answer": "yes"}),
        ("submit", {**OUTPUTS, "share": "half"}),
        ("submit", {**OUTPUTS, "share": 1.5}),
        ("submit", {**OUTPUTS, "answer": "y" * 21}),
    ],
)
def test_a_turn_of_react_v2_with_one_wrong_call_is_not(name: str, args: Any, of_react_v2: dict[str, Any]) -> None:
    assert not accepts(of_react_v2, v2_turn((name, args)))
    assert not accepts(of_react_v2, v2_turn(("search", {"query": "y"}), (name, args)))


def test_a_turn_of_react_v2_without_a_call_is_not_allowed(of_react_v2: dict[str, Any]) -> None:
    assert not accepts(of_react_v2, v2_turn())


def test_one_call_a_turn_can_be_asked_for() -> None:
    agent = ReActV2(Task, TOOLS)
    schema = answer_schema(agent.react.signature, agent.tools.values(), one_call=True)
    call = ("search", {"query": "x"})
    assert accepts(schema, v2_turn(call))
    assert not accepts(schema, v2_turn(call, call))


def test_the_chosen_tool_is_the_only_one() -> None:
    agent = ReActV2(Task, TOOLS)
    schema = answer_schema(agent.react.signature, agent.tools.values(), chosen="submit")
    assert accepts(schema, v2_turn(("submit", OUTPUTS)))
    assert not accepts(schema, v2_turn(("search", {"query": "x"})))


def test_a_choice_of_no_tool_leaves_them_all() -> None:
    agent = ReActV2(Task, TOOLS)
    tools = agent.tools.values()
    assert answer_schema(agent.react.signature, tools) == answer_schema(agent.react.signature, tools, chosen="none")


def test_calls_of_another_signature_may_be_none() -> None:
    signature = Signature("q, tools: list[Tool] -> a", custom_types={"Tool": Tool})
    signature = signature.append("calls", OutputField(), type_=ToolCalls)
    schema = answer_schema(signature, TOOLS)
    assert accepts(schema, {"a": "x", "calls": {"tool_calls": []}})
    assert accepts(schema, {"a": "x", "calls": {"tool_calls": [{"name": "search", "args": {"query": "x"}}]}})
    assert not accepts(schema, {"a": "x", "calls": {"tool_calls": [{"name": "search", "args": {}}]}})


def test_without_tools_a_call_has_a_name_and_arguments() -> None:
    schema = answer_schema(Signature("q -> calls: ToolCalls", custom_types={"ToolCalls": ToolCalls}))
    assert accepts(schema, {"calls": {"tool_calls": [{"name": "any", "args": {"x": 1}}]}})
    assert not accepts(schema, {"calls": {"tool_calls": [{"name": "any"}]}})


def test_a_step_whose_tools_nobody_told_names_one_of_its_type() -> None:
    signature = (
        Signature("question -> next_thought")
        .append("next_tool_name", OutputField(), type_=Literal["search", "finish"])
        .append("next_tool_args", OutputField(), type_=dict[str, Any])
    )
    schema = answer_schema(signature)
    assert accepts(schema, react_step("search", {"any": 1}))
    assert not accepts(schema, react_step("find", {}))
    assert not accepts(schema, react_step("search", "text"))


def test_plain_outputs_are_held_to_their_types() -> None:
    schema = answer_schema(Task)
    assert accepts(schema, OUTPUTS)
    assert not accepts(schema, {**OUTPUTS, "share": 2})
    assert not accepts(schema, {"answer": "yes"})


def test_reasoning_is_written_as_text() -> None:
    signature = Signature("q -> thoughts: Reasoning, a: int", custom_types={"Reasoning": Reasoning})
    assert accepts(answer_schema(signature), {"thoughts": "So.", "a": 1})


def test_recursive_types_of_two_tools_keep_their_own_definitions() -> None:
    class Other(BaseModel):
        size: int
        inner: list[Other] = []

    Other.__name__ = "Node"
    Other.model_rebuild(force=True)

    def measure(node: Other) -> int:
        return node.size

    agent = ReActV2(Task, [grow, measure])
    schema = answer_schema(agent.react.signature, agent.tools.values())
    sized = {"size": 1, "inner": [{"size": 2, "inner": []}]}
    assert accepts(schema, v2_turn(("grow", {"node": NODE}), ("measure", {"node": sized})))
    assert not accepts(schema, v2_turn(("grow", {"node": {**NODE, "below": [sized]}})))
    assert not accepts(schema, v2_turn(("measure", {"node": {**sized, "inner": [NODE]}})))


# In a request

ANSWER = json.dumps(OUTPUTS)


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("json_schema", {"type": "json_schema", "json_schema": {"name": "answer", "schema": answer_schema(Task)}}),
        ("json_object", {"type": "json_object", "schema": answer_schema(Task)}),
    ],
)
def test_a_request_carries_the_schema_in_the_form_that_was_named(form: Any, wanted: Any) -> None:
    lm = ScriptedLM([ANSWER])
    assert [OUTPUTS] == JSONAdapter(constrain=form)(lm, {}, Task, [], {"question": "x"})
    assert wanted == lm.requests[0].options["response_format"]


def test_another_form_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"constrain='grammar'.*'json_schema', 'json_object'"):
        JSONAdapter(constrain="grammar")  # type: ignore[arg-type]


def test_a_response_format_of_the_caller_s_stays() -> None:
    lm = ScriptedLM([ANSWER])
    own = {"type": "json_object", "schema": {"type": "object"}}
    JSONAdapter(constrain="json_object")(lm, {"response_format": own}, Task, [], {"question": "x"})
    assert own == lm.requests[0].options["response_format"]


def test_a_server_that_refuses_is_not_asked_otherwise() -> None:
    lm = ScriptedLM([LMInvalidRequestError("response_format json_schema is not supported")])
    with pytest.raises(LMInvalidRequestError):
        JSONAdapter(constrain="json_schema")(lm, {}, Task, [], {"question": "x"})
    assert 1 == len(lm.requests)


def test_an_answer_that_was_cut_is_not_asked_for_unheld() -> None:
    lm = ScriptedLM(['{"answer": "and on and'])
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object")), pytest.raises(AdapterParseError):
        Predict(Task)(question="x")
    assert 1 == len(lm.requests)


def test_calls_are_text_though_the_model_takes_tools() -> None:
    lm = ScriptedLM([json.dumps(v2_turn(("submit", OUTPUTS)))], function_calling=True)
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object")):
        result = ReActV2(Task, TOOLS)(question="x")
    assert "submit" == result.termination_reason
    assert {"response_format"} == lm.requests[0].options.keys()


def test_the_same_tools_get_the_same_schema_again() -> None:
    call = json.dumps(v2_turn(("search", {"query": "x"})))
    agent, adapter = ReActV2(Task, TOOLS), JSONAdapter(constrain="json_object")
    inputs = {"question": "x", "history": None, "tools": list(agent.tools.values())}
    first, second = (adapter.render(ScriptedLM([call]), {}, agent.react.signature, [], inputs) for _ in range(2))
    assert first.options["response_format"]["schema"] is second.options["response_format"]["schema"]


def test_a_run_of_react_is_held_to_its_steps_and_then_to_its_outputs() -> None:
    steps = [react_step("search", {"query": "x"}), react_step("finish", {}), {"reasoning": "So.", **OUTPUTS}]
    lm = ScriptedLM([json.dumps(step) for step in steps])
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object")):
        result = ReAct(Task, TOOLS)(question="x")
    assert (0.5, "finish") == (result.share, result.termination_reason)
    schemas = [request.options["response_format"]["schema"] for request in lm.requests]
    allowed = [[accepts(schema, step) for step in steps] for schema in schemas]
    assert [[True, True, False], [True, True, False], [False, False, True]] == allowed


@pytest.mark.parametrize("agent_class", [ReAct, ReActV2])
def test_the_tools_of_one_call_are_in_its_schemas(agent_class: type[Any]) -> None:
    def later(day: int) -> str:
        """Later."""
        return str(day)

    ended = react_step("finish", {}) if agent_class is ReAct else v2_turn(("submit", OUTPUTS))
    called = react_step("later", {"day": 1}) if agent_class is ReAct else v2_turn(("later", {"day": 1}))
    replies = [called, ended, *([{"reasoning": "", **OUTPUTS}] if agent_class is ReAct else [])]
    lm = ScriptedLM([json.dumps(reply) for reply in replies])
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object")):
        agent_class(Task, [search])(question="x", tools=[later])
    assert accepts(lm.requests[0].options["response_format"]["schema"], called)


def test_a_forced_submit_allows_nothing_else() -> None:
    call = v2_turn(("search", {"query": "x"}))
    lm = ScriptedLM([json.dumps(call), json.dumps(v2_turn(("submit", OUTPUTS)))])
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object")):
        result = ReActV2(Task, TOOLS, max_iters=1)(question="x")
    assert "forced_submit" == result.termination_reason
    free, forced = (request.options["response_format"]["schema"] for request in lm.requests)
    assert (True, False) == (accepts(free, call), accepts(forced, call))
    assert accepts(forced, v2_turn(("submit", OUTPUTS)))


def test_one_call_a_turn_is_what_parallel_tool_calls_false_asks_for() -> None:
    lm = ScriptedLM([json.dumps(v2_turn(("submit", OUTPUTS)))])
    with reasonact.context(lm=lm, adapter=JSONAdapter(constrain="json_object", parallel_tool_calls=False)):
        ReActV2(Task, TOOLS)(question="x")
    schema = lm.requests[0].options["response_format"]["schema"]
    assert not accepts(schema, v2_turn(("search", {"query": "x"}), ("search", {"query": "y"})))


# Texts that end


def bounded(agent: Any, most: int) -> dict[str, Any]:
    return answer_schema(agent.react.signature, agent.tools.values(), max_text_chars=most)


def test_texts_without_a_bound_get_one() -> None:
    for schema, step in (
        (bounded(ReAct(Task, TOOLS), 5), react_step),
        (bounded(ReActV2(Task, TOOLS), 5), lambda name, args, **more: {**v2_turn((name, args)), **more}),
    ):
        assert accepts(schema, step("search", {"query": "12345"}))
        assert not accepts(schema, step("search", {"query": "123456"}))
        assert not accepts(schema, step("search", {"query": "1"}, next_thought="123456"))
        assert accepts(schema, step("grow", {"node": {"name": "12345", "below": [{"name": "1"}]}}))
        assert not accepts(schema, step("grow", {"node": {"name": "1", "below": [{"name": "123456"}]}}))


def test_texts_with_a_bound_keep_theirs_and_names_and_choices_are_left_alone() -> None:
    schema = bounded(ReActV2(Task, TOOLS), 3)
    assert accepts(schema, v2_turn(("submit", {"answer": "y" * 20, "share": 1})))
    assert accepts(schema, v2_turn(("grow", {"node": {"name": "a"}, "mood": "glad"})))


def test_fields_named_like_words_of_schemas_are_fields() -> None:
    class Odd(Signature):
        question: str = InputField()
        type: str = OutputField()
        items: list[str] = OutputField()
        properties: dict[str, str] = OutputField()

    schema = answer_schema(Odd, max_text_chars=3)
    good: Any = {"type": "abc", "items": ["abc"], "properties": {"long name": "abc"}}
    assert accepts(schema, good)
    for name, wrong in {"type": "abcd", "items": ["abcd"], "properties": {"x": "abcd"}}.items():
        assert not accepts(schema, {**good, name: wrong})


def test_a_text_that_may_also_be_null_is_bounded_in_both_ways_of_saying_it() -> None:
    args: dict[str, Any] = {
        "one": {"type": ["string", "null"]},
        "other": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    agent = ReAct(Task, [Tool(lambda **given: "", name="look", args=args)])
    for name in args:
        for value, fits in ((None, True), ("12345", True), ("123456", False)):
            given = {"one": None, "other": None, name: value}
            assert fits == accepts(bounded(agent, 5), react_step("look", given))


def test_a_bound_is_sent_with_every_request() -> None:
    lm = ScriptedLM([ANSWER])
    JSONAdapter(constrain="json_object", max_text_chars=7)(lm, {}, Signature("q -> answer"), [], {"q": "x"})
    schema = lm.requests[0].options["response_format"]["schema"]
    assert {"type": "string", "maxLength": 7} == schema["properties"]["answer"]


@pytest.mark.parametrize(
    "options", [{"max_text_chars": 5}, {"max_text_chars": 0, "constrain": "json_object"}], ids=["nothing held", "none"]
)
def test_a_bound_of_nothing_is_refused(options: Any) -> None:
    with pytest.raises(ValueError, match="max_text_chars"):
        JSONAdapter(**options)


@pytest.mark.parametrize("bound", [2.5, "3", True])
def test_a_bound_that_is_no_whole_number_is_refused(bound: Any) -> None:
    with pytest.raises(TypeError, match=r"max_text_chars.* is a whole number"):
        JSONAdapter(constrain="json_schema", max_text_chars=bound)
