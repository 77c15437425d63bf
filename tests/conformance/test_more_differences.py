"""The rest of docs/differences.md: signatures, values, tools, adapters, models and saved files beside DSPy 3.4.1's."""

from __future__ import annotations

import asyncio
import copy
import datetime
import enum
import json
import logging
import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import pytest
from harness import FINISH, Call, Fields, Raw, Scenario, Turn, make_adapter, plain, scripted_lm, submit
from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import reasonact
import reasonact.adapters.values
import reasonact.lm.cache
from reasonact.testing import DummyLM

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy
    import dspy.adapters.utils
    from dspy.utils import DummyLM as DSPyDummyLM

VALUES = {dspy: dspy.adapters.utils, reasonact: reasonact.adapters.values}


@pytest.fixture(autouse=True)
def quiet_oracle() -> None:
    logging.getLogger("dspy").setLevel(logging.CRITICAL)


def outcome(make: Callable[[Any], Any], library: Any) -> Any:
    """What is made, or the class of what is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(library)
        except Exception as error:
            return type(error)


def both(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    return outcome(make, dspy), outcome(make, reasonact)


class Asked:
    """A program of one library that was called once, with its model."""

    def __init__(self, library: Any, make: Any, *replies: Any, adapter: str = "chat", knows: Any = (), **inputs: Any):
        knows = ("function_calling", *knows)
        self.lm = scripted_lm(library, Scenario("", "", "", tuple(replies), knows=knows), adapter)
        self.prompts: list[Any] = []
        forward = self.lm.forward

        def keep(prompt: Any = None, messages: Any = None, **options: Any) -> Any:
            self.prompts.append(copy.deepcopy(messages))
            return forward(prompt, messages, **options)

        self.lm.forward = keep
        with library.context(lm=self.lm, adapter=make_adapter(library, adapter)):
            self.result = outcome(lambda library: make(library)(**(inputs or {"q": "q?"})), library)


def search(query: str) -> str:
    """Search."""
    return "found " + query


# Agents and their histories


def test_a_native_call_that_nobody_asked_for_is_the_step_of_react():
    script = (Turn(None, (Call("search", {"query": "a"}, "c1"),)), FINISH, Fields({"reasoning": "r", "answer": "42"}))

    def run(library: Any) -> Any:
        return Asked(library, lambda d: d.ReAct("q -> answer", tools=[search]), *script, adapter="chat native").result

    assert dspy.AdapterParseError is run(dspy)  # it asks once more in JSON, and that reply is no first step
    assert ("search", "found a") == (
        run(reasonact).trajectory["tool_name_0"],
        run(reasonact).trajectory["observation_0"],
    )


def test_a_run_without_inputs_is_opened_by_one_short_message():
    def opening(library: Any, adapter: str) -> str:
        make = lambda d: d.ReActV2("-> answer", tools=[search])  # noqa: E731
        asked = Asked(library, make, submit("c1", answer="42"), adapter=adapter, history=library.History(messages=[]))
        return asked.prompts[0][1]["content"]

    assert "next_thought" in opening(dspy, "chat native")
    assert "Begin." == opening(reasonact, "chat native")
    assert "search" in opening(dspy, "chat")
    assert "search" not in opening(reasonact, "chat")


def past_turn(library: Any, *results: tuple[str, str]) -> Any:
    calls = library.ToolCalls.from_dict_list([{"id": "c1", "name": "search", "args": {"query": "a"}}]).tool_calls
    made = [library.ToolCallResults.ToolCallResult(call_id=i, name="search", value=v) for i, v in results]
    turn = library.ToolCalls(tool_calls=calls, tool_call_results=library.ToolCallResults(tool_call_results=made))
    return library.History(messages=[{"q": "before", "tool_calls": turn}])


def replayed(library: Any, history: Any, adapter: str) -> Any:
    make = lambda d: d.ReActV2("q -> answer", tools=[search])  # noqa: E731
    return Asked(library, make, submit("c9", answer="42"), adapter=adapter, q="q?", history=history).prompts[0]


def test_a_result_without_a_call_is_left_out():
    def results(library: Any, adapter: str) -> list[str]:
        messages = replayed(library, past_turn(library, ("c1", "its own"), ("zz", "of nobody")), adapter)
        return [word for word in ("its own", "of nobody") if word in json.dumps(messages)]

    assert ([], ["its own"]) == (results(dspy, "chat native"), results(reasonact, "chat native"))
    assert (["its own", "of nobody"], ["its own"]) == (results(dspy, "chat"), results(reasonact, "chat"))


def test_what_an_event_lacks_is_left_out_of_its_replay():
    def turn(library: Any) -> str:
        messages = replayed(library, past_turn(library, ("c1", "found")), "chat")
        return next(m["content"] for m in messages if m["role"] == "assistant")

    assert "[[ ## next_thought ## ]]\nNone" in turn(dspy)
    assert "next_thought" not in turn(reasonact)


def conversation(library: Any, *events: dict[str, Any]) -> dict[str, Any]:
    return {"q": "q?", "history": library.History(messages=list(events))}


def conversing(library: Any) -> Any:
    fields = {"q": library.InputField(), "history": (library.History, library.InputField())}
    return library.Signature({**fields, "answer": library.OutputField()})


def test_an_event_without_a_known_field_is_left_out():
    def roles(library: Any) -> list[str]:
        inputs = conversation(library, {"mood": "fine"})
        return [m["role"] for m in library.ChatAdapter().format(conversing(library), [], inputs)]

    assert (["system", "assistant", "user"], ["system", "user"]) == both(roles)


def test_two_step_replays_a_history_as_messages():
    def roles(library: Any) -> list[str]:
        adapter = library.TwoStepAdapter(scripted_lm(library, Scenario("", "", "", ()), "chat"))
        inputs = conversation(library, {"q": "before", "answer": "earlier"})
        return [m["role"] for m in adapter.format(conversing(library), [], inputs)]

    assert (["system", "user"], ["system", "user", "assistant", "user"]) == both(roles)


def test_the_dump_of_a_tool_call_has_its_id():
    dumps = both(lambda d: d.ToolCalls.ToolCall(id="c1", name="f", args={}).model_dump())
    assert ({"name": "f", "args": {}}, {"id": "c1", "name": "f", "args": {}}) == dumps


def test_results_of_tool_calls_are_always_typed():
    kinds = both(
        lambda d: type(d.ToolCalls(tool_calls=[], tool_call_results=[{"name": "f", "value": 3}]).tool_call_results)
    )
    assert (list, reasonact.ToolCallResults) == kinds


def test_arguments_that_are_a_list_are_no_call():
    theirs, ours = both(lambda d: d.ToolCalls.model_validate([{"name": "f", "args": [1]}]).tool_calls[0].args)
    assert {} == theirs
    assert issubclass(ours, ValueError)


@pytest.mark.parametrize("agent", ["ReAct", "ReActV2"])
def test_a_signature_without_outputs_is_refused_at_construction(agent):
    def make(library: Any) -> bool:
        return bool(getattr(library, agent)(library.Signature({"q": library.InputField()}), tools=[]))

    assert (True, ValueError) == both(make)


def test_an_input_that_the_agent_would_overwrite_is_refused_at_construction():
    assert (True, ValueError) == both(lambda d: bool(d.ReAct("trajectory -> answer", tools=[])))


# Signatures and types


def test_the_words_of_constraints_are_our_own():
    words = both(lambda d: d.Signature({"n": (int, d.InputField(ge=3))}).fields["n"].json_schema_extra["constraints"])
    assert ("greater than or equal to: 3", "at least 3") == words


def test_none_in_a_string_is_the_type_of_none():
    assert (str, type(None)) == both(lambda d: d.Signature("a: None -> b").fields["a"].annotation)


def test_a_default_in_a_string_is_kept():
    theirs, ours = both(lambda d: d.Signature("a, k: int = 3 -> b").fields["k"])
    assert theirs.is_required()
    assert 3 == ours.default


@pytest.mark.parametrize(
    "text", ["a, a -> b", "a -> b, b", "a, k: int = f(3) -> b"], ids=["input twice", "output twice", "a call"]
)
def test_what_a_string_cannot_mean_is_a_value_error(text):
    assert (["a", "b"], ValueError) == both(lambda d: [n for n in d.Signature(text).fields if n != "k"])


def test_a_field_put_in_takes_the_place_of_one_of_the_other_side():
    def sides(library: Any) -> Any:
        signature = library.Signature("a -> b, c").prepend("c", library.InputField())
        return list(signature.input_fields), list(signature.output_fields)

    assert ((["a"], ["c", "b"]), (["c", "a"], ["b"])) == both(sides)


def test_signatures_made_while_running_can_be_pickled():
    names = both(lambda d: list(pickle.loads(pickle.dumps(d.Signature("a -> b"))).fields))
    assert (pickle.PicklingError, ["a", "b"]) == names


def test_a_child_class_without_words_gets_its_own_default_instructions():
    def words(library: Any) -> str:
        class Base(library.Signature):
            q: str = library.InputField()
            a: str = library.OutputField()

        class Derived(Base):
            w: int = library.OutputField()

        return Derived.instructions

    theirs, ours = both(words)
    assert (False, True) == ("`w`" in theirs, "`w`" in ours)


def test_mp3_has_the_name_that_providers_know(tmp_path):
    (tmp_path / "a.mp3").write_bytes(b"x")
    assert ("mpeg", "mp3") == both(lambda d: d.Audio.from_path(str(tmp_path / "a.mp3")).audio_format)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: bool(d.Image("data:image/png;base64,@@@")),
        lambda d: bool(d.Audio(data="@@@", audio_format="wav")),
        lambda d: bool(d.File(file_data="data:text/plain;base64,@@@")),
    ],
    ids=["image", "audio", "file"],
)
def test_damaged_base64_is_a_value_error(make):
    theirs, ours = both(make)
    assert theirs is True
    assert issubclass(ours, ValueError)


def test_samples_become_sound_without_soundfile(monkeypatch):
    numpy = pytest.importorskip("numpy")
    monkeypatch.setitem(sys.modules, "soundfile", None)
    assert (ImportError, "wav") == both(lambda d: d.Audio.from_array(numpy.zeros(4), 8000).audio_format)


def test_the_first_line_of_code_keeps_its_indentation():
    code = both(lambda d: d.Code(code="```python\n    x = 1\n    y = 2\n```").code)
    assert ("x = 1\n    y = 2", "    x = 1\n    y = 2") == code


def test_an_attribute_named_like_a_method_goes_into_the_fields():
    def items(library: Any) -> Any:
        prediction = library.Prediction(a=1)
        prediction.items = 5
        return prediction["items"]

    assert (KeyError, 5) == both(items)


def test_uneven_completions_are_a_value_error():
    kinds = both(lambda d: d.Prediction.from_completions({"a": [1, 2], "b": [1]}))
    assert (AssertionError, ValueError) == kinds


# Tools


def test_the_text_of_a_tool_shows_its_schemas_as_json():
    theirs, ours = both(lambda d: str(d.Tool(search)))
    assert "{'query': {'type': 'string'}}" in theirs
    assert '{"query": {"type": "string"}}' in ours


def test_limits_and_descriptions_of_annotated_stand_in_the_schema():
    def count(n: Any) -> Any: ...

    count.__annotations__["n"] = Annotated[int, Field(ge=1, description="how many")]
    schemas = both(lambda d: d.Tool(count).args["n"])
    assert ({"type": "integer"}, {"type": "integer", "minimum": 1, "description": "how many"}) == schemas


def test_a_missing_argument_is_a_value_error_that_names_it():
    assert TypeError is both(lambda d: d.Tool(search)())[0]
    with pytest.raises(ValueError, match="'query' is missing"):
        reasonact.Tool(search)()


def test_null_for_a_parameter_with_a_default_means_the_default():
    def greet(name: str = "you") -> str:
        return name

    assert (ValueError, "you") == both(lambda d: d.Tool(greet)(name=None))


def test_given_argument_schemas_have_to_fit_the_callable():
    assert (["term"], ValueError) == both(lambda d: list(d.Tool(search, args={"term": {"type": "string"}}).args))


def test_a_tool_has_a_field_for_its_policy():
    assert ["policy"] == [name for name in reasonact.Tool.model_fields if name not in dspy.Tool.model_fields]


def test_what_an_mcp_server_requires_is_required_and_nothing_else():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
    }
    tool = SimpleNamespace(name="f", description="d", inputSchema=schema)

    def shown(library: Any) -> Any:
        made = library.Tool.from_mcp_tool(None, tool)
        return made.format_as_litellm_function_call()["function"]["parameters"]["required"]

    assert (["a", "b"], ["a"]) == both(shown)
    theirs, ours = both(lambda d: d.Tool.from_mcp_tool(None, tool).arg_desc)
    assert {"a", "b"} == set(theirs)
    assert None is ours


def test_langchain_tools_get_no_description_that_nobody_wrote():
    make = pytest.importorskip("langchain_core.tools").tool
    theirs, ours = both(lambda d: d.Tool.from_langchain(make(search)).arg_desc)
    assert {"query"} == set(theirs)
    assert None is ours


def test_a_tool_name_that_providers_refuse_is_made_safe():
    named = both(
        lambda d: d.Tool(search, name="look up!").format_as_litellm_function_call()["function"]["name"].isidentifier()
    )
    assert (False, True) == named


# Values in prompts


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")

    __str__ = __repr__


class Opaque:
    pass


def info(annotation: Any) -> FieldInfo:
    return FieldInfo(annotation=annotation, json_schema_extra={"__dspy_field_type": "output", "desc": "${f}"})


def written(value: Any, annotation: Any) -> tuple[Any, Any]:
    return both(lambda d: VALUES[d].format_field_value(info(annotation), value))


def test_an_empty_list_for_a_text_is_written_as_a_list():
    assert ("N/A", "[]") == written([], str)


def test_nothing_in_a_list_for_a_text_can_be_written():
    theirs, ours = written(["a", None], str)
    assert TypeError is theirs
    assert "None" in ours


def test_numbers_of_numpy_are_written_as_numbers():
    numpy = pytest.importorskip("numpy")
    assert ('["1"]', "[1]") == written([numpy.int64(1)], list)


def test_the_key_none_is_written_as_null():
    assert ('{"None": 1}', '{"null": 1}') == written({None: 1}, dict)


def test_an_object_that_cannot_be_printed_is_named():
    theirs, ours = written([Unprintable()], list)
    assert RuntimeError is theirs
    assert "Unprintable" in ours


def test_half_a_surrogate_pair_is_replaced():
    theirs, ours = written("a\ud800", str)
    with pytest.raises(UnicodeEncodeError):  # the request could not be sent
        theirs.encode()
    assert "a\ufffd" == ours


def test_a_type_without_a_schema_is_named_in_the_prompt():
    theirs, ours = both(lambda d: VALUES[d].translate_field_type("f", info(Opaque)))
    assert issubclass(theirs, Exception)
    assert "Opaque" in ours


def test_an_annotated_type_goes_by_its_plain_name():
    theirs, ours = both(lambda d: VALUES[d].get_annotation_name(Annotated[int, Field(gt=1)]))
    assert theirs.startswith("Annotated[")
    assert "int" == ours


# Values in completions


class Colour(enum.Enum):
    RED = "r"


class Row(BaseModel):
    x: int = 1
    name: str = ""


def reads(*rows: tuple[Any, Any, Any, Any]) -> Any:
    """(annotation, text of the model, what DSPy reads, what reasonact reads); `ValueError` is a refusal."""
    return pytest.mark.parametrize(("annotation", "text", "theirs", "ours"), rows, ids=lambda value: str(value)[:30])


def read(library: Any, text: Any, annotation: Any) -> Any:
    value = outcome(lambda d: VALUES[d].parse_value(text, annotation), library)
    return ValueError if isinstance(value, type) and issubclass(value, ValueError) else value


@reads((float, "true", 1.0, ValueError), (float, True, 1.0, ValueError))
def test_a_yes_is_no_number(annotation, text, theirs, ours):
    assert (theirs, ours) == (read(dspy, text, annotation), read(reasonact, text, annotation))


@reads((Row, '{"name": 5}', ValueError, Row(name="5")), (list[str], "[1, 2]", ValueError, ["1", "2"]))
def test_a_number_where_text_is_wanted_is_text(annotation, text, theirs, ours):
    assert (theirs, ours) == (read(dspy, text, annotation), read(reasonact, text, annotation))


@reads(
    (int, "**5**", ValueError, 5),
    (int, "```\n5\n```", ValueError, 5),
    (bool, "False.", ValueError, False),
    (int | None, "N/A", ValueError, None),
)
def test_numbers_and_yes_or_no_are_read_as_models_write_them(annotation, text, theirs, ours):
    assert (theirs, ours) == (read(dspy, text, annotation), read(reasonact, text, annotation))


@reads(
    (Colour, "Colour.RED", ValueError, Colour.RED),
    (Colour, '"r"', ValueError, Colour.RED),
    (list[Colour], '["RED"]', ValueError, [Colour.RED]),
    (dict[str, Colour], '{"a": "RED"}', ValueError, {"a": Colour.RED}),
    (Literal[Colour.RED], "r", ValueError, Colour.RED),
    (Literal[b"x"], "x", ValueError, b"x"),
)
def test_members_are_read_in_every_plain_form(annotation, text, theirs, ours):
    assert (theirs, ours) == (read(dspy, text, annotation), read(reasonact, text, annotation))


@reads(
    (list[str], "1. a\n2. b", ValueError, ["a", "b"]),
    (list[str], "[1] «a»\n[2] «b»", ValueError, ["a", "b"]),
    (list[int], '"[1, 2]"', ValueError, [1, 2]),
    (list[Row], '["{\\"x\\": 3}"]', ValueError, [Row(x=3)]),
    (dict[str, dict], '{"a": "{\\"b\\": 1}"}', ValueError, {"a": {"b": 1}}),
)
def test_lists_and_json_inside_json_are_read(annotation, text, theirs, ours):
    assert (theirs, ours) == (read(dspy, text, annotation), read(reasonact, text, annotation))


def test_a_date_in_digits_is_no_count_of_seconds():
    assert 1970 == read(dspy, "20200102", datetime.datetime).year
    assert datetime.datetime(2020, 1, 2) == read(reasonact, "20200102", datetime.datetime)
    assert 1970 == read(dspy, "2020", datetime.datetime).year
    assert ValueError is read(reasonact, "2020", datetime.datetime)


# Adapters


def parsed(adapter: str, signature: str, text: str) -> tuple[Any, Any]:
    return both(lambda d: getattr(d, adapter)().parse(d.Signature(signature), text))


def test_an_adapter_called_by_itself_does_not_ask_again_in_json():
    def asked(library: Any) -> Any:
        lm = scripted_lm(library, Scenario("", "", "", (Raw("no form"), Raw('{"answer": "42"}'))), "chat")
        return library.ChatAdapter()(lm, {}, library.Signature("q -> answer"), [], {"q": "q?"})

    assert ([{"answer": "42"}], reasonact.AdapterParseError) == both(asked)


@pytest.mark.parametrize(
    "text",
    ["It is [[ ## answer ## ]] 42", "[[ ## Answer ## ]]\n42", "[[##answer##]]\n42", "**[[ ## answer ## ]]**\n42"],
)
def test_a_marker_is_found_in_other_forms(text):
    assert (dspy.AdapterParseError, {"answer": "42"}) == parsed("ChatAdapter", "q -> answer", text)


def test_a_marker_in_a_code_block_is_content():
    text = "[[ ## a ## ]]\n```\n[[ ## b ## ]]\nx\n```\n\n[[ ## b ## ]]\n2"
    theirs, ours = parsed("ChatAdapter", "q -> a, b", text)
    assert ("x\n```", "2") == (theirs["b"], ours["b"])


@pytest.mark.parametrize(
    ("adapter", "text", "kept"),
    [
        ("ChatAdapter", "[[ ## a ## ]]\nx\n\n[[ ## a ## ]]\ny\n\n[[ ## b ## ]]\n1", "x"),
        ("XMLAdapter", "<a>x</a><a>y</a><b>1</b>", "['x', 'y']"),
    ],
)
def test_two_different_values_of_one_field_are_an_error(adapter, text, kept):
    assert ({"a": kept, "b": "1"}, reasonact.AdapterParseError) == parsed(adapter, "q -> a, b", text)


@pytest.mark.parametrize(
    ("adapter", "value", "theirs"),
    [("ChatAdapter", "a\n[[ ## completed ## ]]\nb", "a"), ("XMLAdapter", "  x  ", "x")],
)
def test_what_an_adapter_writes_it_reads_back(adapter, value, theirs):
    def round_trip(library: Any) -> Any:
        made, signature = getattr(library, adapter)(), library.Signature("q -> answer")
        return made.parse(signature, made.format_assistant_message_content(signature, {"answer": value}))["answer"]

    assert (theirs, value) == both(round_trip)


@pytest.mark.parametrize("text", ["a < b & c", "a </answer> b", "use <b> x"])
def test_xml_that_a_model_did_not_escape_is_read(text):
    assert (dspy.AdapterParseError, {"answer": text}) == parsed("XMLAdapter", "q -> answer", f"<answer>{text}</answer>")


def test_a_schema_that_the_server_refuses_steps_down_once():
    def forms(library: Any) -> list[str]:
        class Plain(library.BaseLM):
            supports_response_schema = True
            supported_params = {"response_format"}
            seen: list[str] = []

            def forward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
                wanted = options.get("response_format")
                self.seen.append(wanted["type"] if isinstance(wanted, dict) else "schema")
                if self.seen[-1] == "schema":
                    raise library.LMInvalidRequestError("response_format is not supported", model="m")
                return answering('{"answer": "42"}')

        lm = Plain("m", cache=False)
        with library.context(lm=lm, adapter=library.JSONAdapter()):
            for _ in range(2):
                outcome(lambda d: d.Predict("q -> answer")(q="q?"), library)
        return lm.seen

    assert (["schema", "schema"], ["schema", "json_object", "json_object"]) == both(forms)


def answering(*texts: str) -> Any:
    messages = [SimpleNamespace(role="assistant", content=text, tool_calls=None) for text in texts]
    choices = [SimpleNamespace(index=i, message=m, finish_reason="stop") for i, m in enumerate(messages)]
    return SimpleNamespace(choices=choices, usage={}, model="m")


class Bag(BaseModel):
    things: dict[str, int]


def response_format(library: Any, outputs: Any, **options: Any) -> Any:
    make = lambda d: d.Predict(d.Signature({"q": d.InputField(), **outputs(d)}))  # noqa: E731
    reply = Raw('{"answer": "42", "bag": {"things": {}}, "reasoning": "r"}')
    asked = Asked(library, make, reply, adapter="json", knows=("response_schema",), q="q?", **options)
    return plain(asked.lm.requests[0]["options"]["response_format"])


def test_open_keys_inside_a_model_ask_for_any_object():
    theirs, ours = both(lambda d: response_format(d, lambda d: {"bag": (Bag, d.OutputField())}))
    assert {} == theirs["(schema)"]["$defs"]["Bag"]["properties"]["things"]["properties"]  # none may be filled
    assert {"type": "json_object"} == ours


def test_reasoning_is_a_text_in_the_response_schema():
    def kind(library: Any) -> Any:
        outputs = lambda d: {"reasoning": (d.Reasoning, d.OutputField()), "answer": d.OutputField()}  # noqa: E731
        return response_format(library, outputs)["(schema)"]["properties"]["reasoning"].get("type")

    assert (None, "string") == both(kind)


def test_the_callers_response_format_is_kept():
    wanted = {"response_format": {"type": "json_object"}}
    theirs, ours = both(lambda d: response_format(d, lambda d: {"answer": d.OutputField()}, config=wanted))
    assert "(schema)" in theirs
    assert wanted["response_format"] == ours


# Models


def own_model(library: Any, answer: Any, *, is_async: bool = False) -> Any:
    def forward(self: Any, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aforward(self: Any, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
        return forward(self, prompt, messages, **options)

    methods = {"aforward": aforward} if is_async else {"forward": forward}
    return type("Own", (library.BaseLM,), methods)("own", cache=False)


def test_exceptions_of_clients_in_a_model_of_ones_own_become_errors_of_the_tree():
    httpx = pytest.importorskip("httpx")
    kinds = both(lambda d: own_model(d, httpx.ConnectError("away"))("q"))
    assert (httpx.ConnectError, reasonact.LMTransportError) == kinds


def test_one_of_forward_and_aforward_is_enough():
    assert (NotImplementedError, ["42"]) == both(lambda d: asyncio.run(own_model(d, answering("42")).acall("q")))
    assert (NotImplementedError, ["42"]) == both(lambda d: own_model(d, answering("42"), is_async=True)("q"))


def test_forward_may_return_a_list_of_completions():
    assert ([], ["a", "b"]) == both(lambda d: own_model(d, ["a", "b"])("q"))


def test_no_model_is_a_configuration_error_and_a_value_error():
    def ask(library: Any) -> Any:
        with library.context(lm=None):
            return library.Predict("q -> answer")(q="q?")

    assert (ValueError, reasonact.LMNotConfiguredError) == both(ask)
    assert issubclass(reasonact.LMNotConfiguredError, ValueError)


def test_no_secret_stands_in_a_saved_model():
    secrets = {"api_key": "SECRET", "aws_secret_access_key": "SECRET", "azure_ad_token": "SECRET"}
    secrets["extra_headers"] = {"Authorization": "SECRET"}
    counts = both(lambda d: json.dumps(d.LM("openai/gpt-4o-mini", **secrets).dump_state()).count("SECRET"))
    assert (3, 0) == counts


class Provider:
    """An OpenAI-compatible server that counts its requests and answers with the path that was asked."""

    def __init__(self, server: HTTPServer) -> None:
        self.url, self.bodies = server.url_for(""), []
        server.expect_request("/one/chat/completions").respond_with_handler(self._answer)
        server.expect_request("/two/chat/completions").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        body = request.json
        self.bodies.append(body)
        count = 0 if "nothing" in body["messages"][0]["content"] else body.get("n") or 1
        message = {"role": "assistant", "content": request.path.split("/")[1]}
        choices = [{"index": i, "message": message, "finish_reason": "stop"} for i in range(count)]
        usage = {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini"}
        return Response(json.dumps({**head, "choices": choices, "usage": usage}), content_type="application/json")

    def lm(self, library: Any, path: str = "/one", **options: Any) -> Any:
        options = {"cache": False, **options}
        return library.LM("openai/gpt-4o-mini", api_base=self.url + path.lstrip("/"), api_key="k", **options)


@pytest.fixture
def provider(httpserver: HTTPServer) -> Provider:
    return Provider(httpserver)


@pytest.fixture
def caches_in_memory(monkeypatch: pytest.MonkeyPatch) -> Any:
    ours = reasonact.lm.cache.cache
    before = (ours.enable_disk_cache, ours.enable_memory_cache, ours.disk_cache_dir)
    monkeypatch.setattr(dspy, "cache", dspy.cache)  # put back afterwards
    for library in (dspy, reasonact):
        library.configure_cache(enable_disk_cache=False)
    yield
    reasonact.configure_cache(enable_disk_cache=before[0], enable_memory_cache=before[1], disk_cache_dir=before[2])


def test_a_cached_call_costs_nothing(provider, caches_in_memory):
    def is_free(library: Any) -> list[bool]:
        lm = provider.lm(library, cache=True)
        lm("q"), lm("q")
        return [call["cost"] == 0.0 for call in lm.history]

    assert ([False, False], [False, True]) == both(is_free)


def test_the_address_of_a_model_counts_in_its_cache(provider, caches_in_memory):
    def answers(library: Any) -> list[str]:
        return [provider.lm(library, path, cache=True)("q")[0] for path in ("/one", "/two")]

    assert (["one", "one"], ["one", "two"]) == both(answers)


def test_several_completions_are_one_request(provider):
    def requests(library: Any) -> list[Any]:
        provider.bodies.clear()
        assert 3 == len(provider.lm(library)("q", n=3, temperature=1.0))
        return [body.get("n") for body in provider.bodies]

    assert ([None, None, None], [3]) == both(requests)


def test_an_answer_without_any_completion_is_an_error(provider):
    assert ([""], reasonact.LMUnexpectedError) == both(lambda d: provider.lm(d)("nothing"))


# Modules, batches and saved state


def test_no_trace_is_kept_unless_asked_for():
    def length(library: Any) -> Any:
        lm = (DSPyDummyLM if library is dspy else DummyLM)([{"answer": "42"}])
        with library.context(lm=lm):
            before = len(library.settings.trace or ())
            library.Predict("q -> answer")(q="q?")
            return len(library.settings.trace or ()) - before

    assert (1, 0) == both(length)


def rows(library: Any, count: int = 3) -> list[Any]:
    return [library.Example(q=number).with_inputs("q") for number in range(count)]


def failing(library: Any) -> Any:
    class Failing(library.Module):
        def forward(self, q: int) -> Any:
            raise ValueError(str(q))

    return Failing()


def test_a_batch_that_failed_too_often_hands_over_its_results():
    def error(library: Any) -> Exception:
        with pytest.raises(Exception) as caught:
            failing(library).batch(rows(library), num_threads=1, max_errors=1, disable_progress_bar=True)
        return caught.value

    theirs, ours = both(error)
    assert (Exception, reasonact.modules.batch.TooManyErrors) == (type(theirs), type(ours))
    assert (False, True) == (hasattr(theirs, "results"), hasattr(ours, "results"))


def test_failed_examples_come_in_the_order_they_were_given():
    second_failed = threading.Event()

    class Late(reasonact.Module):
        def forward(self, q: int) -> Any:
            if q == 0:
                second_failed.wait(10)
            second_failed.set()
            raise ValueError(str(q))

    options = {"num_threads": 2, "max_errors": 9, "return_failed_examples": True, "disable_progress_bar": True}
    _, failed, errors = Late().batch(rows(reasonact, 2), **options)
    assert ([0, 1], ["0", "1"]) == ([example.q for example in failed], [str(error) for error in errors])


def test_a_wrong_setup_of_a_batch_is_told_before_anything_runs():
    def ran(library: Any) -> Any:
        seen: list[Any] = []
        pairs = [(lambda **inputs: seen.append(inputs), {"q": 1}), 3]
        outcome(lambda d: d.Parallel(num_threads=1, disable_progress_bar=True)(pairs), library)
        return seen

    assert ([{"q": 1}], []) == both(ran)


def test_loading_a_file_without_one_of_the_predictors_is_a_value_error():
    def load(library: Any) -> None:
        class Two(library.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = library.Predict("q -> answer"), library.Predict("q -> answer")

        program = Two()
        program.load_state({"a": program.dump_state()["a"]})

    assert (KeyError, ValueError) == both(load)


def test_loading_a_file_that_is_no_state_is_a_value_error(tmp_path):
    (tmp_path / "p.json").write_text('{"signature": 3}')
    assert (KeyError, ValueError) == both(lambda d: d.Predict("q -> answer").load(str(tmp_path / "p.json")))


def test_an_unknown_entry_of_a_state_sets_no_attribute():
    def mood(library: Any) -> Any:
        predict = library.Predict("q -> answer")
        predict.load_state({**predict.dump_state(), "mood": "fine"})
        return getattr(predict, "mood", None)

    assert ("fine", None) == both(mood)


def test_a_file_cannot_redirect_requests_in_any_of_these_ways():
    planted = {"headers": {"X": "y"}, "azure_endpoint": "http://e", "proxy": "http://e", "fallbacks": ["m"]}
    planted["api_key"] = "k"

    def kept(library: Any) -> Any:
        predict = library.Predict("q -> answer")
        predict.lm = library.LM("openai/gpt-4o-mini")
        state = predict.dump_state()
        state["lm"].update(planted)
        state["config"] = {"api_base": "http://e"}
        predict.load_state(state)
        return sorted(set(predict.lm.kwargs) & set(planted)), sorted(predict.config)

    assert ((sorted(planted), ["api_base"]), ([], [])) == both(kept)


def test_demos_of_values_that_json_does_not_know_are_saved(tmp_path):
    def saved(library: Any) -> Any:
        predict = library.Predict("q -> answer")
        predict.demos = [library.Example(q={1}, answer=b"x")]
        predict.save(str(tmp_path / "p.json"))
        return json.loads((tmp_path / "p.json").read_text())["demos"]

    assert (RuntimeError, [{"q": [1], "answer": "x"}]) == both(saved)


@pytest.mark.parametrize("has_forward", [True, False])
def test_a_module_without_the_method_that_is_called_says_so(has_forward):
    def call(library: Any) -> Any:
        module = failing(library) if has_forward else type("Empty", (library.Module,), {})()
        return asyncio.run(module.acall(q=1)) if has_forward else module(q=1)

    assert (AttributeError, NotImplementedError) == both(call)


def test_a_table_of_results_needs_no_pandas(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)

    def shown(library: Any) -> bool:
        program = type("One", (library.Module,), {"forward": lambda self, q: library.Prediction(a="the answer")})()
        evaluate = library.Evaluate(devset=rows(library), metric=lambda *_: 1, display_table=True, num_threads=1)
        evaluate(program)
        return "the answer" in capsys.readouterr().out

    assert (False, True) == both(shown)
