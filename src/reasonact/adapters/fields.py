"""A field with its name, as the hook that writes values is given it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pydantic.fields import FieldInfo

from reasonact.signatures.memo import kept


class FieldInfoWithName(NamedTuple):
    """A field's name and its info."""

    name: str
    info: FieldInfo

    def __hash__(self) -> int:  # FieldInfo has none; within one message the name is enough
        return hash(self.name)


def output_fields(signature: Any) -> tuple[FieldInfoWithName, ...]:
    """The outputs of a signature with their names, kept in its memo."""
    return kept(signature, FieldInfoWithName, _named_outputs)


def _named_outputs(signature: Any) -> tuple[FieldInfoWithName, ...]:
    return tuple(FieldInfoWithName(name, info) for name, info in signature.output_fields.items())


_ANY: Final = FieldInfo.from_annotation(object)


def named(name: str) -> FieldInfoWithName:
    """A field of any value, for what a signature does not declare."""
    return FieldInfoWithName(name, _ANY)


RESULTS: Final = named("tool_call_results")
"""The field that stands above the results of a turn's calls, in text mode."""
