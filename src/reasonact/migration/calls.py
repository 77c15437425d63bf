"""What a call gives, and what it does to what it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from reasonact.migration.members import method
from reasonact.migration.study import ClassFacts, FunctionFacts, Scope, Study, dotted, literal_text
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
    NamedTool,
    Parent,
    Past,
    Public,
    Result,
    Value,
    Values,
    agent_kind,
    items,
    several,
)

_RUNS: Final = ("forward", "aforward", "acall", "__call__", "resume", "aresume")
_COPIES: Final = ("deepcopy", "reset_copy", "copy")
_BATCHES: Final = ("batch", "abatch")

# Functions of others that give back what they are given, by the last part of their name.
_THROUGH: Final = frozenset(
    (
        *("run", "run_until_complete", "create_task", "ensure_future", "wait_for", "shield"),
        *("copy", "deepcopy", "compile", "cast"),
        *("dict", "list", "tuple", "set", "iter", "sorted", "reversed", "enumerate", "zip", "next"),
        *("asyncify", "syncify"),
    )
)
_GATHERS: Final = frozenset(("gather", "as_completed"))
_SUBMITS: Final = frozenset(("submit", "to_thread", "run_in_executor", "partial"))
_MAPS: Final = frozenset(("map",))

_RESERVED_INPUTS: Final = frozenset(("history", "tools", "tool_calls"))
_RESERVED_OUTPUTS: Final = frozenset(("history", "termination_reason", "tool_calls"))


@dataclass(frozen=True)
class Argument:
    """An argument of a call.

    Args:
        node: Its expression.
        values: What it may be.
        keyword: Its name, where it is given by name.
        star: ``*`` or ``**`` before it.
    """

    node: Any
    values: Values
    keyword: str | None = None
    star: str = ""


def called(study: Study, scope: Scope, function: Values, arguments: list[Argument], node: Any) -> Values:
    """What a call may give.

    Args:
        study: The study.
        scope: Where it stands.
        function: What is called.
        arguments: What it is given.
        node: The call.

    Returns:
        What it may give.
    """
    found: Values = NOTHING
    for value in function:
        found |= _called(study, scope, value, arguments, node)
    if not function:
        found = _through(study, scope, arguments, node)
    return found


def _called(study: Study, scope: Scope, value: Value, arguments: list[Argument], node: Any) -> Values:
    if isinstance(value, Public):
        return _of_library(study, scope, value, arguments, node)
    if isinstance(value, Member):
        is_past = value.owner.name == "History" and value.name in ("from_any", "model_validate", "model_construct")
        return frozenset((Past(),)) if is_past else NOTHING
    if isinstance(value, FileClass):
        return _made(study, scope, value, arguments, node)
    if isinstance(value, FileFunction):
        return _of_file(study, scope, value.node, arguments, 0)
    if isinstance(value, Bound):
        static = _is_static(study.functions[value.node])
        return _of_file(study, scope, value.node, arguments, 0 if static else 1)
    if isinstance(value, Agent):
        return _run(study, scope, value, "__call__", arguments, node)
    if isinstance(value, Instance):
        return _instance_called(study, scope, value, arguments)
    if isinstance(value, MethodOf):
        owner = value.owner
        if isinstance(owner, (Agent, Parent)):
            return _agent_method(study, scope, owner, value.name, arguments, node)
        key = literal_text(arguments[0].node) if arguments else None
        return method(study, value, key, [argument.node for argument in arguments], node)
    return NOTHING


def _of_library(study: Study, scope: Scope, value: Public, arguments: list[Argument], node: Any) -> Values:
    kind = agent_kind(value)
    if kind is not None:
        check_construction(study, kind, arguments)
        return frozenset((Agent(kind),))
    if value.name in ("History", "history_from_trajectory"):
        return frozenset((Past(),))
    if value.name in ("asyncify", "syncify") and arguments:
        return arguments[0].values
    if value.name == "Tool":
        name = literal_text(_argument(arguments, "name", 1))
        return frozenset((NamedTool(name),)) if name else arguments[0].values if arguments else NOTHING
    if value.name == "Evaluate":
        metric = _values(arguments, "metric", 1)
        results = tuple(frozenset((Result(kind),)) for kind in sorted(study.kinds))
        for function in metric:
            for result in results:
                if isinstance(function, FileFunction):
                    _give(study, study.functions[function.node], 1, result)
    return NOTHING


def _made(study: Study, scope: Scope, value: FileClass, arguments: list[Argument], node: Any) -> Values:
    facts = study.classes[value.node]
    made: Instance | Agent = Instance(value.node) if facts.kind is None else Agent(facts.kind, value.node)
    if "__init__" in facts.methods:
        _of_file(study, scope, facts.methods["__init__"], arguments, 1)
    elif facts.kind is not None:
        check_construction(study, facts.kind, arguments)
    return frozenset((made,))


def _of_file(study: Study, scope: Scope, function: int, arguments: list[Argument], first: int) -> Values:
    facts = study.functions[function]
    for parameter, argument in _paired(facts, arguments, first):
        study.learn(facts.params, parameter, argument.values)
        if parameter in facts.grown:
            _passed_as_history(study, scope, argument, argument.node)
    return facts.returns


def _paired(facts: FunctionFacts, arguments: list[Argument], first: int) -> Iterator[tuple[str, Argument]]:
    number = first
    for argument in arguments:
        if argument.star:
            number = len(facts.names) if argument.star == "*" else number
        elif argument.keyword is not None:
            yield argument.keyword, argument
        elif number < len(facts.names):
            yield facts.names[number], argument
            number += 1


def _instance_called(study: Study, scope: Scope, value: Instance, arguments: list[Argument]) -> Values:
    found: Values = NOTHING
    for name in ("__call__", "forward", "aforward"):
        function = _method(study, value.node, name)
        if function is not None:
            found |= _of_file(study, scope, function, arguments, 1)
    return found


def _agent_method(
    study: Study, scope: Scope, owner: Agent | Parent, name: str, arguments: list[Argument], node: Any
) -> Values:
    if isinstance(owner, Parent):
        if name == "__init__":
            check_construction(study, owner.kind, arguments)
            return NOTHING
        return _run(study, scope, Agent(owner.kind), name, arguments, node)
    if name in _COPIES:
        return frozenset((owner,))
    if name in _BATCHES:
        return several(_results(study, owner, "forward"))
    return _run(study, scope, owner, name, arguments, node) if name in _RUNS else NOTHING


def _run(study: Study, scope: Scope, agent: Agent, name: str, arguments: list[Argument], node: Any) -> Values:
    if name not in _RUNS:
        return NOTHING
    if agent.kind == "structured":
        for argument in arguments:
            if argument.keyword == "history":
                _passed_as_history(study, scope, argument, node)
    own = _own_run(study, agent)
    if own is not None:
        _of_file(study, scope, own, arguments, 1)
    return _results(study, agent, name)


def _results(study: Study, agent: Agent, name: str) -> Values:
    own = _own_run(study, agent)
    if own is not None:
        return study.functions[own].returns
    return frozenset((Result(agent.kind),))


def _own_run(study: Study, agent: Agent) -> int | None:
    """The forward that a subclass puts in the place of the agent's."""
    if agent.node is None:
        return None
    found = _method(study, agent.node, "forward")
    return _method(study, agent.node, "aforward") if found is None else found


