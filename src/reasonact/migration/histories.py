"""Histories that a program uses again because a run has added to them.

DSPy's ReActV2 adds to the History that it is given. So a variable that was handed to a run
and is read afterwards, in order or around a loop, or at the function's next call, counts on
that, unless it was given another value between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import libcst as cst

from reasonact.migration.study import Study, dotted

_FUNCTIONS: Final = (cst.FunctionDef, cst.Lambda)
_LOOPS: Final = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
_STEPS: Final = (cst.Name, cst.Attribute, cst.Subscript)


@dataclass(frozen=True)
class _Event:
    """A variable is read, or gets a value."""

    node: Any
    stores: bool
    ways: tuple[tuple[int, int], ...]


def report_growth(study: Study, module: Any) -> None:
    """Note the histories that are used again.

    Args:
        study: The study, when the file has been gone over.
        module: The file's tree.
    """
    if study.grows_in_place or not study.histories:
        return
    parents: dict[int, Any] = {}
    waiting = [module]
    while waiting:
        node = waiting.pop()
        for child in node.children:
            parents[id(child)] = node
            waiting.append(child)
    for argument, call in study.histories.values():
        name = dotted(argument)
        if name is not None and _is_used_again(argument, call, name, parents):
            study.report("history-growth", argument, name=name)


def _is_used_again(argument: Any, call: Any, name: str, parents: dict[int, Any]) -> bool:
    around = list(_ancestors(argument, parents))
    function = next((node for node in around if isinstance(node, _FUNCTIONS)), around[-1])
    within = around[: around.index(function)]
    body = function.body if isinstance(function, cst.Module) else (function.body,)
    events = [event for part in body for event in _events(part, name, ())]
    place = next((number for number, event in enumerate(events) if event.node is argument), None)
    if place is None:
        return False
    here = events[place]
    inside_call = {id(node) for node in _nodes(call)}
    if not any(isinstance(node, cst.Return) for node in within):
        for event in events[place + 1 :]:
            if id(event.node) not in inside_call and not _exclude_each_other(here, event):
                return not event.stores
    loop = next((node for node in within if isinstance(node, _LOOPS)), None)
    if loop is not None:
        of_loop = {id(node) for node in _nodes(loop)}
        first = next(event for event in events if id(event.node) in of_loop)
        return not first.stores
    return isinstance(function, _FUNCTIONS) and _outlives(function, name, events) and not events[0].stores


def _outlives(function: Any, name: str, events: list[_Event]) -> bool:
    """Whether a variable keeps its value from one call of the function to the next."""
    root = name.partition(".")[0].partition("[")[0]
    if any(event.stores and dotted(event.node) == root for event in events):
        return False
    params = function.params
    own = {p.name.value for p in (*params.posonly_params, *params.params, *params.kwonly_params)}
    return name != root or root not in own


def _exclude_each_other(one: _Event, other: _Event) -> bool:
    """Whether two events stand in different branches of one statement."""
    ways = dict(one.ways)
    return any(branching in ways and ways[branching] != way for branching, way in other.ways)


def _ancestors(node: Any, parents: dict[int, Any]) -> Iterator[Any]:
    while id(node) in parents:
        node = parents[id(node)]
        yield node


def _nodes(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(part.children)


def _events(node: Any, name: str, ways: tuple[tuple[int, int], ...]) -> Iterator[_Event]:
    """What happens to a variable, in the order in which the program runs."""
    if isinstance(node, (*_FUNCTIONS, cst.ClassDef)):
        return
    if isinstance(node, _STEPS):
        if dotted(node) == name:
            yield _Event(node, False, ways)
            return
        if isinstance(node, cst.Name):
            return
    for child, stores, way in _parts(node):
        inner = ways if way is None else (*ways, (id(node), way))
        if stores:
            yield from _stores(child, name, inner)
        else:
            yield from _events(child, name, inner)


def _parts(node: Any) -> Iterator[tuple[Any, bool, int | None]]:
    """The parts of a node as they run: whether each is given a value, and which branch it is."""
    if isinstance(node, cst.Assign):
        yield node.value, False, None
        for target in node.targets:
            yield target.target, True, None
    elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)):
        if node.value is not None:
            yield node.value, False, None
            yield node.target, True, None
    elif isinstance(node, (cst.For, cst.CompFor)):
        yield node.iter, False, None
        yield node.target, True, None
        rest = (node.body, node.orelse) if isinstance(node, cst.For) else (*node.ifs, node.inner_for_in)
        yield from ((part, False, None) for part in rest if part is not None)
    elif isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
        yield node.for_in, False, None
        yield node.elt, False, None
    elif isinstance(node, cst.DictComp):
        yield node.for_in, False, None
        yield node.key, False, None
        yield node.value, False, None
    elif isinstance(node, (cst.If, cst.IfExp)):
        yield node.test, False, None
        yield node.body, False, 0
        if node.orelse is not None:
            yield node.orelse, False, 1
    elif isinstance(node, cst.Match):
        yield node.subject, False, None
        yield from ((case, False, number) for number, case in enumerate(node.cases))
    elif isinstance(node, (cst.Attribute, cst.Arg)):
        yield node.value, False, None
    elif isinstance(node, (cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal)):
        return
    else:
        yield from ((child, False, None) for child in node.children)


def _stores(target: Any, name: str, ways: tuple[tuple[int, int], ...]) -> Iterator[_Event]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _stores(element.value, name, ways)
        return
    given = dotted(target)
    if given is not None and (name == given or name.startswith((f"{given}.", f"{given}["))):
        yield _Event(target, True, ways)
    elif not isinstance(target, cst.Name):
        yield from _events(target, name, ways)
