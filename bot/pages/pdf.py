"""Converts PDF documents to page text with PDFium.

PDFium is not thread-safe (https://pypdfium2.readthedocs.io/, "Incompatibility with threading"), so
a process reads one document at a time. Documents from the web are read in separate processes
(``bot.pages.workers``), which also limit time and memory.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.core.errors import PageUnreadable
from bot.pages.formats.blocks import MOST_CHARACTERS, Reading
from bot.pages.page import share
from bot.pages.titles import meaningful_title
from bot.pages.typeset import Leaf, Line, set_text, title_of, without_running_lines

MOST_PAGES = 1_000
"""The most pages to read; a last heading says which pages of a longer document were not read."""
MOST_ON_A_PAGE = 100_000  # characters; the rest of such a page is ignored

_ONE_AT_A_TIME = threading.Lock()

_WIDE_GAP = 1.0  # line heights; a wider gap between two words separates cells of a row
_HYPHENS = ("\x02", "\ufffe")  # PDFium's characters for the hyphen of a word divided between lines
_LINE_END = re.compile("[\x02\ufffe]|\r?\n|\r|$")
_MONO = re.compile(rb"mono|courier|consol|menlo|typewriter|cmtt|fixed|inconsolata|hack", re.I)
_FIXED_PITCH = 1  # bit of a font descriptor's flags (ISO 32000-1, table 123)
_LONGEST_FONT_NAME = 128  # bytes; PDF names have at most 127


def read_pdf(data: bytes, name: str) -> Reading:
    """Read a PDF document; ``name`` is its name in errors.

    Each page opens with a heading ("## Page 7", by its printed label if it has one). In the share
    of kept text, running headers do not count, and unread pages count as if they had as many words
    as the others. Raises ``PageUnreadable`` for a document that is locked, damaged, or contains
    only pictures.
    """
    with _ONE_AT_A_TIME, _opened(data, name) as document:
        count = len(document)
        leaves: list[Leaf] = []
        characters = 0
        for index in range(min(count, MOST_PAGES)):
            if characters > MOST_CHARACTERS:
                break
            leaf = _leaf(document, index)
            characters += sum(len(line.text) for line in leaf.lines)
            leaves.append(leaf)
        title = meaningful_title(document.get_metadata_value("Title"))
    if not any(leaf.lines for leaf in leaves):
        raise PageUnreadable(
            f"{name} is a PDF document of pictures without text; give a version that was run"
            " through text recognition (OCR), or paste its text."
        )
    title = title or title_of(leaves)
    leaves = without_running_lines(leaves)
    text = set_text(leaves)
    kept = share(text, "".join(line.text for leaf in leaves for line in leaf.lines))
    if len(leaves) < count:
        text += f"\n\n## Pages {len(leaves) + 1} to {count} were not read"
        kept *= len(leaves) / count
    return Reading(title, text, kept)


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[Any]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise PageUnreadable(
                f"{name} is a PDF document locked with a password; give a version without one, or"
                " paste its text.",
                detail=str(error),
            ) from None
        raise PageUnreadable(
            f"{name} is a broken PDF document; give another copy of it, or paste its text.",
            detail=str(error),
        ) from None
    try:
        yield document
    finally:
        document.close()


# ---------------------------------------------------------------- one page


def _leaf(document: Any, index: int) -> Leaf:
    label = document.get_page_label(index).strip()
    try:
        page = document[index]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:  # a broken page in an otherwise readable document
        return Leaf(index, label or str(index + 1), ())
    try:
        lines = tuple(_lines(text_page))
    finally:
        text_page.close()
        page.close()
    return Leaf(index, label or str(index + 1), lines)


def _lines(text_page: Any) -> Iterator[Line]:
    """The lines of a page in PDFium's order, which is that of the document's own text."""
    text = _characters(text_page)
    start = 0
    for match in _LINE_END.finditer(text):
        line = _line(text_page, text, start, match.start(), hyphen=match.group() in _HYPHENS)
        if line is not None:
            yield line
        start = match.end()


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


def _line(text_page: Any, text: str, start: int, end: int, *, hyphen: bool) -> Line | None:
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", text[start:end])]
    if not words:
        return None
    boxes = [_span(text_page, start + first, start + last) for first, last in words]
    height = max(top - bottom for _, bottom, _, top in boxes)
    cells: list[tuple[float, float, str]] = []
    for (first, last), (left, _, right, _) in zip(words, boxes, strict=True):
        word = _paired(text[start + first : start + last])
        if cells and left - cells[-1][1] < _WIDE_GAP * height:
            cells[-1] = (cells[-1][0], right, f"{cells[-1][2]} {word}")
        else:
            cells.append((left, right, word))
    line = Line(
        text=" ".join(cell for _, _, cell in cells),
        left=boxes[0][0],
        right=boxes[-1][2],
        base=boxes[0][1],
        height=height,
        cells=tuple(cells),
        hyphen=hyphen,
    )
    places = (words[0][0], words[len(words) // 2][0], words[-1][1] - 1)
    if not all(_is_fixed_width(text_page, start + place) for place in places):
        return line
    code = _spaced([text[start + first : start + last] for first, last in words], boxes)
    return replace(line, code=f"{code}-" if hyphen else code)


def _is_fixed_width(text_page: Any, index: int) -> bool:
    """True if a character's font is monospaced, by its flags or name."""
    name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
    flags = ctypes.c_int()
    if not pdfium.FPDFText_GetFontInfo(text_page, index, name, len(name), flags):
        return False
    return bool(flags.value & _FIXED_PITCH) or _MONO.search(name.value) is not None


def _spaced(words: Sequence[str], boxes: Sequence[tuple[float, float, float, float]]) -> str:
    """Monospaced words with as many spaces between them as the gaps have room for."""
    width = sum(right - left for left, _, right, _ in boxes) / sum(map(len, words))
    text = _paired(words[0])
    for word, before, box in zip(words[1:], boxes, boxes[1:], strict=False):
        text += " " * max(1, round((box[0] - before[2]) / width) if width else 1) + _paired(word)
    return text


def _span(text_page: Any, first: int, last: int) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a word, in points."""
    left, bottom, right, top = _box(text_page, first)
    if last - first > 1:
        right = _box(text_page, last - 1)[2]
    return left, bottom, max(left, right), top


def _box(text_page: Any, index: int) -> tuple[float, float, float, float]:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(text_page, index, rectangle):
        return 0.0, 0.0, 0.0, 0.0
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top
