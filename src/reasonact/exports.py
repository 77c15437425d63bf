"""Where every public name lives, and what is said of a name that is not here.

The package root resolves its names from these tables at first use, so that
`import reasonact` costs next to nothing and brings in only what a program touches.
Names of DSPy that stay with DSPy are refused with the way to get them. Python replaces
the text of a module's AttributeError on ``from reasonact import X``, so an import finder
says it there; it looks at nothing but those names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType
from typing import Final

_BY_MODULE: Final[Mapping[str, tuple[str, ...]]] = {
    "adapters.base": ("Adapter",),
    "adapters.chat": ("ChatAdapter",),
    "adapters.json_adapter": ("JSONAdapter",),
    "adapters.text_protocol": ("TextProtocolAdapter",),
    "adapters.two_step": ("TwoStepAdapter",),
    "adapters.xml_adapter": ("XMLAdapter",),
    "agents.confirmation": (
        "Answer",
        "Approve",
        "ConfirmationRequired",
        "Reject",
    ),
    "agents.convert": (
        "history_from_trajectory",
        "trajectory_from_history",
    ),
    "agents.overflow": ("drop_oldest_turns",),
    "agents.react": ("ReAct",),
    "agents.react_v2": ("ReActV2",),
    "agents.respond": ("respond_to_confirmation",),
    "agents.run_state": ("RunState",),
    "errors": (
        "AdapterParseError",
        "ContextWindowExceededError",
        "ControlFlow",
        "DSPyError",
        "LMAuthError",
        "LMBillingError",
        "LMCollectionLimitError",
        "LMConfigurationError",
        "LMError",
        "LMInvalidRequestError",
        "LMLockTimeoutError",
        "LMNotConfiguredError",
        "LMProviderError",
        "LMRateLimitError",
        "LMServerError",
        "LMStreamAssemblyError",
        "LMTimeoutError",
        "LMTransportError",
        "LMUnexpectedError",
        "LMUnsupportedFeatureError",
        "LMUnsupportedModelError",
        "is_retryable_lm_error",
    ),
    "lm.base": ("BaseLM",),
    "lm.cache": (
        "cache",
        "configure_cache",
    ),
    "lm.inspect_history": ("inspect_history",),
    "lm.litellm_client": ("LM",),
    "lm.litellm_setup": (
        "disable_litellm_logging",
        "enable_litellm_logging",
    ),
    "lm.usage": ("track_usage",),
    "migration.agent_names": ("TrajectoryReAct",),
    "modules.base_module": ("BaseModule",),
    "modules.batch": ("TooManyErrors",),
    "modules.chain_of_thought": ("ChainOfThought",),
    "modules.evaluate": (
        "Evaluate",
        "EvaluationResult",
    ),
    "modules.execute": ("OutputStreamChunk",),
    "modules.load_program": ("load",),
    "modules.module": ("Module",),
    "modules.parallel": ("Parallel",),
    "modules.predict": ("Predict",),
    "modules.syncify": ("syncify",),
    "runtime.asyncify": ("asyncify",),
    "runtime.limits": ("Limits",),
    "runtime.logs": ("configure_dspy_loggers", "disable_logging", "enable_logging"),
    "runtime.settings": (
        "configure",
        "context",
        "load_settings",
        "settings",
    ),
    "signatures.fields": (
        "InputField",
        "OutputField",
        "infer_prefix",
    ),
    "signatures.meta": ("SignatureMeta",),
    "signatures.signature": (
        "Signature",
        "ensure_signature",
        "make_signature",
    ),
    "streaming.streamify": ("streamify",),
    "tools.decorator": ("tool",),
    "tools.mcp": ("MCPTools",),
    "tools.tool": ("Tool",),
    "types.audio": ("Audio",),
    "types.base": ("Type",),
    "types.code": ("Code",),
    "types.example": ("Example",),
    "types.file": ("File",),
    "types.history": ("History",),
    "types.image": ("Image",),
    "types.prediction": (
        "Completions",
        "Prediction",
    ),
    "types.reasoning": ("Reasoning",),
    "types.tool_calls": (
        "ToolCallResults",
        "ToolCalls",
    ),
    "view.recorded_run": ("load_run",),
}

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {name: f"reasonact.{module}" for module, names in _BY_MODULE.items() for name in names}
)
"""Public name to the module that defines it."""

SUBMODULES: Final = frozenset(
    {
        "adapters",
        "agents",
        "errors",
        "evaluate",
        "lm",
        "modules",
        "runtime",
        "signatures",
        "streaming",
        "testing",
        "tools",
        "types",
        "utils",
    }
)
"""Parts that are reached as attributes too, without an import of their own."""

_OPTIMISERS: Final = "it carries the agents, without DSPy's optimisers and their training data"
_RETRIEVAL: Final = "it carries the agents, without retrievers and embeddings; a tool may use any"
_FINETUNING: Final = "it asks models and does not train them"
_SAMPLING: Final = "it carries Predict, ChainOfThought and the two agents, and no other reasoning module"
_CODE: Final = "it runs no model-written code; give an agent a tool that does"
_OLD_FIELDS: Final = "the field forms of DSPy 1 are gone: write InputField and OutputField"
_INNER: Final = "that is a part of DSPy's own making"

_REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    _OPTIMISERS: (
        "AvatarOptimizer",
        "BetterTogether",
        "BootstrapFewShot",
        "BootstrapFewShotWithOptuna",
        "BootstrapFewShotWithRandomSearch",
        "BootstrapRS",
        "COPRO",
        "Ensemble",
        "GEPA",
        "InferRules",
        "KNNFewShot",
        "LabeledFewShot",
        "MIPROv2",
        "SIMBA",
        "bootstrap_trace_data",
        "datasets",
        "experimental",
        "propose",
        "teleprompt",
    ),
    _RETRIEVAL: ("ColBERTv2", "Embedder", "Embeddings", "EmbeddingsWithScores", "KNN", "Retrieve", "retrievers"),
    _FINETUNING: ("BootstrapFinetune", "Provider", "TrainingJob"),
    _SAMPLING: ("BestOfN", "Flex", "MultiChainComparison", "Refine", "majority"),
    _CODE: (
        "CodeAct",
        "CodeExecutionError",
        "CodeInterpreter",
        "CodeInterpreterError",
        "FinalOutput",
        "LocalInterpreter",
        "ProgramOfThought",
        "PythonInterpreter",
        "RLM",
        "SandboxSerializable",
        "resolve_interpreter_factory",
    ),
    _OLD_FIELDS: ("OldField", "OldInputField", "OldOutputField"),
    _INNER: ("lm15",),
}

NOT_OURS: Final[Mapping[str, str]] = MappingProxyType(
    {name: reason for reason, names in _REASONS.items() for name in names}
)
"""Name that stays with DSPy to the reason why."""


def find(name: str) -> object:
    """Import what a public name of the package stands for.

    Args:
        name: An attribute that was asked of the package.

    Returns:
        The object, or the submodule.

    Raises:
        AttributeError: The package has no such name; the text says whose it is, or which
            names are close.
    """
    if name in NAMES:
        return getattr(import_module(NAMES[name]), name)
    if name in SUBMODULES:
        return import_module(f"reasonact.{name}")
    if name in NOT_OURS:
        raise AttributeError(_refusal(name))
    raise AttributeError(f"module 'reasonact' has no attribute {name!r}{_hint(name)}")


def listed(present: Iterable[str]) -> list[str]:
    """What ``dir(reasonact)`` shows: the public names, the submodules, the dunder names.

    Args:
        present: The names that the package holds now.

    Returns:
        Names in order.
    """
    return sorted({*NAMES, *SUBMODULES, *(name for name in present if name.startswith("__"))})


class RefusingFinder:
    """An import finder that refuses ``reasonact.X`` for the names that stay with DSPy.

    It stands last in ``sys.meta_path`` and finds nothing: every other name is passed by.
    """

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a name that is not ours.

        Args:
            fullname: The module that is being imported.
            path: Unused.
            target: Unused.

        Returns:
            None: the module is for other finders, or for nobody.

        Raises:
            ImportError: The name stays with DSPy.
        """
        package, _, name = fullname.partition(".")
        if package == "reasonact" and name in NOT_OURS:
            raise ImportError(_refusal(name), name=fullname)
        return None


def install_finder() -> None:
    """Put `RefusingFinder` last among the import finders, once."""
    if RefusingFinder not in sys.meta_path:
        sys.meta_path.append(RefusingFinder)


def _refusal(name: str) -> str:
    way = f"import dspy.{name}" if name.islower() else f"import dspy, then dspy.{name}"
    return f"reasonact has no {name!r}: {NOT_OURS[name]}. DSPy's own works beside reasonact: {way}"


def _hint(name: str) -> str:
    if name.startswith("_"):
        return ""  # protocol look-ups (copy, pickle, inspect) ask for these and read no text
    from difflib import get_close_matches

    lowered = {known.lower(): known for known in (*NAMES, *SUBMODULES)}
    close = [lowered[match] for match in get_close_matches(name.lower(), lowered, n=3, cutoff=0.7)]
    return f"; close to it: {', '.join(close)}" if close else ""
