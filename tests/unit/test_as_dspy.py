"""The stand-in for ``dspy``: each program runs in a process of its own, as it takes the name for good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import reasonact
from reasonact import exports
from reasonact.migration.dspy_functions import (
    convert_input_schema_to_tool_args,
    convert_langchain_tool,
    convert_mcp_tool,
    dotdict,
)
from reasonact.migration.dspy_paths import PATHS, home
from reasonact.migration.stand_in import StandIn, StandInFinder, StandInLoader, take_the_place

ADAPTERS = "Adapter ChatAdapter JSONAdapter XMLAdapter TwoStepAdapter"
TYPES = "Tool ToolCalls ToolCallResults History Reasoning Image Audio File Code Type"
SIGNATURES = "Signature SignatureMeta ensure_signature make_signature infer_prefix InputField OutputField"
STREAMING = "StatusMessage StatusMessageProvider StreamListener StreamResponse apply_sync_streaming streamify"
ERRORS = "format_error_for_lm " + " ".join(
    n for n, m in exports.NAMES.items() if m == "reasonact.errors" and not n.startswith("Co")
)

USED = {
    "dspy": f"ReAct ReActV2 Predict ChainOfThought Module LM settings configure context track_usage {TYPES} {ADAPTERS}",
    "dspy.adapters": f"{ADAPTERS} {TYPES}",
    "dspy.adapters.base": "Adapter",
    "dspy.adapters.chat_adapter": "ChatAdapter FieldInfoWithName",
    "dspy.adapters.json_adapter": "JSONAdapter FieldInfoWithName",
    "dspy.adapters.xml_adapter": "XMLAdapter FieldInfoWithName",
    "dspy.adapters.two_step_adapter": "TwoStepAdapter",
    "dspy.adapters.types": TYPES,
    "dspy.adapters.types.base_type": "Type",
    "dspy.adapters.types.tool": "Tool ToolCalls ToolCallResults convert_input_schema_to_tool_args",
    "dspy.adapters.types.history": "History",
    "dspy.adapters.types.reasoning": "Reasoning",
    "dspy.adapters.types.image": "Image encode_image",
    "dspy.adapters.types.audio": "Audio",
    "dspy.adapters.types.file": "File encode_file_to_dict",
    "dspy.adapters.types.code": "Code",
    "dspy.adapters.utils": (
        "parse_value format_field_value serialize_for_json get_annotation_name translate_field_type "
        "get_field_description_string"
    ),
    "dspy.clients": "LM BaseLM Cache configure_cache",
    "dspy.clients.lm": "LM",
    "dspy.clients.base_lm": "BaseLM GLOBAL_HISTORY",
    "dspy.clients.cache": "Cache request_cache",
    "dspy.dsp.utils.settings": "settings",
    "dspy.dsp.utils.utils": "dotdict",
    "dspy.evaluate": "Evaluate EvaluationResult",
    "dspy.evaluate.evaluate": "Evaluate EvaluationResult",
    "dspy.predict": "Predict ChainOfThought ReAct ReActV2 Parallel",
    "dspy.predict.predict": "Predict",
    "dspy.predict.chain_of_thought": "ChainOfThought",
    "dspy.predict.react": "ReAct",
    "dspy.predict.react_v2": "ReActV2",
    "dspy.predict.parallel": "Parallel",
    "dspy.predict.parameter": "Parameter",
    "dspy.primitives": "Module Example Prediction Completions",
    "dspy.primitives.module": "Module set_attribute_by_name",
    "dspy.primitives.base_module": "BaseModule",
    "dspy.primitives.example": "Example",
    "dspy.primitives.prediction": "Prediction Completions",
    "dspy.signatures": SIGNATURES,
    "dspy.signatures.signature": SIGNATURES,
    "dspy.signatures.field": "InputField OutputField",
    "dspy.streaming": STREAMING,
    "dspy.streaming.messages": "StatusMessage StatusMessageProvider StreamResponse",
    "dspy.streaming.streamify": "streamify apply_sync_streaming",
    "dspy.streaming.streaming_listener": "StreamListener",
    "dspy.utils": "DummyLM BaseCallback with_callbacks",
    "dspy.utils.asyncify": "asyncify get_limiter",
    "dspy.utils.syncify": "syncify",
    "dspy.utils.callback": "ACTIVE_CALL_ID BaseCallback with_callbacks",
    "dspy.utils.dummies": "DummyLM",
    "dspy.utils.exceptions": ERRORS,
    "dspy.utils.inspect_history": "pretty_print_history",
    "dspy.utils.mcp": "convert_mcp_tool",
    "dspy.utils.langchain_tool": "convert_langchain_tool",
    "dspy.utils.parallelizer": "ParallelExecutor",
    "dspy.utils.saving": "load",
    "dspy.utils.usage_tracker": "UsageTracker track_usage",
    "dspy.utils.logging_utils": "configure_dspy_loggers disable_logging enable_logging",
}
"""What programs and integrations import from DSPy, by path."""

TO_COME: set[str] = set()
"""Names of rooms that are not there yet; one that resolves has to leave this list."""


def run_python(program: str) -> str:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert 0 == done.returncode, done.stderr
    return done.stdout.strip()


def refusal(statement: str) -> tuple[str, str]:
    """The class and the text of the error that a statement raises under the stand-in."""
    program = f"""
