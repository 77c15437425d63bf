"""The stand-in model: rules instead of a language model.

It follows no script. It takes the words of the question that carry meaning, searches for
them, reads the best hits, compares what they say with the question, and answers with
what the tools returned. It knows no object of the library by heart; its only knowledge
of the world is a short table of everyday words and the words that documentation uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from reasonact.demo.dialogue import Call, Move, Situation, express, understand
from reasonact.demo.words import first_sentence, keywords_of, name_words, stem, words_of

READS: Final = 3
HITS: Final = 10
MATCH_SHARE: Final = 0.8
NAME_SHARE: Final = 0.3
KIND_SHARE: Final = 0.3
GENERIC_SHARE: Final = 0.6
OTHER_WORD_SHARE: Final = 0.8
CLEAR_MATCH: Final = 0.75
_GENERIC_WORDS: Final = "calculate change check compute convert given number object open return value"
GENERIC: Final = frozenset(_GENERIC_WORDS.split())
KINDS: Final = ("module", "class", "function", "method")
OTHER_WORDS: Final[Mapping[str, str]] = {
    "average": "mean", "biggest": "largest", "cache": "memoize lru", "check": "test", "combine": "join concatenate",
    "delete": "remove", "directory": "path", "download": "retrieve urlopen url", "duplicate": "copy",
    "encode": "encoding", "folder": "directory", "folders": "directories", "hash": "digest",
    "json": "serialize deserialize", "merge": "join", "month": "calendar", "options": "arguments", "parse": "parser",
    "pause": "sleep delay", "pick": "choose choice", "program": "process command",
    "regex": "regular expression pattern", "regular": "re pattern", "remove": "delete", "run": "execute",
    "shell": "command subprocess", "shuffle": "permute", "smallest": "minimum", "split": "separate", "string": "str",
    "swap": "exchange", "temporary": "tempfile", "text": "string", "today": "current date", "typo": "close matches",
    "wait": "sleep", "web": "http url", "zip": "archive",
}  # fmt: skip

_NAME: Final = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b|`([A-Za-z_][\w.]*)(?:\(.*?\))?`|\b([A-Za-z_]\w*)\(\)")
_HIT: Final = re.compile(r"^\d+\. (\S+) \((module|class|function|method), score ([\d.]+)\): (.*)$", re.MULTILINE)
_DESCRIPTION: Final = re.compile(
    r"\A(?P<name>[\w.]+)(?P<signature>[^\n]*)\n"
    r"(?P<kind>module|class|function|method)(?: in module (?P<module>\S+))?\n\n"
    r"(?P<doc>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a tool returned: an object with its documentation, or its line in a search."""

    name: str
    kind: str
    signature: str
    doc: str
    module: str = ""
    score: float = 0.0