def _method(study: Study, class_node: int, name: str, seen: frozenset[int] = frozenset()) -> int | None:
    facts = study.classes[class_node]
    if name in facts.methods:
        return facts.methods[name]
    for base in facts.bases:
        if isinstance(base, FileClass) and base.node not in seen:
            found = _method(study, base.node, name, seen | {class_node})
            if found is not None:
                return found
    return None


def _is_static(facts: FunctionFacts) -> bool:
    decorators = getattr(facts.node, "decorators", ())
    return any(dotted(decorator.decorator) == "staticmethod" for decorator in decorators)


def _give(study: Study, facts: FunctionFacts, number: int, values: Values) -> None:
    if number < len(facts.names):
        study.learn(facts.params, facts.names[number], values)


def _through(study: Study, scope: Scope, arguments: list[Argument], node: Any) -> Values:
    """What a function of others gives: for a few of them, what they were given."""
    last = (dotted(node.func) or "").rpartition(".")[2]
    given: Values = NOTHING
    for argument in arguments:
        given |= argument.values
    if last in _THROUGH:
        return given
    if last in _GATHERS:
        return several(frozenset().union(*(items(argument.values) or argument.values for argument in arguments)))
    if last in _SUBMITS or last in _MAPS:
        start = 1 if last == "run_in_executor" else 0
        callables = arguments[start].values if len(arguments) > start else NOTHING
        if last == "partial":
            return callables
        rest = arguments[start + 1 :]
        if last in _MAPS:
            rest = [Argument(argument.node, items(argument.values)) for argument in rest]
            return several(called(study, scope, callables, rest, node)) if callables else NOTHING
        return called(study, scope, callables, rest, node) if callables else NOTHING
    return NOTHING


