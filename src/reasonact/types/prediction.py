"""`Prediction`: what a module gives back; `Completions`: all of its candidates."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from reasonact.types.example import Example

if TYPE_CHECKING:
    from typing_extensions import Self


class Prediction(Example):
    """The outputs of a module, by attribute or by item.

    With usage tracking on, ``usage`` is what its model calls came to (a stored field of
    that name wins); an agent's prediction always has one. With a field ``score`` it takes
    part in sums, quotients and comparisons as that number.

    Args:
        *args: As for `Example`.
        **kwargs: Fields.
    """

    _completions: Completions | None
    _lm_usage: dict[str, Any] | None
    _usage: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._completions = None
        self._lm_usage = None
        self._usage = None

    @classmethod
    def from_completions(cls, list_or_dict: Any, signature: Any = None) -> Self:
        """Make a prediction of the first of several completions.

        Args:
            list_or_dict: A list with one dict for each completion, or a dict with one list
                for each field.
            signature: The signature they answer.

        Returns:
            The prediction; all of them are in its ``completions``.

        Raises:
            ValueError: The fields have different numbers of values.
        """
        made = cls()
        made._completions = Completions(list_or_dict, signature=signature)
        made._store = {name: values[0] for name, values in made._completions.items() if values}
        return made

    @property
    def completions(self) -> Completions | None:
        """All completions; None where the prediction was made directly."""
        return self._completions

    def get_lm_usage(self) -> dict[str, Any] | None:
        """The tokens that were used, by model; None where they were not counted."""
        return self._lm_usage

    def set_lm_usage(self, value: dict[str, Any] | None, usage: Any = None) -> None:
        """Put the used tokens down.

        Args:
            value: Counts by model.
            usage: Calls, cached calls and cost, for the attribute ``usage``.
        """
        self._lm_usage = value
        self._usage = usage

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            usage = self.__dict__.get("_usage") if name == "usage" else None
            if usage is None:
                raise
            return usage

    def _with_fields(self, store: dict[str, Any]) -> Self:
        made = super()._with_fields(store)
        made._completions = None  # they, and the tokens, belong to the call that gave this prediction
        made._lm_usage = None
        made._usage = None
        return made

    def __repr__(self) -> str:
        omitted = len(self._completions or ()) - 1
        fields = [f"{name}={value!r}" for name, value in self._store.items()]
        if omitted < 1:
            return f"Prediction({_lines(fields)})"
        return f"Prediction({_lines([*fields, 'completions=Completions(...)'])}) ({omitted} completions omitted)"

    def __float__(self) -> float:
        if "score" not in self._store:
            raise ValueError("only a prediction with a field 'score' is a number, and this one has none")
        return float(self._store["score"])

    def __add__(self, other: Any) -> float:
        return float(self) + _number(other, "added to")

    def __radd__(self, other: Any) -> float:
        return _number(other, "added to") + float(self)

    def __truediv__(self, other: Any) -> float:
        return float(self) / _number(other, "a divisor of")

    def __rtruediv__(self, other: Any) -> float:
        return _number(other, "divided by") / float(self)

    def __lt__(self, other: Any) -> bool:
        return float(self) < _number(other, "compared with")

    def __le__(self, other: Any) -> bool:
        return float(self) <= _number(other, "compared with")

    def __gt__(self, other: Any) -> bool:
        return float(self) > _number(other, "compared with")

    def __ge__(self, other: Any) -> bool:
        return float(self) >= _number(other, "compared with")


class Completions:
    """Several answers to one request.

    By name (``completions.answer``, ``completions["answer"]``) the values of one field; by
    number (``completions[0]``) one answer as a `Prediction`.

    Args:
        list_or_dict: A list with one dict for each answer, or a dict with one list for each field.
        signature: The signature they answer.

    Raises:
        ValueError: The fields have different numbers of values.
    """

    signature: Any

    def __init__(self, list_or_dict: Any, signature: Any = None) -> None:
        self.signature = signature
        self._completions: dict[str, list[Any]]
        if isinstance(list_or_dict, list):
            self._completions = {}
            for answer in list_or_dict:
                for name, value in answer.items():
                    self._completions.setdefault(name, []).append(value)
        elif isinstance(list_or_dict, Mapping):
            self._completions = dict(list_or_dict)
        else:
            raise ValueError(f"completions are a list of dicts or a dict of lists, not {type(list_or_dict).__name__}")
        counts = {name: len(values) for name, values in self._completions.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"every field needs one value for each completion, but there are {counts}")

    def items(self) -> ItemsView[str, list[Any]]:
        """The values of every field, by name."""
        return self._completions.items()

    @overload
    def __getitem__(self, key: int) -> Prediction: ...

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, int):
            if not 0 <= key < len(self):
                raise IndexError(f"there are {len(self)} completions, so no number {key}")
            return Prediction(**{name: values[key] for name, values in self._completions.items()})
        return self._completions[key]

    def __getattr__(self, name: str) -> list[Any]:
        fields = self.__dict__.get("_completions", {})  # not there yet while copy and pickle build the object
        if name in fields:
            values: list[Any] = fields[name]
            return values
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __iter__(self) -> Iterator[Prediction]:
        return (self[number] for number in range(len(self)))

    def __len__(self) -> int:
        return len(next(iter(self._completions.values()), ()))

    def __contains__(self, name: object) -> bool:
        return name in self._completions

    def __repr__(self) -> str:
        return f"Completions({_lines([f'{name}={values!r}' for name, values in self._completions.items()])})"


def _lines(entries: Sequence[str]) -> str:
    return "\n    {}\n".format(",\n    ".join(entries))


def _number(value: Any, role: str) -> float:
    if isinstance(value, (int, float, Prediction)):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot be {role} a prediction's score; only numbers and predictions can")
