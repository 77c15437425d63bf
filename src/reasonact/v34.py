"""The 3.4 line: ``import reasonact.v34 as dspy``. ReAct is the trajectory agent, as in the package root."""

from typing import TYPE_CHECKING

from reasonact.migration import lines as _lines

if TYPE_CHECKING:
    from reasonact import *  # noqa: F403
else:
    __all__ = list(_lines.V34.names)
    __path__ = []  # a package to the import system, so that `from` imports reach the finder and its texts

    _lines.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _lines.V34.find(name)
        return value

    def __dir__() -> list[str]:
        return _lines.V34.listed(globals())
