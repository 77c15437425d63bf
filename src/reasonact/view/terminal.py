"""A run in the terminal, or as plain text where there is none.

Whatever a model or a tool wrote is shown as text: no markup in it takes effect, and no
control character reaches the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO

from reasonact.types.history import CORRECTION, History
from reasonact.types.tool_calls import ToolCalls
from reasonact.view.record import RunRecord, Turn
from reasonact.view.words import (
    arguments,
    counted,
    cut,
    duration,
    ending,
    fields_of,
    model_names,
    money,
    plain,
    shown,
    signature_line,
    tokens,
    turn_name,
)

if TYPE_CHECKING:
    from rich.console import Console

_LINES: Final = 8
_CHARACTERS: Final = 600
_ARGUMENT: Final = 160
_LABEL: Final = 12
_NARROW: Final = 50
_ENDING: Final = frozenset({"finish", "submit"})


def show(record: RunRecord, file: TextIO | None = None, width: int | None = None) -> None:
    """Print a run.

    Args:
        record: The run.
        file: Where to; standard output by default. A terminal gets colours.
        width: Columns to use; by default those of the terminal.
    """
    _Screen(_console(file or sys.stdout, width)).run(record)


class _Screen:
    def __init__(self, console: Console) -> None:
        self.console = console
        self.wide = console.width >= _NARROW
        self.indent = _LABEL
        self.line = "─" if console.encoding.lower().startswith("utf") else "-"

    def run(self, record: RunRecord) -> None:
        models = ", ".join(model_names(record)) or "no model"
        self.console.print(_text(record.agent, "bold"), _text(f"  {models}, {record.rendering.adapter}", "dim"), sep="")
        self.console.print(_text(signature_line(record.signature), "dim"))
        self.console.print()
        inputs, outputs = fields_of(record.inputs), fields_of(record.outputs)
        self.indent = max(_LABEL, *(min(len(name) + 2, 2 * _LABEL) for name in (*inputs, *outputs, "")))
        for name, value in inputs.items():
            self.row(name, cut(shown(value), _LINES, _CHARACTERS), "bold")
        if record.start:
            self.row("history", f"{counted(record.start, 'earlier event')}, not shown", "dim")
        events = History.from_any(list(record.events)).messages
        pending = [] if record.pending is None else History.from_any([record.pending]).messages
        for place, turn in enumerate(record.turns):
            self.heading(turn)
            own = events[turn.first_event : turn.first_event + turn.events]
            last = place == len(record.turns) - 1
            for event in [*own, *(pending if last else [])]:
                self.event(event)
            for asked in turn.requests:
                if asked.error is not None:
                    told = "the answer could not be used" if asked.calls else "failed"
                    self.row("request", f"{told}: {asked.error}", "red")
        self.end(record)

    def heading(self, turn: Turn) -> None:
        title = _text(turn_name(turn), "bold" if turn.finished else "bold red")
        facts = [tokens(turn.spent.prompt, turn.spent.cached, turn.spent.completion)] if turn.calls else []
        if turn.seconds is not None:
            facts.append(duration(turn.seconds))
        if turn.spent.cost:
            facts.append(money(turn.spent.cost))
        if not turn.finished:
            facts.append("unfinished")
        self.rule(title, " · ".join(facts) if self.line == "─" else ", ".join(facts))

    def rule(self, title: Any, facts: str) -> None:
        self.console.print()
        room = self.console.width - len(title) - len(facts) - 6
        start = _text(self.line * 2 + " ", "dim")
        if room < 1:
            self.line_of(start, title)
            self.console.print(_text(facts, "dim"))
            return
        self.line_of(start, title, _text(f" {self.line * room} {facts}" if facts else "", "dim"))

    def line_of(self, *pieces: Any) -> None:
        self.console.print(*pieces, sep="", soft_wrap=True)

    def event(self, event: Mapping[str, Any]) -> None:
        thought = event.get("next_thought")
        if thought:
            self.row("thought", cut(str(thought), _LINES, _CHARACTERS), "italic")
        calls = event.get("tool_calls")
        if isinstance(calls, ToolCalls):
            results = calls.tool_call_results.tool_call_results if calls.tool_call_results else []
            answers = {result.call_id: result for result in results}
            for call in calls.tool_calls:
                answer = answers.get(call.id)
                if answer is not None and not answer.is_error and call.name in _ENDING:
                    self.row("call", call.name, "cyan")  # the outputs stand below, in full
                    continue
                self.row("call", f"{call.name}({arguments(call.args, _ARGUMENT)})", "cyan")
                if answer is None:
                    self.row("", "no result", "dim")
                elif answer.is_error:
                    self.row("error", cut(shown(answer.value), _LINES, _CHARACTERS), "red")
                else:
                    self.row("result", cut(shown(answer.value), _LINES, _CHARACTERS), "")
        if CORRECTION in event:
            self.row("correction", cut(str(event[CORRECTION]), _LINES, _CHARACTERS), "red")

    def end(self, record: RunRecord) -> None:
        if record.outputs:
            self.rule(_text("outputs", "bold"), "")
            for name, value in fields_of(record.outputs).items():
                if name == "reasoning":
                    self.row(name, cut(shown(value), _LINES, _CHARACTERS), "italic")
                else:
                    self.row(name, cut(shown(value), 4 * _LINES, 4 * _CHARACTERS), "bold green")
        self.rule(_text(ending(record), "bold green" if record.outputs else "bold red"), "")
        if record.error is not None:
            self.row("error", cut(record.error.message, _LINES, _CHARACTERS), "red")
        total = record.totals
        spent = [
            counted(len(record.turns), "turn"),
            counted(total.model_calls, "model call")
            + (f" ({total.cached_calls} cached)" if total.cached_calls else ""),
            counted(total.tool_calls, "tool call"),
            counted(total.total_tokens, "token"),
            duration(total.seconds),
            money(total.cost_usd),
        ]
        self.console.print(_text(", ".join(spent), "dim"))

    def row(self, label: str, text: str, style: str) -> None:
        """A label and a text beside it; under it where the terminal is narrow."""
        indent = max(self.indent, len(label) + 2) if self.wide else 2
        room = max(1, self.console.width - indent)
        if not self.wide and label:
            self.console.print(_text(label, "bold dim"))
        for number, line in enumerate(_text(text, style).wrap(self.console, room)):
            line.rstrip()
            head = label if number == 0 and self.wide else ""
            self.line_of(*([_text(head.ljust(indent), "bold dim"), line] if line else [""]))


def _console(file: TextIO, width: int | None) -> Console:
    from rich.console import Console

    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)


def _text(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(plain(text), style=style)
