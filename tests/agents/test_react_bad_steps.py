"""ReAct: steps that cannot be used, and contexts that are full."""

from __future__ import annotations

from typing import Any

import pytest
from agent_scripts import WAYS, extracted, fields, full, look_up, react, results, step

import reasonact
from reasonact.testing import ScriptedLM

END = [step("Enough.", "finish"), extracted(answer="1")]


@pytest.mark.parametrize("how", WAYS)
def test_a_step_without_any_form_becomes_a_step_with_a_correction(how: str) -> None:
    prediction = react(["I would say it is 4.", "Still 4.", *END], how=how)(question="?")
    assert ("Still 4.", "", {}) == tuple(
        prediction.trajectory[f"{key}_0"] for key in ("thought", "tool_name", "tool_args")
    )
    assert (
        "This step was not carried out: it names no tool in `next_tool_name`. "
        "Tools to choose from: `look_up`, `finish`." == prediction.trajectory["observation_0"]
    )
    assert "Completed." == prediction.trajectory["observation_1"]
    first = prediction.history.messages[0]
    assert ["question", "next_thought", "@correction"] == list(first)
    assert prediction.trajectory["observation_0"] == first["@correction"]


def test_a_second_try_without_any_form_does_not_hide_what_the_first_one_named() -> None:
    said = fields(next_thought="Hm.", next_tool_name="search", next_tool_args="{}")
    prediction = react([said, "I want to search.", *END])(question="?")
    assert ("Hm.", "search") == (prediction.trajectory["thought_0"], prediction.trajectory["tool_name_0"])


def test_an_unknown_tool_becomes_a_step_under_the_name_as_given() -> None:
    said = fields(next_thought="Hm.", next_tool_name="`Search`", next_tool_args='{"q": "x"}')
    prediction = react([said, said, *END])(question="?")
    assert ("Hm.", "`Search`", {"q": "x"}) == tuple(
        prediction.trajectory[f"{key}_0"] for key in ("thought", "tool_name", "tool_args")
    )
    assert "`Search`" in prediction.trajectory["observation_0"]
    assert "`look_up`, `finish`" in prediction.trajectory["observation_0"]
    (result, _) = results(prediction.history)
    assert (True, prediction.trajectory["observation_0"]) == (result.is_error, result.value)


def written(adapter: Any, tool: str) -> list[Any]:
    """A run's completions in an adapter's form, the tool's name spelled as given."""
    said = {"next_thought": "t", "next_tool_name": tool, "next_tool_args": {"topic": "tides"}}
    ended = {"next_thought": "t", "next_tool_name": "finish", "next_tool_args": {}}
    signature = reasonact.Signature("q -> next_thought, next_tool_name, next_tool_args: dict[str, Any]")
    answer = reasonact.Signature("q -> reasoning, answer")
    return [
        *(adapter.format_assistant_message_content(signature, outputs) for outputs in (said, ended)),
        adapter.format_assistant_message_content(answer, {"reasoning": "r", "answer": "1"}),
    ]


ADAPTERS = [
    reasonact.ChatAdapter(),
    reasonact.JSONAdapter(use_native_function_calling=False),
    reasonact.XMLAdapter(),
    reasonact.TextProtocolAdapter(),
]
SPELLINGS = [
    *("look_up()", "functions.look_up", "`functions.LOOK_UP()`", '"look_up"', "Look_Up", " look_up\n", "**look_up**"),
]


@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: type(adapter).__name__)
def test_a_tools_name_in_another_spelling_is_taken_in_one_request(adapter: Any, spelled: str) -> None:
    played = react(written(adapter, spelled))
    played.adapter = adapter
    prediction = played(question="?")
    assert ("look_up", {"topic": "tides"}, "3 pages on tides") == tuple(
        prediction.trajectory[f"{key}_0"] for key in ("tool_name", "tool_args", "observation")
    )
    assert (3, "1") == (len(played.lm.requests), prediction.answer)


