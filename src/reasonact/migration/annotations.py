"""What the annotation of a name says of it."""

from __future__ import annotations

from typing import Any

import libcst as cst

from reasonact.migration.expressions import evaluate
from reasonact.migration.study import FunctionFacts, Scope, Study, dotted
from reasonact.migration.values import NOTHING, Agent, FileClass, Instance, Public, Result, Values, agent_kind


def annotated(study: Study, scope: Scope, annotation: Any) -> Values:
    """What a name with an annotation may be.

    Args:
        study: The study.
        scope: Where it stands.
        annotation: The annotation's expression.

    Returns:
        An agent, a result, an object of a class of the file; nothing for other types.
    """
    found: Values = NOTHING
    for value in _types_in(study, scope, annotation):
        kind = agent_kind(value)
        if kind is not None:
            found |= frozenset((Agent(kind),))
        elif isinstance(value, Public) and value.name == "Prediction":
            found |= frozenset((Result("structured" if value.line in ("3.5", "3.6") else "trajectory"),))
        elif isinstance(value, FileClass):
            inner = study.classes[value.node].kind
            found |= frozenset((Instance(value.node) if inner is None else Agent(inner, value.node),))
    return found


def _types_in(study: Study, scope: Scope, node: Any) -> Values:
    if isinstance(node, (cst.Name, cst.Attribute)):
        return evaluate(study, scope, node)
    if isinstance(node, cst.BinaryOperation):
        return _types_in(study, scope, node.left) | _types_in(study, scope, node.right)
    if isinstance(node, cst.Subscript):
        evaluate(study, scope, node.value)
        last = (dotted(node.value) or "").rpartition(".")[2]
        found: Values = NOTHING
        for part in node.slice:
            if isinstance(part.slice, cst.Index):
                found |= _types_in(study, scope, part.slice.value)
        return found if last in ("Optional", "Union", "Annotated", "Final") else NOTHING
    return NOTHING


def annotate_parameters(study: Study, scope: Scope, facts: FunctionFacts) -> None:
    """Take up what a function's annotations say of its parameters.

    Args:
        study: The study.
        scope: Where the function stands.
        facts: The function.
    """
    params = facts.node.params
    for parameter in (*params.posonly_params, *params.params, *params.kwonly_params):
        if parameter.annotation is not None:
            values = annotated(study, scope, parameter.annotation.annotation)
            study.learn(facts.params, parameter.name.value, values)
