"""A native call whose arguments could not be read: it has its place among the calls, and cannot run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from reasonact.types.tool_calls import ToolCalls


class UnreadableCall(ToolCalls.ToolCall):
    """A call that the model made, but with arguments that are no JSON object, or without a name.

    An agent answers it by an error result under its own id. In a history it looks like
    a call without arguments.

    Args:
        id: As of any call.
        name: As of any call; empty where the model named no tool.
        args: Empty.
        problem: What was wrong, with what was written, in one line.
    """

    problem: str

    def execute(self, functions: Mapping[str, Any] | Sequence[Any] | None = None) -> NoReturn:
        """Refuse to run.

        Raises:
            ValueError: Always; says what was wrong with the arguments.
        """
        raise ValueError(f"the call of {self.name!r} cannot run: {self.problem}")
