"""The two plots of the page, drawn as SVG: tokens by turn, and the cost so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from reasonact.view.log import CallNote
from reasonact.view.words import money, tokens

_WIDTH: Final = 460
_HEIGHT: Final = 200
_LEFT: Final = 52
_RIGHT: Final = 10
_TOP: Final = 10
_BOTTOM: Final = 26
_FLOOR: Final = _HEIGHT - _BOTTOM
_TICKS: Final = 4
_LABELS: Final = 12


def tokens_plot(names: Sequence[str], spent: Sequence[CallNote]) -> str:
    """A bar for each turn: prompt tokens from the provider's cache, other prompt tokens, completion tokens.

    Args:
        names: What each turn is called.
        spent: What each turn used.

    Returns:
        An ``svg`` element.
    """
    top = max(max((note.prompt + note.completion for note in spent), default=0), 1)
    scale = _Scale(len(names), top, lambda value: f"{value:,.0f}" if value < 10_000 else f"{value / 1000:,.0f}k")
    width = min(0.66 * scale.step, 36.0)
    bars = []
    for place, (name, note) in enumerate(zip(names, spent, strict=True)):
        parts = {"cached": note.cached, "prompt": max(0, note.prompt - note.cached), "completion": note.completion}
        base = 0
        drawn = []
        for kind, count in parts.items():
            if count:
                high, low = scale.y(base + count), scale.y(base)
                x = scale.x(place) - width / 2
                drawn.append(
                    f'<rect class="{kind}" x="{x:.1f}" y="{high:.1f}" width="{width:.1f}" height="{low - high:.1f}"/>'
                )
                base += count
        title = escape(f"{name}: {tokens(note.prompt, note.cached, note.completion)}")
        bars.append(f"<g><title>{title}</title>{''.join(drawn)}</g>")
    return scale.svg("tokens-plot", "Tokens of each turn", "".join(bars))


def cost_plot(names: Sequence[str], spent: Sequence[CallNote]) -> str | None:
    """The cost so far after each turn.

    Args:
        names: What each turn is called.
        spent: What each turn used.

    Returns:
        An ``svg`` element; None where the price of a call is not known.
    """
    sums: list[float] = []
    for note in spent:
        if note.cost is None:
            return None
        sums.append((sums[-1] if sums else 0.0) + note.cost)
    if not sums or sums[-1] == 0:
        return None
    scale = _Scale(len(names), sums[-1], lambda value: f"${value:.4g}")
    points = [(scale.x(place), scale.y(value)) for place, value in enumerate(sums)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"{points[0][0]:.1f},{_FLOOR} {line} {points[-1][0]:.1f},{_FLOOR}"
    dots = "".join(
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{4 if len(points) <= 40 else 2}">'
        f"<title>{escape(f'{name}: {money(value)} so far')}</title></circle>"
        for name, value, (x, y) in zip(names, sums, points, strict=True)
    )
    shapes = f'<polygon class="area" points="{area}"/><polyline class="curve" points="{line}"/>{dots}'
    return scale.svg("cost-plot", "Cost so far after each turn", shapes)


class _Scale:
    """Places of turns and values in a plot, and its axes."""

    def __init__(self, count: int, top: float, label: Callable[[float], str]) -> None:
        self.count = max(count, 1)
        self.step = (_WIDTH - _LEFT - _RIGHT) / self.count
        self.gap = _nice(top / _TICKS)
        self.top = self.gap * math.ceil(top / self.gap - 1e-9)
        self.label = label

    def x(self, place: int) -> float:
        return _LEFT + self.step * (place + 0.5)

    def y(self, value: float) -> float:
        return _FLOOR - (_FLOOR - _TOP) * value / self.top

    def svg(self, name: str, title: str, shapes: str) -> str:
        lines = []
        for number in range(round(self.top / self.gap) + 1):
            value = number * self.gap
            y = self.y(value)
            lines.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(self.label(value))}</text>')
        every = math.ceil(self.count / _LABELS)
        for place in range(0, self.count, every):
            x = self.x(place)
            lines.append(f'<text x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{place + 1}</text>')
        return (
            f'<svg id="{name}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
            f"{''.join(lines)}{shapes}</svg>"
        )


def _nice(value: float) -> float:
    """The next round number: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * (1 - 1e-9))
