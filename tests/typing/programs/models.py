"""Models, settings, adapters and histories."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import reasonact as dspy
import reasonact.testing

lm = dspy.LM("openai/gpt-4o-mini", temperature=0.0, max_tokens=100, cache=False)
assert_type(lm, dspy.LM)
assert_type(lm("hi"), list[Any])
assert_type(lm(messages=[{"role": "user", "content": "hi"}], n=2), list[Any])
assert_type(lm.copy(temperature=1.0), dspy.LM)
assert_type(lm.history, list[dict[str, Any]])
assert_type(lm.supports_function_calling, bool)
dspy.LM()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
lm([{"role": "user"}])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
lm("hi", ["there"])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def ask(model: dspy.BaseLM) -> None:
    assert_type(await model.acall("hi"), list[Any])
    assert_type(model("hi"), list[Any])


scripted = reasonact.testing.ScriptedLM(["text", {"text": "t", "tool_calls": []}], function_calling=True)
assert_type(scripted.requests, list[reasonact.testing.Request])
assert_type(scripted.requests[0].messages, list[dict[str, Any]])
assert_type(dspy.testing.DummyLM([{"answer": "a"}]), reasonact.testing.DummyLM)

assert_type(dspy.configure(lm=lm, adapter=dspy.JSONAdapter(), track_usage=True), None)
assert_type(dspy.settings.lm, Any)
with dspy.context(lm=scripted) as nothing, dspy.settings.context(adapter=dspy.XMLAdapter()):
    assert_type(nothing, None)
with dspy.track_usage() as usage:
    assert_type(usage.get_total_tokens(), dict[str, dict[str, Any]])


@dspy.settings.bind
def bound(number: int) -> str:
    return str(number)


assert_type(bound(3), str)
bound("3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

chat = dspy.ChatAdapter(use_native_function_calling=True)
assert_type(chat, dspy.ChatAdapter)
assert_type(chat(lm, {}, dspy.make_signature("a -> b"), [], {"a": 1}), list[dict[str, Any]])
assert_type(chat.format(dspy.make_signature("a -> b"), [], {"a": 1}), list[dict[str, Any]])
assert_type(chat.parse(dspy.make_signature("a -> b"), "text"), dict[str, Any])
assert_type(dspy.TwoStepAdapter(lm), dspy.TwoStepAdapter)
adapters: list[dspy.Adapter] = [chat, dspy.JSONAdapter(), dspy.XMLAdapter(), dspy.TextProtocolAdapter()]

history = dspy.History(messages=[{"question": "q", "answer": "a"}])
assert_type(history.messages, list[dict[str, Any]])
assert_type(history.append({"question": "r"}), dspy.History)
assert_type(dspy.History.from_any(history.model_dump_json()), dspy.History)
history.messages = []  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
assert_type(dspy.history_from_trajectory({}, {}), dspy.History)

example = dspy.Example(question="q", answer="a").with_inputs("question")
assert_type(example, dspy.Example)
assert_type(example.inputs(), dspy.Example)
assert_type(example.question, Any)
assert_type(dspy.Prediction(answer="a"), dspy.Prediction)
assert_type(dspy.Prediction(answer="a").answer, Any)
assert_type(dspy.load_run("run.json").record.to_json(), str)
