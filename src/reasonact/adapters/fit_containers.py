"""How lists, tuples, sets and dicts are mended, item by item."""

from __future__ import annotations

import datetime
import enum
from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, get_origin

from reasonact.adapters.lenient_json import find_array, find_object, whole_value
from reasonact.adapters.scalar_text import listed_items

Fit = Callable[[Any, bool], Any]
"""``fit(value, outermost)``: outermost is True for a field's value, False for what lies inside one."""

_HELD = (list, tuple, set, frozenset, deque)


class ArrayFit:
    """The fit of a list, set or tuple.

    Args:
        fits: The fit of the items; of a tuple of fixed length one for each place.
        fixed: Whether it is such a tuple.
        item: The type of the items, None where it is not known.
        exact: True where numbers with a fraction are read as ``Decimal``.
    """

    def __init__(self, fits: list[Fit], fixed: bool, item: Any, exact: bool) -> None:
        self.fits = fits
        self.fixed = fixed
        self.item = item
        self.exact = exact

    def fit(self, value: Any, outermost: bool) -> Any:
        """Mend a value.

        Args:
            value: A text that spells an array, or an array.
            outermost: Whether it is a field's value.

        Returns:
            A list for what is an array; anything else as it is.

        Raises:
            ValueError: A field's text holds no array, or an item is refused.
        """
        if isinstance(value, str):
            value = array_in(value, outermost, self.item, self.exact)
        if not isinstance(value, _HELD) or not self.fits:
            return floats_for_decimals(value) if self.exact else value
        items = list(value)
        if not self.fixed:
            return [self.fits[0](item, False) for item in items]
        mended = [fit(item, False) for fit, item in zip(self.fits, items, strict=False)]
        return mended + items[len(mended) :]


class MappingFit:
    """The fit of a dict.

    Args:
        fits: The fits of keys and values; empty where any will do.
        exact: True where numbers with a fraction are read as ``Decimal``.
    """

    def __init__(self, fits: list[Fit], exact: bool) -> None:
        self.fits = fits
        self.exact = exact

    def fit(self, value: Any, outermost: bool) -> Any:
        """Mend a value.

        Args:
            value: A text that spells an object, or a mapping.
            outermost: Whether it is a field's value.

        Returns:
            A dict for what is an object; anything else as it is.

        Raises:
            ValueError: A field's text holds no object, or an item is refused.
        """
        if isinstance(value, str):
            value = object_in(value, outermost, None, self.exact)
        if not isinstance(value, Mapping):
            return value
        if len(self.fits) < 2:
            return floats_for_decimals(dict(value)) if self.exact else value
        fit_key, fit_item = self.fits
        return {fit_key(key, False): fit_item(item, False) for key, item in value.items()}


def one_value(text: str, exact: bool) -> Any:
    """Read a text that is one value and nothing else; words for no finite number count as text.

    Args:
        text: The text.
        exact: True to get numbers with a fraction as ``Decimal``.

    Returns:
        The value.

    Raises:
        ValueError: It is anything else.
    """
    value = whole_value(text, exact_numbers=exact)
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        raise ValueError("not a finite number")
    return value


def floats_for_decimals(value: Any) -> Any:
    """Turn the numbers that were read exactly back into floats, where no type asks for more.

    Args:
        value: Parsed JSON.

    Returns:
        The same with floats.
    """
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [floats_for_decimals(item) for item in value]
    if isinstance(value, dict):
        return {key: floats_for_decimals(item) for key, item in value.items()}
    return value


def array_in(text: str, outermost: bool, item: Any, exact: bool) -> Any:
    """Find the array that a text spells.

    Args:
        text: JSON, a Python literal; of a field also lines with bullets or numbers, values
            with commas between, or prose with one array in it.
        outermost: Whether it is a field's value.
        item: The type of the items, None where it is not known.
        exact: True to get numbers with a fraction as ``Decimal``.

    Returns:
        The array; an object that stands in its place; inside another value the text
        unchanged where it spells neither.

    Raises:
        ValueError: A field's text holds no array, or more than one.
    """
    try:
        value = whole_value(text, exact_numbers=exact)
    except ValueError:
        value = text
    if isinstance(value, str) and value is not text:
        return array_in(value, False, item, exact)  # a list as JSON text inside a JSON text
    if isinstance(value, (list, dict)) or not outermost:
        return value
    if _takes_words(item) and (items := listed_items(text)) is not None:
        return items
    if value is text and "," in text and (separated := _separated(text, item, exact)) is not None:
        return separated
    return find_array(text, exact_numbers=exact)


def object_in(text: str, outermost: bool, wanted_keys: list[str] | None, exact: bool) -> Any:
    """Find the object that a text spells.

    Args:
        text: JSON, a Python literal; of a field also prose around it.
        outermost: Whether it is a field's value.
        wanted_keys: Keys that the object should have.
        exact: True to get numbers with a fraction as ``Decimal``.

    Returns:
        The object; an array that stands in its place; inside another value the text
        unchanged where it spells neither.

    Raises:
        ValueError: A field's text holds no object.
    """
    try:
        value = whole_value(text, exact_numbers=exact)
    except ValueError:
        value = text
    if isinstance(value, str) and value is not text:
        return object_in(value, False, wanted_keys, exact)
    if isinstance(value, (list, dict)) or not outermost:
        return value
    return find_object(text, wanted_keys, exact_numbers=exact)


def _takes_words(item: Any) -> bool:
    if isinstance(item, type) and get_origin(item) is None:
        return issubclass(item, (str, int, float, Decimal, enum.Enum, datetime.date))
    return get_origin(item) is Literal


def _separated(text: str, item: Any, exact: bool) -> list[Any] | None:
    """Values with commas between them, where a comma cannot be part of a value."""
    try:
        read = whole_value(f"[{text}]", exact_numbers=exact)
    except ValueError:
        read = None
    if isinstance(read, list) and (item is not str or all(isinstance(part, str) for part in read)):
        return read
    if get_origin(item) is Literal or (isinstance(item, type) and issubclass(item, (enum.Enum, datetime.date))):
        return [part.strip() for part in text.split(",")]
    return None
