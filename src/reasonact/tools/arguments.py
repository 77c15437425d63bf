"""Checking what a model passes to a tool: conversion first, then the check, then a telling error.

Two checkers with one interface. `TypedArguments` stands on the types of a callable (pydantic),
`SchemaArguments` on a JSON schema that was given (jsonschema, imported at the first check).

What the checker refuses is looked at again, place by place: text that is JSON, the name of an
enum's member. So an ordinary call costs the check alone, and nested values are mended too.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from reasonact.tools.schema import CompiledType, JsonSchema, brief

Validate = Callable[[Any], Any]
Path = tuple[Any, ...]

_NOTHING: Final = object()
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
                mended = _mended(value, _pydantic_places(error, value, compiled.adapter))
                if mended is _NOTHING:
                    raise
                value = mended
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
        for _ in range(_ROUNDS):
            errors = self._errors(values)
            mended = _NOTHING if self._strict else _mended(_plain(values), self._places(errors))
            if mended is _NOTHING:
                break
            values = mended
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
            raise ValueError(
                f"the schema of {self.declared.tool} cannot be used: {type(error).__name__}: {error}"
            ) from error

    @cached_property
    def _validator(self) -> Any:
        import jsonschema
        from referencing import Registry

        # an empty registry: a reference to another document is an error, never a request over the network
        dialect: Any = jsonschema.validators.validator_for(self._schema, default=jsonschema.Draft202012Validator)
        return dialect(self._schema, registry=Registry())

    def _places(self, errors: Iterable[Any]) -> Iterator[tuple[Path, Any]]:
        for error in errors:
            value = error.instance
            if error.validator in ("type", "enum", "const") and isinstance(value, str):
                decoded = _decoded(value)
                if decoded is not _NOTHING and _fits(self._validator, error, decoded):
                    yield tuple(error.absolute_path), decoded
            if error.context:
                yield from self._places(error.context)


def _fits(validator: Any, error: Any, decoded: Any) -> bool:
    if error.validator == "type":
        wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
        return any(validator.is_type(decoded, kind) for kind in wanted)
    choices = error.validator_value if error.validator == "enum" else [error.validator_value]
    return any(type(choice) is type(decoded) and choice == decoded for choice in choices)


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
            try:
                text = to_json(value)
            except ValueError:
                raise
            return adapter.validator.validate_json(text, strict=True)

    return validate


def _pydantic_reasons(error: ValidationError) -> list[tuple[Path, str]]:
    return [(tuple(e["loc"]), e["msg"]) for e in error.errors(include_url=False, include_context=False)]


def _pydantic_places(
    error: ValidationError, value: Any, adapter: TypeAdapter[Any] | None
) -> Iterator[tuple[Path, Any]]:
    for fault in error.errors(include_url=False, include_context=False):
        text = fault["input"]
        if not isinstance(text, str):
            continue
        path = _navigable(value, fault["loc"], text)
        if path is None:
            continue
        member = _member_named(text, adapter) if fault["type"] == "enum" else _NOTHING
        decoded = _decoded(text) if member is _NOTHING else member
        if decoded is not _NOTHING:
            yield path, decoded


def _navigable(value: Any, loc: Iterable[Any], target: str) -> Path | None:
    """The part of an error's location that leads through the value; the rest names branches of unions."""
    path: list[Any] = []
    for step in loc:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
            path.append(step)
    return tuple(path) if value == target else None


def _mended(value: Any, places: Iterable[tuple[Path, Any]]) -> Any:
    """The value with other parts at some places, or `_NOTHING` where there are none."""
    changes: dict[Path, Any] = {}
    for path, part in places:
        changes.setdefault(path, part)
    if not changes:
        return _NOTHING
    for path, part in changes.items():
        value = _with_part(value, path, part)
    return value


def _with_part(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    copied = value.copy()
    copied[path[0]] = _with_part(value[path[0]], path[1:], part)
    return copied


def _decoded(text: str) -> Any:
    """The JSON value that a text holds, or `_NOTHING`; not a number, nor text that says the same again."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return _NOTHING
    return value if value != text else _NOTHING


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _member_named(text: str, adapter: TypeAdapter[Any] | None) -> Any:
    """The one enum member of that name in a type, exactly or but for letter case; else `_NOTHING`."""
    if adapter is None:
        return _NOTHING
    enums = list(dict.fromkeys(_enums_in(adapter.core_schema)))
    members = [member for cls in enums for member in cls.__members__.items()]
    for wanted, fold in ((text, str), (text.casefold(), str.casefold)):
        found = [member for name, member in members if fold(name) == wanted]
        if len(set(map(id, found))) == 1:
            return found[0]
    return _NOTHING


def _enums_in(part: Any) -> Iterator[type[enum.Enum]]:
    if isinstance(part, dict):
        if part.get("type") == "enum" and isinstance(part.get("cls"), type):
            yield part["cls"]
        for item in part.values():
            yield from _enums_in(item)
    elif isinstance(part, list | tuple):
        for item in part:
            yield from _enums_in(item)


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
