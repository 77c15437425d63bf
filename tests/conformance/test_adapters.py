"""Adapters beside DSPy's: roles, order, markers, values and options of requests, and what is read of an answer."""

# ruff: noqa: UP045  # Optional[...] is the form whose name DSPy prints

from __future__ import annotations

import contextlib
import dataclasses
import enum
import re
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any, Literal, Optional

import pytest
from harness import FIELD_LINE, MARKER_LINE, plain, sections
from pydantic import BaseModel

import reasonact

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy

LIBRARIES = (dspy, reasonact)
ADAPTERS = ("ChatAdapter", "JSONAdapter", "XMLAdapter")
LEFT_OUT = ("Not supplied for this particular example.", "(left out here)")
TAG = re.compile(r"^<(\w+)>\n?(.*?)\n?</\1>$", re.MULTILINE | re.DOTALL)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    tags: list[str] = []
    rank: Optional[int] = None


@dataclasses.dataclass
class Pair:
    left: int
    right: str = "r"


def search(query: str, k: int = 3) -> str:
    """Search the docs."""
    return query


# What is compared of a message


def outline(message: Mapping[str, Any], adapter: str) -> Any:
    """A message without the sentences that are each library's own."""
    role, content = message["role"], message["content"]
    other = {key: plain(value) for key, value in message.items() if key not in ("role", "content")}
    if isinstance(content, list):
        return role, [part if part["type"] != "text" else body_of(part["text"], adapter) for part in content], other
    if role == "system":
        slots = TAG.findall(content) if adapter == "XMLAdapter" else MARKER_LINE.findall(content)
        keys = re.findall(r'^  "(\w+)": ', content, re.MULTILINE)
        fields = [(name, kind) for name, kind in FIELD_LINE.findall(content)]
        return role, fields, [slot[0] if isinstance(slot, tuple) else slot for slot in slots], keys
    return role, body_of(content, adapter), other


def body_of(content: str | None, adapter: str) -> Any:
    """Fields and values of a body, and the names that the closing reminder asks for."""
    if content is None:
        return None
    for text in LEFT_OUT:
        content = re.sub(rf"{re.escape(text)} ?", "(missing)", content)
    body, _, last = content.rpartition("\n\n")
    asked: list[str] = []
    if "`" in last:
        content, asked = body, re.findall(r"`(?:\[\[ ## |<)?(\w+)(?: ## \]\]|>)?`", last)
        asked = [name for name in asked if name != "completed"]
    if adapter == "XMLAdapter":
        return [(name, value.strip()) for name, value in TAG.findall(content)] or content.strip(), asked
    found = sections(content)
    if isinstance(found, str) and "[[ ##" not in found:
        found = found.strip('"')
    return found, asked


def make(library: ModuleType, name: str, **options: Any) -> Any:
    return getattr(library, name)(**options)


# What is sent


@dataclasses.dataclass(frozen=True)
class Sent:
    """A request: fields, demos and inputs, each made for a library."""

    name: str
    signature: Callable[[Any], Any]
    inputs: Callable[[Any], dict[str, Any]]
    demos: Callable[[Any], list[Any]] = lambda library: []


def text(signature: str, instructions: str | None = None, **types: Any) -> Callable[[Any], Any]:
    return lambda library: (
        library.Signature(signature, instructions, custom_types=types)
        if types
        else (library.Signature(signature, instructions) if instructions else library.Signature(signature))
    )


def fields(*outputs: tuple[str, Any], **inputs: Any) -> Callable[[Any], Any]:
    def build(library: Any) -> Any:
        given = {name: (kind, library.InputField()) for name, kind in inputs.items()}
        return library.Signature({**given, **{name: (kind, library.OutputField()) for name, kind in outputs}})

    return build


