"""The name lines: what `reasonact.v34`, `reasonact.v35` and `reasonact.v36` hold.

A line is a whole namespace, resolved at first use as the package root is. It differs from
the root in the few names that its DSPy gives to something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from reasonact import exports

_AGENTS: Final = "reasonact.migration.agent_names"


@dataclass(frozen=True)
class Line:
    """One line's names.

    Args:
        module: The module that has them.
        own: Names that mean something else than in the package root, to their name among
            the agents' names.
        gone: Names that the line has no more, to what to write.
    """

    module: str
    own: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The public names, in order."""
        return sorted({*exports.NAMES, *self.own} - set(self.gone))

    def find(self, name: str) -> object:
        """Import what a name stands for in this line.

        Args:
            name: An attribute that was asked of the line.

        Returns:
            The object, or the submodule.

        Raises:
            AttributeError: The line has no such name; the text says what to write.
        """
        if name in self.gone:
            raise AttributeError(self.gone[name])
        if name in self.own:
            return getattr(import_module(_AGENTS), self.own[name])
        return exports.find(name)

    def listed(self, present: Iterable[str]) -> list[str]:
        """What ``dir`` shows of the line.

        Args:
            present: The names that its module holds now.

        Returns:
            Names in order.
        """
        return sorted({*self.names, *exports.SUBMODULES, *(name for name in present if name.startswith("__"))})


V34: Final = Line("reasonact.v34")
V35: Final = Line("reasonact.v35", own={"ReAct": "StructuredReAct", "ReActV2": "ReActV2"})
V36: Final = Line(
    "reasonact.v36",
    own={"ReAct": "StructuredReAct"},
    gone={"ReActV2": "reasonact.v36 has no 'ReActV2': since 3.5 that agent is named ReAct; write ReAct"},
)

LINES: Final = (V34, V35, V36)
_BY_MODULE: Final = {line.module: line for line in LINES}


class LineFinder:
    """The import finder below the lines: `reasonact.v35.utils` is `reasonact.utils`; a missing name says why.

    Python tries an import where ``from reasonact.v36 import X`` finds no attribute, and
    shows the text of the finder's error in place of its own.
    """

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the package under a line's name for it.

        Args:
            fullname: The module that is being imported.
            path: Unused.
            target: Unused.

        Returns:
            How to load it; None where it is not below a line.

        Raises:
            ImportError: The line does not have the name.
        """
        parts = fullname.split(".")
        line = _BY_MODULE.get(".".join(parts[:2]))
        if line is None or len(parts) < 3:
            return None
        name = parts[2]
        if name in exports.SUBMODULES:
            return ModuleSpec(fullname, SameModule(".".join(["reasonact", *parts[2:]])))
        if name in line.gone or name in exports.NOT_OURS:
            try:
                line.find(name)
            except AttributeError as error:
                raise ImportError(str(error), name=fullname) from None
        return None


class SameModule(Loader):
    """A loader that gives a module which has another name already.

    Args:
        name: That name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python to make the module that `exec_module` puts another one in place of."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the known module in the new one's place, as an import may for itself.

        Args:
            module: The fresh module; nobody sees it.

        Raises:
            ImportError: There is no module of the known name either.
        """
        sys.modules[module.__name__] = import_module(self.name)


def install_finder() -> None:
    """Put `LineFinder` first among the import finders, once."""
    if LineFinder not in sys.meta_path:
        sys.meta_path.insert(0, LineFinder)
