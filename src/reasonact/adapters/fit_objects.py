"""How models, dataclasses and TypedDicts are mended: field by field, by name or alias."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from reasonact.adapters.annotations import annotated
from reasonact.adapters.fit_containers import Fit, object_in
from reasonact.runtime.type_hints import member_type, type_hints


class ObjectFit:
    """The fit of a class with named fields; they are worked out at the first value.

    Args:
        kind: The class.
        compile_fit: Works out the fit of a field's type.
        exact: True where numbers with a fraction are read as ``Decimal``.
    """

    def __init__(self, kind: type, compile_fit: Callable[[Any], Fit], exact: bool) -> None:
        self.kind = kind
        self.exact = exact
        self._compile_fit = compile_fit
        self._fields: _Fields | None = None

    def fit(self, value: Any, outermost: bool) -> Any:
        """Mend a value.

        Args:
            value: A text that spells an object, or a dict.
            outermost: Whether it is a field's value.

        Returns:
            A dict with the keys that the class is validated by; anything else as it is.

        Raises:
            ValueError: A field's text holds no object, or the object shares no key with the class.
        """
        fields = self._fields
        if fields is None:
            fields = self._fields = _resolved(self.kind, self._compile_fit)
        if isinstance(value, str):
            value = object_in(value, outermost, list(fields.fits), self.exact)
        if not isinstance(value, dict):
            return value
        if not fields.takes_others:
            value = self._own_keys(value, fields)
        mended = {}
        for key, item in value.items():
            name = fields.renamed.get(key, key)
            if name == key or name not in value:
                mended[name] = fields.fits[key](item, False) if key in fields.fits else item
        return mended

    def _own_keys(self, value: dict[Any, Any], fields: _Fields) -> dict[Any, Any]:
        if not value or not fields.fits or any(key in fields.fits for key in value):
            return value
        key, inner = next(iter(value.items()))
        if len(value) == 1 and str(key).lower() == self.kind.__name__.lower() and isinstance(inner, dict):
            return self._own_keys(inner, fields)  # {"Person": {…}} for a Person
        raise ValueError(f"none of its keys is one of {', '.join(fields.fits)}")


@dataclasses.dataclass(frozen=True)
class _Fields:
    fits: dict[str, Fit]  # by name and by alias
    renamed: dict[str, str]  # name to alias, where the class is validated by alias alone
    takes_others: bool  # keys that are no fields may mean something to the class


def _resolved(kind: type, compile_fit: Callable[[Any], Fit]) -> _Fields:
    own = _validated_before(kind)
    fits: dict[str, Fit] = {}
    renamed: dict[str, str] = {}
    for name, (annotation, aliases) in _fields_of(kind).items():
        fit = _as_written if name in own else compile_fit(annotation)
        fits.update(dict.fromkeys((name, *aliases), fit))
        if aliases and not _takes_names(kind):
            renamed[name] = aliases[0]
    return _Fields(fits, renamed, _takes_others(kind))


def _as_written(value: Any, outermost: bool) -> Any:
    return value


def _fields_of(kind: type) -> dict[str, tuple[Any, list[str]]]:
    if issubclass(kind, BaseModel):
        return {name: (_full(kind, info), _aliases(info)) for name, info in kind.model_fields.items()}
    hints = type_hints(kind)
    if dataclasses.is_dataclass(kind):
        return {field.name: (hints[field.name], []) for field in dataclasses.fields(kind) if field.init}
    return {name: (hint, []) for name, hint in hints.items()}


def _full(kind: type, info: FieldInfo) -> Any:
    return annotated(member_type(kind, info.annotation), info.metadata)


def _aliases(info: FieldInfo) -> list[str]:
    alias = info.validation_alias or info.alias
    if isinstance(alias, AliasChoices):
        return [choice for choice in alias.choices if isinstance(choice, str)]
    return [alias] if isinstance(alias, str) else []


def _takes_names(kind: type) -> bool:
    config: Mapping[str, Any] = getattr(kind, "model_config", {})
    return bool(config.get("populate_by_name") or config.get("validate_by_name"))


def _takes_others(kind: type) -> bool:
    config: Mapping[str, Any] = getattr(kind, "model_config", {})
    decorators = getattr(kind, "__pydantic_decorators__", None)
    validators = decorators.model_validators.values() if decorators is not None else ()
    fields = getattr(kind, "model_fields", {}) if issubclass(kind, BaseModel) else {}
    return (
        config.get("extra") == "allow"
        or any(item.info.mode != "after" for item in validators)
        or any(
            info.validation_alias is not None and not isinstance(info.validation_alias, str) for info in fields.values()
        )
    )


def _validated_before(kind: type) -> set[str]:
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if decorators is None:
        return set()
    own = [item.info for item in decorators.field_validators.values() if item.info.mode != "after"]
    return {name for info in own for name in info.fields}
