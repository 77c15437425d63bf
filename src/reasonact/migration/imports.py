"""The imports of a program: what they bind, and what to write in their place.

Imports are rewritten all together or not at all: half of a program on DSPy's classes and
half on this library's would be another program.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from reasonact import exports
from reasonact.migration.dspy_paths import PATHS
from reasonact.migration.finding import Edit
from reasonact.migration.namespaces import LINES, OLD_NAME, PARTS, STAND_IN, line_of, part_of, refused, renamed
from reasonact.migration.rules import matters
from reasonact.migration.study import Binding, Scope, Study, dotted
from reasonact.migration.values import NOTHING, Line, Namespace, Public, Values

_NEW_LINE = "reasonact.v35"


def import_names(study: Study, scope: Scope, statement: Any) -> None:
    """Bind what ``import ...`` brings in.

    Args:
        study: The study.
        scope: Where it stands.
        statement: The import.
    """
    for alias in statement.names:
        module = dotted(alias.name) or ""
        found = _library(module)
        if module == "reasonact.as_dspy":
            study.stands_in = True
        bound = _bound_name(alias)
        if found is None:
            scope.bind(bound, NOTHING)
            continue
        line, path = found
        if alias.asname is None and "." in module:
            line, root_path = ("dspy" if module.startswith("dspy") else "3.4"), ""
        else:
            root_path = path
        binding = _binding(study, "deep" if path and line == "dspy" else "module", line, path, statement, alias, bound)
        scope.bind(bound, frozenset((Namespace(line, root_path, (id(binding.alias), "")),)))
        if line == "dspy" and path:
            if path not in PATHS:
                refused(study, "dspy", path, alias.name)
            elif not study.stands_in:
                study.report("deep-path", alias, old=study.source.of(alias.name), new=STAND_IN)


def import_from(study: Study, scope: Scope, statement: Any) -> None:
    """Bind what ``from ... import ...`` brings in.

    Args:
        study: The study.
        scope: Where it stands.
        statement: The import.
    """
    found = None if statement.relative or statement.module is None else _library(dotted(statement.module) or "")
    if isinstance(statement.names, cst.ImportStar):
        if found is not None:
            binding = _binding(study, "from", *found, statement, statement, "*")
            binding.uncertain = True
            for name in exports.NAMES if not found[1] else PATHS.get(found[1], ()):
                scope.bind(name, frozenset((Public(found[0], name),)))
        return
    for alias in statement.names:
        name, bound = str(alias.name.value), _bound_name(alias)
        if found is None:
            scope.bind(bound, NOTHING)
            continue
        scope.bind(bound, _imported(study, *found, name, bound, statement, alias))


def _imported(study: Study, line: Line, path: str, name: str, bound: str, statement: Any, alias: Any) -> Values:
    binding = _binding(study, "from", line, path, statement, alias, bound)
    study.mentions.add(name)
    if line != "dspy" and not path and name in LINES:
        return line_of(study, binding, name)
    if name == "as_dspy" and line != "dspy" and not path:
        study.stands_in = True
        return NOTHING
    known = exports.NAMES if not path else (*PATHS.get(path, ()), *PARTS.get(path, ()))
    if name in known:
        binding.names.add(name)
        if name == OLD_NAME:
            renamed(study, line, alias)
            binding.old_names[id(alias.name)] = (alias, alias.name)
        return frozenset((Public(line, name),))
    deeper = f"{path}.{name}" if path else name
    if deeper in PATHS or line != "dspy":
        if line == "dspy" and deeper not in PARTS and not study.stands_in:
            binding.uncertain = True
            study.report("deep-path", alias, old=f"dspy.{deeper}", new=STAND_IN)
        return frozenset((Namespace(line, deeper, (id(alias), "")),))
    binding.uncertain = True
    refused(study, line, deeper if path and path not in PATHS else name, alias)
    return NOTHING


def settle_imports(study: Study) -> None:
    """Note the imports of DSPy, and the uses of ReActV2 that a change of line settles.

    Args:
        study: The study, when the file has been gone over.
    """
    bindings = list(study.bindings.values())
    blocked = any(binding.uncertain or binding.form == "deep" for binding in bindings if binding.line == "dspy")
    counts_on_dspy = any(study.has(code) for code in ("history-growth", "own-finish-tool", "dspy-in-text"))
    certain = not blocked and not counts_on_dspy
    ours = [binding for binding in bindings if binding.line in ("dspy", "3.4") and binding.names]
    names = {name for binding in ours for name in binding.names}
    moves = matters("react-v2-name", study.target) and OLD_NAME in names and "ReAct" not in names and certain
    moves = moves and not any(binding.uncertain for binding in bindings) and _movable(ours)
    library = _NEW_LINE if moves else "reasonact"
    seen: set[int] = set()
    for binding in bindings:
        if moves and binding.line in ("dspy", "3.4"):
            _report_moved(study, binding, library)
        elif binding.line in ("3.5", "3.6") and not binding.uncertain:
            _report_names(study, binding, [])
        if binding.line != "dspy" or study.stands_in or binding.form == "deep" or id(binding.statement) in seen:
            continue
        seen.add(id(binding.statement))
        together = [other for other in bindings if other.statement is binding.statement]
        _report_import(study, binding, together, library, certain)


def _report_import(study: Study, binding: Binding, together: list[Binding], library: str, certain: bool) -> None:
    source = study.source
    if binding.form == "module":
        alias, new = binding.alias, f"{library} as {binding.name}"
        edit = source.edit(alias.name, new, None if alias.asname is None else alias.asname.name)
        edits = (edit,) if certain else ()
        study.report("import-dspy", alias, old=f"import {edit.old}", new=f"write `import {new}`", edits=edits)
        return
    statement = binding.statement
    if binding.path and binding.path not in PATHS:
        return  # its names have findings of their own
    code = "deep-path" if binding.path and binding.path not in PARTS else "import-dspy"
    old = f"from {source.of(statement.module)}"
    module = _one_module(binding.path, together)
    if module is None:
        study.report(code, statement, old=old, new=_where_each_is(together))
        return
    module = library if module == "reasonact" else module
    edits = (source.edit(statement.module, module),) if certain else ()
    study.report(code, statement, old=old, new=f"write `from {module} import ...`", edits=edits)


def _where_each_is(together: list[Binding]) -> str:
    """What to write for an import whose names are not all in one module of this library."""
    found: dict[str, list[str]] = {}
    for name in sorted({name for binding in together for name in binding.names}):
        found.setdefault(part_of(name) or "", []).append(name)
    elsewhere = found.pop("", [])
    ways = [f"`from {module} import {', '.join(names)}`" for module, names in found.items()]
    if elsewhere:
        ways.append(f"for {', '.join(elsewhere)} {STAND_IN}")
    return (
        f"write {', and '.join(ways)}"
        if ways and found
        else ways[0]
        if ways
        else "import each name that is here by name"
    )


def _one_module(path: str, together: list[Binding]) -> str | None:
    """The one module of this library that has all that an import names."""
    if any(binding.uncertain for binding in together):
        return None
    modules = {part_of(name) for binding in together for name in binding.names}
    modules |= {"reasonact" for binding in together if not binding.names and not path}  # `from dspy import utils`
    return next(iter(modules)) if len(modules) == 1 else None


def _movable(bindings: list[Binding]) -> bool:
    """Whether the imports that name the agents can be pointed at another line."""
    for binding in bindings:
        if binding.form == "module" and binding.line != "dspy" and binding.alias.asname is None:
            return False
        if binding.path and OLD_NAME in binding.names:
            return False
    return True


def _report_moved(study: Study, binding: Binding, library: str) -> None:
    """ReActV2 on the way to the line where it is ReAct: the import goes with the name."""
    edits: list[Edit] = []
    if binding.line == "3.4" and not binding.path:
        module = binding.alias.name if binding.form == "module" else binding.statement.module
        edits.append(study.source.edit(module, library))
    _report_names(study, binding, edits)


def _report_names(study: Study, binding: Binding, edits: list[Edit]) -> None:
    for place, name in binding.old_names.values():
        new = "ReAct"
        if binding.form == "from" and binding.alias.asname is None:
            new = f"ReAct as {OLD_NAME}"  # other files may import the name from this one
        every = (*edits, study.source.edit(name, new))
        study.conclude("react-v2-name", place, new=f"write `{new}`", edits=every)


def _binding(study: Study, form: Any, line: Line, path: str, statement: Any, alias: Any, name: str) -> Binding:
    return study.bindings.setdefault((id(alias), ""), Binding(form, line, path, statement, alias, name))


def _bound_name(alias: Any) -> str:
    if alias.asname is not None:
        return str(alias.asname.name.value)
    return (dotted(alias.name) or "").partition(".")[0]


def _library(module: str) -> tuple[Line, str] | None:
    """The line and path of a module of DSPy or of this library."""
    root, _, path = module.partition(".")
    if root == "dspy":
        return "dspy", path
    if root != "reasonact":
        return None
    first, _, rest = path.partition(".")
    return (LINES[first], rest) if first in LINES else ("3.4", path)