def test_a_spelling_that_fits_two_tools_is_no_choice() -> None:
    def Look_up(topic: str) -> str:
        return topic

    said = fields(next_thought="Hm.", next_tool_name="LOOK_UP", next_tool_args="{}")
    prediction = react([said, said, *END], tools=[look_up, Look_up])(question="?")
    assert "LOOK_UP" == prediction.trajectory["tool_name_0"]
    assert "`LOOK_UP` is no tool" in prediction.trajectory["observation_0"]


def test_names_of_other_signatures_are_read_as_they_stand() -> None:
    predict = reasonact.Predict("q -> next_tool_name: Literal['look_up', 'finish']")
    lm = ScriptedLM([fields(next_tool_name="functions.look_up()")] * 2)
    with reasonact.context(lm=lm), pytest.raises(reasonact.AdapterParseError):
        predict(q="?")


@pytest.mark.parametrize("args", ["null", "", "[1, 2]", "topic=tides"])
def test_arguments_of_no_use_become_a_step_without_arguments(args: str) -> None:
    said = fields(next_thought="Hm.", next_tool_name="look_up", next_tool_args=args)
    prediction = react([said, said, *END])(question="?")
    assert ("Hm.", "look_up", {}) == tuple(
        prediction.trajectory[f"{key}_0"] for key in ("thought", "tool_name", "tool_args")
    )
    assert "`next_tool_args` is not one JSON object" in prediction.trajectory["observation_0"]


@pytest.mark.parametrize("bad_steps", [3, 0])
@pytest.mark.parametrize(
    "name",
    ['"look_up"', "'look_up'", "`look_up`", "look_up()", "functions.look_up", "Look_Up", "`functions.LOOK_UP()`"],
)
def test_what_models_put_around_a_name_is_overlooked(name: str, bad_steps: int) -> None:
    said = fields(next_thought="Hm.", next_tool_name=name, next_tool_args='{"topic": "x"}')

    def model(messages: list[Any], options: dict[str, Any]) -> str:
        content = messages[1]["content"]
        return END[1] if "Completed." in content else END[0] if "3 pages" in content else said

    played = react([], max_bad_steps=bad_steps)
    played.lm = ScriptedLM(model)
    prediction = played(question="?")
    assert ("look_up", "3 pages on x") == (prediction.trajectory["tool_name_0"], prediction.trajectory["observation_0"])


def test_names_that_differ_in_case_alone_are_told_apart() -> None:
    def Look_up(topic: str) -> str:
        return "other"

    said = [fields(next_thought="", next_tool_name=n, next_tool_args='{"topic": "x"}') for n in ("Look_up", "look_up")]
    prediction = react([*said, *END], tools=[look_up, Look_up])(question="?")
    assert ["other", "3 pages on x"] == [prediction.trajectory[f"observation_{i}"] for i in range(2)]


def test_a_native_call_where_text_was_expected_is_the_step() -> None:
    played = react([("Let me see.", [("c9", "look_up", {"topic": "x"})]), *END])
    prediction = played(question="?")
    assert ("Let me see.", "look_up", {"topic": "x"}, "3 pages on x") == tuple(
        prediction.trajectory[f"{key}_0"] for key in ("thought", "tool_name", "tool_args", "observation")
    )
    assert "c9" == prediction.history.messages[0]["tool_calls"].tool_calls[0].id
    played.lm.assert_complete()


def test_a_native_call_whose_arguments_are_no_json_is_a_bad_step_under_its_name() -> None:
    prediction = react([("", [("c9", "look_up", "{topic:")]), *END])(question="?")
    assert ("look_up", {}) == (prediction.trajectory["tool_name_0"], prediction.trajectory["tool_args_0"])
    assert prediction.trajectory["observation_0"].startswith("This step was not carried out: ")
    assert ("c9", True) == (results(prediction.history)[0].call_id, results(prediction.history)[0].is_error)


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_so_many_bad_steps_in_a_row_end_the_loop_and_the_extractor_runs(bound: int) -> None:
    played = react(["nothing"] * 2 * bound + [extracted(answer="1")], max_bad_steps=bound)
    prediction = played(question="?")
    assert ("bad_steps", "1", bound * 4) == (
        prediction.termination_reason,
        prediction.answer,
        len(prediction.trajectory),
    )
    assert {"answer": "1"} == prediction.history.messages[-1]
    played.lm.assert_complete()


