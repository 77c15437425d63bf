"""XML as models write it: fields between tags, with whatever else between and inside them.

This is no XML parser, and must not be one: a raw ``<`` or ``&``, a stray tag and prose
around the fields are all in a model's normal output. Tags of the wanted names are found
in one pass, and each field ends at the closing tag that fits best: the one that balances
its opening tag and has nothing but another field, or the end, behind it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

# A tag has a bound: that much is held back of a text that is still coming.
TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_][\w.-]{0,199})(?P<attributes>(?:\s[^<>]{0,199})?/?)>")
TAG_BEGINS: Final = re.compile(r"<[^<>]{0,402}\Z")
_CDATA: Final = "<![CDATA["
_CDATA_END: Final = "]]>"
_ENTITY: Final = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_KEY: Final = re.compile(r"""\bkey\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")
_THOUGHTS: Final = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)


def escaped(text: str) -> str:
    """A text as it can stand between tags: what would read as markup, and outer white space, as entities."""
    inner = text.strip()
    if inner:
        start = text.index(inner)
        before, behind = text[:start], text[start + len(inner) :]
    else:
        before, behind = text, ""
    body = inner.replace("&", "&amp;").replace("<", "&lt;")
    return f"{_referenced(before)}{body}{_referenced(behind)}"


def unescaped(text: str) -> str:
    """What `escaped` was given; white space around it, and CDATA brackets, are form."""
    text = text.strip()
    if _CDATA not in text:
        return unescaped_part(text)
    pieces: list[str] = []
    position = 0
    for start, end in _cdata_spans(text):
        pieces.append(_ENTITY.sub(_character, text[position:start]))
        pieces.append(text[start + len(_CDATA) : end - len(_CDATA_END)])
        position = end
    pieces.append(_ENTITY.sub(_character, text[position:]))
    return "".join(pieces)


def unescaped_part(text: str) -> str:
    """Entities as characters, in a part of a text; its white space stays."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def is_name(text: str) -> bool:
    """Whether a text can be a tag's name."""
    return _NAME.fullmatch(text) is not None


@dataclass(slots=True)
class Element:
    """A tag and what stands between it and its end.

    Args:
        name: The tag's name.
        inner: The text between the tags; None for a tag that closes itself.
        key: The value of its ``key`` attribute.
        children: The elements inside.
    """

    name: str
    inner: str | None
    key: str | None = None
    children: list[Element] = field(default_factory=list)


def tags_of(fields: Iterable[str]) -> dict[str, str]:
    """Fields by the names of their tags, which are found in any letter case.

    Args:
        fields: Their names; two that differ in letter case alone are told apart by it.

    Returns:
        Each field by its own name and by that in folded case.
    """
    names = list(fields)
    return {**{name.casefold(): name for name in names}, **{name: name for name in names}}


def field_of(tag: str, wanted: Mapping[str, str]) -> str | None:
    """The field that the name of a tag means, or None."""
    return wanted.get(tag) or wanted.get(tag.casefold())


def read_fields(text: str, wanted: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Find the fields of a completion.

    Args:
        text: The completion.
        wanted: The fields by the names of their tags, see `tags_of`.

    Returns:
        Each field's name and inner text, in order; None for a tag that closes itself.
    """
    opening = _THOUGHTS.match(text)
    if opening is not None and opening[1].casefold() not in wanted:
        closing = re.compile(rf"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
        text = text[closing.end() :] if closing else text
    named = ((match, field_of(match["name"], wanted)) for match in _tags(text))
    tags = [_Tag(match, name) for match, name in named if name is not None]
    last_close = {tag.name: number for number, tag in enumerate(tags) if tag.closes}
    found: list[tuple[str, str | None]] = []
    balanced = True
    at = 0
    while at < len(tags):
        tag = tags[at]
        if tag.alone:
            found.append((tag.name, None))
        elif not tag.closes and last_close.get(tag.name, -1) > at:
            end, balanced = _end_of(text, tags, at, balanced)
            found.append((tag.name, text[tag.end : tags[end].start]))
            at = end
        at += 1
    return found


def read_children(text: str) -> list[Element]:
    """Read the elements of a text into a tree; tags that nothing closes are text.

    Args:
        text: The inner text of a field.

    Returns:
        The outermost elements, in order.
    """
    top: list[Element] = []
    stack: list[tuple[re.Match[str], Element]] = []
    open_names: Counter[str] = Counter()
    for match in _tags(text):
        name = match["name"]
        if match["close"]:
            if not open_names[name]:
                continue
            while stack:
                opened, element = stack.pop()
                open_names[element.name] -= 1
                if element.name == name:
                    element.inner = text[opened.end() : match.start()]
                    break
                _dissolve(element, stack[-1][1].children if stack else top)
            continue
        siblings = stack[-1][1].children if stack else top
        key = _KEY.search(match["attributes"])
        element = Element(name, None, _ENTITY.sub(_character, key[1] or key[2] or "") if key else None)
        siblings.append(element)
        if not match.group().endswith("/>"):
            stack.append((match, element))
            open_names[name] += 1
    while stack:
        _, element = stack.pop()
        _dissolve(element, stack[-1][1].children if stack else top)
    return top


def _dissolve(element: Element, siblings: list[Element]) -> None:
    """Leave out an element that nothing closed: what it seemed to hold stands beside it."""
    siblings.pop()  # it is the last: while it was open, all that came went into it
    siblings.extend(element.children)


class _Tag:
    __slots__ = ("alone", "closes", "end", "name", "start")

    def __init__(self, match: re.Match[str], name: str) -> None:
        self.name = name
        self.closes = bool(match["close"])
        self.alone = match.group().endswith("/>")
        self.start, self.end = match.span()


def _end_of(text: str, tags: list[_Tag], at: int, balanced: bool) -> tuple[int, bool]:
    """The closing tag of a field, and whether tags are still taken to balance."""
    name, depth = tags[at].name, 1
    candidate = followed = -1
    for number in range(at + 1, len(tags)):
        tag = tags[number]
        if tag.alone:
            continue
        if not tag.closes:
            if candidate >= 0:
                break
            depth += tag.name == name
            continue
        if tag.name != name:
            continue
        depth -= 1
        fits = _nothing_behind(text, tags, number)
        if fits and (depth <= 0 or not balanced):
            return number, balanced
        if fits and followed < 0:
            followed = number
        if depth <= 0:
            candidate = number
    if candidate >= 0:
        return candidate, balanced
    # Looking for balance went to the end in vain; once is enough for a text.
    last = max(number for number in range(at + 1, len(tags)) if tags[number].closes and tags[number].name == name)
    return (followed if followed >= 0 else last), False


def _nothing_behind(text: str, tags: list[_Tag], number: int) -> bool:
    following = tags[number + 1] if number + 1 < len(tags) else None
    if following is None:
        return True
    return not following.closes and not text[tags[number].end : following.start].strip()


def _tags(text: str) -> Iterator[re.Match[str]]:
    """The tags of a text, CDATA passed over."""
    spans = _cdata_spans(text)
    span = next(spans, None)
    for match in TAG.finditer(text):
        while span is not None and span[1] <= match.start():
            span = next(spans, None)
        if span is None or match.start() < span[0]:
            yield match


def _cdata_spans(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while (start := text.find(_CDATA, position)) >= 0:
        end = text.find(_CDATA_END, start)
        if end < 0:
            return
        position = end + len(_CDATA_END)
        yield start, position


def _referenced(space: Iterable[str]) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def _character(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match.group()
