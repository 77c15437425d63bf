"""The name lines 3.4, 3.5 and 3.6, and the agents under their names in each."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import pytest

import reasonact
import reasonact.v34
import reasonact.v35
import reasonact.v36
from reasonact import exports
from reasonact.migration import lines
from reasonact.testing import ScriptedLM

LINES = (reasonact.v34, reasonact.v35, reasonact.v36)
SUBMIT = (None, [("c1", "submit", {"answer": "42"})])


def native(*replies):
    lm = ScriptedLM(list(replies), function_calling=True)
    return reasonact.context(lm=lm, adapter=reasonact.ChatAdapter(use_native_function_calling=True))


def run_python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.__name__)
def test_a_line_is_a_whole_namespace(line):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in set(exports.NAMES) - {"ReAct", "ReActV2"}:
            assert getattr(reasonact, name) is getattr(line, name), name
        for name in exports.SUBMODULES:
            assert getattr(reasonact, name) is getattr(line, name), name


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.__name__)
def test_a_line_lists_its_names(line):
    expected = set(exports.NAMES) - ({"ReActV2"} if line is reasonact.v36 else set())
    assert expected == set(line.__all__)
    assert set() == {*expected, *exports.SUBMODULES} - set(dir(line))
    assert {"ReActV2"} & expected == {"ReActV2"} & set(dir(line))


def test_the_names_of_the_agents_in_each_line():
    assert (reasonact.ReAct, reasonact.ReActV2) == (reasonact.v34.ReAct, reasonact.v34.ReActV2)
    assert (reasonact.ReActV2, reasonact.ReActV2) == (reasonact.v35.ReAct, reasonact.v36.ReAct)
    assert [reasonact.ReAct] * 4 == [line.TrajectoryReAct for line in (reasonact, *LINES)]


def test_type_checkers_are_shown_the_same_agent():
    from reasonact.migration.structured_agent import ReAct

    assert reasonact.v35.ReAct is ReAct


def test_a_line_costs_nothing_before_its_first_use():
    program = "import sys, reasonact.v35 as dspy; print('pydantic' in sys.modules, 'ReAct' in vars(dspy))"
    assert "False False" == run_python(program)


def test_a_star_import_takes_the_names_of_the_line():
    program = "from reasonact.v36 import *; print(ReAct.__name__, 'ReActV2' in dir())"
    assert "ReActV2 False" == run_python(program)


def test_parts_are_imported_below_a_line():
    namespace = {}
    exec("from reasonact.v35.utils import DummyLM; import reasonact.v35.lm.base as base", namespace)
    assert namespace["DummyLM"] is reasonact.utils.DummyLM
    assert namespace["base"] is sys.modules["reasonact.lm.base"]
    assert "reasonact.lm.base" == namespace["base"].__spec__.name


def test_a_missing_module_below_a_line_is_named():
    with pytest.raises(ModuleNotFoundError, match=r"reasonact\.v35\.nowhere"):
        exec("import reasonact.v35.nowhere", {})
    with pytest.raises(ModuleNotFoundError, match=r"reasonact\.lm\.nowhere"):
        exec("import reasonact.v35.lm.nowhere", {})


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.__name__)
def test_a_name_that_stays_with_dspy_is_refused_in_a_line_too(line):
    with pytest.raises(AttributeError) as refused:
        _ = line.BestOfN
    with pytest.raises(ImportError) as error:
        exec(f"from {line.__name__} import BestOfN", {})
    assert str(refused.value) == str(error.value)
    assert exports.NOT_OURS["BestOfN"] in str(error.value)
    assert not hasattr(line, "BestOfN")


def test_in_36_the_old_name_is_gone_and_the_text_says_what_to_write():
    with pytest.raises(AttributeError, match="write ReAct") as refused:
        _ = reasonact.v36.ReActV2
    with pytest.raises(ImportError) as error:
        exec("from reasonact.v36 import ReActV2", {})
    assert str(refused.value) == str(error.value)
    assert not hasattr(reasonact.v36, "ReActV2")


def test_the_finder_is_installed_once():
    lines.install_finder()
    assert 1 == sys.meta_path.count(lines.LineFinder)
    assert None is lines.LineFinder.find_spec("reasonact.v35")
    assert None is lines.LineFinder.find_spec("other.v35.utils")


def test_the_alias_warns_once_for_each_place_that_calls_it():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            reasonact.v35.ReActV2("question -> answer", tools=[])
        reasonact.v35.ReActV2("question -> answer", tools=[])
    assert [DeprecationWarning] * 2 == [warning.category for warning in caught]
    assert [__file__] * 2 == [warning.filename for warning in caught]
    assert 1 == caught[1].lineno - caught[0].lineno
    assert "write ReAct" in str(caught[0].message)


def test_the_alias_raises_each_time_where_warnings_are_errors():
    def make():
        return reasonact.v35.ReActV2("question -> answer", tools=[])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(DeprecationWarning):
                make()


def test_what_the_alias_makes_is_the_structured_agent():
    with pytest.warns(DeprecationWarning):
        agent = reasonact.v35.ReActV2("question -> answer", tools=[], strict=True)
    assert type(agent) is reasonact.v35.ReAct
    assert agent.strict
    assert type(pickle.loads(pickle.dumps(agent))) is type(copy.deepcopy(agent)) is reasonact.v35.ReAct
    assert reasonact.v35.ReActV2 is pickle.loads(pickle.dumps(reasonact.v35.ReActV2))


def test_alias_and_agent_are_instances_and_subclasses_of_one_another():
    old, new = reasonact.v35.ReActV2, reasonact.v35.ReAct
    agent = new("question -> answer", tools=[])
    assert isinstance(agent, old) and isinstance(agent, new)
    assert issubclass(old, new) and issubclass(new, old)
    assert not isinstance(reasonact.TrajectoryReAct("question -> answer", tools=[]), old)


def test_a_subclass_of_the_alias_warns_where_it_is_made_and_is_a_class_of_its_own():
    with pytest.warns(DeprecationWarning) as caught:

        class Mine(reasonact.v35.ReActV2):
            def truncate_history(self, history):
                return None

    assert [__file__] == [warning.filename for warning in caught]
    agent = Mine("question -> answer", tools=[])
    assert type(agent) is Mine
    assert isinstance(agent, reasonact.v35.ReAct) and isinstance(agent, reasonact.v35.ReActV2)
    assert not isinstance(reasonact.v35.ReAct("question -> answer", tools=[]), Mine)
    assert not issubclass(reasonact.v35.ReAct, Mine)
    with native(SUBMIT):
        assert "42" == agent(question="q").answer


def test_a_subclass_of_such_a_subclass_warns_no_more():
    with pytest.warns(DeprecationWarning):

        class First(reasonact.v35.ReActV2):
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Second(First):
            pass

    assert issubclass(Second, reasonact.v36.ReAct)


@pytest.mark.parametrize("method", ["truncate_trajectory", "_format_trajectory"])
def test_a_hook_that_the_structured_agent_never_calls_warns_at_the_class(method):
    with pytest.warns(UserWarning, match=f"Mine defines {method}.*truncate_history") as caught:
        type("Mine", (reasonact.v35.ReAct,), {method: lambda self, trajectory: trajectory})
    assert [__file__] == [warning.filename for warning in caught]


def test_a_hook_of_the_trajectory_agent_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Mine(reasonact.v35.TrajectoryReAct):
            def truncate_trajectory(self, trajectory):
                return {}

    assert issubclass(Mine, reasonact.ReAct)


def test_objects_of_all_lines_work_together():
    history = reasonact.v36.History(messages=[])
    agent = reasonact.v35.ReAct("question -> answer", tools=[reasonact.v34.Tool(len, name="length")])
    with native(SUBMIT):
        result = agent(question="q", history=history)
    assert isinstance(result, reasonact.v36.Prediction)
    assert "submit" == result.termination_reason
