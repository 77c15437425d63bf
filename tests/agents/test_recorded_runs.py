"""What a run tells afterwards: its record, its prompts again, and the ways to show it."""

from __future__ import annotations

import copy
import enum
import io
import json
import pickle
from typing import Any, Literal

import pydantic
import pytest
from agent_scripts import (
    WAYS,
    Played,
    extracted,
    fields,
    full,
    look_up,
    native,
    react,
    react_v2,
    step,
    submit,
    turn,
)

import reasonact
from reasonact.testing import ScriptedLM
from reasonact.view.log import RunLog
from reasonact.view.prompts import prompts_of
from reasonact.view.record import RunRecord

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 64},
}


class Place(pydantic.BaseModel):
    """A place on a map."""

    name: str
    at: tuple[float, float]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Hard(reasonact.Signature):
    """Answer with all kinds of values."""

    question: str = reasonact.InputField(desc="what is asked")
    places: list[Place] = reasonact.InputField()
    hint: int | None = reasonact.InputField(default=3)
    where: Place = reasonact.OutputField(desc="the place")
    colour: Colour = reasonact.OutputField()
    mood: Literal["calm", "wild"] = reasonact.OutputField()
    count: int = reasonact.OutputField(ge=0, le=9)
    notes: dict[str, list[int]] = reasonact.OutputField()


HARD_INPUTS: dict[str, Any] = {"question": "where?", "places": [Place(name="A", at=(1.0, 2.0))]}
HARD_OUTPUTS: dict[str, Any] = {
    "where": {"name": "B", "at": [3, 4]},
    "colour": "blue",
    "mood": "calm",
    "count": 2,
    "notes": {"x": [1]},
}


def ended(play: Played, **inputs: Any) -> Any:
    """The prediction or the exception of a run: whatever carries what it left behind."""
    try:
        return play(**inputs)
    except Exception as error:
        return error


def read_back(found: Any) -> RunRecord:
    record = RunRecord.from_json(found.run.record.to_json())
    assert found.run.record == record
    return record


def sent(play: Played) -> list[Any]:
    return [request.messages for request in play.lm.requests]


def pictures(topic: str) -> Any:
    """A picture of a topic."""
    return ["seen", reasonact.Image("data:image/png;base64,AAAA")]


def numbers(count: int, step: float = 1.5, where: Place | None = None) -> list[float]:
    """Count up."""
    return [number * step for number in range(count)]


def fail(topic: str) -> str:
    """Always fails."""
    raise OSError(f"no {topic}")


TOOLS = [look_up, numbers, pictures, fail]


def react_steps() -> list[Any]:
    return [
        step("first", "look_up", topic="äöü 🦊"),
        step("then", "numbers", count=3),
        step("", "fail", topic="luck"),
        "no form at all",
        "nor here",
        step("Unknown", "nothing", x=1),
        '{"next_thought": "x", "next_tool_name": "nothing", "next_tool_args": {}}',
        step("enough", "finish"),
        extracted(answer="42"),
    ]


def v2_turns() -> list[Any]:
    return [
        turn("first", ("look_up", {"topic": "äöü 🦊"}), ("numbers", {"count": 3})),
        turn(None, ("fail", {"topic": "luck"}), ("nothing", {})),
        submit(wrong=1),
        submit(answer="42"),
    ]


def v2_native() -> list[Any]:
    return [
        native("first", (None, "look_up", {"topic": "a"}), ("x1", "pictures", {"topic": "b"})),
        native(None, (None, "numbers", "{no json")),
        native("done", (None, "submit", {"answer": "42"})),
    ]


