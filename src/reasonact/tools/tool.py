"""The Tool: a callable with a name, a description and arguments that a model can fill.

What depends on the callable alone (its schema, its validators) is worked out at construction.
A call is one flow for sync and async code: check the arguments, run the callable, keep its
result, by the tool's policy.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, SkipValidation, model_serializer

from reasonact.errors import format_error_for_lm
from reasonact.runtime.callbacks import observed
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Flow, call
from reasonact.runtime.settings import settings
from reasonact.tools.arguments import ArgumentChecker, InvalidArguments
from reasonact.tools.control_flow import is_control_flow
from reasonact.tools.invoke import RunCallable
from reasonact.tools.langchain import langchain_tool
from reasonact.tools.mcp_calls import MCPSession, ResultMode, mcp_tool
from reasonact.tools.parameters import Shape, is_async, name_and_doc
from reasonact.tools.pickling import DecoratedName, picklable
from reasonact.tools.policy import OnError, Retries, SyncTools, ToolPolicy
from reasonact.tools.preparation import Given, Prepared, prepare
from reasonact.tools.results import ResultTable, key_of
from reasonact.tools.retrying import with_retries
from reasonact.tools.schema import hoisted
from reasonact.tools.wire_name import safe_name
from reasonact.types.base import Type

logger = logging.getLogger("reasonact.tools")

_SLOTS: Final = ("_checker", "_given", "_is_async", "_results", "_shape")


class Tool(Type):
    """A callable that a model may ask for.

    Any callable will do: functions, methods, classes, partials, builtins, async functions.
    Generators, sync and async, are collected to a list; what is awaitable is awaited.
    Name, description and argument schemas come from the callable unless given. ``*args`` is
    hidden from the model; names beyond the parameters are taken where there is ``**kwargs``.
    As DSPy's ``Tool``, with a policy added.

    Args:
        func: The callable.
        name: The name for the model; by default the callable's.
        desc: The description for the model; by default the docstring.
        args: JSON schemas by argument name, instead of those made from the types. Arguments are
            then checked by jsonschema, and after that made into the annotated types.
        arg_types: Types by argument name that count instead of annotations; where the callable
            has ``**kwargs`` they declare further arguments. Other names are passed over.
        arg_desc: Descriptions by argument name. Other names are passed over.
        schema: The JSON schema of the whole arguments object, instead of ``args``.
        timeout: See `ToolPolicy`, which also explains the others.
        retries: Second tries after named exceptions.
        on_error: What a failure becomes.
        sequential: Never beside another call of its turn.
        sync_tools: Where a sync callable runs in async code.
        cache: Keep results by arguments. The kept object itself is handed out again.
        require_confirmation: Ask a person first.
        strict: Check arguments without converting them.

    Raises:
        ValueError: ``func`` cannot be called, the name is empty, a schema is no JSON schema, the
            schemas do not go with the callable's parameters, or a policy value is none.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    callback_kind: ClassVar[str] = "tool"
    callbacks: ClassVar[tuple[Any, ...]] = ()
    func: SkipValidation[Callable[..., Any]]
    name: SkipValidation[str]
    desc: SkipValidation[str | None]
    args: SkipValidation[dict[str, Any]]
    arg_types: SkipValidation[dict[str, Any]]
    arg_desc: SkipValidation[dict[str, str] | None]
    has_kwargs: SkipValidation[bool]
    policy: SkipValidation[ToolPolicy]

    if TYPE_CHECKING:
        _checker: ArgumentChecker
        _given: Given
        _is_async: bool
        _results: ResultTable
        _shape: Shape
    else:  # type checkers would take these for all that there is
        __slots__ = _SLOTS

    def __init__(
        self,
        func: Callable[..., Any],
        name: str | None = None,
        desc: str | None = None,
        args: dict[str, Any] | None = None,
        arg_types: dict[str, Any] | None = None,
        arg_desc: dict[str, str] | None = None,
        *,
        schema: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retries: Retries | None = None,
        on_error: OnError | None = None,
        sequential: bool = False,
        sync_tools: SyncTools | None = None,
        cache: bool = False,
        require_confirmation: bool | Callable[[Mapping[str, Any]], bool] = False,
        strict: bool = False,
    ) -> None:
        if not callable(func):
            raise ValueError(f"a tool is made from a callable, got {type(func).__name__} {func!r}")
        own_name, doc = name_and_doc(func)
        name = own_name if name is None else name
        if not isinstance(name, str) or not name:
            raise ValueError(f"a tool's name is a text that is not empty, got {name!r}")
        policy = ToolPolicy(
            timeout=timeout,
            retries=retries,
            on_error=on_error,
            sequential=sequential,
            sync_tools=sync_tools,
            cache=cache,
            require_confirmation=require_confirmation,
            strict=strict,
        )
        given = Given(args, schema, arg_types, strict)
        prepared = prepare(func, name, given, arg_desc)
        BaseModel.__init__(
            self,
            func=func,
            name=name,
            desc=doc if desc is None else desc,
            args=prepared.args,
            arg_types=prepared.arg_types,
            arg_desc=arg_desc,
            has_kwargs=prepared.shape.has_kwargs,
            policy=policy,
        )
        self._set_up(given, prepared)

    def _set_up(self, given: Given, prepared: Prepared) -> None:
        put = object.__setattr__  # pydantic's own looks every name up first
        put(self, "_given", given)
        put(self, "_shape", prepared.shape)
        put(self, "_checker", prepared.checker)
        put(self, "_is_async", is_async(self.func))
        put(self, "_results", ResultTable())

    @property
    def is_async(self) -> bool:
        """Whether the callable is an async function or async generator by its definition."""
        return self._is_async

    @property
    def positional_names(self) -> tuple[str, ...]:
        """The arguments that the callable takes by position, in its order."""
        return tuple(p.name for p in self._shape.parameters if p.kind is not p.kind.KEYWORD_ONLY)

    @property
    def wire_name(self) -> str:
        """The name as every provider takes it: letters, digits, ``_``, ``-``, at most 64 of them.

        It is ``name`` itself where that is safe; otherwise it ends in a checksum of ``name``, so
        that two names never meet.
        """
        return safe_name(self.name)

    def __call__(self, /, **kwargs: Any) -> Any:
        """Run the tool with arguments by name.

        Args:
            **kwargs: The arguments, as a model gives them or as values of their types.

        Returns:
            What the callable returns; a list of what it yields.

        Raises:
            InvalidArguments: An argument is malformed, missing or not declared (a ValueError).
            ValueError: The callable is async, and the setting
                ``allow_tool_async_sync_conversion`` is off.
            TimeoutError: It did not end within the policy's ``timeout``.
            Exception: What the callable raises.
        """
        return drive(self._answer(kwargs))

    async def acall(self, /, **kwargs: Any) -> Any:
        """Run the tool from async code; otherwise as a plain call.

        A sync callable runs in a worker thread, unless the tool has ``sync_tools="inline"``.
        """
        return await adrive(self._answer(kwargs))

    def _answer(self, args: Mapping[str, Any]) -> Flow[Any]:
        try:
            return (yield from self.flow(args))
        except Exception as error:
            if self.policy.on_error != "return" or isinstance(error, InvalidArguments) or is_control_flow(error):
                raise
            return f"{self.name}: {format_error_for_lm(error, traceback_frames=settings.error_traceback_frames)}"

    def flow(self, args: Mapping[str, Any], sync_tools: SyncTools = "thread") -> Flow[Any]:
        """One call as a flow, for code that drives flows itself.

        Args:
            args: The arguments by name.
            sync_tools: Where a sync callable runs in async code, if the tool does not say.

        Returns:
            A flow whose end is the result. A failure is raised, unless the policy's ``on_error``
            is a callable: its answer is the result then.
        """
        with observed("tool", self, {"kwargs": args}) as observation:
            values = self._checker.check(args)
            observation.outputs = yield from self._run(values, self.policy.sync_tools or sync_tools)
        return observation.outputs

    def check_args(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Check arguments without running anything.

        Args:
            args: The arguments by name.

        Returns:
            The converted arguments that the callable would get, without those left out.

        Raises:
            InvalidArguments: One is malformed, missing or not declared.
        """
        return self._checker.check(args)

    def needs_confirmation(self, args: Mapping[str, Any]) -> bool:
        """Whether a person has to agree before this call.

        Args:
            args: The arguments by name.

        Returns:
            What the policy says of the checked arguments, with the defaults of those left
            out; True where it cannot say, as its own function failed; False for arguments
            that would be refused anyway.
        """
        required = self.policy.require_confirmation
        if required is False:
            return False
        try:
            values = self._checker.check(args)
        except InvalidArguments:
            return False
        if not callable(required):
            return True
        for parameter in self._shape.parameters:
            if parameter.name not in values and not parameter.required:
                values[parameter.name] = parameter.value_when_left_out()
        try:
            return bool(required(values))
        except Exception as error:
            logger.warning(
                "require_confirmation of the tool %s failed, so a person is asked: %s: %s",
                self.name,
                type(error).__name__,
                error,
            )
            return True

    def _run(self, values: dict[str, Any], sync_tools: SyncTools) -> Flow[Any]:
        policy = self.policy
        key = key_of(values) if policy.cache else None
        if key is not None:
            found, kept = self._results.find(key)
            if found:
                return kept
        args, kwargs = self._shape.passed(values)
        command = RunCallable(
            self.name, self.func, args, kwargs, self._is_async, sync_tools == "inline", policy.timeout
        )
        try:
            if policy.retries is None:
                result = yield from call(command)
            else:
                result = yield from with_retries(command, policy.retries)
        except Exception as error:
            if not callable(policy.on_error) or is_control_flow(error):
                raise
            return policy.on_error(error)
        if key is not None:
            self._results.keep(key, result)
        return result

    @classmethod
    def from_mcp_tool(cls, session: MCPSession, tool: Any, *, result_mode: ResultMode = "text", **policy: Any) -> Tool:
        """Make a tool of one that an MCP server offers.

        Args:
            session: The open session (``mcp.ClientSession`` or ``mcp.Client``, SDK 1 or 2).
            tool: The ``mcp.types.Tool`` that it listed.
            result_mode: ``"text"`` gives the parts of a result in their order: text, `Image`,
                `Audio`, `File`; one part alone, several as a list. ``"structured"`` gives its
                structured content, checked by the tool's output schema, and the parts where
                there is none.
            **policy: Further options of `Tool`, such as ``timeout``.

        Returns:
            An async tool. It raises `MCPToolError` where the server says that the call failed.

        Raises:
            ValueError: ``result_mode`` is neither, or a schema of the tool is no JSON schema.
        """
        found = mcp_tool(session, tool, result_mode)
        return cls(found.func, found.name, found.desc, schema=found.schema, **policy)

    @classmethod
    def from_langchain(cls, tool: Any, **policy: Any) -> Tool:
        """Make a tool of a LangChain tool.

        Args:
            tool: A ``BaseTool``.
            **policy: Further options of `Tool`, such as ``timeout``.

        Returns:
            An async tool, which runs the other by ``ainvoke``.

        Raises:
            ValueError: The tool tells no usable schema of its arguments.
        """
        found = langchain_tool(tool)
        return cls(found.func, found.name, found.desc, schema=found.schema, **policy)

    def format(self) -> str:
        """The tool in words, as text-mode prompts show it; the same as ``str(tool)``."""
        return str(self)

    def format_as_litellm_function_call(self) -> dict[str, Any]:
        """The tool as chat-completion requests carry it.

        Returns:
            A new dict ``{"type": "function", "function": {"name", "description", "parameters"}}``
            with `wire_name` as the name; recursive types have their ``$defs`` at the root of
            ``parameters``.
        """
        properties, definitions = hoisted(self.args)
        required = self._checker.declared.required
        parameters: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name in required],
        }
        if definitions:
            parameters["$defs"] = definitions
        function = {"name": self.wire_name, "description": self.desc, "parameters": parameters}
        return {"type": "function", "function": function}

    @model_serializer()
    def serialize_model(self) -> str:
        """The tool in words, where it stands in data that is dumped; its callable cannot be."""
        return str(self)

    def __str__(self) -> str:
        said = f": <desc>{self.desc}</desc>".replace("\n", "  ") if self.desc else "."
        return f"{self.name}{said} Arguments as JSON schemas: {json.dumps(self.args, ensure_ascii=False, default=str)}"

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)}" for key in ("name", "desc", "args"))
        return f"{type(self).__name__}({shown})"

    def __copy__(self) -> Tool:
        copied: Tool = super().__copy__()
        for slot in _SLOTS:
            setattr(copied, slot, getattr(self, slot))
        copied._results = ResultTable()
        return copied

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Tool:
        # the callable may hold locks and connections: the copy calls the same one
        copied = self.__copy__()
        copied.args = copy.deepcopy(self.args, memo)
        copied.arg_types = dict(self.arg_types)
        copied.arg_desc = copy.copy(self.arg_desc)
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        fields = {**state["__dict__"], "func": picklable(self.func)}
        return {**state, "__dict__": fields, "given": self._given}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        state = dict(state)
        given = state.pop("given")
        super().__setstate__(state)
        pickled: Any = self.func
        if isinstance(pickled, DecoratedName):
            self.func = pickled.resolve()
        self._set_up(given, prepare(self.func, self.name, given, self.arg_desc))
