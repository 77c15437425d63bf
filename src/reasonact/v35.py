"""The 3.5 line: ``import reasonact.v35 as dspy``. ReAct is the structured agent, ReActV2 its deprecated alias."""

from typing import TYPE_CHECKING

from reasonact.migration import lines as _lines

# ruff: noqa: F403, F811, I001
if TYPE_CHECKING:  # of a name that is bound twice, mypy takes the first binding and pyright the last
    from reasonact.migration.structured_agent import ReAct as ReAct
    from reasonact.migration.agent_names import ReActV2 as ReActV2
    from reasonact import *  # type: ignore[assignment]
    from reasonact.migration.structured_agent import ReAct as ReAct
    from reasonact.migration.agent_names import ReActV2 as ReActV2
else:
    __all__ = list(_lines.V35.names)
    __path__ = []  # a package to the import system, so that `from` imports reach the finder and its texts

    _lines.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _lines.V35.find(name)
        return value

    def __dir__() -> list[str]:
        return _lines.V35.listed(globals())
