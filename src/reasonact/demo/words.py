"""Words of questions, names and docstrings, in one form that can be compared.

A word is lower case and cut to a stem by a few rules of English, the same rules on both
sides, so that "removes" in a question meets "Remove" in a docstring.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*|[0-9]+")
_CALL_LINES: Final = re.compile(r"\A(?:(?:\w+ = )?[A-Za-z_][\w.]*\([^\n]*(?:\n[ \t]+[^\n]*)*\n+)+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_STOP_WORDS: Final = """
    a about all am an and another any are as at be been being but by call called can could did do does doing done
    else etc for from get gets give given gives had has have having help here how i if in into is it its itself just
    kind let like make makes may me method might mine must my need needs no not of on one only or other our ours out
    over own please python should show so some standard library stdlib such tell than that the their them then there
    these they thing things this those through to too under up us use used uses using very via want wants was way we
    were what when where whether which while who whom whose why will with within without would you your explain
    describe mean means work works function functions class classes module modules package routine tool provide
    provides offer offers best available built builtin find create new
"""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Cut a lower-case word to what its forms share: ``removes``, ``removed``, ``removing`` to ``remov``."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + rest
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]  # zipp(ed), runn(ing)
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_STOP_STEMS: Final = frozenset(stem(word) for word in _STOP_WORDS.split())


def words_of(text: str) -> list[str]:
    """The stems of a text in order; ``splitCamel`` and ``snake_case`` names also come apart.

    Args:
        text: Prose or names.

    Returns:
        Stems, with repetitions.
    """
    found: list[str] = []
    for word in _WORD.findall(text):
        whole = word.lower()
        found.append(stem(whole))
        if whole != word:
            parts = _HUMP.split(word)
            if len(parts) > 1:
                found.extend(stem(part.lower()) for part in parts)
    return found


def name_words(name: str) -> list[str]:
    """The stems of an object's own name; ``isleap`` also counts as ``leap``."""
    found = words_of(name)
    return found + [stem(word[2:]) for word in found if word.startswith("is") and len(word) > 4]


def keywords_of(text: str) -> list[str]:
    """The words of a question that say what it is about: no stop words, each once, in order.

    Args:
        text: A question.

    Returns:
        Lower-case words as they were written, not stems.
    """
    words = (word.lower() for word in _WORD.findall(text))
    said = dict.fromkeys(words)
    return [word for word in said if stem(word) not in _STOP_STEMS and (len(word) > 1 or word.isdigit())]


def first_sentence(text: str, limit: int = 240) -> str:
    """The opening sentence of a documentation text on one line.

    Lines that only show a call, with which the texts of compiled modules begin, are passed over.

    Args:
        text: Any text.
        limit: The most characters to return.

    Returns:
        Up to the first full stop or empty line, cut at ``limit`` characters with an ellipsis.
    """
    body = text.strip()
    prose = _CALL_LINES.sub("", body).strip() or body
    opening = " ".join(prose.split("\n\n", 1)[0].split())
    end = re.search(r"(?<=[a-z0-9)`'\"\]])\.(?=\s+[A-Z]|$)", opening)
    sentence = opening[: end.end()] if end else opening
    return sentence if len(sentence) <= limit else sentence[: limit - 1].rstrip() + "…"
