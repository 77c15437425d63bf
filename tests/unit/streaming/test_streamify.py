"""What streamify does beyond the ordinary: second calls, whole answers, errors, leaving early."""

import asyncio
import json
import threading

import pytest

import reasonact
from reasonact.lm.stream import current_chunk_sink
from reasonact.streaming import (
    StatusMessage,
    StatusMessageProvider,
    StreamListener,
    StreamResponse,
    apply_sync_streaming,
    streamify,
)
from reasonact.streaming.streamify import sync_send_to_stream
from reasonact.testing import ScriptedLM


def marked(**values):
    blocks = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*blocks, "[[ ## completed ## ]]"])


def look_up(topic: str) -> str:
    """Find pages."""
    return f"3 pages on {topic}"


class Two(reasonact.Module):
    def __init__(self):
        super().__init__()
        self.first = reasonact.Predict("question -> answer")
        self.second = reasonact.Predict("question, draft -> answer")

    def forward(self, question):
        return self.second(question=question, draft=self.first(question=question).answer)


async def read(items):
    return [item async for item in items]


def played(program, replies, listeners=None, **options):
    """Everything that comes out of a streamed program, the prediction last."""
    function_calling = options.pop("function_calling", False)
    with reasonact.context(
        lm=ScriptedLM(replies, function_calling=function_calling), adapter=options.pop("adapter", None)
    ):
        streamed = streamify(program, stream_listeners=listeners, **options)
        return (
            list(streamed(question="q"))
            if options.get("async_streaming") is False
            else asyncio.run(read(streamed(question="q")))
        )


def text(items, name=None):
    return "".join(
        item.chunk for item in items if isinstance(item, StreamResponse) and name in (None, item.predict_name)
    )


def test_a_whole_answer_in_one_chunk_is_given_and_ended():
    *pieces, prediction = played(
        reasonact.Predict("question -> answer"), [marked(answer="42")], [StreamListener("answer")]
    )
    assert ("42", [False, True][-len(pieces) :]) == (text(pieces), [piece.is_last_chunk for piece in pieces])
    assert "42" == prediction.answer


def test_a_streamed_program_can_be_called_again_and_side_by_side():
    program = reasonact.Predict("question -> answer")
    streamed = streamify(program, stream_listeners=[StreamListener("answer")])

    async def both():
        return await asyncio.gather(read(streamed(question="q")), read(streamed(question="r")))

    with reasonact.context(lm=ScriptedLM([marked(answer="42")] * 4)):
        assert ["42", "42"] == [text(asyncio.run(read(streamed(question="q")))) for _ in range(2)]
        assert ["42", "42"] == [text(items) for items in asyncio.run(both())]


def test_a_field_of_several_predictors_is_told_apart_by_name_or_predictor():
    program, replies = Two(), [marked(answer="draft"), marked(answer="final")]
    both = [StreamListener("answer", predict_name="first"), StreamListener("answer", predict=program.second)]
    items = played(program, replies, both)
    assert ("draft", "final") == (text(items, "first"), text(items, "second"))
    assert "draft" == text(played(program, replies, [StreamListener("answer", predict=program.first)]))


@pytest.mark.parametrize(
    ("listener", "words"),
    [
        (StreamListener("answer"), "2 predictors write the field 'answer': first, second"),
        (StreamListener("nothing"), "no predictor writes the field 'nothing'"),
        (StreamListener("answer", predict_name="third"), "no predictor named 'third' writes the field 'answer'"),
    ],
)
def test_a_listener_that_fits_no_predictor_is_refused_before_the_run(listener, words):
    with pytest.raises(ValueError, match=words):
        streamify(Two(), stream_listeners=[listener])


@pytest.mark.parametrize("native", [False, True])
def test_outputs_of_the_structured_agent_can_be_listened_to(native):
    agent = reasonact.ReActV2("question -> answer", [look_up])
    calls = json.dumps([{"name": "submit", "args": {"answer": "42"}}])
    reply = (
        ("Done.", [("c1", "submit", {"answer": "42"})]) if native else marked(next_thought="Done.", tool_calls=calls)
    )
    adapter = reasonact.ChatAdapter(use_native_function_calling=native)
    items = played(agent, [reply], [StreamListener("answer")], adapter=adapter, function_calling=native)
    assert ("42", "42") == (text(items, "self"), items[-1].answer)


def test_what_another_adapter_asks_again_comes_again():
    listeners = [StreamListener("answer")]
    items = played(reasonact.Predict("question -> answer: int"), [marked(answer="many"), '{"answer": 2}'], listeners)
    assert ("many2", [2]) == (text(items), [items[-1].answer])


