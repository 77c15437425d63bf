"""The stand-in for ``dspy``: an import finder that serves its paths out of this library.

Each path is a module of its own that holds the names of `dspy_paths`, resolved at first
use. What was asked of a path and is not there is an ImportError that names it, as it
would be with DSPy.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from reasonact import exports
from reasonact.migration import dspy_paths

VERSION: Final = "3.4.1"
"""The DSPy whose names the stand-in has."""

_NAME: Final = "dspy"


class StandIn(ModuleType):
    """One path of DSPy as a module."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "Served by reasonact.as_dspy.")
        path = name.partition(".")[2]
        names = exports.NAMES if name == _NAME else dspy_paths.PATHS[path]
        vars(self).update(_names=tuple(names), _parts=dspy_paths.below(path), __all__=sorted(names))
        if name == _NAME:
            vars(self)["__version__"] = VERSION

    def __getattr__(self, name: str) -> object:
        known = vars(self)
        if name in known["_names"]:
            value = known[name] = dspy_paths.find(name)
        elif name in known["_parts"]:
            value = import_module(f"{self.__name__}.{name}")
        elif self.__name__ == _NAME and name in exports.SUBMODULES:
            value = known[name] = exports.find(name)
        else:
            raise AttributeError(_refusal(f"{self.__name__}.{name}"), name=name, obj=self)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # The import of dspy.utils.syncify would put the module where dspy.utils has the function of that name.
        if not (isinstance(value, ModuleType) and name in vars(self)["_names"]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self)["_names"], *vars(self)["_parts"], *(key for key in vars(self) if key[:2] == "__")})


class StandInLoader(Loader):
    """Makes the modules."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the module of a path.

        Args:
            spec: Names the path.

        Returns:
            The module, complete.
        """
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module resolves its names when they are used."""


class StandInFinder:
    """The import finder for ``dspy`` and everything below it; it lets no other finder have them."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a path of DSPy here.

        Args:
            fullname: The module that is being imported.
            path: Unused.
            target: Unused.

        Returns:
            How to make it; None where it is not below ``dspy``.

        Raises:
            ModuleNotFoundError: The path is not here.
            ImportError: The name stays with DSPy, and is the name of no module there.
        """
        root, _, below = fullname.partition(".")
        if root != _NAME:
            return None
        if fullname != _NAME and below not in dspy_paths.PATHS:
            # Python swallows a ModuleNotFoundError in `from dspy import BestOfN`, and the reason with it.
            no_module = below in exports.NOT_OURS and not below.islower()
            raise (ImportError if no_module else ModuleNotFoundError)(_refusal(fullname), name=fullname)
        return ModuleSpec(fullname, StandInLoader(), is_package=bool(fullname == _NAME or dspy_paths.below(below)))


def take_the_place() -> None:
    """Serve ``dspy`` from now on.

    Raises:
        ImportError: The real DSPy has been imported already.
    """
    real = sys.modules.get(_NAME)
    if real is not None and not isinstance(real, StandIn):
        where = getattr(real, "__file__", None) or "an unknown place"
        raise ImportError(
            f"dspy is imported already, from {where}, and what has it would go on using it: "
            "import reasonact.as_dspy before anything that imports dspy",
            name="reasonact.as_dspy",
        )
    if StandInFinder not in sys.meta_path:
        sys.meta_path.insert(0, StandInFinder)


def _refusal(fullname: str) -> str:
    top = fullname.split(".")[1]
    reason = f": {exports.NOT_OURS[top]}" if top in exports.NOT_OURS else ""
    return (
        f"reasonact, which stands in for dspy, has no {fullname!r}{reason}. "
        "DSPy's own is only there without `import reasonact.as_dspy`"
    )
