"""JSON as models write it."""

import math
from decimal import Decimal
from typing import Any

import pytest

from reasonact.adapters import lenient_json
from reasonact.adapters.lenient_json import (
    find_array,
    find_object,
    json_values_in,
    loads_lenient,
    unfenced,
    whole_value,
    without_thoughts,
)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (5, "5"),
        ("x", '"x"'),
        (None, "None"),
        ({"a": 1}, '{"a": 1}'),
        ({"a": 2}, '{"a": 1, "a": 2}'),
        ({"a": 1}, '```json\n{"a": 1}\n```'),
        ({"a": 1}, '~~~python\n{"a": 1}\n~~~'),
        ({"a": 1}, '```{"a": 1}```'),
        ({"a": 1}, 'Sure! In {x} I see:\n```\n{"a": 1}\n```\nand {y} too.'),
        ({"a": 1}, '<think>{"a": 0}</think>{"a": 1}'),
        ({"a": 1}, 'I weigh {"a": 0} up.</think>\n{"a": 1}'),
        ({"a": 1}, '<think>without an end {"a": 1}'),
        ({"a": None, "b": [1, 2], "c": [1, 2], "d": True}, "{'a': None, 'b': (1, 2), 'c': {1, 2}, 'd': True}"),
        ({"a": 1}, '{"a": 1,}'),
        ([1, 2], "[1, 2,]"),
        ({"a": 1, "b": 2}, "{a: 1, /* why */ b: 2 // so\n}"),
        ({"a": 1}, "{'a': 1 # so\n}"),
        ({"a": "it's"}, "{'a': 'it\\'s'}"),
        ({"a": "line\nbreak"}, '{"a": "line\nbreak",}'),
        ({"a": 'three\n"quotes"'}, '{"a": """three\n"quotes\\""""}'),
        ({"a": "C:\\dir é 😀"}, '{"a": "C:\\dir \\u00e9 \\ud83d\\ude00",}'),
        ({"a": 1000, "b": 31, "c": 5, "d": 0.5}, '{"a": 1_000, "b": 0x1F, "c": +5, "d": .5}'),
        ({"a": [1, 2, {"b": "par"}]}, '{"a": [1, 2, {"b": "par'),
        ({"a": 1}, '{"a": 1, "b'),
        ({"a": 1}, '{"a": 1, "b":'),
        ({"a": True}, '{"a": tru'),
        ({"a": 1}, '{"a": 1, "b": -'),
        ({"a": [{"b": 1}]}, '{"a": [{"b": 1}'),
        ({"a": 'he said "hi" to'}, '{"a": "he said "hi" to"} and left'),
        ({"a": 1, "b": 2}, '{"a": 1 "b": 2}'),
        ({"a": 3}, 'fill {{name}} in {"a": 3}'),
        ({"a": 1}, '[see {"a": 1} below]'),
        ({"a": 1}, 'a stray [" and then {"a": 1}'),
        ({"b": 2}, '{"a": 1} {"b": 2}'),
        ({"a": 1}, '{"a": 1} as in [2]'),
    ],
)
def test_a_value_is_found_in_what_stands_around_it(expected: Any, text: str) -> None:
    assert expected == loads_lenient(text)


def test_numbers_that_json_has_not_are_read() -> None:
    read = loads_lenient('{"a": Infinity, "b": -Infinity, "c": nan,}')
    assert (math.inf, -math.inf) == (read["a"], read["b"])
    assert math.isnan(read["c"])


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"answer": 1}, '{"answer": 1} {"other": 2}'),
        ({"answer": 2}, '{"answer": 1} {"answer": 2}'),
        ({"answer": 1, "why": "x"}, '{"answer": 1, "why": "x"} {"answer": 2}'),
        ({"answer": 1}, '[{"answer": 1}]'),
        ({"answer": 1}, '"{\\"answer\\": 1}"'),
        ({"answer": "b"}, '{"answer": "a"} then {"answer": "b"'),
    ],
)
def test_of_several_objects_the_one_with_the_wanted_keys_is_taken(expected: Any, text: str) -> None:
    assert expected == loads_lenient(text, ["answer", "why"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        "[",
        "{x}",
        "9" * 5_000,
        '{"a": ' + "9" * 5_000 + "}",
        "[" * 100_000 + "]" * 100_000,  # a few thousand are read from Python 3.12 on
        "{" * 9_000,
        "[1 2]",
    ],
)
def test_what_holds_no_value_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON"):
        loads_lenient(text)


def test_the_place_of_a_fault_is_named_where_no_repair_is_tried() -> None:
    long = '{"a": "he said "hi" to", "b": "' + "x" * lenient_json.REPAIR_LIMIT + '"}'
    with pytest.raises(ValueError, match=r"at character 1\d, near .*no repair is tried"):
        loads_lenient(long)


