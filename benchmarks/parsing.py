"""What it costs to read a completion of 1 MB, and how that grows; form-like lines in it included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal

from benchmarks import scripted
from benchmarks.measuring import cpu_us_each, interleaved
from benchmarks.table import Row, compared, grown
from benchmarks.worker import Worker

Form = Literal["Chat", "JSON", "XML", "TextProtocol"]
Content = Literal["prose", "form-like lines"]

_BIG: Final = 1_000_000
_SIZES: Final = (50_000, 200_000, _BIG)
_LINES: Final = (2_500, 10_000, 50_000)

# Lines that look like the form and are none of it, for a reader that has to tell them apart.
_LOOKALIKE: Final[dict[Form, str]] = {
    "Chat": "[[ ## see note {} ## ]]",
    "JSON": '{{ item {}: not closed, [ and quoted \\" too',
    "XML": "<answer-{} kind='x'> & </answers>",
    "TextProtocol": "Actions: look[{{{}]",
}


def _completion(form: Form, text: str) -> str:
    if form == "Chat":
        return f"[[ ## reasoning ## ]]\nbecause\n\n[[ ## answer ## ]]\n{text}\n\n[[ ## completed ## ]]"
    if form == "JSON":
        return json.dumps({"reasoning": "because", "answer": text})
    if form == "XML":
        return f"<reasoning>because</reasoning>\n<answer>{text}</answer>"
    return f"Reasoning: because\nAnswer: {text}"


def _text(form: Form, content: Content, size: int) -> str:
    if content == "prose":
        return scripted.reading(1, size).strip()
    return "\n".join(_LOOKALIKE[form].format(number) for number in range(size))


def parse_cost(library: str, form: Form, content: Content, size: int) -> float:
    """The CPU time of reading one completion, in ms.

    Args:
        library: ``reasonact`` or ``dspy``.
        form: The adapter.
        content: What the answer holds.
        size: Its characters of prose, or its lines.
    """
    module: Any = import_module(library)
    adapter = getattr(module, f"{form}Adapter")()
    signature = module.Signature("question -> reasoning, answer")
    text = _text(form, content, size)
    completion = _completion(form, text)
    read = adapter.parse(signature, completion)
    assert read["reasoning"] == "because"
    if content == "prose" or library == "reasonact":
        assert text == read["answer"], f"{form} {content} {size}: {read['answer'][:200]!r}"
    repeats = max(1, 1_000_000 // max(len(completion), 1))
    return cpu_us_each(lambda: adapter.parse(signature, completion), repeats) / 1000


def measure(times: int) -> Iterator[Row]:
    """1 MB of prose beside DSPy, and exponents from 50 KB and from 2,500 form-like lines."""
    with ExitStack() as stack:
        ours, dspy = (stack.enter_context(Worker()) for _ in range(2))
        forms: tuple[Form, ...] = ("Chat", "JSON", "XML", "TextProtocol")
        for form in forms:
            mine = partial(ours.ask, parse_cost, library="reasonact", form=form)
            sides = [partial(mine, content="prose", size=size) for size in _SIZES]
            if form != "TextProtocol":
                sides.append(partial(dspy.ask, parse_cost, library="dspy", form=form, content="prose", size=_BIG))
            samples = interleaved(sides, times)
            if form != "TextProtocol":
                what = f"parse 1 MB, {form}"
                yield compared(what, samples[len(_SIZES) - 1], samples[-1], other="DSPy", unit="ms", aim=1.5)
            points = zip(_SIZES, samples, strict=False)
            yield grown(f"parse 50 KB to 1 MB, {form}", points, unit="ms", aim=1.25)
            samples = interleaved([partial(mine, content="form-like lines", size=size) for size in _LINES], times)
            points = zip(_LINES, samples, strict=True)
            yield grown(f"parse 2,500 to 50,000 form-like lines, {form}", points, unit="ms", aim=1.25)