RUNS: dict[str, Any] = {
    "ReAct": lambda: (react(react_steps(), TOOLS), {"question": "q"}),
    "ReActV2 in text": lambda: (react_v2(v2_turns(), TOOLS), {"question": "q"}),
    "ReActV2 native": lambda: (react_v2(v2_native(), TOOLS, native=True), {"question": "q"}),
    "a forced submit in text": lambda: (
        react_v2([turn("a", ("look_up", {"topic": "x"})), submit(answer="1")], max_iters=1),
        {"question": "q"},
    ),
    "a forced submit, native": lambda: (
        react_v2([native("idle"), native(None, (None, "submit", {"answer": "1"}))], native=True),
        {"question": "q"},
    ),
    "an unreadable turn": lambda: (
        react_v2([turn("a", ("look_up", {"topic": "x"})), "huh", "still", submit(answer="1")]),
        {"question": "q"},
    ),
    "a corrected turn": lambda: (
        react_v2(["huh", "still", submit(answer="1")], max_bad_steps=2),
        {"question": "q"},
    ),
    "hard types in ReAct": lambda: (
        react([step("a", "finish"), extracted(**{k: _written(v) for k, v in HARD_OUTPUTS.items()})], signature=Hard),
        HARD_INPUTS,
    ),
    "hard types in ReActV2": lambda: (
        react_v2([turn("a", ("look_up", {"topic": "x"})), submit(**HARD_OUTPUTS)], signature=Hard),
        HARD_INPUTS,
    ),
    "a run without inputs": lambda: (react_v2([submit(answer="1")], signature=" -> answer"), {}),
    "a run that goes on from a history": lambda: (
        react_v2([turn("a", ("look_up", {"topic": "x"})), submit(answer="2")]),
        {"question": "q", "history": {"messages": [{"question": "before", "answer": "1"}]}},
    ),
    "long results": lambda: (
        react_v2(
            [turn("a", ("look_up", {"topic": "x" * 500})), submit(answer="2")], max_result_chars=100, parallel_tools=2
        ),
        {"question": "q"},
    ),
    "long observations": lambda: (
        react(
            [step("a", "look_up", topic="x" * 500), step("b", "finish"), extracted(answer="2")], max_result_chars=100
        ),
        {"question": "q"},
    ),
    "tools of the call": lambda: (
        react_v2([turn("a", ("numbers", {"count": 1})), submit(answer="2")]),
        {"question": "q", "tools": [numbers]},
    ),
    "tools of the call in ReAct": lambda: (
        react([step("a", "numbers", count=1), step("b", "finish"), extracted(answer="2")]),
        {"question": "q", "tools": [numbers]},
    ),
    "a full context in ReAct": lambda: (
        react(
            [
                *(step(str(number), "look_up", topic=str(number)) for number in range(3)),
                full(),
                step("b", "look_up", topic="later"),
                step("b", "finish"),
                extracted(answer="2"),
            ]
        ),
        {"question": "q"},
    ),
    "a full context in ReActV2": lambda: (
        react_v2(
            [
                *(turn(str(number), ("look_up", {"topic": str(number)})) for number in range(4)),
                full(),
                turn("x", ("look_up", {"topic": "y"})),
                submit(answer="2"),
            ],
            on_overflow=reasonact.drop_oldest_turns,
        ),
        {"question": "q"},
    ),
    "a full context that forces the submit": lambda: (
        react_v2(
            [
                *(turn(str(number), ("look_up", {"topic": str(number)})) for number in range(4)),
                full(),
                submit(answer="2"),
            ]
        ),
        {"question": "q"},
    ),
    "a model that fails": lambda: (
        react_v2([turn("a", ("look_up", {"topic": "x"})), RuntimeError("gone")]),
        {"question": "q"},
    ),
}


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("name", RUNS)
def test_every_prompt_of_a_run_is_written_again_from_its_stored_record(name: str) -> None:
    play, inputs = RUNS[name]()
    record = read_back(ended(play, **inputs))
    prompts = list(prompts_of(record))
    assert [None] * len(prompts) == [prompt.problem for prompt in prompts]
    assert sent(play) == [list(prompt.messages) for prompt in prompts]


@pytest.mark.parametrize(
    "adapter",
    [
        reasonact.ChatAdapter(),
        reasonact.JSONAdapter(),
        reasonact.JSONAdapter(use_native_function_calling=False),
        reasonact.XMLAdapter(),
        reasonact.TextProtocolAdapter(),
    ],
    ids=["Chat", "JSON", "JSON without native tools", "XML", "text protocol"],
)
@pytest.mark.parametrize("kind", ["ReAct", "ReActV2"])
def test_prompts_are_written_again_by_the_adapter_of_the_run(adapter: Any, kind: str) -> None:
    make = react if kind == "ReAct" else react_v2
    hard = not isinstance(adapter, reasonact.XMLAdapter)
    signature = Hard if hard else "question: str, places: list[int] -> answer: list[str], mood: Literal['a', 'b']"
    play = make([*react_steps()[:3], "nothing to read"] * 2, TOOLS, signature=signature, max_iters=2)
    play.adapter = adapter
    record = read_back(ended(play, **(HARD_INPUTS if hard else {"question": "q", "places": [1, 2]})))
    assert type(adapter).__name__ == record.rendering.adapter
    again = [list(prompt.messages) for prompt in prompts_of(record)]
    assert sent(play)[: len(again)] == again
    assert len(again) >= 2