def test_a_good_step_between_them_begins_the_count_anew() -> None:
    good = step("a", "look_up", topic="x")
    prediction = react(["no", "no", "no", "no", good, "no", "no", "no", "no", *END])(question="?")
    assert ("finish", 24) == (prediction.termination_reason, len(prediction.trajectory))


@pytest.mark.parametrize("how", ["sync", "async"])
def test_without_patience_a_bad_step_is_raised_as_in_dspy_with_the_work_on_it(how: str) -> None:
    played = react([step("a", "look_up", topic="x"), "no", "no"], max_bad_steps=0, how=how)
    with pytest.raises(reasonact.AdapterParseError) as error:
        played(question="?")
    assert "3 pages on x" == error.value.trajectory["observation_0"]
    assert ["3 pages on x"] == [item.value for item in results(error.value.history)]


def test_bad_steps_count_as_turns() -> None:
    prediction = react(["no", "no", "no", "no", extracted(answer="1")], max_iters=2)(question="?")
    assert "max_iters" == prediction.termination_reason


# Full contexts


def searches(count: int) -> list[Any]:
    return [step(f"t{i}", "look_up", topic=str(i)) for i in range(count)]


@pytest.mark.parametrize("how", WAYS)
def test_a_full_context_drops_the_oldest_steps_in_place_and_the_history_stays_whole(how: str) -> None:
    played = react([*searches(3), full(), full(), *END], how=how)
    prediction = played(question="?")
    assert ["thought_2", "thought_3"] == [key for key in prediction.trajectory if key.startswith("thought")]
    assert ["3 pages on 0", "3 pages on 1", "3 pages on 2", "Completed."] == [
        r.value for r in results(prediction.history)
    ]
    assert "finish" == prediction.termination_reason
    assert "t0" not in played.lm.requests[-1].messages[1]["content"]


