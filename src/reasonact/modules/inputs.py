"""Whether a call was given what a signature asks for: a word of warning, or with ``strict_inputs`` an error."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from pydantic.fields import FieldInfo

from reasonact.runtime.settings import settings
from reasonact.signatures.signature import Signature

logger = logging.getLogger("reasonact.inputs")


def check_inputs(
    owner: str, signature: type[Signature], given: Mapping[str, Any], others: Collection[str] = ()
) -> None:
    """Compare what was given with a signature's inputs.

    Args:
        owner: Who takes the inputs, for the message.
        signature: What declares them.
        given: Values by name, without defaults.
        others: Further names that a call may give.

    Raises:
        ValueError: A name is unknown, or a required input missing, and ``strict_inputs`` is set.
    """
    fields = signature.input_fields
    unknown = [name for name in given if name not in fields and name not in others]
    missing = [name for name, field in fields.items() if name not in given and field.is_required()]
    if unknown or missing:
        found = {"unknown": unknown, "missing": missing}
        problems = "; ".join(f"{what} inputs: {', '.join(names)}" for what, names in found.items() if names)
        text = f"{problems}. {owner} takes {', '.join(fields) or 'no inputs'}"
        if settings.strict_inputs:
            raise ValueError(text)
        logger.warning("%s", text)
    if settings.warn_on_type_mismatch:
        for name, field in fields.items():
            if name in given and _is_clearly_another_type(field, given[name]):
                kind = type(given[name]).__name__
                logger.warning("input %r is a %s, the signature says %r", name, kind, field.annotation)


def _is_clearly_another_type(field: FieldInfo, value: Any) -> bool:
    declared = field.annotation
    extra = field.json_schema_extra
    if not isinstance(declared, type) or (isinstance(extra, dict) and extra.get("IS_TYPE_UNDEFINED")):
        return False
    if getattr(declared, "__origin__", None) is not None or declared in (object, str):
        return False  # a parametrised type says too much for isinstance, and any value has a text
    if declared is float:
        return not isinstance(value, (int, float))
    return not isinstance(value, declared)