import json, reasonact.as_dspy
try:
    exec({statement!r})
except Exception as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""
    return tuple(json.loads(run_python(program)))


def test_every_path_and_name_that_programs_import_resolves():
    program = f"""
import json, reasonact.as_dspy
from importlib import import_module
missing = []
for path, names in {USED!r}.items():
    for name in names.split():
        try:
            exec(f"from {{path}} import {{name}}")
        except Exception:
            missing.append(name)
print(json.dumps(sorted(set(missing))))
"""
    assert sorted(TO_COME) == json.loads(run_python(program))


def test_every_name_of_a_path_resolves():
    program = f"""
import json, reasonact.as_dspy
from importlib import import_module
from reasonact.migration.dspy_paths import PATHS
missing = set()
for path, names in PATHS.items():
    module = import_module(f"dspy.{{path}}")
    missing |= {{name for name in names if name not in {TO_COME!r} and not hasattr(module, name)}}
print(json.dumps(sorted(missing)))
"""
    assert [] == json.loads(run_python(program))


def test_dspy_has_every_path_and_name_too():
    # A name that DSPy keeps elsewhere would be of no use to a program that was written for it.
    program = f"""
import json, warnings; warnings.simplefilter("ignore")
from importlib import import_module
paths = json.loads({json.dumps(dict(PATHS))!r})
print(json.dumps([[path, name] for path, names in paths.items() for name in names
                  if not hasattr(import_module(f"dspy.{{path}}"), name)]))
"""
    assert [] == json.loads(run_python(program))


def test_every_name_of_a_path_is_imported_from_somewhere():
    lost = {name for names in PATHS.values() for name in names if home(name) is None}
    assert set() == lost - TO_COME


def test_an_object_is_the_same_under_every_path():
    program = """
import reasonact.as_dspy, reasonact, dspy, dspy.adapters.types.tool, dspy.clients.lm
from dspy.adapters.types.tool import Tool
from dspy.primitives.prediction import Prediction
from dspy.utils.callback import ACTIVE_CALL_ID
from reasonact.runtime import callbacks
print(Tool is reasonact.Tool is dspy.Tool is dspy.adapters.Tool, Prediction is reasonact.Prediction,
      dspy.clients.lm.LM is reasonact.LM, ACTIVE_CALL_ID is callbacks.ACTIVE_CALL_ID,
      dspy.settings is reasonact.settings)
"""
    assert "True True True True True" == run_python(program)


def test_a_part_is_reached_without_an_import_of_its_own():
    program = "import reasonact.as_dspy, dspy; print(dspy.utils.callback.BaseCallback is dspy.utils.BaseCallback)"
    assert "True" == run_python(program)


def test_a_function_keeps_its_place_beside_the_module_of_its_name():
    program = """
import reasonact.as_dspy
import dspy.utils, dspy.dsp.utils
before = dspy.dsp.utils.settings
import dspy.dsp.utils.settings
print(before is dspy.dsp.utils.settings, type(before).__name__)
"""
    assert "True Settings" == run_python(program)


