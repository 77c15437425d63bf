"""What a streamed program sends beside its prediction: pieces of fields, and lines about its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from reasonact.runtime.callbacks import BaseCallback

_UNTOLD: Final = "finish"  # ReAct's own tool: to call it is no news


@dataclass
class StreamResponse:
    """A piece of an output field, as ``dspy.streaming.StreamResponse``.

    Args:
        predict_name: The predictor that wrote it: its path in the program.
        signature_field_name: The field.
        chunk: What came; may be empty on the last.
        is_last_chunk: Whether the field is complete.
    """

    predict_name: str | None
    signature_field_name: str
    chunk: str
    is_last_chunk: bool


@dataclass
class StatusMessage:
    """A line about what the program does now."""

    message: str


class StatusMessageProvider:
    """Override what is said at the start and end of tools, modules and model calls; None says nothing.

    By default tools are reported and nothing else. Follows ``dspy.streaming.StatusMessageProvider``.
    """

    def tool_start_status_message(self, instance: Any, inputs: dict[str, Any]) -> str | None:
        """A tool begins; ``inputs["kwargs"]`` holds its arguments."""
        return f"Running {instance.name} ..."

    def tool_end_status_message(self, outputs: Any) -> str | None:
        """A tool has ended; None for outputs means that it failed."""
        return "The tool is done; the model reads what it gave."

    def module_start_status_message(self, instance: Any, inputs: dict[str, Any]) -> str | None:
        """A module begins."""
        return None

    def module_end_status_message(self, outputs: Any) -> str | None:
        """A module has ended."""
        return None

    def lm_start_status_message(self, instance: Any, inputs: dict[str, Any]) -> str | None:
        """A model is asked."""
        return None

    def lm_end_status_message(self, outputs: Any) -> str | None:
        """A model has answered."""
        return None


class StatusStreamingCallback(BaseCallback):
    """Asks a provider at each start and end, and sends what it says.

    Args:
        provider: Says something, or None.
        send: Takes the messages; it may block.
    """

    def __init__(self, provider: StatusMessageProvider, send: Callable[[StatusMessage], None]) -> None:
        self._provider = provider
        self._send = send
        self._untold: set[str] = set()

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A tool is about to run."""
        if instance.name == _UNTOLD:
            self._untold.add(call_id)
        else:
            self._say(self._provider.tool_start_status_message(instance, inputs))

    def on_tool_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """A tool has run."""
        if call_id in self._untold:
            self._untold.discard(call_id)
        else:
            self._say(self._provider.tool_end_status_message(outputs))

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A model is about to be asked."""
        self._say(self._provider.lm_start_status_message(instance, inputs))

    def on_lm_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """A model has answered."""
        self._say(self._provider.lm_end_status_message(outputs))

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """A module is about to run."""
        self._say(self._provider.module_start_status_message(instance, inputs))

    def on_module_end(self, call_id: str, outputs: Any | None, exception: BaseException | None = None) -> None:
        """A module has run."""
        self._say(self._provider.module_end_status_message(outputs))

    def _say(self, text: str | None) -> None:
        if text:
            self._send(StatusMessage(text))
