"""Saved state: what a file holds, what it may not do, and what happens when it is no good."""

from __future__ import annotations

import copy
import datetime
import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reasonact
from reasonact.modules import disk
from reasonact.modules.module import Module
from reasonact.testing import ScriptedLM


class Weather(pydantic.BaseModel):
    place: str
    day: datetime.date


def look_up(word: str) -> str:
    """Look a word up."""
    return word.upper()


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Program(reasonact.Module):
    """Predictors in all the places where they can stand."""

    def __init__(self, tools: Any = (look_up,), max_iters: int = 20) -> None:
        super().__init__()
        self.plain = reasonact.Predict("question -> answer")
        self.agent = reasonact.ReAct("question -> answer", tools=list(tools), max_iters=max_iters)
        self.structured = reasonact.ReActV2("question -> answer", tools=list(tools), max_iters=max_iters)
        self.steps = [reasonact.ChainOfThought("question -> answer")]
        self.by_kind = {"a": reasonact.Predict("question -> answer")}


def saved(path: Path, change: Any = None, program: Module | None = None) -> Path:
    """A file of a program, with something changed in it."""
    (program or reasonact.Predict("question -> answer")).save(path)
    if change is not None:
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))
    return path


def learned(predict: Any) -> tuple[Any, ...]:
    words = predict.signature.dump_state()
    return predict.demos, predict.traces, predict.train, predict.config, predict.lm, words


# What a file holds


def test_everything_learned_comes_back(tmp_path: Path) -> None:
    program = Program(max_iters=7)
    program.plain.demos = [{"question": "q", "answer": "a"}]
    program.plain.config = {"temperature": 0.5}
    program.steps[0].predict.signature = program.steps[0].predict.signature.with_instructions("Think.")
    program.by_kind["a"].lm = reasonact.LM("openai/gpt-4o-mini", temperature=0.3)
    program.save(tmp_path / "program.json")

    loaded = Program(max_iters=20)
    loaded.load(tmp_path / "program.json")
    assert program.dump_state() == loaded.dump_state()
    assert (7, 7) == (loaded.agent.max_iters, loaded.structured.max_iters)
    assert {"temperature": 0.5} == loaded.plain.config
    assert "Think." == loaded.steps[0].predict.signature.instructions
    assert {"temperature": 0.3, "max_tokens": None} == loaded.by_kind["a"].lm.kwargs


def test_our_version_and_max_iters_stand_in_a_place_of_their_own(tmp_path: Path) -> None:
    metadata = json.loads(saved(tmp_path / "p.json", program=Program(max_iters=3)).read_text())["metadata"]
    assert {"python"} == set(metadata["dependency_versions"])
    assert {"agent": 3, "structured": 3} == metadata["reasonact"]["max_iters"]
    assert metadata["reasonact"]["version"]


def test_an_agent_alone_keeps_its_max_iters_under_self(tmp_path: Path) -> None:
    agent = reasonact.ReAct("question -> answer", tools=[look_up], max_iters=3)
    agent.save(tmp_path / "a.json")
    other = reasonact.ReAct("question -> answer", tools=[look_up])
    other.load(tmp_path / "a.json")
    assert 3 == other.max_iters


def test_a_state_without_options_has_dspys_keys_alone() -> None:
    assert ["traces", "train", "demos", "signature", "lm"] == list(reasonact.Predict("q -> a").dump_state())


def test_demos_are_written_as_data(tmp_path: Path) -> None:
    predict = reasonact.Predict("question -> answer")
    weather = Weather(place="Ulm", day=datetime.date(2020, 1, 2))
    predict.demos = [
        reasonact.Example(
            question=weather,
            answer=[weather],
            history=reasonact.History(messages=[{"question": "1"}]),
            inner=reasonact.Example(z=1),
            pair=(1, 2),
            kinds={"b", "a"},
            when=datetime.datetime(2020, 1, 2, 3, 4),
            text="ä\ud800",
        )
    ]
    expected = {
        "question": {"place": "Ulm", "day": "2020-01-02"},
        "answer": [{"place": "Ulm", "day": "2020-01-02"}],
        "history": {"messages": [{"question": "1"}]},
        "inner": {"z": 1},
        "pair": [1, 2],
        "kinds": ["a", "b"],
        "when": "2020-01-02T03:04:00",
        "text": "ä\ud800",
    }
    assert [expected] == predict.dump_state()["demos"]
    predict.save(tmp_path / "p.json")
    loaded = reasonact.Predict("question -> answer")
    loaded.load(tmp_path / "p.json")
    assert [expected] == loaded.demos


