"""Whole numbers that a program gives as bounds."""

from __future__ import annotations

from typing import Any


def whole_number(name: str, value: Any, *, least: int) -> int:
    """A bound, checked.

    Args:
        name: The argument's name, for the error.
        value: What was given.
        least: The least that it can be.

    Returns:
        The number.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is below ``least``.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} is {value}; the least it can be is {least}")
    return value