def check_construction(study: Study, kind: Kind, arguments: list[Argument]) -> None:
    """Note what an agent is given that the other one refuses.

    Args:
        study: The study.
        kind: The agent.
        arguments: What its constructor is given.
    """
    study.kinds.add(kind)
    tools = _argument(arguments, "tools", 1)
    for value in items(_values(arguments, "tools", 1)):
        name = _tool_name(study, value)
        if name == "finish" and kind != "structured":
            study.report("own-finish-tool", tools)
        if name == "submit" and kind != "kept":
            study.report("submit-tool", tools)
    if kind == "kept":
        return
    signature = _argument(arguments, "signature", 0)
    if signature is None:
        return
    text = literal_text(signature)
    fields = _fields(text) if text is not None else {}
    for value in _values(arguments, "signature", 0):
        if isinstance(value, FileClass):
            fields = study.classes[value.node].fields
    taken = {"input": _RESERVED_INPUTS, "output": _RESERVED_OUTPUTS}
    names = [name for name, role in fields.items() if name in taken[role]]
    if names:
        hint = "; a conversation is passed as `history=` without a field" if "history" in names else ""
        study.report("reserved-field", signature, names=", ".join(f"`{name}`" for name in names), hint=hint)


def _fields(signature: str) -> dict[str, str]:
    inputs, _, outputs = signature.partition("->")
    found = {}
    for text, role in ((inputs, "input"), (outputs, "output")):
        flat = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", text))
        found.update({part.partition(":")[0].strip(): role for part in flat.split(",")})
    return found


def _tool_name(study: Study, value: Value) -> str | None:
    if isinstance(value, NamedTool):
        return value.name
    if isinstance(value, (FileFunction, Bound)):
        name = getattr(study.functions[value.node].node, "name", None)
        return None if name is None else str(name.value)
    return None


def _argument(arguments: list[Argument], keyword: str, number: int) -> Any:
    found = _find(arguments, keyword, number)
    return None if found is None else found.node


def _values(arguments: list[Argument], keyword: str, number: int) -> Values:
    found = _find(arguments, keyword, number)
    return NOTHING if found is None else found.values


def _find(arguments: list[Argument], keyword: str, number: int) -> Argument | None:
    plain = [argument for argument in arguments if argument.keyword is None]
    named = [argument for argument in arguments if argument.keyword == keyword]
    if named:
        return named[0]
    return plain[number] if number < len(plain) and not any(argument.star for argument in plain[: number + 1]) else None


def _passed_as_history(study: Study, scope: Scope, argument: Argument, node: Any) -> None:
    """Note a history that is handed to a run, which in DSPy adds to it."""
    name = dotted(argument.node)
    facts = scope.function
    if name is None:
        return
    if facts is not None and name in facts.params and name not in facts.grown:
        facts.grown.add(name)
        study.changed = True
    if Past() in argument.values:
        study.histories[id(argument.node)] = (argument.node, node)


def class_of_agent(facts: ClassFacts, study: Study) -> Kind | None:
    """The agent that a class is one of, by its bases.

    Args:
        facts: The class.
        study: The study.
    """
    for base in facts.bases:
        kind = study.classes[base.node].kind if isinstance(base, FileClass) else agent_kind(base)
        if kind is not None:
            return kind
    return None
