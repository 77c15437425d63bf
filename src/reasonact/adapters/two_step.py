"""TwoStepAdapter: a model that answers in its own words, and a second one that takes the fields out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reasonact.adapters.annotation_names import get_field_description_string
from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.content import Content, field_row
from reasonact.adapters.fields import FieldInfoWithName
from reasonact.adapters.plan import Plan
from reasonact.adapters.readers import parse_error
from reasonact.errors import AdapterParseError
from reasonact.lm.base import BaseLM
from reasonact.lm.call import call_lm
from reasonact.runtime.drive import drive
from reasonact.runtime.flow import Flow
from reasonact.signatures.fields import InputField
from reasonact.signatures.memo import kept
from reasonact.signatures.signature import Signature

_TEXT = "text"


class TwoStepAdapter(Adapter):
    """Lets a model answer without any form, and asks another for the fields in the answer.

    For models that reason well and keep to forms badly. As ``dspy.TwoStepAdapter``.

    Args:
        extraction_model: The model of the second step.
        **kwargs: Arguments of `Adapter`.

    Raises:
        ValueError: The extraction model is no LM.
    """

    def __init__(self, extraction_model: BaseLM, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(extraction_model, BaseLM):
            raise ValueError(f"extraction_model must be an LM, found {type(extraction_model).__name__}")
        self.extraction_model = extraction_model

    def exchange(self, lm: Any, plan: Plan) -> Flow[list[dict[str, Any]]]:
        """Ask the first model, then the second for each of its answers."""
        outputs = yield from call_lm(lm, plan.messages, plan.options)
        values = []
        for output in outputs:
            text = output.get("text") if isinstance(output, Mapping) else output
            found = yield from self._extract(plan.signature, text or "")
            logprobs = output.get("logprobs") if isinstance(output, Mapping) else None
            values.append(found if logprobs is None else {**found, "logprobs": logprobs})
        return values

    def format_system_message(self, signature: Any) -> str:
        """The task, told in prose."""
        return self.format_task_description(signature)

    def format_task_description(self, signature: Any) -> str:
        """What is given, what is wanted, and the instructions."""
        given, wanted = map(get_field_description_string, (signature.input_fields, signature.output_fields))
        return "\n\n".join(
            [
                "Help with the task below. Another reader, who sees nothing but your answer, will work with it.",
                f"You are given:\n{given}",
                f"Your answer has to say, in full:\n{wanted}",
                f"The task:\n{signature.instructions}",
            ]
        )

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """The outputs that there are, each behind its name."""
        said = {
            FieldInfoWithName(name, info): outputs[name]
            for name, info in signature.output_fields.items()
            if name in outputs
        }
        return self.format_field_with_value(said)

    def field_pieces(self, field: FieldInfoWithName, value: Any) -> list[Content]:
        """A field behind its name; see `Adapter.field_pieces`."""
        return [f"{field.name}: ", *field_row(field.info, value)]

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Ask the second model for the fields of an answer, blocking.

        Args:
            signature: The signature class.
            completion: The first model's answer.

        Returns:
            The fields, typed.

        Raises:
            AdapterParseError: The second model did not give the fields.
            LMError: It could not be asked.
        """
        return drive(self._extract(signature, completion))

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """See `parse`."""
        return self.parse(signature, completion)

    def _extract(self, signature: Any, text: str) -> Flow[dict[str, Any]]:
        adapter = ChatAdapter()
        try:
            found = yield from adapter.flow(self.extraction_model, {}, _extraction(signature), [], {_TEXT: text})
        except AdapterParseError as error:
            message = f"The fields could not be taken out of the answer.\n{error.message}"
            raise parse_error(type(self).__name__, signature, text, message, error.parsed_result) from error
        return found[0]


def _extraction(signature: Any) -> Any:
    """The signature of the second step, made once: a text in, the same fields out."""
    return kept(signature, TwoStepAdapter, _make_extraction)


def _make_extraction(signature: Any) -> Any:
    wanted = ", ".join(f"`{name}`" for name in signature.output_fields)
    fields: dict[str, Any] = {_TEXT: (str, InputField())}
    fields.update((name, (info.annotation, info)) for name, info in signature.output_fields.items())
    return Signature(
        fields, f"Take {wanted} out of the text, word for word as they stand there. Add nothing of your own."
    )