def test_without_json_mode_demos_stay_objects() -> None:
    predict = reasonact.Predict("question -> answer")
    demo = reasonact.Example(question="q")
    predict.demos = [demo]
    assert demo is predict.dump_state(json_mode=False)["demos"][0]


def test_no_key_is_written(tmp_path: Path) -> None:
    predict = reasonact.Predict("question -> answer", api_key="sk-config", extra_headers={"Authorization": "sk-head"})
    predict.lm = reasonact.LM("openai/gpt-4o-mini", api_key="sk-lm")
    text = saved(tmp_path / "p.json", program=predict).read_text()
    assert "sk-" not in text


def test_options_that_no_file_can_hold_are_named_and_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    predict = reasonact.Predict("question -> answer", response_format=Weather, api_key="sk-own", temperature=0.1)
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        predict.save(tmp_path / "p.json")
    assert "['response_format']" in caplog.text
    other = reasonact.Predict("question -> answer", response_format=Weather, api_key="sk-own", temperature=0.9, n=3)
    other.load(tmp_path / "p.json")
    assert {"response_format": Weather, "api_key": "sk-own", "temperature": 0.1} == other.config


def test_a_file_without_options_leaves_the_programs_own(tmp_path: Path) -> None:
    predict = reasonact.Predict("question -> answer", temperature=0.9)
    predict.load(saved(tmp_path / "p.json"))
    assert {"temperature": 0.9} == predict.config


def test_what_is_compiled_is_frozen_and_stays_out() -> None:
    program = Program()
    program.agent._compiled = True
    assert [] == [name for name in program.dump_state() if name.startswith("agent")]


def test_a_state_of_a_programs_own_form_is_honoured(tmp_path: Path) -> None:
    class Counting(reasonact.Module):
        def __init__(self) -> None:
            super().__init__()
            self.predict = reasonact.Predict("question -> answer")
            self.count = 0

        def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
            return {"count": self.count, "learned": super().dump_state(json_mode)}

        def load_state(self, state: Any, **kwargs: Any) -> None:
            super().load_state(state["learned"], **kwargs)
            self.count = state["count"]

    program = Counting()
    program.count = 5
    loaded = Counting()
    loaded.load(saved(tmp_path / "c.json", program=program))
    assert 5 == loaded.count


# Tools in instructions


