"""The live view of a run in a terminal, or as plain text where there is none.

Everything that a model or a tool wrote is shown as text: no markup in it takes effect,
and no control character reaches the terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO

from reasonact.runtime.events import (
    Event,
    RunFinished,
    RunStarted,
    ThoughtText,
    ToolCalled,
    ToolReturned,
    TurnFinished,
)

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_LINES: Final = 6
SHOWN_CHARACTERS: Final = 480
SHOWN_ARGUMENT: Final = 120
LABEL_WIDTH: Final = 16
NARROW: Final = 48
ENDING_TOOLS: Final = frozenset({"finish", "submit"})


class Screen:
    """Shows a run while it happens; an event sink.

    Args:
        out: Where to write. A terminal gets colours; anything else plain text.
        width: Columns to use, where the stream should not be asked.
    """

    def __init__(self, out: TextIO, width: int | None = None) -> None:
        self._console = _console(out, width)
        self._turn: int | None = None
        self._thought: list[str] = []

    def opening(self, title: str, notes: Iterable[str], question: str) -> None:
        """Say what plays, and what is asked.

        Args:
            title: One line.
            notes: Lines below it.
            question: The question.
        """
        self._console.print(_text(title), style="bold")
        for note in notes:
            self._console.print(_text(note), style="dim")
        self._console.print()
        self._row("question", question, "bold")

    def put(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, ThoughtText):
            self._begin(event.turn)
            self._thought.append(event.text)
            return
        self._say_thought()
        if isinstance(event, ToolCalled):
            self._begin(event.turn)
            if event.name not in ENDING_TOOLS:  # the answer stands below, in full
                self._row("call", f"{event.name}({_arguments(event.args)})", "cyan")
            else:
                self._row("call", event.name, "cyan")
        elif isinstance(event, ToolReturned):
            if event.is_error:
                self._row("error", shortened(_shown(event.value)), "red")
            elif event.name not in ENDING_TOOLS:
                self._row("result", shortened(_shown(event.value)), "dim")
        elif isinstance(event, TurnFinished | RunStarted | RunFinished):
            pass  # the turn's heading and the closing lines say it

    async def aput(self, event: Event) -> None:
        """Show one event; writing to a terminal does not wait for anybody."""
        self.put(event)

    def closing(self, outputs: Mapping[str, Any], summary: str) -> None:
        """Show the typed answer and what the run took.

        Args:
            outputs: The output fields with their values.
            summary: One line: calls, tokens, time.
        """
        self._say_thought()
        self._rule("answer")
        for name, value in outputs.items():
            self._row(name, f"{_shown(value)}  ({type(value).__name__})", "bold green" if name == "answer" else "green")
        self._console.print()
        self._console.print(_text(summary), style="dim")

    def _begin(self, turn: int) -> None:
        if turn != self._turn:
            self._turn = turn
            self._rule(f"turn {turn + 1}")

    def _rule(self, title: str) -> None:
        self._console.print()
        self._console.rule(_text(title), align="left", characters="─" if _can_draw(self._console) else "-", style="dim")

    def _say_thought(self) -> None:
        if self._thought:
            text = "".join(self._thought).strip()
            self._thought.clear()
            if text:
                self._row("thought", shortened(text), "italic")

    def _row(self, label: str, text: str, style: str) -> None:
        narrow = self._console.width < NARROW
        indent = 1 if narrow else max(LABEL_WIDTH, len(label) + 2)
        lines = _text(text, style).wrap(self._console, max(1, self._console.width - indent - 1))
        if narrow:
            self._console.print(_text(label, "bold dim"))
        for number, line in enumerate(lines):
            line.rstrip()
            head = label if number == 0 and not narrow else ""
            self._console.print(_text(head.ljust(indent), "bold dim") + line if line else "", soft_wrap=True)


def shortened(text: str) -> str:
    """The beginning of a text, and its whole size where that is not all.

    Args:
        text: Any text.

    Returns:
        At most 6 lines and 480 characters of it, then a line with the sizes.
    """
    lines = text.strip().splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])
    if len(shown) > SHOWN_CHARACTERS:
        whole_lines = shown.rfind("\n", 0, SHOWN_CHARACTERS)
        shown = shown[: whole_lines if whole_lines > 0 else SHOWN_CHARACTERS].rstrip()
    if len(shown) >= len("\n".join(lines)):
        return shown
    return f"{shown}\n[cut: {_count(len(lines), 'line')}, {_count(len(text), 'character')} in all]"


def visible(text: str) -> str:
    """A text that is safe to print: control characters become ``\\x1b`` and the like."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text
    )


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def _arguments(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_clipped(repr(value))}" for name, value in args.items())


def _clipped(text: str) -> str:
    return text if len(text) <= SHOWN_ARGUMENT else f"{text[:SHOWN_ARGUMENT]}..."


def _console(out: TextIO, width: int | None) -> Console:
    from rich.console import Console

    return Console(file=out, width=width, highlight=False, markup=False, emoji=False)


def _can_draw(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")


def _text(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(visible(text), style=style)
