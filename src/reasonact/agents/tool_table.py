"""An agent's tools by name: its own, those of one call, and the tool that ends the run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field
from pydantic.fields import FieldInfo

from reasonact.adapters.layout import plain_type
from reasonact.agents.names import ASK, COMPLETED, FINISH, SUBMIT
from reasonact.signatures.signature import Signature
from reasonact.tools.tool import Tool


def tool_table(tools: Iterable[Callable[..., Any] | Tool], reserved: Iterable[str]) -> dict[str, Tool]:
    """Callables as tools, by name and in order.

    Args:
        tools: Callables and `Tool` objects.
        reserved: Names that the agent keeps for itself.

    Returns:
        A new dict.

    Raises:
        TypeError: ``tools`` is no list of callables.
        ValueError: Two tools have one name, or a tool has a reserved one.
    """
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools is a {type(tools).__name__}; give a list of functions or Tool objects")
    kept, table = set(reserved), {}
    for number, item in enumerate(tools):
        if not isinstance(item, Tool) and not callable(item):
            raise TypeError(f"tools[{number}] is {item!r}, which cannot be called; give a function or a Tool")
        tool = item if isinstance(item, Tool) else Tool(item)
        name = str(tool.name)
        if name in kept:
            raise ValueError(
                f"tools[{number}] is named {name!r}, which the agent keeps for itself; "
                f"wrap it as Tool(func, name='another name')"
            )
        if name in table:
            raise ValueError(f"two tools are named {name!r}; the model could not tell them apart")
        table[name] = tool
    return table


def finish_tool(outputs: Mapping[str, FieldInfo]) -> Tool:
    """ReAct's tool that ends the loop. It takes no argument, and overlooks those it is given."""
    names = ", ".join(f"`{name}`" for name in outputs)
    return Tool(_finish, name=FINISH, desc=f"Ends the work: all that is needed for {names} is known now.", args={})


def _finish(**_overlooked: Any) -> str:
    return COMPLETED


def submit_tool(signature: type[Signature]) -> Tool:
    """ReActV2's tool that carries the signature's outputs, with a schema made from them.

    Args:
        signature: The task.

    Returns:
        A tool whose value is the dict of outputs, converted to their declared types.
    """
    return Tool(_Submit(signature), name=SUBMIT, desc="Hands in the final outputs and ends the work.")


class _Submit:
    """A callable whose parameters are a signature's outputs; a class, so that an agent can be pickled."""

    def __init__(self, signature: type[Signature]) -> None:
        self._fields = signature.output_fields
        self.__signature__ = inspect.Signature([_parameter(name, field) for name, field in self._fields.items()])
        self._task = signature

    def __call__(self, /, **outputs: Any) -> dict[str, Any]:
        return {name: outputs[name] if name in outputs else _default(field) for name, field in self._fields.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _Submit, (self._task,)


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    extra = field.json_schema_extra
    desc = extra.get("desc") if isinstance(extra, dict) else None
    annotation: Any = field.annotation
    if isinstance(desc, str) and desc and desc != f"${{{name}}}":
        annotation = Annotated[annotation, Field(description=desc)]
    for constraint in field.metadata:
        annotation = Annotated[annotation, constraint]
    needed = field.is_required() and plain_type(field.annotation) is field.annotation
    default = inspect.Parameter.empty if needed else _default(field)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _default(field: FieldInfo) -> Any:
    """What an output is that was left out; one that may be None need not be handed in."""
    return None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})


def clarification_tool() -> Tool:
    """The tool by which a model asks the person it works for (agent option ``ask_user``)."""

    return Tool(
        _user_clarification,
        name=ASK,
        desc="Asks the person you work for, where the task is unclear or something only they know is missing.",
        require_confirmation=True,
    )


def _user_clarification(question: str) -> str:
    raise RuntimeError("a clarification is answered by a person, never by running the tool")
