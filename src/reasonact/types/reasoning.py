"""`Reasoning`: what a model thought before it answered, as a value that reads like text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import model_serializer, model_validator

from reasonact.types.base import Type

if TYPE_CHECKING:
    from reasonact.signatures.signature import Signature

_DEFAULT_EFFORT = "low"


class Reasoning(Type):
    """A model's reasoning. It compares, joins, slices and prints as its text, and has text's methods.

    Args:
        content: The text.

    Raises:
        ValueError: The content is missing or no text.
    """

    content: str

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        """Read bare text as the content."""
        if isinstance(data, cls):
            return {"content": data.content}
        if isinstance(data, str):
            return {"content": data}
        if not isinstance(data, dict):
            raise ValueError(f"reasoning must be text or {{'content': text}}, found {type(data).__name__}")
        if "content" not in data:
            raise ValueError(f"reasoning needs 'content', found only {sorted(map(str, data))}")
        if not isinstance(data["content"], str):
            raise ValueError(f"the content of reasoning must be text, found {type(data['content']).__name__}")
        return data

    @model_serializer()
    def serialize_model(self) -> str:
        """The text."""
        return self.content

    def format(self) -> str:
        """The text, as a model is to see it."""
        return self.content

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: type[Signature], field_name: str, lm: Any, lm_kwargs: dict[str, Any]
    ) -> type[Signature]:
        """Ask the model for reasoning of its own instead of a field in its answer.

        Args:
            signature: The signature of the call.
            field_name: The field that holds the reasoning.
            lm: The model; one that does not reason natively changes nothing.
            lm_kwargs: A copy of the request's options; ``reasoning_effort`` is set in it, to
                the option or the model's own setting, else ``"low"``. An effort of None
                turns native reasoning off.

        Returns:
            The signature, without the field where the model reasons natively.
        """
        if "reasoning_effort" in lm_kwargs:
            effort = lm_kwargs["reasoning_effort"]
        else:
            effort = (getattr(lm, "kwargs", None) or {}).get("reasoning_effort", _DEFAULT_EFFORT)
        if effort is None or not getattr(lm, "supports_reasoning", False):
            return signature
        lm_kwargs["reasoning_effort"] = effort
        return signature.delete(field_name)

    @classmethod
    def parse_lm_response(cls, response: Any) -> Reasoning | None:
        """The reasoning beside an answer: ``reasoning_content`` of an output that is a dict."""
        content = response.get("reasoning_content") if isinstance(response, dict) else None
        return cls(content=content) if isinstance(content, str) and content else None

    @classmethod
    def is_streamable(cls) -> bool:
        """Reasoning streams."""
        return True

    @classmethod
    def parse_stream_chunk(cls, chunk: Any) -> str | None:
        """The piece of reasoning in one chunk; None where there is none."""
        choices = getattr(chunk, "choices", None)
        piece = getattr(getattr(choices[0], "delta", None), "reasoning_content", None) if choices else None
        return piece if isinstance(piece, str) else None

    def __repr__(self) -> str:
        return repr(self.content)

    def __str__(self) -> str:
        return self.content

    def __format__(self, spec: str) -> str:
        return format(self.content, spec)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Reasoning):
            return self.content == other.content
        return self.content == other if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.content)  # equal to its text, so it hashes as its text

    def __len__(self) -> int:
        return len(self.content)

    def __bool__(self) -> bool:
        return bool(self.content)

    def __getitem__(self, key: int | slice) -> str:
        return self.content[key]

    def __contains__(self, part: object) -> bool:
        return str(part) in self.content if isinstance(part, (str, Reasoning)) else False

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]  # text gives its characters; pydantic would give fields
        return iter(self.content)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Reasoning):
            return type(self)(content=self.content + other.content)
        return self.content + other if isinstance(other, str) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return other + self.content if isinstance(other, str) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self.content < str(other) if isinstance(other, (str, Reasoning)) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return self.content > str(other) if isinstance(other, (str, Reasoning)) else NotImplemented

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(str, name):
            return getattr(self.content, name)
        raise AttributeError(f"Reasoning has no attribute {name!r}; it reads like text, and its text is in .content")
