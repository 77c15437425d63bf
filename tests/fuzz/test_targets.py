"""The fuzz targets hold on their seeds and on some bytes more; `fuzz.py` looks on from there."""

from __future__ import annotations

import pytest
from fuzz_input import bytes_of, cuts, text_of
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import seeds
from targets import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_holds_on_its_seeds(target: str) -> None:
    given = list(seeds(target))
    assert len(given) > 10
    for data in given:
        TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_holds_on_any_bytes(target: str) -> None:
    @settings(max_examples=100, deadline=None)
    @given(st.binary(max_size=80))
    def holds(data: bytes) -> None:
        TARGETS[target](data)

    holds()


def test_a_text_of_pieces_and_characters_comes_back_from_its_bytes() -> None:
    text = '[[ ## a ## ]]\n{"a": 1} <item>x</item> Observation'
    assert text == text_of(bytes_of(text))


@given(st.binary(max_size=9), st.text())
def test_the_parts_of_a_cut_text_are_the_text(places: bytes, text: str) -> None:
    assert text == "".join(cuts(places, text))
