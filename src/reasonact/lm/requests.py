"""From a conversation and options to the LiteLLM function that is called and its arguments.

LiteLLM edits what it gets on its way to a provider, so it gets copies: of the list of
messages, the messages and their parts, and of the containers among the options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from reasonact.errors import LMUnsupportedFeatureError
from reasonact.lm.outputs import member

# Plain completions have no turns: the text ends where the model is to write.
_ANSWER_HERE = "Response:"

# LiteLLM's two names for where a server of one's own is.
_PLACES: Final = frozenset({"api_base", "base_url"})


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
    given = {name: _own(value, 3) for name, value in options.items() if value is not None}
    conversation = messages or [{"role": "user", "content": prompt}]
    if model_type == "text":
        return _text_call(model, conversation, given)
    given["messages"] = [_own_message(message) for message in conversation]
    if model.startswith("openai/") and not _PLACES.isdisjoint(given):
        _say_empty_contents(given["messages"])
    given["model"] = model if model_type == "chat" else _through_responses(model)
    return ProviderCall("completion", given)


def _own(value: Any, depth: int) -> Any:
    """A copy of dicts and lists down to a depth; a tool's schema lies below it."""
    if depth and type(value) is dict:
        return {key: _own(item, depth - 1) for key, item in value.items()}
    if depth and type(value) is list:
        return [_own(item, depth - 1) for item in value]
    return value


def _own_message(message: Any) -> Any:
    if type(message) is not dict:
        return message
    own = message.copy()
    for name, value in message.items():
        if type(value) is list:  # content parts, tool calls
            own[name] = _own(value, 2)
    return own


def _say_empty_contents(messages: list[Any]) -> None:
    """Calls without a text get an empty one: LiteLLM leaves None out, and templates of servers then fail."""
    for message in messages:
        if type(message) is dict and message.get("tool_calls") and message.get("content") is None:
            message["content"] = ""


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
