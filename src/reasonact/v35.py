"""The 3.5 line: ``import reasonact.v35 as dspy``. ReAct is the structured agent, ReActV2 its deprecated alias."""

from typing import TYPE_CHECKING

from reasonact.migration import lines as _lines

if TYPE_CHECKING:
    from reasonact.migration.agent_names import ReActV2 as ReActV2
    from reasonact.migration.agent_names import StructuredReAct
    from reasonact.migration.shared_names import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]

    ReAct = StructuredReAct
else:
    __all__ = _lines.V35.names
    __path__ = []  # a package to the import system, so that `from` imports reach the finder and its texts

    _lines.install_finder()

    def __getattr__(name: str) -> object:
        value = globals()[name] = _lines.V35.find(name)
        return value

    def __dir__() -> list[str]:
        return _lines.V35.listed(globals())
