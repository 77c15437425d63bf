"""The stand-ins for models: scripts, records, and DSPy's dummy."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest

from reasonact.lm.chunks import read_deltas
from reasonact.lm.stream import streaming_to
from reasonact.testing import DummyLM, ScriptedLM, ScriptExhaustedError


class TestScriptedLM:
    def test_replies_are_played_in_order_in_every_form(self):
        lm = ScriptedLM(
            [
                "text",
                ("thought", [("c1", "search", {"q": "x"})]),
                {"text": None, "tool_calls": [{"id": "c2", "name": "f", "args": {}}], "reasoning_content": "why"},
                ["one", "two"],
                {"choices": [{"message": {"content": "raw"}}]},
                lambda messages, options: f"{messages[-1]['content']} {options['n']}",
            ]
        )
        assert ["text"] == lm("p")
        (turn,) = lm("p")
        assert ("thought", "c1", "search", '{"q": "x"}') == (
            turn["text"],
            turn["tool_calls"][0].id,
            turn["tool_calls"][0].function.name,
            turn["tool_calls"][0].function.arguments,
        )
        (turn,) = lm("p")
        assert ("why", "c2", None) == (turn["reasoning_content"], turn["tool_calls"][0].id, turn["text"])
        assert ["one", "two"] == lm("p")
        assert ["raw"] == lm("p")
        assert ["asked 3"] == lm("asked", n=3)
        lm.assert_complete()

    async def test_both_paths_play_one_script(self):
        lm = ScriptedLM(["a", "b"])
        assert (["a"], ["b"]) == (lm("p"), await lm.acall("p"))

    def test_exceptions_are_raised_as_they_are(self):
        failure = RuntimeError("down")
        lm = ScriptedLM([failure, KeyError])
        with pytest.raises(RuntimeError) as caught:
            lm("p")
        assert failure is caught.value
        with pytest.raises(KeyError):
            lm("p")

    def test_a_script_that_runs_out_says_what_was_asked(self):
        lm = ScriptedLM(["only one"])
        lm("first")
        with pytest.raises(
            ScriptExhaustedError, match=r"request 2 came, but the script has 1 replies.*second question"
        ):
            lm("second question")

    def test_replies_that_were_not_played_are_named(self):
        lm = ScriptedLM(["played", "left one", ValueError("left two")])
        lm("p")
        with pytest.raises(AssertionError, match=r"2 of 3 replies.*\n.*2\. 'left one'\n.*3\. ValueError\('left two'\)"):
            lm.assert_complete()

    def test_requests_are_kept_as_they_were_sent(self):
        lm = ScriptedLM(["a", "b"])
        messages = [{"role": "user", "content": [{"type": "text", "text": "q"}]}]
        lm(messages=messages, tools=[{"name": "f"}])
        messages[0]["content"][0]["text"] = "changed"
        lm("p")
        assert [{"role": "user", "content": [{"type": "text", "text": "q"}]}] == lm.requests[0].messages
        assert {"tools": [{"name": "f"}]} == lm.requests[0].options
        assert [{"role": "user", "content": "p"}] == lm.requests[1].messages

    def test_capabilities_are_what_the_constructor_was_told(self):
        lm = ScriptedLM([], function_calling=True, response_schema=True, params=["tools"])
        assert (True, False, True, {"tools"}) == (
            lm.supports_function_calling,
            lm.supports_reasoning,
            lm.supports_response_schema,
            lm.supported_params,
        )

    def test_threads_get_a_reply_each(self):
        lm = ScriptedLM([str(number) for number in range(200)])
        with ThreadPoolExecutor(8) as pool:
            answers = [outputs[0] for outputs in pool.map(lm, ["p"] * 200)]
        assert sorted(map(str, range(200))) == sorted(answers)

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda lm: lm.copy()])
    def test_a_copy_plays_on_in_the_same_script(self, copied):
        lm = ScriptedLM(["a", "b"])
        lm("p")
        assert ["b"] == copied(lm)("p")
        lm.assert_complete()
        assert 2 == len(lm.requests)

    def test_one_text_is_no_list_of_replies(self):
        with pytest.raises(TypeError, match="takes a list of replies"):
            ScriptedLM("text")

    def test_usage_stands_in_the_history(self):
        lm = ScriptedLM(["a", {"text": "b", "usage": {"total_tokens": 9}}], usage={"total_tokens": 4})
        lm("p")
        lm("p")
        assert [{"total_tokens": 4}, {"total_tokens": 9}] == [entry["usage"] for entry in lm.history]

    def test_a_listener_gets_a_scripted_answer_as_one_chunk(self):
        class Listener:
            def __init__(self):
                self.chunks = []

            def put(self, chunk):
                self.chunks.append(chunk)

        listener = Listener()
        with streaming_to(listener):
            ScriptedLM([("t", [("c", "f", {"a": 1})])])("p")
        (delta,) = read_deltas(listener.chunks[0])
        assert ("t", "f", '{"a": 1}', "tool_calls") == (
            delta.text,
            delta.calls[0].name,
            delta.calls[0].arguments,
            delta.finish_reason,
        )


class TestDummyLM:
    def test_answers_come_in_the_marker_form_and_end_with_a_word(self):
        lm = DummyLM([{"answer": "red"}, {"answer": "blue", "n": 3, "items": ["a", 1]}])
        assert ["[[ ## answer ## ]]\nred"] == lm("q")
        assert ['[[ ## answer ## ]]\nblue\n\n[[ ## n ## ]]\n3\n\n[[ ## items ## ]]\n["a", 1]'] == lm("q")
        assert ["[[ ## answer ## ]]\nNo more responses"] == lm("q")

    async def test_answers_can_be_chosen_by_what_the_last_message_holds(self):
        lm = DummyLM({"colour": {"answer": "red"}})
        assert ["[[ ## answer ## ]]\nred"] == await lm.acall(messages=[{"role": "user", "content": "what colour?"}])
        assert ["No more responses"] == lm("what size?")

    def test_several_completions_are_several_answers(self):
        assert ["[[ ## a ## ]]\n1", "[[ ## a ## ]]\n2"] == DummyLM([{"a": 1}, {"a": 2}])("q", n=2)

    def test_a_reasoning_text_stands_beside_the_answer(self):
        assert [{"text": "[[ ## a ## ]]\n1", "reasoning_content": "Some reasoning"}] == DummyLM(
            [{"a": 1}], reasoning=True
        )("q")

    def test_examples_are_followed(self):
        lm = DummyLM([], follow_examples=True)
        messages = [
            {"role": "user", "content": "[[ ## q ## ]]\nhello"},
            {"role": "assistant", "content": "first"},
            {"role": "user", "content": "[[ ## q ## ]]\nhello there"},
            {"role": "assistant", "content": "second"},
        ]
        for asked, answer in [("hello", "first"), ("hello there", "second")]:
            last = {"role": "user", "content": f"[[ ## q ## ]]\n{asked}\n\nRespond with the fields."}
            assert [answer] == lm(messages=[*messages, last])
        assert [""] == lm(messages=[*messages, {"role": "user", "content": "[[ ## q ## ]]\nbye"}])

    def test_a_deep_copy_goes_on_from_where_it_was_made(self):
        lm = DummyLM([{"a": 1}, {"a": 2}])
        lm("q")
        other = copy.deepcopy(lm)
        assert ["[[ ## a ## ]]\n2"] == other("q") == lm("q")


def test_a_reply_of_no_known_kind_is_refused_when_it_is_played():
    with pytest.raises(TypeError, match="a ScriptedLM cannot play a int: 5"):
        ScriptedLM([5])("q")


def test_a_call_of_openais_shape_is_played_as_it_is():
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    (output,) = ScriptedLM([{"text": None, "tool_calls": [call]}])("q")
    assert ["look"] == [found["function"]["name"] for found in output["tool_calls"]]


def test_a_dummy_finds_its_answer_in_a_message_of_parts():
    lm = DummyLM({"sky": {"answer": "blue"}})
    content = [{"type": "text", "text": "the colour"}, {"type": "text", "text": "of the sky"}]
    assert "blue" in lm(messages=[{"role": "user", "content": content}])[0]
