"""Plots of a report as inline SVG: recall against context, and a dot for each type of question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from typing import Final

from fin_rag.evaluation.results import RetrievalReport

# Told apart by people who do not see red and green; each line has a dash of its own as well.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f")
_DASHES: Final = ("", "6 3", "2 3", "8 3 2 3", "", "6 3", "2 3", "8 3 2 3")
_WIDTH, _HEIGHT = 520, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 14, 14, 42


@dataclass(frozen=True, slots=True)
class _Scale:
    """Map values to pixels, linearly or by logarithm."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        a, b, v = (log10(x) for x in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        share = (v - a) / (b - a) if b > a else 0.5
        return round(self.first + share * (self.last - self.first), 1)


def recall_curves(reports: Sequence[RetrievalReport], unit: str = "characters") -> str:
    """Draw recall against the budget, one line a retriever, with bars for the 95 % intervals.

    ``unit`` is ``characters`` or ``tokens``. An empty string is returned where fewer than two budgets were measured.
    """
    cutoffs = [c for c in reports[0].cutoffs if c.unit == unit]
    if len(cutoffs) < 2:
        return ""
    x = _Scale(cutoffs[0].limit, cutoffs[-1].limit, _LEFT, _WIDTH - _RIGHT, log=True)
    y = _Scale(0, 1, _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(y), *(_tick(x(c.limit), f"{c.limit:,}") for c in cutoffs)]
    parts.append(_text((_LEFT + _WIDTH) / 2, _HEIGHT - 4, f"context in {unit} (logarithmic)", "middle"))
    for number, report in enumerate(reports):
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number % len(_DASHES)]
        means = [(c.limit, report.mean("recall", c.name)) for c in cutoffs]
        points = " ".join(f"{x(limit)},{y(m.mean or 0)}" for limit, m in means)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        for limit, m in means:
            at = x(limit) + 3 * (number - (len(reports) - 1) / 2)
            if m.low is not None and m.high is not None:
                ends = f'y1="{y(m.low)}" y2="{y(m.high)}"'
                parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" {ends} stroke="{colour}" opacity=".45"/>')
            parts.append(_dot(x(limit), y(m.mean or 0), colour, f"{report.name}, {limit:,} {unit}: {m}"))
    return _svg(parts, _HEIGHT, f"Recall against context in {unit}", [r.name for r in reports])


def type_dots(reports: Sequence[RetrievalReport], cutoff: str) -> str:
    """Draw recall by type of question: one row a type, one dot a retriever."""
    types = reports[0].types
    height = _TOP + 26 * len(types) + _BOTTOM
    left = 170
    x = _Scale(0, 1, left, _WIDTH - _RIGHT)
    parts = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<line class="axis" x1="{x(tick)}" x2="{x(tick)}" y1="{_TOP}" y2="{height - _BOTTOM}"/>')
        parts.append(_text(x(tick), height - _BOTTOM + 14, f"{tick:g}", "middle"))
    parts.append(_text((left + _WIDTH) / 2, height - 8, f"recall {cutoff}", "middle"))
    for row, (name, count) in enumerate(types.items()):
        at = _TOP + 26 * row + 13
        parts.append(_text(left - 10, at + 4, f"{name} ({count})", "end"))
        parts.append(f'<line class="axis" x1="{left}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>')
        for number, report in enumerate(reports):
            mean = report.mean("recall", cutoff, type=name)
            spread = 4 * (number - (len(reports) - 1) / 2)
            colour = COLOURS[number % len(COLOURS)]
            parts.append(_dot(x(mean.mean or 0), at + spread, colour, f"{report.name}, {name}: {mean}"))
    return _svg(parts, height, f"Recall {cutoff} by type of question", [r.name for r in reports])


def _dot(x: float, y: float, colour: str, title: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="3.6" fill="{colour}"><title>{escape(title)}</title></circle>'


def _grid(y: _Scale) -> Iterator[str]:
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        yield f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(tick)}" y2="{y(tick)}"/>'
        yield _text(_LEFT - 6, y(tick) + 4, f"{tick:g}", "end")


def _tick(at: float, label: str) -> str:
    return _text(at, _HEIGHT - _BOTTOM + 16, label, "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: Sequence[str], height: int, title: str, names: Sequence[str]) -> str:
    legend = []
    for number, name in enumerate(names):
        top = height + 14 + 16 * number
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number % len(_DASHES)]
        legend.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + 26}" y1="{top - 4}" y2="{top - 4}" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        legend.append(_text(_LEFT + 32, top, name, "start"))
    whole = height + 16 * len(names) + 6
    body = "\n".join([f"<title>{escape(title)}</title>", *parts, *legend])
    return (
        f'<svg viewBox="0 0 {_WIDTH} {whole}" width="{_WIDTH}" height="{whole}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">\n{body}\n</svg>'
    )