def test_json_repair_never_sees_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    import json_repair

    seen: list[int] = []
    real = json_repair.loads

    def spy(text: str, **options: Any) -> Any:
        seen.append(len(text))
        return real(text, **options)

    monkeypatch.setattr(json_repair, "loads", spy)
    for size in (10, 1_000, 100_000):
        try:
            loads_lenient('{"a": 1 x ' * size)
        except ValueError:
            pass
    assert seen
    assert max(seen) <= lenient_json.REPAIR_LIMIT


def test_of_many_broken_values_none_is_repaired_since_each_repair_reads_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import json_repair

    seen: list[int] = []
    real = json_repair.loads

    def spy(text: str, **options: Any) -> Any:
        seen.append(len(text))
        return real(text, **options)

    monkeypatch.setattr(json_repair, "loads", spy)
    broken = '{"query": "x"}"x"-,"limit":\x00 3}{"a": "he said "hi" to"} '
    assert [{"query": "x"}, {"a": 'he said "hi" to'}] == lenient_json.json_values_in(broken)
    assert 1 == len(seen)
    with pytest.raises(ValueError, match="cannot be read"):
        lenient_json.json_values_in(broken * 400)
    assert 1 == len(seen)


def test_an_answer_that_cannot_be_read_does_not_give_way_to_an_earlier_example() -> None:
    text = 'For example {"a": 0}. So: {"a": "he said "hi"", "b": "' + "x" * lenient_json.REPAIR_LIMIT + '"}'
    with pytest.raises(ValueError, match="cannot be read"):
        loads_lenient(text, ["a"])


@pytest.mark.parametrize(
    "unit",
    ["{", "[", '"', "'", '{"', '["', '{"a":', "[1,", "{a ", "[x ", "[/*", "[#\n", "[[ ## a ## ]]\n", "```\n", '{"a":[}',
     "[[1,2] x", "[" * 100 + "x", '{"a":"b" c', "\\", "<think>", "(", "[1e5 "],
)  # fmt: skip
def test_hostile_text_is_read_a_bounded_number_of_times(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = unit * (60_000 // len(unit))
    read = 0
    real = lenient_json.read_from

    def counting(whole: str, start: int, *, exact: bool = False) -> Any:
        nonlocal read
        reading = real(whole, start, exact=exact)
        read += reading.end - start
        return reading

    monkeypatch.setattr(lenient_json, "read_from", counting)
    try:
        loads_lenient(text)
    except ValueError:
        pass
    assert read <= 4 * len(text)


def test_exact_numbers_keep_their_digits() -> None:
    expected = {"a": Decimal("0.10000000000000000000001"), "b": 1}
    assert expected == loads_lenient('{"a": 0.10000000000000000000001, "b": 1}', exact_numbers=True)
    assert expected == loads_lenient("{'a': 0.10000000000000000000001, 'b': 1}", exact_numbers=True)


def test_a_whole_value_allows_nothing_beside_it() -> None:
    assert {"a": None} == whole_value("{'a': None}")
    assert [1, "a"] == whole_value('(1, "a")')
    assert "it's" == whole_value("'it\\'s'")
    for text in ('{"a": 1} x', '{"a": 1', "[1", "x", "'a' 'b'", ""):
        with pytest.raises(ValueError, match="one JSON value"):
            whole_value(text)


def test_an_object_and_an_array_are_found_by_kind() -> None:
    assert {"a": 1} == find_object('see [2]: {"a": 1}')
    assert [2] == find_array('see [2]: {"a": 1}')
    assert [{"a": 1}, {"a": 2}] == find_array('```json\n{"a": 1},\n{"a": 2}\n```')
    with pytest.raises(ValueError, match="no JSON object"):
        find_object("[1]")
    with pytest.raises(ValueError, match="no JSON array"):
        find_array('{"a": 1} and {"a": 2}')
    with pytest.raises(ValueError, match="several"):
        find_array("[1] or [2]")


def test_values_one_after_another_are_all_found_or_refused() -> None:
    assert [{"a": 1}, [2]] == json_values_in('{"a": 1} [2]')
    assert [{"a": {"b": 1}}] == json_values_in('{"a": {"b": 1}')
    with pytest.raises(ValueError, match="inside a value"):
        json_values_in('{"a": 1} {"a": "cut he')


def test_a_think_block_is_left_out_only_at_the_start() -> None:
    assert "x" == without_thoughts("<think>a</think>x")
    assert "x" == without_thoughts("a</think>x")
    assert '{"a": "</think>"}' == without_thoughts('{"a": "</think>"}')
    for whole in ("x <think>a</think>", 'so {"a": "y </think> z"}', 'so {"a": "<think>y</think>"}', "<think>a"):
        assert whole == without_thoughts(whole)


def test_a_fence_is_taken_off_one_block_only() -> None:
    assert "a" == unfenced("```py\na\n```")
    assert "a" == unfenced("```\na```")
    two = "```\na\n```\n```\nb\n```"
    assert two == unfenced(two)
