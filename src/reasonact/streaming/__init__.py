"""Runs in pieces: the events of ``module.stream``, and DSPy's ``streamify`` with its listeners and messages."""

from reasonact.modules.execute import OutputStreamChunk
from reasonact.runtime.events import (
    Event,
    OutputText,
    RunFinished,
    RunStarted,
    TextWithdrawn,
    ThoughtText,
    ToolCallDelta,
    ToolCalled,
    ToolReturned,
    TurnFinished,
)
from reasonact.streaming.messages import StatusMessage, StatusMessageProvider, StreamResponse
from reasonact.streaming.streamify import apply_sync_streaming, streamify
from reasonact.streaming.streaming_listener import StreamListener

__all__ = [
    "Event",
    "OutputStreamChunk",
    "OutputText",
    "RunFinished",
    "RunStarted",
    "StatusMessage",
    "StatusMessageProvider",
    "StreamListener",
    "StreamResponse",
    "TextWithdrawn",
    "ThoughtText",
    "ToolCallDelta",
    "ToolCalled",
    "ToolReturned",
    "TurnFinished",
    "apply_sync_streaming",
    "streamify",
]
