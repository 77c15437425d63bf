"""ReAct's step as a signature: which outputs make one, and how the tool that a step names is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, get_args, get_origin

THOUGHT: Final = "next_thought"
TOOL: Final = "next_tool_name"
ARGUMENTS: Final = "next_tool_args"

_OFFERED: Final = "tools"


def is_step(signature: Any) -> bool:
    """Whether a signature is a step of ReAct: a tool's name and its arguments are outputs."""
    return TOOL in signature.output_fields and ARGUMENTS in signature.output_fields


def tool_name(given: str, tools: Iterable[str]) -> str | None:
    """The registered tool that a model means, or None.

    Quotes, backticks, a trailing ``()``, a ``functions.`` prefix and letter case are
    overlooked, as long as just one tool fits.

    Args:
        given: The name as the model wrote it.
        tools: The registered names.
    """
    names = list(tools)
    if given in names:
        return given
    bare = given.strip().strip("\"'`").strip()
    bare = bare.removesuffix("()").removeprefix("functions.").strip("\"'`").strip()
    if bare in names:
        return bare
    fitting = [name for name in names if name.casefold() == bare.casefold()]
    return fitting[0] if len(fitting) == 1 else None


def tool_reader(annotation: Any, parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """How the tool of a step is read: one of the tools that the field's type lists, as `tool_name` finds it.

    Args:
        annotation: The field's type, a ``Literal`` of the tools' names.
        parse: How any value of the type is read, for what names no tool.
    """
    names = get_args(annotation) if get_origin(annotation) is Literal else ()

    def read(raw: Any) -> Any:
        known = tool_name(raw, names) if isinstance(raw, str) else None
        return parse(raw) if known is None else known

    return read


def offer_tools(signature: Any, tools: Iterable[Any]) -> None:
    """Say for which tools a step's signature was made, since it has no input that holds them.

    Args:
        signature: The signature class; what has no memo of its own is passed over.
        tools: The tools.
    """
    memo = getattr(signature, "memo", None)
    if isinstance(memo, dict) and _OFFERED not in memo:
        memo[_OFFERED] = tuple(tools)


def offered_tools(signature: Any) -> Sequence[Any]:
    """The tools that a step's signature was made for.

    Args:
        signature: A signature class.

    Returns:
        The tools; none where nobody said.
    """
    tools: Sequence[Any] = signature.memo.get(_OFFERED, ())
    return tools
