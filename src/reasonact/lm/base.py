"""BaseLM: the interface through which the library asks any language model.

A call is one flow. It reports to callbacks, asks (`forward`, or `aforward` on the async
side), reads the completions, and keeps the books: history and usage.
"""

from __future__ import annotations

import copy as copying
import datetime
import importlib
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TextIO, cast

from reasonact.lm.chunks import as_one_chunk
from reasonact.lm.history import record_history
from reasonact.lm.inspect_history import pretty_print_history
from reasonact.lm.outputs import member, read_cost, read_outputs, read_usage
from reasonact.lm.provider_errors import translate
from reasonact.lm.secrets import without_secrets
from reasonact.lm.stream import CountingSink, current_chunk_sink, streaming_to
from reasonact.lm.usage import CallUsage, UsageTracker
from reasonact.runtime.callbacks import observed
from reasonact.runtime.drive import adrive, drive, run_coroutine, to_thread
from reasonact.runtime.flow import Command, Flow, call
from reasonact.runtime.settings import settings
from reasonact.runtime.sinks import put

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger("reasonact.lm")

LM_CLASS_STATE_KEY: Final = "_dspy_lm_class"
_OWN_LM: Final = "reasonact.lm.litellm_client.LM"
# What saved files call the LM of the library: DSPy's path, so that either library reads either's files.
_OWN_LM_IN_STATES: Final = "dspy.clients.lm.LM"


