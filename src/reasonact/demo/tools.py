"""The tools of the demonstration: search, read, evaluate."""

from __future__ import annotations

from reasonact.demo.arithmetic import evaluate_expression
from reasonact.demo.index import describe, standard_library, summary

MAX_HITS = 20


def search(query: str, limit: int = 5) -> str:
    """Search the documentation of Python's standard library; the best hit comes first.

    Args:
        query: Keywords, or a question; "module", "class", "function" or "method" prefers that kind.
        limit: How many hits to list, from 1 to 20.

    Returns:
        A numbered line for each hit: name, kind, score (higher is nearer) and opening sentence.
    """
    if not 1 <= limit <= MAX_HITS:
        raise ValueError(f"limit is {limit}; it has to lie between 1 and {MAX_HITS}")
    hits = standard_library().search(query, limit)
    if not hits:
        return f"Nothing in the documentation matches {query!r}."
    return "\n".join(f"{number}. {summary(hit)}" for number, hit in enumerate(hits, 1))


def read(name: str) -> str:
    """Read the documentation and the signature of one module, class, function or method.

    Args:
        name: Its full dotted name, for example textwrap.dedent.

    Returns:
        Signature, kind and documentation.
    """
    return describe(standard_library().find(name))


def evaluate(expression: str) -> str:
    """Work out a small Python expression: arithmetic, comparisons, strings, lists and pure functions of math.

    Args:
        expression: For example 2**10 + 5, or sorted([3, 1, 2])[-1].

    Returns:
        The value as Python writes it.
    """
    return repr(evaluate_expression(expression))
