"""Reading a response: what a model said, in DSPy's forms, and what it cost in tokens.

A response is an OpenAI-shaped object with attributes or keys, or, from a `BaseLM` of a
program's own, a plain list of completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reasonact.errors import LMUnexpectedError


def member(holder: Any, name: str, default: Any = None) -> Any:
    """One field of an object that has attributes, keys, or neither.

    Args:
        holder: A mapping, an object, or None.
        name: The field.
        default: What to give where it is missing.

    Returns:
        The field's value.
    """
    if isinstance(holder, dict):  # first, for its check is quick
        return holder.get(name, default)
    if isinstance(holder, Mapping):
        return holder.get(name, default)
    return getattr(holder, name, default)


def fields_of(holder: Any) -> Mapping[str, Any]:
    """All fields of an object at once, for where many are asked for and most are missing.

    Args:
        holder: A mapping, a pydantic model with or without extra fields, a namespace, or None.

    Returns:
        Its fields by name; not to be changed.
    """
    if isinstance(holder, Mapping):
        return holder
    extra = getattr(holder, "__pydantic_extra__", None)
    fields: dict[str, Any] = getattr(holder, "__dict__", {})
    return {**fields, **extra} if extra else fields


def plain(value: Any) -> Any:
    """Nested models, namespaces and mappings as dicts and lists of Python's own.

    Args:
        value: Anything.

    Returns:
        The same data; what is of no known container kind stays the object it is.
    """
    if isinstance(value, bool | float | int | str) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    fields = getattr(value, "__dict__", None)
    return {key: plain(item) for key, item in fields.items()} if fields else value


def read_outputs(response: Any, *, model: str, with_logprobs: bool = False) -> list[Any]:
    """The completions of a response.

    Args:
        response: What the model's client returned.
        model: The model's name, for the error.
        with_logprobs: Whether the request asked for log probabilities.

    Returns:
        One item per completion: its text, or, where there is more than text, a dict with
        ``text`` and what else came of ``reasoning_content``, ``logprobs``, ``tool_calls``,
        ``citations``; then also ``provider_fields``, if any: fields of the message that the
        provider wants to get back with this turn.

    Raises:
        LMUnexpectedError: The response has neither form, or holds no completion.
    """
    try:
        return _read(response, model, with_logprobs)
    except (TypeError, ValueError) as error:
        raise LMUnexpectedError(f"the response cannot be read: {error}", model=model) from None


def _read(response: Any, model: str, with_logprobs: bool) -> list[Any]:
    if isinstance(response, list):
        return [_checked(one, str | dict, "a completion in the list") for one in response]
    choices = member(response, "choices")
    if choices:
        return [_from_choice(choice, with_logprobs) for choice in _checked(choices, list | tuple, "`choices`")]
    if isinstance(choices, list):
        raise LMUnexpectedError("the response holds no completion: its `choices` are empty", model=model)
    items = member(response, "output")
    if isinstance(items, list):
        return [_from_items(items)]
    raise LMUnexpectedError(
        f"forward returned {type(response).__name__}: expected an object or dict with `choices` "
        "as OpenAI's chat completions have them, or a list of completions",
        model=model,
    )


def text_of(content: Any) -> str | None:
    """The text of a message.

    Args:
        content: A text, a list of parts (texts, or objects with a ``text``), or None.

    Returns:
        The text, that of several parts joined; None where there is none.

    Raises:
        TypeError: It is none of these, or a part of it is no text.
    """
    if content is None or isinstance(content, str):
        return content
    parts = [one if isinstance(one, str) else member(one, "text") for one in _checked(content, list | tuple, "content")]
    return "".join(_checked(part, str, "a part of the content") for part in parts)


def _checked(value: Any, kind: Any, role: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{role} is {type(value).__name__}: {value!r:.200}")
    return value


def _from_choice(choice: Any, with_logprobs: bool) -> Any:
    message = member(choice, "message")
    if message is None:
        if member(choice, "text", choice) is choice:
            raise TypeError(f"a choice has neither message nor text: {choice!r:.200}")
        output: dict[str, Any] = {"text": text_of(member(choice, "text"))}
    else:
        if member(message, "content", message) is message and not isinstance(message, Mapping):
            raise TypeError(f"a message is {type(message).__name__}: {message!r:.200}")
        output = {"text": text_of(member(message, "content"))}
        reasoning = text_of(member(message, "reasoning_content"))
        if reasoning:
            output["reasoning_content"] = reasoning
    if with_logprobs:
        logprobs = member(choice, "logprobs")
        if logprobs is not None:
            output["logprobs"] = logprobs
    if message is not None:
        calls = member(message, "tool_calls")
        if calls:
            output["tool_calls"] = [_called(one) for one in _checked(calls, list | tuple, "`tool_calls`")]
        citations = member(member(message, "provider_specific_fields"), "citations")
        if citations:
            output["citations"] = [
                item for group in citations for item in (group if isinstance(group, list) else [group])
            ]
    if len(output) == 1:
        return output["text"]
    fields = _provider_fields(message)
    if fields:
        output["provider_fields"] = fields
    return output


def _called(one: Any) -> Any:
    if member(one, "function") is None:
        raise TypeError(f"a tool call has no function: {one!r:.200}")
    return one


def _provider_fields(message: Any) -> dict[str, Any]:
    """What a provider wants back with its turn: signed thoughts, reasoning items and the like."""
    fields = {
        name: plain(member(message, name)) for name in ("thinking_blocks", "reasoning_items") if member(message, name)
    }
    specific = plain(member(message, "provider_specific_fields"))
    if isinstance(specific, dict):
        specific = {name: value for name, value in specific.items() if value is not None and name != "citations"}
        if specific:
            fields["provider_specific_fields"] = specific
    return fields


def _from_items(items: list[Any]) -> Any:
    """One completion out of the output items of OpenAI's Responses interface."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for item in items:
        kind = member(item, "type")
        if kind == "message":
            texts.append(text_of(member(item, "content")) or "")
        elif kind == "function_call":
            function = {"name": member(item, "name"), "arguments": member(item, "arguments")}
            calls.append({"id": member(item, "call_id"), "type": "function", "function": function})
        elif kind == "reasoning":
            parts = member(item, "content") or member(item, "summary") or []
            thoughts += [member(part, "text") or "" for part in parts]
    output: dict[str, Any] = {"text": "".join(texts) if texts else None}
    if calls:
        output["tool_calls"] = calls
    if thoughts:
        output["reasoning_content"] = "".join(thoughts)
    return output["text"] if len(output) == 1 else output


def read_usage(response: Any) -> dict[str, Any]:
    """The token counts of a response as the provider reported them.

    Args:
        response: What the model's client returned.

    Returns:
        A dict of Python's own; empty where nothing was reported, and for an answer out of
        the cache, which used no tokens.
    """
    if isinstance(response, list) or member(response, "cache_hit"):
        return {}
    usage = plain(member(response, "usage"))
    return usage if isinstance(usage, dict) else {}


def read_cost(response: Any) -> float | None:
    """What a response cost in USD by LiteLLM's price list.

    Args:
        response: What the model's client returned.

    Returns:
        The cost; None where the price is not known; 0.0 for an answer out of the cache.
    """
    if isinstance(response, list):
        return None
    if member(response, "cache_hit"):
        return 0.0
    cost = member(member(response, "_hidden_params"), "response_cost")
    return float(cost) if cost else None