@pytest.mark.parametrize("agent", [reasonact.ReAct, reasonact.ReActV2])
def test_saved_instructions_get_the_tools_of_the_live_agent(
    agent: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = agent("question -> answer", tools=[look_up])
    old.react.signature = old.react.signature.with_instructions("Be brief.\n" + old.react.signature.instructions)
    new = agent("question -> answer", tools=[add])
    expected = "Be brief.\n" + new.react.signature.instructions
    new.load(saved(tmp_path / "a.json", program=old))
    assert expected == new.react.signature.instructions
    assert "" == caplog.text


@pytest.mark.parametrize("agent", [reasonact.ReAct, reasonact.ReActV2])
def test_instructions_without_a_list_of_tools_are_taken_whole_and_get_it_at_their_end(
    agent: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = agent("question -> answer", tools=[look_up])
    old.react.signature = old.react.signature.with_instructions("Use the tools well.")
    new = agent("question -> answer", tools=[add])
    with caplog.at_level(logging.WARNING, "reasonact.agents"):
        new.load(saved(tmp_path / "a.json", program=old))
    assert new.react.signature.instructions.startswith("Use the tools well.\n")
    assert "add" in new.react.signature.instructions
    assert "hold no list of tools" in caplog.text


DSPYS_LIST = (
    "Task.\n\n(1) old, whose description is <desc>Was  it (2)?</desc>. It takes arguments {'x': {}}.\n"
    "(2) finish, whose description is <desc>Done.</desc>. It takes arguments {}.\nEnd."
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (DSPYS_LIST, ["Task.", "", "End."]),
        (DSPYS_LIST.replace("(2) finish", "(3) finish"), None),  # a gap in the numbers
        (DSPYS_LIST.replace("(2) finish", "(2) finnish"), None),  # a list of something else
        ("(9) finish. It takes arguments {}.", None),
    ],
)
def test_dspys_list_of_tools_is_known_by_its_numbered_lines(text: str, kept: list[str] | None) -> None:
    agent = reasonact.ReAct("question -> answer", tools=[add])
    adopted = agent.adopt_instructions("react", text)
    lines = [line for line in adopted.split("\n") if not line.startswith(("(1) add", "(2) finish: "))]
    if kept is None:
        assert adopted.startswith(text + "\n\n")
    else:
        assert kept == lines


def test_tools_of_one_call_replace_dspys_list_too() -> None:
    agent = reasonact.ReAct("question -> answer", tools=[add])
    agent.react.signature = agent.react.signature.with_instructions(DSPYS_LIST)
    step = (
        "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nfinish\n\n[[ ## next_tool_args ## ]]\n{}\n\n"
        "[[ ## completed ## ]]"
    )
    end = "[[ ## reasoning ## ]]\nr\n\n[[ ## answer ## ]]\na\n\n[[ ## completed ## ]]"
    lm = ScriptedLM([step, end])
    with reasonact.context(lm=lm):
        agent(question="q", tools=[look_up])
    system = lm.requests[0].messages[0]["content"]
    assert (1, 1, 0) == (system.count("(1) add"), system.count("(2) look_up"), system.count("(1) old"))


def test_the_extractor_knows_of_no_tools() -> None:
    agent = reasonact.ReAct("question -> answer", tools=[add])
    assert "Text." == agent.adopt_instructions("extract.predict", "Text.")


# What a file may not do


UNSAFE = {
    "api_base": "http://elsewhere",
    "base_url": "http://elsewhere",
    "azure_endpoint": "http://elsewhere",
    "model_list": [{"model": "m"}],
    "extra_headers": {"X": "y"},
    "headers": {"X": "y"},
    "fallbacks": [{"model": "m", "api_base": "http://elsewhere"}],
    "api_key": "sk-of-another",
    "extra_body": {"api_base": "http://elsewhere", "seed": 1},
}


def test_a_file_does_not_send_requests_elsewhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def plant(data: Any) -> None:
        data["lm"] = {"model": "openai/gpt-4o-mini", "temperature": 0.3, **UNSAFE}
        data["config"] = {"temperature": 0.5, **UNSAFE}

    path = saved(tmp_path / "p.json", plant)
    predict = reasonact.Predict("question -> answer", api_base="http://own")
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        predict.load(path)
    assert {"temperature": 0.3, "max_tokens": None, "extra_body": {"seed": 1}} == predict.lm.kwargs
    assert {"api_base": "http://own", "temperature": 0.5, "extra_body": {"seed": 1}} == predict.config
    assert "left out of the saved lm" in caplog.text
    assert "left out of the saved config" in caplog.text

    predict.load(path, allow_unsafe_lm_state=True)
    assert {**UNSAFE, "temperature": 0.5} == predict.config
    assert "http://elsewhere" == predict.lm.kwargs["api_base"]


def test_a_schema_with_such_words_in_it_is_whole(tmp_path: Path) -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"properties": {"url": {}, "password": {}}}}}
    predict = reasonact.Predict("question -> answer")
    predict.load(saved(tmp_path / "p.json", program=reasonact.Predict("question -> answer", response_format=schema)))
    assert {"response_format": schema} == predict.config


class EchoLM(reasonact.BaseLM):
    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        return ["echo"]