def test_another_dict_is_the_view_from_then_on_and_the_trajectory_stays_whole() -> None:
    class Summarising(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            last = list(trajectory)[-4:]
            return {"summary": f"{len(trajectory) // 4} steps", **{key: trajectory[key] for key in last}}

    played = react([*searches(3), full(), searches(4)[3], *END])
    played.agent = Summarising("question -> answer", [look_up])
    prediction = played(question="?")
    assert 5 * 4 == len(prediction.trajectory)
    content = played.lm.requests[5].messages[1]["content"]
    assert "[[ ## summary ## ]]\n3 steps" in content
    assert "t0" not in content
    for request, newest in ((4, "t2"), (5, "t3"), (6, "Enough.")):
        assert newest in played.lm.requests[request].messages[1]["content"]


def test_the_returned_dict_stays_the_hooks_own() -> None:
    kept: list[dict[str, Any]] = []

    class Keeping(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            kept.append({"note": "gone"})
            return kept[-1]

    played = react([*searches(2), full(), *END])
    played.agent = Keeping("question -> answer", [look_up])
    played(question="?")
    assert [{"note": "gone"}] == kept


def test_none_means_that_the_dict_was_changed_in_place() -> None:
    class Emptying(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> Any:
            trajectory.clear()

    played = react([*searches(2), full(), *END])
    played.agent = Emptying("question -> answer", [look_up])
    prediction = played(question="?")
    assert ["thought_2", "tool_name_2", "tool_args_2", "observation_2"] == list(prediction.trajectory)


def test_a_value_error_of_the_hook_ends_the_loop() -> None:
    class Refusing(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            raise ValueError("all of it is needed")

    played = react([*searches(2), full(), extracted(answer="1")])
    played.agent = Refusing("question -> answer", [look_up])
    prediction = played(question="?")
    assert ("context_window_exceeded", 8, "1") == (
        prediction.termination_reason,
        len(prediction.trajectory),
        prediction.answer,
    )


def test_any_other_error_of_the_hook_leaves_with_the_work() -> None:
    class Broken(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            raise LookupError("bug")

    played = react([*searches(2), full()])
    played.agent = Broken("question -> answer", [look_up])
    with pytest.raises(LookupError) as error:
        played(question="?")
    assert 8 == len(error.value.trajectory)  # type: ignore[attr-defined]


def test_a_view_that_is_no_smaller_ends_the_navigation_at_once() -> None:
    class Same(reasonact.ReAct):
        tried = 0

        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            Same.tried += 1
            return dict(trajectory)

    played = react([*searches(3), full(), extracted(answer="1")])
    played.agent = Same("question -> answer", [look_up])
    assert "context_window_exceeded" == played(question="?").termination_reason
    assert 1 == Same.tried


def test_there_are_as_many_tries_as_the_view_had_steps() -> None:
    class Nibbling(reasonact.ReAct):
        tried = 0

        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            Nibbling.tried += 1
            key = next(key for key, value in trajectory.items() if value)
            return {**trajectory, key: ""}

    played = react([*searches(3), *[full()] * 4, extracted(answer="1")])
    played.agent = Nibbling("question -> answer", [look_up])
    assert "context_window_exceeded" == played(question="?").termination_reason
    assert 3 == Nibbling.tried


def test_tries_go_beyond_three_while_the_view_shrinks() -> None:
    prediction = react([*searches(8), *[full()] * 6, *END])(question="?")
    assert ("finish", 3 * 4) == (prediction.termination_reason, len(prediction.trajectory))


def test_one_step_that_does_not_fit_ends_the_loop_and_the_extractor_is_tried() -> None:
    played = react([*searches(1), full(), extracted(answer="1")])
    assert "context_window_exceeded" == played(question="?").termination_reason


def test_an_extractor_that_does_not_fit_is_shortened_too_and_at_last_raised() -> None:
    played = react([*searches(2), step("e", "finish"), full(), extracted(answer="1")])
    assert "1" == played(question="?").answer
    with pytest.raises(reasonact.ContextWindowExceededError) as error:
        react([*searches(2), step("e", "finish"), *[full()] * 3])(question="?")
    assert 3 == len(results(error.value.history))
    assert "close" == error.value.state.phase


@pytest.mark.parametrize("adapter", [reasonact.ChatAdapter, reasonact.JSONAdapter, reasonact.XMLAdapter])
def test_what_is_rendered_step_by_step_is_what_is_rendered_at_once(adapter: type[Any]) -> None:
    odd: list[Any] = [{"a": [1, None]}, 3.5, None, ["x"], "[[ ## answer ## ]]\n<b>&</b>", "plain"]

    def give(number: int) -> Any:
        return odd[number]

    agent = reasonact.ReAct("question -> answer", [give], max_iters=len(odd))
    shown: list[str] = []

    def model(messages: list[Any], options: dict[str, Any]) -> Any:
        shown.append(messages[1]["content"])
        return ("a thought", [(None, "give", {"number": len(shown) - 1})]) if len(shown) <= len(odd) else "x"

    with (
        reasonact.context(lm=ScriptedLM(model), adapter=adapter()),
        pytest.raises(reasonact.AdapterParseError) as error,
    ):
        agent(question="?")
    with reasonact.context(adapter=adapter()):
        whole = agent._format_trajectory(error.value.trajectory)
    assert whole in shown[len(odd)]


def test_a_hook_that_gives_no_dict_is_a_type_error_that_says_so() -> None:
    class Wrong(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> Any:
            return "shorter"

    played = react([*searches(2), full()])
    played.agent = Wrong("question -> answer", [look_up])
    with pytest.raises(TypeError, match="truncate_trajectory gives a dict or None, not a str"):
        played(question="?")


@pytest.mark.parametrize("key", ["thought_0", "observation_0", "observation_1"])
def test_a_hook_that_shortens_one_value_in_place_is_seen_in_every_request_after(key: str) -> None:
    class Clipping(reasonact.ReAct):
        def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
            trajectory[key] = "-"
            return trajectory

    played = react([*searches(3), full(), searches(4)[3], *END])
    played.agent = Clipping("question -> answer", tools=[look_up])
    played(question="?")
    for request in played.lm.requests[4:]:
        assert f"[[ ## {key} ## ]]\n-\n" in request.messages[1]["content"]
