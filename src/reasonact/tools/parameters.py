"""What a callable takes: its parameters with their types resolved, whatever kind of callable it is."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, MethodType, SimpleNamespace
from typing import Annotated, Any, Final, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from reasonact.runtime.type_hints import type_hints

if sys.version_info >= (3, 14):
    import annotationlib

MISSING: Final = inspect.Parameter.empty
"""Stands for "no default"; no value of a program is this object."""

_SIMPLE: Final = frozenset({int, str, float, bool})
_BUILTINS: Final[dict[str, type]] = {kind.__name__: kind for kind in _SIMPLE}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter that a model may fill.

    Args:
        name: As the callable spells it.
        annotation: Its type; ``Any`` where there is none or it cannot be resolved. A pydantic
            ``Field`` that stands as default is part of it, as if written with ``Annotated``.
        default: The value when it is left out, or `MISSING`.
        kind: How it can be passed, as `inspect` tells it.
        field: The pydantic ``Field`` that holds the default, where the callable's own default
            cannot be relied on: it is then passed on every call.
    """

    name: str
    annotation: Any
    default: Any = MISSING
    kind: inspect._ParameterKind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    field: FieldInfo | None = None

    @property
    def required(self) -> bool:
        """Whether a call has to name it."""
        return self.default is MISSING and self.field is None

    def value_when_left_out(self) -> Any:
        """The default, made anew where a ``Field`` has a factory for it."""
        if self.field is None:
            return self.default
        factory: Any = self.field.default_factory
        return self.field.get_default() if factory is None else factory()


