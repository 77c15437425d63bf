"""What an adapter has made of a request: messages, options, and what was left to the model's own channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Native:
    """The output fields that come by a channel of the model's own instead of in its text.

    Args:
        tool_calls: The field that takes the native tool calls.
        free_text: The field that takes the text beside the calls as it stands, unmarked.
        typed: Fields of types that adapted the request (`Reasoning` and the like), each
            with its type; they read their values from the model's output.
        own_names: The name of a tool on the wire to its own, where the two differ.
    """

    tool_calls: str | None = None
    free_text: str | None = None
    typed: Mapping[str, type[Any]] = field(default_factory=lambda: MappingProxyType({}))
    own_names: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)


@dataclass(frozen=True, slots=True)
class Plan:
    """One request as an adapter will send it, and all that is needed to read the answer.

    Args:
        signature: The signature that was asked for.
        shown: What of it the prompt shows: without the fields that went native.
        messages: The conversation, in the form of OpenAI's chat messages.
        options: The options that go with the request, the caller's among them.
        native: The fields that come beside the text.
        tools: The tools of the request.
        added: The names of options that the adapter has added of its own accord.
    """

    signature: Any
    shown: Any
    messages: list[dict[str, Any]]
    options: dict[str, Any]
    native: Native = field(default_factory=Native)
    tools: tuple[Any, ...] = ()
    added: frozenset[str] = frozenset()

    def with_option(self, name: str, value: Any) -> Plan:
        """The plan with one more option, of the adapter's own."""
        return replace(self, options={**self.options, name: value}, added=self.added | {name})
