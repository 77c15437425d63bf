"""A run as one HTML page: no network, light and dark, usable by keyboard.

Every text that a model, a tool or a program gave is escaped, and the page allows no script
but its own (by its hash), no picture and no connection: should something slip through, it
is still not run. A request stands in the page with its new messages alone, so that the page
grows with the run and not with its square; the page's script puts the whole one together.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pkgutil import get_data
from typing import Any, Final

from reasonact.types.history import CORRECTION, History
from reasonact.types.tool_calls import ToolCalls
from reasonact.view.messages import role_of, shared_start, text_of
from reasonact.view.plots import cost_plot, tokens_plot
from reasonact.view.prompts import Prompt, prompts_of
from reasonact.view.record import RunRecord, Turn
from reasonact.view.words import (
    arguments,
    counted,
    duration,
    ending,
    fields_of,
    laid_out,
    model_names,
    money,
    one_line,
    plain,
    shown,
    signature_line,
    size,
    tokens,
    turn_name,
)

_FRAME_HEIGHT: Final = 720
_ARGUMENT: Final = 200
_LONG: Final = 1_200
_NO_PRICE: Final = '<p class="none">No price is known for these calls.</p>'


def page(record: RunRecord) -> str:
    """Write the page of a run.

    Args:
        record: The run.

    Returns:
        The HTML of a whole document.
    """
    style, script = _part("page.css"), _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; form-action 'none'"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(f'{record.agent}: {_question(record)}')}</title>",
            f"<style>{style}</style>\n</head>\n<body>\n<main>",
            *_head(record),
            *_plots(record),
            *_timeline(record),
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def page_in_a_frame(record: RunRecord) -> str:
    """Write the page in a frame that keeps its styles and its script to itself, for a notebook.

    Args:
        record: The run.

    Returns:
        The HTML of an ``iframe``.
    """
    title = _text(f"Run of {record.agent}")
    return (
        f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{escape(page(record))}" '
        f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0"></iframe>'
    )


def _head(record: RunRecord) -> Iterator[str]:
    state = "good" if record.outputs and record.error is None else "bad"
    yield f'<h1>{_text(record.agent)} <span class="badge {state}">{_text(ending(record))}</span></h1>'
    yield f'<p class="signature"><code>{_text(signature_line(record.signature))}</code></p>'
    total = record.totals
    cached = f"{total.cached_calls:,} from a cache" if total.cached_calls else ""
    facts = [
        ("Turns", f"{len(record.turns):,}", ""),
        ("Model calls", f"{total.model_calls:,}", cached),
        ("Tool calls", f"{total.tool_calls:,}", ""),
        ("Tokens", f"{total.total_tokens:,}", ""),
        (
            "Cost",
            "–" if total.cost_usd is None else money(total.cost_usd),
            "" if total.cost_usd is not None else "price unknown",
        ),
        ("Time", duration(total.seconds), ""),
        ("Model", ", ".join(model_names(record)) or "none", record.rendering.adapter),
    ]
    yield '<dl class="facts">'
    for name, value, note in facts:
        small = f"<small>{_text(note)}</small>" if note else ""
        yield f"<div><dt>{name}</dt><dd>{_text(value)}{small}</dd></div>"
    yield "</dl>"
    yield _panel("Inputs", fields_of(record.inputs))
    if record.outputs:
        yield _panel("Outputs", fields_of(record.outputs))
    if record.error is not None:
        yield f'<section class="panel failed"><h2>{_text(record.error.kind)}</h2>{_pre(record.error.message)}</section>'


def _panel(title: str, values: Mapping[str, Any]) -> str:
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(laid_out(value))}</dd>" for name, value in values.items())
    content = f'<dl class="fields">{rows}</dl>' if rows else '<p class="remark">none</p>'
    return f'<section class="panel"><h2>{title}</h2>{content}</section>'


def _plots(record: RunRecord) -> Iterator[str]:
    names, spent = [turn_name(turn) for turn in record.turns], [turn.spent for turn in record.turns]
    cost = cost_plot(names, spent)
    legend = "".join(
        f'<span><i class="{kind}"></i>{word}</span>'
        for kind, word in (("completion", "completion"), ("prompt", "prompt"), ("cached", "prompt, cached"))
    )
    yield '<div class="plots">'
    yield f'<figure class="panel"><h2>Tokens per turn</h2>{tokens_plot(names, spent)}'
    yield f'<div class="legend">{legend}</div></figure>'
    yield f'<figure class="panel"><h2>Cost so far</h2>{cost or _NO_PRICE}</figure>'
    yield "</div>"


def _timeline(record: RunRecord) -> Iterator[str]:
    events = History.from_any(list(record.events)).messages
    pending = [] if record.pending is None else History.from_any([record.pending]).messages
    own = [events[turn.first_event : turn.first_event + turn.events] for turn in record.turns]
    if own:
        own[-1] = [*own[-1], *pending]
    states = [_state(record, turn, mine) for turn, mine in zip(record.turns, own, strict=True)]
    yield '<div class="bar"><h2>Timeline</h2><div><button type="button" data-open="yes">Expand all calls</button>'
    yield '<button type="button" data-open="no">Collapse all</button></div></div>'
    if record.start:
        yield f'<p class="remark">The run goes on from a history of {counted(record.start, "event")}.</p>'
    whole = sum(turn.seconds or 0.0 for turn in record.turns) or 1.0
    yield '<nav class="strip" aria-label="Turns, as wide as they took time">'
    for place, (turn, state) in enumerate(zip(record.turns, states, strict=True)):
        told = _text(f"{turn_name(turn)}{'' if turn.seconds is None else f', {duration(turn.seconds)}'}")
        yield (
            f'<a href="#turn-{place}" class="{state}" title="{told}" aria-label="{told}" '
            f'style="flex-grow: {1 + 100 * (turn.seconds or 0.0) / whole:.2f}"></a>'
        )
    yield '</nav>\n<ol class="turns">'
    prompts = _Prompts(record)
    for place, (turn, state, mine) in enumerate(zip(record.turns, states, own, strict=True)):
        title = turn_name(turn).capitalize() + ("" if turn.finished else ", unfinished")
        yield f'<li class="turn {state}" id="turn-{place}">'
        yield f"<header><h2>{_text(title)}</h2>{_meter(turn)}</header>"
        for event in mine:
            yield from _event(event)
        yield from prompts.of_turn(place)
        yield "</li>"
    yield "</ol>"


def _state(record: RunRecord, turn: Turn, events: Iterable[Mapping[str, Any]]) -> str:
    wrong = not turn.finished or any(CORRECTION in event or _failed(event) for event in events)
    if wrong:
        return "wrong"
    return "closing" if turn is record.turns[-1] and record.outputs else ""


def _failed(event: Mapping[str, Any]) -> bool:
    calls = event.get("tool_calls")
    results = calls.tool_call_results if isinstance(calls, ToolCalls) else None
    return results is not None and any(result.is_error for result in results.tool_call_results)


def _meter(turn: Turn) -> str:
    spent = turn.spent
    cells = [
        f"{spent.prompt:,} in" if turn.calls else "",
        f"{spent.cached:,} cached" if spent.cached else "",
        f"{spent.completion:,} out" if turn.calls else "",
        "" if turn.seconds is None else duration(turn.seconds),
        money(spent.cost) if spent.cost else "",
    ]
    return f'<div class="meter">{"".join(f"<span>{_text(cell)}</span>" for cell in cells)}</div>'


def _event(event: Mapping[str, Any]) -> Iterator[str]:
    thought = event.get("next_thought")
    if thought:
        yield f'<p class="thought">{_text(str(thought))}</p>'
    calls = event.get("tool_calls")
    if isinstance(calls, ToolCalls):
        results = calls.tool_call_results.tool_call_results if calls.tool_call_results else []
        answers = {result.call_id: result for result in results}
        for call in calls.tool_calls:
            yield _call(call.name, call.id, call.args, answers.get(call.id))
    if CORRECTION in event:
        yield f'<p class="correction">{_text(str(event[CORRECTION]))}</p>'


def _call(name: str, call_id: str | None, args: Mapping[str, Any], answer: Any) -> str:
    failed = answer is not None and answer.is_error
    if answer is None:
        length, result = "no result", '<p class="remark">No result.</p>'
    else:
        text = laid_out(answer.value)
        length, result = ("failed, " if failed else "") + size(text), _pre(text)
    return (
        f'<details class="call{" failed" if failed else ""}"><summary><code><b>{_text(name)}</b>'
        f"({_text(arguments(args, _ARGUMENT))})</code>"
        f'<span class="size">{_text(length)}</span></summary><div class="inside">'
        f"<h3>Arguments{f' of {_text(call_id)}' if call_id else ''}</h3>{_pre(laid_out(args))}"
        f"<h3>{'Error' if failed else 'Result'}</h3>{result}</div></details>"
    )


class _Prompts:
    """The requests of a run, written while the turns are."""

    def __init__(self, record: RunRecord) -> None:
        self.prompts = prompts_of(record)
        self.ahead: Prompt | None = next(self.prompts, None)
        self.number = 0
        self.texts: dict[int, Sequence[str]] = {}  # of the requests that a later one may continue

    def of_turn(self, place: int) -> Iterator[str]:
        """The requests of the turn at a place."""
        while self.ahead is not None and self.ahead.turn == place:
            yield self.written(self.ahead)
            self.ahead = next(self.prompts, None)
            self.number += 1

    def written(self, prompt: Prompt) -> str:
        """One request with its new messages."""
        number, note, asked = self.number, prompt.note, prompt.asked
        count = len(prompt.messages) or (note.messages if note else 0)
        told = [f"Request {number + 1}"]
        if count:
            told.append(f"{counted(count, 'message')}, {count - prompt.kept:,} new")
        if prompt.form == "fallback":
            told.append("asked once more as JSON")
        if note is None:
            right = f"failed: {asked.error}"
        elif note.from_cache:
            right = "answered from a cache"
        elif len(asked.calls) > 1:
            right = tokens(note.prompt, note.cached, note.completion)
        else:
            right = f"answered in {duration(asked.seconds)}"
        body = "".join(self.body(prompt))
        failed = "" if note else " failed"
        return (
            f'<details class="request{failed}" id="request-{number}"><summary><span>{_text(" · ".join(told))}</span>'
            f'<span class="size">{_text(right)}</span></summary><div class="inside">{body}</div></details>'
        )

    def body(self, prompt: Prompt) -> Iterator[str]:
        number = self.number
        if prompt.problem:
            yield f'<p class="remark">{_text(prompt.problem)}</p>'
        if not prompt.messages:
            return
        before: Sequence[str] = () if prompt.base is None else self.texts.pop(prompt.base, ())
        texts = [*before[: prompt.kept], *(plain(text_of(message)) for message in prompt.messages[prompt.kept :])]
        base = "" if prompt.base is None else f"request-{prompt.base}"
        if prompt.base is not None:
            yield (
                f'<p class="kept"><span>{counted(prompt.kept, "message")} unchanged from '
                f'<a href="#{base}">request {prompt.base + 1}</a></span>'
                f'<button type="button" data-whole="request-{number}">Show the whole request</button></p>'
            )
        yield f'<ol class="messages" data-base="{base}" data-kept="{prompt.kept}">'
        for place in range(prompt.kept, len(texts)):
            message, text = prompt.messages[place], texts[place]
            same = shared_start(before[place], text) if place == prompt.kept and place < len(before) else 0
            yield f'<li><p class="role">{_role(message, text)}</p>{_message(text, same, prompt.base)}</li>'
        yield "</ol>"
        self.texts[number] = texts


def _role(message: Mapping[str, Any], text: str) -> str:
    role, about = role_of(message)
    return f"<strong>{_text(role)}</strong>{f' {_text(about)}' if about else ''}, {size(text)}"


def _message(text: str, same: int, base: int | None) -> str:
    if not same or base is None:
        return _pre(text)
    units = len(text[:same].encode("utf-16-le")) // 2  # the page's script counts in UTF-16
    told = f"{counted(same, 'character')} unchanged from request {base + 1}"
    return _pre(text[same:], head=f'<span class="same">{told}</span>', attributes=f' data-same="{units}"')


def _pre(text: str, head: str = "", attributes: str = "") -> str:
    # A line feed right behind the tag belongs to the tag; without it the text's own first one would be lost.
    scrolls = ' tabindex="0"' if len(text) > _LONG or text.count("\n") > 20 else ""
    return f"<pre{attributes}{scrolls}>\n{head}{_text(text)}</pre>"


def _question(record: RunRecord) -> str:
    return one_line(next((shown(value) for value in fields_of(record.inputs).values()), record.signature.text), 80)


def _text(text: str) -> str:
    return escape(plain(text))


@cache
def _part(name: str) -> str:
    data = get_data("reasonact.view", name)
    assert data is not None  # the package's own loader can read files
    return data.decode("utf-8").strip()
