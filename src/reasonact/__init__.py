"""DSPy's ReAct and ReActV2 agents as a library of their own.

``import reasonact as dspy`` is the one line that a program built on DSPy's agents changes.
Every name is imported when it is first used; `reasonact.exports` holds the table. Type
checkers read the imports below, and a test keeps the two in step.
"""

from typing import TYPE_CHECKING

from reasonact import exports as _exports

if TYPE_CHECKING:
    from reasonact import adapters as adapters
    from reasonact import agents as agents
    from reasonact import errors as errors
    from reasonact import evaluate as evaluate
    from reasonact import lm as lm
    from reasonact import modules as modules
    from reasonact import runtime as runtime
    from reasonact import signatures as signatures
    from reasonact import streaming as streaming
    from reasonact import testing as testing
    from reasonact import tools as tools
    from reasonact import types as types
    from reasonact import utils as utils
    from reasonact.adapters.base import Adapter as Adapter
    from reasonact.adapters.chat import ChatAdapter as ChatAdapter
    from reasonact.adapters.json_adapter import JSONAdapter as JSONAdapter
    from reasonact.adapters.text_protocol import TextProtocolAdapter as TextProtocolAdapter
    from reasonact.adapters.two_step import TwoStepAdapter as TwoStepAdapter
    from reasonact.adapters.xml_adapter import XMLAdapter as XMLAdapter
    from reasonact.agents.confirmation import Answer as Answer
    from reasonact.agents.confirmation import Approve as Approve
    from reasonact.agents.confirmation import ConfirmationRequired as ConfirmationRequired
    from reasonact.agents.confirmation import Reject as Reject
    from reasonact.agents.convert import history_from_trajectory as history_from_trajectory
    from reasonact.agents.convert import trajectory_from_history as trajectory_from_history
    from reasonact.agents.overflow import drop_oldest_turns as drop_oldest_turns
    from reasonact.agents.react import ReAct as ReAct
    from reasonact.agents.react_v2 import ReActV2 as ReActV2
    from reasonact.agents.respond import respond_to_confirmation as respond_to_confirmation
    from reasonact.agents.run_state import RunState as RunState
    from reasonact.errors import AdapterParseError as AdapterParseError
    from reasonact.errors import ContextWindowExceededError as ContextWindowExceededError
    from reasonact.errors import ControlFlow as ControlFlow
    from reasonact.errors import DSPyError as DSPyError
    from reasonact.errors import LMAuthError as LMAuthError
    from reasonact.errors import LMBillingError as LMBillingError
    from reasonact.errors import LMCollectionLimitError as LMCollectionLimitError
    from reasonact.errors import LMConfigurationError as LMConfigurationError
    from reasonact.errors import LMError as LMError
    from reasonact.errors import LMInvalidRequestError as LMInvalidRequestError
    from reasonact.errors import LMLockTimeoutError as LMLockTimeoutError
    from reasonact.errors import LMNotConfiguredError as LMNotConfiguredError
    from reasonact.errors import LMProviderError as LMProviderError
    from reasonact.errors import LMRateLimitError as LMRateLimitError
    from reasonact.errors import LMServerError as LMServerError
    from reasonact.errors import LMStreamAssemblyError as LMStreamAssemblyError
    from reasonact.errors import LMTimeoutError as LMTimeoutError
    from reasonact.errors import LMTransportError as LMTransportError
    from reasonact.errors import LMUnexpectedError as LMUnexpectedError
    from reasonact.errors import LMUnsupportedFeatureError as LMUnsupportedFeatureError
    from reasonact.errors import LMUnsupportedModelError as LMUnsupportedModelError
    from reasonact.errors import is_retryable_lm_error as is_retryable_lm_error
    from reasonact.lm.base import BaseLM as BaseLM
    from reasonact.lm.cache import cache as cache
    from reasonact.lm.cache import configure_cache as configure_cache
    from reasonact.lm.inspect_history import inspect_history as inspect_history
    from reasonact.lm.litellm_client import LM as LM
    from reasonact.lm.litellm_setup import disable_litellm_logging as disable_litellm_logging
    from reasonact.lm.litellm_setup import enable_litellm_logging as enable_litellm_logging
    from reasonact.lm.usage import track_usage as track_usage
    from reasonact.migration.agent_names import TrajectoryReAct as TrajectoryReAct
    from reasonact.modules.base_module import BaseModule as BaseModule
    from reasonact.modules.batch import TooManyErrors as TooManyErrors
    from reasonact.modules.chain_of_thought import ChainOfThought as ChainOfThought
    from reasonact.modules.evaluate import Evaluate as Evaluate
    from reasonact.modules.evaluate import EvaluationResult as EvaluationResult
    from reasonact.modules.execute import OutputStreamChunk as OutputStreamChunk
    from reasonact.modules.load_program import load as load
    from reasonact.modules.module import Module as Module
    from reasonact.modules.parallel import Parallel as Parallel
    from reasonact.modules.predict import Predict as Predict
    from reasonact.modules.syncify import syncify as syncify
    from reasonact.runtime.asyncify import asyncify as asyncify
    from reasonact.runtime.limits import Limits as Limits
    from reasonact.runtime.logs import configure_dspy_loggers as configure_dspy_loggers
    from reasonact.runtime.logs import disable_logging as disable_logging
    from reasonact.runtime.logs import enable_logging as enable_logging
    from reasonact.runtime.settings import configure as configure
    from reasonact.runtime.settings import context as context
    from reasonact.runtime.settings import load_settings as load_settings
    from reasonact.runtime.settings import settings as settings
    from reasonact.signatures.fields import InputField as InputField
    from reasonact.signatures.fields import OutputField as OutputField
    from reasonact.signatures.fields import infer_prefix as infer_prefix
    from reasonact.signatures.meta import SignatureMeta as SignatureMeta
    from reasonact.signatures.signature import Signature as Signature
    from reasonact.signatures.signature import ensure_signature as ensure_signature
    from reasonact.signatures.signature import make_signature as make_signature
    from reasonact.streaming.streamify import streamify as streamify
    from reasonact.tools.decorator import tool as tool
    from reasonact.tools.mcp import MCPTools as MCPTools
    from reasonact.tools.tool import Tool as Tool
    from reasonact.types.audio import Audio as Audio
    from reasonact.types.base import Type as Type
    from reasonact.types.code import Code as Code
    from reasonact.types.example import Example as Example
    from reasonact.types.file import File as File
    from reasonact.types.history import History as History
    from reasonact.types.image import Image as Image
    from reasonact.types.prediction import Completions as Completions
    from reasonact.types.prediction import Prediction as Prediction
    from reasonact.types.reasoning import Reasoning as Reasoning
    from reasonact.types.tool_calls import ToolCallResults as ToolCallResults
    from reasonact.types.tool_calls import ToolCalls as ToolCalls
    from reasonact.view.recorded_run import load_run as load_run
else:
    __all__ = list(_exports.NAMES)

    _exports.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _exports.find(name)
        return value

    def __dir__() -> list[str]:
        return _exports.listed(globals())