def test_an_lm_class_of_the_programs_own_asks_for_trust(tmp_path: Path) -> None:
    predict = reasonact.Predict("question -> answer")
    predict.lm = EchoLM("echo", temperature=0.2)
    path = saved(tmp_path / "p.json", program=predict)
    path.write_text(path.read_text().replace(f"{EchoLM.__module__}.EchoLM", "echo_lm_for_states.EchoLM"))
    sys.modules["echo_lm_for_states"] = sys.modules[__name__]
    try:
        other = reasonact.Predict("question -> answer")
        with pytest.raises(ValueError, match="allow_unsafe_lm_state=True"):
            other.load(path)
        assert None is other.lm
        other.load(path, allow_unsafe_lm_state=True)
        assert (EchoLM, 0.2) == (type(other.lm), other.lm.kwargs["temperature"])
    finally:
        del sys.modules["echo_lm_for_states"]


def test_an_lm_that_cannot_be_made_is_said_to_be_so() -> None:
    predict = reasonact.Predict("question -> answer")
    state = {**predict.dump_state(), "lm": {"model_type": "chat"}}
    with pytest.raises(ValueError, match=r"the saved LM cannot be made: .*'model'"):
        predict.load_state(state)


@pytest.mark.parametrize(
    ("name", "value", "warned"),
    [
        ("finetuning_model", None, False),
        ("launch_kwargs", {}, False),
        ("train_kwargs", {}, False),
        ("engine", "auto", False),
        ("async_engine", None, False),
        ("prompt_cache", None, False),
        ("finetuning_model", "ft:x", True),
        ("launch_kwargs", {"port": 1}, True),
        ("engine", "litellm", True),
        ("prompt_cache", {"ttl": 1}, True),
    ],
)
def test_what_dspys_lm_saves_and_ours_does_not_take_is_dropped(
    name: str, value: Any, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    predict = reasonact.Predict("question -> answer")
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        predict.load_state({**predict.dump_state(), "lm": {"model": "openai/gpt-4o-mini", name: value}})
    assert warned == (name in caplog.text)
    assert name not in predict.lm.kwargs


def test_an_unknown_entry_sets_nothing(caplog: pytest.LogCaptureFixture) -> None:
    predict = reasonact.Predict("question -> answer")
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        predict.load_state({**predict.dump_state(), "forward": 3, "stage": "x"})
    assert "['forward', 'stage']" in caplog.text
    assert callable(predict.forward)


def test_a_state_takes_the_lm_away_where_it_has_none() -> None:
    predict = reasonact.Predict("question -> answer")
    state = predict.dump_state()
    predict.lm = ScriptedLM([])
    predict.load_state(state)
    assert None is predict.lm


# Files that are no good


def spoil(key: str, value: Any) -> Any:
    return lambda data: data.update({key: value})


BROKEN: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "is broken, or no JSON"),
    "nesting without end": ("[" * 200_000, "is broken, or no JSON"),
    "a list": ("[]", "is no saved state"),
    "another program's JSON": ('{"hello": 1}', "is no saved state"),
    "no versions": (spoil("metadata", {}), "is no saved state"),
    "versions of another kind": (spoil("metadata", {"dependency_versions": 3}), "is no saved state"),
    "a newer version": (
        spoil("metadata", {"dependency_versions": {}, "reasonact": {"version": "999.0.0"}}),
        "was saved by reasonact 999.0.0.*install the newer one",
    ),
    "a version of another kind": (
        spoil("metadata", {"dependency_versions": {}, "reasonact": {"version": 3}}),
        "cannot be read",
    ),
    "no signature": (lambda data: data.pop("signature"), "no 'signature'"),
    "a signature without fields": (spoil("signature", {"instructions": "x"}), "needs 'instructions' and 'fields'"),
    "instructions that are a number": (spoil("signature", {"instructions": 3, "fields": []}), "not all text"),
    "a prefix that is a list": (
        spoil("signature", {"instructions": "x", "fields": [{"prefix": [], "description": "x"}]}),
        "not all text",
    ),
    "demos of another kind": (spoil("demos", {"question": "q"}), "'demos' is a list"),
    "a demo that is a number": (spoil("demos", [{}, 3]), r"demos\[1\] is a dict of fields, found int"),
    "an LM of another kind": (spoil("lm", "openai/gpt"), "'lm' is a dict"),
    "options of another kind": (spoil("config", [1]), "'config' is a dict"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_good_says_so_and_changes_nothing(name: str, tmp_path: Path) -> None:
    change, message = BROKEN[name]
    other = reasonact.Predict("question -> answer")
    other.demos = [{"question": "of the file"}]
    path = saved(tmp_path / "p.json", None if isinstance(change, str) else change, program=other)
    if isinstance(change, str):
        path.write_text(change)
    predict = reasonact.Predict("question -> answer", temperature=0.5)
    predict.demos = [{"question": "own"}]
    before = learned(predict)
    with pytest.raises(ValueError, match=message) as refused:
        predict.load(path)
    assert str(path) in str(refused.value)
    assert before == learned(predict)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("by_kind['a']"), r"has nothing for \"by_kind\['a'\]\""),
        (lambda data: data["by_kind['a']"].pop("signature"), r"state of \"by_kind\['a'\]\" cannot be used"),
        (lambda data: data.update({"by_kind['a']": 3}), "found int"),
        (lambda data: data["metadata"]["reasonact"].update(max_iters={"structured": -1}), "least it can be is 0"),
        (lambda data: data["metadata"]["reasonact"].update(max_iters={"structured": "7"}), "max_iters of 'structured'"),
        (lambda data: data["metadata"]["reasonact"].update(max_iters=7), "no dict by path"),
    ],
)
def test_a_program_is_loaded_whole_or_not_at_all(change: Any, message: str, tmp_path: Path) -> None:
    source = Program(max_iters=5)
    for _, predictor in source.named_predictors():
        predictor.demos = [{"question": "of the file"}]
    path = saved(tmp_path / "p.json", change, program=source)
    program = Program()
    before = program.dump_state()
    with pytest.raises(ValueError, match=message):
        program.load(path)
    assert before == program.dump_state()
    assert (20, 20) == (program.agent.max_iters, program.structured.max_iters)


