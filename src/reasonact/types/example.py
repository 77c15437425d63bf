"""`Example`: named values, some of them marked as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from typing_extensions import Self

_HIDDEN = "dspy_"  # names that DSPy keeps for itself; left out of keys, values and items


class Example:
    """One row of data: fields by attribute or by item.

    A field that is named like a method (``items``) is reached by item.

    Args:
        base: An example or a dict to start from; the inputs of an example go along.
        **kwargs: Fields; they win over those of ``base``.
    """

    _store: dict[str, Any]
    _demos: list[Any]
    _input_keys: set[str] | None

    def __init__(self, base: Any = None, /, **kwargs: Any) -> None:
        if base is None and isinstance(kwargs.get("base"), (Example, Mapping)):
            base = kwargs.pop("base")  # DSPy takes it by name too
        fields = base._store if isinstance(base, Example) else base if isinstance(base, Mapping) else {}
        self._store = {**fields, **kwargs}
        self._demos = []
        self._input_keys = base._input_keys if isinstance(base, Example) else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        store = self.__dict__.get("_store")  # not there yet while copy and pickle build the object
        if store is not None and name in store:
            return store[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            self._store[name] = value

    def __getitem__(self, name: str) -> Any:
        return self._store[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._store[name] = value

    def __delitem__(self, name: str) -> None:
        del self._store[name]

    def __contains__(self, name: object) -> bool:
        return name in self._store

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._store))

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._store.items() if not name.startswith(_HIDDEN)}
        return f"{Example.__name__}({shown}) (input_keys={self._input_keys})"

    def __str__(self) -> str:
        return self.__repr__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Example) and self._store == other._store

    def __hash__(self) -> int:
        return hash(tuple(self._store.items()))

    def keys(self, include_dspy: bool = False) -> list[str]:
        """The names of the fields.

        Args:
            include_dspy: Whether names that start with ``dspy_`` are among them.

        Returns:
            Names, in order.
        """
        return [name for name in self._store if include_dspy or not name.startswith(_HIDDEN)]

    def values(self, include_dspy: bool = False) -> list[Any]:
        """The values of the fields, in the order of `keys`."""
        return [self._store[name] for name in self.keys(include_dspy)]

    def items(self, include_dspy: bool = False) -> list[tuple[str, Any]]:
        """Name and value of each field, in the order of `keys`."""
        return [(name, self._store[name]) for name in self.keys(include_dspy)]

    def get(self, key: str, default: Any = None) -> Any:
        """A field's value, or ``default`` where there is no such field."""
        return self._store.get(key, default)

    def with_inputs(self, *keys: str) -> Self:
        """A copy in which the named fields are the inputs.

        Args:
            *keys: Their names.

        Returns:
            The copy.
        """
        marked = self.copy()
        marked._input_keys = set(keys)
        return marked

    def inputs(self) -> Self:
        """A new example of the input fields alone.

        Raises:
            ValueError: No inputs were marked.
        """
        marked = self._marked()
        return self._with_fields({name: value for name, value in self._store.items() if name in marked})

    def labels(self) -> Self:
        """A new example of the fields that are no inputs.

        Raises:
            ValueError: No inputs were marked.
        """
        marked = self._marked()
        chosen = self._with_fields({name: value for name, value in self.items() if name not in marked})
        chosen._input_keys = None
        return chosen

    def copy(self, **kwargs: Any) -> Self:
        """A copy, with other values for some fields. Values are shared.

        Args:
            **kwargs: Fields to set.

        Returns:
            The copy.
        """
        return self._with_fields({**self._store, **kwargs})

    def without(self, *keys: str) -> Self:
        """A copy without some fields.

        Args:
            *keys: Their names.

        Returns:
            The copy.

        Raises:
            KeyError: There is no such field.
        """
        left = self.copy()
        for key in keys:
            del left._store[key]
        return left

    def toDict(self) -> dict[str, Any]:
        """The fields as a plain dict; examples and models inside become dicts too."""
        return {name: _plain(value) for name, value in self._store.items()}

    def _with_fields(self, store: dict[str, Any]) -> Self:
        made = type(self).__new__(type(self))  # a subclass may ask for arguments that are no fields
        made.__dict__.update(self.__dict__)
        made._store = store
        made._demos = []
        return made

    def _marked(self) -> set[str]:
        if self._input_keys is None:
            raise ValueError("this example has no inputs marked; say which with example.with_inputs('name', ...)")
        return self._input_keys


def _plain(value: Any) -> Any:
    if isinstance(value, Example):
        return value.toDict()
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return cast("dict[str, Any]", {key: _plain(item) for key, item in value.items()})
    return value
