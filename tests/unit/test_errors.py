"""Errors: what they carry, and the words in which a model reads them."""

from __future__ import annotations

from types import SimpleNamespace

from reasonact.errors import LMCollectionLimitError, LMError, LMLockTimeoutError, format_error_for_lm


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_a_lock_that_was_not_free_names_its_files() -> None:
    error = LMLockTimeoutError("writing the cache", path="/c/cache.db", lock_path="/c/cache.lock")
    assert ("/c/cache.db", "/c/cache.lock", "lock_timeout") == (error.path, error.lock_path, error.code)
    assert isinstance(error, LMError)


def test_a_response_over_its_bound_keeps_what_came_so_far() -> None:
    assert "half a" == LMCollectionLimitError("too long", source=SimpleNamespace(partial="half a")).partial
    assert LMCollectionLimitError("too long").partial is None


def test_an_error_that_cannot_be_shown_is_still_told_to_the_model() -> None:
    assert "Mute: (its message cannot be shown)" == format_error_for_lm(Mute())


def test_an_error_without_a_message_goes_by_its_class() -> None:
    assert "KeyError" == format_error_for_lm(KeyError())


def test_an_error_of_many_lines_is_told_in_one() -> None:
    assert "ValueError: a b" == format_error_for_lm(ValueError("a\n   b"))
