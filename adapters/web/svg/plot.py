"""A plot of stacked columns, one for each day. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from adapters.web.svg.elements import element, number, words
from adapters.web.svg.labels import width
from adapters.web.svg.waterfall import rounded

WIDTH, HEIGHT = 720.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 12.0, 26.0
FONT = 12.0
LINES = 4  # approximate number of lines of the scale
FILLED = 0.72  # share of a column's room that its bar fills


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a column; ``name`` is its class in the style sheet, ``said`` its description."""

    name: str
    value: float
    said: str


@dataclass(frozen=True, slots=True)
class Column:
    """One day, with its parts from the bottom up."""

    label: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        return sum(part.value for part in self.parts)


@dataclass(frozen=True, slots=True)
class Block:
    """The position of a part."""

    column: Column
    part: Part
    x: float
    y: float
    width: float
    height: float


def scale(columns: Sequence[Column], whole: bool = True) -> tuple[float, ...]:
    """Return the values of the scale's lines, 0 first; no column is above the last."""
    highest = max((column.total for column in columns), default=0.0)
    step = rounded(highest / LINES) if highest > 0 else 1.0
    if whole:
        step = max(step, 1.0)
    found = [0.0]
    while found[-1] < highest or len(found) < 2:
        found.append(round(len(found) * step, 6))
    return tuple(found)


def blocks(columns: Sequence[Column], highest: float) -> tuple[Block, ...]:
    """Return the positions of all parts that are not zero."""
    room = (WIDTH - LEFT - RIGHT) / max(1, len(columns))
    height = HEIGHT - TOP - BOTTOM
    found: list[Block] = []
    for place, column in enumerate(columns):
        base = HEIGHT - BOTTOM
        for part in column.parts:
            high = height * part.value / highest
            if high > 0:
                x = LEFT + room * (place + (1 - FILLED) / 2)
                found.append(Block(column, part, x, base - high, room * FILLED, high))
            base -= high
    return tuple(found)


def draw(columns: Sequence[Column], label: str, *, unit: str = "", whole: bool = True) -> Markup:
    """Draw the plot as an SVG element; ``label`` describes it, ``unit`` precedes values."""
    lines = scale(columns, whole)
    return element(
        "svg",
        *(_line(value, lines[-1], unit) for value in lines),
        *(_rect(block) for block in blocks(columns, lines[-1])),
        *_labels(columns),
        class_="plot",
        view_box=f"0 0 {number(WIDTH)} {number(HEIGHT)}",
        role="img",
        aria_label=label,
    )


def _line(value: float, highest: float, unit: str) -> Markup:
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest
    text = f"{unit}{value:g}"
    return element(
        "g",
        element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
        element("text", words(text), x=LEFT - 6, y=y + FONT / 3, text_anchor="end"),
        class_="scale",
    )


def _rect(block: Block) -> Markup:
    told = element("title", words(f"{block.column.label}: {block.part.said}"))
    return element(
        "rect",
        told,
        x=block.x,
        y=block.y,
        width=block.width,
        height=block.height,
        class_=f"part {block.part.name}",
    )


def _labels(columns: Sequence[Column]) -> list[Markup]:
    """Draw as many of the columns' labels as fit, always including the last one."""
    room = (WIDTH - LEFT - RIGHT) / max(1, len(columns))
    widest = max((width(column.label, FONT) for column in columns), default=0.0)
    every = max(1, -int(-(widest + FONT) // room))
    found = []
    for place, column in enumerate(columns):
        if (len(columns) - 1 - place) % every == 0:
            middle = LEFT + room * (place + 0.5)
            half = width(column.label, FONT) / 2
            x = min(max(middle, half), WIDTH - half)
            found.append(
                element("text", words(column.label), x=x, y=HEIGHT - 8, text_anchor="middle")
            )
    return found