def test_a_state_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="a saved state is a dict of states by path, found list"):
        Program().load_state([])  # type: ignore[arg-type]


def test_predictors_that_the_program_does_not_have_are_named(caplog: pytest.LogCaptureFixture) -> None:
    program = Program()
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        program.load_state({**program.dump_state(), "gone": {}, "metadata": {}})
    assert "['gone']" in caplog.text


def test_fields_are_matched_by_position_and_a_different_number_warns(caplog: pytest.LogCaptureFixture) -> None:
    state = reasonact.Predict("question -> answer").dump_state()
    predict = reasonact.Predict("question, context -> answer")
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        predict.load_state(state)
    assert "has 2 fields and the program's has 3" in caplog.text


def test_a_file_of_a_later_dspy_warns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = saved(tmp_path / "p.json", spoil("metadata", {"dependency_versions": {"dspy": "3.6.0"}}))
    with caplog.at_level(logging.WARNING, "reasonact.state"):
        reasonact.Predict("question -> answer").load(path)
    assert "was saved by DSPy 3.6.0" in caplog.text


@pytest.mark.parametrize("name", ["p.txt", "p", "p.json.bak"])
def test_the_ending_of_a_state_file_is_json_or_pkl(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.json or \.pkl"):
        reasonact.Predict("question -> answer").save(tmp_path / name)
    with pytest.raises(ValueError, match=r"ends in \.json or \.pkl"):
        reasonact.Predict("question -> answer").load(tmp_path / name)


def test_a_predictor_cannot_have_the_name_of_the_files_own_part(tmp_path: Path) -> None:
    program = Program()
    program.metadata = reasonact.Predict("question -> answer")
    with pytest.raises(ValueError, match="rename that predictor"):
        program.save(tmp_path / "p.json")


# Writing


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "p.json")
    before = path.read_bytes()

    def full(file: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(disk, "to_disk", full)
    with pytest.raises(OSError, match="no space left"):
        reasonact.Predict("other -> fields").save(path)
    assert before == path.read_bytes()
    assert ["p.json"] == os.listdir(tmp_path)


def test_a_link_is_followed_and_permissions_stay(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    saved(link)
    assert link.is_symlink()
    assert (True, 0o640) == (target.read_text().startswith("{"), target.stat().st_mode & 0o777)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        saved(tmp_path / "none" / "p.json")


# Pickles


def test_a_pickled_state_is_loaded_only_where_that_is_allowed(tmp_path: Path) -> None:
    predict = reasonact.Predict("question -> answer")
    predict.demos = [reasonact.Example(question="q").with_inputs("question")]
    predict.save(tmp_path / "p.pkl")
    other = reasonact.Predict("question -> answer")
    with pytest.raises(ValueError, match="unpickling runs whatever code the file holds"):
        other.load(tmp_path / "p.pkl")
    other.load(tmp_path / "p.pkl", allow_pickle=True)
    assert predict.demos == other.demos
    assert {"question"} == other.demos[0]._input_keys


def test_a_pickle_that_is_none_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "p.pkl").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="cannot be unpickled"):
        reasonact.Predict("question -> answer").load(tmp_path / "p.pkl", allow_pickle=True)


