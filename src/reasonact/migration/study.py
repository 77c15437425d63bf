"""What is known of one file while the checker goes over it, and the findings so far.

The file is gone over again and again until nothing new is learned: sets of values only
grow, so that what a function returns reaches calls that stand before it.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import libcst as cst

from reasonact.migration.finding import Edit, Finding, Place
from reasonact.migration.rules import RULES, Target, matters
from reasonact.migration.values import NOTHING, Kind, Line, Values

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class SourceText:
    """A text and where its nodes stand in it.

    Args:
        text: The text.
        positions: Node to its place, as libcst knows it.
    """

    def __init__(self, text: str, positions: Mapping[Any, Any]) -> None:
        self.text = text
        self._positions = positions
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def span(self, node: Any) -> tuple[int, int]:
        """The first character of a node, and the one after its last."""
        where = self._positions[node]
        return (self._offset(where.start.line, where.start.column), self._offset(where.end.line, where.end.column))

    def of(self, node: Any) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def place(self, offset: int) -> Place:
        """The line and column of a character."""
        line = bisect.bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1] + 1)

    def offset(self, place: Place) -> int:
        """The character at a line and column."""
        return self._offset(place.line, place.column - 1)

    def edit(self, node: Any, new: str, last: Any = None) -> Edit:
        """An edit that puts another text in a node's place, or from it to the end of a later one."""
        start, end = self.span(node)
        if last is not None:
            end = self.span(last)[1]
        return Edit(self.place(start), self.place(end), self.text[start:end], new)

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column


@dataclass
class FunctionFacts:
    """A function of the file.

    Args:
        node: The function.
        names: Its positional parameters in order, ``self`` included.
        owner: The id of its class.
        params: What its parameters may be.
        returns: What it may return.
        grown: The parameters that it passes on as the history of a run.
    """

    node: Any
    names: list[str]
    owner: int | None = None
    params: dict[str, Values] = field(default_factory=dict)
    returns: Values = NOTHING
    grown: set[str] = field(default_factory=set)


@dataclass
class ClassFacts:
    """A class of the file.

    Args:
        node: The class.
        bases: What its bases may be.
        kind: The agent that it is a subclass of.
        attributes: What its attributes may be, on the class or on its objects.
        methods: The ids of its functions by name.
        fields: The fields that it declares as a signature: name to ``input`` or ``output``.
    """

    node: Any
    bases: Values = NOTHING
    kind: Kind | None = None
    attributes: dict[str, Values] = field(default_factory=dict)
    methods: dict[str, int] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Binding:
    """An import of DSPy, or of this library, and how the file uses it.

    Args:
        form: ``module`` for ``import dspy``, ``deep`` for ``import dspy.x``, ``from`` for
            ``from dspy.x import y``.
        line: What it brings in.
        path: The path below it.
        statement: The import, or the one alias of it.
        alias: The alias node.
        name: The name it is bound to.
        uncertain: Whether the file uses it in a way that no rewriting can follow.
        names: The public names that the file takes from it.
        old_names: Where the file takes ``ReActV2`` from it: the expression, and the name in it.
    """

    form: Literal["module", "deep", "from"]
    line: Line
    path: str
    statement: Any
    alias: Any
    name: str
    uncertain: bool = False
    names: set[str] = field(default_factory=set)
    old_names: dict[int, tuple[Any, Any]] = field(default_factory=dict)


