"""What the standard library of this interpreter holds: names, signatures, docstrings.

Modules written in Python are read as source and never imported, so that none of them
runs (``antigravity`` opens a browser, ``this`` prints, ``turtle`` wants a screen). Only
modules written in C have no source; those on a short list, which do nothing when they
are imported, are imported and looked at.

An object is listed once, under its shortest public name: what ``asyncio/runners.py``
defines and ``asyncio`` hands on is ``asyncio.run``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final

_LEFT_OUT_NAMES: Final = """
    antigravity curses distutils encodings ensurepip idlelib lib2to3 msilib nt ntpath nturl2path pydoc_data
    sre_compile sre_constants sre_parse test this tkinter turtle turtledemo
"""
_COMPILED_NAMES: Final = """
    array atexit binascii builtins cmath errno faulthandler fcntl gc grp hashlib itertools marshal math mmap pwd
    resource select sys syslog termios time unicodedata zlib
"""
_ACCELERATOR_NAMES: Final = """
    _abc _asyncio _bisect _bz2 _codecs _collections _contextvars _csv _datetime _decimal _functools _heapq _imp _io
    _json _locale _lzma _operator _pickle _queue _random _signal _socket _sqlite3 _ssl _stat _statistics _string
    _struct _thread _tracemalloc _warnings _weakref _zoneinfo posix
"""
LEFT_OUT: Final = frozenset(_LEFT_OUT_NAMES.split())
COMPILED: Final = frozenset(_COMPILED_NAMES.split())
ACCELERATORS: Final = frozenset(_ACCELERATOR_NAMES.split())
RENAMED: Final = {"posixpath": "os.path", "builtins": ""}
PARTS_OF_OTHERS: Final = frozenset({"genericpath", "posix", "opcode", "pyexpat"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One documented object: its public name, what it is, how it is called, what it says of itself.

    ``kind`` is ``module``, ``class``, ``function`` or ``method``; ``signature`` is empty where
    the interpreter knows none. ``importers`` counts the modules of the library that import the
    object's module: a sign of how much it is in use.
    """

    name: str
    kind: str
    module: str
    signature: str
    doc: str
    importers: int = 0


Names = dict[str, "list[Entry]"]