def test_tags_within_types_of_the_programs_own_are_said_to_differ() -> None:
    play = react_v2([submit(**HARD_OUTPUTS)], signature=Hard)
    play.adapter = reasonact.XMLAdapter()
    prompts = list(prompts_of(ended(play, **HARD_INPUTS).run.record))
    assert [prompt.form == "first" for prompt in prompts] == ["own types" in str(prompt.problem) for prompt in prompts]


def test_demos_and_reasoning_models_are_part_of_the_prompts() -> None:
    play = react([step("a", "finish"), extracted(answer="1")])
    play.agent.react.demos = [reasonact.Example(question="d", trajectory="", next_thought="t", next_tool_name="finish")]
    play.agent.extract.predict.demos = [{"question": "d", "answer": "e", "reasoning": "f", "trajectory": "g"}]
    record = read_back(play(question="q"))
    assert sent(play) == [list(prompt.messages) for prompt in prompts_of(record)]

    agent = reasonact.ReActV2("question -> answer", [look_up])
    thinking = Played(agent, ScriptedLM([fields(tool_calls='{"tool_calls": []}'), submit(answer="1")], reasoning=True))
    record = read_back(thinking(question="q"))
    assert sent(thinking) == [list(prompt.messages) for prompt in prompts_of(record)]


def test_a_request_continues_the_one_before_it() -> None:
    play, inputs = RUNS["ReActV2 native"]()
    prompts = list(prompts_of(play(**inputs).run.record))
    assert [(None, 0), (0, 2), (1, len(prompts[1].messages))] == [(item.base, item.kept) for item in prompts]
    assert [len(item.messages) - item.kept for item in prompts] == [item.asked.new_messages for item in prompts]


def test_a_shape_of_the_programs_own_is_not_guessed() -> None:
    class Own(reasonact.ReAct):
        def _format_trajectory(self, trajectory: Any) -> str:
            return f"{len(trajectory)} values"

    class Cut(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: Any) -> Any:
            return dict.fromkeys(trajectory, "...")

    steps = [step("a", "look_up", topic="x"), step("b", "finish"), extracted(answer="1")]
    record = Played(Own("question -> answer", [look_up]), ScriptedLM(steps))(question="q").run.record
    assert [True] * 3 == ["own hook" in (prompt.problem or "") for prompt in prompts_of(record)]
    steps[1:1] = [full()]
    record = Played(Cut("question -> answer", [look_up]), ScriptedLM(steps))(question="q").run.record
    told = ["own hook" in (prompt.problem or "") for prompt in prompts_of(record)]
    assert [False, False, True, True] == told


def test_an_adapter_of_the_programs_own_is_named_and_what_may_differ_is_said() -> None:
    class Loud(reasonact.ChatAdapter):
        def user_message_output_requirements(self, signature: Any) -> str:
            return super().user_message_output_requirements(signature).upper()

    class Foreign(reasonact.Adapter):
        pass

    play = react_v2([submit(answer="1")])
    play.adapter = Loud()
    (prompt,) = prompts_of(play(question="q").run.record)
    assert "Written by ChatAdapter; Loud may have put some of it otherwise." == prompt.problem
    assert 2 == len(prompt.messages)
    play = react_v2([submit(answer="1")])
    play.adapter = Foreign()
    record = ended(play, question="q").run.record
    assert record.rendering.base is None
    assert [()] == [prompt.messages for prompt in prompts_of(record)]


@pytest.mark.parametrize("how", WAYS)
def test_turns_have_tokens_time_and_requests(how: str) -> None:
    agent = reasonact.ReActV2("question -> answer", [look_up])
    play = Played(agent, ScriptedLM([turn("a", ("look_up", {"topic": "x"})), submit(answer="1")], usage=USAGE), how)
    prediction = play(question="q")
    record = read_back(prediction)
    assert [(100, 64, 10), (100, 64, 10)] == [
        (turn.spent.prompt, turn.spent.cached, turn.spent.completion) for turn in record.turns
    ]
    assert [2, 2] == [asked.new_messages for turn in record.turns for asked in turn.requests]
    assert [1, 1] == [turn.events for turn in record.turns]
    assert record.totals.total_tokens == prediction.usage.total_tokens == 220
    assert all(turn.seconds is not None and turn.seconds >= 0 for turn in record.turns)
    assert ("submit", {"answer": "1"}) == (record.termination_reason, record.outputs)


def test_model_calls_inside_a_tool_count_for_the_turn_and_are_no_requests_of_the_loop() -> None:
    inner = ScriptedLM(["an answer"], usage=USAGE)

    def ask(topic: str) -> str:
        """Ask another model."""
        return str(inner(topic)[0])

    play = react_v2([turn("a", ("ask", {"topic": "x"})), submit(answer="1")], [ask])
    first = read_back(play(question="q")).turns[0]
    assert (2, 1, 100) == (first.calls, len(first.requests), first.spent.prompt)