class Study:
    """One file under study.

    Args:
        file: Its name in the findings.
        source: Its text.
        target: Where the program moves to.
    """

    def __init__(self, file: str, source: SourceText, target: Target) -> None:
        self.file = file
        self.source = source
        self.target: Target = target
        self.functions: dict[int, FunctionFacts] = {}
        self.classes: dict[int, ClassFacts] = {}
        self.scopes: dict[int, dict[str, Values]] = {}
        self.shared: set[tuple[int, str]] = set()
        self.loose: dict[str, Values] = {}
        self.bindings: dict[tuple[int, str], Binding] = {}
        self.kinds: set[Kind] = set()
        self.mentions: set[str] = set()
        self.loose_keys: dict[int, Any] = {}
        self.histories: dict[int, tuple[Any, Any]] = {}
        self.stands_in = False
        self.grows_in_place = False
        self.changed = True
        self._found: dict[tuple[str, int], Finding] = {}

    def report(self, code: str, node: Any, /, *, edits: Iterable[Edit] = (), **names: str) -> None:
        """Note a finding, once for each kind and place.

        What may be either of two things is only settled by what settles both.

        Args:
            code: A key of `RULES`.
            node: What it is about.
            edits: What settles it.
            **names: What the rule's texts ask for.
        """
        before = self._found.get((code, self.source.span(node)[0]))
        if before is None or before.fixable:
            self.conclude(code, node, edits=edits, **names)

    def conclude(self, code: str, node: Any, /, *, edits: Iterable[Edit] = (), **names: str) -> None:
        """As `report`, in place of what was noted before."""
        start, _ = self.source.span(node)
        if not matters(code, self.target):
            return
        rule, place, settled = RULES[code], self.source.place(start), tuple(edits)
        self._found[code, start] = Finding(
            file=self.file,
            line=place.line,
            column=place.column,
            code=code,
            what=rule.what.format(**names),
            write=rule.write.format(**names),
            fixable=bool(settled),
            edits=settled,
        )

    @property
    def findings(self) -> list[Finding]:
        """The findings so far."""
        return list(self._found.values())

    def has(self, code: str) -> bool:
        """Whether there is a finding of a kind."""
        return any(found == code for found, _ in self._found)

    def learn(self, table: dict[str, Values], key: str, values: Values) -> None:
        """Add to what a name may stand for.

        Args:
            table: The table that holds it.
            key: The name.
            values: What it may be, too.
        """
        before = table.get(key, NOTHING)
        if not values <= before:
            table[key] = before | values
            self.changed = True


class Scope:
    """The names of a function, a class or the file, as they stand at one point of it.

    Args:
        study: The study.
        node: The function, class or file.
        parent: The scope around it.
        is_class: Whether its names are hidden from functions in it.
        inline: Whether its body runs where it stands, as a comprehension's does.
    """

    def __init__(
        self, study: Study, node: Any, parent: Scope | None = None, *, is_class: bool = False, inline: bool = False
    ) -> None:
        self.study = study
        self.node = node
        self.parent = parent
        self.is_class = is_class
        self.inline = inline
        self.now: dict[str, Values] = {}
        self.ever = study.scopes.setdefault(id(node), {})
        self.elsewhere: dict[str, Scope] = {}

    def look_up(self, name: str) -> Values:
        """What a name may be here."""
        if name in self.elsewhere:
            return self.elsewhere[name].ever.get(name, NOTHING)
        if name in self.now:
            shared = (id(self.node), name) in self.study.shared
            return self.now[name] | self.ever.get(name, NOTHING) if shared else self.now[name]
        if self.parent is None:
            return NOTHING
        if self.inline:
            return self.parent.look_up(name)
        return self.parent.look_up_from_within(name)

    def look_up_from_within(self, name: str) -> Values:
        """What a name may be in a function of this scope, which runs at any time."""
        if not self.is_class and name in self.ever:
            return self.ever[name]
        return self.parent.look_up_from_within(name) if self.parent is not None else NOTHING

    def bind(self, name: str, values: Values) -> None:
        """Give a name another value."""
        scope = self.elsewhere.get(name, self)
        if scope is self:
            self.now[name] = values
        elif (id(scope.node), name) not in self.study.shared:
            self.study.shared.add((id(scope.node), name))  # another function changes it at any time
            self.study.changed = True
        self.study.learn(scope.ever, name, values)
        if name not in scope.ever:
            scope.ever[name] = NOTHING

    @property
    def function(self) -> FunctionFacts | None:
        """The function whose body this is, comprehensions in it included."""
        scope: Scope | None = self
        while scope is not None and scope.inline:
            scope = scope.parent
        return self.study.functions.get(id(scope.node)) if scope is not None else None

    @property
    def file(self) -> Scope:
        """The scope of the file."""
        return self if self.parent is None else self.parent.file


def dotted(node: Any) -> str | None:
    """A chain of names as text, ``self.agents["a"].last``; None for any other expression.

    Args:
        node: An expression.
    """
    if isinstance(node, cst.Name):
        return str(node.value)
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    if isinstance(node, cst.Subscript):
        base, key = dotted(node.value), literal_key(node)
        return None if base is None or key is None else f"{base}[{key!r}]"
    return None


def literal_key(node: Any) -> str | None:
    """The text between the brackets of a subscript, where it is a plain string."""
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    return literal_text(node.slice[0].slice.value)


def literal_text(node: Any) -> str | None:
    """The value of a plain string; None for anything else."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)):
        value = node.evaluated_value
        return value if isinstance(value, str) else None
    return None
