"""The names of the package root: what resolves, what is refused, and what costs nothing."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import reasonact
from reasonact import exports

ROOT = Path(reasonact.__file__)
IMPORT_PATHS_ONLY = ("v34", "v35", "v36", "as_dspy")
TO_COME: set[str] = set()
DSPY_ONLY = ("BestOfN", "Refine", "MIPROv2", "Embedder", "RLM", "OldField", "teleprompt", "retrievers", "lm15")


def run_python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def imports_for_type_checkers() -> dict[str, str]:
    tree = ast.parse(ROOT.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.name == alias.asname  # the form that type checkers take as handing a name on
            found[alias.name] = str(node.module)
    return found


@pytest.mark.parametrize("name", exports.NAMES)
def test_a_public_name_is_what_its_module_defines(name):
    assert getattr(import_module(exports.NAMES[name]), name) is getattr(reasonact, name)


def test_all_lists_every_public_name_once():
    assert sorted(exports.NAMES) == sorted(reasonact.__all__)


def test_dir_shows_names_and_submodules_and_no_import_path():
    shown = dir(reasonact)
    assert set() == {*reasonact.__all__, *exports.SUBMODULES} - set(shown)
    assert set() == set(shown) & {*IMPORT_PATHS_ONLY, *exports.NOT_OURS, "find", "exports"}


def test_type_checkers_are_shown_the_same_names():
    expected = {**exports.NAMES, **dict.fromkeys(exports.SUBMODULES, "reasonact")}
    assert expected == imports_for_type_checkers()


def test_a_star_import_takes_the_public_names_alone():
    program = "from reasonact import *; print(sorted(n for n in dir() if not n.startswith('__')))"
    assert str(sorted(exports.NAMES)) == run_python(program)


def test_a_resolved_name_is_kept():
    assert "False True" == run_python(
        "import reasonact as r; before = 'DSPyError' in vars(r); r.DSPyError; print(before, 'DSPyError' in vars(r))"
    )


@pytest.mark.parametrize("name", sorted(exports.SUBMODULES))
def test_a_part_is_reached_as_an_attribute(name):
    assert f"reasonact.{name}" == run_python(f"import reasonact; print(reasonact.{name}.__name__)")


@pytest.mark.parametrize("name", IMPORT_PATHS_ONLY)
def test_a_pinned_import_path_is_never_resolved_by_attribute(name):
    assert "False" == run_python(f"import reasonact; print(hasattr(reasonact, {name!r}))")


@pytest.mark.parametrize("name", DSPY_ONLY)
def test_a_name_that_stays_with_dspy_is_refused_with_the_reason_and_the_way(name):
    with pytest.raises(AttributeError) as refused:
        getattr(reasonact, name)
    assert f"reasonact has no {name!r}" in str(refused.value)
    assert exports.NOT_OURS[name] in str(refused.value)
    assert "import dspy" in str(refused.value)


@pytest.mark.parametrize("name", sorted(exports.NOT_OURS))
def test_an_import_of_it_says_the_same(name):
    with pytest.raises(AttributeError) as refused:
        getattr(reasonact, name)
    for statement in (f"from reasonact import {name}", f"import reasonact.{name}", f"import reasonact.{name}.deeper"):
        with pytest.raises(ImportError) as error:
            exec(statement, {})
        assert str(refused.value) == str(error.value)
    assert not hasattr(reasonact, name)


def test_no_name_is_both_ours_and_refused():
    assert set() == {*exports.NAMES, *exports.SUBMODULES} & set(exports.NOT_OURS)


def test_every_public_name_of_dspy_resolves_or_is_refused():
    # A name that is neither would die in a program with a text that says nothing of the way out.
    theirs = set(ast.literal_eval(run_python("import dspy; print([n for n in dir(dspy) if n[0] != '_'])")))
    folders_of_its_own_making = {"clients", "dsp", "predict", "primitives", "threading"}
    assert TO_COME == theirs - {*dir(reasonact), *exports.NOT_OURS} - folders_of_its_own_making


def test_a_typo_is_answered_by_the_names_close_to_it():
    with pytest.raises(AttributeError, match="close to it: AdapterParseError"):
        getattr(reasonact, "adapterparserror")


def test_a_name_far_from_all_is_answered_without_a_guess():
    with pytest.raises(AttributeError, match=r"^module 'reasonact' has no attribute 'qqqq'$"):
        getattr(reasonact, "qqqq")


def test_an_unknown_module_below_the_package_is_pythons_own_error():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'reasonact\.qqqq'"):
        exec("import reasonact.qqqq", {})


def test_the_finder_passes_by_what_is_not_asked_of_this_package():
    assert None is exports.RefusingFinder.find_spec("dspy.teleprompt")
    assert None is exports.RefusingFinder.find_spec("teleprompt")
    assert None is exports.RefusingFinder.find_spec("reasonact.agents")


def test_the_finder_is_installed_once_and_last():
    exports.install_finder()
    assert 1 == sys.meta_path.count(exports.RefusingFinder)


def test_a_class_of_the_root_is_pickled_by_its_own_module():
    assert reasonact.DSPyError is pickle.loads(pickle.dumps(reasonact.DSPyError))
