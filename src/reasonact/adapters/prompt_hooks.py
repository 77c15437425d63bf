"""The hooks that make the messages of a request; the base of what every adapter says."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from reasonact.adapters.annotation_names import get_field_description_string
from reasonact.adapters.composing import compose, overrides
from reasonact.adapters.content import Content, Pieces, joined, laid_out, put_together
from reasonact.adapters.conversation import Rendered, history_events, history_messages
from reasonact.adapters.fields import RESULTS, FieldInfoWithName, named
from reasonact.adapters.layout import layout_of, spoken
from reasonact.signatures.memo import kept

if TYPE_CHECKING:
    from reasonact.adapters.base import Adapter

INCOMPLETE_DEMO = "An example; some of its fields are left out."
MISSING_IN_DEMO = "(left out here)"


class PromptHooks:
    """DSPy's formatting methods, called through the object so that a subclass may replace any.

    A form gives `format_field_structure`, `field_pieces` and
    `format_assistant_message_content`; the others follow.
    """

    field_separator: ClassVar[str] = "\n\n"

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
        return compose(self._adapter, signature, demos, inputs)

    def format_system_message(self, signature: Any) -> str:
        """The system message: fields, form, task."""
        parts = (self.format_field_description, self.format_field_structure, self.format_task_description)
        return "\n\n".join(part(signature) for part in parts)

    def format_field_description(self, signature: Any) -> str:
        """The list of the fields with types and descriptions."""
        given = get_field_description_string(signature.input_fields)
        text = f"You are given these fields:\n{given}"
        if layout_of(signature).free_text or not signature.output_fields:
            return text
        wanted = get_field_description_string(signature.output_fields)
        return f"{text}\n\nYou write these fields:\n{wanted}"

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
        said = [
            (FieldInfoWithName(name, info), inputs[name])
            for name, info in signature.input_fields.items()
            if name in inputs
        ]
        reminder = self.reminder(signature) if main_request else ""
        return joined(laid_out([[prefix], self.field_row(said), [reminder], [suffix]], "\n\n"))

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
        """Fields and their values, in the form that messages have.

        Args:
            fields_with_values: Values by field.

        Returns:
            Text, or content parts where a value holds media.
        """
        return joined(self.own_row(fields_with_values.items()))

    def field_pieces(self, field: FieldInfoWithName, value: Any) -> list[Content]:
        """One field and its value in the form that messages have, as pieces to be put one after another."""
        raise NotImplementedError

    def field_row(self, fields: Collection[tuple[FieldInfoWithName, Any]]) -> list[Content]:
        """As `format_field_with_value`, in pieces: a long value is then copied once, into the message."""
        if overrides(self._adapter, "format_field_with_value"):
            return [self.format_field_with_value(dict(fields))] if fields else []
        return self.own_row(fields)

    def own_row(self, fields: Iterable[tuple[FieldInfoWithName, Any]]) -> list[Content]:
        """As `field_row`, in the form of the adapter's class, whatever a program overrides."""
        return laid_out([self.field_pieces(field, value) for field, value in fields], self.field_separator)

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of what is to be written; empty where nothing need be said."""
        return ""

    def reminder(self, signature: Any) -> str:
        """As `user_message_output_requirements`, worked out once for a signature."""
        if overrides(self._adapter, "user_message_output_requirements"):
            return self.user_message_output_requirements(signature)
        return kept(signature, (type(self), "reminder"), self.user_message_output_requirements)

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
        if rendered is None or overrides(self._adapter, "format_field_with_value"):
            return self.format_field_with_value({named(name): value for name, value in trajectory.items()})
        return put_together(self.trajectory_pieces(trajectory, rendered, errors))

    def trajectory_pieces(
        self, trajectory: Mapping[str, Any], rendered: Rendered, errors: Collection[int] = ()
    ) -> Pieces | Content:
        """As `format_trajectory`, in pieces that are copied once, into the message of a request.

        Args:
            trajectory: As for `format_trajectory`; so for the others.
            rendered: What the run has rendered so far.
            errors: As above.

        Returns:
            What an adapter of this library takes as the value of a field.
        """
        if overrides(self._adapter, "format_field_with_value", "format_trajectory"):
            whole: Content = self.format_trajectory(trajectory, rendered, errors)
            return whole

        def piece(name: str, value: Any) -> Content:
            return joined(self.field_pieces(named(name), value))

        return rendered.trajectory.render(trajectory, self.field_separator, piece, self)

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
        return history_messages(
            self._adapter, spoken(signature), history_events(inputs.get(history_field_name)), None, {}
        )

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

    @property
    def _adapter(self) -> Adapter:
        return cast("Adapter", self)  # nobody makes hooks alone