def test_the_import_alone_brings_in_no_room():
    program = """
import sys, reasonact.as_dspy, dspy, dspy.adapters.types.tool
print("pydantic" in sys.modules, "reasonact.tools.tool" in sys.modules)
"""
    assert "False False" == run_python(program)


def test_a_second_import_changes_nothing():
    program = """
import importlib, sys, reasonact.as_dspy, dspy
importlib.reload(reasonact.as_dspy)
from reasonact.migration.stand_in import StandInFinder
import dspy as again
print(again is dspy, sys.meta_path.count(StandInFinder))
"""
    assert "True 1" == run_python(program)


def test_it_refuses_where_the_real_dspy_is_imported_already():
    program = """
import dspy
try:
    import reasonact.as_dspy
except ImportError as error:
    print(error)
print(dspy.BestOfN.__name__)
"""
    text, name = run_python(program).splitlines()
    assert "dspy is imported already, from " in text and "dspy/__init__.py" in text
    assert "import reasonact.as_dspy before anything that imports dspy" in text
    assert "BestOfN" == name


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("import dspy.foo", "dspy.foo"),
        ("import dspy.adapters.foo", "dspy.adapters.foo"),
        ("import dspy.teleprompt", "dspy.teleprompt"),
        ("from dspy.teleprompt.gepa import GEPA", "dspy.teleprompt"),
    ],
)
def test_a_path_that_is_not_here_is_named(statement, named):
    kind, text = refusal(statement)
    assert "ModuleNotFoundError" == kind
    assert f"no {named!r}" in text and "reasonact" in text


@pytest.mark.parametrize(
    "statement",
    [
        "from dspy.adapters import foo",
        "from dspy.predict.react import foo",
        "from dspy import foo",
        "import dspy.predict.react.foo",
    ],
)
def test_a_name_that_a_path_has_not_is_named(statement):
    kind, text = refusal(statement)
    assert kind in ("ImportError", "ModuleNotFoundError")
    assert "foo'" in text and "dspy" in text


def test_a_name_that_stays_with_dspy_is_refused_with_the_reason():
    kind, text = refusal("from dspy import BestOfN")
    assert ("ImportError", True) == (kind, "no other reasoning module" in text)
    assert ("AttributeError", text) == refusal("import dspy; dspy.BestOfN")


def test_hasattr_tells_what_is_here():
    assert "True False" == run_python(
        "import reasonact.as_dspy, dspy; print(hasattr(dspy, 'ReAct'), hasattr(dspy, 'BestOfN'))"
    )


def test_dir_and_star_import_show_the_public_names():
    program = """
import reasonact.as_dspy, dspy, dspy.utils
from dspy.signatures import *
print(Signature is dspy.Signature, {"ReAct", "utils"} <= set(dir(dspy)), "callback" in dir(dspy.utils))
"""
    assert "True True True" == run_python(program)


def test_an_agent_program_runs_under_it():
    program = '''
import reasonact.as_dspy
import dspy
from dspy.utils.dummies import DummyLM

def add(a: int, b: int) -> int:
    """Add."""
    return a + b

lm = DummyLM([
    {"next_thought": "t", "next_tool_name": "add", "next_tool_args": {"a": 1, "b": 2}},
    {"next_thought": "t", "next_tool_name": "finish", "next_tool_args": {}},
    {"reasoning": "r", "answer": "3"},
])
with dspy.context(lm=lm):
    result = dspy.ReAct("question -> answer", tools=[add])(question="1+2?")
print(result.answer, result.trajectory["observation_0"])
'''
    assert "3 3" == run_python(program)


