"""A search index over the standard library's documentation.

Scores are BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009):
a word of the query counts more the rarer it is and the more often an entry has it, less
and less for each repetition, and less in long entries. A word in an object's name counts
like five in its text, one in the opening sentence like three. Words that name a kind of
thing ("module", "class", ...) are no search words: they lift the entries of that kind.
Modules that the library itself imports often stand a little higher, methods of classes
deep inside a package a little lower: of two objects that say the same, the common one wins.
"""

from __future__ import annotations

import difflib
import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reasonact.demo.inventory import Entry, inventory
from reasonact.demo.words import first_sentence, keywords_of, name_words, stem, words_of

SATURATION: Final = 1.4
LENGTH_SHARE: Final = 0.6
NAME_WEIGHT: Final = 5.0
PART_WEIGHT: Final = 1.0
COMMON_IN: Final = 15
MODULE_NAME_WEIGHT: Final = 1.0
OPENING_WEIGHT: Final = 3.0
TEXT_WEIGHT: Final = 1.0
SIGNATURE_WEIGHT: Final = 0.5
IN_USE_STEP: Final = 0.06
DEPTH_STEP: Final = 0.1
READ_CHARACTERS: Final = 3_000
KIND_FACTORS: Final = {"module": 2.2, "class": 1.5, "method": 1.3, "function": 1.3}


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that a search found, with its score (higher is nearer)."""

    entry: Entry
    score: float


class Index:
    """Entries by name and by the words of their documentation.

    Args:
        entries: What to index.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = list(entries)
        self._by_name = {entry.name: entry for entry in self._entries}
        self._postings: dict[str, list[tuple[int, float]]] = {}
        lengths = []
        counted = [_weights(entry) for entry in self._entries]
        spread = Counter(word for weights in counted for word in weights)
        common = {word for word, count in spread.items() if count >= COMMON_IN and len(word) >= 3}
        for number, (entry, weights) in enumerate(zip(self._entries, counted, strict=True)):
            for word in words_of(entry.name.rpartition(".")[2]):
                for part in _parts(word, common):
                    weights[part] += PART_WEIGHT
            lengths.append(sum(weights.values()))
            for word, weight in weights.items():
                self._postings.setdefault(word, []).append((number, weight))
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._damping = [SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / mean) for length in lengths]
        self._standing = [_standing(entry) for entry in self._entries]

    def __len__(self) -> int:
        return len(self._entries)

    def search(self, query: str, limit: int = 5) -> list[Hit]:
        """Find the entries whose documentation is nearest to a query.

        Args:
            query: Keywords or a question.
            limit: The most hits to return.

        Returns:
            Hits with a score above zero, best first; entries of equal score by name.
        """
        scores: dict[int, float] = {}
        for word in dict.fromkeys(stem(word) for word in keywords_of(query)):
            postings = self._postings.get(word, [])
            rarity = math.log(1 + (len(self._entries) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, weight in postings:
                gain = rarity * weight * (SATURATION + 1) / (weight + self._damping[number])
                scores[number] = scores.get(number, 0.0) + gain
        wanted = _kinds_in(query)
        hits = [
            Hit(entry, score * self._standing[number] * (KIND_FACTORS[entry.kind] if entry.kind in wanted else 1))
            for number, score in scores.items()
            if (entry := self._entries[number])
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.entry.name))[:limit]

    def find(self, name: str) -> Entry:
        """Get the entry of a name.

        ``builtins.`` may stand in front of a builtin, and a name may leave out the part of
        a package in which the object is defined, where that leaves one object.

        Args:
            name: A dotted name, e.g. ``textwrap.dedent``.

        Returns:
            Its entry.

        Raises:
            LookupError: There is no such object; the message names near ones.
        """
        name = name.strip().strip("`").removesuffix("()").removeprefix("builtins.")
        if name in self._by_name:
            return self._by_name[name]
        head, _, last = name.rpartition(".")
        ends = [entry for entry in self._entries if entry.name.rpartition(".")[2] == last]
        inside = [entry for entry in ends if head and entry.name.startswith(f"{head}.")]
        if len(inside) == 1:
            return inside[0]
        near = [entry.name for entry in ends][:5] or difflib.get_close_matches(name, self._by_name, n=5)
        hint = f"; there is {', '.join(near)}" if near else "; search for it first"
        raise LookupError(f"the standard library of this interpreter documents no {name!r}{hint}")


def describe(entry: Entry) -> str:
    """The documentation of an entry as text: how it is called, what it is, what it says of itself.

    Args:
        entry: Any entry.

    Returns:
        Text of at most about 3,000 characters; a longer one is cut, with its full size.
    """
    doc = entry.doc or "It has no documentation of its own."
    if len(doc) > READ_CHARACTERS:
        doc = f"{doc[:READ_CHARACTERS].rstrip()}\n[cut: {len(doc)} characters in all]"
    place = "" if entry.kind == "module" else f" in module {entry.module}"
    return f"{entry.name}{entry.signature}\n{entry.kind}{place}\n\n{doc}"


def summary(hit: Hit) -> str:
    """One line: name, kind, score and the opening sentence."""
    opening = first_sentence(hit.entry.doc) or "not documented"
    return f"{hit.entry.name} ({hit.entry.kind}, score {hit.score:.1f}): {opening}"


_lock = threading.Lock()
_built: list[Index] = []


def standard_library() -> Index:
    """The index of this interpreter's library, built at the first call and kept for the process."""
    with _lock:
        if not _built:
            _built.append(Index(inventory()))
        return _built[0]


def _parts(word: str, common: set[str]) -> tuple[str, ...]:
    """The two common words that a name such as ``splitlines`` or ``copyfile`` is made of, if it is."""
    for place in range(3, len(word) - 2):
        left, right = stem(word[:place]), stem(word[place:])
        if left in common and right in common:
            return left, right
    return ()


def _standing(entry: Entry) -> float:
    depth = entry.name.count(".") - entry.module.count(".") if entry.kind != "module" else 0
    return (1 + IN_USE_STEP * math.log2(1 + entry.importers)) * (1 - DEPTH_STEP * max(0, depth))


def _weights(entry: Entry) -> dict[str, float]:
    weights: defaultdict[str, float] = defaultdict(float)
    path, _, last = entry.name.rpartition(".")
    opening = first_sentence(entry.doc)
    for word in name_words(last):
        weights[word] += NAME_WEIGHT
    for text, weight in (
        (path, MODULE_NAME_WEIGHT),
        (opening, OPENING_WEIGHT),
        (entry.doc[len(opening) : READ_CHARACTERS], TEXT_WEIGHT),
        (entry.signature, SIGNATURE_WEIGHT),
    ):
        for word in words_of(text):
            weights[word] += weight
    return weights


def _kinds_in(query: str) -> set[str]:
    words = {word.removesuffix("s").removesuffix("e") for word in re.findall(r"[a-z]+", query.lower())}
    kinds = {kind for kind in KIND_FACTORS if kind.removesuffix("e") in words}
    return kinds | {"class"} if "class" in query.lower().split() else kinds
