"""The requests of a run, written again from its record by the adapter that wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from reasonact.adapters.base import Adapter
from reasonact.adapters.clip import clipped_event
from reasonact.adapters.conversation import Rendered
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.step_form import is_step, offer_tools
from reasonact.adapters.two_step import TwoStepAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.lm.base import BaseLM
from reasonact.signatures.signature import Signature
from reasonact.types.history import CORRECTION, History
from reasonact.types.history_form import read_events
from reasonact.types.tool_calls import ToolCalls
from reasonact.view.forms import signature_again, tool_again
from reasonact.view.log import Asked, CallNote
from reasonact.view.record import Rendering, RunRecord
from reasonact.view.recording import ADAPTERS

Message = Mapping[str, Any]
Form = Literal["first", "fallback", "other"]

_SUBMIT_OPTIONS: Final = {"reasoning_effort": None}
"""The option of a forced submit that has a say in its messages: no reasoning beside the text."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request, as it was sent.

    Args:
        turn: The place of its turn in the record.
        asked: The note of the request it belongs to.
        note: The answer's note; None where no answer came.
        form: ``first``; ``fallback`` where it asked once more as JSON; ``other`` for a
            further request that the adapter made.
        messages: The messages; empty where they cannot be written again.
        base: The place, among all prompts, of the one that it continues.
        kept: How many messages it shares with that one, from the first on.
        problem: Why the messages cannot be written again, or what may differ.
    """

    turn: int
    asked: Asked
    note: CallNote | None
    form: Form
    messages: Sequence[Message] = ()
    base: int | None = None
    kept: int = 0
    problem: str | None = None


def prompts_of(record: RunRecord) -> Iterator[Prompt]:
    """Write the requests of a run again.

    Args:
        record: The run.

    Yields:
        A prompt for every request, in order. Messages that are unchanged are the same
        objects from one to the next.
    """
    again = _Again(record)
    latest: dict[tuple[str, Form], tuple[int, Sequence[Message]]] = {}
    number = 0
    for place, turn in enumerate(record.turns):
        for asked in turn.requests:
            for nth, note in enumerate(asked.calls or (None,)):
                form = again.form(nth)
                messages, problem = again.messages(asked, form)
                key = ("extract" if asked.stage == "extract" else "turn", form)
                base, before = latest.get(key, (None, ()))
                kept = _shared(before, messages)
                yield Prompt(place, asked, note, form, messages, base if kept else None, kept, problem)
                if messages:
                    latest[key] = (number, messages)
                number += 1


class _StandInLM(BaseLM):
    """A model of which nothing is known but what it can do."""

    def __init__(self, rendering: Rendering) -> None:
        super().__init__("stand-in")
        self._rendering = rendering

    @property
    def supports_function_calling(self) -> bool:
        return self._rendering.function_calling

    @property
    def supports_reasoning(self) -> bool:
        return self._rendering.reasoning


@dataclass(slots=True)
class _Steps:
    """ReAct's trajectory as far as it has been made from events."""

    events: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)


