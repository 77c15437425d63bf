"""Async programs in blocking code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar, overload

from reasonact.modules.module import Module
from reasonact.runtime.drive import run_coroutine

M = TypeVar("M", bound=Module)


@overload
def syncify(program: M, in_place: Literal[True] = True) -> M: ...


@overload
def syncify(program: Module, in_place: bool) -> Module: ...


def syncify(program: Module, in_place: bool = True) -> Module:
    """Make a module that only has ``aforward`` callable from blocking code, also inside a running event loop.

    Settings and context variables hold in it. Follows DSPy's ``syncify``.

    Args:
        program: The module.
        in_place: Give the module itself a ``forward``; False wraps it in a new module and
            leaves it as it is.

    Returns:
        The module, or the new one, which has it as ``program``.

    Raises:
        TypeError: It is no module with an ``aforward``.
    """
    if not isinstance(program, Module) or type(program).aforward is Module.aforward:
        raise TypeError(f"syncify takes a module that defines aforward(), not a {type(program).__name__}")
    if not in_place:
        return _SyncModule(program)
    program.forward = _Forward(program.aforward)  # type: ignore[method-assign]
    return program


class _Forward:
    """A ``forward`` that runs an ``aforward``; a class, so that it is copied and pickled with its module."""

    def __init__(self, aforward: Callable[..., Awaitable[Any]]) -> None:
        self._aforward = aforward

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        async def run() -> Any:
            return await self._aforward(*args, **kwargs)

        return run_coroutine(run())


class _SyncModule(Module):
    """A module around one that is async only."""

    def __init__(self, program: Module) -> None:
        super().__init__()
        self.program = program

    def forward(self, /, *args: Any, **kwargs: Any) -> Any:
        return _Forward(self.program.aforward)(*args, **kwargs)

    async def aforward(self, /, *args: Any, **kwargs: Any) -> Any:
        return await self.program.aforward(*args, **kwargs)
