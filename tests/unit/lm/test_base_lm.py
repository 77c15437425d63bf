"""BaseLM: what a subclass writes, what a caller gets, and what is remembered."""

import asyncio
import io
import logging
import threading
from types import SimpleNamespace

import pytest

from reasonact.errors import ContextWindowExceededError, LMRateLimitError, LMUnexpectedError
from reasonact.lm.base import BaseLM
from reasonact.lm.call import call_lm
from reasonact.lm.history import GLOBAL_HISTORY
from reasonact.lm.inspect_history import inspect_history
from reasonact.lm.litellm_client import LM
from reasonact.lm.stream import streaming_to
from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.settings import settings
from reasonact.testing import ScriptedLM


def choice(content, **fields):
    extra = {name: fields.pop(name) for name in ("logprobs",) if name in fields}
    return SimpleNamespace(
        index=0, message=SimpleNamespace(role="assistant", content=content, **fields), finish_reason="stop", **extra
    )


def response(*choices, usage=None):
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5} if usage is None else usage
    return SimpleNamespace(choices=list(choices), usage=usage, model="answering-model")


class KeptChunks(list):
    """A chunk sink."""

    put = list.append

    async def aput(self, chunk):
        self.append(chunk)


class Fixed(BaseLM):
    """Answers every request with one response, and keeps what it was asked."""

    def __init__(self, answer, **kwargs):
        super().__init__("fixed", cache=False, **kwargs)
        self.answer = answer
        self.asked = []

    def forward(self, prompt=None, messages=None, **kwargs):
        self.asked.append((prompt, messages, kwargs))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


CALL = SimpleNamespace(id="c1", type="function", function=SimpleNamespace(name="f", arguments='{"a": 1}'))


@pytest.mark.parametrize(
    ("answer", "outputs"),
    [
        (response(choice("hi")), ["hi"]),
        (response(choice("a"), choice("b")), ["a", "b"]),
        (response(choice(None)), [None]),
        (response(choice("a", tool_calls=[])), ["a"]),
        (response(choice("a", tool_calls=[CALL])), [{"text": "a", "tool_calls": [CALL]}]),
        (response(choice(None, tool_calls=[CALL])), [{"text": None, "tool_calls": [CALL]}]),
        (response(choice("a", reasoning_content="why")), [{"text": "a", "reasoning_content": "why"}]),
        (
            response(
                choice("a", provider_specific_fields={"citations": [[{"cited_text": "x"}], [{"cited_text": "y"}]]})
            ),
            [{"text": "a", "citations": [{"cited_text": "x"}, {"cited_text": "y"}]}],
        ),
        ({"choices": [{"message": {"content": "keys"}}], "usage": {}, "model": "m"}, ["keys"]),
        ({"choices": [{"text": "plain completion"}]}, ["plain completion"]),
        (["a", {"text": "b"}], ["a", {"text": "b"}]),
    ],
)
def test_completions_come_as_texts_or_as_dicts_where_there_is_more(answer, outputs):
    assert outputs == Fixed(answer)("p")


def test_log_probabilities_come_only_where_they_were_asked_for():
    answer = response(choice("a", logprobs={"content": []}))
    assert ["a"] == Fixed(answer)("p")
    assert [{"text": "a", "logprobs": {"content": []}}] == Fixed(answer)("p", logprobs=True)
    assert [{"text": "a", "logprobs": {"content": []}}] == Fixed(answer, logprobs=True)("p")


def test_what_a_provider_wants_back_with_its_turn_is_kept_beside_reasoning_and_calls():
    blocks = [{"type": "thinking", "thinking": "why", "signature": "s"}]
    message = choice(
        "a", reasoning_content="why", thinking_blocks=blocks, provider_specific_fields={"refusal": None, "k": 1}
    )
    outputs = Fixed(response(message))("p")
    assert {"thinking_blocks": blocks, "provider_specific_fields": {"k": 1}} == outputs[0]["provider_fields"]


@pytest.mark.parametrize("answer", ["just text", None, 3, {"no": "choices"}, response()])
def test_an_answer_of_no_known_form_is_an_error_that_names_the_form_wanted(answer):
    with pytest.raises(LMUnexpectedError, match="choices"):
        Fixed(answer)("p")


