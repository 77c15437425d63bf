"""ChainOfThought: the model writes its reasoning before the outputs."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from reasonact.modules.commands import CallModule
from reasonact.modules.module import Module
from reasonact.modules.predict import Predict
from reasonact.runtime.drive import adrive, drive
from reasonact.runtime.flow import Flow, call
from reasonact.signatures.fields import OutputField
from reasonact.signatures.signature import SignatureLike, ensure_signature
from reasonact.types.prediction import Prediction


class ChainOfThought(Module):
    """Ask for a ``reasoning`` field before the signature's own outputs.

    Args:
        signature: A `Signature` class or its string form.
        rationale_field: A field to use for the reasoning in place of the plain one.
        rationale_field_type: The type of that field.
        **config: Options that go with every request.

    Raises:
        ValueError: The signature cannot be read.
    """

    def __init__(
        self,
        signature: SignatureLike,
        rationale_field: FieldInfo | None = None,
        rationale_field_type: Any = str,
        **config: Any,
    ) -> None:
        super().__init__()
        field = rationale_field if rationale_field is not None else OutputField(desc="${reasoning}")
        if rationale_field is not None and rationale_field.annotation is not None:
            rationale_field_type = rationale_field.annotation
        self.predict = Predict(
            ensure_signature(signature).prepend("reasoning", field, type_=rationale_field_type), **config
        )

    def forward(self, /, **kwargs: Any) -> Prediction:
        """Run the predictor."""
        return drive(self._flow(kwargs))

    async def aforward(self, /, **kwargs: Any) -> Prediction:
        """As `forward`, on the running event loop."""
        return await adrive(self._flow(kwargs))

    def _flow(self, kwargs: dict[str, Any]) -> Flow[Prediction]:
        prediction: Prediction = yield from call(CallModule(self.predict, (), kwargs))
        return prediction
