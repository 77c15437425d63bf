"""Splitters: fields of a completion while it arrives, wherever the text is cut."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.json_splitter import JsonSplitter
from reasonact.adapters.splitting import Piece, Splitter
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM

AB = Signature("q -> a, b: int")
CHAT, JSON, XML, PROTOCOL = ChatAdapter(), JSONAdapter(), XMLAdapter(), TextProtocolAdapter()


def split(splitter: Splitter, *chunks: str) -> list[Piece]:
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    return [*pieces, *splitter.close()]


def added_up(pieces: list[Piece]) -> tuple[dict[str, str], list[str]]:
    """The text of each field, and the fields in the order in which they were done."""
    texts: dict[str, str] = {}
    for piece in pieces:
        texts[piece.field] = texts.get(piece.field, "") + piece.delta
    return texts, [piece.field for piece in pieces if piece.done]


COMPLETIONS: list[tuple[Adapter, str, dict[str, str]]] = [
    (CHAT, "[[ ## a ## ]]\nx y\n\nz\n\n[[ ## b ## ]]\n1\n\n[[ ## completed ## ]]", {"a": "x y\n\nz", "b": "1"}),
    (CHAT, "Sure. [[ ## a ## ]] x [[ ## b ## ]] 1", {"a": "x", "b": "1"}),
    (CHAT, "<think>[[ ## a ## ]] no</think>\n[[ ## A ## ]]\nx\n**[[ ## b ## ]]**\n1", {"a": "x", "b": "1"}),
    (CHAT, "[[ ## a ## ]]\n```\n[[ ## b ## ]]\n```\n[[ ## b ## ]]\n1", {"a": "```\n[[ ## b ## ]]\n```", "b": "1"}),
    (CHAT, "[[ ## a ## ]]\n```py\nx[0][[1]]\n[[ ## b ## ]]\n1", {"a": "```py\nx[0][[1]]", "b": "1"}),
    (CHAT, '[[ ## a ## ]]\n{"k": "[[ ## b ## ]]"}\n[[ ## b ## ]]\n1', {"a": '{"k": "[[ ## b ## ]]"}', "b": "1"}),
    (CHAT, "[[ ## a ## ]]\nx\n[[ ## a ## ]]\nsame again\n[[ ## b ## ]]\n1", {"a": "x", "b": "1"}),
    (JSON, '{"a": "x \\"y\\"\\n\\u00e9\\ud83d\\ude00", "b": 1}', {"a": 'x "y"\né😀', "b": "1"}),
    (JSON, 'Well: ```json\n{ "b" : 1 , "c": {"a": [1, "}"]}, "a": "x" }\n```', {"b": "1", "a": "x"}),
    (JSON, '{x} {"a": {"k": ["}", "\\""]}, "b": null}', {"a": '{"k": ["}", "\\""]}', "b": "null"}),
    (JSON, '{"a": "cut', {"a": "cut"}),
    (XML, "<a>\nx &lt; y &amp; z\n</a>\n\n<b>1</b>", {"a": "x < y & z", "b": "1"}),
    (XML, "Sure: <A kind='t'>x <i>y</i> </a> </A> and <b>1</b>", {"a": "x <i>y</i> </a>", "b": "1"}),
    (XML, "<a>x</a>y</a><b>1</b>", {"a": "x</a>y", "b": "1"}),
    (XML, "<a><a>x</a></a> <b/>", {"a": "<a>x</a>", "b": ""}),
    (XML, "<a>x < 3 & y", {"a": "x < 3 & y"}),
    (XML, f"<a {'k' * 199}>x</a><b>1</b>", {"a": "x", "b": "1"}),
    (XML, f"<a {'k' * 200}>x</a><b>1</b>", {"b": "1"}),
    (PROTOCOL, "A: x\ny\nB: 1", {"a": "x\ny", "b": "1"}),
    (PROTOCOL, "Well.\n**a:** x\n```\nB: 2\n```\n**B:** 1\n", {"a": "x\n```\nB: 2\n```", "b": "1"}),
    (PROTOCOL, "A: x\n```\ny\nB: 1", {"a": "x\n```\ny", "b": "1"}),
    (PROTOCOL, "A (first: the text): x\nB 2 (a number) **:** 1", {"a": "x", "b": "1"}),
    (PROTOCOL, "A: x\nB" + "9" * 90 + ": 2\nB: 1", {"a": "x\nB" + "9" * 90 + ": 2", "b": "1"}),
    (PROTOCOL, f"A: x\nB ({'y' * 41}): 2\nB ({'y' * 40}): 1", {"a": f"x\nB ({'y' * 41}): 2", "b": "1"}),
    (PROTOCOL, "A: x\nB" + " " * 90 + ": 2\nB: 1", {"a": "x\nB" + " " * 90 + ": 2", "b": "1"}),
    (
        PROTOCOL,
        "A: x\n\\B: y\nA long line that begins like no label at all: z\nB: 1",
        {"a": "x\nB: y\nA long line that begins like no label at all: z", "b": "1"},
    ),
]


@pytest.mark.parametrize(("adapter", "text", "fields"), COMPLETIONS, ids=range(len(COMPLETIONS)))
def test_the_pieces_add_up_to_the_fields_wherever_the_text_is_cut(
    adapter: Adapter, text: str, fields: dict[str, str]
) -> None:
    for cut in range(len(text) + 1):
        assert (fields, list(fields)) == added_up(split(adapter.field_splitter(AB), text[:cut], text[cut:])), cut
    assert (fields, list(fields)) == added_up(split(adapter.field_splitter(AB), *text))


@pytest.mark.parametrize("adapter", [CHAT, JSON, XML, PROTOCOL], ids=lambda adapter: type(adapter).__name__)
def test_any_text_splits_the_same_wherever_it_is_cut(adapter: Adapter) -> None:
    signs = [
        "[[ ## a ## ]]",
        "[[ ## b ## ]]",
        "[[ ##",
        "]]",
        "```",
        "\n",
        "\n",
        " ",
        '"',
        "'",
        "`",
        "\\",
        "<a>",
        "</a>",
        "<b>",
    ]
    signs += [
        "<b/>",
        "</",
        "&lt;",
        "&",
        "{",
        "}",
        "[",
        ",",
        '"a": ',
        '"b":',
        ":",
        "A:",
        "B: ",
        "\nA: ",
        "x",
        "**",
        "~~~",
        "\\u00",
        "<think>",
    ]

    @examples(300)
    @given(st.lists(st.sampled_from(signs) | st.text(max_size=3), max_size=16).map("".join), st.data())
    def cut(text: str, data: Any) -> None:
        whole = added_up(split(adapter.field_splitter(AB), text))
        assert whole == added_up(split(adapter.field_splitter(AB), *text))
        at = data.draw(st.integers(0, len(text)))
        assert whole == added_up(split(adapter.field_splitter(AB), text[:at], text[at:]))

    cut()


@pytest.mark.parametrize(
    ("adapter", "text"),
    [
        (CHAT, "[[ ## a ## ]]\n"),
        (JSON, '{"a": "'),
        (XML, "<a>"),
        (PROTOCOL, "A: "),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Adapter) else "",
)
def test_plain_text_is_given_out_as_it_comes(adapter: Adapter, text: str) -> None:
    splitter = adapter.field_splitter(AB)
    splitter.feed(text)
    assert ["one", " two", " three"] == [
        "".join(piece.delta for piece in splitter.feed(chunk)) for chunk in ("one", " two", " three")
    ]


def test_a_thought_beside_native_calls_is_given_out_as_it_comes(agent: SimpleNamespace) -> None:
    adapter = ChatAdapter(use_native_function_calling=True)
    plan = adapter.render(ScriptedLM([], function_calling=True), {}, agent.signature, [], agent.inputs(question="q"))
    assert [Piece("next_thought", "I", False)] == adapter.splitter(plan).feed(" I")
    for text in ("I look.", "[[ ## next_thought ## ]]\nI look.\n[[ ## completed ## ]]", '{"next_thought": "I look."}'):
        assert ({"next_thought": "I look."}, ["next_thought"]) == added_up(split(adapter.splitter(plan), *text))
    assert [] == split(adapter.splitter(plan), " ")


def test_the_thought_of_a_step_of_the_text_protocol_is_given_out(agent: SimpleNamespace) -> None:
    plan = PROTOCOL.render(ScriptedLM([]), {}, agent.signature, [], agent.inputs(question="q"))
    text = 'I think.\nThought: and look.\nAction: search[{"query": "x"}]\nThought: no'
    assert ({"next_thought": "I think.\nand look."}, ["next_thought"]) == added_up(
        split(PROTOCOL.splitter(plan), *text)
    )


@pytest.mark.parametrize("label", ["ticket id", "Ticket ID", "TİCKET ID", "tıcket_id", "TıCKET   İD (one)"])
def test_a_label_in_any_letter_case_is_found_in_pieces_too(label: str) -> None:
    signature = Signature("q -> ticket_id, k")
    text = f"{label}: x\n\u212a: y"  # the sign of kelvins is a K
    assert {"ticket_id": "x", "k": "y"} == PROTOCOL.parse(signature, text)
    for cut in range(len(text) + 1):
        pieces = split(PROTOCOL.field_splitter(signature), text[:cut], text[cut:])
        assert ({"ticket_id": "x", "k": "y"}, ["ticket_id", "k"]) == added_up(pieces)


def test_the_arguments_of_a_call_can_be_split_too() -> None:
    assert ({"answer": "42", "score": "[1, 2]"}, ["answer", "score"]) == added_up(
        split(JsonSplitter(["answer", "score"]), *'{"answer": "42", "other": "x", "score": [1, 2]}')
    )


@pytest.mark.parametrize("adapter", [CHAT, JSON, XML, PROTOCOL], ids=lambda adapter: type(adapter).__name__)
def test_fields_whose_names_differ_in_letter_case_alone_are_told_apart(adapter: Adapter) -> None:
    signature = Signature("q -> a, A")
    values = {"a": "one", "A": "two"}
    text = adapter.format_assistant_message_content(signature, values)
    assert values == adapter.parse(signature, text)
    assert (values, ["a", "A"]) == added_up(split(adapter.field_splitter(signature), *text))
