"""The graph of sub-questions as a drawing: who waits for whom, from left to right."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.answers import StepView
from bot.rendering.lines import cluster_start, one_line

WIDTH, HEIGHT = 204, 58  # of a node, in the drawing's units, which are CSS pixels
ACROSS, DOWN = 48, 14  # between nodes
MARGIN = 4
LINE_UNITS = 26  # of a title: letters, of which wide ones count twice
LINES = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A sub-question at a place. ``searching`` tells that its steps are under way."""

    id: str
    state: str
    title: str
    lines: tuple[str, ...]
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Edge:
    """From a node to one that needs it; ``path`` is SVG path data."""

    id: str
    state: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def drawn(steps: Sequence[StepView]) -> Drawing | None:
    """The sub-questions among the lines of a plan; None when there are fewer than two."""
    found = [step for step in steps if step.kind == "node"]
    if len(found) < 2:
        return None
    columns = _columns(found)
    rows: dict[int, int] = {}
    nodes: dict[str, Node] = {}
    for step in found:
        column = columns[step.id]
        row = rows.get(column, 0)
        rows[column] = row + 1
        nodes[step.id] = Node(
            id=step.id,
            state=step.state,
            title=one_line(step.title),
            lines=_wrapped(one_line(step.title)),
            x=MARGIN + column * (WIDTH + ACROSS),
            y=MARGIN + row * (HEIGHT + DOWN),
        )
    tallest = max(rows.values())
    return Drawing(
        width=2 * MARGIN + len(rows) * (WIDTH + ACROSS) - ACROSS,
        height=2 * MARGIN + tallest * (HEIGHT + DOWN) - DOWN,
        nodes=tuple(nodes.values()),
        edges=tuple(
            Edge(f"{need}-{step.id}", nodes[need].state, _path(nodes[need], nodes[step.id]))
            for step in found
            for need in step.needs
            if need in nodes
        ),
    )


def _columns(steps: Sequence[StepView]) -> dict[str, int]:
    """How many others each step comes after at least."""
    needs = {step.id: step.needs for step in steps}
    columns = dict.fromkeys(needs, 0)
    for _ in needs:  # the longest path has fewer edges than there are nodes
        for id, needed in needs.items():
            columns[id] = max([columns[id], *(columns[one] + 1 for one in needed if one in needs)])
            columns[id] = min(columns[id], len(needs) - 1)
    return columns


def _path(before: Node, after: Node) -> str:
    x1, y1 = before.x + WIDTH, before.y + HEIGHT // 2
    x2, y2 = after.x, after.y + HEIGHT // 2
    bend = max((x2 - x1) // 2, ACROSS // 2)
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def _wrapped(title: str) -> tuple[str, ...]:
    """The title in so many lines as there is room for; what does not fit ends in "…"."""
    lines: list[str] = []
    rest = title
    while rest and len(lines) < LINES:
        end = _fitting(rest)
        if end == len(rest):
            lines.append(rest)
            return tuple(lines)
        if len(lines) == LINES - 1:
            lines.append(rest[: max(end - 1, 1)].rstrip() + "…")
            return tuple(lines)
        space = rest.rfind(" ", end // 2, end + 1)
        end = space if space > 0 else max(cluster_start(rest, end), 1)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return tuple(lines)


def _fitting(text: str) -> int:
    """How many characters fit into a line."""
    units = 0
    for place, char in enumerate(text):
        units += 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if units > LINE_UNITS:
            return place
    return len(text)
