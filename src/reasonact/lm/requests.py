"""From a conversation and options to the LiteLLM function that is called and its arguments.

LiteLLM gets copies of what it is known to edit on its way to a provider: the list of
messages, the messages, their content parts, and the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reasonact.errors import LMUnsupportedFeatureError
from reasonact.lm.outputs import member

# Plain completions have no turns: the text ends where the model is to write.
_ANSWER_HERE = "Response:"


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """One call of LiteLLM: the function's name and its arguments."""

    function: Literal["completion", "text_completion"]
    arguments: Mapping[str, Any]

    def streamed(self) -> ProviderCall:
        """The same call, answered in chunks, with the usage in the last one."""
        options = dict(self.arguments.get("stream_options") or {})
        return ProviderCall(
            self.function, {**self.arguments, "stream": True, "stream_options": {"include_usage": True, **options}}
        )


def build_call(
    model: str, model_type: str, prompt: str | None, messages: list[Any] | None, options: Mapping[str, Any]
) -> ProviderCall:
    """Put a request into the form of its model type.

    Args:
        model: The model's LiteLLM name.
        model_type: ``"chat"``, ``"text"`` or ``"responses"``.
        prompt: A text that stands for one user message.
        messages: A conversation; it wins over ``prompt``.
        options: Everything else that LiteLLM is to get; options of None are left out.

    Returns:
        The call.

    Raises:
        LMUnsupportedFeatureError: A plain completion was asked for tools or pictures.
    """
    given = {name: value for name, value in options.items() if value is not None}
    conversation = messages or [{"role": "user", "content": prompt}]
    if model_type == "text":
        return _text_call(model, conversation, given)
    if given.get("tools"):
        given["tools"] = [_own_tool(tool) for tool in given["tools"]]
    given["messages"] = [_own_message(message) for message in conversation]
    given["model"] = model if model_type == "chat" else _through_responses(model)
    return ProviderCall("completion", given)


def _own_message(message: Any) -> Any:
    if not isinstance(message, Mapping):
        return message
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [dict(part) if isinstance(part, Mapping) else part for part in content]}
    return dict(message)


def _own_tool(tool: Any) -> Any:
    if not isinstance(tool, Mapping):
        return tool
    function = tool.get("function")
    return {**tool, "function": dict(function)} if isinstance(function, Mapping) else dict(tool)


def _through_responses(model: str) -> str:
    """The name under which LiteLLM's completion sends a chat through the Responses interface."""
    provider, slash, name = model.partition("/")
    if not slash:
        return f"openai/responses/{model}"
    return model if name.startswith("responses/") else f"{provider}/responses/{name}"


def _text_call(model: str, conversation: list[Any], given: dict[str, Any]) -> ProviderCall:
    if given.get("tools"):
        raise LMUnsupportedFeatureError(
            'LM(model_type="text") sends plain completions, which take no tools: use model_type="chat", '
            "or an adapter without native function calling",
            feature="tools",
            model=model,
        )
    provider, slash, name = model.partition("/")
    if not slash:
        model = f"text-completion-openai/{model}"
    elif provider == "openai":  # under its own name LiteLLM turns a plain completion into a chat
        model = f"text-completion-openai/{name}"
    if "max_completion_tokens" in given:
        given["max_tokens"] = given.pop("max_completion_tokens")
    texts = [_text(member(message, "content"), model) for message in conversation]
    given["prompt"] = "\n\n".join([*(text for text in texts if text), _ANSWER_HERE])
    given["model"] = model
    return ProviderCall("text_completion", given)


def _text(content: Any, model: str) -> str:
    if not isinstance(content, list):
        return "" if content is None else str(content)
    others = sorted({str(member(part, "type")) for part in content if member(part, "type") != "text"})
    if others:
        raise LMUnsupportedFeatureError(
            f'LM(model_type="text") sends text alone, and the request holds {", ".join(others)}',
            features=others,
            model=model,
        )
    return "\n".join(str(member(part, "text", "")) for part in content)