def test_the_text_parts_of_a_message_are_joined():
    assert ["ab"] == Fixed(response(choice([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])))("p")
    assert ["ab"] == Fixed({"choices": [{"message": {"content": ["a", "b"]}}]})("p")


@pytest.mark.parametrize(
    "answer",
    [
        response(choice(5)),
        response(choice({"a": 1})),
        response(choice([None])),
        response(choice([{"type": "image_url", "image_url": "x"}])),
        response(choice("a", reasoning_content=5)),
        response(choice("a", tool_calls=5)),
        response(choice("a", tool_calls=[None])),
        {"choices": "x"},
        {"choices": {"a": 1}},
        {"choices": [None]},
        {"choices": [{"text": 5}]},
        {"choices": [{"message": "x"}]},
        [None],
        [5],
    ],
)
@pytest.mark.parametrize("listener", [None, KeptChunks])
def test_a_part_of_an_answer_that_cannot_be_read_is_an_error_of_the_model(answer, listener):
    with pytest.raises(LMUnexpectedError, match="the response cannot be read"), streaming_to(listener and listener()):
        Fixed(answer)("p")


def test_options_reach_forward_without_the_lms_own_which_stand_in_kwargs():
    lm = Fixed(response(choice("a")), temperature=0.5, foo=2)
    lm("p", bar=1)
    assert [("p", None, {"bar": 1})] == lm.asked
    assert {"temperature": 0.5, "max_tokens": None, "foo": 2} == lm.kwargs


async def test_an_lm_that_has_only_forward_is_asked_in_a_thread_on_the_async_side():
    class Slow(BaseLM):
        def forward(self, prompt=None, messages=None, **kwargs):
            return [threading.current_thread().name]

    assert threading.main_thread().name not in await Slow("m").acall("p")


async def test_an_lm_that_has_only_aforward_is_asked_from_sync_code_too():
    class OnlyAsync(BaseLM):
        async def aforward(self, prompt=None, messages=None, **kwargs):
            await asyncio.sleep(0)
            return ["async"]

    assert ["async"] == OnlyAsync("m")("p")  # inside a running loop
    assert ["async"] == await OnlyAsync("m").acall("p")


async def test_an_override_that_one_path_does_not_see_is_told_once(caplog):
    class HalfOverridden(Fixed):
        async def aforward(self, prompt=None, messages=None, **kwargs):
            return ["async"]

    class Half(HalfOverridden):
        def forward(self, prompt=None, messages=None, **kwargs):
            return ["sync"]

    with caplog.at_level(logging.WARNING):
        assert ["async"] == await Half(None).acall("p")
        assert ["async"] == await Half(None).acall("p")
    assert ["Half overrides forward but not aforward"] == [r.getMessage().split(":")[0] for r in caplog.records]


def test_an_lm_without_any_forward_says_so():
    with pytest.raises(NotImplementedError, match="neither forward nor aforward"):
        BaseLM("m")("p")
    with pytest.raises(NotImplementedError, match="neither forward nor aforward"):
        asyncio.run(BaseLM("m").acall("p"))


def test_a_programs_own_errors_pass_and_a_clients_become_errors_of_the_tree():
    mine = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        Fixed(mine)("p")
    assert mine is caught.value
    limited = LMRateLimitError("slow", model="m")
    with pytest.raises(LMRateLimitError) as caught:
        Fixed(limited)("p")
    assert limited is caught.value

    import litellm

    for foreign, ours in [
        (litellm.RateLimitError("r", "openai", "m"), LMRateLimitError),
        (litellm.ContextWindowExceededError("c", "m", "openai"), ContextWindowExceededError),
    ]:
        with pytest.raises(ours) as caught:
            Fixed(foreign)("p")
        assert foreign is caught.value.__cause__
        assert "fixed" == caught.value.model


