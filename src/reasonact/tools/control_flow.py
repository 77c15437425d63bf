"""Which exceptions are no failures of a tool but the program's own control flow."""

from __future__ import annotations

from reasonact.errors import ControlFlow
from reasonact.runtime.settings import settings


def register_control_flow(cls: type[Exception]) -> type[Exception]:
    """Let an exception class always leave an agent's run, whatever tool raises it.

    Subclasses of `ControlFlow` do so by themselves; this is for classes that cannot be one.
    The setting ``control_flow`` holds them, so ``with context(control_flow=(Stop,))`` does
    the same for a block.

    Args:
        cls: The class; its subclasses count too.

    Returns:
        The class, so that this can stand as its decorator.

    Raises:
        TypeError: It is no exception class.
    """
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        raise TypeError(f"register_control_flow takes an exception class, got {cls!r}")
    known: tuple[type[Exception], ...] = settings.get("control_flow", ())
    if cls not in known:
        settings.configure(control_flow=(*known, cls))
    return cls


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception must not become a tool's result.

    Args:
        error: What a tool raised.

    Returns:
        True for `ControlFlow` and every registered class.
    """
    return isinstance(error, (ControlFlow, *settings.get("control_flow", ())))