def test_a_whole_program_is_loaded_only_where_that_is_allowed(tmp_path: Path) -> None:
    program = reasonact.ReAct("question -> answer", tools=[lambda word: word], max_iters=4)
    program.save(tmp_path / "program", save_program=True)
    with pytest.raises(ValueError, match="unpickling runs whatever code the file holds"):
        reasonact.load(tmp_path / "program")
    loaded = reasonact.load(tmp_path / "program", allow_pickle=True)
    assert (reasonact.ReAct, 4) == (type(loaded), loaded.max_iters)
    assert {"metadata.json", "program.pkl"} == set(os.listdir(tmp_path / "program"))


def test_a_whole_program_runs_in_another_process(tmp_path: Path) -> None:
    script = f"""
import reasonact

@reasonact.tool
def shout(word: str) -> str:
    return word.upper()

def whisper(word: str) -> str:
    return word.lower()

agent = reasonact.ReActV2("question -> answer", tools=[shout, whisper, reasonact.Tool(lambda x: x * 2, name="twice")])
agent.save({str(tmp_path / "program")!r}, save_program=True)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    tools = reasonact.load(tmp_path / "program", allow_pickle=True).tools
    assert ("A", "a", 4) == (tools["shout"](word="a"), tools["whisper"](word="A"), tools["twice"](x=2))


def test_a_program_that_holds_a_lock_says_what_to_do(tmp_path: Path) -> None:
    lock = threading.Lock()

    def guarded(word: str) -> str:
        with lock:
            return word

    with pytest.raises(ValueError, match=r"cannot be pickled: .*save\('state.json'\)"):
        reasonact.ReAct("question -> answer", tools=[guarded]).save(tmp_path / "program", save_program=True)
    assert not (tmp_path / "program").exists()


def test_a_whole_program_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a folder, whose name has no ending"):
        reasonact.Predict("question -> answer").save(tmp_path / "p.json", save_program=True)
    with pytest.raises(FileNotFoundError, match="there is no"):
        reasonact.load(tmp_path / "none", allow_pickle=True)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    reasonact.Predict("question -> answer").save(tmp_path / "program", save_program=True)
    (tmp_path / "program" / "program.pkl").write_bytes(pickle.dumps(datetime.date(2020, 1, 1)))
    with pytest.raises(ValueError, match=r"holds a datetime\.date, which is no module"):
        reasonact.load(tmp_path / "program", allow_pickle=True)
    (tmp_path / "program" / "metadata.json").write_text("3")
    with pytest.raises(ValueError, match="no metadata of a saved program"):
        reasonact.load(tmp_path / "program", allow_pickle=True)


def test_code_of_named_modules_goes_into_the_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_tools.py").write_text("def triple(x: int) -> int:\n    return 3 * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import own_tools  # type: ignore[import-not-found]

    agent = reasonact.ReActV2("question -> answer", tools=[own_tools.triple])
    agent.save(tmp_path / "program", save_program=True, modules_to_serialize=[own_tools])
    script = f"""