def test_history_holds_the_call_under_dspys_keys():
    lm = Fixed(response(choice("hi")))
    messages = [{"role": "user", "content": "q"}]
    lm(messages=messages, temperature=0.3, api_key="sk-secret")
    (entry,) = lm.history
    assert (
        "prompt messages kwargs response outputs usage cost timestamp uuid model response_model model_type".split()
        == list(entry)
    )
    assert (None, messages, {"temperature": 0.3}) == (entry["prompt"], entry["messages"], entry["kwargs"])
    assert (["hi"], 5, None) == (entry["outputs"], entry["usage"]["total_tokens"], entry["cost"])
    assert ("fixed", "answering-model", "chat") == (entry["model"], entry["response_model"], entry["model_type"])
    assert lm.answer is entry["response"]


def test_history_keeps_the_messages_of_its_call_when_the_caller_goes_on_with_the_list():
    lm = Fixed(["hi"])
    messages = [{"role": "user", "content": "q"}]
    lm(messages=messages)
    messages.append({"role": "assistant", "content": "hi"})
    assert [{"role": "user", "content": "q"}] == lm.history[0]["messages"]
    assert messages[0] is lm.history[0]["messages"][0]  # not a deep copy


def test_history_is_bounded_and_can_be_off():
    lm = Fixed(["hi"])
    with settings.context(max_history_size=2):
        for number in range(4):
            lm(f"p{number}")
    assert ["p2", "p3"] == [entry["prompt"] for entry in lm.history]
    lm.history.clear()
    before = len(GLOBAL_HISTORY)
    with settings.context(disable_history=True):
        lm("p")
    assert ([], before) == (lm.history, len(GLOBAL_HISTORY))


def test_every_module_that_is_running_remembers_the_call():
    outer, inner = SimpleNamespace(history=[]), SimpleNamespace(history=[])
    lm = Fixed(["hi"])
    with settings.context(caller_modules=[outer, inner]):
        lm("p")
    assert lm.history == outer.history == inner.history


def test_inspect_history_prints_messages_and_answers_of_the_last_calls():
    lm = Fixed(response(choice("the answer", tool_calls=[CALL], reasoning_content="a thought")))
    lm(
        messages=[
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        ]
    )
    out = io.StringIO()
    lm.inspect_history(1, file=out)
    for piece in ("System message:", "be brief", "User message:", "hello", "the answer", "a thought", 'f({"a": 1})'):
        assert piece in out.getvalue()
    assert "\x1b" not in out.getvalue()
    everywhere = io.StringIO()
    inspect_history(1, file=everywhere)
    assert out.getvalue() == everywhere.getvalue()


def test_inspect_history_shows_the_size_of_a_picture_instead_of_its_bytes():
    lm = Fixed(["a cat"])
    url = "data:image/png;base64," + "A" * 5000
    lm(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}])
    out = io.StringIO()
    lm.inspect_history(file=out)
    assert len(out.getvalue()) < 1000
    assert "image_url" in out.getvalue()


def test_a_copy_has_its_own_history_and_its_own_options():
    lm = Fixed(["hi"], temperature=0.5, foo=1)
    lm("p")
    other = lm.copy(temperature=0.9, foo=None, model="other", rollout_id=4)
    assert ([], "other", {"temperature": 0.9, "max_tokens": None, "rollout_id": 4}) == (
        other.history,
        other.model,
        other.kwargs,
    )
    assert (1, "fixed", 0.5) == (len(lm.history), lm.model, lm.kwargs["temperature"])


def test_a_state_holds_no_secret_and_makes_the_lm_again():
    lm = LM(
        "openai/gpt-4o-mini",
        temperature=0.2,
        api_key="sk-1",
        aws_secret_access_key="s-2",
        api_base="https://user:pw3@host/v1?api-key=k4&version=2",
        extra_headers={"Authorization": "b-5", "X-Trace": "yes"},
        supports={"function_calling": True},
        max_tokens=7,
        prompt_cache_key="kept",
    )
    state = lm.dump_state()
    text = repr(state)
    assert [] == [secret for secret in ("sk-1", "s-2", "pw3", "k4", "b-5") if secret in text]
    again = BaseLM.load_state(state)
    assert (LM, "openai/gpt-4o-mini", 0.2, 7, "kept", {"X-Trace": "yes"}) == (
        type(again),
        again.model,
        again.kwargs["temperature"],
        again.kwargs["max_tokens"],
        again.kwargs["prompt_cache_key"],
        again.kwargs["extra_headers"],
    )
    assert again.supports_function_calling


