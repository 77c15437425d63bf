"""`Signature`: a class that says what a model is given and what it is to produce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, overload

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from reasonact.signatures.class_body import check_name, check_type, made_field
from reasonact.signatures.fields import extra_of, finished, infer_prefix, kind_of, new_field, updated
from reasonact.signatures.grammar import FieldText, parse_signature
from reasonact.signatures.meta import DERIVED_NAME, SignatureMeta, complete, derive
from reasonact.signatures.scope import caller_scope

if TYPE_CHECKING:
    from typing_extensions import Self

S = TypeVar("S", bound="Signature")

__all__ = ["Signature", "SignatureMeta", "ensure_signature", "infer_prefix", "make_signature"]


class Signature(BaseModel, metaclass=SignatureMeta):
    """Base of all signatures, and the maker of new ones.

    As a class, with the docstring as instructions::

        class Summarise(Signature):
            \"\"\"Say it in one sentence.\"\"\"

            text: str = InputField()
            summary: str = OutputField(desc="one sentence")

    or as a call, which takes what `make_signature` takes::

        Signature("text, words: int -> summary: str", "Say it briefly.")

    Raises:
        TypeError: In a class body: a name that is no field, or a type that is not defined.
        ValueError: A field's name that cannot be used.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True, protected_namespaces=())

    if TYPE_CHECKING:
        # the metaclass answers these; named here for readers of `type[Signature]`
        fields: ClassVar[dict[str, FieldInfo]]
        input_fields: ClassVar[dict[str, FieldInfo]]
        output_fields: ClassVar[dict[str, FieldInfo]]
        instructions: ClassVar[str]
        signature: ClassVar[str]
        memo: ClassVar[dict[Any, Any]]

        def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    @classmethod
    def with_instructions(cls, instructions: str) -> type[Signature]:
        """The same fields under other instructions.

        Args:
            instructions: The new text; empty for the default ``Given the fields ...``.

        Returns:
            A new signature.

        Raises:
            TypeError: The instructions are no text.
        """
        return _derived(cls.fields, instructions)

    @classmethod
    def append_instructions(cls, instructions: str) -> type[Signature]:
        """The same signature with a paragraph added to its instructions.

        Args:
            instructions: The paragraph; an empty one adds nothing.

        Returns:
            A new signature.

        Raises:
            TypeError: The instructions are no text.
        """
        if not isinstance(instructions, str):
            raise TypeError(f"instructions must be text, found {type(instructions).__name__}")
        return _derived(cls.fields, "\n\n".join(part for part in (cls.instructions, instructions) if part))

    @classmethod
    def append(cls, name: str, field: Any, type_: Any = None) -> type[Signature]:
        """Add a field at the end of its side.

        Args:
            name: The new field's name.
            field: `InputField` or `OutputField`; it decides the side.
            type_: Its type; None for ``str``.

        Returns:
            A new signature.

        Raises:
            TypeError: ``field`` is no field, or ``type_`` no type.
            ValueError: The name cannot be used.
        """
        return cls.insert(-1, name, field, type_)

    @classmethod
    def prepend(cls, name: str, field: Any, type_: Any = None) -> type[Signature]:
        """Add a field at the start of its side.

        Args:
            name: The new field's name.
            field: `InputField` or `OutputField`; it decides the side.
            type_: Its type; None for ``str``.

        Returns:
            A new signature.

        Raises:
            TypeError: ``field`` is no field, or ``type_`` no type.
            ValueError: The name cannot be used.
        """
        return cls.insert(0, name, field, type_)

    @classmethod
    def insert(cls, index: int, name: str, field: Any, type_: Any = None) -> type[Signature]:
        """Add a field at a place among those of its side.

        Args:
            index: The place, from 0; negative from the end, -1 for after the last.
            name: The new field's name. A field that has it already is replaced.
            field: `InputField` or `OutputField`; it decides the side.
            type_: Its type; None for ``str``.

        Returns:
            A new signature.

        Raises:
            TypeError: ``field`` is no field, or ``type_`` no type.
            ValueError: The name cannot be used, or the index is out of range.
        """
        made = made_field(name, type_, field)
        kind = kind_of(made)
        inputs, outputs = list(cls.input_fields.items()), list(cls.output_fields.items())
        side = inputs if kind == "input" else outputs
        place = index + len(side) + 1 if index < 0 else index
        if not 0 <= place <= len(side):
            raise ValueError(
                f"index {index} is out of range for the {kind} field {name!r}: "
                f"there are {len(side)} {kind} fields, so it may be {-len(side) - 1} to {len(side)}"
            )
        side.insert(place, (name, made))
        return _derived({**dict(inputs + outputs), name: made}, cls.instructions)

    @classmethod
    def delete(cls, name: str) -> type[Signature]:
        """Leave a field out; a name that there is no field for changes nothing.

        Args:
            name: The field's name.

        Returns:
            A new signature.
        """
        return _derived({key: field for key, field in cls.fields.items() if key != name}, cls.instructions)

    @classmethod
    def with_updated_fields(cls, name: str, type_: Any = None, **kwargs: Any) -> type[Signature]:
        """Change what one field says to the prompt, or its type.

        Args:
            name: The field's name.
            type_: Its new type; None keeps the old one.
            **kwargs: Keys of its ``json_schema_extra``, such as ``desc``.

        Returns:
            A new signature.

        Raises:
            KeyError: There is no such field (DSPy's error too).
            TypeError: ``type_`` is no type.
        """
        fields = cls.fields
        if name not in fields:
            raise KeyError(f"the signature {cls.signature!r} has no field {name!r}")
        if type_ is not None:
            check_type(name, type_)
        fields[name] = updated(fields[name], type_, **kwargs)
        return _derived(fields, cls.instructions)

    @classmethod
    def equals(cls, other: Any) -> bool:
        """Tell whether another signature says the same: instructions, and for each field type and words.

        Args:
            other: Anything.

        Returns:
            True for an equal signature, whatever its name. ``==`` asks for the same class.
        """
        if not isinstance(other, SignatureMeta) or cls.instructions != other.instructions:
            return False
        ours, theirs = cls.fields, other.fields
        return ours.keys() == theirs.keys() and all(
            field.annotation == theirs[name].annotation and extra_of(field) == extra_of(theirs[name])
            for name, field in ours.items()
        )

    @classmethod
    def dump_state(cls) -> dict[str, Any]:
        """The words of the signature as plain data, in DSPy's form.

        Returns:
            ``{"instructions": ..., "fields": [{"prefix": ..., "description": ...}, ...]}``.
        """
        return {
            "instructions": cls.instructions,
            "fields": [
                {"prefix": extra_of(field)["prefix"], "description": extra_of(field)["desc"]}
                for field in cls.fields.values()
            ],
        }

    @classmethod
    def load_state(cls, state: Mapping[str, Any]) -> type[Signature]:
        """The same fields with the words that `dump_state` gave.

        Args:
            state: What `dump_state` of this library or of DSPy gave; fields by position.

        Returns:
            A new signature; this one stays as it is.

        Raises:
            ValueError: The state lacks a key; the message names it.
        """
        try:
            instructions, saved = state["instructions"], list(state["fields"])
            words = [{"prefix": field["prefix"], "desc": field["description"]} for field in saved]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"this is no saved signature (at {error}): it needs 'instructions' and 'fields', "
                "a list of {'prefix': ..., 'description': ...}"
            ) from None
        fields = cls.fields
        for (name, field), extra in zip(cls.fields.items(), words, strict=False):
            fields[name] = updated(field, **extra)
        return _derived(fields, instructions)

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The JSON schema of an instance, as pydantic writes it.

        Args:
            *args: As of ``pydantic.BaseModel.model_json_schema``.
            **kwargs: The same.

        Returns:
            The schema.
        """
        complete(cls)
        return super().model_json_schema(*args, **kwargs)


def make_signature(
    signature: str | Mapping[str, Any],
    instructions: str | None = None,
    signature_name: str = DERIVED_NAME,
    custom_types: Mapping[str, Any] | None = None,
) -> type[Signature]:
    """Make a signature class from a string or from fields by name.

    Args:
        signature: ``"question, k: int = 3 -> answer: list[str]"``; or a dict from name to a
            field or to ``(type, field)``.
        instructions: What the model is told to do; without it ``Given the fields ...``.
        signature_name: The name of the class.
        custom_types: Types that the string names, by name. Others are looked up in the
            code that calls, among the builtins and in ``typing``.

    Returns:
        The class.

    Raises:
        TypeError: An argument, a field or a type is of the wrong kind.
        ValueError: The string cannot be read (the message says where), or a name cannot be used.
    """
    fields: dict[str, FieldInfo] = {}
    if isinstance(signature, str):
        inputs, outputs = parse_signature(signature, caller_scope(custom_types))
        both = {field.name for field in inputs} & {field.name for field in outputs}
        if both:
            raise ValueError(
                f"Input and output fields need names of their own, but {', '.join(sorted(both))} is on both sides "
                f"of {signature!r}; rename one, such as new_{min(both)}"
            )
        for text in inputs:
            fields[text.name] = _from_text(
                text, new_field("input", type_undefined=not text.typed, default=text.default)
            )
        for text in outputs:
            fields[text.name] = _from_text(text, new_field("output", default=text.default))
    elif isinstance(signature, Mapping):
        for name, value in signature.items():
            if isinstance(value, tuple) and len(value) == 2:
                fields[name] = made_field(name, value[0], value[1])
            else:
                fields[name] = made_field(name, None, value)
    else:
        raise TypeError(
            "a signature is made from a string such as 'question -> answer' or from a dict of fields, "
            f"not from {type(signature).__name__}"
        )
    return _derived(fields, instructions, signature_name)


@overload
def ensure_signature(signature: type[S], instructions: str | None = None) -> type[S]: ...


@overload
def ensure_signature(signature: str | Mapping[str, Any], instructions: str | None = None) -> type[Signature]: ...


@overload
def ensure_signature(signature: None, instructions: str | None = None) -> None: ...


@overload
def ensure_signature(signature: Any, instructions: str | None = None) -> Any: ...


def ensure_signature(signature: Any, instructions: str | None = None) -> Any:
    """Take what stands for a signature, and give the signature.

    Args:
        signature: A signature class, which is returned as it is; a string or a dict, as for
            `make_signature`; or None.
        instructions: For a string or a dict only.

    Returns:
        The signature class; None for None.

    Raises:
        TypeError: It is none of these.
        ValueError: The string cannot be read, or instructions were given beside a class.
    """
    if signature is None:
        return None
    if isinstance(signature, (str, Mapping)):
        return make_signature(signature, instructions)
    if isinstance(signature, SignatureMeta):
        if instructions is not None:
            raise ValueError(
                "instructions go with a signature string; a signature class has its own: "
                "use its with_instructions(...) instead"
            )
        return signature
    raise TypeError(f"expected a signature class or a string such as 'question -> answer', found {signature!r}")


def _derived(fields: Mapping[str, FieldInfo], instructions: str | None, name: str = DERIVED_NAME) -> type[Signature]:
    made: type[Signature] = derive(Signature, fields, instructions, name)
    return made


def _from_text(text: FieldText, field: FieldInfo) -> FieldInfo:
    check_name(text.name)
    return finished(text.name, text.annotation, field)


Signature._maker = make_signature

SignatureLike: TypeAlias = str | type[Signature] | Signature
"""What a predictor or an agent takes for its signature: its string form or the class. `Signature` itself
stands in it for mypy alone, to which ``Signature("a -> b")``, a class, is an instance."""
