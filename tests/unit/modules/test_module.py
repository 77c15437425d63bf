"""Modules: the tree of predictors, calling sync and async, overriding one path or both, copying."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import threading
from typing import Any

import pytest

import reasonact
from reasonact.modules.attribute_path import set_attribute_by_name
from reasonact.testing import ScriptedLM

ANSWER = "[[ ## answer ## ]]\n42\n\n[[ ## completed ## ]]"


class Program(reasonact.Module):
    """A tree with predictors in attributes, lists and dicts."""

    def __init__(self) -> None:
        self.first = reasonact.Predict("question -> answer")
        self.steps = [reasonact.Predict("question -> answer"), reasonact.ChainOfThought("question -> answer")]
        self.by_kind = {"a": reasonact.Predict("question -> answer")}

    def forward(self, question: str) -> Any:
        return self.first(question=question)

    async def aforward(self, question: str) -> Any:
        return await self.first.acall(question=question)


def test_predictors_are_named_by_their_path() -> None:
    names = [name for name, _ in Program().named_predictors()]
    assert ["first", "steps[0]", "steps[1].predict", "by_kind['a']"] == names


def test_a_predictor_alone_is_named_self() -> None:
    predict = reasonact.Predict("question -> answer")
    assert [("self", predict)] == predict.named_predictors()


def test_a_predictor_that_stands_in_two_places_is_named_once() -> None:
    class Shared(reasonact.Module):
        def __init__(self) -> None:
            self.one = reasonact.Predict("question -> answer")
            self.two = self.one

    assert ["one"] == [name for name, _ in Shared().named_predictors()]


def test_compiled_submodules_keep_their_parameters_to_themselves() -> None:
    program = Program()
    program.steps[1]._compiled = True
    assert ["first", "steps[0]", "by_kind['a']"] == [name for name, _ in program.named_parameters()]


def test_sub_modules_are_named_from_self_breadth_first() -> None:
    names = [name for name, _ in Program().named_sub_modules()]
    assert ["self", "self.first", "self.steps[0]", "self.steps[1]", "self.by_kind[a]", "self.steps[1].predict"] == names


def test_a_subclass_without_super_init_is_a_whole_module() -> None:
    program = Program()
    assert ([], [], False) == (program.callbacks, program.history, program._compiled)


def test_a_call_and_an_acall_give_the_same() -> None:
    lm = ScriptedLM([ANSWER, ANSWER])
    with reasonact.context(lm=lm):
        assert "42" == Program()(question="q").answer
        assert "42" == asyncio.run(Program().acall(question="q")).answer
    lm.assert_complete()


def test_every_module_on_the_way_to_a_model_call_records_it() -> None:
    program = Program()
    with reasonact.context(lm=ScriptedLM([ANSWER])):
        program(question="q")
    assert (1, 1) == (len(program.history), len(program.first.history))


def test_a_module_without_forward_says_what_is_missing() -> None:
    class Empty(reasonact.Module):
        pass

    with pytest.raises(NotImplementedError, match=r"Empty defines no forward\(\)"):
        Empty()()
    with pytest.raises(NotImplementedError, match=r"Empty defines no aforward\(\)"):
        asyncio.run(Empty().acall())


class HalfOverridden(reasonact.Predict):
    def forward(self, **kwargs: Any) -> Any:
        return reasonact.Prediction(answer="mine")


def test_where_only_one_path_is_overridden_the_other_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    predict = HalfOverridden("question -> answer")
    assert "mine" == predict(question="q").answer
    with reasonact.context(lm=ScriptedLM([ANSWER, ANSWER])), caplog.at_level(logging.WARNING, "reasonact.modules"):
        for _ in range(2):
            assert "42" == asyncio.run(predict.acall(question="q")).answer
    assert 1 == caplog.text.count("HalfOverridden overrides forward but not aforward")


def test_set_lm_reaches_every_predictor_and_get_lm_reads_it_back() -> None:
    program, lm = Program(), ScriptedLM([])
    program.set_lm(lm)
    assert lm is program.get_lm()
    program.first.lm = None
    with pytest.raises(ValueError, match="has no one LM"):
        program.get_lm()


def test_map_named_predictors_puts_the_result_in_their_place() -> None:
    program = Program()
    replaced = program.map_named_predictors(lambda predictor: reasonact.Predict("question -> other"))
    assert replaced is program
    assert ["other"] * 4 == [next(iter(p.signature.output_fields)) for p in program.predictors()]


def test_a_deep_copy_shares_no_demo_and_no_record() -> None:
    program = Program()
    program.first.demos = [{"question": "q", "answer": "a"}]
    twin = program.deepcopy()
    twin.first.demos.append({})
    twin.steps[0].demos.append({})
    assert 1 == len(program.first.demos)
    assert [] == program.steps[0].demos


def test_a_reset_copy_has_lost_its_demos_and_its_lm() -> None:
    program = Program()
    program.first.demos, program.first.lm = [{}], ScriptedLM([])
    twin = program.reset_copy()
    assert ([], None) == (twin.first.demos, twin.first.lm)
    assert 1 == len(program.first.demos)


def test_what_cannot_be_copied_is_shared() -> None:
    program = Program()
    program.lock = threading.Lock()
    assert program.lock is program.deepcopy().lock


def test_a_module_survives_copy_and_pickle() -> None:
    program = Program()
    program.first.demos = [{"question": "q", "answer": "a"}]
    for twin in (copy.deepcopy(program), pickle.loads(pickle.dumps(program))):
        assert program.first.demos == twin.first.demos
        assert program.first.signature.equals(twin.first.signature)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a", "a"), ("steps[0].b", "b"), ("by_kind['a.b'].c", "c"), ("by_kind['x']", "x"), ('by_kind["y"]', "y")],
)
def test_an_attribute_path_leads_to_attributes_and_items(path: str, expected: str) -> None:
    class Thing:
        pass

    root: Any = Thing()
    root.steps, root.by_kind = [Thing()], {"a.b": Thing()}
    set_attribute_by_name(root, path, "set")
    found = {
        "a": lambda: root.a,
        "b": lambda: root.steps[0].b,
        "c": lambda: root.by_kind["a.b"].c,
        "x": lambda: root.by_kind["x"],
        "y": lambda: root.by_kind["y"],
    }[expected]()
    assert "set" == found


@pytest.mark.parametrize("path", ["", "a[", "a[]", "[x]"])
def test_a_path_that_cannot_be_read_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        set_attribute_by_name(object(), path, 1)
