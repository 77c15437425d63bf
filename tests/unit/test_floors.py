"""The floors of the tree, read from its imports.

`offences` reads every file below a package and says what breaks the rules of the design:
who may import whom, where clocks and threads may stand, what is imported when. The rules
are data; the made-up trees at the end show that each of them can fail.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "reasonact"

FLOORS = (
    {"errors"},
    {"runtime"},
    {"signatures", "types"},
    {"tools"},
    {"lm"},
    {"adapters"},
    {"modules"},
    {"view"},
    {"agents"},
    {"streaming", "migration", "testing", "v34", "v35", "v36", "as_dspy", "utils", "evaluate"},
    {"demo", "cli", "__main__"},
)
ROOT_USERS_FROM = 9  # the package root hands every room on, so it stands above the rooms

HEAVY = {"litellm", "jsonschema", "tenacity", "json_repair", "rich", "tqdm", "mcp", "numpy", "httpx"}
LAZY_ANYWHERE = HEAVY | {"langchain_core", "libcst", "cloudpickle", "referencing"}
LAZY_HERE = {("exports.py", "difflib")}

CLOCKS = {"threading", "asyncio", "time", "concurrent"}
LOCKS = {"Lock", "RLock"}
CLOCK_PLACES = (
    "runtime/drive.py",
    "runtime/asyncify.py",
    "runtime/syncify.py",
    "runtime/limits.py",
    "runtime/handoff.py",
    "runtime/stream.py",
    "runtime/threads.py",
    "runtime/retrying.py",
    "lm/",
    "tools/",
    "modules/parallel.py",
    "streaming/",
    "demo/",
    "cli.py",
)

MAX_LINES = 420
VAGUE = ("utils", "helpers", "manager", "misc")
VAGUE_ALLOWED = {"utils.py"}  # DSPy's import path

UNWANTED = "litellm openai httpx numpy mcp langchain langchain_core jsonschema tenacity json_repair rich tqdm".split()


@dataclass(frozen=True)
class Import:
    target: str
    """Dotted module, or module and name, as far as it can be told from the text."""
    name: str
    line: int
    inside: bool
    """It stands in a function: it runs at a call, not at import."""


@dataclass
class SourceFile:
    path: str
    tree: ast.Module
    lines: int
    imports: list[Import] = field(default_factory=list)

    @property
    def room(self) -> str:
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def module(self) -> str:
        parts = self.path.removesuffix(".py").split("/")
        return ".".join(["reasonact", *(part for part in parts if part != "__init__")])


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def running(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node that runs, and whether it stands in a function."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            for statement in child.orelse:  # type: ignore[attr-defined]
                yield statement, inside
                yield from running(statement, inside)
            continue
        yield child, inside
        yield from running(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


def deferred_module(node: ast.AST) -> str | None:
    """The module in ``name = deferred("module")``: an arrow like any other, though it is walked later."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return None
    called = node.value
    if isinstance(called.func, ast.Name) and called.func.id == "deferred" and isinstance(called.args[0], ast.Constant):
        return str(called.args[0].value)
    return None


def read_imports(file: SourceFile) -> Iterator[Import]:
    package = file.module.split(".") if file.path.endswith("__init__.py") else file.module.split(".")[:-1]
    for node, inside in running(file.tree):
        if deferred := deferred_module(node):
            yield Import(deferred, "", node.lineno, False)
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", node.lineno, inside)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, inside)


def read(root: Path) -> dict[str, SourceFile]:
    files = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        file = SourceFile(path.relative_to(root).as_posix(), ast.parse(text), len(text.splitlines()))
        file.imports = list(read_imports(file))
        files[file.module] = file
    return files


def destination(found: Import, files: dict[str, SourceFile]) -> str | None:
    """The module of the tree that an import reaches, or None for one outside."""
    if found.target != "reasonact" and not found.target.startswith("reasonact."):
        return None
    full = f"{found.target}.{found.name}"
    return full if full in files else found.target


def floor_of(module: str) -> int | None:
    room = module.split(".")[1] if "." in module else ""
    return next((number for number, rooms in enumerate(FLOORS) if room in rooms), None)


def arrows_up(files: dict[str, SourceFile]) -> Iterator[str]:
    for file in files.values():
        if file.module in ("reasonact", "reasonact.exports"):
            continue
        own = floor_of(file.module)
        if own is None:
            yield f"{file.path}: stands on no floor"
            continue
        for found in file.imports:
            target = destination(found, files)
            if target is None:
                continue
            if target in ("reasonact", "reasonact.exports"):
                if own < ROOT_USERS_FROM:
                    yield f"{file.path}:{found.line}: imports {found.name or target} from the package root"
                continue
            other = floor_of(target)
            if other is None or other > own:
                yield f"{file.path}:{found.line}: arrow up to {target}"


