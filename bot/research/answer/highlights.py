"""A page's stored text with the quoted passages marked in it, whole or only what is around them.

Pure: text and spans in, pieces out. Whoever shows the pieces escapes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

AROUND = 320  # characters shown before and after a quoted passage
NEAR = 40  # characters within which a cut is moved to the space between two words


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage of the text, ``text[start:end]``, and the name by which it is linked to."""

    anchor: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of the text. ``begins`` are the anchors of the passages that begin with it,
    ``is_quoted`` whether it is part of any; ``gap`` characters before it are left out."""

    text: str
    is_quoted: bool = False
    begins: tuple[str, ...] = ()
    gap: int = 0


def highlighted(text: str, quoted: Sequence[Quoted]) -> tuple[Piece, ...]:
    """The whole text; its pieces joined are the text again."""
    return _pieces(text, quoted, [(0, len(text))])


def excerpts(text: str, quoted: Sequence[Quoted], around: int = AROUND) -> tuple[Piece, ...]:
    """The text within ``around`` characters of a passage, cut between words or lines.

    The last piece may be empty: it then only says how much of the text comes after.
    """
    windows: list[tuple[int, int]] = []
    for one in sorted(_within(text, quoted), key=lambda one: one.start):
        start = _back(text, one.start - around, one.start)
        end = _forth(text, one.end + around, one.end)
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(windows[-1][1], end))
        else:
            windows.append((start, end))
    pieces = _pieces(text, quoted, windows)
    after = len(text) - windows[-1][1] if windows else len(text)
    return (*pieces, Piece("", gap=after)) if after else pieces


def _pieces(
    text: str, quoted: Sequence[Quoted], windows: Sequence[tuple[int, int]]
) -> tuple[Piece, ...]:
    spans = _within(text, quoted)
    edges = {edge for one in spans for edge in (one.start, one.end)}
    found: list[Piece] = []
    shown = 0
    for start, end in windows:
        cuts = sorted({start, end, *(edge for edge in edges if start < edge < end)})
        for left, right in pairwise(cuts):
            found.append(
                Piece(
                    text[left:right],
                    any(one.start <= left and right <= one.end for one in spans),
                    tuple(one.anchor for one in spans if one.start == left),
                    left - shown,
                )
            )
            shown = right
    return tuple(found)


def _within(text: str, quoted: Sequence[Quoted]) -> list[Quoted]:
    """The passages that are there at all; one that is not cannot be shown."""
    return [one for one in quoted if 0 <= one.start < one.end <= len(text)]


def _back(text: str, place: int, latest: int) -> int:
    """The first place from this one on where a word begins, if it is near and not after
    ``latest``."""
    if place <= 0:
        return 0
    found = (text.find(space, place - 1, min(place + NEAR, latest)) for space in " \n")
    return min((at + 1 for at in found if at >= 0), default=place)


def _forth(text: str, place: int, first: int) -> int:
    """The last place up to this one where a word ends, if it is near and not before ``first``."""
    if place >= len(text):
        return len(text)
    found = (text.rfind(space, max(place - NEAR, first), place + 1) for space in " \n")
    return max((at for at in found if at >= 0), default=place)
