"""LM, BaseLM, DummyLM and usage beside DSPy 3.4.1's: the same scripts, the same results.

Where the two part on purpose, the test says what each does.
"""

import asyncio
import copy
import inspect
import warnings
from types import SimpleNamespace

import pytest

import reasonact.lm.base
import reasonact.lm.cache
import reasonact.lm.inspect_history
import reasonact.lm.litellm_client
import reasonact.lm.request_cache
import reasonact.lm.usage
import reasonact.testing
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.settings import settings as our_settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy
    import dspy.clients.cache
    import dspy.utils
    import dspy.utils.usage_tracker

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OURS = SimpleNamespace(
    BaseLM=reasonact.lm.base.BaseLM,
    LM=reasonact.lm.litellm_client.LM,
    DummyLM=reasonact.testing.DummyLM,
    BaseCallback=BaseCallback,
    context=our_settings.context,
    track_usage=reasonact.lm.usage.track_usage,
    UsageTracker=reasonact.lm.usage.UsageTracker,
    adapters={"ChatAdapter": ChatAdapter, "JSONAdapter": JSONAdapter, "XMLAdapter": XMLAdapter},
)
THEIRS = SimpleNamespace(
    BaseLM=dspy.BaseLM,
    LM=dspy.LM,
    DummyLM=dspy.utils.DummyLM,
    BaseCallback=dspy.utils.BaseCallback,
    context=dspy.context,
    track_usage=dspy.track_usage,
    UsageTracker=dspy.utils.usage_tracker.UsageTracker,
    adapters={"ChatAdapter": dspy.ChatAdapter, "JSONAdapter": dspy.JSONAdapter, "XMLAdapter": dspy.XMLAdapter},
)
CALL = SimpleNamespace(id="c1", type="function", function=SimpleNamespace(name="f", arguments='{"a": 1}'))
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "prompt_tokens_details": {"cached_tokens": 2}}


def choice(content, **fields):
    message = SimpleNamespace(role="assistant", content=content, tool_calls=fields.pop("tool_calls", None))
    for name in ("reasoning_content", "provider_specific_fields"):
        if name in fields:
            setattr(message, name, fields.pop(name))
    return SimpleNamespace(index=0, message=message, finish_reason="stop", **fields)


def response(*choices):
    return SimpleNamespace(choices=list(choices), usage=copy.deepcopy(USAGE), model="answering")


def fixed(library, answer, **options):
    class Fixed(library.BaseLM):
        def forward(self, prompt=None, messages=None, **kwargs):
            self.asked = (prompt, messages, kwargs)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        async def aforward(self, prompt=None, messages=None, **kwargs):
            return self.forward(prompt, messages, **kwargs)

    return Fixed("fixed", **{"cache": False, **options})


def both(play):
    """What a play gives on each library, and that it is the same."""
    ours, theirs = play(OURS), play(THEIRS)
    assert theirs == ours
    return ours


ANSWERS = {
    "text": response(choice("hi")),
    "two completions": response(choice("a"), choice("b")),
    "no text": response(choice(None)),
    "a call": response(choice("a", tool_calls=[CALL])),
    "a call alone": response(choice(None, tool_calls=[CALL])),
    "no calls": response(choice("x", tool_calls=[])),
    "reasoning": response(choice("a", reasoning_content="why")),
    "citations": response(choice("a", provider_specific_fields={"citations": [[{"cited_text": "x"}]]})),
    "keys": {"choices": [{"message": {"content": "d"}, "finish_reason": "stop"}], "usage": {}, "model": "x"},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_outputs_have_the_same_form(name):
    both(lambda library: fixed(library, ANSWERS[name])("p"))
    both(lambda library: asyncio.run(fixed(library, ANSWERS[name]).acall("p")))


@pytest.mark.parametrize("asked", [{}, {"logprobs": True}])
def test_log_probabilities_come_where_they_were_asked_for(asked):
    both(lambda library: fixed(library, response(choice("a", logprobs={"content": []})))("p", **asked))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (("p",), {}),
        ((), {"messages": [{"role": "user", "content": "x"}]}),
        (("p",), {"messages": [{"role": "user", "content": "x"}]}),
        (("p",), {"temperature": None, "bar": 1, "rollout_id": 3}),
        ((), {}),
    ],
)
def test_forward_gets_the_same_and_history_holds_the_same(args, kwargs):
    def play(library):
        lm = fixed(library, response(choice("hi")), temperature=0.5, foo=2)
        lm(*args, **kwargs)
        (entry,) = lm.history
        kept = {name: value for name, value in entry.items() if name not in ("response", "timestamp", "uuid")}
        return lm.asked, list(entry), kept, lm.kwargs

    both(play)


def test_a_programs_own_error_passes():
    def play(library):
        failure = ValueError("mine")
        try:
            fixed(library, failure)("p")
        except ValueError as error:
            return error is failure

    assert both(play)


