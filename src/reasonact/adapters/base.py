"""Adapter: from a signature and its values to a request, and from a completion back to values.

A request is rendered to a `Plan` and its answer is read by that plan; nothing that the
caller passed is changed. The hooks keep DSPy's names and arguments and are called
through the object, so that a subclass may replace any of them. What depends on the
signature alone is kept in ``signature.memo``; what a run has rendered of its history,
in the run's own `Rendered`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from reasonact.adapters.asking import ask
from reasonact.adapters.composing import HOOKS, compose, overrides
from reasonact.adapters.conversation import Rendered
from reasonact.adapters.layout import layout_of
from reasonact.adapters.loose_text import loose_text
from reasonact.adapters.native import (
    adapt_types,
    native_calls,
    tool_list,
    with_tool_choice,
    without_lone_tool_options,
)
from reasonact.adapters.plan import Native, Plan
from reasonact.adapters.prompt_hooks import PromptHooks
from reasonact.adapters.readers import typed_fields
from reasonact.adapters.reading import read_completion
from reasonact.adapters.refusals import Refusal
from reasonact.adapters.splitting import FreeTextSplitter, SilentSplitter, Splitter
from reasonact.runtime.callbacks import BaseCallback, observed
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning


class Adapter(PromptHooks):
    """Base of the adapters; a subclass gives messages their form and reads it back.

    Args:
        callbacks: Callbacks for this object alone.
        use_native_function_calling: Let the model call tools by its provider's own
            interface, where it has one and the signature has tools and a `ToolCalls` output.
        native_response_types: Types whose output fields may come by a channel of the
            model's own; by default `Reasoning`.
        parallel_tool_calls: What to ask the provider for; None says nothing.
    """

    callback_kind: ClassVar[str] = "adapter"

    def __init__(
        self,
        callbacks: list[BaseCallback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: list[type[Type]] | None = None,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        self.callbacks = callbacks or []
        self.use_native_function_calling = use_native_function_calling
        self.native_response_types: list[type[Any]] = (
            [Reasoning] if native_response_types is None else list(native_response_types)
        )
        self.parallel_tool_calls = parallel_tool_calls

    # Asking

    def __call__(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: list[Any], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Render, ask, read.

        Args:
            lm: The model.
            lm_kwargs: Options of the request; not changed.
            signature: The signature class.
            demos: Examples, as dicts or `Example`.
            inputs: The signature's inputs.

        Returns:
            The output fields of each completion.

        Raises:
            AdapterParseError: A completion does not hold the output fields.
            LMError: The model could not be asked.
            ValueError: The signature wants native tool calls but has no tools.
        """
        return drive(self.flow(lm, lm_kwargs, signature, demos, inputs))

    async def acall(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: list[Any], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """As calling the object, on the running event loop."""
        return await adrive(self.flow(lm, lm_kwargs, signature, demos, inputs))

    def flow(
        self,
        lm: Any,
        options: Mapping[str, Any],
        signature: Any,
        demos: list[Any],
        inputs: Mapping[str, Any],
        rendered: Rendered | None = None,
    ) -> Flow[list[dict[str, Any]]]:
        """The one body of `__call__` and `acall`.

        Args:
            lm: The model.
            options: Options of the request.
            signature: The signature class.
            demos: Examples.
            inputs: The signature's inputs.
            rendered: What the run that asks has rendered so far.

        Returns:
            The output fields of each completion.
        """
        return (yield from self.exchange(lm, self.render(lm, options, signature, demos, inputs, rendered)))

    def exchange(self, lm: Any, plan: Plan) -> Flow[list[dict[str, Any]]]:
        """Send a plan and read the answer; once more where the model's provider refuses what the form has added.

        Args:
            lm: The model.
            plan: The plan.

        Returns:
            The output fields of each completion.

        Raises:
            LMError: The model could not be asked, also without what was refused.
            AdapterParseError: An answer cannot be read.
        """
        try:
            outputs = yield from ask(self, lm, plan)
        except Refusal as error:
            weaker = self.weaker(lm, plan, error) if plan.added else None
            if weaker is None:
                raise
            outputs = yield from ask(self, lm, weaker)
        return self.read(plan, outputs)

    def call_flow(
        self,
        lm: Any,
        options: Mapping[str, Any],
        signature: Any,
        demos: list[Any],
        inputs: Mapping[str, Any],
        rendered: Rendered | None = None,
    ) -> Flow[list[dict[str, Any]]]:
        """As `flow`, but where a subclass has a ``__call__`` or ``acall`` of its own, by that."""
        if not overrides(self, "__call__", "acall"):
            return (yield from self.flow(lm, options, signature, demos, inputs, rendered))
        return (yield from call(_CallAdapter(self, lm, dict(options), signature, demos, dict(inputs))))

    def calls_natively(self, lm: Any) -> bool:
        """Whether requests to this model carry native tools."""
        return bool(self.use_native_function_calling and lm is not None and lm.supports_function_calling)

    # Rendering

    def render(
        self,
        lm: Any,
        options: Mapping[str, Any],
        signature: Any,
        demos: list[Any],
        inputs: Mapping[str, Any],
        rendered: Rendered | None = None,
    ) -> Plan:
        """Make the request.

        Args:
            lm: The model; only what it can do is asked of it.
            options: Options of the request; a copy goes into the plan.
            signature: The signature class.
            demos: Examples.
            inputs: The signature's inputs.
            rendered: What the run that asks has rendered so far.

        Returns:
            The plan.

        Raises:
            ValueError: The signature wants native tool calls but has no tools.
        """
        layout = layout_of(signature)
        sent = dict(options)
        given = dict(inputs)
        shown, native = signature, Native()
        tools = tool_list(given.get(layout.tools)) if layout.tools else []
        if layout.tool_calls and self.calls_natively(lm):
            if layout.tools is None:
                raise ValueError(
                    f"the output field {layout.tool_calls!r} takes tool calls, but no input field holds the tools; "
                    "add one of type list[Tool]"
                )
            if tools:
                shown, native = native_calls(signature, tools)
                del given[layout.tools]
                sent["tools"] = (rendered or Rendered()).descriptors(tools)
                sent = with_tool_choice(sent, native.own_names, self.parallel_tool_calls)
        sent = without_lone_tool_options(sent)
        shown, native, sent = adapt_types(self.native_response_types, lm, signature, shown, native, sent)
        with observed("adapter_format", self, {"signature": shown, "demos": demos, "inputs": given}) as observation:
            if overrides(self, "format"):
                messages = self.format(shown, demos, given)
            else:
                memo = None if overrides(self, *HOOKS) else rendered
                messages = compose(self, shown, demos, given, memo, native)
            observation.outputs = messages
        return self.with_own_options(Plan(signature, shown, messages, sent, native, tuple(tools)), lm, options)

    def with_own_options(self, plan: Plan, lm: Any, options: Mapping[str, Any]) -> Plan:
        """The plan with the options that the form asks for; here none.

        Args:
            plan: The request so far.
            lm: The model; only what it can do is asked of it.
            options: The options as the caller gave them.

        Returns:
            The plan; what it has more in ``options`` it names in ``added``.
        """
        return plan

    def weaker(self, lm: Any, plan: Plan, error: Exception) -> Plan | None:
        """The plan without an option of the form's own that was refused; here there is none.

        Args:
            lm: The model.
            plan: The plan that was refused.
            error: Why.

        Returns:
            Another plan; None where that would change nothing.
        """
        return None

    # Reading

    def read(self, plan: Plan, outputs: Iterable[Any]) -> list[dict[str, Any]]:
        """Read the answers to a plan.

        Args:
            plan: The plan.
            outputs: The completions: texts, or dicts with ``text`` and more.

        Returns:
            The output fields of each, in the signature's order.

        Raises:
            AdapterParseError: A completion does not hold the output fields.
        """
        return [read_completion(self, plan, output) for output in outputs]

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Read the output fields out of a text.

        Args:
            signature: The signature as the prompt shows it.
            completion: What the model wrote.

        Returns:
            The fields, typed. A field that was left out has its default, or None where
            its type allows that.

        Raises:
            AdapterParseError: A field is missing or its value does not fit its type.
        """
        return typed_fields(type(self).__name__, signature, completion, self.raw_fields(signature, completion))

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """The output fields of a text as they were written.

        Args:
            signature: The signature as the prompt shows it.
            completion: What the model wrote.
            tools: The tools of the request, for forms that depend on their arguments.

        Returns:
            The values of the fields that were found, each text or plain data.

        Raises:
            AdapterParseError: The text cannot be read for certain.
        """
        raise NotImplementedError

    def splitter(self, plan: Plan) -> Splitter:
        """What cuts a completion into fields while it arrives.

        Args:
            plan: The plan of the request.

        Returns:
            A new splitter, for one completion.
        """
        name = plan.native.free_text
        if name is not None:
            return FreeTextSplitter(name, lambda text: str(self.free_text(plan, text).get(name, "")))
        return self.field_splitter(plan.shown)

    def field_splitter(self, signature: Any) -> Splitter:
        """What cuts a completion in this adapter's own form; here nothing does.

        Args:
            signature: The signature as the prompt shows it.

        Returns:
            A new splitter, for one completion.
        """
        return SilentSplitter()

    def free_text(self, plan: Plan, text: str) -> dict[str, Any]:
        """Read the text beside native calls, in a request that asked for no form.

        Args:
            plan: The plan; its ``native.free_text`` names the field that takes the text.
            text: What the model wrote.

        Returns:
            Raw values: the text, taken out of any form it was put in after all, and calls
            that were written instead of made.
        """
        return loose_text(plan, text)


@dataclass(frozen=True, slots=True)
class _CallAdapter(Command[list[dict[str, Any]]]):
    """Call an adapter whose own ``__call__`` or ``acall`` does something of its own."""

    adapter: Adapter
    lm: Any
    options: dict[str, Any]
    signature: Any
    demos: list[Any]
    inputs: dict[str, Any]

    def run(self) -> list[dict[str, Any]]:
        return self.adapter(self.lm, self.options, self.signature, self.demos, self.inputs)

    async def arun(self) -> list[dict[str, Any]]:
        return await self.adapter.acall(self.lm, self.options, self.signature, self.demos, self.inputs)