def reply(body: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a chat completion request.

    Args:
        body: The request as OpenAI's API takes it; ``messages`` is read and, where they are
            there, ``tools`` and ``tool_choice``.

    Returns:
        The assistant message.
    """
    situation = understand(body)
    return express(decide(situation), situation.form, turn=len(body["messages"]))


def decide(situation: Situation) -> Move:
    """Choose the next move.

    Args:
        situation: What the request says: the question, the tools, the steps so far.

    Returns:
        Calls to make, or the answer.
    """
    if situation.form == "other":
        return Move("I am a stand-in made of rules: I only answer the requests of the agents in `reasonact demo`.")
    if not situation.closing:
        move = _calculate(situation) or _read_named(situation) or _search(situation) or _read_hits(situation)
        if move is not None:
            return move
    return _answer(situation)


def _calculate(situation: Situation) -> Move | None:
    expression = expression_in(situation.question)
    call = Call("evaluate", {"expression": expression})
    if expression is None or not _open(situation, [call]):
        return None
    return Move(f"The question holds the expression {expression}. I have it worked out.", (call,))


def _read_named(situation: Situation) -> Move | None:
    if _value(situation) is not None:
        return None
    names = [next(filter(None, found.groups()), found.group()) for found in _NAME.finditer(situation.question)]
    calls = _open(situation, [Call("read", {"name": name}) for name in dict.fromkeys(names[:READS])])
    if not calls:
        return None
    return Move(
        f"The question names {_listed([call.args['name'] for call in calls])}. I read the documentation.", calls
    )


def _search(situation: Situation) -> Move | None:
    if _value(situation) is not None or _read(situation):
        return None
    searches = [Call("search", {"query": query, "limit": HITS}) for query in queries_for(situation.question)]
    hits = _ranked(_hits(situation), situation.question)
    clear = bool(hits) and match(hits[0], situation.question) >= CLEAR_MATCH
    calls = () if clear else _open(situation, searches)[:1]
    if not calls:
        return None
    about = ", ".join(keywords_of(situation.question))
    if any(step.call.name == "search" for step in situation.steps):
        return Move("Documentation may put it in other words. I search for those as well.", calls)
    return Move(f"The question is about: {about}. I search the documentation for these words.", calls)


def _read_hits(situation: Situation) -> Move | None:
    if _value(situation) is not None:
        return None
    searched = any(step.call.name == "search" for step in situation.steps)
    hits = _ranked(_hits(situation), situation.question)[:READS] if searched else []
    calls = _open(situation, [Call("read", {"name": hit.name}) for hit in hits])
    if not calls:
        return None
    names = _listed([call.args["name"] for call in calls])
    return Move(f"Near to the question {'are' if len(calls) > 1 else 'is'} {names}. I read the documentation.", calls)


def _answer(situation: Situation) -> Move:
    value = _value(situation)
    findings = _ranked(_read(situation) or _hits(situation), situation.question)
    share = 0.0
    if value is not None:
        expression = next(s.call.args.get("expression") for s in situation.steps if s.call.name == "evaluate")
        thought = "That is what the calculation gave."
        name, module, share = "", "", 1.0
        text = f"{expression} cannot be worked out: {value}" if "Error" in value else f"{expression} = {value}"
    elif findings:
        best = findings[0]
        share = match(best, situation.question)
        words = len(keywords_of(situation.question))
        thought = f"Of what I read, {best.name} is nearest: it matches {share:.0%} of the question's {words} words."
        text = f"{best.name}{best.signature} ({best.kind}): {first_sentence(best.doc)}"
        if share < 0.4:
            text = f"I am not sure; the nearest that I found is {text}"
        name, module = best.name, best.module
        if _kind_in(situation.question) == "module" and module:
            name = module
    else:
        thought = "Nothing that the tools returned fits the question."
        text, name, module = "The documentation that I searched holds nothing that fits the question.", "", ""
    known = {"text": text, "name": name, "module": module, "share": round(share, 2), "value": value, "thought": thought}
    return Move(thought, answer={field: _fill(field, kind, known) for field, kind in situation.outputs.items()})


def _fill(field: str, kind: str, known: Mapping[str, Any]) -> Any:
    if kind in {"number", "integer"}:
        return int(known["share"]) if kind == "integer" else known["share"]
    if kind == "boolean":
        return known["share"] >= 0.5
    if kind == "array":
        return [known["name"] or known["text"]]
    if kind == "object":
        return {"name": known["name"], "text": known["text"]}
    if field == "reasoning":
        return known["thought"]
    if "module" in field:
        return known["module"]
    return known["name"] if any(part in field for part in ("name", "function", "object")) else known["text"]


def expression_in(question: str) -> str | None:
    """Find the calculation that a question asks for.

    Args:
        question: The question's text.

    Returns:
        The expression without the words around it, or None where the question is no calculation.
    """
    text = question.replace("`", " ").strip().rstrip("?!. =").strip()
    text = re.sub(r"\s+(?:return|give|make|equal to|equal|yield|evaluate to)s?$", "", text)
    for start in [0, *(space.end() for space in re.finditer(r"\s+", text))]:
        candidate = text[start:]
        try:
            tree = ast.parse(candidate, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if _is_calculation(tree):
            return candidate
    return None


def _is_calculation(tree: ast.expr) -> bool:
    if not isinstance(tree, ast.BinOp | ast.Compare | ast.BoolOp | ast.Call | ast.Subscript | ast.UnaryOp | ast.IfExp):
        return False
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    values = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return values <= {"pi", "e", "tau", "math"} and any(isinstance(node, ast.Constant) for node in ast.walk(tree))


def queries_for(question: str) -> list[str]:
    """The searches to make: the question's own words, then with words that documentation uses.

    Args:
        question: The question's text.

    Returns:
        One or two queries; none where the question has no word of its own.
    """
    words = keywords_of(question)
    kinds = [kind for kind in KINDS if re.search(rf"\b{kind}e?s?\b", question, re.IGNORECASE)][:1]
    others = [OTHER_WORDS[word] for word in words if word in OTHER_WORDS]
    if not words:
        return []
    return [" ".join([*words, *kinds]), *([" ".join([*words, *others, *kinds])] if others else [])]


def match(finding: Finding, question: str) -> float:
    """How much of a question a finding's documentation speaks of.

    Args:
        finding: An object with documentation.
        question: The question's text.

    Returns:
        From 0 to 1: the mean over the question's keywords (common verbs count less) of 1 for a word in the object's own
        name, 0.9 in its opening sentence, 0.6 elsewhere in its name or text, 0 for nowhere; other
        words for the same thing count a little less.
    """
    path, _, last = finding.name.rpartition(".")
    opening = set(words_of(first_sentence(finding.doc)))
    rest = set(words_of(f"{path} {finding.signature} {finding.doc}"))
    own = set(name_words(last))
    total = reached = 0.0
    for group in _groups(question):
        weight = GENERIC_SHARE if group[0] in GENERIC else 1.0
        total += weight
        said, *others = (_grade(stem(word), own, opening, rest) for word in group)
        reached += weight * max(said, OTHER_WORD_SHARE * max(others, default=0.0))
    return reached / total if total else 0.0


def _groups(question: str) -> list[tuple[str, ...]]:
    return [(word, *OTHER_WORDS.get(word, "").split()) for word in keywords_of(question)]


def _grade(word: str, own: set[str], opening: set[str], rest: set[str]) -> float:
    if word in own:
        return 1.0
    if word in opening or _inside(word, own):
        return 0.9
    return 0.6 if word in rest else 0.0


def _name_grade(word: str, asked: set[str]) -> float:
    """How much of a name's word the question says: ``copy`` fits "copy a file" better than ``copyfileobj``."""
    if word in asked:
        return 1.0
    return min(1.0, sum(len(part) for part in asked if len(part) >= 3 and part in word) / len(word)) * 0.9


def _inside(word: str, names: set[str]) -> bool:
    return len(word) >= 4 and any(name.startswith(word) or name.endswith(word) for name in names)


def _ranked(findings: list[Finding], question: str) -> list[Finding]:
    """Findings, nearest first: the search's score, the match, how much of the name was said, the kind asked for."""
    asked = {stem(word) for group in _groups(question) for word in group}
    kind = _kind_in(question)
    top = max((finding.score for finding in findings), default=0.0) or 1.0

    def rank(finding: Finding) -> float:
        name = words_of(finding.name.rpartition(".")[2])
        said = sum(_name_grade(word, asked) for word in name) / len(name)
        fit = KIND_SHARE if finding.kind == kind else -KIND_SHARE if finding.kind == "module" else 0.0
        return finding.score / top + MATCH_SHARE * match(finding, question) + NAME_SHARE * said + fit

    return sorted(findings, key=rank, reverse=True)


def _kind_in(question: str) -> str | None:
    return next((kind for kind in KINDS if re.search(rf"\b{kind}\b", question, re.IGNORECASE)), None)


def _hits(situation: Situation) -> list[Finding]:
    """What the searches listed, each object once with the best share of a search's highest score."""
    found: dict[str, Finding] = {}
    for step in situation.steps:
        hits = _HIT.findall(step.result or "") if step.call.name == "search" else []
        for name, kind, score, line in hits:
            share = float(score) / (float(hits[0][2]) or 1.0)
            if name not in found or share > found[name].score:
                found[name] = Finding(name, kind, "", line, score=share)
    return list(found.values())


def _read(situation: Situation) -> list[Finding]:
    """What was read, with the scores that the searches gave."""
    scores = {finding.name: finding.score for finding in _hits(situation)}
    found: dict[str, Finding] = {}
    for step in situation.steps:
        shown = _DESCRIPTION.match(step.result or "") if step.call.name == "read" else None
        if shown:
            name = shown["name"]
            found[name] = Finding(
                name,
                shown["kind"],
                shown["signature"],
                shown["doc"],
                module=shown["module"] or name,
                score=scores.get(name, 0.0),
            )
    return list(found.values())


def _value(situation: Situation) -> str | None:
    """What came of the calculation: its value, or why it has none; nothing where it was no calculation after all."""
    for step in situation.steps:
        if step.call.name == "evaluate" and step.result is not None:
            other = "Error" in step.result and ("there is no" in step.result or "not allowed" in step.result)
            return None if other else step.result
    return None


def _open(situation: Situation, calls: list[Call]) -> tuple[Call, ...]:
    """The calls of a list that can be made and were not made yet."""
    made = [(step.call.name, dict(step.call.args)) for step in situation.steps]
    return tuple(call for call in calls if call.name in situation.tools and (call.name, dict(call.args)) not in made)


def _listed(names: list[Any]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