import reasonact
print(reasonact.load({str(tmp_path / "program")!r}, allow_pickle=True).tools["triple"](x=2))
"""
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd="/")
    assert "6" == ran.stdout.strip()


# Copies


class Service:
    """A tool's owner that can be neither copied nor pickled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def ask(self, word: str) -> str:
        """Ask."""
        with self.lock:
            return word


def closure() -> Any:
    lock = threading.Lock()

    def guarded(word: str) -> str:
        """Guarded."""
        with lock:
            return word

    return guarded


COPIES: dict[str, Any] = {
    "deepcopy": lambda agent: agent.deepcopy(),
    "reset_copy": lambda agent: agent.reset_copy(),
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda agent: pickle.loads(pickle.dumps(agent)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("tool", [look_up, Service().ask, closure(), reasonact.Tool(lambda word: word, name="l")])
@pytest.mark.parametrize("agent", [reasonact.ReAct, reasonact.ReActV2])
def test_copies_of_an_agent_share_what_its_tools_call(agent: Any, tool: Any, way: str) -> None:
    original = agent("question -> answer", tools=[tool], on_confirmation=Service().ask if way != "pickle" else None)
    original.react.demos = [{"question": "q"}]
    twin = COPIES[way](original)
    assert list(original.tools) == list(twin.tools)
    (name, *_) = original.tools
    assert original.tools[name].func is twin.tools[name].func or original.tools[name].func == twin.tools[name].func
    assert "w" == twin.tools[name](word="w").lower()
    twin.react.demos.append({})
    assert 1 == len(original.react.demos)


def test_a_shared_tool_is_unknown_to_another_process(tmp_path: Path) -> None:
    (tmp_path / "agent.pkl").write_bytes(pickle.dumps(reasonact.ReAct("question -> answer", tools=[closure()])))
    script = f"import pickle; pickle.load(open({str(tmp_path / 'agent.pkl')!r}, 'rb'))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "exists only in the process that pickled it" in ran.stderr


def test_a_lock_beside_modules_does_not_make_the_copy_share_them() -> None:
    class Holder(reasonact.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = {"predict": reasonact.Predict("question -> answer"), "lock": threading.Lock()}
            self.pair = (self.parts["predict"], [self.parts["predict"]])

    holder = Holder()
    for twin in (holder.deepcopy(), copy.deepcopy(holder)):
        assert twin.parts["predict"] is not holder.parts["predict"]
        assert twin.parts["lock"] is holder.parts["lock"]
        assert twin.pair[0] is twin.parts["predict"] is twin.pair[1][0]


def test_a_module_with_a_state_of_its_own_form_is_copied_by_it() -> None:
    class Odd(reasonact.Module):
        def __init__(self) -> None:
            super().__init__()
            self.value = [1]

        def __getstate__(self) -> Any:
            return ("odd", self.value)

        def __setstate__(self, state: Any) -> None:
            self._base_init()
            self.value = state[1]

    odd = Odd()
    twin = copy.deepcopy(odd)
    assert ([1], False) == (twin.value, twin.value is odd.value)


# Any file at all


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in some JSON data."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


@given(st.data())
def test_whatever_a_file_holds_it_is_loaded_whole_or_refused(data: st.DataObject) -> None:
    source = Program(max_iters=5)
    source.plain.demos = [{"question": "q"}]
    source.plain.config = {"n": 1}
    source.plain.lm = reasonact.LM("openai/gpt-4o-mini")
    with tempfile.TemporaryDirectory() as folder:
        path = saved(Path(folder) / "p.json", program=source)
        content = json.loads(path.read_text())
        *above, last = data.draw(st.sampled_from([place for place in places(content) if place]))
        holder = content
        for step in above:
            holder = holder[step]
        holder[last] = data.draw(json_values)
        path.write_text(json.dumps(content))
        program = Program()
        before = program.dump_state()
        try:
            program.load(path)
        except ValueError:
            assert before == program.dump_state()
            assert 20 == program.agent.max_iters
