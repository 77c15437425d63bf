"""The benchmarks' own arithmetic: ratios, exponents, percentiles, rows and the page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is no part of the installed package

from benchmarks.measuring import cpu_us_each, growth, interleaved, median_ratio, percentile
from benchmarks.scripted import ANSWER, arguments, as_body, payload, reading, say, thought
from benchmarks.table import Row, alone, compared, grown, line, page


def test_samples_are_taken_in_turn():
    order = []
    samples = interleaved([lambda: order.append("a"), lambda: order.append("b")], times=3)
    assert ["a", "b"] * 3 == order
    assert [[None] * 3] * 2 == samples


def test_a_ratio_is_the_median_of_the_ratios_side_by_side():
    # the ratio of the medians would be 3 / 10
    assert 0.5 == median_ratio([1.0, 3.0, 100.0], [10.0, 6.0, 200.0])


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5, 2.0])
def test_growth_finds_the_exponent_of_a_power(exponent):
    points = [(size, 7.0 * size**exponent) for size in (50, 100, 200)]
    assert pytest.approx(exponent, abs=1e-9) == growth(points)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.0, 1)])
def test_a_percentile_is_a_sample(share, expected):
    assert expected == percentile([float(number) for number in range(100, 0, -1)], share)


def test_work_is_done_as_often_as_it_is_said():
    done = []
    assert cpu_us_each(lambda: done.append(1), 25) >= 0
    assert 25 == len(done)


def test_a_row_is_reached_up_to_its_aim_and_not_beyond():
    assert compared("a", [2.0], [4.0], other="b", unit="ms", aim=0.5).reached
    assert not compared("a", [2.1], [4.0], other="b", unit="ms", aim=0.5).reached
    assert compared("a", [9.0], [4.0], other="b", unit="ms", aim=None).reached


def test_a_grown_row_shows_the_largest_size_and_the_exponent():
    row = grown("a", [(200, [40.0]), (50, [10.0]), (100, [20.0])], unit="ms", aim=1.15)
    assert (40.0, pytest.approx(1.0), "exponent") == (row.ours, row.figure, row.kind)


def test_a_figure_that_is_not_reached_is_said_in_its_line():
    assert "| a | 3 ms | 2 ms (DSPy) | 1.5 | at most 1.1 | **not reached** |" == line(
        Row("a", 3.0, "ms", 1.5, 2.0, "DSPy", aim=1.1)
    )
    assert "| a | 0.2 s |  | 0.2 s | at most 0.25 | reached |" == line(alone("a", [0.1, 0.2, 0.3], unit="s", aim=0.25))


def test_the_page_holds_every_row_and_ends_with_the_notes():
    rows = [Row(name, 1.0, "ms", 1.0) for name in ("first", "second")]
    text = page(rows, notes="## What remains\n\nLiteLLM.\n", times=7)
    assert text.index("| first |") < text.index("| second |") < text.index("## What remains")
    assert text.endswith("LiteLLM.\n")
    assert "median of 7 samples" in text


@pytest.mark.parametrize("dialect", ["react", "v2-text", "v2-native"])
def test_a_scripted_run_calls_its_tool_in_every_turn_and_then_ends(dialect):
    said = [as_body(say(dialect, turn, 3), "m")["choices"][0]["message"] for turn in range(4)]
    assert [True, True, True, False] == ["read_station" in str(message) for message in said]
    ending = "finish" if dialect == "react" else ANSWER
    assert ending in str(said[3])


def test_the_payload_counts_what_a_run_holds():
    one_turn = len(thought(1)) + len(json.dumps(arguments(1))) + 100
    assert one_turn == payload(2, 100) - payload(1, 100)
    assert 100 == len(reading(3, 100))
    assert reading(3, 100) != reading(4, 100)
