"""LM: any model that LiteLLM reaches.

A request is one flow: cache, then attempts, then the provider. LiteLLM is imported when
the first request is sent or a capability is first asked for; its own retries are off, so
that nothing is sent twice as often as the policy says.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from reasonact.errors import LMConfigurationError
from reasonact.lm.base import BaseLM
from reasonact.lm.cache import cache, cached
from reasonact.lm.litellm_setup import get_litellm
from reasonact.lm.outputs import member
from reasonact.lm.provider_calls import ask_provider
from reasonact.lm.requests import build_call
from reasonact.lm.retry import RetryPolicy, with_retries
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Flow

logger = logging.getLogger("reasonact.lm")

_NOT_OFFERED: Final = {
    "engine": "requests go through LiteLLM; for a client of your own write a subclass of BaseLM",
    "async_engine": "requests go through LiteLLM; for a client of your own write a subclass of BaseLM",
    "prompt_cache": "for a provider's prompt cache pass LiteLLM's cache_control_injection_points=[...]",
    "provider": "finetuning providers are DSPy's; LiteLLM takes the provider from the prefix of the model's name",
    "finetuning_model": "finetuning is DSPy's",
    "launch_kwargs": "launching model servers is DSPy's",
    "train_kwargs": "finetuning is DSPy's",
    "stream": "an LM answers whole; stream a program with streamify or an agent with agent.stream",
}
_MODEL_TYPES: Final = ("chat", "text", "responses")
_CAPABILITIES: Final = frozenset({"function_calling", "reasoning", "response_schema"})

# OpenAI's models that reason: they take no other temperature than 1, and count their thoughts
# as completion tokens.
_REASONS: Final = re.compile(
    r"(?:.*/)?(?:o\d(?:-(?:mini|nano|pro|preview))*(?:-\d{4}-\d{2}-\d{2})?|gpt-5(?:\.\d+)?(?:-(?!chat).*)?)",
    re.IGNORECASE,
)
_LEAST_REASONING_TOKENS: Final = 16_000


class LM(BaseLM):
    """A language model by its LiteLLM name, such as ``"openai/gpt-4o-mini"``.

    Args:
        model: The model, with the provider's prefix.
        model_type: ``"chat"``, ``"text"`` (plain completions) or ``"responses"`` (OpenAI's
            Responses interface).
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: Bound of the completion in tokens; None leaves it to the provider.
        cache: Whether answers may come out of the cache (see ``configure_cache``).
        callbacks: `BaseCallback` objects for this LM alone.
        num_retries: How often a failed request is sent again, at most.
        use_developer_role: Kept for DSPy's sake; LiteLLM chooses the role of instructions.
        supports: Capabilities of a model that LiteLLM's tables do not know, or know
            wrongly: ``dict(function_calling=True, reasoning=..., response_schema=...)``.
        retry_policy: Waits and time budget of retries; its ``num_retries`` gives way to the
            argument of that name.
        **kwargs: Everything else goes to LiteLLM with every request, unchanged: ``api_base``,
            ``api_key``, ``timeout`` (seconds), ``extra_headers``, ``reasoning_effort``,
            ``cache_control_injection_points`` and so on. ``rollout_id`` stays here: requests
            that differ in it alone have cache entries of their own.

    Raises:
        TypeError: The model is no text, or a keyword of DSPy's LM is not offered, with what to do instead.
        ValueError: An unknown model type or capability.
        LMConfigurationError: A temperature or token bound that the model is known to refuse.
    """

    def __init__(
        self,
        model: str,
        model_type: str = "chat",
        temperature: float | None = None,
        max_tokens: int | None = None,
        cache: bool = True,
        callbacks: list[Any] | None = None,
        num_retries: int = 3,
        use_developer_role: bool = False,
        *,
        supports: Mapping[str, bool] | None = None,
        retry_policy: RetryPolicy | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(model, str):
            raise TypeError(f'LM(model={model!r}): expected the name of a model, such as "openai/gpt-4o-mini"')
        for name, reason in _NOT_OFFERED.items():
            if name in kwargs:
                raise TypeError(f"LM({name}=...) is not offered here: {reason}")
        if model_type not in _MODEL_TYPES:
            raise ValueError(f"LM(model_type={model_type!r}): expected one of {', '.join(map(repr, _MODEL_TYPES))}")
        unknown = set(supports or ()) - _CAPABILITIES
        if unknown:
            raise ValueError(f"LM(supports=...): {sorted(unknown)} is not among {sorted(_CAPABILITIES)}")
        super().__init__(model, model_type, temperature, max_tokens, cache, callbacks, num_retries, **kwargs)
        if _REASONS.fullmatch(model):
            _check_reasoning(model, temperature, max_tokens)
            self.kwargs.setdefault("max_completion_tokens", self.kwargs.pop("max_tokens"))
        self.use_developer_role = use_developer_role
        self.supports = dict(supports or {})
        self._told = False
        self.retry_policy = retry_policy or RetryPolicy()

    @property
    def supports_function_calling(self) -> bool:
        """Whether the model takes tools natively, by ``supports`` or LiteLLM's tables.

        Of a model that neither knows, the log says once that it is taken for one that does not.
        """
        return _supports(self, "function_calling") or self._takes_no_tools()

    def _takes_no_tools(self) -> bool:
        if not self._told and "function_calling" not in self.supports and not _ask_table(self.model, "known"):
            self._told = True
            logger.warning(
                "LiteLLM's tables do not know %s, so it is taken for a model without native function calling; if it "
                "has it, say so: LM(%r, supports=dict(function_calling=True))",
                *(self.model, self.model),
            )
        return False

    @property
    def supports_reasoning(self) -> bool:
        """Whether the model reasons apart from its answer, by ``supports`` or LiteLLM's tables."""
        return _supports(self, "reasoning")

    @property
    def supports_response_schema(self) -> bool:
        """Whether the provider takes a JSON schema for the answer, by ``supports`` or LiteLLM's tables."""
        return _supports(self, "response_schema")

    @property
    def supported_params(self) -> set[str]:
        """The OpenAI options that LiteLLM can pass on to this provider."""
        return set(_ask_table(self.model, "params") or ())

    def forward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request through LiteLLM, or take its answer out of the cache.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation; it wins over ``prompt``.
            **kwargs: Options of this request, over the LM's own.

        Returns:
            LiteLLM's response; out of the cache, a `Response` of the same fields.

        Raises:
            LMError: The provider could not be reached, refused, or answered rubbish.
            TypeError: ``stream`` was asked for.
        """
        return drive(self.request(prompt, messages, kwargs))

    async def aforward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request without blocking the event loop; otherwise as ``forward``."""
        return await adrive(self.request(prompt, messages, kwargs))

    def request(self, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> Flow[Any]:
        """One request as a flow: the cache, else attempts at the provider as the policy allows.

        Args:
            prompt: A text that stands for one user message, or None.
            messages: A conversation, or None.
            options: Options of this request, over the LM's own.

        Returns:
            The flow; it gives the response.

        Raises:
            LMError: The provider could not be reached, refused, or answered rubbish.
            TypeError: ``stream`` was asked for.
        """
        merged = {**self.kwargs, **options}
        if merged.pop("stream", None):
            raise TypeError(f"lm(stream=True) is not offered here: {_NOT_OFFERED['stream']}")
        caching = merged.pop("cache", self.cache)
        retries = merged.pop("num_retries", self.num_retries)
        rollout = merged.pop("rollout_id", None)
        if rollout is not None and merged.get("temperature") == 0:
            warnings.warn("rollout_id asks for another sample, and at temperature=0 there is only one", stacklevel=2)
        key = _cache_key(self, prompt, messages, {**merged, "rollout_id": rollout}) if caching else None
        policy = self.retry_policy
        if policy.num_retries != retries:
            policy = replace(policy, num_retries=retries)

        def attempts() -> Flow[Any]:
            provider_call = build_call(self.model, self.model_type, prompt, messages, merged)
            return with_retries(lambda: ask_provider(provider_call, model=self.model), policy)

        response = yield from cached(key, attempts)
        if any(member(choice, "finish_reason") == "length" for choice in member(response, "choices") or ()):
            logger.warning(
                "%s stopped at its bound of completion tokens, so the answer is cut: raise max_tokens (now %s)",
                *(self.model, merged.get("max_tokens") or merged.get("max_completion_tokens")),
            )
        return response

    def dump_state(self) -> dict[str, Any]:
        """What is needed to make this LM again, without keys and other secrets; as for `BaseLM`."""
        state = super().dump_state()
        if "max_completion_tokens" in state and "max_tokens" not in state:
            state["max_tokens"] = state.pop("max_completion_tokens")
        if self.supports:
            state["supports"] = dict(self.supports)
        return state


def _check_reasoning(model: str, temperature: float | None, max_tokens: int | None) -> None:
    too_few = max_tokens is not None and max_tokens < _LEAST_REASONING_TOKENS
    if too_few or (temperature is not None and temperature != 1):
        raise LMConfigurationError(
            f"{model} reasons before it answers: it takes temperature=1 or None, and its thoughts need "
            f"max_tokens={_LEAST_REASONING_TOKENS} or more, or None",
            model=model,
        )


def _supports(lm: LM, capability: str) -> bool:
    if capability in lm.supports:
        return bool(lm.supports[capability])
    return bool(_ask_table(lm.model, capability))


def _cache_key(lm: LM, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> str | None:
    asked = {name: value for name, value in options.items() if value is not None}
    asked["messages"] = messages or [{"role": "user", "content": prompt}]
    try:
        return cache.cache_key({**asked, "model": lm.model, "model_type": lm.model_type})
    except (TypeError, ValueError, RecursionError) as error:
        logger.debug("a request is not cached: %s", error)
        return None


_tables: Final[dict[tuple[str, str], Any]] = {}


def _ask_table(model: str, table: str) -> Any:
    """Look a model up in LiteLLM's tables, once; a model that they do not know has no capability."""
    key = (model, table)
    if key not in _tables:
        litellm = get_litellm()
        lookups: dict[str, Callable[[], Any]] = {
            "function_calling": lambda: litellm.supports_function_calling(model=model),
            "reasoning": lambda: litellm.supports_reasoning(model=model),
            "response_schema": lambda: litellm.supports_response_schema(model=model),
            "known": lambda: litellm.get_model_info(model=model),
            "params": lambda: _supported_params(litellm, model),
        }
        try:
            _tables[key] = lookups[table]()
        except Exception as error:
            logger.debug("LiteLLM does not know %s: %r", model, error)
            _tables[key] = None
    return _tables[key]


def _supported_params(litellm: Any, model: str) -> Any:
    name, provider, *_ = litellm.get_llm_provider(model)
    return litellm.get_supported_openai_params(model=name, custom_llm_provider=provider)