class _Reader:
    """Reads modules, each once, and follows what they hand on from others."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Names, str]] = {}
        self.importers: Counter[str] = Counter()

    def module(self, name: str) -> tuple[Names, str]:
        """Public names of a module with their entries, and its docstring."""
        if name not in self._read:
            self._read[name] = ({}, "")  # modules that import each other end here
            if name in COMPILED or name in ACCELERATORS:
                self._read[name] = _read_compiled(name)
            else:
                source = _source_of(name)
                if source is not None:
                    self._read[name] = self._read_source(name, source)
        return self._read[name]

    def _read_source(self, name: str, source: Path) -> tuple[Names, str]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # odd escapes in old sources are not this program's matter
                tree = ast.parse(source.read_bytes())
        except (OSError, SyntaxError, ValueError):
            return {}, ""
        package = name if source.name == "__init__.py" else name.rpartition(".")[0]
        names: Names = {}
        instances: dict[str, str] = {}
        handed: set[str] = set()
        listed, whole = _listed_names(tree)
        imported: set[str] = set()
        for node in _statements(tree.body):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name not in names or ast.get_docstring(node, clean=False):
                    names[node.name] = list(_entries(node, name))
            elif isinstance(node, ast.ImportFrom):
                imported |= {node.module} if node.module and not node.level else set()
                handed |= self._hand_on(node, package, names)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                _alias(node.targets[0].id, node.value, names, instances)
        self.importers.update(imported)
        public = set(listed)
        if not whole:
            own = {key for key, found in names.items() if found[0].module == name or package == name}
            public |= {key for key in own | handed if not key.startswith("_")}
        return {key: found for key, found in names.items() if key in public}, ast.get_docstring(tree) or ""

    def _hand_on(self, node: ast.ImportFrom, package: str, names: Names) -> set[str]:
        """Add what an import brings from elsewhere in the library; returns the names that a star brought."""
        origin = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*above, *([origin] if origin else [])])
        if origin.partition(".")[0] not in sys.stdlib_module_names:
            return set()
        found = self.module(origin)[0]
        starred: set[str] = set()
        for alias in node.names:
            if alias.name == "*":
                starred |= found.keys()
                for key, entries in found.items():
                    if key not in names or not names[key][0].doc:
                        names[key] = entries
            elif alias.name in found and alias.asname in (None, alias.name):
                names[alias.name] = found[alias.name]
        return starred


def inventory() -> list[Entry]:
    """List the documented public objects of the standard library.

    Returns:
        Modules, classes, functions and methods, each under its shortest public name.
    """
    reader = _Reader()
    best: dict[tuple[str, str], Entry] = {}
    for name in _module_names():
        names, doc = reader.module(name)
        public = RENAMED.get(name, name)
        if doc:
            best[(name, "")] = Entry(public or name, "module", public or name, "", doc)
        for key, entries in names.items():
            shown = f"{public}.{key}" if public else key
            for entry in entries:
                tail = entry.name.partition(":")[2].partition(".")[2]  # a method's own name
                candidate = replace(entry, name=f"{shown}.{tail}" if tail else shown, module=public or name)
                where = (entry.module, entry.name)
                if where not in best or _rank(candidate) < _rank(best[where]):
                    best[where] = candidate
    known = {entry.name: entry for entry in sorted(best.values(), key=_rank, reverse=True)}
    most = max(reader.importers.values(), default=0)
    counts = {RENAMED.get(name, name): count for name, count in reader.importers.items()} | {"builtins": most}
    return [replace(entry, importers=counts.get(entry.module, 0)) for entry in known.values()]


def _rank(entry: Entry) -> tuple[int, int, str]:
    return (entry.name.count("."), len(entry.name), entry.name)


def _module_names() -> Iterator[str]:
    for name in sorted(sys.stdlib_module_names - LEFT_OUT):
        if name.startswith("_") or name in PARTS_OF_OTHERS:
            continue
        yield name
        source = None if name in COMPILED else _source_of(name)
        if source is not None and source.name == "__init__.py":
            yield from _below(name, source.parent)


def _below(package: str, folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("_") or path.name in {"test", "tests", "idle_test"}:
            continue
        if path.suffix == ".py":
            yield f"{package}.{path.stem}"
        elif (path / "__init__.py").is_file():
            yield f"{package}.{path.name}"
            yield from _below(f"{package}.{path.name}", path)


def _source_of(name: str) -> Path | None:
    top, *rest = name.split(".")
    if top in LEFT_OUT:
        return None
    # Finding a top-level module runs none of it; a package's parts are found as files.
    spec = PathFinder.find_spec(top)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        module = sys.modules.get(top)  # os and its like are frozen into newer interpreters
        origin = getattr(module, "__file__", None)
        if origin is None or not origin.endswith(".py"):
            return None
    else:
        origin = spec.origin
    path = Path(origin)
    if not rest:
        return path
    base = path.parent.joinpath(*rest)
    for candidate in (base.with_suffix(".py") if base.suffix == "" else base, base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, with those inside ``if`` and ``try``, in the order in which they would run."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements(node.orelse)
            yield from _statements(node.body)
        elif isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _statements(handler.body)
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def _listed_names(tree: ast.Module) -> tuple[set[str], bool]:
    """The names written out in ``__all__``, and whether they are all of it (False where there is none)."""
    listed: set[str] = set()
    whole: bool | None = None
    for node in _statements(tree.body):
        if isinstance(node, ast.Assign | ast.AugAssign):
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            value = node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
            # __all__.append("name"), __all__.extend([...])
            target = node.value.func.value if isinstance(node.value.func, ast.Attribute) else node.value.func
            value = node.value.args[0]
        else:
            continue
        if not (isinstance(target, ast.Name) and target.id == "__all__"):
            continue
        try:
            literal = ast.literal_eval(value)
        except ValueError:  # put together from other lists
            whole = False
            continue
        listed |= {literal} if isinstance(literal, str) else set(literal)
        whole = whole is not False
    return listed, bool(whole)


def _entries(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, module: str) -> Iterator[Entry]:
    """The entry of a definition and, for a class, of its public methods; names are ``module:path``."""
    doc = ast.get_docstring(node) or ""
    if not isinstance(node, ast.ClassDef):
        yield Entry(f"{module}:{node.name}", "function", module, _signature(node, bound=False), doc)
        return
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
    construct = next((part for part in methods if part.name == "__init__"), None)
    signature = _signature(construct, bound=True) if construct else ""
    yield Entry(f"{module}:{node.name}", "class", module, signature, doc)
    for part in methods:
        if not part.name.startswith("_"):
            static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in part.decorator_list)
            signature = _signature(part, bound=not static)
            yield Entry(f"{module}:{node.name}.{part.name}", "method", module, signature, ast.get_docstring(part) or "")


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, *, bound: bool) -> str:
    given = node.args
    if bound and (given.posonlyargs or given.args):
        if given.posonlyargs:
            given = _without_first(given, "posonlyargs")
        else:
            given = _without_first(given, "args")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(given)}){returns}"


def _without_first(given: ast.arguments, field: str) -> ast.arguments:
    parts: dict[str, Any] = {name: getattr(given, name) for name in given._fields}
    parts[field] = parts[field][1:]
    count = len(parts["posonlyargs"]) + len(parts["args"])
    parts["defaults"] = parts["defaults"][max(0, len(parts["defaults"]) - count) :]
    return ast.arguments(**parts)


def _alias(target: str, value: ast.expr, names: Names, instances: dict[str, str]) -> None:
    """Follow ``choice = _inst.choice`` (with ``_inst = Random()``) and ``name = other_name``."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        instances[target] = value.func.id
    elif isinstance(value, ast.Name) and value.id in names:
        names.setdefault(target, names[value.id])
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        owner = names.get(instances.get(value.value.id, ""), [])
        for entry in owner:
            if entry.kind == "method" and entry.name.endswith(f".{value.attr}"):
                names[target] = [replace(entry, kind="function", name=f"{entry.module}:{target}")]


def _read_compiled(name: str) -> tuple[Names, str]:
    try:
        module = importlib.import_module(name)
    except ImportError:  # this platform has no such module
        return {}, ""
    names: Names = {}
    for key, value in sorted(vars(module).items()):
        if key.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        doc = inspect.getdoc(value) or ""
        if not isinstance(value, type):
            names[key] = [Entry(f"{name}:{key}", "function", name, _shown_signature(value), doc)]
            continue
        if issubclass(value, BaseException) and name != "builtins":
            continue
        names[key] = [Entry(f"{name}:{key}", "class", name, _shown_signature(value), doc)]
        for part, member in sorted(vars(value).items()):
            if part.startswith("_") or not callable(getattr(value, part, None)):
                continue
            text = inspect.getdoc(member) or ""
            names[key].append(Entry(f"{name}:{key}.{part}", "method", name, _shown_signature(member), text))
    return names, inspect.getdoc(module) or ""


_RECEIVER: Final = re.compile(r"^\((?:\$?(?:self|module|type|cls))(?:, /)?(?:, )?")


def _shown_signature(value: Any) -> str:
    text = getattr(value, "__text_signature__", None)
    return _RECEIVER.sub("(", text) if isinstance(text, str) else ""
