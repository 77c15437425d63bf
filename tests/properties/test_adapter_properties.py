"""Adapters under arbitrary values, arbitrary completions and arbitrary tool results."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, Union

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from budget import examples
from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.conversation import Rendered
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.markers import holds_marker
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.two_step import TwoStepAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.errors import AdapterParseError
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCallResults, ToolCalls


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Place(BaseModel):
    name: str
    rank: int | None = None
    tags: list[str] = []


CHAT, JSON, XML, PROTOCOL = ChatAdapter(), JSONAdapter(), XMLAdapter(), TextProtocolAdapter()
FOUR = [CHAT, JSON, XML, PROTOCOL]
NATIVE = [ChatAdapter(use_native_function_calling=True), JSON, XMLAdapter(use_native_function_calling=True)]
TEXT = [CHAT, JSONAdapter(use_native_function_calling=False), XML, PROTOCOL]

# Texts full of what the adapters themselves write.
SCAFFOLD = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *("[[ ## a ## ]]", "[[ ## b ## ]]", "[[ ## completed ## ]]", "```", "```json\n", "~~~", "\n", " "),
                *(
                    "<a>",
                    "</a>",
                    "<b>",
                    "</b>",
                    "<item>",
                    "<a/>",
                    "<![CDATA[",
                    "]]>",
                    "&lt;",
                    "&#10;",
                    "<think>",
                    "</think>",
                ),
                *("{", "}", "[", "]", ":", ",", '{"a": "x", "b": 1}', '"a":', "\\", '"', "'", "`", "1", "null", "x"),
                *(
                    "A: ",
                    "\nA:",
                    "B: ",
                    "Thought: ",
                    "Action: ",
                    "\nAction: t[",
                    "Observation: ",
                    "\nAnswer: ",
                    "\\Answer:",
                ),
                *("\x00", "\ud800", "é", "\u2028"),
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=25,
).map("".join)
VALUES = {
    str: SCAFFOLD,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    Colour: st.sampled_from(Colour),
    Literal["x", 1, "</a>"]: st.sampled_from(["x", 1, "</a>"]),
    list[str]: st.lists(SCAFFOLD, max_size=3),
    list[int]: st.lists(st.integers(-1000, 1000), max_size=4),
    dict[str, int]: st.dictionaries(st.text(max_size=6), st.integers(-9, 9), max_size=3),
    Place: st.builds(Place, name=SCAFFOLD, rank=st.none() | st.integers(0, 9), tags=st.lists(SCAFFOLD, max_size=2)),
    Union[Place, None]: st.none() | st.builds(Place, name=st.text(max_size=4)),  # noqa: UP007  # as older programs write it
    list[Place]: st.lists(st.builds(Place, name=SCAFFOLD), max_size=2),
    date: st.dates(),
    Decimal: st.decimals(allow_nan=False, allow_infinity=False, places=3),
}


def as_kept(adapter: Adapter, value: Any) -> Any:
    """A value as it comes back: markers and labels keep no outer white space of a text, but of one that is quoted."""
    if isinstance(value, str) and (adapter is PROTOCOL or (adapter is CHAT and not holds_marker(value))):
        return value.strip()
    return value


@pytest.mark.parametrize("adapter", FOUR, ids=lambda adapter: type(adapter).__name__)
@pytest.mark.parametrize("annotation", VALUES, ids=str)
def test_what_an_adapter_writes_it_reads_back(adapter: Adapter, annotation: Any) -> None:
    signature = Signature({"q": (str, InputField()), "a": (annotation, OutputField()), "b": (int, OutputField())})

    @examples(60)
    @given(VALUES[annotation].filter(lambda value: "\\ud800" not in repr(value)))  # it cannot be sent
    def round_trip(value: Any) -> None:
        content = adapter.format_assistant_message_content(signature, {"a": value, "b": 1})
        assert {"a": as_kept(adapter, value), "b": 1} == adapter.parse(signature, content)

    round_trip()


AB = Signature("q -> a, b: int, c: Optional[list[str]]")
STEP = Signature(
    {
        "q": (str, InputField()),
        "next_thought": (str, OutputField()),
        "next_tool_name": (str, OutputField()),
        "next_tool_args": (dict[str, Any], OutputField()),
    }
)
PLACES = Signature({"q": (str, InputField()), "a": (list[Place], OutputField()), "b": (Place, OutputField())})


@pytest.mark.parametrize("adapter", FOUR, ids=lambda adapter: type(adapter).__name__)
@pytest.mark.parametrize("signature", [AB, STEP, PLACES], ids=["plain", "step", "nested"])
def test_any_completion_is_read_or_refused(adapter: Adapter, signature: Any) -> None:
    @examples(300)
    @given(SCAFFOLD | st.text())
    @example("<a>" * 60)
    @example("[[ ## a ## ]]" * 60)
    @example("```" * 60)
    @example("{" * 3000)
    def read(completion: str) -> None:
        try:
            values = adapter.parse(signature, completion)
        except AdapterParseError as error:
            assert completion == error.lm_response
        else:
            assert list(signature.output_fields) == list(values)

    read()


@pytest.mark.parametrize("native", [True, False], ids=["native", "text"])
def test_any_completion_of_an_agent_s_turn_is_read_or_refused(native: bool) -> None:
    @examples(200)
    @given(
        SCAFFOLD | st.text(),
        st.text(max_size=20) | st.sampled_from(["{}", '{"query": "x"}', "[]", "null", '{"query": ']),
    )
    def read(text: str, arguments: str) -> None:
        for adapter in NATIVE if native else TEXT:
            plan = adapter.render(lm(), {}, agent(), [], inputs([], question="q"))
            calls = [{"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}]
            output = {"text": text, "tool_calls": calls} if native else text
            try:
                (values,) = adapter.read(plan, [output])
            except AdapterParseError:
                continue
            assert {"next_thought", "tool_calls"} <= values.keys()

    read()


# Append-only


def search(query: str) -> str:
    """Search."""
    return query


def lm() -> ScriptedLM:
    return ScriptedLM([], function_calling=True)


def agent() -> Any:
    return _AGENT


def inputs(events: list[dict[str, Any]], **said: Any) -> dict[str, Any]:
    return {**said, "history": History.model_construct(messages=list(events)), "tools": _TOOLS}


_TOOLS = [Tool(search)]
_AGENT = (
    Signature({"question": (Union[str, None], InputField())}, "Work.")  # noqa: UP007
    .append("history", InputField(), type_=History)
    .append("tools", InputField(), type_=list[Tool])
    .append("next_thought", OutputField(), type_=Reasoning)
    .append("tool_calls", OutputField(), type_=ToolCalls)
)
RESULTS = st.one_of(
    SCAFFOLD,
    st.none(),
    st.integers(),
    st.floats(),
    st.binary(max_size=8),
    st.lists(SCAFFOLD, max_size=3),
    st.dictionaries(st.text(max_size=4), st.none() | SCAFFOLD | st.booleans(), max_size=3),
    st.builds(Place, name=SCAFFOLD),
)
TURNS = st.lists(
    st.tuples(st.none() | SCAFFOLD, st.lists(st.tuples(RESULTS, st.booleans()), min_size=1, max_size=3)),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize(
    "adapter", [*NATIVE, *TEXT], ids=lambda a: f"{type(a).__name__}-{a.use_native_function_calling}"
)
def test_each_request_of_a_run_begins_with_the_whole_one_before_it(adapter: Adapter) -> None:
    @examples(60)
    @given(SCAFFOLD, TURNS, st.booleans())
    def run(question: str, turns: list[Any], from_json: bool) -> None:
        rendered = Rendered()
        events: list[dict[str, Any]] = []
        before = adapter.render(lm(), {}, agent(), [], inputs([], question=question), rendered).messages
        for number, (thought, results) in enumerate(turns):
            calls = [
                ToolCalls.ToolCall(id=f"call_{number}_{index}", name="search", args={"query": str(index)})
                for index in range(len(results))
            ]
            values, errors = [value for value, _ in results], [failed for _, failed in results]
            attached = ToolCallResults.from_tool_calls_and_values(calls, values, errors)
            event: dict[str, Any] = {"question": question} if number == 0 else {}
            if thought is not None:
                event["next_thought"] = Reasoning(content=thought)
            event["tool_calls"] = ToolCalls(tool_calls=calls, tool_call_results=attached)
            events.append(event)
            asked = inputs(events, question=None)
            after = adapter.render(lm(), {}, agent(), [], asked, rendered).messages
            assert before == after[: len(before)]
            assert len(after) > len(before)
            assert after == adapter.render(lm(), {}, agent(), [], asked).messages
            before = after
        if from_json:
            again = {**inputs([]), "history": History.from_any(History(messages=events).model_dump_json())}
            assert before == adapter.render(lm(), {}, agent(), [], again).messages

    run()


STEP_VALUES = st.one_of(
    SCAFFOLD,
    st.sampled_from(["", " ", "\n", "  padded  \n", "\n\n[[ ## x ## ]]\n"]),
    st.dictionaries(st.text(max_size=3), st.one_of(st.text(max_size=5), st.integers(), st.none()), max_size=3),
    st.lists(st.text(max_size=5), max_size=2),
    st.integers(),
    st.none(),
)
REACT = Signature("q, trajectory -> next_thought, next_tool_name, next_tool_args: dict[str, Any]")


@pytest.mark.parametrize("adapter", [*FOUR, TwoStepAdapter(ScriptedLM([]))], ids=lambda adapter: type(adapter).__name__)
@given(values=st.lists(STEP_VALUES, max_size=12), failed=st.sets(st.integers(0, 2)))
@example(values=["", "x"], failed=set())
@example(values=["\ud800", "\ud800", {"\ud800": "\ud800"}, "\ud800"], failed=set())
@example(values=["  padded  \n", "x", {}, "  padded  \n", "t"], failed={0})
@example(values=["\n", "", {}, ["\n"], "\n"], failed=set())
def test_a_trajectory_rendered_step_by_step_is_that_rendered_whole(
    adapter: Adapter, values: list[Any], failed: set[int]
) -> None:
    keys = [f"{kind}_{step}" for step in range(3) for kind in ("thought", "tool_name", "tool_args", "observation")]
    rendered, trajectory = Rendered(), {}
    for key, value in zip(keys, values, strict=False):
        trajectory[key] = str(value) if key.startswith("tool_name") else value
        errors = [step for step in sorted(failed) if f"observation_{step}" in trajectory]
        whole = adapter.format_trajectory(trajectory, errors=errors)
        assert whole == adapter.format_trajectory(trajectory, rendered, errors)
        message = adapter.format(REACT, [], {"q": "q", "trajectory": whole})[-1]
        pieces = adapter.trajectory_pieces(trajectory, rendered, errors)
        assert message == adapter.format(REACT, [], {"q": "q", "trajectory": pieces})[-1]
