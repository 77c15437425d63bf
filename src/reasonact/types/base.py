"""`Type`: the base of what a field may hold beside plain values.

A value of such a type reaches a model by its object: an adapter that meets one asks it to
`format` itself. Text is never searched for types, so no tool's result and no user's input
can pass itself off as an image.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler

if TYPE_CHECKING:
    from reasonact.signatures.signature import Signature

_OWN_PACKAGE: Final = f"{__name__.split('.')[0]}."


class Type(BaseModel):
    """Subclass it for a value that has a form of its own in a prompt.

    Override `format`; the other hooks where they are needed::

        class Event(Type):
            when: datetime.datetime

            def format(self) -> str:
                return self.when.isoformat()
    """

    model_config = ConfigDict(defer_build=True)

    schema_omits: ClassVar[tuple[str, ...]] = ()
    """Fields that a model does not write, and is not told of in the JSON schema."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        shown = handler(core_schema)
        schema = handler.resolve_ref_schema(shown)
        if schema.get("description") == inspect.cleandoc(cls.__doc__ or "") and cls.__module__.startswith(_OWN_PACKAGE):
            del schema["description"]  # this library's own docstrings speak to programmers, not to models
        for name in cls.schema_omits:
            schema["properties"].pop(name, None)
        return shown

    def format(self) -> Any:
        """The value as a model is to see it.

        Returns:
            Text, JSON data, or a list of OpenAI content parts
            (``[{"type": "image_url", "image_url": {"url": ...}}]``).

        Raises:
            NotImplementedError: The class does not override it.
        """
        raise NotImplementedError(f"{type(self).__name__} must override format()")

    @classmethod
    def description(cls) -> str:
        """What is said of the type beside a field that holds it; empty for nothing."""
        return ""

    @classmethod
    def extract_custom_type_from_annotation(cls, annotation: Any) -> list[type[Any]]:
        """The classes of this kind that stand in an annotation.

        Args:
            annotation: A type, also a nested one (``list[Image] | None``).

        Returns:
            Each class once, in the order of the text. Fields of models are not looked into.
        """
        return list(dict.fromkeys(_classes_within(annotation, cls)))

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: type[Signature], field_name: str, lm: Any, lm_kwargs: dict[str, Any]
    ) -> type[Signature]:
        """Let the model's own feature stand in for a field.

        Args:
            signature: The signature of the call.
            field_name: The field of this type.
            lm: The model.
            lm_kwargs: A copy of the request's options, made for this hook: it may set keys in it.

        Returns:
            The signature to ask for: without the field, where the model's answer brings it natively.
        """
        return signature

    @classmethod
    def is_streamable(cls) -> bool:
        """Whether `parse_stream_chunk` finds pieces of the value in a stream."""
        return False

    @classmethod
    def parse_stream_chunk(cls, chunk: Any) -> Any:
        """The piece of the value in one chunk of a stream.

        Args:
            chunk: As LiteLLM gives it.

        Returns:
            The piece; None where there is none.
        """
        return None

    @classmethod
    def parse_lm_response(cls, response: Any) -> Any:
        """The value as the model's answer brings it natively.

        Args:
            response: One output of the model: text, or a dict of its parts.

        Returns:
            A value of the type; None where there is none.
        """
        return None


def _classes_within(annotation: Any, wanted: type[Any]) -> Iterator[type[Any]]:
    if isinstance(annotation, type) and _is_subclass(annotation, wanted):
        yield annotation
        return
    for argument in get_args(annotation):
        yield from _classes_within(argument, wanted)


def _is_subclass(candidate: Any, wanted: type[Any]) -> bool:
    """``issubclass`` that says no to generic aliases, which look like classes on some versions of Python."""
    try:
        return issubclass(candidate, wanted)
    except TypeError:
        return False