class BaseLM:
    """Subclass it to bring a model of your own; override ``forward``, ``aforward`` or both.

    Args:
        model: The model's name.
        model_type: ``"chat"``, ``"text"`` or ``"responses"``.
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: Bound of the completion in tokens; None leaves it to the provider.
        cache: Whether answers may come out of the cache, where the class has one.
        callbacks: `BaseCallback` objects for this LM alone.
        num_retries: How often a failed request is sent again, where the class retries.
        **kwargs: Default options of every request, kept in ``kwargs``.
    """

    callback_kind: ClassVar[str] = "lm"

    def __init__(
        self,
        model: str,
        model_type: str = "chat",
        temperature: float | None = None,
        max_tokens: int | None = None,
        cache: bool = True,
        callbacks: list[Any] | None = None,
        num_retries: int = 3,
        **kwargs: Any,
    ) -> None:
        self.model = model
        self.model_type = model_type
        self.cache = cache
        self.callbacks: list[Any] = list(callbacks or ())
        self.num_retries = num_retries
        self.kwargs: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens, **kwargs}
        self.history: list[dict[str, Any]] = []

    @property
    def supports_function_calling(self) -> bool:
        """Whether the model takes tools natively. A subclass may set it as a class attribute."""
        return False

    @property
    def supports_reasoning(self) -> bool:
        """Whether the model gives its reasoning apart from its answer."""
        return False

    @property
    def supports_response_schema(self) -> bool:
        """Whether the provider can hold the answer to a JSON schema."""
        return False

    @property
    def supported_params(self) -> set[str]:
        """The names of the request options that the provider understands."""
        return set()

    def __call__(self, prompt: str | None = None, *, messages: list[Any] | None = None, **kwargs: Any) -> list[Any]:
        """Ask the model.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation, as OpenAI-shaped dicts.
            **kwargs: Options of this request, over the LM's own.

        Returns:
            One item per completion: a text, or a dict where there is more than text.

        Raises:
            LMError: The model could not be asked or did not answer.
        """
        return drive(self.flow(prompt, messages, kwargs))

    async def acall(self, prompt: str | None = None, *, messages: list[Any] | None = None, **kwargs: Any) -> list[Any]:
        """Ask the model without blocking the event loop; otherwise as calling it."""
        return await adrive(self.flow(prompt, messages, kwargs))

    def forward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request: the part that a subclass writes.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation.
            **kwargs: Options of this request; the LM's own are in ``self.kwargs``.

        Returns:
            An OpenAI-shaped response, with attributes or keys, or a list of completions.

        Raises:
            NotImplementedError: The subclass has written neither ``forward`` nor ``aforward``.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither forward nor aforward: write one of them")

    async def aforward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request without blocking the event loop; otherwise as ``forward``."""
        raise NotImplementedError(f"{type(self).__name__} has neither forward nor aforward: write one of them")

    def flow(self, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> Flow[list[Any]]:
        """The whole call as a flow, for use inside other flows.

        Args:
            prompt: A text that stands for one user message, or None.
            messages: A conversation, or None.
            options: Options of this request.

        Returns:
            The flow; it gives the completions.

        Raises:
            LMError: The model could not be asked or did not answer.
        """
        inputs = {"prompt": prompt, "messages": messages, "kwargs": dict(options)}
        with observed(self.callback_kind, self, inputs) as observation:
            sink, counting = current_chunk_sink(), None
            if sink is None:
                response = yield from _respond(self, prompt, messages, options)
            else:
                counting = CountingSink(sink)
                with streaming_to(counting):
                    response = yield from _respond(self, prompt, messages, options)
            wants_logprobs = bool(options.get("logprobs", self.kwargs.get("logprobs")))
            outputs = read_outputs(response, model=self.model, with_logprobs=wants_logprobs)
            chunk = as_one_chunk(response) if counting is not None and counting.count == 0 else None
            if sink is not None and chunk is not None:
                yield from put(sink, chunk)
            _book(self, prompt, messages, options, response, outputs)
            observation.outputs = outputs
        return outputs

    def update_history(self, entry: dict[str, Any]) -> None:
        """Remember one call; see ``settings.disable_history`` and ``max_history_size``.

        Args:
            entry: The call, under DSPy's keys.
        """
        record_history(self.history, entry)

    def inspect_history(self, n: int = 1, file: TextIO | None = None) -> None:
        """Print the last calls of this LM.

        Args:
            n: How many.
            file: Where to; the terminal by default.
        """
        pretty_print_history(self.history, n, file=file)

    def copy(self, **kwargs: Any) -> Self:
        """An LM like this one, with some things set otherwise and a history of its own.

        Args:
            **kwargs: Attributes (``model``, ``cache``, …) or request options; an option of
                None is left out of the copy's requests.

        Returns:
            The new LM.
        """
        other = copying.copy(self)
        other.history = []
        other.callbacks = list(self.callbacks)
        other.kwargs = dict(self.kwargs)
        for name, value in kwargs.items():
            if name in vars(other):
                setattr(other, name, value)
            elif value is None:
                other.kwargs.pop(name, None)
            else:
                other.kwargs[name] = value
        return other

    def dump_state(self) -> dict[str, Any]:
        """What is needed to make this LM again, without keys and other secrets.

        Returns:
            The class's dotted name, the constructor's arguments and the request options.
        """
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        return {
            LM_CLASS_STATE_KEY: _OWN_LM_IN_STATES if name == _OWN_LM else name,
            "model": self.model,
            "model_type": self.model_type,
            "cache": self.cache,
            "num_retries": self.num_retries,
            **without_secrets(self.kwargs),
        }

    @staticmethod
    def load_state(state: Mapping[str, Any], *, allow_custom_lm_class: bool = False) -> BaseLM:
        """Make an LM from what `dump_state` gave, here or in DSPy.

        Args:
            state: The saved state.
            allow_custom_lm_class: Whether a class of a program's own may be imported and
                called; say so only for files that you trust.

        Returns:
            A new LM.

        Raises:
            ValueError: The state names a class of another program and that is not allowed,
                or there is no such LM class.
        """
        options = dict(state)
        name = options.pop(LM_CLASS_STATE_KEY, _OWN_LM_IN_STATES)
        if name in (_OWN_LM, _OWN_LM_IN_STATES):
            name = _OWN_LM
            for unused in ("finetuning_model", "launch_kwargs", "train_kwargs"):
                if not options.get(unused):
                    options.pop(unused, None)
        elif not allow_custom_lm_class:
            raise ValueError(
                f"the saved state names the LM class {name!r}, which loading would import and run; "
                "pass allow_unsafe_lm_state=True (here: allow_custom_lm_class=True) if you trust the file"
            )
        return cast(BaseLM, _lm_class(name)(**options))


def _respond(lm: BaseLM, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> Flow[Any]:
    try:
        return (yield from call(_Forward(lm, prompt, messages, options)))
    except Exception as error:
        known = translate(error, model=lm.model)
        if known is None or known is error:
            raise
        raise known from error


def _book(
    lm: BaseLM, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any], response: Any, outputs: Any
) -> None:
    usage = read_usage(response)
    cost = read_cost(response)
    tracker = settings.usage_tracker
    if isinstance(tracker, UsageTracker):
        asked = 1 if messages is None else len(messages)
        tracker.add_call(CallUsage(lm.model, usage, cost, bool(member(response, "cache_hit")), asked))
    elif tracker is not None:
        tracker.add_usage(lm.model, usage)
    if settings.disable_history:
        return
    lm.update_history(
        {
            "prompt": prompt,
            "messages": None if messages is None else list(messages),  # the caller may go on appending to its list
            "kwargs": without_secrets(options),
            "response": response,
            "outputs": outputs,
            "usage": dict(usage),  # an entry is the program's to change, the count of a run is not
            "cost": cost,
            "timestamp": datetime.datetime.now().isoformat(),
            "uuid": str(uuid.uuid4()),
            "model": lm.model,
            "response_model": member(response, "model"),
            "model_type": lm.model_type,
        }
    )


def _lm_class(name: str) -> Any:
    module_name, _, class_name = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"the saved state names the LM class {name!r}, which cannot be imported: {error}") from error
    if not (isinstance(found, type) and issubclass(found, BaseLM)):
        raise ValueError(f"the saved state names {name!r} as an LM class, but it is no subclass of BaseLM")
    return found


@dataclass(frozen=True, slots=True)
class _Forward(Command[Any]):
    """Send one request through the LM's own forward or aforward."""

    lm: BaseLM
    prompt: str | None
    messages: list[Any] | None
    options: Mapping[str, Any]

    def run(self) -> Any:
        if prefers_other(type(self.lm), "forward", "aforward", root=BaseLM):
            return run_coroutine(self.lm.aforward(prompt=self.prompt, messages=self.messages, **self.options))
        return self.lm.forward(prompt=self.prompt, messages=self.messages, **self.options)

    async def arun(self) -> Any:
        if prefers_other(type(self.lm), "aforward", "forward", root=BaseLM):
            return await to_thread(self._forward)
        return await self.lm.aforward(prompt=self.prompt, messages=self.messages, **self.options)

    def _forward(self) -> Any:
        return self.lm.forward(prompt=self.prompt, messages=self.messages, **self.options)


_judged: Final[dict[tuple[type, str], bool]] = {}


def prefers_other(cls: type, name: str, other: str, *, root: type) -> bool:
    """Tell whether a class leaves one method of a sync and async pair unwritten and has the other.

    A class that overrides only one of two written methods is warned about, once: the other
    path does not see the override.

    Args:
        cls: The class.
        name: The method of the path that is running.
        other: Its counterpart.
        root: The class where both are still unwritten.

    Returns:
        True where the counterpart has to stand in.
    """
    key = (cls, name)
    if key not in _judged:
        mine, theirs = _definer(cls, name), _definer(cls, other)
        _judged[key] = mine is root and theirs is not root
        if mine is not root and mine is not theirs and issubclass(theirs, mine):
            logger.warning(
                "%s overrides %s but not %s: this %s call goes past the override. Override both.",
                *(cls.__name__, other, name, "async" if name.startswith("a") else "sync"),
            )
    return _judged[key]


def _definer(cls: type, name: str) -> type:
    return next(owner for owner in cls.__mro__ if name in vars(owner))