class Talkative(StatusMessageProvider):
    def tool_start_status_message(self, instance, inputs):
        return f"{instance.name} {inputs['kwargs']}"

    def tool_end_status_message(self, outputs):
        return f"gave {outputs}"

    def lm_start_status_message(self, instance, inputs):
        raise RuntimeError("no words")


@pytest.mark.parametrize("options", [{}, {"is_async_program": True}, {"async_streaming": False}], ids=str)
def test_a_provider_of_messages_that_fails_disturbs_nothing(options):
    agent = reasonact.ReAct("question -> answer", [look_up])
    replies = [
        marked(next_thought="a", next_tool_name="look_up", next_tool_args='{"topic": "x"}'),
        marked(next_thought="b", next_tool_name="finish", next_tool_args="{}"),
        marked(reasoning="c", answer="42"),
    ]
    items = played(agent, replies, status_message_provider=Talkative(), **options)
    assert ["look_up {'topic': 'x'}", "gave 3 pages on x"] == [
        item.message for item in items if isinstance(item, StatusMessage)
    ]
    assert "42" == items[-1].answer


@pytest.mark.parametrize("options", [{}, {"is_async_program": True}, {"async_streaming": False}], ids=str)
def test_a_program_can_send_items_of_its_own(options):
    def note(topic: str) -> str:
        """Note it."""
        sync_send_to_stream(reasonact.settings.send_stream, {"noted": topic})
        return "ok"

    agent = reasonact.ReAct("question -> answer", [note])
    replies = [
        marked(next_thought="a", next_tool_name="note", next_tool_args='{"topic": "x"}'),
        marked(next_thought="b", next_tool_name="finish", next_tool_args="{}"),
        marked(reasoning="c", answer="42"),
    ]
    assert {"noted": "x"} in played(agent, replies, [StreamListener("answer")], **options)


def test_functions_can_be_streamed_too():
    predict = reasonact.Predict("question -> answer")

    async def ask(question):
        return await predict.acall(question=question)

    for program, by_acall in ((lambda question: predict(question=question), False), (ask, True)):
        chunk, prediction = played(program, [marked(answer="42")], is_async_program=by_acall)
        assert (marked(answer="42"), "42") == (chunk.choices[0].delta.content, prediction.answer)


@pytest.mark.parametrize("options", [{}, {"is_async_program": True}, {"async_streaming": False}], ids=str)
def test_what_the_program_raises_is_raised(options):
    with pytest.raises(reasonact.LMAuthError):
        played(reasonact.Predict("question -> answer"), [reasonact.LMAuthError("no key")], **options)


class Endless(ScriptedLM):
    """Writes until nobody listens, and knows when that was."""

    def __init__(self):
        super().__init__([])
        self.stopped = threading.Event()

    def forward(self, prompt=None, messages=None, **kwargs):
        try:
            while True:
                current_chunk_sink().put({"choices": [{"delta": {"content": "[[ ## answer ## ]]\nword word"}}]})
        finally:
            self.stopped.set()

    async def aforward(self, prompt=None, messages=None, **kwargs):
        try:
            while True:
                await current_chunk_sink().aput({"choices": [{"delta": {"content": "[[ ## answer ## ]]\nword word"}}]})
        finally:
            self.stopped.set()


class Forwarded(reasonact.Module):
    """A program that only has a sync way."""

    def __init__(self):
        super().__init__()
        self.predict = reasonact.Predict("question -> answer")

    def forward(self, question):
        return self.predict(question=question)


@pytest.mark.parametrize("listeners", [None, [StreamListener("answer")]])
@pytest.mark.parametrize("program", [reasonact.Predict("question -> answer"), Forwarded()], ids=["both ways", "sync"])
@pytest.mark.parametrize("how", ["async", "sync"])
def test_leaving_the_loop_stops_the_model(program, listeners, how):
    lm = Endless()
    streamed = streamify(program, stream_listeners=listeners, async_streaming=how == "async")

    async def leave():
        async for _ in streamed(question="q"):
            break
        return await asyncio.to_thread(lm.stopped.wait, 1)

    with reasonact.context(lm=lm):
        if how == "async":
            assert asyncio.run(leave())
        else:
            for _ in streamed(question="q"):
                break
            assert lm.stopped.wait(1)


def test_an_async_generator_is_read_in_sync_code_and_closed_with_it():
    closed = []

    async def numbers():
        try:
            for number in range(10):
                yield number
        finally:
            closed.append(True)

    assert list(range(10)) == list(apply_sync_streaming(numbers()))
    for number in apply_sync_streaming(numbers()):
        if number == 2:
            break
    assert [True, True] == closed


async def test_an_async_generator_is_read_in_sync_code_inside_a_running_loop():
    async def numbers():
        yield 1
        yield 2

    assert [1, 2] == list(apply_sync_streaming(numbers()))
