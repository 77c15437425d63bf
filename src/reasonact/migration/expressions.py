"""What an expression may be, and what an assignment does to the names of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import libcst as cst

from reasonact.migration.calls import Argument, called
from reasonact.migration.members import KEY, attribute, item, override
from reasonact.migration.study import FunctionFacts, Scope, Study, dotted, literal_key, literal_text
from reasonact.migration.values import (
    NOTHING,
    Agent,
    FileClass,
    FileFunction,
    Instance,
    Namespace,
    Parent,
    Result,
    Several,
    Step,
    ToolTable,
    Trajectory,
    Values,
    agent_kind,
    items,
    several,
)

_NAMES_IN_TEXT: Final = ("__import__", "import_module", "importorskip", "patch", "setattr", "find_spec")
"""Functions that are told of a module by its name in a string."""


def evaluate(study: Study, scope: Scope, node: Any) -> Values:
    """What an expression may be, with the findings that it brings.

    Args:
        study: The study.
        scope: Where it stands.
        node: The expression.

    Returns:
        What it may be.
    """
    values = _evaluate(study, scope, node)
    for value in values:
        if isinstance(value, Namespace) and not value.path:
            study.bindings[value.binding].uncertain = True  # handed on, it may be asked for any name
    return values


def _evaluate(study: Study, scope: Scope, node: Any) -> Values:
    form = _FORMS.get(type(node))
    if form is not None:
        return form(study, scope, node)
    for child in _expressions_in(node):
        evaluate(study, scope, child)
    return NOTHING


def _expressions_in(node: Any) -> Iterator[Any]:
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            yield child
        elif not isinstance(child, (cst.BaseParenthesizableWhitespace, cst.Annotation)):
            yield from _expressions_in(child)


def _name(study: Study, scope: Scope, node: Any) -> Values:
    return scope.look_up(node.value)


def _attribute(study: Study, scope: Scope, node: Any) -> Values:
    owner = _evaluate(study, scope, node.value)
    found = attribute(study, owner, node.attr.value, node)
    return found | study.loose.get(dotted(node) or "", NOTHING)


def _subscript(study: Study, scope: Scope, node: Any) -> Values:
    owner = evaluate(study, scope, node.value)
    key_values: Values = NOTHING
    for part in node.slice:
        if isinstance(part.slice, cst.Index):
            key_values |= evaluate(study, scope, part.slice.value)
        else:
            for child in _expressions_in(part.slice):
                evaluate(study, scope, child)
    if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
        return owner
    key_node = node.slice[0].slice.value if isinstance(node.slice[0].slice, cst.Index) else node
    found = item(study, owner, literal_key(node), key_node, node)
    found |= study.loose.get(dotted(node) or "", NOTHING)
    return found


def _call(study: Study, scope: Scope, node: Any) -> Values:
    arguments = [
        Argument(
            argument.value,
            evaluate(study, scope, argument.value),
            None if argument.keyword is None else argument.keyword.value,
            argument.star,
        )
        for argument in node.args
    ]
    if any(a.keyword == "grow_history_in_place" and dotted(a.node) != "False" for a in arguments):
        study.grows_in_place = True
    name = dotted(node.func)
    if (name or "").rpartition(".")[2] in _NAMES_IN_TEXT and arguments:
        text = literal_text(arguments[0].node) or ""
        if text.partition(".")[0] == "dspy" and not study.stands_in:
            study.report("dspy-in-text", arguments[0].node, name=text)
    if name == "super":
        return _super(study, scope)
    if name == "getattr" and len(arguments) > 1:
        asked = literal_text(arguments[1].node)
        return NOTHING if asked is None else attribute(study, arguments[0].values, asked, node)
    function = _evaluate(study, scope, node.func)
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("append", "add", "appendleft", "put"):
        for argument in arguments:
            if argument.values:
                _add_to(study, scope, node.func.value, several(argument.values))
    return called(study, scope, function, arguments, node)


def _super(study: Study, scope: Scope) -> Values:
    facts = scope.function
    owner = study.classes.get(facts.owner) if facts is not None and facts.owner is not None else None
    if owner is None:
        return NOTHING
    found: Values = NOTHING
    for base in owner.bases:
        kind = agent_kind(base)
        if kind is not None:
            found |= frozenset((Parent(kind),))
        elif isinstance(base, FileClass):
            inner = study.classes[base.node].kind
            found |= frozenset((Instance(base.node) if inner is None else Agent(inner, base.node),))
    return found


def _string(study: Study, scope: Scope, node: Any) -> Values:
    text = literal_text(node)
    if text is not None and KEY.fullmatch(text):
        study.loose_keys[id(node)] = node
    elif text == "extract.predict":
        study.report("extractor", node, name=text)
    return NOTHING


def _formatted(study: Study, scope: Scope, node: Any) -> Values:
    first = node.parts[0] if node.parts else None
    if len(node.parts) == 2 and isinstance(first, cst.FormattedStringText) and KEY.fullmatch(first.value):
        study.loose_keys[id(node)] = node
    for child in _expressions_in(node):
        evaluate(study, scope, child)
    return NOTHING


def _comparison(study: Study, scope: Scope, node: Any) -> Values:
    # Whether a module is None tells nothing of the names that are taken from it.
    plain = all(isinstance(part.operator, (cst.Is, cst.IsNot)) for part in node.comparisons)
    read = _evaluate if plain else evaluate
    left, left_values = node.left, read(study, scope, node.left)
    for part in node.comparisons:
        right, right_values = part.comparator, read(study, scope, part.comparator)
        for literal, other, values in ((left, right, right_values), (right, left, left_values)):
            if literal_text(literal) != "finish":
                continue
            from_run = any(isinstance(value, (Step, ToolTable)) and value.kind == "trajectory" for value in values)
            kept = any(isinstance(value, (Step, ToolTable)) and value.kind == "kept" for value in values)
            if from_run or (not kept and _names_a_tool(study, other)):
                study.report("finish-tool", literal)
        left, left_values = right, right_values
    return NOTHING


def _names_a_tool(study: Study, node: Any) -> bool:
    """Whether an expression says that it is the name of a tool, in a program that has ReAct at most."""
    about = literal_text(node) is None and "tool" in study.source.of(node)
    return about and bool(study.bindings) and study.kinds <= {"trajectory"}


def _sides(study: Study, scope: Scope, node: Any) -> Values:
    return evaluate(study, scope, node.left) | evaluate(study, scope, node.right)


def _if_else(study: Study, scope: Scope, node: Any) -> Values:
    evaluate(study, scope, node.test)
    return evaluate(study, scope, node.body) | evaluate(study, scope, node.orelse)


def _inner(study: Study, scope: Scope, node: Any) -> Values:
    return evaluate(study, scope, node.expression)


def _display(study: Study, scope: Scope, node: Any) -> Values:
    found: Values = NOTHING
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            evaluate(study, scope, element.key)
        values = evaluate(study, scope, element.value)
        starred = isinstance(element, (cst.StarredElement, cst.StarredDictElement))
        found |= values if starred else several(values)
    return found


def _comprehension(study: Study, scope: Scope, node: Any) -> Values:
    inner = Scope(study, node, scope, inline=True)
    loop: Any = node.for_in
    while loop is not None:
        assign(study, inner, loop.target, elements(evaluate(study, inner, loop.iter)))
        for condition in loop.ifs:
            evaluate(study, inner, condition.test)
        loop = loop.inner_for_in
    if isinstance(node, cst.DictComp):
        evaluate(study, inner, node.key)
        return several(evaluate(study, inner, node.value))
    return several(evaluate(study, inner, node.elt))


def _lambda(study: Study, scope: Scope, node: Any) -> Values:
    facts = function_facts(study, scope, node, None)
    inner = Scope(study, node, scope)
    bind_parameters(study, scope, inner, facts)
    facts.returns = facts.returns | evaluate(study, inner, node.body)
    return frozenset((FileFunction(id(node)),))


def _named(study: Study, scope: Scope, node: Any) -> Values:
    values = evaluate(study, scope, node.value)
    target = scope
    while target.inline and target.parent is not None:
        target = target.parent
    assign(study, target, node.target, values)
    return values


def _yield(study: Study, scope: Scope, node: Any) -> Values:
    if node.value is None:
        return NOTHING
    is_from = isinstance(node.value, cst.From)
    values = evaluate(study, scope, node.value.item if is_from else node.value)
    give_back(study, scope, values if is_from else several(values))
    return NOTHING


_FORMS: Final[Mapping[type[Any], Callable[[Study, Scope, Any], Values]]] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.Call: _call,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _formatted,
    cst.Comparison: _comparison,
    cst.BooleanOperation: _sides,
    cst.BinaryOperation: _sides,
    cst.IfExp: _if_else,
    cst.Await: _inner,
    cst.List: _display,
    cst.Tuple: _display,
    cst.Set: _display,
    cst.Dict: _display,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _comprehension,
    cst.Lambda: _lambda,
    cst.NamedExpr: _named,
    cst.Yield: _yield,
}


def elements(values: Values) -> Values:
    """What going over a value gives."""
    found = items(values)
    for value in values:
        if isinstance(value, Trajectory):
            found |= frozenset((Step(value.kind),))
    return found


def give_back(study: Study, scope: Scope, values: Values) -> None:
    """Note what the function of a scope returns."""
    facts = scope.function
    if facts is not None and not values <= facts.returns:
        facts.returns = facts.returns | values
        study.changed = True


def assign(study: Study, scope: Scope, target: Any, values: Values, source: Any = None) -> None:
    """Give a target a value.

    Args:
        study: The study.
        scope: Where the assignment stands.
        target: A name, an attribute, an item, or several of them.
        values: What it is given.
        source: The expression that it is given, where there is one.
    """
    if isinstance(target, cst.Name):
        scope.bind(target.value, values)
        facts = study.classes.get(id(scope.node)) if scope.is_class else None
        if facts is not None and facts.kind is not None:
            override(study, facts.kind, target.value, target, facts.node.name.value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        _unpack(study, scope, target, values, source)
    elif isinstance(target, cst.StarredElement):
        assign(study, scope, target.value, several(values))
    elif isinstance(target, cst.Attribute):
        name = target.attr.value
        owners = _evaluate(study, scope, target.value)
        known = False
        for owner in owners:
            if isinstance(owner, Namespace):
                study.bindings[owner.binding].uncertain = True  # a name of the library is put in place of its own
            if isinstance(owner, Agent):
                override(study, owner.kind, name, target, f"an assignment to `{study.source.of(target)}`")
            if isinstance(owner, (FileClass, Instance, Agent)) and owner.node is not None:
                known = True
                study.learn(study.classes[owner.node].attributes, name, values)
        path = dotted(target)
        if not known and path is not None and values:
            study.learn(study.loose, path, values)
        if name in ("extract", "react"):
            attribute(study, frozenset(owner for owner in owners if isinstance(owner, Agent)), name, target)
    elif isinstance(target, cst.Subscript):
        _evaluate(study, scope, target)
        path = dotted(target)
        if path is not None and values:
            study.learn(study.loose, path, values)
        if values:
            _add_to(study, scope, target.value, several(values))


def _unpack(study: Study, scope: Scope, target: Any, values: Values, source: Any) -> None:
    parts = target.elements
    given = source.elements if isinstance(source, (cst.Tuple, cst.List)) else ()
    starred = any(isinstance(part, cst.StarredElement) for part in (*parts, *given))
    for index, part in enumerate(parts):
        inner = part if isinstance(part, cst.StarredElement) else part.value
        if len(given) == len(parts) and not starred:
            assign(study, scope, inner, evaluate(study, scope, given[index].value), given[index].value)
        else:
            # A pair from enumerate or items is taken apart like what it was made of.
            assign(
                study, scope, inner, elements(values) | frozenset(v for v in values if isinstance(v, (Agent, Result)))
            )


def _add_to(study: Study, scope: Scope, target: Any, values: Values) -> None:
    """Put something into a container that a name, or an attribute, stands for."""
    if isinstance(target, cst.Name):
        scope.bind(target.value, scope.look_up(target.value) | values)
    elif isinstance(target, cst.Attribute):
        before = frozenset(value for value in _evaluate(study, scope, target) if isinstance(value, Several))
        assign(study, scope, target, before | values)


def function_facts(study: Study, scope: Scope, node: Any, owner: int | None) -> FunctionFacts:
    """The facts of a function, made where it is met first."""
    parameters = [*node.params.posonly_params, *node.params.params]
    names = [parameter.name.value for parameter in parameters]
    return study.functions.setdefault(id(node), FunctionFacts(node, names, owner))


def bind_parameters(study: Study, scope: Scope, inner: Scope, facts: FunctionFacts) -> None:
    """Give a function's parameters what is known of them, at the start of its body.

    Args:
        study: The study.
        scope: Where the function stands; defaults belong there.
        inner: The scope of its body.
        facts: The function.
    """
    params = facts.node.params
    for parameter in (*params.posonly_params, *params.params, *params.kwonly_params):
        name = parameter.name.value
        if parameter.default is not None:
            study.learn(facts.params, name, evaluate(study, scope, parameter.default))
        facts.params.setdefault(name, NOTHING)
        inner.bind(name, facts.params[name])
    for starred in (params.star_arg, params.star_kwarg):
        if isinstance(starred, cst.Param):
            inner.bind(starred.name.value, NOTHING)