def test_a_schema_is_taken_apart_as_dspy_does():
    program = """
import json, sys
if {ours}:
    import reasonact.as_dspy
from dspy.adapters.types.tool import convert_input_schema_to_tool_args
args, types, texts = convert_input_schema_to_tool_args({{
    "type": "object", "required": ["a"],
    "properties": {{"a": {{"type": "integer", "description": "How many."}}, "b": {{"type": "array"}},
                   "c": {{"$ref": "#/$defs/D"}}, "d": {{"enum": [1, 2]}}}},
    "$defs": {{"D": {{"type": "object", "properties": {{"x": {{"type": "number"}}}}}}}},
}})
print(json.dumps([args, {{name: str(kind) for name, kind in types.items()}}, texts], sort_keys=True))
"""
    assert run_python(program.format(ours=False)) == run_python(program.format(ours=True))


def test_a_dotdict_is_a_dict_with_attributes():
    program = """
import reasonact.as_dspy, copy
from dspy.dsp.utils.utils import dotdict
d = dotdict({"a": 1}); d.b = 2; del d.a
print(d, d.b, copy.deepcopy(d) == d, hasattr(d, "a"))
"""
    assert "{'b': 2} 2 True False" == run_python(program)


@pytest.fixture
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The import system of this process, to be put back."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "dspy"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_finder_serves_what_is_here_and_no_other_package():
    assert None is StandInFinder.find_spec("dspyx.adapters")
    package, leaf = StandInFinder.find_spec("dspy.adapters"), StandInFinder.find_spec("dspy.adapters.types.tool")
    assert ([], None) == (package.submodule_search_locations, leaf.submodule_search_locations)
    with pytest.raises(ModuleNotFoundError, match=r"no 'dspy\.teleprompt'.*optimisers"):
        StandInFinder.find_spec("dspy.teleprompt")
    with pytest.raises(ImportError, match="no other reasoning module"):
        StandInFinder.find_spec("dspy.BestOfN")


def test_a_path_holds_its_names_and_keeps_them_from_modules_of_the_same_name():
    path = StandInLoader().create_module(StandInFinder.find_spec("dspy.utils"))
    before = path.BaseCallback
    path.BaseCallback = sys
    path.other = sys
    assert (before, sys) == (path.BaseCallback, path.other)
    assert {"BaseCallback", "callback", "__name__"} <= set(dir(path))
    with pytest.raises(AttributeError, match=r"no 'dspy\.utils\.nothing'"):
        _ = path.nothing


def test_the_root_has_the_public_names_and_parts(untouched):
    take_the_place()
    take_the_place()
    root = __import__("dspy")
    assert isinstance(root, StandIn)
    assert reasonact.Tool is root.Tool
    assert reasonact.lm is root.lm
    assert "dspy.predict" == root.predict.__name__
    assert 1 == sys.meta_path.count(StandInFinder)


def test_the_place_is_not_taken_from_the_real_dspy(untouched, monkeypatch):
    monkeypatch.setitem(sys.modules, "dspy", sys)
    with pytest.raises(ImportError, match="dspy is imported already, from"):
        take_the_place()
    assert StandInFinder not in sys.meta_path


def test_a_dotdict_says_what_it_lacks():
    table = dotdict(a=1)
    table.b = 2
    del table.a
    assert {"b": 2} == table
    for use in (lambda: table.a, lambda: delattr(table, "a")):
        with pytest.raises(AttributeError, match="no attribute 'a'"):
            use()


def test_a_schema_is_taken_apart():
    schema = {"properties": {"a": {"type": "integer"}, "b": {"type": ["null", "string"]}}, "required": ["a"]}
    args, types, texts = convert_input_schema_to_tool_args(schema)
    assert schema["properties"] == args
    assert {"a": int, "b": Any} == types
    assert texts["a"].endswith("(Required)")
    assert ({}, {}, {}) == convert_input_schema_to_tool_args({"type": "object"})


def test_tools_from_elsewhere_are_converted():
    class Session:
        async def call_tool(self, name, arguments):
            raise AssertionError

    class Listed:
        name, description = "look", "Look."
        inputSchema = {"type": "object", "properties": {"at": {"type": "string"}}}

    tool = convert_mcp_tool(Session(), Listed())
    assert ("look", "Look.", ["at"]) == (tool.name, tool.desc, list(tool.args))

    class Chained:
        name, description = "look", "Look."
        tool_call_schema = {"type": "object", "properties": {"at": {"type": "string"}}}

    assert ["at"] == list(convert_langchain_tool(Chained()).args)