def same(**values: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda library: values


def image(library: Any) -> Any:
    return library.Image(url="https://example.org/a.png")


PLACE = Place(name="x", tags=["t", "é"], rank=None)
SENT = [
    Sent("one text", text("question -> answer"), same(question="why?")),
    Sent("own instructions", text("question -> answer", "Say it\nin two lines."), same(question="why?")),
    Sent("a missing input", text("question, context -> answer"), same(question="why?")),
    Sent("an input of None", text("question, context -> answer"), same(question="why?", context=None)),
    Sent("an input that nobody asked for", text("question -> answer"), same(question="why?", other="x")),
    Sent("numbers and truth", text("n: int, x: float, b: bool -> m: int, y: float, c: bool"), same(n=1, x=0.5, b=True)),
    Sent("lists", text("xs: list[str], ns: list[int] -> ys: list[str]"), same(xs=["a", "é"], ns=[])),
    Sent("dicts", text("d: dict[str, int] -> e: dict[str, int]"), same(d={"k": 1})),
    Sent("an enum", fields(("d", Colour), c=Colour), same(c=Colour.RED)),
    Sent("a literal", fields(("d", Literal["a", "b"]), c=Literal["a", 1]), same(c="a")),
    Sent("a model", fields(("q", Place), p=Place), same(p=PLACE)),
    Sent("models in a list", fields(("qs", list[Place]), ps=list[Place]), same(ps=[PLACE, PLACE])),
    Sent("an optional model", fields(("q", Optional[Place]), p=Optional[Place]), same(p=None)),
    Sent("a dataclass", fields(("q", Pair), p=Pair), same(p=Pair(1))),
    Sent("a tuple", fields(("q", tuple[int, str]), p=tuple[int, str]), same(p=(1, "a"))),
    Sent("a text of several lines", text("question -> answer"), same(question="  one\n\ntwo\n")),
    Sent("a text with a marker", text("question -> answer"), same(question="use [[ ## answer ## ]] here")),
    Sent(
        "a complete demo",
        text("question, k: int -> answer, score: float"),
        same(question="why?", k=1),
        lambda library: [{"question": "q", "k": 2, "answer": "a", "score": 0.5}],
    ),
    Sent(
        "demos of all kinds in their order",
        text("question, k: int -> answer, score: float"),
        same(question="why?", k=1),
        lambda library: [
            {"question": "1", "k": 2, "answer": "a", "score": 0.5},
            {"question": "2", "answer": "b"},
            {"question": "3"},
            {"answer": "4"},
            {"question": "5", "k": None, "answer": None, "score": None},
            {"question": "6", "k": 2, "answer": "c", "score": 1.0, "augmented": True},
        ],
    ),
    Sent(
        "demos that are examples",
        text("question -> answer"),
        same(question="why?"),
        lambda library: [library.Example(question="q", answer="a").with_inputs("question")],
    ),
    Sent(
        "a demo with nested values",
        fields(("q", Place), ("qs", list[Place]), ("c", Colour), ("d", dict[str, int]), p=Place),
        same(p=PLACE),
        lambda library: [{"p": PLACE, "q": PLACE, "qs": [PLACE], "c": Colour.BLUE, "d": {"k": 1}}],
    ),
    Sent(
        "a history of answers",
        lambda library: library.Signature(
            {
                "q": (str, library.InputField()),
                "history": (library.History, library.InputField()),
                "a": (str, library.OutputField()),
                "n": (int, library.OutputField()),
            }
        ),
        lambda library: {
            "q": "now",
            "history": library.History(messages=[{"q": "1", "a": "x", "n": 1}, {"q": "2", "a": "y"}, {"q": "3"}]),
        },
    ),
    Sent(
        "a history and a demo",
        lambda library: library.Signature(
            {
                "q": (str, library.InputField()),
                "history": (library.History, library.InputField()),
                "a": (str, library.OutputField()),
            }
        ),
        lambda library: {"q": "now", "history": library.History(messages=[{"q": "1", "a": "x"}])},
        lambda library: [{"q": "d", "a": "e"}],
    ),
    Sent(
        "an image",
        lambda library: library.Signature(
            {
                "q": (str, library.InputField()),
                "i": (library.Image, library.InputField()),
                "a": (str, library.OutputField()),
            }
        ),
        lambda library: {"q": "what?", "i": image(library)},
    ),
    Sent(
        "images in a list",
        lambda library: library.Signature(
            {"i": (list[library.Image], library.InputField()), "a": (str, library.OutputField())}
        ),
        lambda library: {"i": [image(library), image(library)]},
    ),
    Sent(
        "images in a dict",
        lambda library: library.Signature(
            {"i": (dict[str, library.Image], library.InputField()), "a": (str, library.OutputField())}
        ),
        lambda library: {"i": {"k": image(library)}},
    ),
    Sent(
        "an image in a demo",
        lambda library: library.Signature(
            {"i": (library.Image, library.InputField()), "a": (str, library.OutputField())}
        ),
        lambda library: {"i": image(library)},
        lambda library: [{"i": image(library), "a": "x"}],
    ),
    Sent(
        "sound and a file",
        lambda library: library.Signature(
            {
                "s": (library.Audio, library.InputField()),
                "f": (library.File, library.InputField()),
                "a": (str, library.OutputField()),
            }
        ),
        lambda library: {
            "s": library.Audio(data="AAAA", audio_format="wav"),
            "f": library.File(file_data="data:text/plain;base64,AAAA", filename="a.txt"),
        },
    ),
    Sent(
        "code",
        lambda library: library.Signature(
            {"c": (library.Code, library.InputField()), "a": (str, library.OutputField())}
        ),
        lambda library: {"c": library.Code(code="x = 1")},
    ),
    Sent(
        "reasoning in a demo",
        lambda library: library.Signature(
            {
                "q": (str, library.InputField()),
                "r": (library.Reasoning, library.OutputField()),
                "a": (str, library.OutputField()),
            }
        ),
        same(q="x"),
        lambda library: [{"q": "d", "r": library.Reasoning(content="so"), "a": "e"}],
    ),
]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("sent", SENT, ids=lambda sent: sent.name)
def test_both_send_the_same_messages(sent: Sent, adapter: str) -> None:
    theirs, ours = (
        [
            outline(message, adapter)
            for message in make(library, adapter).format(
                sent.signature(library), sent.demos(library), sent.inputs(library)
            )
        ]
        for library in LIBRARIES
    )
    assert theirs == ours


# What is read


READ_SIGNATURES: dict[str, Callable[[Any], Any]] = {
    "two": text("q -> a, b: int"),
    "nested": fields(("p", Place), ("ps", list[Place]), q=str),
    "kinds": fields(("c", Colour), ("l", Literal["x", "y"]), ("o", Optional[int]), ("t", bool), q=str),
    "lists": fields(("xs", list[str]), ("d", dict[str, int]), q=str),
}
READ = [
    ("ChatAdapter", "two", "[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\n1\n\n[[ ## completed ## ]]"),
    ("ChatAdapter", "two", "[[ ## b ## ]]\n1\n[[ ## a ## ]]\n  x\ny  \n"),
    ("ChatAdapter", "two", "Sure.\n[[ ## a ## ]] x\n[[ ## note ## ]]\n!\n[[ ## b ## ]]\n1"),
    ("ChatAdapter", "two", "[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1\n[[ ## completed ## ]]\nrest"),
    ("ChatAdapter", "two", "[[ ## a ## ]]\nx"),
    ("ChatAdapter", "two", "[[ ## a ## ]]\nx\n[[ ## b ## ]]\nmany"),
    ("ChatAdapter", "two", "[[ ## a ## ]]\n42\n[[ ## b ## ]]\n42"),
    ("ChatAdapter", "two", "nothing"),
    ("ChatAdapter", "kinds", "[[ ## c ## ]]\nred\n[[ ## l ## ]]\ny\n[[ ## o ## ]]\n3\n[[ ## t ## ]]\nTrue"),
    ("ChatAdapter", "kinds", "[[ ## c ## ]]\nBLUE\n[[ ## l ## ]]\n'y'\n[[ ## t ## ]]\nfalse"),
    ("ChatAdapter", "kinds", "[[ ## c ## ]]\ngreen\n[[ ## l ## ]]\ny\n[[ ## t ## ]]\nTrue"),
    ("ChatAdapter", "nested", '[[ ## p ## ]]\n{"name": "n"}\n[[ ## ps ## ]]\n[{"name": "m", "tags": ["t"]}]'),
    ("ChatAdapter", "nested", '[[ ## p ## ]]\n{"rank": 1}\n[[ ## ps ## ]]\n[]'),
    ("ChatAdapter", "lists", '[[ ## xs ## ]]\n["a", "b"]\n[[ ## d ## ]]\n{"k": 1}'),
    ("ChatAdapter", "lists", "[[ ## xs ## ]]\n['a', 'b']\n[[ ## d ## ]]\n{'k': 1,}"),
    ("JSONAdapter", "two", '{"a": "x", "b": 1}'),
    ("JSONAdapter", "two", '{"b": "1", "a": "x", "c": 2}'),
    ("JSONAdapter", "two", 'Sure: {"a": "x", "b": 1}. Good?'),
    ("JSONAdapter", "two", '```json\n{"a": "x", "b": 1}\n```'),
    ("JSONAdapter", "two", "{'a': 'x', 'b': 1,}"),
    ("JSONAdapter", "two", '{"a": "x", "b": 1'),
    ("JSONAdapter", "two", '{"a": 5, "b": 1}'),
    ("JSONAdapter", "two", '{"a": "x"}'),
    ("JSONAdapter", "two", '{"a": "x", "b": "many"}'),
    ("JSONAdapter", "two", "nothing"),
    ("JSONAdapter", "kinds", '{"c": "red", "l": "x", "o": null, "t": true}'),
    ("JSONAdapter", "kinds", '{"c": "BLUE", "l": "x", "t": "False"}'),
    ("JSONAdapter", "nested", '{"p": {"name": "n"}, "ps": [{"name": "m", "rank": 1}]}'),
    ("JSONAdapter", "nested", '{"p": "{\\"name\\": \\"n\\"}", "ps": "[]"}'),
    ("JSONAdapter", "lists", '{"xs": ["a"], "d": {"k": 1}}'),
    ("XMLAdapter", "two", "<a>\nx\n</a>\n\n<b>\n1\n</b>"),
    ("XMLAdapter", "two", "Sure. <b>1</b> <a>x &lt; &amp; y</a>"),
    ("XMLAdapter", "two", "<a>x<i>y</i></a><b>1</b>"),
    ("XMLAdapter", "two", "<a><![CDATA[x < y]]></a><b>1</b>"),
    ("XMLAdapter", "two", "<a>x</a>"),
    ("XMLAdapter", "two", "<a>x</a><b>many</b>"),
    ("XMLAdapter", "kinds", "<c>red</c><l>x</l><o>3</o><t>True</t>"),
    ("XMLAdapter", "nested", "<p><name>n</name><tags><item>t</item></tags></p><ps><item><name>m</name></item></ps>"),
    ("XMLAdapter", "nested", '<p>{"name": "n"}</p><ps>[]</ps>'),
    ("XMLAdapter", "lists", "<xs><item>a</item><item>b</item></xs><d><k>1</k></d>"),
    ("XMLAdapter", "lists", '<xs>["a"]</xs><d>{"k": 1}</d>'),
]


@pytest.mark.parametrize(("adapter", "signature", "completion"), READ, ids=range(len(READ)))
def test_both_read_the_same(adapter: str, signature: str, completion: str) -> None:
    def read(library: Any) -> Any:
        try:
            return plain(make(library, adapter).parse(READ_SIGNATURES[signature](library), completion))
        except library.AdapterParseError:
            return "AdapterParseError"

    assert read(dspy) == read(reasonact)


# What a request asks of the model


def lm(library: Any, reply: Any, **knows: Any) -> Any:
    class Scripted(library.BaseLM):  # type: ignore[misc]
        supports_function_calling = knows.get("function_calling", True)
        supports_response_schema = knows.get("response_schema", False)
        supports_reasoning = knows.get("reasoning", False)
        supported_params = {"response_format"} if knows.get("response_format") else set()

        def __init__(self) -> None:
            super().__init__("scripted", cache=False)
            self.requests: list[tuple[Any, Any]] = []

        def forward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
            self.requests.append((messages, options))
            message = SimpleNamespace(role="assistant", content=reply[0], tool_calls=reply[1], **reply[2])
            choice = SimpleNamespace(index=0, message=message, finish_reason="stop")
            return SimpleNamespace(choices=[choice], usage={}, model="scripted")

    return Scripted()


def made(call_id: str, name: str, arguments: str) -> Any:
    return SimpleNamespace(id=call_id, type="function", function=SimpleNamespace(name=name, arguments=arguments))


def calling(library: Any) -> Any:
    return library.Signature(
        {
            "q": (str, library.InputField()),
            "tools": (list[library.Tool], library.InputField()),
            "answer": (str, library.OutputField()),
            "calls": (library.ToolCalls, library.OutputField()),
        }
    )


CALLS = [made("c1", "search", '{"query": "x"}'), made("c2", "search", "{}")]
CHAT_TEXT = '[[ ## answer ## ]]\nyes\n[[ ## calls ## ]]\n{"tool_calls": [{"name": "search", "args": {"query": "x"}}]}'
JSON_TEXT = '{"answer": "yes", "calls": {"tool_calls": [{"name": "search", "args": {"query": "x"}}]}}'
NATIVE: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any], Any]] = [
    (
        "native calls",
        "ChatAdapter",
        {"use_native_function_calling": True},
        {},
        {},
        ("[[ ## answer ## ]]\nyes", CALLS, {}),
    ),
    ("calls without a text", "ChatAdapter", {"use_native_function_calling": True}, {}, {}, (None, CALLS, {})),
    (
        "a text without calls",
        "ChatAdapter",
        {"use_native_function_calling": True},
        {},
        {},
        ("[[ ## answer ## ]]\nyes", None, {}),
    ),
    (
        "parallel",
        "ChatAdapter",
        {"use_native_function_calling": True, "parallel_tool_calls": True},
        {},
        {},
        (None, CALLS, {}),
    ),
    (
        "not parallel",
        "ChatAdapter",
        {"use_native_function_calling": True, "parallel_tool_calls": False},
        {},
        {},
        (None, CALLS, {}),
    ),
    (
        "a tool choice",
        "ChatAdapter",
        {"use_native_function_calling": True},
        {"tool_choice": "required"},
        {},
        (None, CALLS, {}),
    ),
    (
        "a tool choice and parallel",
        "ChatAdapter",
        {"use_native_function_calling": True, "parallel_tool_calls": True},
        {"tool_choice": {"type": "function", "function": {"name": "search"}}},
        {},
        (None, CALLS, {}),
    ),
    (
        "parallel by the caller",
        "ChatAdapter",
        {"use_native_function_calling": True},
        {"parallel_tool_calls": True},
        {},
        (None, CALLS, {}),
    ),
    ("JSON is native", "JSONAdapter", {}, {}, {}, ('{"answer": "yes"}', CALLS, {})),
    ("JSON native with an object", "JSONAdapter", {}, {}, {"response_format": True}, (None, CALLS, {})),
    (
        "JSON native with a schema",
        "JSONAdapter",
        {},
        {},
        {"response_format": True, "response_schema": True},
        (None, CALLS, {}),
    ),
    ("XML native", "XMLAdapter", {"use_native_function_calling": True}, {}, {}, ("<answer>yes</answer>", CALLS, {})),
    ("text", "ChatAdapter", {}, {"tool_choice": "required", "temperature": 0.5}, {}, (CHAT_TEXT, None, {})),
    ("JSON text", "JSONAdapter", {"use_native_function_calling": False}, {}, {}, (JSON_TEXT, None, {})),
    (
        "JSON text with a schema",
        "JSONAdapter",
        {"use_native_function_calling": False},
        {},
        {"response_format": True, "response_schema": True},
        (JSON_TEXT, None, {}),
    ),
    (
        "a model without tools",
        "ChatAdapter",
        {"use_native_function_calling": True, "parallel_tool_calls": True},
        {"tool_choice": "required"},
        {"function_calling": False},
        (CHAT_TEXT, None, {}),
    ),
]


