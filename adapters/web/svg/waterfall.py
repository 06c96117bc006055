"""A run's steps as bars on one time scale, with long pauses shortened. Pure.

Every bar is drawn in its own table row, as wide as the table allows; positions are in thousandths
of that width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.research.trace import Pause, Span, pauses

SCALE = 1_000.0  # the width of all bars
THINNEST = 4.0  # the least width of a bar, so that it is visible
BREAK = 24.0  # the width of a shortened pause, if there are few
TICKS = 5
SHORTEST = 1e-6  # seconds of all steps together; less counts as nothing


@dataclass(frozen=True, slots=True)
class Bar:
    """A span with its position; both widths are 0 if its times are unknown."""

    span: Span
    x: float = 0.0
    width: float = 0.0
    wait_x: float = 0.0
    wait_width: float = 0.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the scale at ``x``, ``seconds`` after the question was accepted."""

    x: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Break:
    """A shortened pause, from ``x`` to ``x + width``."""

    x: float
    width: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    breaks: tuple[Break, ...]


def waterfall(spans: Sequence[Span]) -> Waterfall:
    """Return the bars of all spans, in order."""
    scale = _Scale(pauses(spans), max((s.end for s in spans if s.end is not None), default=0.0))
    bars = tuple(_bar(span, scale) for span in spans)
    return Waterfall(bars, scale.ticks(), scale.breaks())


class _Scale:
    """Converts seconds to positions. A long pause has the width of a break."""

    def __init__(self, cut: Sequence[Pause], end: float) -> None:
        self._cut = cut
        self._end = end
        self._shown = end - sum(pause.end - pause.begin for pause in cut)
        self._break = min(BREAK, SCALE / 3 / max(1, len(cut)))
        room = SCALE - self._break * len(cut)
        self._a_second = room / self._shown if self._shown > SHORTEST else 0.0

    def at(self, seconds: float) -> float:
        place = seconds * self._a_second
        for pause in self._cut:
            inside = min(max(seconds - pause.begin, 0.0), pause.end - pause.begin)
            place += inside * (self._break / (pause.end - pause.begin) - self._a_second)
        return min(max(place, 0.0), SCALE)

    def ticks(self) -> tuple[Tick, ...]:
        """Return ticks at round seconds, none within a break."""
        if self._shown <= SHORTEST:
            return ()
        step = rounded(self._shown / TICKS)
        found: list[Tick] = []
        seconds = 0.0
        count = 0
        while seconds <= self._end and len(found) < 2 * TICKS:
            pause = next((p for p in self._cut if p.begin < seconds < p.end), None)
            if pause is None:
                found.append(Tick(self.at(seconds), seconds))
                count += 1
            else:  # continue after the break
                count = int(pause.end / step) + 1
            seconds = count * step
        return tuple(found)

    def breaks(self) -> tuple[Break, ...]:
        return tuple(Break(self.at(p.begin), self._break, p.end - p.begin) for p in self._cut)


def _bar(span: Span, scale: _Scale) -> Bar:
    if span.begin is None or span.end is None:
        return Bar(span)
    x, end = scale.at(span.begin), scale.at(span.end)
    width = max(end - x, THINNEST)
    x = min(x, SCALE - width)
    wait_x = min(scale.at(span.begin - span.waited), x)
    return Bar(span, x, width, wait_x, x - wait_x if span.waited else 0.0)


def rounded(value: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is not below ``value``."""
    power = 1.0
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    return next((power * step for step in (1, 2, 5) if power * step >= value), power * 10)
