"""Which fields of a program are streamed, and by which of its predictors they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reasonact.runtime.events import Event, OutputText, TextWithdrawn
from reasonact.streaming.messages import StreamResponse


class StreamListener:
    """Asks `streamify` for the text of one output field.

    Args:
        signature_field_name: The field.
        predict: The predictor that writes it, where several do.
        predict_name: The path of that predictor in the program, such as ``"extract.predict"``;
            beside ``predict``, the name that the pieces carry.
        allow_reuse: Whether to give the field each time that it is written in a run. By
            default the first time counts; each run of the streamed program begins anew.
    """

    def __init__(
        self,
        signature_field_name: str,
        predict: Any = None,
        predict_name: str | None = None,
        allow_reuse: bool = False,
    ) -> None:
        self.allow_reuse = allow_reuse
        self.signature_field_name, self.predict, self.predict_name = signature_field_name, predict, predict_name


@dataclass(frozen=True, slots=True)
class Heard:
    """A listener and the module that it listens to."""

    listener: StreamListener
    module: Any
    name: str | None


def find_writers(program: Any, listeners: Iterable[StreamListener]) -> list[Heard]:
    """Find the module that each listener means.

    A field of no predictor may be an agent's own: the structured agent's outputs are written
    as arguments of ``submit``.

    Args:
        program: The program.
        listeners: The listeners.

    Returns:
        Each listener with its module.

    Raises:
        ValueError: No module writes the field, several do, or there is none of that name.
    """
    return [_find_writer(program, listener) for listener in listeners]


def _find_writer(program: Any, listener: StreamListener) -> Heard:
    predictors: list[tuple[str, Any]] = program.named_predictors()
    if listener.predict is not None:
        path = next((path for path, found in predictors if found is listener.predict), None)
        return Heard(listener, listener.predict, listener.predict_name or path)
    field = listener.signature_field_name
    agents = [
        (path.removeprefix("self."), found)
        for path, found in program.named_sub_modules()
        if not any(found is predictor for _, predictor in predictors)
    ]
    for modules in (predictors, agents):
        writers = [(path, found) for path, found in modules if field in _outputs(found)]
        if listener.predict_name is not None:
            writers = [(path, found) for path, found in writers if path == listener.predict_name]
        if len(writers) > 1:
            paths = ", ".join(path for path, _ in writers)
            raise ValueError(
                f"{len(writers)} predictors write the field {field!r}: {paths}; name one with "
                f"StreamListener({field!r}, predict_name=...) or predict=..."
            )
        if writers:
            ((path, found),) = writers
            return Heard(listener, found, path)
    whose = "" if listener.predict_name is None else f" named {listener.predict_name!r}"
    known = ", ".join(f"{path} ({', '.join(_outputs(found))})" for path, found in predictors)
    raise ValueError(f"no predictor{whose} writes the field {field!r}; the predictors and their fields: {known}")


def _outputs(module: Any) -> Iterable[str]:
    return getattr(getattr(module, "signature", None), "output_fields", None) or ()


class Hearing:
    """What the listeners of one run have heard; turns events into pieces for them.

    Args:
        heard: The listeners.
    """

    def __init__(self, heard: Iterable[Heard]) -> None:
        self._by_field: dict[tuple[int, str], list[Heard]] = {}
        for one in heard:
            self._by_field.setdefault((id(one.module), one.listener.signature_field_name), []).append(one)
        self._ended: set[int] = set()

    def responses(self, event: Event) -> list[StreamResponse]:
        """The pieces that an event brings.

        Args:
            event: An event of the run.

        Returns:
            One piece for each listener that waits for it.
        """
        if isinstance(event, TextWithdrawn):
            self._ended.difference_update(self._withdrawn(event))
            return []
        if not isinstance(event, OutputText):
            return []
        responses = []
        for one in self._by_field.get((id(event.source), event.field), ()):
            if id(one) in self._ended:
                continue
            responses.append(StreamResponse(one.name, event.field, event.text, event.done))
            if event.done and not one.listener.allow_reuse:
                self._ended.add(id(one))
        return responses

    def _withdrawn(self, event: TextWithdrawn) -> Iterable[int]:
        """The listeners whose field comes once more, because what they got does not hold."""
        for (module, field), listeners in self._by_field.items():
            if module == id(event.source) and event.field in (None, field):
                yield from (id(one) for one in listeners)