def circles(files: dict[str, SourceFile]) -> Iterator[str]:
    arrows = {
        module: {t for found in file.imports if (t := destination(found, files)) in files and t != "reasonact"}
        for module, file in files.items()
    }
    done: set[str] = set()
    for start in arrows:
        trail: list[str] = []

        def walk(module: str) -> Iterator[str]:
            if module in trail:
                yield "circle: " + " -> ".join([*trail[trail.index(module) :], module])
                return
            if module in done:
                return
            trail.append(module)
            for target in sorted(arrows[module]):
                yield from walk(target)
            trail.pop()
            done.add(module)

        yield from walk(start)


def late_and_heavy_imports(files: dict[str, SourceFile]) -> Iterator[str]:
    for file in files.values():
        for found in file.imports:
            library = found.target.split(".")[0]
            if found.inside and library not in LAZY_ANYWHERE and (file.path, library) not in LAZY_HERE:
                yield f"{file.path}:{found.line}: imports {found.target} inside a function"
            if not found.inside and library in HEAVY:
                yield f"{file.path}:{found.line}: imports {library} before its first use"


def clocks(files: dict[str, SourceFile]) -> Iterator[str]:
    for file in files.values():
        if file.path.startswith(CLOCK_PLACES):
            continue
        for found in file.imports:
            library = found.target.split(".")[0]
            if library in CLOCKS and not (library == "threading" and (found.name in LOCKS or only_locks(file))):
                yield f"{file.path}:{found.line}: knows {library}"


def only_locks(file: SourceFile) -> bool:
    used = {
        node.attr
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "threading"
    }
    return bool(used) and used <= LOCKS


