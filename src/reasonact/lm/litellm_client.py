"""LM: any model that LiteLLM reaches.

A request is one flow: cache, then attempts, then the provider. LiteLLM is imported when
the first request is sent or a capability is first asked for; its own retries are off, so
that nothing is sent twice as often as the policy says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from reasonact.errors import LMError
from reasonact.lm.base import BaseLM
from reasonact.lm.litellm_setup import get_litellm
from reasonact.lm.provider_errors import translate
from reasonact.lm.retry import RetryPolicy, retrying
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call

logger = logging.getLogger("reasonact.lm")

_NOT_OFFERED: Final = {
    "engine": "requests go through LiteLLM; for a client of your own write a subclass of BaseLM",
    "async_engine": "requests go through LiteLLM; for a client of your own write a subclass of BaseLM",
    "prompt_cache": "for a provider's prompt cache pass LiteLLM's cache_control_injection_points=[...]",
    "provider": "finetuning providers are DSPy's; LiteLLM takes the provider from the prefix of the model's name",
    "finetuning_model": "finetuning is DSPy's",
    "launch_kwargs": "launching model servers is DSPy's",
    "train_kwargs": "finetuning is DSPy's",
}
_MODEL_TYPES: Final = ("chat", "text", "responses")
_CAPABILITIES: Final = frozenset({"function_calling", "reasoning", "response_schema"})


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
        use_developer_role: Send system messages under the role ``developer``
            (``model_type="responses"`` alone).
        supports: Capabilities of a model that LiteLLM's tables do not know, or know
            wrongly: ``dict(function_calling=True, reasoning=..., response_schema=...)``.
        retry_policy: Waits and time budget of retries; its ``num_retries`` gives way to the
            argument of that name.
        **kwargs: Everything else goes to LiteLLM with every request, unchanged: ``api_base``,
            ``api_key``, ``timeout`` (seconds), ``extra_headers``, ``reasoning_effort``,
            ``cache_control_injection_points`` and so on. ``rollout_id`` stays here: requests
            that differ in it alone have cache entries of their own.

    Raises:
        TypeError: A keyword of DSPy's LM that is not offered, with what to do instead.
        ValueError: An unknown model type or capability.
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
        for name, reason in _NOT_OFFERED.items():
            if name in kwargs:
                raise TypeError(f"LM({name}=...) is not offered here: {reason}")
        if model_type not in _MODEL_TYPES:
            raise ValueError(f"LM(model_type={model_type!r}): expected one of {', '.join(map(repr, _MODEL_TYPES))}")
        unknown = set(supports or ()) - _CAPABILITIES
        if unknown:
            raise ValueError(f"LM(supports=...): {sorted(unknown)} is not among {sorted(_CAPABILITIES)}")
        super().__init__(model, model_type, temperature, max_tokens, cache, callbacks, num_retries, **kwargs)
        self.use_developer_role = use_developer_role
        self.supports = dict(supports or {})
        self.retry_policy = retry_policy or RetryPolicy()

    @property
    def supports_function_calling(self) -> bool:
        """Whether the model takes tools natively, by ``supports`` or LiteLLM's tables."""
        return self._supports("function_calling", "supports_function_calling")

    @property
    def supports_reasoning(self) -> bool:
        """Whether the model reasons apart from its answer, by ``supports`` or LiteLLM's tables."""
        return self._supports("reasoning", "supports_reasoning")

    @property
    def supports_response_schema(self) -> bool:
        """Whether the provider takes a JSON schema for the answer, by ``supports`` or LiteLLM's tables."""
        return self._supports("response_schema", "supports_response_schema")

    @property
    def supported_params(self) -> set[str]:
        """The OpenAI options that LiteLLM can pass on to this provider."""
        return set(_ask_table(self.model, "params") or ())

    def _supports(self, capability: str, table: str) -> bool:
        if capability in self.supports:
            return bool(self.supports[capability])
        return bool(_ask_table(self.model, table))

    def forward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request through LiteLLM, or take its answer out of the cache.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation; it wins over ``prompt``.
            **kwargs: Options of this request, over the LM's own.

        Returns:
            LiteLLM's response.

        Raises:
            LMError: The provider could not be reached, refused, or answered rubbish.
        """
        return drive(self.request(prompt, messages, kwargs))

    async def aforward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Send one request without blocking the event loop; otherwise as ``forward``."""
        return await adrive(self.request(prompt, messages, kwargs))

    def request(self, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> Flow[Any]:
        """One request as a flow: attempts at the provider, as the retry policy allows.

        Args:
            prompt: A text that stands for one user message, or None.
            messages: A conversation, or None.
            options: Options of this request, over the LM's own.

        Returns:
            The flow; it gives LiteLLM's response.

        Raises:
            LMError: The provider could not be reached, refused, or answered rubbish.
        """
        arguments = self._arguments(prompt, messages, options)
        arguments.pop("cache", None)
        arguments.pop("rollout_id", None)
        retries = arguments.pop("num_retries", self.num_retries)
        policy = self.retry_policy
        if policy.num_retries != retries:
            policy = replace(policy, num_retries=retries)
        return (yield from retrying(lambda: self._attempt(arguments), policy))

    def _arguments(self, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]) -> dict[str, Any]:
        merged = {**self.kwargs, **options}
        arguments = {name: value for name, value in merged.items() if value is not None}
        arguments["model"] = self.model
        arguments["messages"] = messages if messages else [{"role": "user", "content": prompt}]
        return arguments

    def _attempt(self, arguments: Mapping[str, Any]) -> Flow[Any]:
        try:
            return (yield from call(_Complete(arguments)))
        except LMError:
            raise
        except Exception as error:
            known = translate(error, model=self.model, whatever=True)
            if known is None:
                raise
            raise known from error


@dataclass(frozen=True, slots=True)
class _Complete(Command[Any]):
    """Send one chat request by LiteLLM."""

    arguments: Mapping[str, Any]

    def run(self) -> Any:
        return get_litellm().completion(num_retries=0, max_retries=0, **self.arguments)

    async def arun(self) -> Any:
        return await get_litellm().acompletion(num_retries=0, max_retries=0, **self.arguments)


_tables: Final[dict[tuple[str, str], Any]] = {}


def _ask_table(model: str, table: str) -> Any:
    """Look a model up in LiteLLM's tables, once; a model that they do not know has no capability."""
    key = (model, table)
    if key not in _tables:
        litellm = get_litellm()
        lookups: dict[str, Callable[[], Any]] = {
            "supports_function_calling": lambda: litellm.supports_function_calling(model=model),
            "supports_reasoning": lambda: litellm.supports_reasoning(model=model),
            "supports_response_schema": lambda: litellm.supports_response_schema(model=model),
            "params": lambda: litellm.get_supported_openai_params(model=model),
        }
        try:
            _tables[key] = lookups[table]()
        except Exception as error:
            logger.debug("LiteLLM does not know %s: %r", model, error)
            _tables[key] = None
    return _tables[key]
