"""What a short text means where a number, a date, a word of a fixed set or a list is wanted.

Each function turns the text into a form that pydantic reads without doubt, and leaves
alone what it does not know; pydantic then says what is wrong with it. Texts that
pydantic would read as something else than was meant are refused here.
"""

from __future__ import annotations

import ast
import datetime
import enum
import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from reasonact.adapters.lenient_json import unfenced

_QUOTES = (("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"))
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(\.\d+)?")
_BASED = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_FRACTION = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LARGEST_EXPONENT = 400  # beyond that an integer is no count but a way to fill the memory
_NULLS = ("null", "none", "nil", "n/a")
_WRAPPED_LITERAL = re.compile(r"(?:Literal|str)\[(.*)\]", re.DOTALL)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.*)")
_NUMBERED_ITEM = re.compile(r"(?:\[\d+\] )?(?:«([^«»\n]*)»|«««\n((?:    .*\n|\n)*)»»»)(?:\n|\Z)")


def bare(text: str) -> str:
    """Take off what stands around a value and is no part of it.

    Args:
        text: A text.

    Returns:
        The text without outer space, fence, emphasis, backticks and quotes.
    """
    inner = unfenced(text).strip()
    for opening, closing in _QUOTES:
        size = len(opening)
        if len(inner) > 2 * size and inner.startswith(opening) and inner.endswith(closing):
            body = inner[size:-size]
            if opening not in body:
                inner = body.strip()
    return inner


def is_null_word(text: str, *, among_texts: bool) -> bool:
    """Tell whether a text stands for no value.

    Args:
        text: The text.
        among_texts: True where any other text would be a value too; then only the two
            spellings that JSON and Python have count.

    Returns:
        True for ``null`` and ``None``, and, among other types, for other spellings.
    """
    word = text.strip()
    return word in ("null", "None") if among_texts else bare(word).lower() in _NULLS


def number_from(text: str, *, whole: bool) -> Any:
    """Read a number that was written as text.

    Args:
        text: ``5``, ``"5"``, ``**5**``, ``1,234``, ``0x1F``, ``5.0``, ``1e3``, …
        whole: True where an integer is wanted.

    Returns:
        An int where the text is one; else the text, bare, for pydantic to read.

    Raises:
        ValueError: The number is too large to be meant.
    """
    digits = bare(text)
    match = _THOUSANDS.fullmatch(digits)
    # One group of three may be a fraction where a comma marks those.
    if match and (whole or match[1] or digits.count(",") > 1):
        digits = digits.replace(",", "")
    if _BASED.fullmatch(digits):
        return int(digits, 0)
    if whole and _FRACTION.fullmatch(digits):
        return _whole(digits)
    return digits


def _whole(digits: str) -> Any:
    if digits.lstrip("+-").isdigit():
        return int(digits)
    try:
        number = Decimal(digits)
    except InvalidOperation:
        return digits
    if number and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(f"{digits} is out of range")
    return int(number) if number == number.to_integral_value() else digits


def bool_from(text: str) -> str:
    """Make a yes or no out of a word.

    Args:
        text: ``True``, ``yes``, ``**No**``, ``false.``, …

    Returns:
        The word, bare and without its full stop, for pydantic to read.
    """
    return bare(bare(text).rstrip(".!"))


def date_from(text: str, kind: type) -> Any:
    """Read a date or a date and time.

    Args:
        text: ISO 8601, or eight digits (``20240131``); seconds since 1970 for a datetime.
        kind: ``date`` or ``datetime``.

    Returns:
        The day for eight digits; else the text, bare, for pydantic to read.

    Raises:
        ValueError: Digits that pydantic would count from 1970 though they look like a year.
    """
    value = bare(text)
    if value.isdigit():
        if len(value) == 8:
            day = datetime.datetime.strptime(value, "%Y%m%d")
            return day if kind is datetime.datetime else day.date()
        if len(value) < 9 or kind is datetime.date:
            raise ValueError(f"{value!r} is no date")
    return value


def duration_from(text: str) -> Any:
    """Read a length of time.

    Args:
        text: ISO 8601, ``[days] hh:mm:ss``, or a number of seconds.

    Returns:
        Seconds for a number; else the text, bare, for pydantic to read.
    """
    value = bare(text)
    return float(value) if _FRACTION.fullmatch(value) else value


