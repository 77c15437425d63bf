"""Names of the library in a program: what an attribute or an import of it is, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import libcst as cst

from reasonact import exports
from reasonact.migration.dspy_paths import PATHS, home
from reasonact.migration.lines import V36
from reasonact.migration.study import Binding, Study
from reasonact.migration.values import NOTHING, Line, Namespace, Public, Values

LINES: Final[Mapping[str, Line]] = MappingProxyType({"v34": "3.4", "v35": "3.5", "v36": "3.6"})

PARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "evaluate": ("Evaluate", "EvaluationResult"),
        "streaming": (
            "StatusMessage",
            "StatusMessageProvider",
            "StreamListener",
            "StreamResponse",
            "apply_sync_streaming",
        ),
        "utils": ("BaseCallback", "DummyLM", "with_callbacks"),
    }
)
"""Parts of DSPy that are parts of this library too, with their names."""

OLD_NAME: Final = next(iter(V36.gone))
"""The name that the structured agent has until 3.5."""

STAND_IN: Final = "put `import reasonact.as_dspy` before it, which serves this path"
_REAL: Final = "keep DSPy for it: `import dspy` beside `import reasonact`"


def part_of(name: str) -> str | None:
    """The module of this library from which a name of a deep path is imported.

    Args:
        name: The name.

    Returns:
        ``reasonact`` or one of its parts; None where only `as_dspy` serves it.
    """
    if home(name) == "reasonact":
        return "reasonact"
    return next((f"reasonact.{part}" for part, names in PARTS.items() if name in names), None)


def taken(study: Study, space: Namespace, name: str, node: Any) -> Values:
    """What ``space.name`` is, with the findings that it brings.

    Args:
        study: The study.
        space: The library, or a path of it.
        name: The attribute.
        node: The whole expression.

    Returns:
        What it stands for.
    """
    if space.path:
        return _from_path(study, space, name, node)
    binding = study.bindings[space.binding]
    if space.line != "dspy" and name in LINES:
        return line_of(study, binding, name)
    if name in exports.NAMES:
        binding.names.add(name)
        study.mentions.add(name)
        if name == OLD_NAME:
            renamed(study, space.line, node)
            binding.old_names[id(node.attr)] = (node, node.attr)
        return frozenset((Public(space.line, name),))
    if name in PARTS or (space.line != "dspy" and name in exports.SUBMODULES):
        return frozenset((Namespace(space.line, name, space.binding),))
    if space.line == "dspy" and name in PATHS:
        return frozenset((Namespace(space.line, name, space.binding),))
    binding.uncertain = True
    refused(study, space.line, name, node)
    return NOTHING


def renamed(study: Study, line: Line, node: Any) -> None:
    """Note a use of the name ReActV2. What settles it is only known at the end."""
    new = "write `ReAct`"
    if line not in ("3.5", "3.6"):
        new = "import `reasonact.v35`, where it is `ReAct`, and the ReAct of 3.4 is `TrajectoryReAct`"
    study.report("react-v2-name", node, new=new)


def refused(study: Study, line: Line, name: str, node: Any) -> None:
    """Note a name of DSPy that is not here."""
    if name in exports.NOT_OURS:
        study.report("not-ours", node, name=name, reason=exports.NOT_OURS[name], new=_REAL)
    elif line == "dspy" and not name.startswith("_"):
        study.report("not-ours", node, name=name, reason="it is no name of this library", new=_REAL)


def line_of(study: Study, binding: Binding, name: str) -> Values:
    """A line that is taken from the package root.

    Args:
        study: The study.
        binding: The import of the root.
        name: ``v34``, ``v35`` or ``v36``.

    Returns:
        The line, with a binding of its own.
    """
    key = (id(binding.alias), name)
    own = Binding("module", LINES[name], "", binding.statement, binding.alias, binding.name)
    study.bindings.setdefault(key, own)
    return frozenset((Namespace(LINES[name], "", key),))


def _from_path(study: Study, space: Namespace, name: str, node: Any) -> Values:
    deeper = f"{space.path}.{name}"
    if name in PATHS.get(space.path, ()) or name in PARTS.get(space.path, ()):
        study.mentions.add(name)
        if space.line == "dspy" and name not in PARTS.get(space.path, ()):
            _report_path(study, space, name, node)
        return frozenset((Public(space.line, name),))
    if space.line != "dspy" or deeper in PATHS:
        return frozenset((Namespace(space.line, deeper, space.binding),))
    study.bindings[space.binding].uncertain = True
    refused(study, "dspy", deeper, node)
    return NOTHING


def _report_path(study: Study, space: Namespace, name: str, node: Any) -> None:
    if study.stands_in:
        return
    root: Any = node
    while isinstance(root, cst.Attribute):
        root = root.value
    binding = study.bindings[space.binding]
    plain = binding.form == "module" and not binding.path and isinstance(root, cst.Name)
    if plain and home(name) == "reasonact":
        binding.names.add(name)
        new = f"{root.value}.{name}"
        edits = (study.source.edit(node, new),)
        study.report("deep-path", node, old=study.source.of(node), new=f"write `{new}`", edits=edits)
        return
    binding.uncertain = True
    study.report("deep-path", node, old=study.source.of(node), new=STAND_IN)