@pytest.mark.parametrize("make", [react, react_v2])
def test_a_run_that_failed_has_a_record_too(make: Any) -> None:
    begin = step("a", "look_up", topic="x") if make is react else turn("a", ("look_up", {"topic": "x"}))
    with pytest.raises(RuntimeError, match="the line is dead") as failed:
        make([begin, RuntimeError("the line is dead")])(question="q")
    record = read_back(failed.value)
    assert record.error is not None
    assert ("RuntimeError", "the line is dead") == (record.error.kind, record.error.message)
    assert ([True, False], None, {}) == (
        [turn.finished for turn in record.turns],
        record.termination_reason,
        record.outputs,
    )
    assert "RuntimeError" == record.turns[-1].requests[-1].error
    assert 1 == failed.value.usage.calls  # type: ignore[attr-defined]


def test_a_paused_run_shows_what_waits_and_a_resumed_one_the_whole() -> None:
    tool = reasonact.Tool(look_up, require_confirmation=True)
    script = [turn("first", ("numbers", {"count": 1})), turn("then", ("look_up", {"topic": "x"})), submit(answer="1")]
    agent = reasonact.ReActV2("question -> answer", [tool, numbers])
    play = Played(agent, ScriptedLM(script, usage=USAGE))
    with pytest.raises(reasonact.ConfirmationRequired) as paused:
        play(question="q")
    record = read_back(paused.value)
    assert record.pending is not None
    assert "look_up" == record.pending["tool_calls"]["tool_calls"][0]["name"]
    state = reasonact.RunState.from_json(paused.value.state.to_json())
    record = read_back(play.resume(reasonact.Approve(), state))
    assert record.pending is None
    assert [(1, 110), (1, 110), (1, 110)] == [
        (turn.calls, turn.spent.prompt + turn.spent.completion) for turn in record.turns
    ]
    assert sent(play) == [list(prompt.messages) for prompt in prompts_of(record)]


def test_a_stored_field_wins_over_what_shows_a_run() -> None:
    prediction = react_v2([submit(show="a play", run="a race")], signature="question -> show, run")(question="q")
    assert ("a play", "a race") == (prediction.show, prediction.run)
    assert {"show", "run", "history", "termination_reason"} == set(prediction.keys())


def test_what_shows_a_run_is_no_field() -> None:
    prediction = react_v2([submit(answer="1")])(question="q")
    assert ["answer", "history", "termination_reason"] == list(prediction.keys())
    assert "RecordedRun" not in repr(prediction)


def test_a_prediction_with_its_run_is_copied_and_pickled() -> None:
    prediction = react_v2([turn("a", ("look_up", {"topic": "x"})), submit(answer="1")])(question="q")
    record = prediction.run.record
    for other in (copy.deepcopy(prediction), copy.copy(prediction), pickle.loads(pickle.dumps(prediction))):
        assert record == other.run.record
        out = io.StringIO()
        other.show(out)
        assert "look_up" in out.getvalue()


def test_a_failure_with_its_run_is_pickled() -> None:
    error = ended(react_v2([reasonact.LMServerError("down")]), question="q")
    assert error.run.record == pickle.loads(pickle.dumps(error)).run.record


def test_a_saved_run_is_loaded_equal(tmp_path: Any) -> None:
    for name in ("ReAct", "ReActV2 native", "hard types in ReAct", "hard types in ReActV2", "a model that fails"):
        play, inputs = RUNS[name]()
        found = ended(play, **inputs)
        found.save_run(tmp_path / "run.json")
        assert found.run.record == reasonact.load_run(tmp_path / "run.json").record


def test_what_a_caller_changes_after_the_run_is_not_in_its_record() -> None:
    play = react_v2([submit(answer="1"), submit(answer="2")])
    with reasonact.context(grow_history_in_place=True):
        history = reasonact.History(messages=[])
        first = play(question="one", history=history)
        play(question="two", history=history)
    assert 2 == len(history.messages)
    assert 1 == len(first.run.record.events)


def test_the_notes_of_a_run_outlive_its_stored_state() -> None:
    play, inputs = RUNS["a full context in ReActV2"]()
    play.lm = ScriptedLM([*play.lm._script.replies[:-1], RuntimeError("gone")])
    state = ended(play, **inputs).state
    assert 1 == len(state.log.views)
    assert state.log == reasonact.RunState.from_json(state.to_json()).log
    with pytest.raises(ValueError):
        RunLog.from_data({"asked": 3})