def private_imports(files: dict[str, SourceFile]) -> Iterator[str]:
    for file in files.values():
        modules: dict[str, str] = {}
        for node, _ in running(file.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    private = alias.name.startswith("_") and not alias.name.startswith("__")
                    if private and (node.level or (node.module or "").split(".")[0] == "reasonact"):
                        yield f"{file.path}:{node.lineno}: takes {alias.name} from {node.module}"
                    if f"{node.module}.{alias.name}" in files:
                        modules[alias.asname or alias.name] = alias.name
        for node, _ in running(file.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                if node.attr.startswith("_") and not node.attr.startswith("__"):
                    yield f"{file.path}:{node.lineno}: takes {node.attr} from {modules[node.value.id]}"


def shape(files: dict[str, SourceFile]) -> Iterator[str]:
    for file in files.values():
        if file.lines > MAX_LINES:
            yield f"{file.path}: {file.lines} lines"
        parts = {part.removesuffix(".py") for part in file.path.split("/")}
        if parts & set(VAGUE) and file.path not in VAGUE_ALLOWED:
            yield f"{file.path}: a name that says nothing"
        for node in file.tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if node.name.lower().rstrip("s").endswith(tuple(word.rstrip("s") for word in VAGUE)):
                    yield f"{file.path}:{node.lineno}: {node.name} is a name that says nothing"
        if file.path.endswith("__init__.py"):
            for node in file.tree.body:
                if not hands_on(node, root=file.path == "__init__.py"):
                    yield f"{file.path}:{node.lineno}: does more than hand names on"


def hands_on(node: ast.stmt, root: bool = False) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or (root and isinstance(node.value, ast.Call))
    if isinstance(node, ast.Assign):
        named_all = ast.unparse(node.targets[0]) == "__all__"
        return named_all or not any(isinstance(part, ast.Call) for part in ast.walk(node.value))
    if isinstance(node, ast.FunctionDef):
        return node.name in ("__getattr__", "__dir__") and len(node.body) <= 4
    if is_type_checking(node):
        return all(hands_on(part, root) for part in [*node.body, *node.orelse])  # type: ignore[attr-defined]
    return False


RULES = (arrows_up, circles, late_and_heavy_imports, clocks, private_imports, shape)


def offences(root: Path) -> list[str]:
    """Everything below a package that breaks a rule, in words."""
    files = read(root)
    return [offence for rule in RULES for offence in rule(files)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_its_floors(rule):
    assert [] == list(rule(read(SOURCE)))


def run_python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_the_package_alone_brings_in_neither_pydantic_nor_any_room():
    program = "import sys, reasonact; print(sorted(m for m in sys.modules if m.startswith(('pydantic', 'reasonact'))))"
    assert "['reasonact', 'reasonact.exports']" == run_python(program)


def test_the_agents_and_the_model_bring_in_no_provider_library():
    program = f"""
import sys, reasonact
for name in ("ReAct", "ReActV2", "LM"):
    getattr(reasonact, name)
print(sorted(set({UNWANTED!r}) & set(sys.modules)))
"""
    assert "[]" == run_python(program)


BAD_TREES = {
    "an arrow that points up": (
        {"errors.py": "from reasonact.lm.base import BaseLM", "lm/base.py": "class BaseLM: ..."},
        "errors.py:1: arrow up to reasonact.lm.base",
    ),
    "an arrow up by a deferred import": (
        {"tools/tool.py": 'react = deferred("reasonact.agents.react")', "agents/react.py": ""},
        "tools/tool.py:1: arrow up to reasonact.agents.react",
    ),
    "an arrow up by a relative import": (
        {"tools/tool.py": "from ..agents import react", "agents/react.py": ""},
        "tools/tool.py:1: arrow up to reasonact.agents.react",
    ),
    "the package root as a short cut": (
        {"__init__.py": "", "tools/tool.py": "from reasonact import ReAct"},
        "tools/tool.py:1: imports ReAct from the package root",
    ),
    "a file on no floor": ({"attic/old.py": ""}, "attic/old.py: stands on no floor"),
    "a circle in a folder": (
        {"lm/a.py": "from reasonact.lm.b import y", "lm/b.py": "from reasonact.lm import a"},
        "circle: reasonact.lm.a -> reasonact.lm.b -> reasonact.lm.a",
    ),
    "a circle between rooms of one floor": (
        {"types/a.py": "import reasonact.signatures.b", "signatures/b.py": "import reasonact.types.a"},
        "circle: reasonact.signatures.b -> reasonact.types.a -> reasonact.signatures.b",
    ),
    "an import inside a function": (
        {"lm/a.py": "def f():\n    import json"},
        "lm/a.py:2: imports json inside a function",
    ),
    "an import inside a method under a condition": (
        {
            "lm/a.py": "class A:\n    def f(self):\n        if self:\n            from reasonact.lm.b import x",
            "lm/b.py": "",
        },
        "lm/a.py:4: imports reasonact.lm.b inside a function",
    ),
    "a heavy library at the top": (
        {"lm/a.py": "import litellm.utils"},
        "lm/a.py:1: imports litellm before its first use",
    ),
    "a clock in an agent": ({"agents/a.py": "from time import monotonic"}, "agents/a.py:1: knows time"),
    "an event loop in Predict": ({"modules/predict.py": "import asyncio"}, "modules/predict.py:1: knows asyncio"),
    "a thread beside a lock": (
        {"adapters/a.py": "import threading\nthreading.Lock()\nthreading.Thread()"},
        "adapters/a.py:1: knows threading",
    ),
    "a pool in a type": (
        {"types/a.py": "from concurrent.futures import ThreadPoolExecutor"},
        "types/a.py:1: knows concurrent",
    ),
    "a long file": ({"lm/a.py": "x = 1\n" * 421}, "lm/a.py: 421 lines"),
    "a file of odds and ends": ({"lm/helpers.py": ""}, "lm/helpers.py: a name that says nothing"),
    "a class that manages": (
        {"lm/a.py": "class CacheManager: ..."},
        "lm/a.py:1: CacheManager is a name that says nothing",
    ),
    "logic in a folder's init": (
        {"lm/__init__.py": "TABLE = build()"},
        "lm/__init__.py:1: does more than hand names on",
    ),
    "a function in a folder's init": (
        {"lm/__init__.py": "def ask(): ..."},
        "lm/__init__.py:1: does more than hand names on",
    ),
    "another module's private name": (
        {"lm/a.py": "from reasonact.lm.b import _x", "lm/b.py": "_x = 1"},
        "lm/a.py:1: takes _x from reasonact.lm.b",
    ),
    "a private name through the module": (
        {"lm/a.py": "from reasonact.lm import b\nprint(b._x)", "lm/b.py": "_x = 1"},
        "lm/a.py:2: takes _x from b",
    ),
}

GOOD_TREE = {
    "__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from reasonact.lm.a import A as A",
    "errors.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from reasonact.agents.a import x",
    "lm/__init__.py": '"""Models."""\nfrom reasonact.lm.a import A as A\n__all__ = ["A"]',
    "lm/a.py": "import time\nfrom reasonact import errors\ndef f():\n    import litellm\nclass A:\n    _own = 1",
    "adapters/a.py": "import threading\nfrom reasonact.lm import A\nlock = threading.Lock()",
    "agents/a.py": "from threading import RLock\nfrom reasonact.adapters.a import lock\nx = 1",
    "utils.py": "from reasonact.lm.a import A as A",
}


def plant(root: Path, tree: dict[str, str]) -> Path:
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("name", BAD_TREES)
def test_the_check_finds(name, tmp_path):
    tree, expected = BAD_TREES[name]
    assert [expected] == offences(plant(tmp_path, tree))


def test_the_check_passes_a_good_tree(tmp_path):
    assert [] == offences(plant(tmp_path, GOOD_TREE))
