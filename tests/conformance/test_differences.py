"""Each row of docs/differences.md: what DSPy 3.4.1 does, what reasonact does instead, and the switch back."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
import threading
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import dspy
import pytest
from differences import DIFFERENCES
from harness import Call, Fault, Fields, Raw, Scenario, Turn, make_adapter, plain, scripted_lm, step, submit, turn
from pydantic import BaseModel
from scenarios import divide, search

import reasonact

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
FINISH = step("That is all.", "finish")
ANSWER = Fields({"reasoning": "It said so.", "answer": "42"})


@pytest.fixture(autouse=True)
def quiet_oracle():
    logging.getLogger("dspy").setLevel(logging.CRITICAL)


class Played:
    """One program of one library, its model, and what came of it."""

    def __init__(self, library: Any, program: Any, lm: Any, adapter: str) -> None:
        self.library, self.program, self.lm, self.adapter = library, program, lm, adapter

    def __call__(self, **inputs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.library.context(lm=self.lm, adapter=make_adapter(self.library, self.adapter)):
                return self.program(**(inputs or {"question": "q?"}))

    async def acall(self, **inputs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.library.context(lm=self.lm, adapter=make_adapter(self.library, self.adapter)):
                return await self.program.acall(**(inputs or {"question": "q?"}))

    @property
    def requests(self) -> list[Any]:
        return self.lm.requests


def make(
    library: Any, agent: str, *replies: Any, tools: Any = (search,), adapter: str = "chat", **options: Any
) -> Played:
    scenario = Scenario("", agent, "question -> answer", tuple(replies))
    program = getattr(library, agent)("question -> answer", tools=list(tools), **options)
    return Played(library, program, scripted_lm(library, scenario, adapter), adapter)


def results(history: Any) -> list[Any]:
    return [
        r
        for event in history.messages
        if "tool_calls" in event
        for r in event["tool_calls"].tool_call_results.tool_call_results
    ]


# The history that a caller hands in


def test_the_callers_history_is_copied_on_entry():
    script = (submit("c1", answer="42"),)
    theirs, own = dspy.History(messages=[]), reasonact.History(messages=[])
    assert theirs is make(dspy, "ReActV2", *script)(question="q?", history=theirs).history
    grown = make(reasonact, "ReActV2", *script)(question="q?", history=own).history
    assert (1, 0, 1) == (len(theirs.messages), len(own.messages), len(grown.messages))


def test_the_callers_history_grows_in_place_by_the_switch():
    given = reasonact.History(messages=[])
    with reasonact.context(grow_history_in_place=True):
        prediction = make(reasonact, "ReActV2", submit("c1", answer="42"))(question="q?", history=given)
    assert given is prediction.history
    assert 1 == len(given.messages)


def test_ids_outlive_a_json_round_trip_of_a_history():
    script = (turn("I look.", Call("search", {"query": "a"}, "c1")), submit("c2", answer="42"))

    def ids(library: Any) -> list[Any]:
        history = make(library, "ReActV2", *script)().history
        again = library.History.model_validate_json(history.model_dump_json())
        return [getattr(c, "id", None) for e in again.messages for c in getattr(e["tool_calls"], "tool_calls", [])]

    assert [] == ids(dspy)  # the calls come back as plain dicts
    assert ["c1", "c2"] == ids(reasonact)


def test_ids_stay_unique_when_a_run_goes_on():
    def ids(library: Any) -> list[str]:
        script = (turn("t", Call("search", {"query": "a"})), submit(answer="1"))
        first = make(library, "ReActV2", *script)().history
        second = make(library, "ReActV2", *script)(question="more?", history=first).history
        return [result.call_id for result in results(second)]

    assert ["call_0_0", "call_1_0", "call_0_0", "call_1_0"] == ids(dspy)
    own = ids(reasonact)
    assert ["call_0_0", "call_1_0"] == own[:2]
    assert 4 == len(set(own))


def test_a_call_without_a_result_gets_an_interrupted_one():
    def sent(library: Any) -> list[str]:
        calls = library.ToolCalls.from_dict_list([{"id": "x1", "name": "search", "args": {"query": "a"}}])
        past = library.History(messages=[{"question": "before", "tool_calls": calls}])
        played = make(library, "ReActV2", submit("c1", answer="42"), adapter="chat native")
        played(question="q?", history=past)
        return [message["role"] for message in played.requests[0]["messages"]]

    assert "tool" not in sent(dspy)
    assert ["system", "user", "assistant", "tool", "user"] == sent(reasonact)


# Ends


def test_a_run_that_cannot_submit_returns_its_work():
    script = (turn("t", Call("search", {"query": "a"}, "c1")), turn("I know it."), turn("I do."))
    with pytest.raises(ValueError, match="empty_tool_calls"):
        make(dspy, "ReActV2", *script)()
    prediction = make(reasonact, "ReActV2", *script)()
    assert "empty_tool_calls" == prediction.termination_reason
    assert ["history", "termination_reason"] == list(prediction.keys())
    assert ["3 pages on a"] == [result.value for result in results(prediction.history)]
    with pytest.raises(AttributeError, match="empty_tool_calls"):
        prediction.answer


def test_a_run_that_cannot_submit_raises_by_the_switch():
    script = (turn("I know it."), turn("I do."))
    with pytest.raises(ValueError, match="empty_tool_calls") as error:
        make(reasonact, "ReActV2", *script, strict=True)()
    assert error.value.history is not None


@pytest.mark.parametrize(
    "bad",
    [
        step("t", "fly", to="Bern"),
        Raw("I would rather not."),
        Raw("[[ ## next_thought ## ]]\nhm\n\n[[ ## completed ## ]]"),
    ],
    ids=["unknown tool", "no step", "half a step"],
)
def test_a_malformed_step_is_answered_by_a_correction(bad):
    with pytest.raises(dspy.AdapterParseError):
        make(dspy, "ReAct", bad, bad, FINISH, ANSWER)()
    prediction = make(reasonact, "ReAct", bad, bad, FINISH, ANSWER)()
    assert "42" == prediction.answer
    assert "search" in prediction.trajectory["observation_0"]  # it says which tools there are
    assert "Completed." == prediction.trajectory["observation_1"]


def test_three_malformed_steps_end_the_loop_and_the_extractor_still_runs():
    bad = Raw("no")
    prediction = make(reasonact, "ReAct", *[bad] * 6, ANSWER)()
    assert ("bad_steps", "42") == (prediction.termination_reason, prediction.answer)


def test_a_malformed_step_raises_by_the_switch():
    with pytest.raises(reasonact.AdapterParseError):
        make(reasonact, "ReAct", Raw("no"), Raw("no"), max_bad_steps=0)()


def test_finish_with_arguments_is_no_error():
    script = (step("t", "finish", answer="42"), ANSWER)
    assert "Execution error" in make(dspy, "ReAct", *script)().trajectory["observation_0"]
    assert "Completed." == make(reasonact, "ReAct", *script)().trajectory["observation_0"]


def test_the_end_of_a_react_run_has_a_reason_that_is_no_field():
    script = (step("t", "search", query="a"), ANSWER)
    theirs = make(dspy, "ReAct", *script, max_iters=1)()
    with pytest.raises(AttributeError):
        theirs.termination_reason
    own = make(reasonact, "ReAct", *script, max_iters=1)()
    assert "max_iters" == own.termination_reason
    assert list(theirs.keys()) == list(own.keys())


@pytest.mark.parametrize("agent", ["ReAct", "ReActV2"])
def test_a_model_error_carries_the_work_so_far(agent):
    script = (
        (step("t", "search", query="a"), Fault("away"))
        if agent == "ReAct"
        else (turn("t", Call("search", {"query": "a"}, "c1")), Fault("away"))
    )
    with pytest.raises(RuntimeError) as lost:
        make(dspy, agent, *script)()
    assert not hasattr(lost.value, "history")
    with pytest.raises(RuntimeError) as kept:
        make(reasonact, agent, *script)()
    assert ["3 pages on a"] == [result.value for result in results(kept.value.history)]
    played = make(reasonact, agent, *((FINISH, ANSWER) if agent == "ReAct" else (submit("c2", answer="42"),)))
    with reasonact.context(lm=played.lm, adapter=reasonact.ChatAdapter()):
        assert "42" == played.program.resume(kept.value.state).answer


# Turns


def test_error_text_is_one_short_line():
    def text(library: Any) -> str:
        return make(library, "ReAct", step("t", "divide", a=1, b=0), FINISH, ANSWER, tools=[divide])().trajectory[
            "observation_0"
        ]

    assert "Traceback" in text(dspy) and __file__.rsplit("/", 1)[0] in text(dspy)
    assert 1 == len(text(reasonact).splitlines())
    for part in ("divide", "ValueError", "cannot divide by nothing"):
        assert part in text(reasonact)
    with reasonact.context(error_traceback_frames=5):
        assert "scenarios.py" in text(reasonact)


def test_the_first_valid_submit_wins():
    script = (turn("t", Call("submit", {"answer": "1"}, "c1"), Call("submit", {"answer": "2"}, "c2")),)
    theirs, own = make(dspy, "ReActV2", *script)(), make(reasonact, "ReActV2", *script)()
    assert ("2", [False, False]) == (theirs.answer, [r.is_error for r in results(theirs.history)])
    assert ("1", [False, True]) == (own.answer, [r.is_error for r in results(own.history)])


def test_a_native_call_whose_arguments_are_no_json_does_not_run():
    ran: list[str] = []

    def note(text: str = "nothing") -> str:
        ran.append(text)
        return text

    script = (turn(None, Call("note", "{oops", "c1")), submit("c2", answer="42"))
    make(dspy, "ReActV2", *script, tools=[note], adapter="chat native")()
    assert ["nothing"] == ran
    prediction = make(reasonact, "ReActV2", *script, tools=[note], adapter="chat native")()
    assert ["nothing"] == ran
    assert ("c1", True) == (results(prediction.history)[0].call_id, results(prediction.history)[0].is_error)


def test_an_argument_is_converted_where_that_is_unambiguous():
    script = (step("t", "divide", a="8", b=2), FINISH, ANSWER)
    assert "Execution error" in make(dspy, "ReAct", *script, tools=[divide])().trajectory["observation_0"]
    assert 4 == make(reasonact, "ReAct", *script, tools=[divide])().trajectory["observation_0"]
    strict = reasonact.Tool(divide, strict=True)
    assert 4 != make(reasonact, "ReAct", *script, tools=[strict])().trajectory["observation_0"]


def test_a_long_result_is_cut_with_a_note():
    def pour() -> str:
        return "x" * 150_000

    def sent(library: Any, **options: Any) -> str:
        played = make(library, "ReAct", step("t", "pour"), FINISH, ANSWER, tools=[pour], **options)
        played()
        return played.requests[1]["messages"][-1]["content"]

    assert 150_000 < len(sent(dspy))
    assert 100_000 < len(sent(reasonact)) < 102_000
    assert 150_000 < len(sent(reasonact, max_result_chars=None))


def test_a_turn_without_calls_is_kept():
    script = (turn("I know it."), submit("c1", answer="42"))
    theirs, own = make(dspy, "ReActV2", *script)(), make(reasonact, "ReActV2", *script)()
    assert 1 == len(theirs.history.messages)
    assert ["I know it.", "That is all."] == [str(plain(e["next_thought"])) for e in own.history.messages]


def test_text_beside_native_calls_is_the_thought():
    script = (Turn("I look.", (Call("search", {"query": "a"}, "c1"),), marked=False), submit("c2", answer="42"))

    def thought_and_replay(library: Any) -> tuple[Any, Any]:
        played = make(library, "ReActV2", *script, adapter="chat native")
        event = played().history.messages[0]
        replay = next(m for m in played.requests[1]["messages"] if m["role"] == "assistant")
        return plain(event.get("next_thought")), replay["content"]

    assert (None, None) == thought_and_replay(dspy)
    assert ("I look.", "I look.") == thought_and_replay(reasonact)


def markers_asked_for(library: Any, adapter: str) -> list[str]:
    played = make(library, "ReActV2", submit("c1", answer="42"), adapter=adapter)
    played()
    return re.findall(r"next_thought|tool_calls", "".join(m["content"] for m in played.requests[0]["messages"]))


def test_native_turns_are_asked_for_no_marker():
    assert "next_thought" in markers_asked_for(dspy, "chat native")
    assert [] == markers_asked_for(reasonact, "chat native")


@pytest.mark.parametrize("adapter", ["chat", "json", "chat native", "json native"])
def test_a_request_begins_with_the_whole_request_before_it(adapter):
    script = (*(turn(f"t{i}", Call("search", {"query": str(i)}, f"c{i}")) for i in range(4)), submit("c9", answer="42"))

    def appended(library: Any) -> list[bool]:
        played = make(library, "ReActV2", *script, adapter=adapter)
        played()
        sent = [request["messages"] for request in played.requests]
        return [later[: len(earlier)] == earlier for earlier, later in pairwise(sent)]

    assert not all(appended(dspy))
    assert [True] * 4 == appended(reasonact)


def test_a_text_mode_forced_submit_is_asked_for_in_words():
    def last_message(library: Any) -> str:
        script = (turn("t", Call("search", {"query": "a"}, "c1")), submit("c2", answer="42"))
        played = make(library, "ReActV2", *script, max_iters=1)
        prediction = played()
        assert "tool_choice" not in played.requests[-1]["options"]
        assert 2 == len(prediction.history.messages)
        return re.sub(r"^.*?\n\n", "", played.requests[-1]["messages"][-1]["content"], flags=re.DOTALL)

    assert "`submit`" not in last_message(dspy)
    assert "`submit`" in last_message(reasonact)


def test_null_in_an_optional_text_is_none():
    def mayor(library: Any) -> Any:
        signature = library.Signature({"q": (str, library.InputField()), "mayor": (str | None, library.OutputField())})
        lm = scripted_lm(library, Scenario("", "Predict", "", (Fields({"mayor": None}),)), "chat")
        with library.context(lm=lm, adapter=library.ChatAdapter()):
            return library.Predict(signature)(q="q?").mayor

    assert "null" == mayor(dspy)
    assert None is mayor(reasonact)


def test_a_list_in_a_text_field_is_json():
    def listing() -> list[Any]:
        return ["a", "b"]

    def sent(library: Any) -> str:
        played = make(library, "ReAct", step("t", "listing"), FINISH, ANSWER, tools=[listing])
        played()
        return played.requests[1]["messages"][-1]["content"]

    assert "[1] «" in sent(dspy)
    assert '["a", "b"]' in sent(reasonact)


def test_the_answer_of_a_plain_event_is_replayed():
    def sent(library: Any) -> str:
        past = library.History(messages=[{"question": "before", "answer": "earlier answer"}])
        played = make(library, "ReActV2", submit("c1", answer="42"))
        played(question="q?", history=past)
        return json.dumps(played.requests[0]["messages"])

    assert "earlier answer" not in sent(dspy)
    assert "earlier answer" in sent(reasonact)


def test_the_schema_of_submit_tells_what_a_field_is():
    def description(library: Any) -> Any:
        signature = library.Signature(
            {"q": (str, library.InputField()), "n": (int, library.OutputField(desc="how many"))}
        )
        submit_tool = library.ReActV2(signature, tools=[]).tools["submit"]
        return submit_tool.format_as_litellm_function_call()["function"]["parameters"]["properties"]["n"].get(
            "description"
        )

    assert None is description(dspy)
    assert "how many" == description(reasonact)


# A full context


def test_react_goes_on_as_long_as_the_view_shrinks():
    steps = [step("t", "search", query=str(i)) for i in range(6)]
    with pytest.raises(dspy.AdapterParseError):  # DSPy is at its extractor already, which cannot read a step
        make(dspy, "ReAct", *steps, *[Fault()] * 4, FINISH, FINISH, ANSWER)()
    prediction = make(reasonact, "ReAct", *steps, *[Fault()] * 4, FINISH, ANSWER)()
    assert ("finish", "42") == (prediction.termination_reason, prediction.answer)
    assert ["thought_4", "thought_5", "thought_6"] == [k for k in prediction.trajectory if k.startswith("thought")]
    assert 7 == len(results(prediction.history))


def test_a_full_context_ends_in_a_forced_submit_on_a_shorter_view():
    script = (
        *(turn("t" * 50, Call("search", {"query": str(i)}, f"c{i}")) for i in range(3)),
        Fault(),
        submit("c9", answer="42"),
    )

    def lengths(library: Any) -> list[int]:
        played = make(library, "ReActV2", *script)
        assert "forced_submit" == played().termination_reason
        return [len(json.dumps(request["messages"])) for request in played.requests[-2:]]

    overflowing, forced = lengths(dspy)
    assert overflowing == forced
    overflowing, forced = lengths(reasonact)
    assert overflowing > forced


# Tools


def test_sync_tools_leave_the_event_loop_free():
    def place() -> bool:
        """Tell where this runs."""
        return threading.current_thread() is threading.main_thread()

    script = (step("t", "place"), FINISH, ANSWER)
    observed = [
        asyncio.run(make(library, "ReAct", *script, tools=[place], **options).acall()).trajectory["observation_0"]
        for library, options in ((dspy, {}), (reasonact, {}), (reasonact, {"sync_tools": "inline"}))
    ]
    assert [True, False, True] == observed


def test_async_tools_run_in_sync_code_inside_a_running_loop():
    async def fetch(url: str) -> str:
        return f"page {url}"

    script = (step("t", "fetch", url="u"), FINISH, ANSWER)

    async def notebook(library: Any) -> str:
        with library.context(allow_tool_async_sync_conversion=True):
            return make(library, "ReAct", *script, tools=[fetch])().trajectory["observation_0"]

    assert "Execution error" in asyncio.run(notebook(dspy))
    assert "page u" == asyncio.run(notebook(reasonact))


class Leaf(BaseModel):
    size: int


class Branch(BaseModel):
    leaves: list[Leaf]


def test_nested_definitions_of_submit_stand_at_the_root():
    def schema(library: Any) -> dict[str, Any]:
        signature = library.Signature({"q": (str, library.InputField()), "branch": (Branch, library.OutputField())})
        agent = library.ReActV2(signature, tools=[])
        return agent.tools["submit"].format_as_litellm_function_call()["function"]["parameters"]

    def unresolved(schema: dict[str, Any]) -> set[str]:
        wanted = set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema)))
        return wanted - set(schema.get("$defs", {}))

    assert set() != unresolved(schema(dspy))
    assert set() == unresolved(schema(reasonact))


@pytest.mark.parametrize("agent", ["ReAct", "ReActV2"])
def test_two_tools_of_one_name_are_an_error_at_construction(agent):
    assert getattr(dspy, agent)("question -> answer", tools=[search, search])
    with pytest.raises(ValueError, match="search"):
        getattr(reasonact, agent)("question -> answer", tools=[search, search])


def test_a_tool_named_finish_is_an_error_at_construction():
    named = dspy.Tool(search, name="finish")
    assert named is not dspy.ReAct("question -> answer", tools=[named]).tools["finish"]
    with pytest.raises(ValueError, match="finish"):
        reasonact.ReAct("question -> answer", tools=[reasonact.Tool(search, name="finish")])


# Import


def test_the_import_brings_in_no_library_before_its_first_use():
    def libraries(name: str) -> set[str]:
        program = f"import sys, {name} as d; d.ReAct, d.ReActV2, d.LM; print(*{{m.split('.')[0] for m in sys.modules}})"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, text=True
        )
        return set(done.stdout.split())

    used_later = {"json_repair", "jsonschema", "tqdm", "requests"}
    assert used_later == used_later & libraries("dspy")
    assert set() == (used_later | {"litellm", "openai", "httpx", "tenacity", "rich"}) & libraries("reasonact")


# The page


def test_every_function_that_settles_a_difference_stands_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    assert [] == [f.__name__ for f in DIFFERENCES if f"differences.py::{f.__name__}`" not in page]
