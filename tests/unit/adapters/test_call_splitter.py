"""Calls out of JSON text that arrives in pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonact.adapters.call_splitter import CallSplitter


def read(pieces):
    """The calls that pieces of a text add up to: (id, name, arguments as text)."""
    splitter, calls = CallSplitter(), {}
    for piece in pieces:
        for delta in splitter.feed(piece):
            known = calls.setdefault(delta.index, [None, None, ""])
            known[0] = known[0] or delta.id
            known[1] = known[1] or delta.name
            known[2] += delta.arguments
    return [tuple(calls[index]) for index in sorted(calls)]


ARGS = '{"q": "a \\"b\\" }] \\\\", "deep": {"x": [1, {"name": "no call"}]}}'
FORMS = {
    "the object of ToolCalls": (
        '{"tool_calls": [{"name": "look", "args": %s}, {"name": "submit", "args": {}}]}',
        [(None, "look", ARGS), (None, "submit", "{}")],
    ),
    "a list": ('[{"name": "look", "args": %s}]', [(None, "look", ARGS)]),
    "one call": ('{"name": "look", "args": %s}', [(None, "look", ARGS)]),
    "OpenAI's shape": (
        '[{"id": "c1", "type": "function", "function": {"name": "look", "arguments": %s}}]',
        [(None, "look", ARGS)],
    ),
    "an id before the name": ('[{"id": "c1", "name": "look", "args": %s}]', [("c1", "look", ARGS)]),
    "arguments before the name": ('[{"args": %s, "name": "look"}]', [(None, "look", ARGS)]),
    "text around it": ('Calls:\n```json\n[{"name": "look", "args": %s}]\n```', [(None, "look", ARGS)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_calls_are_the_same_wherever_the_text_is_cut(form):
    text, expected = FORMS[form]
    text = text.replace("%s", ARGS)
    assert expected == read([text])
    assert expected == read(list(text))
    for cut in range(len(text)):
        assert expected == read([text[:cut], text[cut:]])


def test_arguments_come_before_they_are_whole():
    splitter = CallSplitter()
    (first,) = splitter.feed('[{"name": "look", "args": {"q": "a b')
    (second,) = splitter.feed(" c")
    assert (0, "look", '{"q": "a b') == (first.index, first.name, first.arguments)
    assert (0, " c") == (second.index, second.arguments)


def test_an_escaped_name_is_read():
    assert [(None, "lo\nok", "{}")] == read(['[{"name": "lo\\nok", "args": {}}]'])


@pytest.mark.parametrize(
    "text", ["", "no calls", "]}", '{"name": ', '{"args": {"a": 1}}', "[1, 2]", '"name"', '{"a" "b"}']
)
def test_what_holds_no_call_gives_none(text):
    assert [] == read(list(text))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), VALUES, max_size=3)), max_size=3), st.data())
def test_any_calls_that_json_can_write_are_found(calls, data):
    text = json.dumps({"tool_calls": [{"name": name, "args": args} for name, args in calls]})
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert [(None, name, args) for name, args in calls] == [
        (call_id, name, json.loads(arguments)) for call_id, name, arguments in read(pieces)
    ]


@given(st.lists(st.text(alphabet='{}[]",:\\ nameargs1'), max_size=6))
def test_any_text_is_taken_without_an_error(pieces):
    for call_id, name, arguments in read(pieces):
        assert call_id is None or isinstance(call_id, str)
        assert isinstance(name, str)
        assert arguments == "" or arguments.startswith("{")
