"""Asking a language model from inside a flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reasonact.lm.base import BaseLM, prefers_other
from reasonact.runtime.drive import to_thread
from reasonact.runtime.flow import Command, Flow, call


@dataclass(frozen=True, slots=True)
class _CallLM(Command[list[Any]]):
    """Call an LM whose own ``__call__`` or ``acall`` does something of its own."""

    lm: Any
    messages: list[Any]
    options: Mapping[str, Any]

    def run(self) -> list[Any]:
        self._warn_of_half_an_override("__call__", "acall")
        outputs: list[Any] = self.lm(messages=self.messages, **self.options)
        return outputs

    async def arun(self) -> list[Any]:
        outputs: list[Any]
        if not hasattr(self.lm, "acall"):
            outputs = await to_thread(self.run)
        else:
            self._warn_of_half_an_override("acall", "__call__")
            outputs = await self.lm.acall(messages=self.messages, **self.options)
        return outputs

    def _warn_of_half_an_override(self, mine: str, other: str) -> None:
        if isinstance(self.lm, BaseLM):
            prefers_other(type(self.lm), mine, other, root=object)


def call_lm(lm: Any, messages: list[Any], options: Mapping[str, Any]) -> Flow[list[Any]]:
    """Ask a model and get its completions.

    Args:
        lm: A `BaseLM`, or a callable of the same interface.
        messages: The conversation, as OpenAI-shaped dicts. It is not copied and not changed.
        options: Options of this request, over the LM's own.

    Returns:
        The flow; it gives one item per completion, a text or a dict.

    Raises:
        LMError: The model could not be asked or did not answer.
    """
    cls = type(lm)
    if isinstance(lm, BaseLM) and cls.__call__ is BaseLM.__call__ and cls.acall is BaseLM.acall:
        return (yield from lm.flow(None, messages, options))
    return (yield from call(_CallLM(lm, messages, options)))
