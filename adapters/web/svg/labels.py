"""Estimates the width of text, and breaks it into lines. Pure."""

from __future__ import annotations

import unicodedata

# Fractions of the font size in a common sans serif; actual widths differ by up to a tenth.
NARROW, COMMON, CAPITAL, WIDE = 0.32, 0.54, 0.68, 1.0

LONGEST = 1_000  # characters of a text that are broken into lines; no label has room for more
CLOSING = frozenset("，。？！：；、）」』》〉】’”")  # a line does not begin with these


def width(text: str, size: float = 1.0) -> float:
    """Estimate the width of a line, in the unit of its font size ``size``."""
    return size * sum(_width(char) for char in text)


def lines(text: str, room: float, most: int, size: float = 1.0) -> tuple[str, ...]:
    """Break the text into at most ``most`` lines no wider than ``room``, shortened with "…".

    Lines break between words, and within words that are wider than a line or are Chinese or
    Japanese.
    """
    found: list[str] = []
    line = ""
    for word in _words(" ".join(text.split())):
        if not line or width(line + word.rstrip(), size) <= room:
            line += word
        else:
            found.append(line.rstrip())
            line = word
        while width(line.rstrip(), size) > room:
            fits = _fitting(line, room, size)
            found.append(line[:fits].rstrip())
            line = line[fits:].lstrip()
    if line.strip():
        found.append(line.rstrip())
    if len(found) > most:
        last = found[most - 1]
        while last and width(f"{last}…", size) > room:
            last = last[:-1]
        found = [*found[: most - 1], f"{last.rstrip()}…"]
    return tuple(found)


def _words(text: str) -> list[str]:
    """Split text into pieces between which a line may break; a space stays with the piece before
    it."""
    found: list[str] = []
    piece = ""
    for char in text[:LONGEST]:
        if char in CLOSING and not piece and found:
            found[-1] += char
        elif _is_wide(char):
            found += [piece, char] if piece else [char]
            piece = ""
        else:
            if piece.endswith(" ") and char != " ":
                found.append(piece)
                piece = ""
            piece += char
    return [*found, piece] if piece else found


def _fitting(text: str, room: float, size: float) -> int:
    """Return the number of characters that fit, at least one."""
    total = 0.0
    for count, char in enumerate(text):
        total += _width(char) * size
        if total > room:
            return max(count, 1)
    return len(text)


def _width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if _is_wide(char):
        return WIDE
    if char in "iljtfI.,:;'|!()[] ":
        return NARROW
    return CAPITAL if char.isupper() or char in "mwMW@%—" else COMMON


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F")
