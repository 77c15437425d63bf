"""ReAct: ordinary runs and every way in which one ends."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from agent_scripts import WAYS, extracted, full, look_up, react, step
from pydantic import BaseModel

import reasonact
from reasonact.runtime.callbacks import BaseCallback
from reasonact.testing import ScriptedLM

SCRIPT = [step("Look.", "look_up", topic="tides"), step("Enough.", "finish"), extracted(answer="twice a day")]


@pytest.mark.parametrize("how", WAYS)
def test_a_run_gives_trajectory_reasoning_and_outputs(how: str) -> None:
    played = react(SCRIPT, how=how)
    prediction = played(question="How often?")
    assert ["trajectory", "reasoning", "answer"] == prediction.keys()
    assert {
        "thought_0": "Look.",
        "tool_name_0": "look_up",
        "tool_args_0": {"topic": "tides"},
        "observation_0": "3 pages on tides",
        "thought_1": "Enough.",
        "tool_name_1": "finish",
        "tool_args_1": {},
        "observation_1": "Completed.",
    } == prediction.trajectory
    assert list(prediction.trajectory)[:4] == ["thought_0", "tool_name_0", "tool_args_0", "observation_0"]
    assert ("twice a day", "finish") == (prediction.answer, prediction.termination_reason)
    played.lm.assert_complete()


def test_the_model_is_shown_the_steps_in_the_adapters_form() -> None:
    played = react(SCRIPT)
    played(question="How often?")
    assert [2, 2, 2] == [len(request.messages) for request in played.lm.requests]
    assert "[[ ## trajectory ## ]]" in played.lm.requests[0].messages[1]["content"]
    shown = (
        "[[ ## thought_0 ## ]]\nLook.\n\n[[ ## tool_name_0 ## ]]\nlook_up\n\n"
        '[[ ## tool_args_0 ## ]]\n{"topic": "tides"}\n\n[[ ## observation_0 ## ]]\n3 pages on tides'
    )
    assert shown in played.lm.requests[1].messages[1]["content"]
    assert shown in played.lm.requests[2].messages[1]["content"]


def test_the_history_holds_the_same_steps_as_events() -> None:
    history = react(SCRIPT)(question="How often?").history
    first, last = history.messages
    assert ["question", "next_thought", "tool_calls"] == list(first)
    assert ["next_thought", "tool_calls", "answer"] == list(last)
    assert "call_0_0" == first["tool_calls"].tool_calls[0].id
    assert "3 pages on tides" == first["tool_calls"].tool_call_results.tool_call_results[0].value
    assert "twice a day" == last["answer"]


def test_what_a_run_adds_to_the_prediction_is_no_stored_field() -> None:
    prediction = react(SCRIPT)(question="?")
    stored = reasonact.Prediction(**dict(prediction.items()))
    assert 3 == len(prediction)
    assert stored == prediction
    assert repr(stored) == repr(prediction)
    assert {"trajectory", "reasoning", "answer"} == set(prediction.toDict()) == set({**prediction})
    assert "history" not in prediction
    assert 3 == prediction.usage.calls


def test_a_stored_field_wins_over_what_a_run_adds() -> None:
    played = react(
        [step("", "finish"), extracted(history="long", usage="none", termination_reason="tired", show="x")],
        signature="question -> history, usage, termination_reason, show",
    )
    prediction = played(question="?")
    assert ("long", "none", "tired", "x") == (
        prediction.history,
        prediction.usage,
        prediction.termination_reason,
        prediction.show,
    )


def test_a_tool_that_fails_is_an_observation_of_one_line() -> None:
    def broken(topic: str) -> str:
        raise RuntimeError("no\nconnection")

    played = react([step("a", "broken", topic="x"), step("b", "finish"), extracted(answer="1")], tools=[broken])
    prediction = played(question="?")
    assert "broken: RuntimeError: no connection" == prediction.trajectory["observation_0"]
    assert [True, False] == [
        e["tool_calls"].tool_call_results.tool_call_results[0].is_error for e in prediction.history.messages
    ]


@pytest.mark.parametrize(
    "args", [{}, {"topic": "x", "other": 1}, {"topic": {"no": "text"}}], ids=["missing", "undeclared", "malformed"]
)
def test_an_argument_that_does_not_fit_is_an_observation_and_the_tool_does_not_run(args: dict[str, Any]) -> None:
    ran = []

    def note(topic: str) -> str:
        ran.append(topic)
        return "ok"

    played = react([step("a", "note", **args), step("b", "finish"), extracted(answer="1")], tools=[note])
    observation = played(question="?").trajectory["observation_0"]
    assert [] == ran
    assert observation.startswith("note: InvalidArguments: argument ")


def test_tool_values_stay_values_in_trajectory_and_history() -> None:
    class Point(BaseModel):
        x: int

    def locate() -> Point:
        return Point(x=3)

    prediction = react([step("a", "locate"), step("b", "finish"), extracted(answer="1")], tools=[locate])(question="?")
    assert Point(x=3) == prediction.trajectory["observation_0"]
    assert Point(x=3) == prediction.history.messages[0]["tool_calls"].tool_call_results.tool_call_results[0].value


def test_finish_overlooks_the_values_it_is_given() -> None:
    prediction = react([step("a", "finish", answer="42"), extracted(answer="42")])(question="?")
    assert ("Completed.", {"answer": "42"}) == (
        prediction.trajectory["observation_0"],
        prediction.trajectory["tool_args_0"],
    )


# The ends of a run


def test_max_iters_ends_the_loop_and_the_extractor_runs() -> None:
    prediction = react([SCRIPT[0], SCRIPT[0], extracted(answer="1")], max_iters=2)(question="?")
    assert ("max_iters", 8, "1") == (prediction.termination_reason, len(prediction.trajectory), prediction.answer)
    assert {"answer": "1"} == prediction.history.messages[-1]


def test_max_iters_of_one_call_goes_before_the_agents_own() -> None:
    prediction = react([extracted(answer="1")], max_iters=5)(question="?", max_iters=0)
    assert ("max_iters", {}) == (prediction.termination_reason, prediction.trajectory)
    assert [{"question": "?", "answer": "1"}] == prediction.history.messages


@pytest.mark.parametrize("wrong", [-1, "3", 1.5, True])
def test_a_max_iters_that_is_no_number_of_turns_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="max_iters"):
        react([], max_iters=wrong)
    with pytest.raises((TypeError, ValueError), match="max_iters"):
        react([])(question="?", max_iters=wrong)


def test_a_context_that_is_full_at_the_first_step_ends_in_the_extractor() -> None:
    played = react([full(), extracted(answer="1")])
    prediction = played(question="?")
    assert ("context_window_exceeded", {}, "1") == (
        prediction.termination_reason,
        prediction.trajectory,
        prediction.answer,
    )
    assert 2 == len(played.lm.requests)


# One call's own settings


def test_tools_of_one_call_add_to_and_replace_the_agents_own() -> None:
    def look_up(topic: str) -> str:
        return "replaced"

    def extra() -> str:
        return "extra"

    script = [step("a", "look_up", topic="x"), step("b", "extra"), step("c", "finish"), extracted(answer="1")]
    played = react([*script, *script[:2], *script[1:]])  # the unknown tool is asked for again, as JSON
    prediction = played(question="?", tools=[look_up, extra])
    assert ["replaced", "extra"] == [prediction.trajectory[f"observation_{i}"] for i in range(2)]
    assert "(2) extra" in played.lm.requests[0].messages[0]["content"]
    assert "(3) finish" in played.lm.requests[0].messages[0]["content"]
    assert ["look_up", "finish"] == list(played.agent.tools)
    without = played(question="?")
    assert "3 pages on x" == without.trajectory["observation_0"]
    assert "`extra` is no tool" in without.trajectory["observation_1"]
    assert "extra" not in played.lm.requests[4].messages[0]["content"]


def test_an_input_named_tools_wins_over_tools_of_one_call() -> None:
    played = react([step("a", "finish"), extracted(answer="1")], signature="tools -> answer")
    played(tools="hammer, saw")
    assert "hammer, saw" in played.lm.requests[0].messages[1]["content"]


def test_lm_and_config_of_one_call_reach_both_predictors() -> None:
    own = ScriptedLM([step("a", "finish"), extracted(answer="1")])
    played = react([])
    played(question="?", lm=own, config={"temperature": 0.3})
    assert [0.3, 0.3] == [request.options["temperature"] for request in own.requests]
    assert [] == played.lm.requests


def test_an_unknown_and_a_missing_input_are_warned_of_and_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        prediction = react([step("a", "finish"), extracted(answer="1")])(qestion="typo")
    assert "1" == prediction.answer
    assert any("unknown inputs: qestion; missing inputs: question" in r.getMessage() for r in caplog.records)


def test_a_missing_input_is_told_of_by_the_agent_and_the_extractor_and_at_no_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    turns = [step("Look.", "look_up", topic=str(number)) for number in range(5)]
    with caplog.at_level(logging.WARNING, "reasonact"):
        react([*turns, step("a", "finish"), extracted(answer="1")])()
    told = [record.getMessage() for record in caplog.records]
    assert 2 == len(told)
    assert "missing inputs: question. ReAct takes question" == told[0]


def test_strict_inputs_refuse_an_unknown_input_before_any_model_call() -> None:
    played = react([])
    with reasonact.context(strict_inputs=True), pytest.raises(ValueError, match="unknown inputs: qestion"):
        played(qestion="typo")
    assert [] == played.lm.requests


# What stays where programs expect it


def test_predictors_keep_their_names_and_udspys_are_read_only() -> None:
    agent = react([]).agent
    assert ["react", "extract.predict"] == [name for name, _ in agent.named_predictors()]
    assert agent.react is agent.react_module
    assert agent.extract is agent.extract_module
    with pytest.raises(AttributeError):
        agent.react_module = None


def test_an_override_of_forward_wins_in_sync_code_and_of_aforward_in_async_code() -> None:
    class Shouting(reasonact.ReAct):
        def forward(self, **inputs: Any) -> Any:
            prediction = super().forward(**inputs)
            prediction.answer = prediction.answer.upper()
            return prediction

        async def aforward(self, **inputs: Any) -> Any:
            prediction = await super().aforward(**inputs)
            prediction.answer = prediction.answer + "!"
            return prediction

    for how, expected in (("sync", "YES"), ("async", "yes!")):
        played = react([step("a", "finish"), extracted(answer="yes")], how=how)
        played.agent = Shouting("question -> answer", [look_up])
        assert expected == played(question="?").answer


def test_an_override_of_format_trajectory_is_what_the_model_is_shown() -> None:
    class Terse(reasonact.ReAct):
        def _format_trajectory(self, trajectory: dict[str, Any]) -> str:
            return f"so far: {len(trajectory) // 4}"

    played = react(SCRIPT)
    played.agent = Terse("question -> answer", [look_up])
    played(question="?")
    assert ["so far: 0", "so far: 1", "so far: 2"] == [
        r.messages[1]["content"].split("[[ ## trajectory ## ]]\n")[1].split("\n")[0] for r in played.lm.requests
    ]


def test_a_step_predictor_put_in_the_place_of_the_own_is_called() -> None:
    class Fixed(reasonact.Module):
        def forward(self, **inputs: Any) -> Any:
            return reasonact.Prediction(next_thought="t", next_tool_name="finish", next_tool_args={})

    played = react([extracted(answer="1")])
    played.agent.react = Fixed()
    assert "finish" == played(question="?").termination_reason


class Looking(reasonact.Predict):
    def forward(self, **inputs: Any) -> Any:
        self.seen = [*getattr(self, "seen", []), inputs["trajectory"]]
        return super().forward(**inputs)


class LookingAdapter(reasonact.ChatAdapter):
    def format_user_message_content(self, signature: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        self.seen = [*getattr(self, "seen", []), inputs["trajectory"]]
        return super().format_user_message_content(signature, inputs, *args, **kwargs)


class Callback(BaseCallback):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        if "trajectory" in inputs["kwargs"]:
            self.seen.append(inputs["kwargs"]["trajectory"])


WHO_LOOKS = ("callback", "a callback of the predictor", "trace", "predictor", "adapter", "a callback of the adapter")


@pytest.mark.parametrize("who", WHO_LOOKS)
def test_whoever_looks_at_the_trajectory_of_a_step_sees_one_text(who: str) -> None:
    played, callback, trace = react(SCRIPT), Callback(), []
    if who == "callback":
        with reasonact.context(callbacks=[callback]):
            played(question="?")
        seen = callback.seen
    elif who == "a callback of the predictor":
        played.agent.react.callbacks = [callback]
        played(question="?")
        seen = callback.seen
    elif who == "trace":
        with reasonact.context(trace=trace):
            played(question="?")
        seen = [inputs["trajectory"] for _, inputs, _ in trace]
    elif who == "predictor":
        played.agent.react = Looking(played.agent.react.signature)
        played(question="?")
        seen = played.agent.react.seen
    elif who == "adapter":
        played.adapter = LookingAdapter()
        played(question="?")
        seen = played.adapter.seen
    else:
        seen = []
        callback.on_adapter_format_start = lambda call_id, instance, inputs: seen.append(inputs["inputs"]["trajectory"])
        played.adapter = reasonact.ChatAdapter(callbacks=[callback])
        played(question="?")
    assert ["", "[[ ## thought_0 ## ]]\nLook."] == [text.split("\n\n")[0] for text in seen[:2]]
    assert all(type(text) is str for text in seen)


def test_a_step_renders_what_is_new_alone() -> None:
    class Counting(reasonact.ChatAdapter):
        def field_pieces(self, field: Any, value: Any) -> Any:
            rendered.append(field.name)
            return super().field_pieces(field, value)

    rendered: list[str] = []
    played = react([*[step("t", "look_up", topic="x")] * 9, step("t", "finish"), extracted(answer="1")])
    played.adapter = Counting()
    played(question="?")
    steps = [name for name in rendered if name not in ("question", "trajectory")]
    assert [f"{key}_{n}" for n in range(10) for key in ("thought", "tool_name", "tool_args", "observation")] == steps


# Long results


def test_a_long_result_is_cut_with_a_note_for_the_model_and_kept_whole() -> None:
    def dump() -> str:
        return "x" * 50 + "y" * 50

    played = react([step("a", "dump"), step("b", "finish"), extracted(answer="1")], tools=[dump], max_result_chars=60)
    prediction = played(question="?")
    assert 100 == len(prediction.trajectory["observation_0"])
    shown = played.lm.requests[1].messages[1]["content"]
    assert "x" * 50 + "y" * 10 + "\n[... cut here: 40 of 100 characters are not shown]" in shown
    assert "y" * 11 not in shown


def test_a_long_result_that_a_hook_puts_in_its_own_view_is_cut_too() -> None:
    class Noting(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            return {"observation_0": "z" * 100, **{k: v for k, v in trajectory.items() if k.endswith("_1")}}

    def dump() -> str:
        return "x" * 100

    script = [step("a", "dump"), step("b", "dump"), full(), step("c", "finish"), extracted(answer="1")]
    played = react(script)
    played.agent = Noting("question -> answer", [dump], max_result_chars=60)
    played(question="?")
    for request in played.lm.requests[3:]:
        shown = request.messages[1]["content"]
        assert "z" * 60 + "\n[... cut here: 40" in shown
        assert "x" * 60 + "\n[... cut here: 40" in shown


def test_without_a_bound_a_long_result_is_shown_whole() -> None:
    def dump() -> str:
        return "x" * 200_000

    played = react([step("a", "dump"), step("b", "finish"), extracted(answer="1")], tools=[dump], max_result_chars=None)
    played(question="?")
    assert "x" * 200_000 in played.lm.requests[1].messages[1]["content"]


# Setup


INPUTS = (
    "trajectory", "max_iters", "config", "lm", "demos", "signature", "next_thought", "next_tool_name", "next_tool_args",
)  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_may_not_have_a_name_that_the_agent_uses(name: str) -> None:
    with pytest.raises(ValueError, match=f"ReAct uses the name '{name}' itself, so an input field cannot have it"):
        reasonact.ReAct(
            reasonact.make_signature({name: (str, reasonact.InputField()), "a": (str, reasonact.OutputField())}), []
        )


@pytest.mark.parametrize("name", ["trajectory", "signature"])
def test_an_output_may_not_have_a_name_that_the_agent_uses(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' itself, so an output"):
        reasonact.ReAct(
            reasonact.make_signature({"a": (str, reasonact.InputField()), name: (str, reasonact.OutputField())}), []
        )


@pytest.mark.parametrize("name", ["history", "tool_calls", "observation", "name", "self", "state", "run"])
def test_every_other_name_works_as_an_input(name: str) -> None:
    signature = reasonact.make_signature(
        {name: (str, reasonact.InputField()), "answer": (str, reasonact.OutputField())}
    )
    played = react([SCRIPT[0], step("b", "finish"), extracted(answer="1")], signature=signature)
    assert "1" == played(**{name: "given"}).answer
    assert "given" in played.lm.requests[0].messages[1]["content"]


@pytest.mark.parametrize(
    ("tools", "error", "says"),
    [
        ([look_up, look_up], ValueError, "two tools are named 'look_up'"),
        ([reasonact.Tool(look_up, name="finish")], ValueError, "'finish', which the agent keeps for itself"),
        ({"look_up": look_up}, TypeError, "give a list"),
        (["look_up"], TypeError, r"tools\[0\]"),
        (None, TypeError, "give a list"),
    ],
)
def test_tools_that_cannot_serve_are_refused_at_construction(tools: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        reasonact.ReAct("question -> answer", tools)


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="strict"):
        reasonact.ReAct("question -> answer", [], strict=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_bad_steps", -1),
        ("max_result_chars", 0),
        ("parallel_tools", 0),
        ("sync_tools", "fork"),
        ("limits", {"lm_calls": 1}),
        ("on_confirmation", "ask"),
    ],
)
def test_an_option_of_an_impossible_value_is_refused_at_construction(option: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=option):
        reasonact.ReAct("question -> answer", [], **{option: value})


def test_what_a_hook_changes_before_it_gives_up_is_what_the_extractor_is_shown() -> None:
    class Redacting(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            trajectory["observation_0"] = "gone"
            raise ValueError("nothing is left to take away")

    def dump() -> str:
        return "secret"

    for bound in (100, 3):  # whole, and cut
        played = react([step("a", "dump"), step("b", "dump"), full(), extracted(answer="1")])
        played.agent = Redacting("question -> answer", [dump], max_result_chars=bound)
        played(question="?")
        before, after = (request.messages[1]["content"] for request in played.lm.requests[2:])
        assert "[[ ## observation_0 ## ]]\nsec" in before
        assert "[[ ## observation_0 ## ]]\ngon" in after
        assert "[[ ## observation_1 ## ]]\nsec" in after
