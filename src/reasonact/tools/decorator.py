"""``@tool``: a function that becomes a tool where it is defined, and stays callable like one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from reasonact.tools.policy import OnError, Retries, SyncTools
from reasonact.tools.tool import Tool


class FunctionTool(Tool):
    """A tool that may also be called with positional arguments, like the function it was made from."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **options: Any) -> None: ...

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the tool; positional arguments go to the function's parameters in order.

        They are checked like arguments by name; a default that is a ``Field`` counts as the
        default that the ``Field`` has.

        Raises:
            TypeError: Too many positional arguments, or one that is given by name too.
            InvalidArguments: An argument is malformed, missing or not declared (a ValueError).
            Exception: See `Tool`.
        """
        return super().__call__(**self._named(args, kwargs)) if args else super().__call__(**kwargs)

    async def acall(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the tool from async code; arguments as in a plain call."""
        return await super().acall(**self._named(args, kwargs))

    def _named(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = self.positional_names
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes at most {len(names)} positional arguments, got {len(args)}")
        named = dict(zip(names, args, strict=False))
        twice = named.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{self.name} got {', '.join(sorted(twice))} twice, by position and by name")
        return {**named, **kwargs}


@overload
def tool(name: Callable[..., Any], /) -> FunctionTool: ...


@overload
def tool(
    name: str | None = None,
    description: str | None = None,
    *,
    arg_desc: dict[str, str] | None = None,
    arg_types: dict[str, Any] | None = None,
    args: dict[str, Any] | None = None,
    timeout: float | None = None,
    retries: Retries | None = None,
    on_error: OnError | None = None,
    sequential: bool = False,
    sync_tools: SyncTools | None = None,
    cache: bool = False,
    require_confirmation: bool | Callable[[Mapping[str, Any]], bool] = False,
    strict: bool = False,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(name: Any = None, description: str | None = None, **options: Any) -> Any:
    """Make a tool of a function where it is defined: ``@tool``, or ``@tool(name=..., ...)``.

    Parameters may have pydantic ``Field(...)`` as default: its description and limits go into
    the schema, its default is the parameter's. As udspy's decorator, with a policy added.

    Args:
        name: The name for the model; by default the function's.
        description: The description for the model; by default the docstring.
        **options: The other keyword arguments of `Tool`.

    Returns:
        The tool, or a decorator that makes it.

    Raises:
        ValueError: See `Tool`.
        TypeError: An option that `Tool` does not have.
    """
    if callable(name):
        return FunctionTool(name)

    def decorate(func: Callable[..., Any]) -> FunctionTool:
        return FunctionTool(func, name, description, **options)

    return decorate
