"""streamify beside DSPy's: the same server speaks to both, and the same pieces, names and predictions come out."""

from __future__ import annotations

import asyncio
import json
import warnings
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import reasonact
import reasonact.streaming

dspy = pytest.importorskip("dspy")


def marked(**values: Any) -> str:
    blocks = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*blocks, "[[ ## completed ## ]]"])


class Model:
    """An OpenAI-compatible model that plays texts in order, in pieces of five characters where asked to stream."""

    def __init__(self, server: HTTPServer) -> None:
        self.texts: list[str] = []
        self.url = server.url_for("/v1")
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        text = self.texts.pop(0)
        head = {"id": "chatcmpl-1", "created": 1, "model": "gpt-4o-mini"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        if not (request.json or {}).get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
            return Response(json.dumps(body), content_type="application/json")
        head["object"] = "chat.completion.chunk"
        pieces = [text[start : start + 5] for start in range(0, len(text), 5)]
        deltas = [({"content": piece}, None) for piece in pieces] + [({}, "stop")]
        chunks = [{**head, "choices": [{"index": 0, "delta": d, "finish_reason": reason}]} for d, reason in deltas]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, {**head, "choices": [], "usage": usage}]]
        return Response("".join([*lines, "data: [DONE]\n\n"]), content_type="text/event-stream")


@pytest.fixture
def model(httpserver: HTTPServer) -> Model:
    return Model(httpserver)


def look(q: str) -> str:
    return "found " + q


def scenarios(lib: Any) -> dict[str, Any]:
    """Programs, the fields that are listened to, and what the model says."""
    listener = lib.streaming.StreamListener
    agent = lib.ReAct("question -> answer", tools=[look])
    steps = [
        marked(next_thought="let me look", next_tool_name="look", next_tool_args='{"q": "x"}'),
        marked(next_thought="done now", next_tool_name="finish", next_tool_args="{}"),
        marked(reasoning="so it is", answer="forty two"),
    ]
    return {
        "a field": (lib.Predict("question -> answer"), [listener("answer")], [marked(answer="forty two is it")]),
        "two fields": (
            lib.ChainOfThought("question -> answer"),
            [listener("reasoning"), listener("answer")],
            [marked(reasoning="because of this", answer="forty two")],
        ),
        "one field of two": (
            lib.ChainOfThought("question -> answer"),
            [listener("answer")],
            [marked(reasoning="because of this", answer="forty two")],
        ),
        "values that are no text": (
            lib.Predict("question -> n: int, items: list[str]"),
            [listener("n"), listener("items")],
            [marked(n="42", items='["a", "b"]')],
        ),
        "an empty field": (
            lib.Predict("question -> answer, other"),
            [listener("other")],
            [marked(answer="", other="x y z")],
        ),
        "thoughts of an agent, each": (agent, [listener("next_thought", allow_reuse=True)], steps),
        "the first thought of an agent": (agent, [listener("next_thought")], steps),
        "the answer of an agent": (agent, [listener("answer")], steps),
        "a predictor under another name": (
            agent,
            [listener("answer", predict=agent.extract.predict, predict_name="last")],
            steps,
        ),
    }


def heard(lib: Any, model: Model, name: str, **options: Any) -> dict[str, Any]:
    """What comes out of a streamed program: text by predictor and field, ends, status messages, prediction."""
    program, listeners, texts = scenarios(lib)[name]
    model.texts = list(texts)
    lm = lib.LM("openai/gpt-4o-mini", api_base=model.url, api_key="k", cache=False)
    streamed = lib.streaming.streamify(program, stream_listeners=listeners, **options)

    async def read() -> list[Any]:
        return [item async for item in streamed(question="q")]

    with warnings.catch_warnings(), lib.context(lm=lm):
        warnings.simplefilter("ignore")
        items = list(streamed(question="q")) if options.get("async_streaming") is False else asyncio.run(read())
    found: dict[str, Any] = {"text": {}, "ends": 0, "status": 0, "order": []}
    for item in items:
        kind = type(item).__name__.removeprefix("Agent")
        if not found["order"] or found["order"][-1] != kind:
            found["order"].append(kind)
        if kind == "StreamResponse":
            key = (item.predict_name, item.signature_field_name)
            found["text"][key] = found["text"].get(key, "") + item.chunk
            found["ends"] += item.is_last_chunk
        elif kind == "StatusMessage":
            found["status"] += 1
        else:
            found["prediction"] = item.toDict()
    return found


@pytest.mark.parametrize("options", [{}, {"is_async_program": True}, {"async_streaming": False}], ids=str)
@pytest.mark.parametrize("name", scenarios(reasonact))
def test_the_same_comes_out_as_of_dspys(model: Model, name: str, options: dict[str, Any]) -> None:
    assert heard(dspy, model, name, **options) == heard(reasonact, model, name, **options)


@pytest.mark.parametrize("name", ["a field", "two fields"])
def test_the_prediction_may_be_left_out(model: Model, name: str) -> None:
    options = {"include_final_prediction_in_output_stream": False}
    expected = heard(dspy, model, name, **options)
    assert "prediction" not in expected
    assert expected == heard(reasonact, model, name, **options)


def chunk_texts(lib: Any, model: Model) -> list[Any]:
    model.texts = [marked(answer="forty two")]
    lm = lib.LM("openai/gpt-4o-mini", api_base=model.url, api_key="k", cache=False)
    streamed = lib.streaming.streamify(
        lib.Predict("question -> answer"), include_final_prediction_in_output_stream=False
    )

    async def read() -> list[Any]:
        return [item async for item in streamed(question="q")]

    with warnings.catch_warnings(), lib.context(lm=lm):
        warnings.simplefilter("ignore")
        *chunks, prediction = asyncio.run(read())
    assert "forty two" == prediction.answer  # without listeners it is never left out
    return [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content]


def test_without_listeners_the_chunks_of_the_model_come(model: Model) -> None:
    assert chunk_texts(dspy, model) == chunk_texts(reasonact, model)


def test_the_names_have_dspys_signatures() -> None:
    import inspect

    ours, theirs = reasonact.streaming, dspy.streaming

    def names(function: Any) -> list[tuple[str, Any]]:
        return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]

    for name in ("streamify", "StreamListener", "StreamResponse", "StatusMessage", "apply_sync_streaming"):
        assert names(getattr(theirs, name)) == names(getattr(ours, name))
    for name, hook in vars(theirs.StatusMessageProvider).items():
        if not name.startswith("_"):
            assert names(hook) == names(getattr(ours.StatusMessageProvider, name))
