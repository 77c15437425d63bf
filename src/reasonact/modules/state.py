"""What a program has learned, as plain data and back. The form is DSPy's.

A state is a dict by parameter path. Nothing in it may do more than set words, demos and
options: keys of providers are neither written nor read, and what would send requests
elsewhere, or name code to import, is taken only where the caller trusts the state.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from reasonact.lm.base import LM_CLASS_STATE_KEY, BaseLM
from reasonact.lm.secrets import is_secret_name, without_secrets
from reasonact.types.example import Example
from reasonact.types.history import History
from reasonact.types.json_form import json_form

if TYPE_CHECKING:
    from reasonact.modules.base_module import BaseModule
    from reasonact.modules.predict import Predict

logger = logging.getLogger("reasonact.state")

_RECORDS: Final = ("traces", "train", "demos")
_FILE_ONLY: Final = "metadata"  # a program that reads a file by itself hands it over with the rest
_KNOWN: Final = frozenset({*_RECORDS, "signature", "lm", "config", _FILE_ONLY})

_LM_NAMES: Final = ("dspy.clients.lm.LM", "reasonact.lm.litellm_client.LM")
# What DSPy's LM saves and ours does not take; in a file it is of no use here.
_OF_DSPYS_LM: Final = (
    *("finetuning_model", "launch_kwargs", "train_kwargs", "engine", "async_engine", "prompt_cache", "provider"),
)
_REDIRECTS: Final = re.compile(
    r"(?:^|_)(?:api_base|url|uri|endpoint|host|proxy|proxies|headers?|fallbacks?|fallback_dict)$|^model_list$"
)
_NESTED: Final = ("extra_body",)


def dump_predict(predict: Predict, json_mode: bool) -> dict[str, Any]:
    """What a predictor has learned.

    Args:
        predict: The predictor.
        json_mode: Write values as JSON can hold them.

    Returns:
        Records, demos, the words of the signature, the LM; and the options of requests
        where there are any.
    """
    state: dict[str, Any] = {
        name: [plain(item) for item in getattr(predict, name)] if json_mode else list(getattr(predict, name))
        for name in _RECORDS
    }
    state["signature"] = predict.signature.dump_state()
    lm = predict.lm.dump_state() if predict.lm is not None else None
    state["lm"] = plain(lm) if json_mode else lm
    config = _storable(predict.config)
    if config:
        state["config"] = config
    unstored = [name for name in predict.config if name not in config and not is_secret_name(name)]
    if unstored:
        logger.warning("a state holds JSON data, so these options of a predictor are not in it: %s", unstored)
    return state


def load_predict(predict: Predict, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool) -> None:
    """Take over what `dump_predict` gave. On an error the predictor is as it was.

    Args:
        predict: The predictor.
        state: Its state.
        allow_unsafe_lm_state: Take addresses, headers and LM classes too.

    Raises:
        ValueError: The state lacks its signature, or holds what cannot be used.
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"the state of a predictor is a dict, found {type(state).__name__}")
    changes: dict[str, Any] = {}
    for name in _RECORDS:
        if name in state:
            changes[name] = _checked_list(name, state[name])
    changes["signature"] = _worded(predict, state)
    if "lm" in state:
        changes["lm"] = None if not state["lm"] else _made_lm(state["lm"], allow_unsafe_lm_state)
    if state.get("config") is not None:
        if not isinstance(state["config"], Mapping):
            raise ValueError(f"'config' is a dict of options, found {type(state['config']).__name__}")
        config = state["config"] if allow_unsafe_lm_state else _harmless(state["config"], "config")
        # What no file holds or may set stays as the program has set it.
        stored = _storable(predict.config) if allow_unsafe_lm_state else _harmless(_storable(predict.config))
        own = {name: value for name, value in predict.config.items() if name not in stored}
        changes["config"] = {**own, **config}
    unknown = [name for name in state if name not in _KNOWN]
    if unknown:
        logger.warning("a saved predictor holds entries that mean nothing here, passed over: %s", unknown)
    for name, value in changes.items():
        setattr(predict, name, value)