def test_a_state_that_names_a_class_of_another_program_is_loaded_only_when_that_is_allowed():
    state = Fixed(["hi"]).dump_state()
    with pytest.raises(ValueError, match="allow_unsafe_lm_state=True"):
        BaseLM.load_state(state)
    scripted = {"_dspy_lm_class": "collections.OrderedDict", "model": "x"}
    with pytest.raises(ValueError, match="no subclass of BaseLM"):
        BaseLM.load_state(scripted, allow_custom_lm_class=True)
    missing = {"_dspy_lm_class": "no.such.module.LM", "model": "x"}
    with pytest.raises(ValueError, match="cannot be imported"):
        BaseLM.load_state(missing, allow_custom_lm_class=True)


def test_callbacks_see_the_request_the_answer_and_the_failure():
    seen = []

    class Watch(BaseCallback):
        def on_lm_start(self, call_id, instance, inputs):
            seen.append(("start", instance.model, inputs))

        def on_lm_end(self, call_id, outputs, exception=None):
            seen.append(("end", outputs, exception))

    failure = ValueError("x")
    with settings.context(callbacks=[Watch()]):
        Fixed(["hi"])("p", foo=1)
        with pytest.raises(ValueError):
            Fixed(failure, callbacks=[Watch()])("p")
    start = ("start", "fixed", {"prompt": "p", "messages": None, "kwargs": {}})
    assert [
        ("start", "fixed", {"prompt": "p", "messages": None, "kwargs": {"foo": 1}}),
        ("end", ["hi"], None),
        *(start, start, ("end", None, failure), ("end", None, failure)),
    ] == seen


class TestCallLM:
    MESSAGES = [{"role": "user", "content": "q"}]

    def test_a_plain_lm_is_asked_with_the_very_messages_and_options(self):
        lm = Fixed(["hi"])
        assert ["hi"] == drive(call_lm(lm, self.MESSAGES, {"n": 1}))
        assert self.MESSAGES is lm.asked[0][1]
        assert {"n": 1} == lm.asked[0][2]

    async def test_an_overridden_call_wins_on_each_path(self):
        class Own(Fixed):
            def __call__(self, prompt=None, *, messages=None, **kwargs):
                return ["own call"]

            async def acall(self, prompt=None, *, messages=None, **kwargs):
                return ["own acall"]

        assert ["own call"] == drive(call_lm(Own(["x"]), self.MESSAGES, {}))
        assert ["own acall"] == await adrive(call_lm(Own(["x"]), self.MESSAGES, {}))

    async def test_half_an_override_is_told_once(self, caplog):
        class Half(Fixed):
            def __call__(self, prompt=None, *, messages=None, **kwargs):
                return ["own call"]

        with caplog.at_level(logging.WARNING):
            assert ["x"] == await adrive(call_lm(Half(["x"]), self.MESSAGES, {}))
            assert ["x"] == await adrive(call_lm(Half(["x"]), self.MESSAGES, {}))
        assert 1 == len(caplog.records)

    async def test_any_callable_of_the_same_interface_will_do(self):
        def lm(messages, **options):
            return [f"{len(messages)} {options}"]

        assert ["1 {'n': 2}"] == drive(call_lm(lm, self.MESSAGES, {"n": 2}))
        assert ["1 {}"] == await adrive(call_lm(lm, self.MESSAGES, {}))


def test_history_costs_pointers_not_copies():
    lm = ScriptedLM(lambda messages, options: "ok")
    messages = [{"role": "user", "content": "x" * 1000} for _ in range(50)]
    for _ in range(20):
        lm(messages=messages)
    contents = {id(message) for entry in lm.history for message in entry["messages"]}
    assert 50 == len(contents)


def test_a_model_of_a_programs_own_claims_no_capability_that_it_does_not_name():
    lm = BaseLM("own")
    assert [False, False, False, set()] == [
        lm.supports_function_calling,
        lm.supports_reasoning,
        lm.supports_response_schema,
        lm.supported_params,
    ]
