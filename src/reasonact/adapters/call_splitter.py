"""Tool calls out of the JSON text of a field, while it arrives.

A call is an object with a ``name`` and, below ``args`` or ``arguments``, an object; it may
stand alone, in a list, or under any key. What has another form is left to the reader of the
whole completion. The arguments of a call come as they are written, once its name is known.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from reasonact.lm.chunks import CallDelta

_STRING_PART: Final = re.compile(r'(?:[^"\\]|\\.)+', re.DOTALL)
_SCALAR: Final = re.compile(r'[^\s,:{}\[\]"]+')
_NAMES: Final = ("name", "id")
_ARGUMENTS: Final = ("args", "arguments")


@dataclass(slots=True)
class _Object:
    """An object or list that is open, and what of a call it has said."""

    is_list: bool
    key: str | None = None
    said: dict[str, str] = field(default_factory=dict)
    arguments: str = ""
    index: int | None = None


class CallSplitter:
    """Takes the text of a field of tool calls piece by piece. Pure; one object for one completion."""

    def __init__(self) -> None:
        self._text = ""
        self._open: list[_Object] = []
        self._string: list[str] | None = None
        self._is_key = False
        self._inside = 0  # depth of the open object of arguments, itself included
        self._count = 0
        self._deltas: list[CallDelta] = []

    def feed(self, text: str) -> list[CallDelta]:
        """Take the next part of the text.

        Args:
            text: Any number of characters.

        Returns:
            What has become known: a call with its name, then the text of its arguments.
        """
        self._text += text
        position = 0
        while position < len(self._text):
            end = self._in_string(position) if self._string is not None else self._between(position)
            if end == position:
                break
            position = end
        self._text = self._text[position:]
        deltas, self._deltas = self._deltas, []
        return _joined(deltas)

    def _in_string(self, position: int) -> int:
        assert self._string is not None
        part = _STRING_PART.match(self._text, position)
        if part is not None:
            self._keep(part.group())
            return part.end()
        if self._text[position] == "\\":  # an escape of which one half is here
            return position
        whole = "".join(self._string)
        self._string = None
        self._say('"')
        if not self._inside and self._open and not self._open[-1].is_list:
            self._take_string(self._open[-1], _unescaped(whole))
        return position + 1

    def _keep(self, text: str) -> None:
        assert self._string is not None
        if self._inside:
            self._say(text)
        else:
            self._string.append(text)

    def _between(self, position: int) -> int:
        sign = self._text[position]
        if sign == '"':
            self._string = []
            self._say(sign)
        elif sign in "{[":
            self._enter(sign)
        elif sign in "}]":
            self._leave(sign)
        elif sign in ",:" or sign.isspace():
            self._say(sign)
            if sign == "," and not self._inside and self._open:
                self._open[-1].key = None
        else:
            scalar = _SCALAR.match(self._text, position)
            assert scalar is not None
            self._say(scalar.group())
            return scalar.end()
        return position + 1

    def _take_string(self, holder: _Object, text: str) -> None:
        if holder.key is None:
            holder.key = text
        elif holder.key in _NAMES:
            holder.said.setdefault(holder.key, text)
            self._announce(holder)

    def _announce(self, holder: _Object) -> None:
        """Give out a call whose name is known, with what came of its arguments before."""
        if "name" not in holder.said or holder.index is not None:
            return
        holder.index = self._count
        self._count += 1
        delta = CallDelta(holder.index, holder.said.get("id"), holder.said["name"], holder.arguments)
        holder.arguments = ""
        self._deltas.append(delta)

    def _enter(self, sign: str) -> None:
        if self._inside:
            self._inside += 1
        elif sign == "{" and self._open and self._open[-1].key in _ARGUMENTS:
            self._inside = 1
        else:
            self._open.append(_Object(sign == "["))
            return
        self._say(sign)

    def _leave(self, sign: str) -> None:
        if self._inside:
            self._say(sign)
            self._inside -= 1
        elif self._open:
            self._open.pop()

    def _say(self, text: str) -> None:
        if not self._inside:
            return
        holder = self._open[-1]
        if holder.index is None:
            holder.arguments += text
        else:
            self._deltas.append(CallDelta(holder.index, holder.said.get("id"), None, text))


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _joined(deltas: list[CallDelta]) -> list[CallDelta]:
    """The same with neighbours of one call in one."""
    joined: list[CallDelta] = []
    for delta in deltas:
        last = joined[-1] if joined else None
        if last is not None and last.index == delta.index:
            text = last.arguments + delta.arguments
            joined[-1] = CallDelta(last.index, last.id or delta.id, last.name or delta.name, text)
        else:
            joined.append(delta)
    return joined
