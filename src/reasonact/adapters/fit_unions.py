"""How the value of a union finds its type.

Pydantic's smart mode decides between types that read a value as it stands. Members of
enums and Literals, which it knows by value only, are looked for first; where plain text
is allowed too, a text that is no JSON value stays text.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Literal, Union, get_origin

from pydantic import BaseModel, TypeAdapter

from reasonact.adapters.annotations import core_type
from reasonact.adapters.fit_containers import Fit, one_value
from reasonact.adapters.scalar_text import is_null_word


class UnionFit:
    """The fit of a union.

    Args:
        arms: The types allowed, None among them.
        fits: The fit of each.
        adapter: Builds pydantic's validator of a type; called at the first value.
        exact: True where numbers with a fraction are read as ``Decimal``.
    """

    def __init__(
        self, arms: tuple[Any, ...], fits: list[Fit], adapter: Callable[[Any], TypeAdapter[Any]], exact: bool
    ) -> None:
        cores = [core_type(arm) for arm in arms]
        kept = [number for number, core in enumerate(cores) if core is not type(None)]
        self.nullable = len(kept) < len(arms)
        self.takes_text = str in cores or Any in cores
        self.exact = exact
        self._arms = [arms[number] for number in kept]
        self._fits = [fits[number] for number in kept]
        self._choosing = [fits[number] for number in kept if _chooses(cores[number])]
        self._adapter = adapter
        self._built: tuple[TypeAdapter[Any], list[TypeAdapter[Any]]] | None = None

    def fit(self, value: Any, outermost: bool) -> Any:
        """Mend a value.

        Args:
            value: Any value.
            outermost: Whether it is a field's value.

        Returns:
            None for a word that says so, where it is allowed; the value of the type that
            it fits.

        Raises:
            ValueError: It fits none.
        """
        if value is None and self.nullable:
            return None
        may_be_null = self.nullable and (outermost or not self.takes_text)
        if may_be_null and isinstance(value, str) and is_null_word(value, among_texts=self.takes_text):
            return None
        if len(self._arms) == 1:
            return self._fits[0](value, outermost)
        for candidate in self._candidates(value, outermost):
            found = self._found(candidate, outermost)
            if found is not _NOTHING:
                return found
        raise ValueError("it fits none of the types allowed")

    def _candidates(self, value: Any, outermost: bool) -> list[Any]:
        if not isinstance(value, str) or not outermost:
            return [value]
        try:
            read = one_value(value, self.exact)
        except ValueError:
            return [value]
        return [read] if isinstance(read, str) else [read, value]

    def _found(self, candidate: Any, outermost: bool) -> Any:
        if self._built is None:
            self._built = self._adapter(Union[tuple(self._arms)]), [self._adapter(arm) for arm in self._arms]  # noqa: UP007
        smart, adapters = self._built
        if isinstance(candidate, str):
            for fit in self._choosing:
                found = _tried(fit, candidate, False)
                if found is not _NOTHING:
                    return found
            if self.takes_text:
                return candidate
        for strict in (True,) if isinstance(candidate, bool) else (True, None):  # True is no 1
            found = _tried(_validated, smart, candidate, strict)
            if found is not _NOTHING:
                return found
        for fit, adapter in zip(self._fits, adapters, strict=True):
            found = _tried(lambda fit=fit, adapter=adapter: adapter.validate_python(fit(candidate, outermost)))
            if found is not _NOTHING:
                return found
        return _NOTHING


_NOTHING = object()


def _tried(read: Callable[..., Any], *args: Any) -> Any:
    try:
        return read(*args)
    except Exception:  # a validator of the user's may raise anything on another type's value
        return _NOTHING


def _validated(adapter: TypeAdapter[Any], candidate: Any, strict: bool | None) -> Any:
    result = adapter.validate_python(candidate, strict=strict)
    if isinstance(result, BaseModel) and isinstance(candidate, dict) and candidate and not result.model_fields_set:
        raise ValueError("none of its keys is one of the model's")
    return result


def _chooses(core: Any) -> bool:
    return get_origin(core) is Literal or (isinstance(core, type) and issubclass(core, enum.Enum))