def load_tree(module: BaseModule, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool) -> None:
    """Take over the state of every parameter below a module. On an error nothing is changed.

    Args:
        module: The module.
        state: States by path.
        allow_unsafe_lm_state: Take addresses, headers and LM classes too.

    Raises:
        ValueError: A parameter has no state, or one that cannot be used; the text names it.
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"a saved state is a dict of states by path, found {type(state).__name__}")
    named = module.named_parameters()
    missing = [name for name, _ in named if name not in state]
    if missing:
        raise ValueError(
            f"the saved state has nothing for {', '.join(map(repr, missing))}; it holds "
            f"{', '.join(map(repr, state)) or 'nothing'}. Was it saved from another program?"
        )
    unused = [name for name in state if name not in dict(named) and name != _FILE_ONLY]
    if unused:
        logger.warning("the saved state holds predictors that this program does not have, passed over: %s", unused)
    hooks = _hooks(module)
    # Trust is only spoken of where it is given: a parameter of a program's own need not know of it.
    trust = {"allow_unsafe_lm_state": True} if allow_unsafe_lm_state else {}
    with unchanged_on_failure(module):
        for name, parameter in named:
            try:
                parameter.load_state(_adopted(state[name], hooks.get(id(parameter), ())), **trust)
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                raise ValueError(f"the saved state of {name!r} cannot be used: {error}") from error


@contextmanager
def unchanged_on_failure(module: BaseModule) -> Iterator[None]:
    """Put every module and parameter back as it was where the block raises."""
    before = [(part, dict(part.__dict__)) for _, part in module.named_parts()]
    try:
        yield
    except BaseException:
        for part, attributes in before:
            part.__dict__.clear()
            part.__dict__.update(attributes)
        raise


def plain(value: Any) -> Any:
    """A value as JSON data: demos and models as DSPy writes them, all else as a model is shown it.

    Args:
        value: Anything.

    Returns:
        Dicts, lists, text, numbers, booleans and None.
    """
    if isinstance(value, Example):
        return {name: plain(value[name]) for name in value}
    if isinstance(value, History):
        return plain(value.model_dump())  # without the marks that a stored conversation carries
    if isinstance(value, BaseModel):
        try:
            return value.model_dump(mode="json", warnings=False)
        except Exception:  # a serializer that fails, or text that pydantic refuses
            return json_form(value)
    if isinstance(value, Mapping):
        return {_text_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return json_form(value)


def _text_key(key: Any) -> str:
    return key if isinstance(key, str) else next(iter(json_form({key: None})))


def _checked_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name!r} is a list, found {type(value).__name__}")
    for index, item in enumerate(value):
        if name == "demos" and not (isinstance(item, Mapping) or hasattr(item, "toDict")):
            raise ValueError(f"demos[{index}] is a dict of fields, found {type(item).__name__}")
    return list(value)


def _worded(predict: Predict, state: Mapping[str, Any]) -> Any:
    saved = state.get("signature")
    if not isinstance(saved, Mapping):
        raise ValueError("it holds no 'signature'")
    fields = saved.get("fields")
    words = [saved.get("instructions")]
    if isinstance(fields, list):
        words += [field.get(key) for field in fields if isinstance(field, Mapping) for key in ("prefix", "description")]
    if any(not isinstance(word, str) for word in words):
        raise ValueError("the words of its 'signature' (instructions, prefix, description) are not all text")
    loaded = predict.signature.load_state(saved)
    count = len(predict.signature.fields)
    if isinstance(fields, list) and len(fields) != count:
        logger.warning(
            "a saved signature has %d fields and the program's has %d (%s): their words are matched by position",
            *(len(fields), count, predict.signature.signature),
        )
    return loaded


def _made_lm(saved: Any, trusted: bool) -> BaseLM:
    if not isinstance(saved, Mapping):
        raise ValueError(f"'lm' is a dict, found {type(saved).__name__}")
    options = dict(saved)
    if options.get(LM_CLASS_STATE_KEY, _LM_NAMES[0]) in _LM_NAMES:
        for name in _OF_DSPYS_LM:
            value = options.pop(name, None)
            if value and value != "auto":
                logger.warning("the saved LM has %s=%r, which is DSPy's and has no part here", name, value)
    if not trusted:
        options = _harmless(options, "lm")
    try:
        return BaseLM.load_state(options, allow_custom_lm_class=trusted)
    except ValueError:
        raise
    except Exception as error:  # the constructor of a class of the program's own may raise anything
        raise ValueError(f"the saved LM cannot be made: {error}") from error


def _harmless(options: Mapping[str, Any], where: str | None = None) -> dict[str, Any]:
    """Options without what sends requests elsewhere or is a key; a warning says what went, where ``where`` is given."""
    kept: dict[str, Any] = {}
    dropped: list[str] = []
    for name, value in options.items():
        if _is_unsafe(name):
            dropped.append(name)
        elif name in _NESTED and isinstance(value, Mapping):
            kept[name] = {key: item for key, item in value.items() if not _is_unsafe(key)}
            dropped += [f"{name}.{key}" for key in value if _is_unsafe(key)]
        else:
            kept[name] = value
    if dropped and where is not None:
        logger.warning(
            "left out of the saved %s: %s. A file may not send requests elsewhere; "
            "allow_unsafe_lm_state=True takes them from a file that you trust",
            *(where, ", ".join(dropped)),
        )
    return kept


def _is_unsafe(name: Any) -> bool:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", str(name)).lower()
    return bool(_REDIRECTS.search(words)) or is_secret_name(str(name))


def _storable(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a file can hold as they are: JSON data, and no keys."""
    stored = {}
    for name, value in config.items():
        if is_secret_name(name):
            continue
        data = without_secrets(value) if name in _NESTED or name.endswith("headers") else value
        try:
            json.dumps(data, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            continue
        stored[name] = plain(data)
    return stored


def _hooks(module: BaseModule) -> dict[int, list[tuple[BaseModule, str]]]:
    """For each parameter the modules above it, outermost first, with its path below each."""
    hooks: dict[int, list[tuple[BaseModule, str]]] = {}
    for _, part in module.named_parts():
        if not hasattr(part, "adopt_instructions"):
            continue
        for name, parameter in part.named_parameters():
            hooks.setdefault(id(parameter), []).append((part, name))
    return hooks


def _adopted(state: Any, above: Any) -> Any:
    try:
        words = state["signature"]
        text = words["instructions"]
    except (TypeError, LookupError):
        return state  # what is wrong with it is the parameter's own to say
    if not isinstance(text, str):
        return state
    for owner, name in reversed(above):
        text = owner.adopt_instructions(name, text)
    return {**state, "signature": {**words, "instructions": text}}