def bytes_from(text: str) -> Any:
    """Read bytes that were written as a Python literal.

    Args:
        text: ``b'…'``, or the text itself.

    Returns:
        The bytes of the literal, or the text unchanged.
    """
    stripped = text.strip()
    if stripped[:2] in ("b'", 'b"') and stripped[-1:] == stripped[1]:
        try:
            return ast.literal_eval(stripped)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    return text


class Choices:
    """The members of an enum or a ``Literal``, found by what a model may write for one.

    Args:
        members: The members, in order.
        kind: The enum, which may know further values; None for a ``Literal``.
    """

    def __init__(self, members: Iterable[Any], kind: type[enum.Enum] | None = None) -> None:
        self.members = list(members)
        self._kind = kind
        self._by_text: list[dict[str, list[Any]]] = [{}, {}, {}, {}]
        for member in self.members:
            for rank, text in _spellings(member):
                self._by_text[rank].setdefault(text, []).append(member)
                self._by_text[3].setdefault(text.casefold(), []).append(member)

    def find(self, value: Any) -> Any:
        """Pick the member that a value stands for.

        Args:
            value: A member, its value, or a text: value, name, quoted, in another case.

        Returns:
            The member.

        Raises:
            ValueError: No member is meant, or more than one.
        """
        for member in self.members:
            if value is member or _same(value, member):
                return member
        for member in self.members:
            if isinstance(member, enum.Enum) and _same(value, member.value):
                return member
        texts = self._texts(value)
        for rank, table in enumerate(self._by_text):
            for text in texts:
                found = table.get(text.casefold() if rank == 3 else text, [])
                if len({id(member) for member in found}) == 1:
                    return found[0]
                if found and rank == 3:
                    raise ValueError(f"{text!r} may mean {' or '.join(_shown(member) for member in found)}")
        if self._kind is not None:
            try:
                return self._kind(value)  # flags, and what the enum's own _missing_ finds
            except (ValueError, TypeError, KeyError):
                pass
        allowed = ", ".join(_shown(member) for member in self.members)
        raise ValueError(f"it is none of {allowed}")

    def _texts(self, value: Any) -> list[str]:
        if isinstance(value, str):
            stripped = value.strip()
            texts = [value, stripped, bare(value)]
            if match := _WRAPPED_LITERAL.fullmatch(bare(value)):
                texts.append(bare(match[1]))
            return texts
        if isinstance(value, bool) or value is None:
            return [str(value)]
        if isinstance(value, float) and value.is_integer():
            return [str(int(value))]
        return [str(value)] if isinstance(value, (int, float, Decimal)) else []


def _spellings(member: Any) -> list[tuple[int, str]]:
    """Texts for a member, each with its rank: value before name before longer forms."""
    if isinstance(member, enum.Enum):
        shown = _value_texts(member.value)
        name = member.name
        return [*((0, text) for text in shown), (1, name), (2, f"{type(member).__name__}.{name}")]
    texts = _value_texts(member)
    # A member that is a text goes before one whose value only prints so: '1' before 1.
    return [(0 if isinstance(member, str) else 1, text) for text in texts]


def _value_texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes):
        return [value.decode("utf-8", "replace"), repr(value)]
    if isinstance(value, bool) or value is None:
        return [str(value), json.dumps(value)]
    try:
        return [str(value), json.dumps(value)]
    except (TypeError, ValueError):
        return [str(value)]


def _same(value: Any, member: Any) -> bool:
    # 1 == True == 1.0 in Python; a choice means one of them.
    if isinstance(value, bool) != isinstance(member, bool):
        return False
    return type(value) is type(member) and bool(value == member)


def _shown(member: Any) -> str:
    return repr(member.value) if isinstance(member, enum.Enum) else repr(member)


def listed_items(text: str) -> Sequence[str] | None:
    """Read a list that was written as lines with bullets, numbers or ``«…»``.

    Args:
        text: The text, whole.

    Returns:
        The items; None where any line is something else.
    """
    body = unfenced(text).strip()
    if items := _guillemets(body):
        return items
    lines = [line for line in body.splitlines() if line.strip()]
    matches = [_LIST_LINE.fullmatch(line) for line in lines]
    if not lines or not all(matches):
        return None
    return [match[1].strip() for match in matches if match]


def _guillemets(body: str) -> list[str]:
    items, at = [], 0
    while at < len(body):
        match = _NUMBERED_ITEM.match(body, at)
        if match is None:
            return []
        items.append(match[1] if match[1] is not None else re.sub(r"(?m)^    ", "", match[2])[:-1])
        at = match.end()
    return items
