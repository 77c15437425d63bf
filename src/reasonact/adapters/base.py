"""Adapter: from a signature and its values to a request, and from a completion back to values.

A request is rendered to a `Plan` and its answer is read by that plan; nothing that the
caller passed is changed. The hooks keep DSPy's names and arguments and are called
through the object, so that a subclass may replace any of them. What depends on the
signature alone is kept in ``signature.memo``; what a run has rendered of its history,
in the run's own `Rendered`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from reasonact.adapters.annotation_names import get_field_description_string
from reasonact.adapters.composing import HOOKS, compose, overrides
from reasonact.adapters.conversation import Rendered, history_events, history_messages
from reasonact.adapters.fields import RESULTS, FieldInfoWithName, named
from reasonact.adapters.layout import layout_of, spoken
from reasonact.adapters.loose_text import loose_text
from reasonact.adapters.native import (
    adapt_types,
    choose_tools,
    native_calls,
    tool_list,
    without_lone_tool_options,
)
from reasonact.adapters.plan import Native, Plan
from reasonact.adapters.readers import typed_fields
from reasonact.adapters.reading import read_completion
from reasonact.lm.call import call_lm
from reasonact.runtime.callbacks import BaseCallback, observed
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Command, Flow, call
from reasonact.types.base import Type
from reasonact.types.reasoning import Reasoning

INCOMPLETE_DEMO = "An example; some of its fields are left out."
MISSING_IN_DEMO = "(left out here)"


class Adapter:
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
        plan = self.render(lm, options, signature, demos, inputs, rendered)
        outputs = yield from call_lm(lm, plan.messages, plan.options)
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
                choose_tools(sent, native.own_names, self.parallel_tool_calls)
        sent = without_lone_tool_options(sent)
        shown, native, sent = adapt_types(self.native_response_types, lm, signature, shown, native, sent)
        with observed("adapter_format", self, {"signature": shown, "demos": demos, "inputs": given}) as observation:
            if overrides(self, "format"):
                messages = self.format(shown, demos, given)
            else:
                memo = None if overrides(self, *HOOKS) else rendered
                messages = compose(self, shown, demos, given, memo, native)
            observation.outputs = messages
        return Plan(signature, shown, messages, sent, native, tuple(tools))

    def format(self, signature: Any, demos: list[Any], inputs: dict[str, Any]) -> list[dict[str, Any]]:
        """Make the messages of a request.

        Args:
            signature: The signature as the prompt shows it.
            demos: Examples.
            inputs: The signature's inputs.

        Returns:
            System message, demos, past events, and what is asked now. In an agent's
            turn that says no inputs the last event ends the request.
        """
        return compose(self, signature, demos, inputs)

    def format_system_message(self, signature: Any) -> str:
        """The system message: fields, form, task."""
        return (
            f"{self.format_field_description(signature)}\n\n"
            f"{self.format_field_structure(signature)}\n\n"
            f"{self.format_task_description(signature)}"
        )

    def format_field_description(self, signature: Any) -> str:
        """The list of the fields with types and descriptions."""
        given = f"You are given these fields:\n{get_field_description_string(signature.input_fields)}"
        if layout_of(signature).free_text or not signature.output_fields:
            return given
        return f"{given}\n\nYou write these fields:\n{get_field_description_string(signature.output_fields)}"

    def format_field_structure(self, signature: Any) -> str:
        """The form in which the fields stand in messages."""
        raise NotImplementedError

    def format_task_description(self, signature: Any) -> str:
        """The signature's instructions."""
        return f"Your task:\n{signature.instructions}"

    def format_user_message_content(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> Any:
        """A user message.

        Args:
            signature: The signature as the prompt shows it.
            inputs: Values of its inputs; those that are missing are left out.
            prefix: Text before them.
            suffix: Text behind them.
            main_request: Whether to say what is to be written now.

        Returns:
            Text, or content parts where a value holds media.
        """
        raise NotImplementedError

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """An assistant message with all output fields.

        Args:
            signature: The signature as the prompt shows it.
            outputs: Values of its outputs.
            missing_field_message: What stands for an output that is missing.

        Returns:
            Text, or content parts where a value holds media.
        """
        raise NotImplementedError

    def format_field_with_value(self, fields_with_values: Mapping[FieldInfoWithName, Any]) -> Any:
        """Fields and their values, in the form that messages have."""
        raise NotImplementedError

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of what is to be written; empty where nothing need be said."""
        return ""

    def format_tool_results(self, results: list[dict[str, Any]]) -> Any:
        """The results of a turn's calls, as the user message that follows it in text mode.

        Args:
            results: Dicts with ``call_id``, ``name``, ``value`` and ``is_error``.

        Returns:
            Text, or content parts where a value holds media.
        """
        return self.format_field_with_value({RESULTS: {RESULTS.name: results}})

    def format_tool_list(self, field: FieldInfoWithName, tools: list[Any]) -> str:
        """The tools of an agent's turn in text mode, for the end of the system message.

        Args:
            field: The input that holds the tools.
            tools: The tools.

        Returns:
            The text.
        """
        return f"The tools that you may call:\n\n{self.format_field_with_value({field: tools})}"

    def format_worked_example(self, signature: Any, tools: list[Any]) -> str:
        """An exchange that shows the form, for the system message of a request without demos; here none.

        Args:
            signature: The signature as the prompt shows it.
            tools: The tools of an agent's turn in text mode.

        Returns:
            The text.
        """
        return ""

    def format_trajectory(
        self, trajectory: Mapping[str, Any], rendered: Rendered | None = None, errors: Collection[int] = ()
    ) -> Any:
        """The steps of a `ReAct` run so far, as the value of its ``trajectory`` field.

        Args:
            trajectory: Values by key, ``thought_0``, ``tool_name_0`` and so on.
            rendered: What the run has rendered so far; steps in it are not rendered anew.
            errors: The numbers of the steps whose observation is a complaint and no tool's
                result, for forms that mark them.

        Returns:
            Text, or content parts where a value holds media.
        """
        if rendered is None or overrides(self, "format_field_with_value"):
            return self.format_field_with_value({named(name): value for name, value in trajectory.items()})
        return rendered.trajectory.render(
            trajectory, "\n\n", lambda name, value: self.format_field_with_value({named(name): value}), (self,)
        )

    def format_demos(self, signature: Any, demos: list[Any]) -> list[dict[str, Any]]:
        """Examples as pairs of user and assistant messages.

        Args:
            signature: The signature as the prompt shows it.
            demos: Dicts or `Example`; one without any input or any output is left out.

        Returns:
            The messages; examples that lack fields come first and say so.
        """
        complete, incomplete = [], []
        for demo in demos:
            if all(name in demo and demo[name] is not None for name in signature.fields):
                complete.append(demo)
            elif any(name in demo for name in signature.input_fields) and any(
                name in demo for name in signature.output_fields
            ):
                incomplete.append(demo)
        free_text = layout_of(signature).free_text
        messages = []
        for demo, prefix in [*((demo, INCOMPLETE_DEMO) for demo in incomplete), *((demo, "") for demo in complete)]:
            values = {name: demo[name] for name in signature.fields if name in demo}
            asked = self.format_user_message_content(signature, values, prefix=prefix)
            answer = (
                str(values.get(free_text, MISSING_IN_DEMO))
                if free_text
                else self.format_assistant_message_content(signature, values, missing_field_message=MISSING_IN_DEMO)
            )
            messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
        return messages

    def format_conversation_history(
        self, signature: Any, history_field_name: str, inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Past events as messages.

        Args:
            signature: The signature as the prompt shows it.
            history_field_name: The input that holds the `History`.
            inputs: The signature's inputs; not changed.

        Returns:
            The messages of every event, in order.
        """
        return history_messages(self, spoken(signature), history_events(inputs.get(history_field_name)), None, {})

    def format_finetune_data(
        self, signature: Any, demos: list[Any], inputs: dict[str, Any], outputs: dict[str, Any]
    ) -> dict[str, list[Any]]:
        """A request with its right answer, in the form of OpenAI's fine-tuning files.

        Args:
            signature: The signature class.
            demos: Examples.
            inputs: The signature's inputs.
            outputs: The answer.

        Returns:
            A dict with ``messages``.
        """
        answer = self.format_assistant_message_content(signature, outputs)
        return {"messages": [*self.format(signature, demos, inputs), {"role": "assistant", "content": answer}]}

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
