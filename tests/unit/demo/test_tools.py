"""The demonstration's tools as a model uses them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from reasonact.demo.arithmetic import ExpressionError, evaluate_expression
from reasonact.demo.tools import evaluate, read, search


def test_search_lists_name_kind_score_and_opening_sentence() -> None:
    first = search("remove common leading whitespace from every line").splitlines()[0]
    assert first.startswith("1. textwrap.dedent (function, score ")
    assert first.endswith("Remove any common leading whitespace from every line in `text`.")


def test_search_keeps_to_its_limit() -> None:
    assert 3 == len(search("file", limit=3).splitlines())
    with pytest.raises(ValueError, match="limit is 0; it has to lie between 1 and 20"):
        search("file", limit=0)


def test_search_says_that_nothing_matches() -> None:
    assert "Nothing in the documentation matches 'zzzxqy'." == search("zzzxqy")


def test_read_shows_signature_kind_and_documentation() -> None:
    text = read("textwrap.dedent")
    assert text.startswith("textwrap.dedent(text)\nfunction in module textwrap\n\nRemove any common leading whitespace")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2**10 + 5", "1029"),
        ("7 // 2, 7 % 2, -7 // 2", "(3, 1, -4)"),
        ("1 < 2 < 3", "True"),
        ("'a' in 'abc' and not False", "True"),
        ("'AbC'.lower() + 'x' * 3", "'abcxxx'"),
        ("'-'.join(['a', 'b'])", "'a-b'"),
        ("sorted([3, 1, 2], reverse=True)[0]", "3"),
        ("sum(range(101))", "5050"),
        ("math.sqrt(16) + sqrt(9)", "7.0"),
        ("round(pi, 2)", "3.14"),
        ("factorial(5)", "120"),
        ("1 if 2 > 1 else 1 / 0", "1"),
        ("0 and 1 / 0", "0"),
        ("'abcdef'[1:4]", "'bcd'"),
    ],
)
def test_small_expressions_are_worked_out(expression: str, value: str) -> None:
    assert value == evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("__import__('os').system('true')", "no function '__import__'"),
        ("().__class__.__bases__", "Attribute is not allowed"),
        ("'a'.__class__", "Attribute is not allowed"),
        ("'{0.__class__}'.format(1)", "no method 'format'"),
        ("f'{1:>99999999}'", "JoinedStr is not allowed"),
        ("'%99999999d' % 1", "formatting with % is not allowed"),
        ("[x for x in range(9)]", "ListComp is not allowed"),
        ("(lambda: 1)()", "cannot be called here"),
        ("open('/etc/passwd')", "no function 'open'"),
        ("x + 1", "the name 'x' has no value here"),
        ("abs", "it is a function; call it"),
        ("b'x'", "type bytes"),
        ("max(*[1, 2])", "stars"),
        ("9**9**9", "bits"),
        ("1 << 10**9", "too large"),
        ("'a' * 10**9", "elements"),
        ("[[1] * 100] * 1000", "elements"),
        ("'x'.join(['a' * 5000] * 3)", "elements"),
        ("('a' * 5000).replace('a', 'b' * 5000)", "elements"),
        ("range(10**12)", "elements"),
        ("round(5, -10**9)", "too large"),
        ("pow(2, 10**3000, 10**3000)", "too large"),
        ("factorial(10**6)", "too large"),
        ("range(2**63, 2**63 + 1)", "the numbers of the range are too large"),
        ("(2 ** 4000) * (2 ** 4000) * (2 ** 4000)", "bits"),
        ("2 @ 3", "the operator of '2 @ 3' is not allowed"),
        ("1 / 0", "ZeroDivisionError"),
        ("[1][5]", "IndexError"),
        ("1 +", "no Python expression"),
        ("", "no Python expression"),
        ("x = 1", "no Python expression"),
        ("(" * 300, "no Python expression"),
        ("-" * 900 + "1", "more than 200 parts"),
        ("1" * 1001, "1001 characters"),
        ("\0", "no Python expression"),
    ],
)
def test_what_is_not_allowed_is_refused_with_the_reason(expression: str, complaint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression)
    assert complaint in str(caught.value)


@given(st.text(alphabet="0123456789+-*/%<>=!&|^~()[],.'ae \"rx", max_size=60))
@examples(300)
def test_any_text_is_evaluated_or_refused_and_nothing_else(text: str) -> None:
    try:
        evaluate_expression(text)
    except ExpressionError:
        pass


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_arithmetic_is_that_of_python(left: int, right: int) -> None:
    assert left * right + left - right == evaluate_expression(f"({left}) * ({right}) + ({left}) - ({right})")
    assert math.gcd(left, right) == evaluate_expression(f"gcd({left}, {right})")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("2 > 1 > 5", False),
        ("'a-b-c'.replace('-', '+', 1)", "a+b-c"),
        ("'ab'.replace('', '.')", ".a.b."),
        ("pow(2.0, 3)", 8.0),
    ],
)
def test_chained_comparisons_and_methods_of_texts_are_those_of_python(expression: str, value: object) -> None:
    assert value == evaluate_expression(expression)