@dataclass(frozen=True, slots=True)
class Shape:
    """All that a callable takes.

    Args:
        parameters: In the order of the callable; ``*args`` and ``**kwargs`` are none of them.
        extra: The type of each value in ``**kwargs``, or `MISSING` where there is no ``**kwargs``.

    ``all_by_name`` tells that a call may simply pass the arguments by name.
    """

    parameters: tuple[Parameter, ...]
    extra: Any = MISSING
    all_by_name: bool = field(init=False)

    def __post_init__(self) -> None:
        plain = all(p.field is None and p.kind is not p.kind.POSITIONAL_ONLY for p in self.parameters)
        object.__setattr__(self, "all_by_name", plain)

    def passed(self, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the named arguments of a call, defaults of ``Field``s put in.

        Args:
            values: Arguments by name.

        Returns:
            What to call with as ``func(*args, **kwargs)``.
        """
        if self.all_by_name:
            return (), values
        by_name = dict(values)
        for parameter in self.parameters:
            if parameter.field is not None and parameter.name not in by_name:
                by_name[parameter.name] = parameter.value_when_left_out()
        first = [p for p in self.parameters if p.kind is p.kind.POSITIONAL_ONLY]
        while first and first[-1].name not in by_name:
            first.pop()
        positional = [by_name.pop(p.name) if p.name in by_name else p.value_when_left_out() for p in first]
        return tuple(positional), by_name

    @property
    def has_kwargs(self) -> bool:
        """Whether names beyond the parameters are taken."""
        return self.extra is not MISSING


def read_shape(func: Callable[..., Any], types: Mapping[str, Any] | None = None) -> Shape:
    """Read what a callable takes.

    Args:
        func: Any callable. One that Python has no signature for (some builtins) takes any name.
        types: Types by parameter name, which count instead of the annotations. Names that the
            callable does not list become parameters of their own where it has ``**kwargs``.

    Returns:
        Its shape.
    """
    types = types or {}
    try:
        signature = _signature(func)
    except (ValueError, TypeError):
        return Shape(tuple(Parameter(name, annotation) for name, annotation in types.items()), Any)
    declared = [p for p in signature.parameters.values() if p.kind is not p.VAR_POSITIONAL]
    hints = resolve_annotations(func, {p.name: p.annotation for p in declared})
    hints.update((name, types[name]) for name in hints if name in types)
    parameters = []
    extra: Any = MISSING
    for parameter in declared:
        if parameter.kind is parameter.VAR_KEYWORD:
            hint = hints[parameter.name]
            extra = Any if isinstance(hint, typing.ParamSpecKwargs) else hint
        else:
            parameters.append(_parameter(parameter, hints[parameter.name]))
    if extra is not MISSING:
        listed = {p.name for p in declared}
        parameters += [_with_field(name, hint) for name, hint in types.items() if name not in listed]
    return Shape(tuple(parameters), extra)


def resolve_annotations(func: Callable[..., Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Turn annotations, strings included, into types; what cannot be resolved is ``Any``.

    Names are looked up where the function was written: in its module, its closure, and, while
    that runs, the function around it.

    Args:
        func: The callable that they stand on, for the names that they use.
        annotations: The raw annotations, `MISSING` where there is none.

    Returns:
        A type for every name.
    """
    known = {name: Any if hint is MISSING else hint for name, hint in annotations.items()}
    if all(map(_is_resolved, known.values())):
        return known
    scope, closure = _names_of(func)
    for name, hint in known.items():
        # Most postponed annotations are the name of a builtin, for which no code has to be compiled.
        if isinstance(hint, str) and hint in _BUILTINS and hint not in scope and hint not in closure:
            known[name] = _BUILTINS[hint]
    if all(map(_is_resolved, known.values())):
        return known
    try:
        return _hints(known, scope, closure)
    except Exception:  # one bad annotation must not cost the others their types
        closure = {**_names_around(func, scope), **closure}
        resolved = {}
        for name, hint in known.items():
            try:
                resolved.update(_hints({name: hint}, scope, closure))
            except Exception:
                resolved[name] = Any
        return resolved


def _is_resolved(hint: Any) -> bool:
    return hint is Any or (isinstance(hint, type) and hint in _SIMPLE)


def is_async(func: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine or an async generator, as far as its definition says."""
    if inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
        return True
    if isinstance(func, FunctionType):
        return False
    method = getattr(type(func), "__call__", None)  # noqa: B004 - for objects of a program's own class
    return inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)


def name_and_doc(func: Callable[..., Any]) -> tuple[str, str | None]:
    """The name and docstring that a callable goes by.

    Args:
        func: Any callable; a partial goes by the function inside, an object by its class.

    Returns:
        The name, and the docstring where there is one.
    """
    while isinstance(func, functools.partial):
        func = func.func
    name = getattr(func, "__name__", None) or type(func).__name__
    doc = getattr(func, "__doc__", None) or getattr(getattr(func, "__call__", None), "__doc__", None)  # noqa: B004
    if doc == type.__call__.__doc__ and not getattr(func, "__doc__", None):
        doc = None  # what Python says of calling any class at all describes no tool
    return name, doc


def _signature(func: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        return inspect.signature(func, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(func)


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    name, kind, default = parameter.name, parameter.kind, parameter.default
    if isinstance(default, FieldInfo):
        return _with_field(name, Annotated[hint, default], kind)
    if default is MISSING:
        return _with_field(name, hint, kind)
    return Parameter(name, hint, default, kind)


def _with_field(name: str, hint: Any, kind: inspect._ParameterKind = inspect.Parameter.KEYWORD_ONLY) -> Parameter:
    notes = hint.__metadata__ if get_origin(hint) is Annotated else ()
    field = next((note for note in reversed(notes) if isinstance(note, FieldInfo)), None)
    if field is None or field.is_required():
        return Parameter(name, hint, MISSING, kind)
    default = MISSING if field.default is PydanticUndefined else field.default
    return Parameter(name, hint, default, kind, field)


def _hints(annotations: dict[str, Any], scope: dict[str, Any], closure: dict[str, Any]) -> dict[str, Any]:
    # a bare object instead of the function: defaults of None must not turn types into optional ones (3.10)
    holder: Any = SimpleNamespace(__annotations__=annotations)
    return type_hints(holder, scope, closure)


def _names_around(func: Callable[..., Any], scope: dict[str, Any]) -> dict[str, Any]:
    """The local names of the function that a function stands in, as long as that is still running."""
    outer, inside, _ = getattr(func, "__qualname__", "").rpartition(".<locals>.")
    frame = sys._getframe(1) if inside else None
    while frame is not None:
        if frame.f_globals is scope and frame.f_code.co_name == outer.rpartition(".")[2]:
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def _names_of(func: Callable[..., Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    target: Any = func
    while isinstance(target, functools.partial):
        target = target.func
    target = inspect.unwrap(target)
    if isinstance(target, type):
        found = next((vars(c)["__init__"] for c in target.__mro__ if "__init__" in vars(c)), target)
        target = found if hasattr(found, "__globals__") and target.__module__ == found.__module__ else target
    elif not hasattr(target, "__globals__") and not isinstance(target, MethodType):
        target = getattr(type(target), "__call__", target)  # noqa: B004 - the method itself is wanted
    if isinstance(target, MethodType):
        target = inspect.unwrap(target.__func__)
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    scope = getattr(target, "__globals__", None) or (vars(module) if module else {})
    closure = {p.__name__: p for p in getattr(target, "__type_params__", ())}
    code = getattr(target, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(target, "__closure__", None) or (), strict=False):
        try:
            closure[name] = cell.cell_contents
        except ValueError:  # the enclosing function has not bound it yet
            continue
    return scope, closure
