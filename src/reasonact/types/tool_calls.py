"""Tool calls of one turn, and what came of them.

Models and providers write a call in many shapes; reading them is the work of this file.
A shape that is not known is an error that says what was found: it never becomes a call
without arguments, since such a call would run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, SerializationInfo, model_serializer, model_validator

from reasonact.types.base import Type
from reasonact.types.json_form import json_form

_LIST_KEYS: Final = ("tool_calls", "items")
_ID_KEYS: Final = ("id", "call_id", "tool_call_id")
_ARGUMENT_KEYS: Final = ("args", "arguments", "parameters", "input")


class ToolCallResults(BaseModel):
    """The results of a turn's calls, in the order of the calls.

    Args:
        tool_call_results: One result for each call; a bare list is read too.

    Raises:
        ValueError: An entry is no result.
    """

    model_config = ConfigDict(defer_build=True)

    class ToolCallResult(BaseModel):
        """What one call gave.

        Args:
            call_id: The id of the call.
            name: The tool's name.
            value: What it returned, of any type; for an error, the text that says what failed.
            is_error: Whether the call failed.

        Raises:
            ValueError: A field is missing or of the wrong type.
        """

        model_config = ConfigDict(defer_build=True)

        call_id: str | None = None
        name: str
        value: Any
        is_error: bool = False

        @model_serializer()
        def serialize_model(self, info: SerializationInfo) -> dict[str, Any]:
            """The result as data; in JSON mode its value becomes what the model was shown."""
            value = json_form(self.value) if info.mode == "json" else self.value
            return {"call_id": self.call_id, "name": self.name, "value": value, "is_error": self.is_error}

    tool_call_results: list[ToolCallResult]

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        """Read a bare list, or one bare result, as the list of results."""
        if isinstance(data, (list, tuple)):
            return {"tool_call_results": list(data)}
        if isinstance(data, Mapping) and "tool_call_results" not in data and "name" in data:
            return {"tool_call_results": [data]}
        return data

    @classmethod
    def from_tool_calls_and_values(
        cls,
        tool_calls: Sequence[ToolCalls.ToolCall] | ToolCalls,
        values: Sequence[Any],
        is_errors: Sequence[bool] | None = None,
    ) -> ToolCallResults:
        """Pair calls with what they gave.

        Args:
            tool_calls: The calls.
            values: One value for each call, in their order.
            is_errors: Whether each call failed; None for no failure.

        Returns:
            The results, each with its call's id and name.

        Raises:
            ValueError: The lengths differ.
        """
        calls = tool_calls.tool_calls if isinstance(tool_calls, ToolCalls) else tool_calls
        failed = [False] * len(calls) if is_errors is None else is_errors
        if not len(calls) == len(values) == len(failed):
            raise ValueError(
                f"each call needs one value and one error mark: there are {len(calls)} calls, "
                f"{len(values)} values and {len(failed)} marks"
            )
        return cls(
            tool_call_results=[
                cls.ToolCallResult(call_id=call.id, name=call.name, value=value, is_error=is_error)
                for call, value, is_error in zip(calls, values, failed, strict=True)
            ]
        )


class ToolCalls(Type):
    """The calls that a model asks for in one turn.

    Args:
        tool_calls: The calls. Validation also reads a bare call, a bare list, ``{"items": [...]}``
            and OpenAI's shape, with arguments as JSON text or under another name.
        tool_call_results: Their results, once they have run.

    Raises:
        ValueError: The shape is not known, or a call has no name or no readable arguments.
    """

    class ToolCall(Type):
        """One call.

        Args:
            id: Links the call to its result; None where the model gave none.
            name: The tool's name.
            args: Arguments by name.

        Raises:
            ValueError: The shape is not known.
        """

        schema_omits: ClassVar[tuple[str, ...]] = ("id",)

        id: str | None = None
        name: str
        args: dict[str, Any]

        @model_validator(mode="before")
        @classmethod
        def validate_input(cls, data: Any) -> Any:
            """Read the shapes in which providers and models write a call."""
            if isinstance(data, cls) or not isinstance(data, (Mapping, str)):
                return data
            if type(data) is dict and type(data.get("args")) is dict and type(data.get("name")) is str:
                return data
            return _read_call(data)

        def format(self) -> dict[str, Any]:
            """The call as a model writes it in text: name and arguments, without the id."""
            return {"name": self.name, "args": self.args}

        @model_serializer()
        def serialize_model(self, info: SerializationInfo) -> dict[str, Any]:
            """The call as data, with its id where it has one."""
            args = json_form(self.args) if info.mode == "json" else self.args
            return {"id": self.id, "name": self.name, "args": args} if self.id else {"name": self.name, "args": args}

        def execute(self, functions: Mapping[str, Any] | Sequence[Any] | None = None) -> Any:
            """Run the call's tool.

            Args:
                functions: Callables by name, or a list of tools or functions. Without it the
                    name is looked up among the caller's local and global names, as in DSPy.

            Returns:
                What the tool returned.

            Raises:
                ValueError: There is no function of that name.
                RuntimeError: The tool failed; its exception is the cause.
            """
            if functions is None:
                caller = sys._getframe(1)
                function = caller.f_locals.get(self.name, caller.f_globals.get(self.name))
            elif isinstance(functions, Mapping):
                function = functions.get(self.name)
            else:
                function = next((item for item in functions if _name_of(item) == self.name), None)
            if not callable(function):
                raise ValueError(f"there is no function {self.name!r} to run; pass it in execute(functions=...)")
            try:
                return function(**self.args)
            except Exception as error:
                raise RuntimeError(f"The tool {self.name!r} failed: {error}") from error

    schema_omits: ClassVar[tuple[str, ...]] = ("tool_call_results",)

    tool_calls: list[ToolCall]
    tool_call_results: ToolCallResults | None = None

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        """Read the shapes in which models and providers write a turn's calls."""
        if isinstance(data, cls):
            return data
        if type(data) is dict and type(data.get("tool_calls")) is list:
            return data
        return _read_calls(data)

    @classmethod
    def from_dict_list(cls, tool_calls_dicts: Iterable[Mapping[str, Any]]) -> ToolCalls:
        """Make it from dicts.

        Args:
            tool_calls_dicts: For each call ``name``, ``args`` and, where it has one, ``id``.

        Returns:
            The calls.

        Raises:
            ValueError: A dict is no call.
        """
        return cls(tool_calls=[cls.ToolCall.model_validate(dict(item)) for item in tool_calls_dicts])

    @classmethod
    def description(cls) -> str:
        """The JSON shape that a model is to write."""
        return (
            "Calls go into one JSON object under `tool_calls`, with a `name` and an object of `args` for each: "
            '{"tool_calls": [{"name": "lookup", "args": {"word": "tide"}}]}'
        )

    def format(self) -> dict[str, Any]:
        """The calls as a model writes them in text, without ids and results."""
        return {"tool_calls": [call.format() for call in self.tool_calls]}

    @model_serializer()
    def serialize_model(self, info: SerializationInfo) -> dict[str, Any]:
        """Calls, and results where there are some, as data."""
        dumped: dict[str, Any] = {"tool_calls": [call.model_dump(mode=info.mode) for call in self.tool_calls]}
        if self.tool_call_results is not None:
            dumped["tool_call_results"] = self.tool_call_results.model_dump(mode=info.mode)
        return dumped