@pytest.mark.parametrize(
    ("name", "adapter", "setting", "options", "knows", "reply"), NATIVE, ids=[case[0] for case in NATIVE]
)
def test_both_ask_for_tools_alike(name: str, adapter: str, setting: Any, options: Any, knows: Any, reply: Any) -> None:
    def ask(library: Any) -> Any:
        model = lm(library, reply, **knows)
        inputs = {"q": "why?", "tools": [library.Tool(search)]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = make(library, adapter, **setting)(model, dict(options), calling(library), [], inputs)
        ((messages, sent),) = model.requests
        roles = [message["role"] for message in messages]
        return plain(values), plain(sent), roles, outline(messages[-1], adapter)[1][1]

    assert ask(dspy) == ask(reasonact)


def test_both_refuse_native_calls_without_tools() -> None:
    for library in LIBRARIES:
        signature = library.Signature(
            {"q": (str, library.InputField()), "c": (library.ToolCalls, library.OutputField())}
        )
        adapter = library.ChatAdapter(use_native_function_calling=True)
        with pytest.raises(ValueError, match="tool"):
            adapter(lm(library, ("", None, {})), {}, signature, [], {"q": "x"})


FORMATS = [
    str,
    int,
    list[str],
    Literal["a", "b"],
    Colour,
    Place,
    list[Place],
    Optional[Place],
    Pair,
    tuple[int, str],
    dict[str, int],
]


@pytest.mark.parametrize("annotation", FORMATS, ids=str)
@pytest.mark.parametrize("schema", [True, False], ids=["schema", "object"])
def test_both_ask_for_the_same_response_format(annotation: Any, schema: bool) -> None:
    def ask(library: Any) -> Any:
        model = lm(library, ("{}", None, {}), response_format=True, response_schema=schema)
        with contextlib.suppress(library.AdapterParseError):
            library.JSONAdapter()(model, {}, fields(("a", annotation), q=str)(library), [], {"q": "x"})
        return plain(model.requests[0][1])

    assert ask(dspy) == ask(reasonact)


@pytest.mark.parametrize("options", [{}, {"reasoning_effort": "high"}], ids=["default", "high"])
@pytest.mark.parametrize("reasons", [True, False], ids=["reasons", "does not"])
def test_both_use_native_reasoning_alike(options: dict[str, Any], reasons: bool) -> None:
    answer = "[[ ## a ## ]]\nyes" if reasons else "[[ ## r ## ]]\nso\n[[ ## a ## ]]\nyes"

    def ask(library: Any) -> Any:
        signature = library.Signature(
            {
                "q": (str, library.InputField()),
                "r": (library.Reasoning, library.OutputField()),
                "a": (str, library.OutputField()),
            }
        )
        model = lm(library, (answer, None, {"reasoning_content": "deep"} if reasons else {}), reasoning=reasons)
        values = library.ChatAdapter()(model, dict(options), signature, [], {"q": "x"})
        messages, sent = model.requests[0]
        return plain(values), sent, [outline(message, "ChatAdapter") for message in messages]

    assert ask(dspy) == ask(reasonact)


def test_both_take_two_steps() -> None:
    def ask(library: Any) -> Any:
        first = lm(library, ("Yes, 3.", None, {}))
        second = lm(library, ("[[ ## a ## ]]\nyes\n[[ ## b ## ]]\n3", None, {}))
        demos = [{"q": "d", "a": "x", "b": 1}, {"q": "e", "b": 2}]
        values = library.TwoStepAdapter(second)(
            first, {"temperature": 1}, library.Signature("q -> a, b: int"), demos, {"q": "why?"}
        )
        asked = [
            (m["role"], m["content"].rpartition("\n\nq: ")[2] if m["role"] == "user" else "")
            for m in first.requests[0][0]
        ]
        answers = [m["content"] for m in first.requests[0][0] if m["role"] == "assistant"]
        extraction = [outline(message, "ChatAdapter") for message in second.requests[0][0]]
        return (
            plain(values),
            [(role, said.removeprefix("q: ")) for role, said in asked],
            answers,
            first.requests[0][1],
            extraction,
        )

    assert ask(dspy) == ask(reasonact)


def test_both_write_the_same_finetuning_data() -> None:
    def write(library: Any) -> Any:
        data = library.ChatAdapter().format_finetune_data(
            library.Signature("q -> a"), [{"q": "d", "a": "e"}], {"q": "x"}, {"a": "y"}
        )
        return {key: [outline(message, "ChatAdapter") for message in messages] for key, messages in data.items()}

    assert write(dspy) == write(reasonact)


@pytest.mark.parametrize("name", [*ADAPTERS, "Adapter", "TwoStepAdapter"])
def test_both_keep_the_same_settings(name: str) -> None:
    def settings(library: Any) -> Any:
        options = {"extraction_model": lm(library, ("", None, {}))} if name == "TwoStepAdapter" else {}
        kept = vars(make(library, name, **options))
        return {
            key: plain(value) for key, value in kept.items() if key not in ("native_response_types", "extraction_model")
        }

    assert settings(dspy) == settings(reasonact)


def test_prefix_suffix_and_the_reminder_stand_alike() -> None:
    for name in ADAPTERS:
        contents = []
        for library in LIBRARIES:
            content = make(library, name).format_user_message_content(
                library.Signature("q -> a"), {"q": "x"}, prefix="PRE", suffix="SUF", main_request=True
            )
            head, reminder, suffix = content.rsplit("\n\n", 2)
            assert "`" in reminder
            contents.append((head, suffix))
        assert contents[0] == contents[1]


def test_the_tables_hold_as_many_scenarios_as_they_should() -> None:
    assert 120 <= len(SENT) * len(ADAPTERS) + len(READ) + len(NATIVE)
