"""The import paths of DSPy that `reasonact.as_dspy` serves, and where each name stands here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from reasonact import exports

_ADAPTERS: Final = ("Adapter", "ChatAdapter", "JSONAdapter", "XMLAdapter", "TwoStepAdapter")
_TOOL_TYPES: Final = ("Tool", "ToolCalls", "ToolCallResults")
_TYPES: Final = ("Audio", "Code", "File", "History", "Image", "Reasoning", *_TOOL_TYPES, "Type")
_VALUES: Final = ("format_field_value", "parse_value", "translate_field_type")
_FIELD_FORMS: Final = (*_VALUES, "get_annotation_name", "get_field_description_string")
_FORMS: Final = (*_FIELD_FORMS, "serialize_for_json")
_ERRORS: Final = (
    *(name for name, module in exports.NAMES.items() if module == "reasonact.errors" and name != "ControlFlow"),
    "format_error_for_lm",
)
_FIELDS: Final = ("InputField", "OutputField")
_SIGNATURES: Final = ("Signature", "SignatureMeta", "ensure_signature", "infer_prefix", "make_signature", *_FIELDS)
_STREAMING: Final = ("StatusMessage", "StatusMessageProvider", "StreamListener", "StreamResponse")
_SETTINGS: Final = ("settings",)
_CALLBACKS: Final = ("BaseCallback", "with_callbacks")
_LITELLM_LOGGING: Final = ("disable_litellm_logging", "enable_litellm_logging")

PATHS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "adapters": (*_ADAPTERS, *_TYPES),
        "adapters.base": ("Adapter", "AdapterParseError", "BaseLM", "Signature", "Type", *_CALLBACKS),
        "adapters.chat_adapter": ("Adapter", "AdapterParseError", "ChatAdapter", "FieldInfoWithName", *_FIELD_FORMS),
        "adapters.json_adapter": ("AdapterParseError", "ChatAdapter", "FieldInfoWithName", "JSONAdapter", *_VALUES),
        "adapters.two_step_adapter": ("Adapter", "ChatAdapter", "TwoStepAdapter", "get_field_description_string"),
        "adapters.types": _TYPES,
        "adapters.types.audio": ("Audio", "Type"),
        "adapters.types.base_type": ("Type",),
        "adapters.types.code": ("Code", "Type"),
        "adapters.types.file": ("File", "Type", "encode_file_to_dict"),
        "adapters.types.history": ("History",),
        "adapters.types.image": ("Image", "Type", "encode_image"),
        "adapters.types.reasoning": ("Reasoning", "Type"),
        "adapters.types.tool": (*_TOOL_TYPES, "Type", "convert_input_schema_to_tool_args"),
        "adapters.utils": _FORMS,
        "adapters.xml_adapter": ("AdapterParseError", "ChatAdapter", "FieldInfoWithName", "XMLAdapter", *_VALUES),
        "clients": ("BaseLM", "Cache", "LM", "configure_cache", "inspect_history", *_LITELLM_LOGGING),
        "clients.base_lm": ("BaseLM", "GLOBAL_HISTORY", "inspect_history", "pretty_print_history"),
        "clients.cache": ("Cache", "request_cache"),
        "clients.lm": ("BaseLM", "LM", "request_cache"),
        "dsp": (),
        "dsp.utils": ("dotdict", *_SETTINGS),
        "dsp.utils.settings": ("dotdict", *_SETTINGS),
        "dsp.utils.utils": ("dotdict",),
        "evaluate": ("Evaluate", "EvaluationResult"),
        "evaluate.evaluate": ("Evaluate", "EvaluationResult", "ParallelExecutor", "Prediction"),
        "predict": ("ChainOfThought", "Parallel", "Predict", "ReAct", "ReActV2", "Tool"),
        "predict.chain_of_thought": ("ChainOfThought", "Module", "Signature", "ensure_signature"),
        "predict.parallel": ("Parallel", "ParallelExecutor", *_SETTINGS),
        "predict.parameter": ("Parameter",),
        "predict.predict": ("Module", "Parameter", "Predict", "Prediction", "Signature", "ensure_signature"),
        "predict.react": ("ContextWindowExceededError", "Module", "ReAct", "Tool", "ensure_signature"),
        "predict.react_v2": ("Module", "Prediction", "ReActV2", *_TOOL_TYPES, "ensure_signature"),
        "primitives": ("BaseModule", "Completions", "Example", "Module", "Prediction"),
        "primitives.base_module": ("BaseModule",),
        "primitives.example": ("Example",),
        "primitives.module": ("BaseModule", "Module", "Prediction", "set_attribute_by_name"),
        "primitives.prediction": ("Completions", "Example", "Prediction"),
        "signatures": _SIGNATURES,
        "signatures.field": _FIELDS,
        "signatures.signature": _SIGNATURES,
        "streaming": (*_STREAMING, "apply_sync_streaming", "streamify"),
        "streaming.messages": ("StatusMessage", "StatusMessageProvider", "StreamResponse"),
        "streaming.streamify": (
            "Prediction",
            "StatusMessage",
            "StatusMessageProvider",
            "StreamListener",
            "apply_sync_streaming",
            "streamify",
        ),
        "streaming.streaming_listener": ("StreamListener", "StreamResponse"),
        "utils": (*_CALLBACKS, "DummyLM", "StatusMessage", "StatusMessageProvider", "pretty_print_history", "syncify"),
        "utils.asyncify": ("asyncify", "get_limiter"),
        "utils.callback": ("ACTIVE_CALL_ID", *_CALLBACKS),
        "utils.dummies": ("DummyLM", "dotdict"),
        "utils.exceptions": _ERRORS,
        "utils.inspect_history": ("pretty_print_history",),
        "utils.langchain_tool": ("Tool", "convert_input_schema_to_tool_args", "convert_langchain_tool"),
        "utils.logging_utils": ("configure_dspy_loggers", "disable_logging", "enable_logging"),
        "utils.mcp": ("Tool", "convert_input_schema_to_tool_args", "convert_mcp_tool"),
        "utils.parallelizer": ("ParallelExecutor", *_SETTINGS),
        "utils.saving": ("load",),
        "utils.syncify": ("syncify",),
        "utils.usage_tracker": ("UsageTracker", "track_usage", *_SETTINGS),
    }
)
"""Path below ``dspy`` to the names that it has."""

_BY_MODULE: Final[Mapping[str, tuple[str, ...]]] = {
    "adapters.annotation_names": ("get_annotation_name", "get_field_description_string", "translate_field_type"),
    "adapters.fields": ("FieldInfoWithName",),
    "adapters.parse_value": ("parse_value",),
    "adapters.render_value": ("format_field_value", "serialize_for_json"),
    "errors": ("format_error_for_lm",),
    "evaluate": ("EvaluationResult",),
    "lm.cache": ("Cache",),
    "lm.history": ("GLOBAL_HISTORY",),
    "lm.inspect_history": ("pretty_print_history",),
    "lm.request_cache": ("request_cache",),
    "lm.usage": ("UsageTracker",),
    "migration.dspy_functions": (
        "convert_input_schema_to_tool_args",
        "convert_langchain_tool",
        "convert_mcp_tool",
        "dotdict",
    ),
    "modules.attribute_path": ("set_attribute_by_name",),
    "modules.parallel": ("ParallelExecutor",),
    "modules.parameter": ("Parameter",),
    "runtime.asyncify": ("get_limiter",),
    "runtime.callbacks": ("ACTIVE_CALL_ID", *_CALLBACKS),
    "streaming": (*_STREAMING, "apply_sync_streaming"),
    "testing": ("DummyLM",),
    "types.file": ("encode_file_to_dict",),
    "types.image": ("encode_image",),
}

_ELSEWHERE: Final = {name: f"reasonact.{module}" for module, names in _BY_MODULE.items() for name in names}


def find(name: str) -> object:
    """Import what a name of these paths stands for.

    Args:
        name: A name that stands in `PATHS`.

    Returns:
        The object.

    Raises:
        AttributeError: There is no such name.
    """
    module = _ELSEWHERE.get(name)
    return exports.find(name) if module is None else getattr(import_module(module), name)


def home(name: str) -> str | None:
    """The module that a name of these paths is imported from here.

    Args:
        name: A name that stands in `PATHS`.

    Returns:
        ``reasonact`` for a public name, a module of it for another; None where there is no such name.
    """
    return "reasonact" if name in exports.NAMES else _ELSEWHERE.get(name)


def below(path: str) -> tuple[str, ...]:
    """The parts that a path has.

    Args:
        path: A path of `PATHS`; empty for ``dspy`` itself.

    Returns:
        Their names, in order.
    """
    start = f"{path}." if path else ""
    return tuple(sorted({known[len(start) :].partition(".")[0] for known in PATHS if known.startswith(start)}))
