"""Sections under ``[[ ## name ## ]]``, as models write them."""

import pytest

from reasonact.adapters.markers import Names, quoted, read_sections, unquoted

NAMES = Names(["a", "b"], ["q"])


def read(text: str) -> dict[str, str]:
    return dict(read_sections(text, NAMES, ["a", "b"]).values)


@pytest.mark.parametrize(
    "text",
    [
        "[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\n1\n\n[[ ## completed ## ]]",
        "[[ ## a ## ]] x\n[[ ## b ## ]] 1",
        "[[ ## a ## ]] x [[ ## b ## ]] 1 [[ ## completed ## ]]",
        "Sure. [[ ## a ## ]] x [[ ## b ## ]]\n1",
        "  [[ ## a ## ]]\n  x\n\t[[ ## b ## ]]\n\t1",
        "[[ ## b ## ]]\n1\n[[ ## a ## ]]\nx",
        "[[ ## A ## ]]\nx\n[[ ## B ## ]]\n1\n[[ ## COMPLETED ## ]]",
        "[[##a##]]\nx\n[[ ##b ## ]]\n1",
        "[[ ## a ## ]]\n[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1",
        "[[[[ ## a ## ]]]]\nx\n[[ ## ## b ## ## ]]\n1",
        "**[[ ## a ## ]]**\nx\n**[[ ## b ## ]]**\n1",
        "### [[ ## a ## ]]\nx\n> [[ ## b ## ]]\n1",
        "```\n[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1\n[[ ## completed ## ]]\n```",
        "```\n[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1\n[[ ## completed ## ]]",
        "<think>\n[[ ## a ## ]]\nno\n</think>\n[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1",
        "[[ ## q ## ]]\n?\n[[ ## a ## ]]\nx\n[[ ## note ## ]]\n!\n[[ ## b ## ]]\n1",
        "[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1\n```[[ ## completed ## ]]",
        "[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1[[ ## completed ## ]]\n[[ ## a ## ]]\nanother turn",
        "[[ ## a ## ]]\nx\n[[ ## completed ## ]]\n[[ ## b ## ]]\n1",
        "[[ ## a ## ]]\nx\n[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1",
    ],
)
def test_a_marker_is_found_in_whatever_form_it_comes(text: str) -> None:
    assert {"a": "x", "b": "1"} == read(text)


@pytest.mark.parametrize(
    "value",
    [
        "```\n[[ ## b ## ]]\n2\n```",
        "```python\nprint('[[ ## b ## ]]')\n```\nand on",
        "~~~\n[[ ## completed ## ]]\n~~~",
        "````\n```\n[[ ## b ## ]]\n```\n````",
        "write `[[ ## b ## ]]` there",
        'write "[[ ## b ## ]]" or "first [[ ## b ## ]] then" there',
        "write '[[ ## b ## ]]' there",
        '{"k": "[[ ## b ## ]]\\n2"}',
        '["x\\"", "[[ ## completed ## ]]"]',
        '"[[ ## b ## ]]\\n2"',
        "an unknown [[ ## note ## ]] inside a line",
        "two brackets [[ here ]] and ## there ##",
    ],
)
def test_a_marker_in_code_or_quotes_is_content(value: str) -> None:
    assert {"a": value, "b": "1"} == read(f"[[ ## a ## ]]\n{value}\n\n[[ ## b ## ]]\n1\n\n[[ ## completed ## ]]")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("```python\nx = 1", "[[ ## a ## ]]\n```python\nx = 1\n[[ ## b ## ]]\n1\n[[ ## completed ## ]]"),
        ('"open', '[[ ## a ## ]]\n"open\n[[ ## b ## ]]\n1'),
        ('"open', '[[ ## a ## ]]\n"open\n[[ ## b ## ]]\n1\n[[ ## completed ## ]]\n"'),
        ('{"k": "open}', '[[ ## a ## ]]\n{"k": "open}\n[[ ## b ## ]]\n1'),
        ("```\nx\n```", "[[ ## a ## ]]\n```\nx\n```[[ ## b ## ]]\n1"),
        ("5 ` 6", "[[ ## a ## ]] 5 ` 6 [[ ## b ## ]] 1"),
    ],
)
def test_what_never_closes_protects_nothing(value: str, text: str) -> None:
    assert {"a": value, "b": "1"} == read(text)


def test_a_field_given_twice_with_different_values_is_a_conflict() -> None:
    found = read_sections("[[ ## a ## ]]\nx\n[[ ## a ## ]]\ny\n[[ ## b ## ]]\n1", NAMES, ["a", "b"])
    assert ("a",) == found.conflicts


def test_a_turn_that_begins_by_itself_is_cut_off() -> None:
    assert {"a": "x", "b": "1"} == read("[[ ## a ## ]]\nx\n[[ ## b ## ]]\n1\n[[ ## a ## ]]\ny\n[[ ## b ## ]]\n2")


def test_two_names_that_differ_in_case_are_kept_apart() -> None:
    names = Names(["x", "X"])
    assert {"x": "1", "X": "2"} == read_sections("[[ ## x ## ]]\n1\n[[ ## X ## ]]\n2", names, ["x", "X"]).values


@pytest.mark.parametrize("text", ["[[ ## a ## ]]", '"[[ ## a ## ]]"', "x\n[[ ## b ## ]]\ny", 'say "[[ ## b ## ]]"\n'])
def test_a_text_that_holds_a_marker_is_quoted_and_unquoted(text: str) -> None:
    assert text == unquoted(quoted(text))
    assert {"a": quoted(text), "b": "1"} == read(f"[[ ## a ## ]]\n{quoted(text)}\n[[ ## b ## ]]\n1")


def test_a_text_without_a_marker_is_left_alone() -> None:
    assert '"said"' == quoted('"said"')
    assert '"said"' == unquoted('"said"')
    assert '"[[ ## a ## ]]\\q"' == unquoted('"[[ ## a ## ]]\\q"')
