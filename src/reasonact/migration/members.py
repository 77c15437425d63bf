"""What an attribute, or an item, of a known value is; and what is said of reading it."""

from __future__ import annotations

import re
from typing import Any, Final

from reasonact.migration.namespaces import taken
from reasonact.migration.study import Study
from reasonact.migration.values import (
    NOTHING,
    Agent,
    Bound,
    FileClass,
    FileFunction,
    Instance,
    Kind,
    Member,
    MethodOf,
    Namespace,
    Parent,
    Past,
    Public,
    Result,
    Several,
    Step,
    ToolTable,
    Trajectory,
    Value,
    Values,
    items,
    several,
)

KEY: Final = re.compile(r"(thought|tool_name|tool_args|observation)_(\d+|\{\w*\}|%[ds])?")
"""A trajectory's key, as a program writes it: whole, as a template, or up to the number."""

_EXTRACTORS: Final = ("extract", "extract_module")
_PREDICTORS: Final = ("react", "react_module")
_OVERRIDES: Final = {
    "truncate_trajectory": "override-truncate",
    "_format_trajectory": "override-format",
    "forward": "override-forward",
    "aforward": "override-forward",
}


def attribute(study: Study, values: Values, name: str, node: Any) -> Values:
    """What an attribute may be.

    Args:
        study: The study.
        values: What its owner may be.
        name: The attribute.
        node: The whole expression.

    Returns:
        What it may be.
    """
    found: Values = NOTHING
    for value in values:
        found |= _attribute(study, value, name, node)
    return found


def _attribute(study: Study, value: Value, name: str, node: Any) -> Values:
    if isinstance(value, Namespace):
        return taken(study, value, name, node)
    if isinstance(value, Public):
        return frozenset((Member(value, name),))
    if isinstance(value, Result):
        return _of_result(study, value.kind, name, node) or frozenset((MethodOf(value, name),))
    if isinstance(value, Agent):
        return _of_agent(study, value, name, node)
    if isinstance(value, Instance):
        return _of_class(study, value, value.node, name)
    if isinstance(value, FileClass):
        facts = study.classes[value.node]
        method = facts.methods.get(name)
        return facts.attributes.get(name, NOTHING) | (frozenset((FileFunction(method),)) if method else NOTHING)
    if isinstance(value, (Trajectory, ToolTable, Parent, Several)):
        return frozenset((MethodOf(value, name),))
    return NOTHING


def _of_agent(study: Study, agent: Agent, name: str, node: Any) -> Values:
    if agent.node is not None:
        own = _of_class(study, agent, agent.node, name)
        if own:
            return own
    if name == "tools":
        return frozenset((ToolTable(agent.kind),))
    if agent.kind != "kept" and name in _EXTRACTORS:
        study.report("extractor", node, name=f".{name}")
        return NOTHING
    if agent.kind == "trajectory" and name in _PREDICTORS:
        study.report("react-predictor", node, name=f".{name}")
        return NOTHING
    return frozenset((MethodOf(agent, name),))


def _of_class(
    study: Study, owner: Instance | Agent, class_node: int, name: str, seen: frozenset[int] = frozenset()
) -> Values:
    facts = study.classes[class_node]
    found = facts.attributes.get(name, NOTHING)
    if name in facts.methods:
        found |= frozenset((Bound(owner, facts.methods[name]),))
    if found:
        return found
    for base in facts.bases:
        if isinstance(base, FileClass) and base.node not in seen:
            found |= _of_class(study, owner, base.node, name, seen | {class_node})
    return found


def _of_result(study: Study, kind: Kind, name: str, node: Any) -> Values:
    """A field of a result, by attribute or by key."""
    if name == "history":
        return frozenset((Past(),))
    if name == "trajectory":
        if kind != "kept":
            code = "trajectory-read" if kind == "trajectory" else "trajectory-view"
            study.report(code, node, name=study.source.of(node))
        return frozenset((Trajectory(kind),))
    if name == "reasoning" and kind == "trajectory":
        study.report("extractor", node, name=study.source.of(node))
    return NOTHING


def item(study: Study, values: Values, key: str | None, key_node: Any, node: Any) -> Values:
    """What ``owner[key]`` or ``owner.get(key)`` may be.

    Args:
        study: The study.
        values: What the owner may be.
        key: The key, where it is a plain string.
        key_node: The key's expression.
        node: The whole expression.

    Returns:
        What it may be.
    """
    found = items(values)
    for value in values:
        if isinstance(value, Result) and key is not None:
            found |= _of_result(study, value.kind, key, node)
        elif isinstance(value, Trajectory):
            if key is not None and KEY.fullmatch(key):
                trajectory_key(study, value.kind, key_node)
            found |= frozenset((Step(value.kind),))
        elif isinstance(value, ToolTable) and value.kind == "trajectory" and key == "finish":
            study.report("finish-tool", key_node)
    return found


def trajectory_key(study: Study, kind: Kind, node: Any) -> None:
    """Note a trajectory's key."""
    if kind != "kept":
        study.report("trajectory-key", node, name=study.source.of(node))


def method(study: Study, value: MethodOf, key: str | None, arguments: list[Any], node: Any) -> Values:
    """What calling a method of a known value gives.

    Args:
        study: The study.
        value: The method.
        key: Its first argument, where that is a plain string.
        arguments: The expressions of its arguments.
        node: The call.

    Returns:
        What it may be; nothing for the methods of agents, which run them.
    """
    owner, name = value.owner, value.name
    if name in ("get", "pop", "setdefault") and arguments:
        return (
            item(study, frozenset((owner,)), key, arguments[0], node)
            if not isinstance(owner, (Agent, Parent))
            else NOTHING
        )
    if isinstance(owner, Result):
        return frozenset((owner,)) if name in ("toDict", "copy", "items", "result") else NOTHING
    if isinstance(owner, Trajectory):
        return frozenset((owner,)) if name == "copy" else several(frozenset((Step(owner.kind),)))
    if isinstance(owner, Several):
        return frozenset((owner,))
    return NOTHING


def override(study: Study, kind: Kind, name: str, node: Any, where: str) -> None:
    """Note that a program puts its own method in the place of one of an agent's.

    Args:
        study: The study.
        kind: The agent.
        name: The method.
        node: Where it does.
        where: The class, or the object, in words.
    """
    code = _OVERRIDES.get(name)
    if code is None or kind == "kept" or (code == "override-forward" and kind == "structured"):
        return
    study.report(code, node, name=where, method=name)