def _name_of(function: Callable[..., Any] | Any) -> Any:
    return getattr(function, "name", None) or getattr(function, "__name__", None)


def _read_calls(data: Any) -> dict[str, Any]:
    if isinstance(data, ToolCalls.ToolCall):
        return {"tool_calls": [data]}
    if isinstance(data, str):
        return _read_calls(_loaded(data, "tool calls"))
    if isinstance(data, (list, tuple)):
        return {"tool_calls": list(data)}
    if isinstance(data, Mapping):
        for key in _LIST_KEYS:
            if key not in data:
                continue
            calls = data[key]
            if isinstance(calls, str):
                calls = _loaded(calls, f"{key!r}")
            if isinstance(calls, Mapping):
                calls = [calls]
            if calls is None or isinstance(calls, (list, tuple)):
                return {**data, "tool_calls": list(calls or ())}
            raise ValueError(f"{key!r} must hold a list of calls, found {_shown(calls)}")
        return {"tool_calls": [_read_call(data)]}
    raise ValueError(
        f"these are no tool calls: {_shown(data)}; expected a call, a list of calls or {{'tool_calls': …}}"
    )


def _read_call(data: Any) -> dict[str, Any]:
    if isinstance(data, str):
        data = _loaded(data, "a tool call")
    if not isinstance(data, Mapping):
        raise ValueError(f"this is no tool call: {_shown(data)}; expected an object with 'name' and 'args'")
    function = data.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else data
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"this tool call names no tool: {_shown(data)}; expected an object with 'name' and 'args'")
    given = {key: inner[key] for key in _ARGUMENT_KEYS if key in inner}
    if not given:
        raise ValueError(f"the call of {name!r} has no arguments: {_shown(data)}; expected 'args', an object, if empty")
    filled = [_arguments(name, value) for value in given.values()]
    filled = [arguments for arguments in filled if arguments] or filled[:1]
    try:
        differ = any(arguments != filled[0] for arguments in filled)
    except RecursionError:
        differ = True  # for all that can be known
    if differ:
        raise ValueError(f"the call of {name!r} gives its arguments twice, and differently: {_shown(given)}")
    call_id = next((data[key] for key in _ID_KEYS if isinstance(data.get(key), str) and data[key]), None)
    return {"id": call_id, "name": name, "args": filled[0]}


def _arguments(name: str, value: Any) -> dict[str, Any]:
    for _ in range(2):  # some providers put JSON text into JSON text
        if isinstance(value, str) and value.strip():
            value = _loaded(value, f"the arguments of {name!r}")
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or value in ("", []) or (isinstance(value, str) and not value.strip()):
        return {}
    raise ValueError(f"the arguments of {name!r} must be an object, found {_shown(value)}")


def _loaded(text: str, what: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{what} came as text that is no JSON ({error}): {_shown(text)}") from None


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deeply to be shown"
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
