"""How the views put values, sizes, times and money into words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from reasonact.types.history_form import NOTES
from reasonact.types.json_form import json_form
from reasonact.view.forms import SignatureForm
from reasonact.view.record import RunRecord, Turn

_UNSAFE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """A text that is safe to show: control characters, also those that turn the reading direction, as ``\\x1b``."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))


def shown(value: Any) -> str:
    """A value of an event: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(json_form(value), ensure_ascii=False)


def laid_out(value: Any) -> str:
    """As `shown`, with one line for each key or item."""
    return value if isinstance(value, str) else json.dumps(json_form(value), ensure_ascii=False, indent=2)


def arguments(args: Mapping[str, Any], longest: int) -> str:
    """The arguments of a call on one line, each value cut to ``longest`` characters."""
    written = {name: json.dumps(json_form(value), ensure_ascii=False) for name, value in args.items()}
    return ", ".join(f"{name}={_clipped(text, longest)}" for name, text in written.items())


def fields_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event's JSON form, without the notes on their types."""
    return {name: value for name, value in data.items() if name != NOTES}


def one_line(text: str, longest: int) -> str:
    """A text without line breaks, cut to ``longest`` characters."""
    return _clipped(" ".join(text[: longest * 4].split()), longest)


def cut(text: str, lines: int, characters: int) -> str:
    """The beginning of a text, and its whole size where that is not all.

    Args:
        text: Any text.
        lines: The most lines to show.
        characters: The most characters to show.

    Returns:
        The text, or its beginning and a line with the sizes.
    """
    whole = text.strip("\n").rstrip()
    rows = whole.split("\n")
    head = "\n".join(rows[:lines])
    if len(head) > characters:
        border = head.rfind("\n", 0, characters)
        head = head[: border if border > 0 else characters].rstrip()
    if len(head) >= len(whole):
        return whole
    return f"{head}\n[cut: {size(text)} in all]"


def size(text: str) -> str:
    """How long a text is: ``12 lines, 1,234 characters``."""
    rows = text.count("\n") + 1
    return counted(len(text), "character") if rows == 1 else f"{rows:,} lines, {counted(len(text), 'character')}"


def counted(number: int, thing: str) -> str:
    """A number of things: ``1 call``, ``2 calls``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time: ``3 ms``, ``1.2 s``, ``2 min 05 s``."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def money(dollars: float | None) -> str:
    """US dollars; small sums with the digits that tell them apart from nothing."""
    if dollars is None:
        return "price unknown"
    if dollars == 0:
        return "$0"
    return f"${dollars:,.2f}" if dollars >= 10 else f"${dollars:.4f}" if dollars >= 0.0001 else f"${dollars:.1e}"


def tokens(prompt: int, cached: int, completion: int) -> str:
    """Tokens of one or more calls: ``1,204 in (1,024 cached), 38 out``."""
    return f"{prompt:,} in{f' ({cached:,} cached)' if cached else ''}, {completion:,} out"


def turn_name(turn: Turn) -> str:
    """What a turn is called."""
    return {"turn": f"turn {turn.number + 1}", "submit": "forced submit", "extract": "extraction"}[turn.stage]


def ending(record: RunRecord) -> str:
    """How a run ended, in a few words."""
    if record.error is not None:
        return f"stopped by {record.error.kind}"
    reason = record.termination_reason or "unknown"
    return f"ended by {reason}" if record.outputs else f"ended by {reason}, without outputs"


def signature_line(form: SignatureForm) -> str:
    """A signature with its types, on one line."""
    sides = (", ".join(f"{item.name}: {item.type}" for item in form.of(kind)) for kind in ("input", "output"))
    return " -> ".join(sides)


def model_names(record: RunRecord) -> list[str]:
    """The models that answered the loop's requests, in order of appearance."""
    names = (note.model for turn in record.turns for asked in turn.requests for note in asked.calls)
    return list(dict.fromkeys(names))


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
