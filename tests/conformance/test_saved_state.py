"""Saved files both ways: what either library writes, the other loads, and runs with what was learned."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM as DSPyDummyLM

import reasonact
from reasonact.testing import DummyLM

LIBRARIES = {"dspy": dspy, "reasonact": reasonact}
BOTH_WAYS = [("dspy", "reasonact"), ("reasonact", "dspy"), ("reasonact", "reasonact")]


def look_up(word: str) -> str:
    """Look a word up.

    In the dictionary.
    """
    return word.upper()


def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


def nested(library: ModuleType, tools: list[Any]) -> Any:
    class Program(library.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.predict = library.Predict("question -> answer")
            self.steps = [library.ChainOfThought("question, context -> answer: int")]
            self.by_kind = {"a": library.ReAct("question -> answer", tools=tools)}
            self.structured = library.ReActV2("question -> answer", tools=tools)

        def forward(self, question: str) -> Any:
            return self.predict(question=question)

    return Program()


PROGRAMS: dict[str, Callable[[ModuleType, list[Any]], Any]] = {
    "Predict": lambda library, tools: library.Predict("question -> answer"),
    "ChainOfThought": lambda library, tools: library.ChainOfThought("question -> answer"),
    "ReAct": lambda library, tools: library.ReAct("question -> answer", tools=tools, max_iters=3),
    "ReActV2": lambda library, tools: library.ReActV2("question -> answer", tools=tools, max_iters=3),
    "nested": nested,
}


def teach(program: Any, library: ModuleType) -> None:
    """What an optimiser leaves in a program: demos, other words, an LM."""
    for number, predictor in enumerate(program.predictors()):
        predictor.demos = [
            library.Example(question=f"q{number}", answer="a", augmented=True).with_inputs("question"),
            {"question": "plain", "answer": "ä"},
        ]
        signature = predictor.signature.with_instructions(f"Learned {number}.\n" + predictor.signature.instructions)
        name = next(iter(signature.output_fields))
        predictor.signature = signature.with_updated_fields(name, desc=f"desc {number}", prefix=f"Out {number}:")
    program.predictors()[0].lm = library.LM("openai/gpt-4o-mini", temperature=0.3, max_tokens=50, api_key="sk-own")


def learned(program: Any) -> Any:
    """What was learned, in the terms of both: words and demos by path, without the sentences about tools."""
    found = {}
    for name, predictor in program.named_predictors():
        words = predictor.signature.dump_state()
        lm = predictor.lm
        found[name] = (
            words["instructions"].split("\n")[0],
            words["fields"],
            [dict(demo) for demo in predictor.demos],
            None if lm is None else (lm.model, lm.model_type, lm.cache, lm.num_retries, lm.kwargs),
        )
    return found


def without_key(state: Any) -> Any:
    """What was learned, but for the key of the LM, which no file holds."""
    return {
        name: (*rest, None if lm is None else (*lm[:-1], {k: v for k, v in lm[-1].items() if k != "api_key"}))
        for name, (*rest, lm) in state.items()
    }


@pytest.mark.parametrize(("writer", "reader"), BOTH_WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ending", ["json", "pkl"])
def test_what_one_saves_the_other_loads(name: str, writer: str, reader: str, ending: str, tmp_path: Path) -> None:
    program = PROGRAMS[name](LIBRARIES[writer], [look_up, add])
    teach(program, LIBRARIES[writer])
    path = tmp_path / f"program.{ending}"
    program.save(str(path))
    other = PROGRAMS[name](LIBRARIES[reader], [look_up, add])
    other.load(str(path), allow_pickle=ending == "pkl")
    assert without_key(learned(program)) == learned(other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_comes_back_from_the_other_as_it_went(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name](dspy, [look_up, add])
    teach(program, dspy)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    program.save(str(first))
    ours = PROGRAMS[name](reasonact, [look_up, add])
    ours.load(first)
    ours.save(second)
    again = PROGRAMS[name](dspy, [look_up, add])
    again.load(str(second))
    assert without_key(learned(program)) == learned(again)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_files_have_the_same_keys_in_the_same_order(name: str, tmp_path: Path) -> None:
    def keys(value: Any) -> Any:
        if isinstance(value, dict):
            return [(key, keys(item)) for key, item in value.items() if key != "metadata"]
        return [keys(item) for item in value] if isinstance(value, list) else None

    files = []
    for library in (dspy, reasonact):
        program = PROGRAMS[name](library, [look_up, add])
        for predictor in program.predictors():
            predictor.demos = [library.Example(question="q", answer="a")]
        program.save(str(tmp_path / "program.json"))
        files.append(keys(json.loads((tmp_path / "program.json").read_text())))
    assert files[0] == files[1]


def test_the_lm_of_a_file_is_the_same_but_for_what_ours_has_not(tmp_path: Path) -> None:
    states = []
    for library in (dspy, reasonact):
        predict = library.Predict("question -> answer")
        predict.lm = library.LM("openai/gpt-4o-mini", temperature=0.3, api_key="sk-own", seed=1, num_retries=5)
        predict.save(str(tmp_path / "predict.json"))
        states.append(json.loads((tmp_path / "predict.json").read_text())["lm"])
    theirs, ours = states
    assert {"finetuning_model": None, "launch_kwargs": {}, "train_kwargs": {}} == {
        key: value for key, value in theirs.items() if key not in ours
    }
    assert ours == {key: theirs[key] for key in ours}


@pytest.mark.parametrize(("writer", "reader"), BOTH_WAYS)
def test_a_loaded_program_runs_with_its_demos_and_instructions(writer: str, reader: str, tmp_path: Path) -> None:
    program = nested(LIBRARIES[writer], [look_up])
    teach(program, LIBRARIES[writer])
    program.predict.lm = None
    program.save(str(tmp_path / "program.json"))
    other = nested(LIBRARIES[reader], [look_up])
    other.load(str(tmp_path / "program.json"))
    lm: Any = (DummyLM if reader == "reasonact" else DSPyDummyLM)([{"answer": "42"}])
    with LIBRARIES[reader].context(lm=lm):
        assert "42" == other(question="new").answer
    messages = lm.history[-1]["messages"]
    assert ["system", "user", "assistant", "user", "assistant", "user"] == [message["role"] for message in messages]
    assert "Learned 0." in messages[0]["content"]
    assert "q0" in messages[1]["content"]
    assert "plain" in messages[3]["content"]


def test_a_loaded_agent_of_dspys_runs_with_the_tools_it_has_now(tmp_path: Path, caplog: Any) -> None:
    for name, steps in (
        ("ReAct", [{"next_thought": "t", "next_tool_name": "add", "next_tool_args": {"a": 40}}, FINISH, END]),
        ("ReActV2", [CALL, SUBMIT]),
    ):
        program = PROGRAMS[name](dspy, [look_up])
        teach(program, dspy)
        program.predictors()[0].lm = None
        program.save(str(tmp_path / "agent.json"))
        agent = PROGRAMS[name](reasonact, [add])
        agent.load(tmp_path / "agent.json")
        lm = DummyLM([dict(step) for step in steps])
        with reasonact.context(lm=lm):
            assert "42" == agent(question="q").answer
        system = lm.history[0]["messages"][0]["content"]
        assert ("Learned 0." in system, "look_up" in system, "add" in system) == (True, False, True)
    assert "hold no list of tools" not in caplog.text


FINISH = {"next_thought": "t", "next_tool_name": "finish", "next_tool_args": {}}
END = {"reasoning": "r", "answer": "42"}
CALL = {"next_thought": "t", "tool_calls": {"tool_calls": [{"name": "add", "args": {"a": 40}}]}}
SUBMIT = {"next_thought": "t", "tool_calls": {"tool_calls": [{"name": "submit", "args": {"answer": "42"}}]}}


def test_our_part_of_the_metadata_disturbs_dspy_in_nothing(tmp_path: Path) -> None:
    program = PROGRAMS["ReAct"](reasonact, [look_up])
    program.save(tmp_path / "program.json")
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("dspy").addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            PROGRAMS["ReAct"](dspy, [look_up]).load(str(tmp_path / "program.json"))
    finally:
        logging.getLogger("dspy").removeHandler(handler)
    assert ([], []) == (said, [str(item.message) for item in warned])


def test_options_of_requests_go_where_dspy_takes_them(tmp_path: Path) -> None:
    reasonact.Predict("question -> answer", temperature=0.5, n=2).save(tmp_path / "predict.json")
    theirs = dspy.Predict("question -> answer")
    theirs.load(str(tmp_path / "predict.json"))
    assert {"temperature": 0.5, "n": 2} == theirs.config


@pytest.mark.parametrize("library", [dspy, reasonact])
def test_redirecting_keys_are_dropped_unless_the_file_is_trusted(library: ModuleType, tmp_path: Path) -> None:
    predict = library.Predict("question -> answer")
    predict.lm = library.LM("openai/gpt-4o-mini", api_base="http://elsewhere")
    predict.save(str(tmp_path / "predict.json"))
    for trusted in (False, True):
        loaded = library.Predict("question -> answer")
        loaded.load(str(tmp_path / "predict.json"), allow_unsafe_lm_state=trusted)
        assert trusted == ("api_base" in loaded.lm.kwargs)


@pytest.mark.parametrize("library", [dspy, reasonact])
def test_an_lm_class_of_the_programs_own_is_a_value_error(library: ModuleType) -> None:
    predict = library.Predict("question -> answer")
    with pytest.raises(ValueError, match="allow_unsafe_lm_state=True"):
        predict.load_state({**predict.dump_state(), "lm": {"_dspy_lm_class": "a.b.C", "model": "m"}})


@pytest.mark.parametrize("library", [dspy, reasonact])
def test_a_state_without_an_lm_takes_it_away(library: ModuleType) -> None:
    predict = library.Predict("question -> answer")
    state = predict.dump_state()
    predict.lm = library.LM("openai/gpt-4o-mini")
    predict.load_state(state)
    assert None is predict.lm


@pytest.mark.parametrize("library", [dspy, reasonact])
def test_pickles_ask_for_leave(library: ModuleType, tmp_path: Path) -> None:
    predict = library.Predict("question -> answer")
    predict.save(str(tmp_path / "predict.pkl"))
    predict.save(str(tmp_path / "whole"), save_program=True)
    with pytest.raises(ValueError, match="allow_pickle=True"):
        predict.load(str(tmp_path / "predict.pkl"))
    with pytest.raises(ValueError, match="allow_pickle=True"):
        library.load(str(tmp_path / "whole"))
    assert isinstance(library.load(str(tmp_path / "whole"), allow_pickle=True), library.Predict)


def test_a_whole_program_of_dspys_is_sent_by_its_state(tmp_path: Path) -> None:
    dspy.Predict("question -> answer").save(str(tmp_path / "whole"), save_program=True)
    with pytest.raises(ValueError, match=r"brought over by its state: program\.save\('state\.json'\)"):
        reasonact.load(tmp_path / "whole", allow_pickle=True)
