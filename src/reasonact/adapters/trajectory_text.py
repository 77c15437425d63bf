"""ReAct's trajectory as text that grows: what was rendered stays, new steps are added."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any, Final

from reasonact.adapters.content import Content, Pieces, joined, strip_ends, stripped

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class TrajectoryText:
    """What one run has rendered of its trajectory.

    It is used for a trajectory that has grown by new steps; otherwise all is rendered anew.
    Values that could change unseen are rendered each time. Who lets somebody else change the
    steps themselves says so by `forget`: to find that out here would cost each turn a look at
    all that came before.
    """

    __slots__ = (
        "_adapter",
        "_copies",
        "_dicts",
        "_errors",
        "_is_text",
        "_keys",
        "_last",
        "_pieces",
        "_row",
        "_volatile",
    )

    _last: tuple[str, Any]

    def __init__(self) -> None:
        self._errors: frozenset[int] = frozenset()
        self._is_text = True
        self._reset(None)

    def render(
        self,
        trajectory: Mapping[str, Any],
        separator: str,
        make: Callable[[str, Any], Content],
        adapter: Any,
        errors: Collection[int] = (),
    ) -> Pieces | Content:
        """Render a trajectory.

        Args:
            trajectory: Values by key.
            separator: The text between two pieces.
            make: Renders one key and its value; an empty piece is left out. It may look at
                the other values of the same step.
            adapter: Whose form it is.
            errors: The numbers of the steps that `make` marks as failed.

        Returns:
            All pieces in a row without outer white space; put together where they hold media.
        """
        marked = frozenset(errors)
        if not (
            self._adapter is adapter
            and not any(f"observation_{number}" in self._keys for number in marked ^ self._errors)
            and self._has_grown(trajectory)
            and self._dicts == self._copies
        ):
            self._reset(adapter)
        self._errors = marked
        for place, key in self._volatile:
            self._pieces[place] = make(key, trajectory[key])
        known = len(self._keys)
        fresh: list[Content] = []
        for key, value in islice(trajectory.items(), known, None):
            if type(value) is dict and all(type(item) in _PLAIN for item in value.values()):
                self._dicts.append(value)  # a dict may be changed in place; the copy tells
                self._copies.append(dict(value))
            elif type(value) not in _PLAIN:
                self._volatile.append((known + len(fresh), key))
            fresh.append(make(key, value))
            self._keys.add(key)
            self._last = key, value
        self._pieces += fresh
        added = joined(fresh, separator)
        if added:
            self._row += [separator, added] if self._row else [added]
            self._is_text = self._is_text and isinstance(added, str)
        if self._volatile or not self._is_text:
            return stripped(joined(self._pieces, separator))
        row = Pieces(self._row)
        strip_ends(row)
        return row

    def forget(self) -> None:
        """Render all anew the next time."""
        self._reset(None)

    def _has_grown(self, trajectory: Mapping[str, Any]) -> bool:
        """Whether the last value so far stands where it stood, and what follows begins a new step."""
        if not self._keys:
            return True
        found = list(islice(trajectory.items(), len(self._keys) - 1, len(self._keys) + 1))
        if not found or found[0][0] != self._last[0] or found[0][1] is not self._last[1]:
            return False
        return len(found) == 1 or _step(found[1][0]) != _step(found[0][0])

    def _reset(self, adapter: Any) -> None:
        self._adapter = adapter
        self._errors = frozenset()
        self._keys: set[str] = set()
        self._last = ("", None)
        self._dicts: list[dict[Any, Any]] = []
        self._copies: list[dict[Any, Any]] = []
        self._volatile: list[tuple[int, str]] = []
        self._pieces: list[Content] = []
        self._row: list[Any] = []
        self._is_text = True


def _step(key: str) -> str:
    return key.rpartition("_")[2]
