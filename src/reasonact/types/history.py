"""`History`: a conversation as a list of events, and its form in JSON.

An event is a dict from field name to value. What an agent did in a turn stands in it under
``tool_calls``, with the results attached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from reasonact.types.history_form import dump_events, fresh_call_id, holds_types, read_events
from reasonact.types.tool_calls import ToolCalls

__all__ = ["CORRECTION", "TURN_KEYS", "History", "fresh_call_id"]

CORRECTION: Final = "@correction"
"""The key of what an event says to the model, as a user, after the model's own part. No field can have this name."""

TURN_KEYS: Final = ("next_thought", "tool_calls", CORRECTION)
"""The keys of an agent's turn in an event: a run's inputs stand before them, its outputs behind."""


class History(BaseModel, frozen=True):
    """Past turns, as an input of a signature.

    Args:
        messages: The events, oldest first. Events that were read from JSON get their tool
            calls, reasoning and media back as objects.

    Raises:
        ValueError: An event is no dict, or was written by a newer version of this library.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    messages: list[dict[str, Any]]

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("messages"), (list, tuple)):
            return {**data, "messages": read_events(data["messages"])}
        return data

    @model_serializer(mode="wrap")
    def _dump(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        if info.mode == "json" or holds_types(self.messages):
            return {"messages": dump_events(self.messages, versioned=info.mode == "json")}
        plain: dict[str, Any] = handler(self)
        return plain

    def model_dump_json(self, **options: Any) -> str:
        """The history as JSON text, from which `from_any` makes it again.

        Ids, errors, reasoning, media and JSON values come back equal; any other value comes
        back in the form in which the model was shown it. A lone surrogate is written as
        U+FFFD, as a model gets it.

        Args:
            **options: As of ``pydantic.BaseModel.model_dump_json``; ``indent`` alone has an effect.

        Returns:
            The text. DSPy reads it too.
        """
        indent = options.get("indent")
        separators = (",", ":") if indent is None else None
        data = {"messages": dump_events(self.messages, versioned=True)}  # pydantic's own way refuses lone surrogates
        text = json.dumps(data, ensure_ascii=False, indent=indent, separators=separators)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # pydantic, and so DSPy, reads no lone surrogate, not even an escaped one
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def append(self, event: Mapping[str, Any]) -> History:
        """A history with one more event at its end. Events are shared with this one.

        Args:
            event: Values by field name.

        Returns:
            The new history; this one stays as it is.
        """
        return History.model_construct(messages=[*self.messages, dict(event)])

    @property
    def call_ids(self) -> set[str]:
        """The ids of all tool calls in it."""
        return {
            call.id
            for event in self.messages
            if isinstance(event.get("tool_calls"), ToolCalls)
            for call in event["tool_calls"].tool_calls
            if call.id
        }

    @classmethod
    def from_any(cls, value: Any) -> History:
        """Read a history in any of the forms in which programs keep one.

        Calls without an id get one, ``call_<turn>_<index>``, and so does a call whose id an
        earlier call has; ids are then unique within the history.

        Args:
            value: A `History`, its JSON text, its dict, or a list of events.

        Returns:
            The history; the same object where nothing had to be changed.

        Raises:
            ValueError: It is none of these, or what it holds is no history.
        """
        if isinstance(value, cls):
            events = read_events(value.messages)
            same = all(new is old for new, old in zip(events, value.messages, strict=True))
            return value if same else cls.model_construct(messages=events)
        data = value
        if isinstance(data, (str, bytes)):
            try:
                data = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"a history given as text must be its JSON ({error}): {str(value)[:200]!r}") from None
        if isinstance(data, (list, tuple)):
            data = {"messages": data}
        if not isinstance(data, Mapping):
            raise ValueError(
                f"expected a History, its JSON text, its dict or a list of events, found {type(value).__name__}"
            )
        try:
            return cls.model_validate(dict(data))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "messages"
            raise ValueError(f"this is no history: {where}: {first['msg']}") from None
