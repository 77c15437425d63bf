"""The 3.6 line: ``import reasonact.v36 as dspy``. ReAct is the structured agent, and the name ReActV2 is gone."""

from typing import TYPE_CHECKING

from reasonact.migration import lines as _lines

# ruff: noqa: F403, F811, I001
if TYPE_CHECKING:  # of a name that is bound twice, mypy takes the first binding and pyright the last
    from reasonact.migration.structured_agent import ReAct as ReAct
    from reasonact import *  # type: ignore[assignment]
    from reasonact.migration.structured_agent import ReAct as ReAct
else:
    __all__ = list(_lines.V36.names)
    __path__ = []  # a package to the import system, so that `from` imports reach the finder and its texts

    _lines.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _lines.V36.find(name)
        return value

    def __dir__() -> list[str]:
        return _lines.V36.listed(globals())
