"""The 3.6 line: ``import reasonact.v36 as dspy``. ReAct is the structured agent, and the name ReActV2 is gone."""

from typing import TYPE_CHECKING

from reasonact.migration import lines as _lines

if TYPE_CHECKING:
    from reasonact.migration.agent_names import StructuredReAct
    from reasonact.migration.shared_names import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]

    ReAct = StructuredReAct
else:
    __all__ = _lines.V36.names
    __path__ = []  # a package to the import system, so that `from` imports reach the finder and its texts

    _lines.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _lines.V36.find(name)
        return value

    def __dir__() -> list[str]:
        return _lines.V36.listed(globals())
