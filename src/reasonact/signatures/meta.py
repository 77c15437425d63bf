"""`SignatureMeta`: keeps the fields of signature classes and builds such classes cheaply.

To programs a signature is a pydantic model class, as in DSPy. But agents derive
signatures often, instances are hardly ever made, and pydantic takes a good part of a
millisecond to build a class. So the metaclass holds the fields, a derived signature is a
bare class that costs some microseconds, and pydantic's validator is built the first time
that somebody makes an instance or asks for a schema.

Because fields are never class attributes, they may have any public name: ``copy``,
``schema``, ``instructions`` and so on.
"""

from __future__ import annotations

import copyreg
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, overload

from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from reasonact.signatures.class_body import declared_fields, shown
from reasonact.signatures.fields import kind_of

T = TypeVar("T")

DERIVED_NAME: Final = "StringSignature"

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass as _ModelMetaclass

    from reasonact.signatures.signature import Signature
else:
    _ModelMetaclass = type(BaseModel)  # pydantic gives its metaclass no public name

_BUILT_LATER: Final = ("__pydantic_validator__", "__pydantic_serializer__")


class _Deferred:
    """Stands in a signature class for a part of pydantic's until somebody uses it."""

    def __init__(self, owner: SignatureMeta, name: str) -> None:
        self._owner = owner
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # probes of copy, pickle and pydantic are no use
            raise AttributeError(attribute)
        complete(self._owner)
        return getattr(getattr(self._owner, self._name), attribute)


class _Memo(dict[Any, Any]):
    """What other floors worked out for one signature class. A copy starts afresh."""

    def __reduce__(self) -> tuple[type[_Memo], tuple[()]]:
        return (_Memo, ())


def _equip(cls: SignatureMeta, fields: Mapping[str, FieldInfo], *, by_value: bool = False) -> None:
    """Give a class its fields, its memo, and place-holders for what pydantic builds later."""
    cls.__pydantic_fields__ = dict(fields)
    cls._inputs = {name: field for name, field in fields.items() if kind_of(field) == "input"}
    cls._outputs = {name: field for name, field in fields.items() if kind_of(field) == "output"}
    cls._memo = _Memo()
    cls._maker = None
    cls._by_value = by_value
    cls.__pydantic_complete__ = False
    for part in _BUILT_LATER:
        setattr(cls, part, _Deferred(cls, part))


def complete(cls: Any) -> None:
    """Let pydantic build the validator and the serializer of a class, where that was put off."""
    if not cls.__pydantic_complete__:
        cls.model_rebuild(force=True)


def _default_instructions(inputs: Iterable[str], outputs: Iterable[str]) -> str:
    given, wanted = (", ".join(f"`{name}`" for name in names) for names in (inputs, outputs))
    return f"Given the fields {given}, produce the fields {wanted}."


def _inherited_doc(cls: SignatureMeta) -> str:
    """Instructions of a class without a docstring: its parent's, unless those only list the parent's fields."""
    for base in cls.__mro__[1:]:
        if isinstance(base, SignatureMeta) and not base.is_root:
            if base.__doc__ != _default_instructions(base._inputs, base._outputs):
                return base.__doc__ or ""
            break
    return _default_instructions(cls._inputs, cls._outputs)


