"""The process's cache for functions of a program's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from reasonact.lm.cache import cache, cached
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call

F = TypeVar("F", bound=Callable[..., Any])


def request_cache(
    cache_arg_name: str | None = None,
    ignored_args_for_cache_key: list[str] | None = None,
    enable_memory_cache: bool = True,
    *,
    maxsize: int | None = None,
) -> Callable[[F], F]:
    """Keep the results of a function, sync or async, in the process's cache.

    Args:
        cache_arg_name: The argument that is the request; None takes all of them.
        ignored_args_for_cache_key: Names that do not count.
        enable_memory_cache: False to keep results on disk alone.
        maxsize: Accepted for DSPy's sake, without effect: the cache has a bound of its own.

    Returns:
        The decorator. Results that JSON can hold are kept; a kept one comes back with
        dicts as `Response`.
    """

    def decorate(func: F) -> F:
        signature = inspect.signature(func)
        identity = f"{func.__module__}.{func.__qualname__}"

        def flow(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[Any]:
            arguments = dict(signature.bind(*args, **kwargs).arguments)
            request = arguments[cache_arg_name] if cache_arg_name else arguments
            try:
                key = cache.cache_key({**request, "_function": identity}, ignored_args_for_cache_key)
            except (TypeError, ValueError, RecursionError):
                key = None
            return cached(key, lambda: call(_Invoke(func, args, kwargs)), in_memory=enable_memory_cache)

        if inspect.iscoroutinefunction(func):

            @functools.wraps(func)
            async def akept(*args: Any, **kwargs: Any) -> Any:
                return await adrive(flow(args, kwargs))

            return akept  # type: ignore[return-value]

        @functools.wraps(func)
        def kept(*args: Any, **kwargs: Any) -> Any:
            return drive(flow(args, kwargs))

        return kept  # type: ignore[return-value]

    return decorate


@dataclass(frozen=True, slots=True)
class _Invoke(Command[Any]):
    """Call the decorated function."""

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def run(self) -> Any:
        return self.func(*self.args, **self.kwargs)

    async def arun(self) -> Any:
        return await self.func(*self.args, **self.kwargs)