class _Again:
    """What the prompts of one run have in common."""

    def __init__(self, record: RunRecord) -> None:
        rendering = record.rendering
        self.record = record
        self.lm = _StandInLM(rendering)
        self.adapter = _adapter(rendering)
        self.fallback = JSONAdapter(use_native_function_calling=rendering.native_tools)
        self.rendered = Rendered()
        self.tools = [tool_again(form) for form in rendering.tools]
        self.events = [clipped_event(event, rendering.max_result_chars) for event in read_events(record.events)]
        self.inputs = read_events([record.inputs])[0]
        self.views = [
            [place if isinstance(place, int) else read_events([place])[0] for place in view.places]
            for view in record.views
        ]
        self.signatures: dict[str, type[Signature]] = {}
        self.demos: dict[str, list[Any]] = {}
        self.steps = _Steps(events=record.start)
        self.own_types = any(
            item.schema is not None for form in rendering.predictors.values() for item in form.signature.fields
        )

    def form(self, nth: int) -> Form:
        """What the nth answer to one request of the loop was asked for in."""
        if nth == 0:
            return "first"
        return "fallback" if nth == 1 and self.record.rendering.fallback else "other"

    def messages(self, asked: Asked, form: Form) -> tuple[Sequence[Message], str | None]:
        """The messages of a request, and what is to be said of them."""
        rendering = self.record.rendering
        if self.adapter is None:
            return (), f"{rendering.adapter} is an adapter of the program's own: its messages cannot be written again."
        if asked.reshaped:
            return (), "The program's own hook shaped what was shown, so these messages cannot be written again."
        if form == "other":
            return (), f"A further request of {rendering.adapter}, whose messages are not known."
        adapter = self.adapter if form == "first" else self.fallback
        try:
            messages = self._rendered(asked, adapter)
        except Exception as error:  # whatever a record that was edited by hand leads to
            return (), f"These messages cannot be written again ({type(error).__name__}: {error})."
        if rendering.own_hooks and form == "first":
            return messages, f"Written by {rendering.base}; {rendering.adapter} may have put some of it otherwise."
        if form == "first" and adapter is self.adapter and isinstance(adapter, XMLAdapter) and self.own_types:
            return messages, "The tags within values of the program's own types are not shown as they were."
        return messages, None

    def _rendered(self, asked: Asked, adapter: Adapter) -> Sequence[Message]:
        name = "extract" if asked.stage == "extract" else "react"
        if name not in self.signatures:
            form = self.record.rendering.predictors[name]
            self.signatures[name], self.demos[name] = signature_again(form.signature), form.examples()
        signature = self.signatures[name]
        if is_step(signature):
            offer_tools(signature, self.tools)
        memo = self.rendered if adapter is self.adapter else None
        inputs: dict[str, Any] = dict(self.inputs)
        options: Mapping[str, Any] = {}
        if self.record.kind == "trajectory":
            assert self.adapter is not None
            inputs["trajectory"] = self.adapter.format_trajectory(self._steps(asked), self.rendered, self.steps.failed)
        else:
            names = [name for name in signature.input_fields if name not in ("history", "tools")]
            inputs = inputs if asked.said else dict.fromkeys(names)
            inputs["history"] = History.model_construct(messages=self._shown(asked))
            inputs["tools"] = self.tools
            options = _SUBMIT_OPTIONS if asked.stage == "submit" else {}
        return adapter.render(self.lm, options, signature, self.demos[name], inputs, memo).messages

    def _shown(self, asked: Asked) -> list[Any]:
        extra = read_events(asked.extra)
        if asked.view is None:
            return [*self.events[: asked.events], *extra]
        places = [*self.views[asked.view], *range(self.record.views[asked.view].events, asked.events)]
        return [*(self.events[place] if isinstance(place, int) else place for place in places), *extra]

    def _steps(self, asked: Asked) -> Mapping[str, Any]:
        steps = self.steps
        while steps.events < asked.events:
            self._add_step(steps.events - self.record.start, self.events[steps.events])
            steps.events += 1
        if asked.first == 0:
            return steps.values
        return {key: value for key, value in steps.values.items() if int(key.rpartition("_")[2]) >= asked.first}

    def _add_step(self, number: int, event: Mapping[str, Any]) -> None:
        calls = event.get("tool_calls")
        values = {"thought": event.get("next_thought", ""), "tool_name": "", "tool_args": {}}
        if isinstance(calls, ToolCalls) and calls.tool_calls:
            values |= {"tool_name": calls.tool_calls[0].name, "tool_args": dict(calls.tool_calls[0].args)}
            results = calls.tool_call_results.tool_call_results if calls.tool_call_results else []
            failed = any(result.is_error for result in results)
            values["observation"] = results[0].value if results else None
        else:
            failed = True
            values["observation"] = event.get(CORRECTION)
        if failed:
            self.steps.failed.append(number)
        self.steps.values.update({f"{part}_{number}": value for part, value in values.items()})


def _adapter(rendering: Rendering) -> Adapter | None:
    cls = ADAPTERS.get(rendering.base or "")
    if cls is None:
        return None
    if cls is TwoStepAdapter:
        return TwoStepAdapter(_StandInLM(rendering), use_native_function_calling=rendering.native_tools)
    adapter = cls()
    adapter.use_native_function_calling = rendering.native_tools
    return adapter


def _shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages two requests begin with alike."""
    same = 0
    for one, other in zip(before, now, strict=False):
        if one is not other and one != other:
            break
        same += 1
    return same