def test_callbacks_get_the_same():
    def play(library):
        seen = []

        class Watch(library.BaseCallback):
            def on_lm_start(self, call_id, instance, inputs):
                seen.append(("start", dict(inputs)))

            def on_lm_end(self, call_id, outputs, exception=None):
                seen.append(("end", outputs, str(exception)))

        with library.context(callbacks=[Watch()]):
            fixed(library, response(choice("a")))("p", foo=1)
            fixed(library, response(choice("a")))(messages=[{"role": "user", "content": "x"}])
            with pytest.raises(ValueError):
                fixed(library, ValueError("x"))("p")
        return seen

    both(play)


@pytest.mark.parametrize("setting", [{"disable_history": True}, {"max_history_size": 2}, {}])
def test_history_is_bounded_and_switched_off_alike(setting):
    def play(library):
        lm = fixed(library, response(choice("a")))
        with library.context(**setting):
            for number in range(4):
                lm(f"p{number}")
        return [entry["prompt"] for entry in lm.history]

    both(play)


def test_a_copy_is_made_alike():
    def play(library):
        lm = fixed(library, response(choice("a")), temperature=0.3, foo=1)
        lm("p")
        other = lm.copy(temperature=None, foo=None, model="z", zz=1, cache=True)
        return other.kwargs, other.model, other.cache, other.history, lm.kwargs

    both(play)


def test_usage_adds_up_alike():
    def play(library):
        with library.track_usage() as outer:
            fixed(library, response(choice("a")))("p")
            with library.track_usage() as inner:
                fixed(library, response(choice("a")))("p")
        return outer.get_total_tokens(), inner.get_total_tokens(), dict(outer.usage_data)

    both(play)


def test_a_tracker_adds_up_odd_entries_alike():
    def play(library):
        tracker = library.UsageTracker()
        for entry in ({"a": 1, "b": None}, {"a": 2, "b": 3, "c": {"d": 1, "e": None}}, {}, {"c": {"d": 2}, "s": "x"}):
            tracker.add_usage("m", entry)
        return tracker.get_total_tokens()

    both(play)


class TestDummyLM:
    def test_answers_in_order_and_after_the_last(self):
        def play(library):
            lm = library.DummyLM([{"answer": "red"}, {"answer": "blue", "n": 3, "items": ["a", 1], "map": {"k": 1}}])
            return [lm("q") for _ in range(3)], lm.model, lm.kwargs, lm.model_type

        both(play)

    def test_answers_by_what_the_message_holds(self):
        def play(library):
            lm = library.DummyLM({"colour": {"answer": "red"}})
            return [lm(messages=[{"role": "user", "content": text}]) for text in ("what colour?", "what size?")]

        both(play)

    def test_several_and_with_reasoning(self):
        both(lambda library: library.DummyLM([{"a": "1"}, {"a": "2"}])("q", n=2))
        both(lambda library: library.DummyLM([{"a": "1"}], reasoning=True)("q"))
        both(lambda library: asyncio.run(library.DummyLM([{"a": "1"}]).acall("q")))

    @pytest.mark.parametrize("adapter", ["ChatAdapter", "JSONAdapter", "XMLAdapter"])
    def test_answers_come_in_the_form_of_an_adapter(self, adapter):
        answer = {"answer": "red", "items": ["a", 1], "map": {"k": None}, "yes": True}
        both(lambda library: library.DummyLM([answer], adapter=library.adapters[adapter]())("q"))

    def test_its_history_entry_has_the_same_keys(self):
        def play(library):
            lm = library.DummyLM([{"answer": "red"}])
            lm("q")
            (entry,) = lm.history
            return list(entry), entry["outputs"], entry["model"], entry["cost"], entry["kwargs"]

        both(play)


