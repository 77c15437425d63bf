"""DSPy's ReAct and ReActV2 agents as a library of their own.

``import reasonact as dspy`` is the one line that a program built on DSPy's agents changes.
Every name is imported when it is first used; `reasonact.exports` holds the table. Type
checkers read the imports below, and a test keeps the two in step.
"""

from typing import TYPE_CHECKING

from reasonact import exports as _exports

if TYPE_CHECKING:
    from reasonact import agents as agents
    from reasonact import errors as errors
    from reasonact import lm as lm
    from reasonact import modules as modules
    from reasonact import runtime as runtime
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
    from reasonact.lm.inspect_history import inspect_history as inspect_history
    from reasonact.lm.usage import track_usage as track_usage
    from reasonact.modules.chain_of_thought import ChainOfThought as ChainOfThought
    from reasonact.modules.module import BaseModule as BaseModule
    from reasonact.modules.module import Module as Module
    from reasonact.modules.predict import Predict as Predict
    from reasonact.runtime.limits import Limits as Limits
    from reasonact.runtime.settings import configure as configure
    from reasonact.runtime.settings import context as context
    from reasonact.runtime.settings import load_settings as load_settings
    from reasonact.runtime.settings import settings as settings
else:
    __all__ = list(_exports.NAMES)

    _exports.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _exports.find(name)
        return value

    def __dir__() -> list[str]:
        return _exports.listed(globals())
