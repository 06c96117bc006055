"""Assembles page text block by block: headings, paragraphs, list items, tables, code.

The format is that of ``bot.pages.page.Page.text``. Text is passed literally, with inline code
marked by ``code``; ``bot.pages.literal`` marks text that Markdown would change. Only white space is
altered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot.pages.literal import CODE_END, CODE_START, fenced, literal
from bot.text.patterns import lazy_regex

MOST_CHARACTERS = 5_000_000
"""Characters of page text after which the rest of a document is not read: five times a long novel.
"""

WIDEST_CELL = 1_000  # characters; a table with a larger cell is used for layout
DEEPEST_ITEM = 6  # list levels; deeper levels are not indented further
LONGEST_HEADING = 300  # characters; longer text is a paragraph that was styled as a heading

_SPACE = lazy_regex(r"\s+")
_SPACES = lazy_regex(r"[ \t]{2,}|\t")
_AROUND_BREAK = lazy_regex(r"(?:(?<![ \t])[ \t]++)?\n[ \t\n]*+")
_NEEDS_COLON = lazy_regex(r"[^:：.?!…。？！,;]$")
_CODE = lazy_regex(f"{CODE_START}[^{CODE_START}{CODE_END}]*{CODE_END}")
_UNMARKED = str.maketrans("", "", CODE_START + CODE_END)
_CJK = "\u2e80-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_IS_CJK = lazy_regex(f"[{_CJK}]")
_BREAK_IN_CJK = lazy_regex(f"(?<=[{_CJK}])[ \t]*\r?\n[ \t]*(?=[{_CJK}])")


class Reading(NamedTuple):
    """The text of a document in the form described in ``bot.pages.page.Page``, and its title (may
    be empty).

    ``kept`` is the share of the document's visible words that ``text`` contains, from 0 to 1.
    ``canonical`` is the address that the document declares, unchecked and possibly relative, or "".
    """

    title: str
    text: str
    kept: float = 1.0
    canonical: str = ""


class Blocks:
    """Collects the blocks of a text, in order."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._last = ""  # kind of the last block
        self.length = 0  # characters so far

    @property
    def full(self) -> bool:
        """True if the text has reached ``MOST_CHARACTERS``."""
        return self.length >= MOST_CHARACTERS

    def heading(self, level: int, text: str) -> None:
        words = one_line(text)
        if len(words) > LONGEST_HEADING:
            self.paragraph(words)
        elif words:
            self._add("heading", f"{'#' * max(1, min(level, 6))} {literal(words)}")

    def paragraph(self, text: str) -> None:
        """Add a paragraph; its line breaks stay."""
        text = _SPACES.sub(" ", _AROUND_BREAK.sub("\n", text)).strip()
        if text:
            self._add("paragraph", literal(text))

    def item(self, depth: int, marker: str, text: str) -> None:
        """Add a list item; ``depth`` counts from 0, ``marker`` is "-" or like "3."."""
        words = one_line(text)
        if words:
            self._add("item", f"{'  ' * min(depth, DEEPEST_ITEM)}{marker} {literal(words)}")

    def more(self, depth: int, text: str) -> None:
        """Add another line to the last item."""
        words = one_line(text)
        if words:
            self._add("item", f"{'  ' * (min(depth, DEEPEST_ITEM) + 1)}{literal(words)}")

    def code(self, text: str, language: str = "") -> None:
        """Add a fenced block; only empty lines around the code are removed."""
        text = without_marks(text).strip("\n").rstrip()
        if text.strip():
            block = fenced(text)
            ticks = block[: block.index("\n")]
            self._add("code", f"{ticks}{language}{block[len(ticks) :]}")

    def table(self, rows: Iterable[Sequence[str]]) -> None:
        """Add a table whose first row is its header. Empty rows and columns are left out."""
        filled = [[one_line(cell) for cell in row] for row in rows]
        filled = [row for row in filled if any(row)]
        width = max((len(row) for row in filled), default=0)
        used = [i for i in range(width) if any(len(row) > i and row[i] for row in filled)]
        for number, row in enumerate(filled):
            self.row([row[i] if i < len(row) else "" for i in used], first=number == 0)

    def row(self, cells: Sequence[str], *, first: bool) -> None:
        """Add one row of a table; the first one is followed by the line that makes it a header."""
        line = table_row(cells)
        if first:
            self._add("row", f"{line}\n{'| --- ' * len(cells)}|", joined=False)
        else:
            self._add("row", line)

    def page_text(self, text: str) -> None:
        """Add blocks produced by another reader."""
        if text.strip():
            self._add("blocks", text.strip("\n"))

    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, kind: str, block: str, *, joined: bool = True) -> None:
        goes_on = joined and kind == self._last and kind in ("item", "row")
        if self._parts:
            self._parts.append("\n" if goes_on else "\n\n")
        self._parts.append(block)
        self._last = kind
        self.length += len(block) + 2


def one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def unwrapped(text: str) -> str:
    """Put a wrapped paragraph on one line."""
    return one_line(without_breaks_in_cjk(text))


def without_breaks_in_cjk(text: str) -> str:
    """Remove line breaks between East Asian characters, where they do not stand for a space.

    Source: CSS Text 3, section 4.1.3 (segment breaks).
    """
    return _BREAK_IN_CJK.sub("", text) if "\n" in text and _IS_CJK.search(text) else text


def table_row(cells: Iterable[str]) -> str:
    shown = (literal(cell).replace("|", "\\|") if cell else "" for cell in cells)
    return f"| {' | '.join(shown)} |"


def code(text: str) -> str:
    """Mark words as inline code within a text."""
    return f"{CODE_START}{text}{CODE_END}" if text.strip() else text


def is_code(text: str) -> bool:
    """True if a paragraph consists of inline code only."""
    return CODE_START in text and not _CODE.sub("", text).strip()


def labelled(label: str, text: str) -> str:
    """A term with its description, on one line."""
    if not text:
        return label
    return f"{label}{':' if _NEEDS_COLON.search(without_marks(label)) else ''} {text}"


def without_marks(text: str) -> str:
    """Remove the marks of inline code, for a title."""
    return text.translate(_UNMARKED)