class SignatureMeta(_ModelMetaclass):
    """The class of signature classes: holds their fields and answers for them.

    Called on `Signature` itself it makes a new signature class; called on any other it
    makes an instance, as pydantic does.
    """

    __pydantic_fields__: dict[str, FieldInfo]
    __pydantic_complete__: bool
    _inputs: dict[str, FieldInfo]
    _outputs: dict[str, FieldInfo]
    _memo: _Memo
    _maker: Callable[..., Any] | None
    _by_value: bool

    def __new__(
        mcs, signature_name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> SignatureMeta:
        body = dict(namespace)
        own = declared_fields(signature_name, body)
        try:
            cls = cast(SignatureMeta, super().__new__(mcs, signature_name, bases, body, **kwargs))
        except PydanticUserError as error:
            raise TypeError(f"The signature {signature_name} cannot be made: {error.message}") from error
        fields: dict[str, FieldInfo] = {}
        for base in reversed(cls.__mro__[1:]):
            if isinstance(base, SignatureMeta):
                fields.update(base.model_fields)
        fields.update(own)
        _equip(cls, fields)
        if namespace.get("__doc__") is None:
            cls.__doc__ = _inherited_doc(cls)
        return cls

    @overload
    def __call__(
        cls,
        /,
        signature: str | Mapping[str, Any],
        instructions: str | None = None,
        signature_name: str = ...,
        custom_types: Mapping[str, Any] | None = None,
    ) -> type[Signature]: ...

    @overload
    def __call__(cls: type[T], /, **kwargs: Any) -> T: ...

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        if cls._maker is not None:
            return cls._maker(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    @property
    def is_root(cls) -> bool:
        """Whether this is `Signature` itself, which is called to make signatures."""
        return cls._maker is not None

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """Every field by name, in the order of definition."""
        return dict(cls.__pydantic_fields__)

    @model_fields.setter
    def model_fields(cls, fields: dict[str, FieldInfo]) -> None:
        cls.__pydantic_fields__ = fields  # pydantic before 2.10 sets them under this name

    @property
    def fields(cls) -> dict[str, FieldInfo]:
        """Every field by name: the inputs first, then the outputs."""
        return {**cls._inputs, **cls._outputs}

    @property
    def input_fields(cls) -> dict[str, FieldInfo]:
        """What the model is given, by name."""
        return dict(cls._inputs)

    @property
    def output_fields(cls) -> dict[str, FieldInfo]:
        """What the model is to produce, by name."""
        return dict(cls._outputs)

    @property
    def signature(cls) -> str:
        """The string form, names only: ``"question, k -> answer"``."""
        return f"{', '.join(cls._inputs)} -> {', '.join(cls._outputs)}"

    @property
    def instructions(cls) -> str:
        """What the model is told to do: the docstring, without its indentation."""
        return "" if cls.is_root else cleandoc(cls.__doc__ or "")

    @instructions.setter
    def instructions(cls, instructions: str) -> None:
        cls.__doc__ = instructions
        cls._memo.clear()  # what was rendered from the old words

    @property
    def memo(cls) -> dict[Any, Any]:
        """A dict of this class alone, for what others worked out from it once. Not inherited."""
        return cls._memo

    @property
    def __annotations__(cls) -> dict[str, Any]:  # type: ignore[override]  # as any class shows them; nobody sets them
        return {name: field.annotation for name, field in cls.__pydantic_fields__.items()}

    def __repr__(cls) -> str:
        lines = [
            f"instructions={cls.instructions!r}",
            *(f"{name} = Field({field})" for name, field in cls.fields.items()),
        ]
        inner = "\n    ".join(lines) if len(lines) > 1 else f"{lines[0]}\n    "
        return f"{cls.__name__}({cls.signature}\n    {inner}\n)"


def derive(
    root: SignatureMeta, fields: Mapping[str, FieldInfo], instructions: str | None, name: str = DERIVED_NAME
) -> Any:
    """Make a signature class of finished fields, without pydantic's class building.

    Args:
        root: `Signature`, the base of the new class.
        fields: Fields by name, as `reasonact.signatures.fields.finished` gives them.
        instructions: What the model is told to do; empty for the default ``Given the fields ...``.
        name: The class's name.

    Returns:
        The class.

    Raises:
        TypeError: The instructions are no text.
    """
    if instructions is not None and not isinstance(instructions, str):
        raise TypeError(f"instructions must be text, found {shown(instructions)}")
    namespace = {"__module__": root.__module__, "__qualname__": name, "__doc__": instructions}
    cls = ABCMeta.__new__(SignatureMeta, name, (root,), namespace)
    _equip(cls, fields, by_value=True)
    if not instructions:
        cls.__doc__ = _default_instructions(cls._inputs, cls._outputs)
    return cls


def _reduced(cls: SignatureMeta) -> Any:
    """How pickle stores a signature class: by its name where it has one, else by its fields."""
    if not cls._by_value:
        return cls.__qualname__
    return derive, (cls.__mro__[1], dict(cls.__pydantic_fields__), cls.__doc__, cls.__name__)


copyreg.pickle(SignatureMeta, _reduced)
