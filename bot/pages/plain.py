"""Plain text to page text: paragraphs as they are, code in fences, nothing read as markup."""

from __future__ import annotations

import re

from bot.pages.literal import literal

_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)*\n")
_SYMBOL = re.compile(r"[{}()\[\];=<>$|\\/_#&*+@]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S")
_FEWEST_WORDS = 4  # on a line of prose, on average
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&()-]+")


def is_prose(text: str) -> bool:
    """Whether a text set in fixed width is prose and no code or output: a poem, a letter.

    Its lines are words with single spaces between them, and hardly any other signs.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    words = len(_WORD.findall(text))
    if words < _FEWEST_WORDS * len(lines) or len(_SYMBOL.findall(text)) * 6 >= words:
        return False
    return sum(_COLUMNS.search(line) is not None for line in lines) * 4 <= len(lines)


def set_plain(text: str, *, with_headings: bool = False) -> str:
    """The text of a plain-text document in the form that ``Page.text`` has."""
    return "\n\n".join(
        _set(paragraph, with_headings=with_headings)
        for paragraph in _BLANK_LINES.split(text.strip("\n"))
        if paragraph.strip()
    )


def _set(paragraph: str, *, with_headings: bool) -> str:
    if with_headings:
        first, _, rest = paragraph.partition("\n")
        if _CAPITALS.fullmatch(first.rstrip()) and (not rest or rest[:1].isspace()):
            return f"## {first.strip()}" + (f"\n\n{literal(rest)}" if rest else "")
    return literal(paragraph)
