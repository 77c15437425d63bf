"""The structured agent goes on from a history of the trajectory agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_scripts import extracted, native, react, react_v2, step, submit

FORTY_TWO = "forty-two"


def past() -> Any:
    replies = [step("Look.", "look_up", topic="x"), step("Done.", "finish"), extracted(answer=FORTY_TWO)]
    return react(replies)(question="first").history


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("channel", ["native", "text"])
def test_the_model_is_shown_the_answer_that_the_extractor_gave(channel: str, stored: bool) -> None:
    history = past().model_dump_json() if stored else past()
    in_native = channel == "native"
    last = native(None, ("s", "submit", {"answer": "b"})) if in_native else submit(answer="b")
    look = native(None, ("l", "look_up", {"topic": "y"}))
    played = react_v2([look, last] if in_native else [last], native=in_native)
    prediction = played(question="second", history=history)
    assert "b" == prediction.answer
    messages = played.lm.requests[0].messages
    said = [message for message in messages if FORTY_TWO in str(message.get("content"))]
    assert ["assistant"] == [message["role"] for message in said]
    assert "user" == messages[messages.index(said[0]) + 1]["role"]
    for before, after in zip(played.lm.requests, played.lm.requests[1:], strict=False):
        assert before.messages == after.messages[: len(before.messages)]
    assert json.loads(prediction.history.model_dump_json())["messages"][1]["answer"] == FORTY_TWO
