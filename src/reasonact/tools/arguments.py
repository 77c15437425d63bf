"""Checking what a model passes to a tool: conversion first, then the check, then a telling error.

Two checkers with one interface. `TypedArguments` stands on the types of a callable (pydantic),
`SchemaArguments` on a JSON schema that was given (jsonschema, imported at the first check).

An ordinary call costs the check alone; only what is refused is mended and checked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from reasonact.tools.mending import NOTHING, Path, mended, pydantic_places, schema_places
from reasonact.tools.nesting import is_too_deep
from reasonact.tools.schema import CompiledType, JsonSchema, brief

Validate = Callable[[Any], Any]

_ROUNDS: Final = 6  # text in text in text: each round mends one layer of quoting
_SHOWN: Final = 80
_FORMS: Final = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


class InvalidArguments(ValueError):
    """The arguments of a call do not fit the tool; the tool has not run.

    Args:
        message: Every fault, and what the tool takes.
        names: The arguments at fault, as the call or the tool names them.
    """

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.names)


@dataclass(frozen=True, slots=True)
class Declared:
    """The arguments of a tool as errors describe them.

    Args:
        tool: The tool's name.
        schemas: JSON schemas by argument name.
        required: The names that a call must have.
    """

    tool: str
    schemas: Mapping[str, JsonSchema]
    required: frozenset[str]

    def error(self, faults: Mapping[str, str]) -> InvalidArguments:
        """Make the error for faults by argument name."""
        text = "; ".join(faults.values())
        takes = ", ".join(
            f"{name}: {brief(schema)}" + ("" if name in self.required else " (optional)")
            for name, schema in self.schemas.items()
        )
        return InvalidArguments(f"{text}. {self.tool} takes {takes or 'no arguments'}.", list(faults))

    def missing(self, given: Iterable[str]) -> dict[str, str]:
        """A fault for every required argument that is not given."""
        absent = [name for name in self.schemas if name in self.required and name not in given]
        return {name: f"argument {name!r} is missing, expected {brief(self.schemas[name])}" for name in absent}

    def undeclared(self, name: str) -> str:
        """The fault of an argument that nobody declared."""
        return f"argument {name!r} is not declared"

    def malformed(self, name: str, value: Any, why: Iterable[tuple[Path, str]]) -> str:
        """The fault of a value that does not fit."""
        reasons = ", ".join(
            f"at {_dotted(name, path)}: {reason}" if path else reason for path, reason in list(dict.fromkeys(why))[:4]
        )
        return f"argument {name!r} is {_described(value)}, expected {brief(self.schemas.get(name, {}))} ({reasons})"


class ArgumentChecker(Protocol):
    """What a tool asks of its checker: the arguments it knows, and the check."""

    declared: Declared

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments converted; those that count as left out are gone.

        Raises:
            InvalidArguments: One is malformed, missing or not declared.
        """
        ...


