"""Going over a file, statement by statement: names change their values in order, branches meet again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import libcst as cst

from reasonact.migration.annotations import annotate_parameters, annotated
from reasonact.migration.calls import class_of_agent
from reasonact.migration.expressions import (
    assign,
    bind_parameters,
    elements,
    evaluate,
    function_facts,
    give_back,
)
from reasonact.migration.imports import import_from, import_names
from reasonact.migration.members import override
from reasonact.migration.study import ClassFacts, Scope, Study
from reasonact.migration.values import (
    NOTHING,
    Agent,
    FileClass,
    FileFunction,
    Instance,
    Public,
    Values,
)

_MAX_ROUNDS: Final = 12
_FIELDS: Final[Mapping[str, str]] = {"InputField": "input", "OutputField": "output"}


def go_over(study: Study, module: Any) -> None:
    """Go over a file until nothing new is learned.

    Args:
        study: The study, which takes up what is found.
        module: The file's tree.
    """
    for _ in range(_MAX_ROUNDS):
        if not study.changed:
            return
        study.changed = False
        _block(study, Scope(study, module), module.body)


def _block(study: Study, scope: Scope, statements: Iterable[Any]) -> None:
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                _statement(study, scope, small)
        else:
            _statement(study, scope, statement)


def _statement(study: Study, scope: Scope, node: Any) -> None:
    form = _FORMS.get(type(node))
    if form is not None:
        form(study, scope, node)
        return
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            evaluate(study, scope, child)


def _suite(study: Study, scope: Scope, body: Any) -> None:
    if isinstance(body, cst.SimpleStatementSuite):
        for small in body.body:
            _statement(study, scope, small)
    else:
        _block(study, scope, body.body)


def _branches(study: Study, scope: Scope, branches: Iterable[Callable[[], None]]) -> None:
    """Go one of several ways, each from the same start; afterwards a name may be what any way made it."""
    before = scope.now
    ends: list[dict[str, Values]] = []
    for branch in branches:
        scope.now = dict(before)
        branch()
        ends.append(scope.now)
    merged: dict[str, Values] = {}
    for end in ends:
        for name, values in end.items():
            merged[name] = merged.get(name, NOTHING) | values
    scope.now = merged


def _assign(study: Study, scope: Scope, node: Any) -> None:
    values = evaluate(study, scope, node.value)
    for target in node.targets:
        assign(study, scope, target.target, values, node.value)


def _ann_assign(study: Study, scope: Scope, node: Any) -> None:
    values = annotated(study, scope, node.annotation.annotation)
    if node.value is not None:
        values |= evaluate(study, scope, node.value)
        _declared(study, scope, node)
    assign(study, scope, node.target, values, node.value)


def _declared(study: Study, scope: Scope, node: Any) -> None:
    """A field of a signature, where the class body declares one."""
    facts = study.classes.get(id(scope.node))
    if facts is None or not isinstance(node.target, cst.Name) or not isinstance(node.value, cst.Call):
        return
    for value in evaluate(study, scope, node.value.func):
        if isinstance(value, Public) and value.name in _FIELDS:
            facts.fields[node.target.value] = _FIELDS[value.name]


def _aug_assign(study: Study, scope: Scope, node: Any) -> None:
    before = evaluate(study, scope, node.target)
    assign(study, scope, node.target, before | evaluate(study, scope, node.value))


def _delete(study: Study, scope: Scope, node: Any) -> None:
    evaluate(study, scope, node.target)


def _return(study: Study, scope: Scope, node: Any) -> None:
    if node.value is not None:
        give_back(study, scope, evaluate(study, scope, node.value))


def _global(study: Study, scope: Scope, node: Any) -> None:
    for item in node.names:
        scope.elsewhere[item.name.value] = scope.file


def _nonlocal(study: Study, scope: Scope, node: Any) -> None:
    for item in node.names:
        name = item.name.value
        outer = scope.parent
        while outer is not None and (outer.is_class or name not in outer.ever) and outer.parent is not None:
            outer = outer.parent
        if outer is not None:
            scope.elsewhere[name] = outer


def _if(study: Study, scope: Scope, node: Any) -> None:
    evaluate(study, scope, node.test)
    other = node.orelse

    def otherwise() -> None:
        if isinstance(other, cst.If):
            _if(study, scope, other)
        elif other is not None:
            _suite(study, scope, other.body)

    _branches(study, scope, (lambda: _suite(study, scope, node.body), otherwise))


def _for(study: Study, scope: Scope, node: Any) -> None:
    values = elements(evaluate(study, scope, node.iter))

    def around() -> None:
        for _ in range(2):  # what the end of the body leaves reaches its start
            assign(study, scope, node.target, values)
            _suite(study, scope, node.body)

    _loop(study, scope, node, around)


def _while(study: Study, scope: Scope, node: Any) -> None:
    evaluate(study, scope, node.test)

    def around() -> None:
        for _ in range(2):
            _suite(study, scope, node.body)
            evaluate(study, scope, node.test)

    _loop(study, scope, node, around)


def _loop(study: Study, scope: Scope, node: Any, around: Callable[[], None]) -> None:
    _branches(study, scope, (around, lambda: None))
    if node.orelse is not None:
        _suite(study, scope, node.orelse.body)


def _try(study: Study, scope: Scope, node: Any) -> None:
    _branches(study, scope, (lambda: _suite(study, scope, node.body), lambda: None))

    def handled(handler: Any) -> None:
        if handler.type is not None:
            evaluate(study, scope, handler.type)
        if handler.name is not None:
            assign(study, scope, handler.name.name, NOTHING)
        _suite(study, scope, handler.body)

    def undisturbed() -> None:
        if node.orelse is not None:
            _suite(study, scope, node.orelse.body)

    ways: list[Callable[[], None]] = [undisturbed]
    ways.extend(_with(handled, handler) for handler in node.handlers)
    _branches(study, scope, ways)
    if node.finalbody is not None:
        _suite(study, scope, node.finalbody.body)


def _with(function: Callable[[Any], None], argument: Any) -> Callable[[], None]:
    return lambda: function(argument)


def _with_block(study: Study, scope: Scope, node: Any) -> None:
    for item in node.items:
        values = evaluate(study, scope, item.item)
        if item.asname is not None:
            assign(study, scope, item.asname.name, values)
    _suite(study, scope, node.body)


def _match(study: Study, scope: Scope, node: Any) -> None:
    evaluate(study, scope, node.subject)

    def case(part: Any) -> None:
        if part.guard is not None:
            evaluate(study, scope, part.guard)
        _suite(study, scope, part.body)

    _branches(study, scope, [lambda: None, *(_with(case, part) for part in node.cases)])


def _function(study: Study, scope: Scope, node: Any) -> None:
    for decorator in node.decorators:
        evaluate(study, scope, decorator.decorator)
    owner = id(scope.node) if scope.is_class else None
    facts = function_facts(study, scope, node, owner)
    scope.bind(node.name.value, frozenset((FileFunction(id(node)),)))
    inner = Scope(study, node, scope)
    if owner is not None and facts.names:
        cls = study.classes[owner]
        cls.methods[node.name.value] = id(node)
        own: Agent | Instance = Instance(owner) if cls.kind is None else Agent(cls.kind, owner)
        study.learn(facts.params, facts.names[0], frozenset((own,)))
    annotate_parameters(study, scope, facts)
    bind_parameters(study, scope, inner, facts)
    if node.returns is not None:
        values = annotated(study, scope, node.returns.annotation)
        give_back(study, inner, frozenset(value for value in values if isinstance(value, (Agent, Instance))))
    _suite(study, inner, node.body)
    if owner is not None and any(_is_property(decorator) for decorator in node.decorators):
        cls = study.classes[owner]
        del cls.methods[node.name.value]
        study.learn(cls.attributes, node.name.value, facts.returns)


def _is_property(decorator: Any) -> bool:
    called = decorator.decorator
    return isinstance(called, cst.Name) and called.value in ("property", "cached_property")


def _class(study: Study, scope: Scope, node: Any) -> None:
    facts = study.classes.setdefault(id(node), ClassFacts(node))
    bases: Values = NOTHING
    for base in node.bases:
        bases |= evaluate(study, scope, base.value)
    if not bases <= facts.bases:
        facts.bases |= bases
        study.changed = True
    facts.kind = class_of_agent(facts, study)
    for decorator in node.decorators:
        evaluate(study, scope, decorator.decorator)
    inner = Scope(study, node, scope, is_class=True)
    _suite(study, inner, node.body)
    for name, values in inner.ever.items():
        study.learn(facts.attributes, name, frozenset(v for v in values if not isinstance(v, FileFunction)))
    if facts.kind is not None:
        study.kinds.add(facts.kind)
        _report_overrides(study, facts)
    scope.bind(node.name.value, frozenset((FileClass(id(node)),)))


def _report_overrides(study: Study, facts: ClassFacts) -> None:
    assert facts.kind is not None
    name = facts.node.name.value
    for method, function in facts.methods.items():
        override(study, facts.kind, method, study.functions[function].node.name, name)


_FORMS: Final[Mapping[type[Any], Callable[[Study, Scope, Any], None]]] = {
    cst.Import: import_names,
    cst.ImportFrom: import_from,
    cst.Assign: _assign,
    cst.AnnAssign: _ann_assign,
    cst.AugAssign: _aug_assign,
    cst.Del: _delete,
    cst.Return: _return,
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.With: _with_block,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
}
