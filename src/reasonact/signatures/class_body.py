"""From a class body, or from what a caller passed, to finished fields.

Pydantic is shown a class body without its fields: their names may then be those of its
own methods, and a type that cannot be resolved is reported with the field's name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, get_origin

from pydantic.fields import FieldInfo

from reasonact.runtime.type_hints import type_hints
from reasonact.signatures.fields import finished, kind_of
from reasonact.signatures.grammar import is_type
from reasonact.signatures.scope import ClassBodyNames

if sys.version_info >= (3, 14):
    import annotationlib


def made_field(name: Any, annotation: Any, field: Any) -> FieldInfo:
    """A field as a caller gave it, checked and with its type, prefix and description."""
    check_name(name)
    if kind_of(field) is None:
        raise TypeError(f"the field {name!r} must be InputField(...) or OutputField(...), found {shown(field)}")
    if annotation is None:
        annotation = field.annotation or str
    check_type(name, annotation)
    return finished(name, annotation, field)


def check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{name!r} cannot name a field: it must be a Python identifier")
    if name.startswith("_"):
        raise ValueError(f"the field {name!r} may not start with an underscore: write {name.lstrip('_') or 'x'!r}")


def check_type(name: str, annotation: Any) -> None:
    if not is_type(annotation):
        raise TypeError(f"the field {name!r} needs a type, found {shown(annotation)}")


def shown(value: Any) -> str:
    return f"{value!r:.80} of type {type(value).__name__}"


def declared_fields(owner: str, body: dict[str, Any]) -> dict[str, FieldInfo]:
    """Take the fields out of a class body, which is changed: pydantic is to see only the rest."""
    annotations = _taken_annotations(body)
    fields: dict[str, FieldInfo] = {}
    for name, value in list(body.items()):
        if kind_of(value) is None:
            continue
        del body[name]
        check_name(name)
        if name in annotations:
            annotation = _resolved(owner, name, annotations.pop(name), body)
            check_type(f"{name} of {owner}", annotation)
            fields[name] = finished(name, annotation, value)
        else:
            fields[name] = finished(name, str, value, type_undefined=True)
    left = {}
    for name, annotation in annotations.items():
        if name.startswith("_") or name == "model_config" or _is_class_var(annotation):
            left[name] = annotation
            continue
        found = f"found {shown(body[name])}" if name in body else "it has no value"
        raise TypeError(
            f"the field {name!r} of {owner} must be declared with InputField() or OutputField(), {found}; "
            "a constant is annotated with ClassVar"
        )
    if left:
        body["__annotations__"] = left
    return fields


def _taken_annotations(body: dict[str, Any]) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        annotate = annotationlib.get_annotate_from_class_namespace(body)
        body.pop("__annotate__", None)
        body.pop("__annotate_func__", None)
        if annotate is not None:
            return dict(annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF))
    return dict(body.pop("__annotations__", None) or {})


def _resolved(owner: str, name: str, annotation: Any, body: Mapping[str, Any]) -> Any:
    """An annotation as written, with the names that stand in it as text looked up."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation
    module = sys.modules.get(body.get("__module__", ""))
    holder = SimpleNamespace(__annotations__={name: annotation})
    try:
        hints = type_hints(holder, vars(module) if module else {}, ClassBodyNames(body))
    except Exception as error:  # the expression is the program's own and may fail in any way
        raise TypeError(
            f"the type {annotation!r} of the field {name!r} of {owner} cannot be resolved "
            f"({type(error).__name__}: {error}); define or import it above the signature"
        ) from error
    return hints[name]


def _is_class_var(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace("typing.", "").replace("t.", "").startswith("ClassVar")
    return annotation is ClassVar or get_origin(annotation) is ClassVar