class TypedArguments:
    """Checks arguments by the types of a callable's parameters.

    Args:
        declared: The arguments, for error texts.
        types: The compiled type of each argument.
        extra: The compiled type of arguments beyond these, or None where there must be none.
        strict: Check JSON values as they are, without conversion.
    """

    def __init__(
        self, declared: Declared, types: Mapping[str, CompiledType], extra: CompiledType | None, strict: bool
    ) -> None:
        self.declared = declared
        self._required = declared.required
        self._extra = extra
        self._strict = strict
        self._types = types
        self._validators = {name: _validator(compiled, strict) for name, compiled in types.items()}

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as values of their types.

        Args:
            given: What the model passed, by name.

        Returns:
            A new dict.

        Raises:
            InvalidArguments: One is malformed, missing or not declared.
        """
        validators = self._validators
        try:
            values = {name: validators[name](value) for name, value in given.items()}
        except Exception:  # an unknown name, a value that does not fit, or a validator of the program's own failed
            return self._check_each(given)
        if not self._required <= values.keys():
            return self._check_each(given)
        return values

    def _check_each(self, given: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        faults: dict[str, str] = {}
        for name, value in given.items():
            compiled = self._types.get(name, self._extra)
            if compiled is None:
                faults[name] = self.declared.undeclared(name)
                continue
            try:
                values[name] = self._convert(compiled, value)
            except ValidationError as error:
                if value is None and name in self._types and name not in self._required and not self._strict:
                    continue  # null is how many models leave an argument out
                faults[name] = self.declared.malformed(name, value, _pydantic_reasons(error))
            except Exception as error:
                reason = f"its check failed with {type(error).__name__}: {error}"
                faults[name] = self.declared.malformed(name, value, [((), reason)])
        faults.update(self.declared.missing(given))
        if faults:
            raise self.declared.error(faults)
        return values

    def _convert(self, compiled: CompiledType, value: Any) -> Any:
        validate = _validator(compiled, self._strict)
        for _ in range(0 if self._strict else _ROUNDS):
            try:
                return validate(value)
            except ValidationError as error:
                changed = mended(value, pydantic_places(error, value, compiled.adapter))
                if changed is NOTHING:
                    raise
                value = changed
        return validate(value)


class SchemaArguments:
    """Checks arguments by a JSON schema of the whole arguments object.

    Args:
        declared: The arguments, for error texts.
        schema: The schema; references point into it.
        extra: Whether arguments beyond the declared ones are taken.
        types: Types that the checked values are then made into.
        strict: Check without conversion.
    """

    def __init__(
        self,
        declared: Declared,
        schema: JsonSchema,
        *,
        extra: bool,
        types: Mapping[str, CompiledType],
        strict: bool,
    ) -> None:
        self.declared = declared
        self._schema = schema
        self._extra = extra
        self._strict = strict
        self._types = types

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, converted where the schema and the types ask for it.

        Args:
            given: What the model passed, by name.

        Returns:
            A new dict.

        Raises:
            InvalidArguments: One is malformed, missing or not declared.
            ValueError: The schema itself cannot be used.
        """
        faults: dict[str, str] = {}
        if not self._extra:
            faults.update((n, self.declared.undeclared(n)) for n in given if n not in self.declared.schemas)
        faults.update(self.declared.missing(given))
        values: Any = dict(given)
        errors: list[Any] = []
        for _ in range(_ROUNDS):
            errors = self._errors(values)
            changed = NOTHING if self._strict else mended(_plain(values), schema_places(errors, self._validator))
            if changed is NOTHING:
                break
            values = changed
        by_name: dict[str, list[tuple[Path, str]]] = {}
        for error in errors:
            path = tuple(error.absolute_path)
            if path:
                by_name.setdefault(path[0], []).append((path[1:], error.message))
            elif error.validator != "required" and (self._extra or error.validator != "additionalProperties"):
                faults[""] = f"the arguments do not fit together: {error.message}"
        for name, why in by_name.items():
            optional = name in self.declared.schemas and name not in self.declared.required
            if values[name] is None and optional and not self._strict:
                del values[name]
            else:
                faults[name] = self.declared.malformed(name, values[name], why)
        if faults:
            raise self.declared.error(faults)
        return self._typed(values)

    def _typed(self, values: dict[str, Any]) -> dict[str, Any]:
        if not self._types:
            return values
        known = {name: value for name, value in values.items() if name in self._types}
        schemas = {name: self.declared.schemas.get(name, {}) for name in self._types}
        declared = Declared(self.declared.tool, schemas, frozenset())
        return {**values, **TypedArguments(declared, self._types, None, self._strict).check(known)}

    def _errors(self, values: dict[str, Any]) -> list[Any]:
        try:
            return list(self._validator.iter_errors(_plain(values)))
        except Exception as error:  # an unknown type, a pattern that is no pattern, a reference to nowhere
            deep = [name for name in values if is_too_deep({name: values[name]})]
            if deep and isinstance(error, RecursionError):
                faults = {name: f"argument {name!r} is nested too deeply to be checked" for name in deep}
                raise self.declared.error(faults) from None
            raise ValueError(
                f"the schema of {self.declared.tool} cannot be used: {type(error).__name__}: {error}"
            ) from error

    @cached_property
    def _validator(self) -> Any:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for
        from referencing import Registry

        # an empty registry: a reference to another document is an error, never a request over the network
        dialect: Any = validator_for(self._schema, default=Draft202012Validator)
        return dialect(self._schema, registry=Registry())


def _plain(value: Any) -> Any:
    """JSON data of values that a program may pass as objects (models, enums, dates)."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or type(value) in (str, int, float, bool):
        return value
    try:
        return json.loads(to_json(value))
    except ValueError:
        return value


def _validator(compiled: CompiledType, strict: bool) -> Validate:
    if compiled.adapter is None:
        return _as_it_is
    return _strict_validator(compiled.adapter) if strict else compiled.adapter.validator.validate_python


def _as_it_is(value: Any) -> Any:
    return value


def _strict_validator(adapter: TypeAdapter[Any]) -> Validate:
    def validate(value: Any) -> Any:
        try:
            return adapter.validator.validate_python(value, strict=True)
        except ValidationError:
            # a date or an enum has no JSON form but text: JSON's own strictness is what counts here
            return adapter.validator.validate_json(to_json(value), strict=True)

    return validate


def _pydantic_reasons(error: ValidationError) -> list[tuple[Path, str]]:
    return [(tuple(e["loc"]), e["msg"]) for e in error.errors(include_url=False, include_context=False)]


def _described(value: Any) -> str:
    try:
        shown = repr(value)
    except Exception:
        shown = "(not printable)"
    if len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "…"
    return f"{_FORMS.get(type(value), f'a {type(value).__name__}')} {shown}"


def _dotted(name: str, path: Path) -> str:
    return name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
