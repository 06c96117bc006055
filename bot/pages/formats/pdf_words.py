"""The words of a PDF page and their places, from the characters that PDFium finds."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

MOST_ON_A_PAGE = 100_000  # characters; the rest of such a page is ignored

_HYPHENS = ("\x02", "\ufffe")  # PDFium's characters for the hyphen of a word divided between lines
_LINE_END = re.compile("[\x02\ufffe]|\r?\n|\r|$")
DIVIDED = re.compile("[\x02\ufffe](?:\r?\n)?")
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
)  # Hebrew, Arabic and others


class Span(NamedTuple):
    """A word, its characters' indices and its place in points."""

    text: str
    first: int
    last: int
    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


def rows_of(text_page: Any) -> list[tuple[list[Span], bool]]:
    """The words of each line of a page in PDFium's order, which is that of the document's own text,
    and whether the last one is divided.
    """
    text = _characters(text_page)
    rows: list[tuple[list[Span], bool]] = []
    start = 0
    for match in _LINE_END.finditer(text):
        words = [m.span() for m in re.finditer(r"\S+", text[start : match.start()])]
        spans = [_span(text_page, text, start + first, start + last) for first, last in words]
        rows.append((spans, match.group() in _HYPHENS))
        start = match.end()
    return rows


def _characters(text_page: Any) -> str:
    """All characters of a page; positions are PDFium's character indices."""
    count = min(text_page.count_chars(), MOST_ON_A_PAGE)
    text: str = text_page.get_text_range(0, count) if count else ""
    if len(text) == count:
        return text
    found = (pdfium.FPDFText_GetUnicode(text_page, i) for i in range(count))
    return "".join(chr(code) if 0 < code <= 0x10FFFF else " " for code in found)


def _paired(word: str) -> str:
    """Join surrogate pairs, which PDFium counts as two characters."""
    return word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _span(text_page: Any, text: str, first: int, last: int) -> Span:
    """A word and its place. A word of a script that is written from right to left is put into the
    order in which it is read, if the document has it as it looks.
    """
    left, bottom, right, top = _box(text_page, first)
    word = text[first:last]
    if not word.isascii():
        word = _paired(word)
    if last - first > 1:
        end = _box(text_page, last - 1)
        if not word.isascii() and _RIGHT_TO_LEFT.match(word):
            if left < end[0] and _RIGHT_TO_LEFT.match(word[-1]):
                word = word[::-1]
            left, right = min(left, end[0]), max(right, end[2])
        else:
            right = end[2]
    return Span(word, first, last, left, bottom, max(left, right), top)


def _box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, index, rectangle):
        return 0.0, 0.0, 0.0, 0.0
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
