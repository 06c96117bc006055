"""The words of a PDF page and their places, from the characters that PDFium finds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from unicodedata import bidirectional

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

MOST_ON_A_PAGE = 100_000  # characters; the rest of such a page is ignored

_HYPHENS = ("\x02", "\ufffe")  # PDFium's characters for the hyphen of a word divided between lines
_LINE_END = re.compile("[\x02\ufffe]|\r?\n|\r|$")
DIVIDED = re.compile("[\x02\ufffe](?:\r?\n)?")
_RIGHT_TO_LEFT = re.compile("[\u05d0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")  # such as Hebrew
_LAM_ALEF = re.compile("[\u0622\u0623\u0625\u0627]\u0644")  # turned round, from one glyph
_KINDS = {"R": "R", "AL": "R", "L": "L", "EN": "D", "AN": "D", "ES": "C", "CS": "C", "ET": "P"}
_RUN = re.compile("D*L(?:[^R]*[LDP])?|P?D(?:[DC]*D)?P?|.")  # what is read from left to right
_MIRRORED = re.compile(r"^[^()]*\).*\([^()]*$")
_MIRROR = str.maketrans("()[]", ")(][")


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
        if _RIGHT_TO_LEFT.search(text, start, match.start()):
            spans = list(_turned(text_page, text, start, match.start()))
        else:
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
    left, bottom, right, top = _box(text_page, first)
    right = max(left, _box(text_page, last - 1)[2]) if last - first > 1 else max(left, right)
    word = text[first:last]
    return Span(word if word.isascii() else _paired(word), first, last, left, bottom, right, top)


def _turned(text_page: Any, text: str, first: int, last: int) -> Iterator[Span]:
    """The words of a line with some that are written from right to left, as they are read: the
    places of its letters are what the bidirectional algorithm (UAX 9) made of it. PDFium only turns
    single words, and not all."""
    letters: list[Span] = []
    for at in range(first, last):
        one = Span(text[at], at, at + 1, *_box(text_page, at))
        is_ligature = one[3:] == letters[-1][3:] if letters and text[at].strip() else False
        if is_ligature or (letters and bidirectional(text[at]) in ("NSM", "")):
            both = letters[-1].text + one.text
            both = both[::-1] if is_ligature and _LAM_ALEF.fullmatch(both) else both
            letters[-1] = letters[-1]._replace(text=both, last=at + 1)
        else:
            letters.append(one)
    letters.sort(key=lambda each: (each.left, each.right))
    wide = [each for each in letters if each.right > each.left]
    gaps = [b.left for a, b in pairwise(wide) if b.left - a.right > (a.top - a.bottom) / 10]
    for at, each in enumerate(letters):
        if each.right == each.left:  # a space that PDFium adds: before a gap, and not always in it
            gap = next((left for left in gaps if left > each.left), each.left)
            letters[at] = each._replace(left=gap - 0.01, right=gap - 0.01)
    letters.sort(key=lambda each: (each.left, each.right))
    kinds = "".join(_KINDS.get(bidirectional(each.text[0]), "N") for each in letters)
    is_whole = kinds.count("R") >= kinds.count("L")
    for part in re.finditer(".+" if is_whole else "R(?:[^L]*R)?", kinds):
        runs = [letters[slice(*run.span())] for run in _RUN.finditer(kinds, *part.span())]
        letters[slice(*part.span())] = [each for run in reversed(runs) for each in run]
    line = "".join(each.text for each in letters)
    mirror = _MIRROR if _MIRRORED.search(line) else {}
    for is_space, letters_of in groupby(letters, lambda each: each.text.isspace()):
        word = list(letters_of)
        read = _paired("".join(each.text for each in word)).translate(mirror)
        start, end = min(each.first for each in word), max(each.last for each in word)
        left, right = min(each.left for each in word), max(each.right for each in word)
        if not is_space:
            yield Span(read, start, end, left, word[0].bottom, right, word[0].top)


def _box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, index, rectangle):
        return 0.0, 0.0, 0.0, 0.0
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