class TestLM:
    @pytest.mark.parametrize(
        "model",
        [
            *(
                "openai/o1",
                "openai/o1-mini",
                "openai/o3-2025-04-16",
                "o4-mini",
                "azure/o3",
                "azure/gpt-5",
                "openai/o10",
            ),
            *(
                "openai/gpt-5-mini",
                "openai/gpt-5-chat",
                "openai/gpt-5-chat-latest",
                "openai/gpt-5.1",
                "openai/gpt-5-pro",
            ),
            *(
                "openai/gpt-5-codex",
                "openai/gpt-oss-20b",
                "openrouter/openai/o3",
                "openai/o3-deep-research",
                "OpenAI/GPT-5",
            ),
            *("openai/gpt-50", "openai/gpt-4o", "openai/gpt-5-2025-08-07", "openai/o3-pro"),
        ],
    )
    def test_the_same_models_are_held_for_reasoning_ones(self, model):
        def play(library):
            errors = []
            for options in ({"temperature": 0.5}, {"max_tokens": 10}, {"temperature": 1, "max_tokens": 16000}, {}):
                try:
                    errors.append(library.LM(model, **options).kwargs)
                except Exception as error:
                    errors.append([cls.__name__ for cls in type(error).__mro__])
            return errors

        both(play)

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"temperature": 0.2, "max_tokens": 7, "cache": False, "num_retries": 1, "top_p": 0.5},
            {"model_type": "text", "api_key": "sk-secret"},
        ],
    )
    def test_each_library_loads_the_others_state(self, options):
        ours, theirs = OURS.LM("openai/gpt-4o-mini", **options), THEIRS.LM("openai/gpt-4o-mini", **options)
        from_theirs = OURS.LM.load_state(theirs.dump_state())
        from_ours = THEIRS.LM.load_state(ours.dump_state())

        def traits(lm):
            kwargs = {name: value for name, value in lm.kwargs.items() if name != "api_key"}
            return lm.model, lm.model_type, lm.cache, lm.num_retries, kwargs

        assert traits(theirs) == traits(ours) == traits(from_theirs) == traits(from_ours)
        assert isinstance(from_theirs, OURS.LM)
        finetuning = {"finetuning_model", "launch_kwargs", "train_kwargs"}
        assert ours.dump_state() == {k: v for k, v in theirs.dump_state().items() if k not in finetuning}

    def test_a_state_of_a_reasoning_model_is_the_same(self):
        both(
            lambda library: {
                name: value
                for name, value in library.LM("openai/o3", max_tokens=20000, temperature=1.0).dump_state().items()
                if name in ("temperature", "max_tokens", "max_completion_tokens")
            }
        )

    def test_capabilities_come_from_the_same_tables(self):
        for model in ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4-20250514", "openai/o3", "hosted_vllm/unknown"):
            ours, theirs = OURS.LM(model), THEIRS.LM(model)
            for name in ("supports_function_calling", "supports_reasoning", "supports_response_schema"):
                assert getattr(theirs, name) == getattr(ours, name), (model, name)
        # DSPy asks a table of its own where it does not use LiteLLM; LiteLLM's knows more options.
        assert THEIRS.LM("openai/gpt-4o-mini").supported_params <= OURS.LM("openai/gpt-4o-mini").supported_params


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (OURS.BaseLM.__init__, THEIRS.BaseLM.__init__),
        (OURS.BaseLM.__call__, THEIRS.BaseLM.__call__),
        (OURS.BaseLM.acall, THEIRS.BaseLM.acall),
        (OURS.BaseLM.forward, THEIRS.BaseLM.forward),
        (OURS.BaseLM.aforward, THEIRS.BaseLM.aforward),
        (OURS.BaseLM.copy, THEIRS.BaseLM.copy),
        (OURS.BaseLM.inspect_history, THEIRS.BaseLM.inspect_history),
        (OURS.BaseLM.update_history, THEIRS.BaseLM.update_history),
        (OURS.BaseLM.load_state, THEIRS.BaseLM.load_state),
        (OURS.DummyLM.__init__, THEIRS.DummyLM.__init__),
        (OURS.UsageTracker.add_usage, THEIRS.UsageTracker.add_usage),
        (reasonact.lm.usage.track_usage, dspy.track_usage),
        (reasonact.lm.inspect_history.inspect_history, dspy.inspect_history),
        (reasonact.lm.cache.configure_cache, dspy.configure_cache),
        (reasonact.lm.request_cache.request_cache, dspy.clients.cache.request_cache),
        (reasonact.lm.cache.Cache.__init__, dspy.clients.cache.Cache.__init__),
        (reasonact.lm.cache.Cache.get, dspy.clients.cache.Cache.get),
        (reasonact.lm.cache.Cache.put, dspy.clients.cache.Cache.put),
        (reasonact.lm.cache.Cache.cache_key, dspy.clients.cache.Cache.cache_key),
        (reasonact.lm.cache.Cache.load_memory_cache, dspy.clients.cache.Cache.load_memory_cache),
    ],
    ids=lambda function: function.__qualname__,
)
def test_call_signatures_name_the_same_parameters_in_the_same_order(ours, theirs):
    assert [(p.name, p.kind) for p in inspect.signature(theirs).parameters.values()] == [
        (p.name, p.kind) for p in inspect.signature(ours).parameters.values()
    ]


def test_the_lms_own_parameters_are_dspys_without_those_that_are_not_offered():
    not_offered = {
        "provider",
        "finetuning_model",
        "launch_kwargs",
        "train_kwargs",
        "engine",
        "async_engine",
        "prompt_cache",
    }
    theirs = [name for name in inspect.signature(THEIRS.LM.__init__).parameters if name not in not_offered]
    ours = [name for name in inspect.signature(OURS.LM.__init__).parameters if name not in ("supports", "retry_policy")]
    assert theirs == ours
    for name in not_offered:
        with pytest.raises(TypeError, match=name):
            OURS.LM("openai/gpt-4o-mini", **{name: None})
