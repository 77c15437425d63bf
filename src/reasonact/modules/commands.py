"""The command by which flows call modules, functions among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.runtime.drive import to_thread
from reasonact.runtime.flow import Command


@dataclass(frozen=True, slots=True)
class CallModule(Command[Any]):
    """Call a module from inside a flow, by its ``__call__`` or ``acall``.

    A plain callable has no ``acall``; in async code it runs in a thread.
    """

    module: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def run(self) -> Any:
        return self.module(*self.args, **self.kwargs)

    async def arun(self) -> Any:
        acall = getattr(self.module, "acall", None)
        if acall is None:
            return await to_thread(self.run)
        return await acall(*self.args, **self.kwargs)
