"""LM before its first request: what it refuses, what it knows, and what it does not import."""

import os
import subprocess
import sys

import pytest

from reasonact.errors import LMConfigurationError
from reasonact.lm.litellm_client import LM


def python(code, **env):
    """Run code in a fresh interpreter; its output lines."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
        env={k: v for k, v in {**os.environ, **env}.items() if v is not None},
    )
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    "name", ["engine", "async_engine", "prompt_cache", "provider", "finetuning_model", "launch_kwargs", "train_kwargs"]
)
def test_a_keyword_of_dspy_that_is_not_offered_is_refused_with_its_reason(name):
    with pytest.raises(TypeError, match=rf"LM\({name}=\.\.\.\) is not offered here: \w+"):
        LM("openai/gpt-4o-mini", **{name: "x"})


def test_an_unknown_model_type_or_capability_is_refused():
    with pytest.raises(ValueError, match="'chat', 'text', 'responses'"):
        LM("openai/gpt-4o-mini", model_type="embedding")
    with pytest.raises(ValueError, match="tool_calling"):
        LM("openai/gpt-4o-mini", supports={"tool_calling": True})


def test_what_a_reasoning_model_refuses_is_refused_at_construction():
    with pytest.raises(LMConfigurationError, match="temperature=1 or None"):
        LM("openai/o3", temperature=0.0)
    with pytest.raises(LMConfigurationError, match="max_tokens=16000 or more"):
        LM("openai/gpt-5-mini", max_tokens=100)
    assert {"temperature": 1, "max_completion_tokens": 20000} == LM("openai/o3", temperature=1, max_tokens=20000).kwargs


def test_named_capabilities_win_over_the_tables():
    lm = LM("hosted_vllm/mine", supports={"function_calling": True, "response_schema": True})
    assert (True, True, False) == (lm.supports_function_calling, lm.supports_response_schema, lm.supports_reasoning)
    assert not LM("openai/gpt-4o-mini", supports={"function_calling": False}).supports_function_calling


def test_capabilities_of_known_models_come_from_litellms_tables():
    lm = LM("openai/gpt-4o-mini")
    assert (True, True, False) == (lm.supports_function_calling, lm.supports_response_schema, lm.supports_reasoning)
    assert {"tools", "response_format", "temperature"} <= lm.supported_params
    assert set() == LM("nonsense").supported_params


def test_importing_and_constructing_bring_in_no_provider_library():
    code = """
import sys
from reasonact.lm.litellm_client import LM
import reasonact.testing
lm = LM("openai/gpt-4o-mini", api_key="k").copy(temperature=0.5)
lm.dump_state()
print(sorted({"litellm", "openai", "httpx", "tenacity"} & set(sys.modules)))
"""
    assert ["[]"] == python(code)


def test_litellm_is_loaded_with_its_own_price_list_and_kept_quiet():
    code = """
import logging, os
from reasonact.lm.litellm_setup import enable_litellm_logging, get_litellm
litellm = get_litellm()
print(os.environ["LITELLM_LOCAL_MODEL_COST_MAP"], litellm.suppress_debug_info, litellm.telemetry)
print(litellm.disable_streaming_logging, logging.getLogger("LiteLLM").level == logging.ERROR)
enable_litellm_logging()
print(litellm.suppress_debug_info, logging.getLogger("LiteLLM").level == logging.DEBUG)
"""
    assert ["True True False", "True True", "False True"] == python(
        code, LITELLM_LOCAL_MODEL_COST_MAP=None, LITELLM_LOG=None, LITELLM_TELEMETRY=None
    )[:3]


def test_what_the_user_has_set_for_litellm_stands():
    code = """
import os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
import litellm
from reasonact.lm.litellm_setup import get_litellm
get_litellm()
print(os.environ["LITELLM_LOCAL_MODEL_COST_MAP"], litellm.suppress_debug_info, litellm.disable_streaming_logging)
"""
    assert ["true False False"] == python(code, LITELLM_LOG="WARNING")


@pytest.mark.parametrize("model", [None, 5, ["openai/gpt-4o-mini"]])
def test_a_model_that_is_no_name_is_refused(model):
    with pytest.raises(TypeError, match="expected the name of a model"):
        LM(model)


def test_of_a_model_that_no_table_knows_the_log_says_once_how_to_say_that_it_takes_tools(caplog):
    lm = LM("hosted_vllm/mine")
    assert [False, False] == [lm.supports_function_calling, lm.supports_function_calling]
    (said,) = [record.getMessage() for record in caplog.records if record.name == "reasonact.lm"]
    assert "LM('hosted_vllm/mine', supports=dict(function_calling=True))" in said


@pytest.mark.parametrize(
    ("model", "supports"), [("hosted_vllm/mine", False), ("hosted_vllm/mine", True), ("gpt-4", None)]
)
def test_where_it_is_known_whether_a_model_takes_tools_the_log_is_silent(model, supports, caplog):
    lm = LM(model, supports=None if supports is None else {"function_calling": supports})
    assert bool(supports is not False) == lm.supports_function_calling
    assert [] == caplog.records
