"""ReAct's trajectory as text that grows: what was rendered stays, new steps are added."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any, Final

from reasonact.adapters.content import Content, joined

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class TrajectoryText:
    """What one run has rendered of its trajectory.

    It is used only for a trajectory that begins with the very same values, unchanged;
    otherwise all is rendered anew. Values that could change unseen are rendered each time.
    """

    __slots__ = ("_basis", "_copies", "_keys", "_pieces", "_text", "_values", "_volatile")

    def __init__(self) -> None:
        self._text = ""
        self._reset(())

    def render(
        self,
        trajectory: Mapping[str, Any],
        separator: str,
        make: Callable[[str, Any], Content],
        basis: tuple[Any, ...],
    ) -> Content:
        """Render a trajectory.

        Args:
            trajectory: Values by key.
            separator: The text between two pieces.
            make: Renders one key and its value; an empty piece is left out.
            basis: What else the pieces depend on, compared by equality.

        Returns:
            All pieces, one after another.
        """
        keys, values = list(trajectory), list(trajectory.values())
        known = len(self._values)
        if not (
            self._basis == basis
            and self._keys == keys[:known]
            and all(map(is_, self._values, values))
            and all(value == copy for value, copy in self._copies)
        ):
            self._reset(basis)
            known = 0
        for place in self._volatile:
            self._pieces[place] = make(keys[place], values[place])
        fresh: list[Content] = []
        for key, value in zip(keys[known:], values[known:], strict=True):
            if type(value) is dict and all(type(item) in _PLAIN for item in value.values()):
                self._copies.append((value, dict(value)))  # a dict may be changed in place; the copy tells
            elif type(value) not in _PLAIN:
                self._volatile.append(len(self._values) + len(fresh))
            fresh.append(make(key, value))
        self._keys += keys[known:]
        self._values += values[known:]
        self._pieces += fresh
        if self._volatile:
            return joined(self._pieces, separator)
        text = joined([self._text, *fresh], separator)
        if isinstance(text, str):
            self._text = text
        return text

    def _reset(self, basis: tuple[Any, ...]) -> None:
        self._basis = basis
        self._keys: list[str] = []
        self._values: list[Any] = []
        self._copies: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._volatile: list[int] = []
        self._pieces: list[Content] = []
        self._text = ""
