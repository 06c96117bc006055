"""Converts PDF documents to page text with PDFium.

PDFium is not thread-safe (https://pypdfium2.readthedocs.io/, "Incompatibility with threading"), so
a process reads one document at a time. Documents from the web are read in separate processes
(``bot.pages.workers``), which also limit time and memory.
"""

from __future__ import annotations

import ctypes
import math
import re
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.core.errors import PageUnreadable
from bot.core.texts import said
from bot.pages.formats.pdf_annotations import Annotation, annotations_on, with_annotations
from bot.pages.formats.pdf_tables import Grid, Word, edges_on, grids_by_gaps, grids_of
from bot.pages.formats.pdf_typesetting import (
    Leaf,
    Line,
    set_text,
    title_of,
    without_running_lines,
)
from bot.pages.formats.pdf_words import DIVIDED, Span, rows_of
from bot.pages.page import (
    LOST_WORD,
    TEXTLESS_PAGE,
    Reading,
    compared,
    iso_day,
    meaningful_title,
    share,
)
from bot.pages.page_markdown import MOST_CHARACTERS
from bot.pages.pictures import MOST_SCANS, SCAN_SIDE

MOST_PAGES = 1_000
"""The most pages to read; a last heading says which pages of a longer document were not read."""

_ONE_AT_A_TIME = threading.Lock()

_MOST_SLANTED = 2  # lines of a watermark
_SLANTED = 0.1  # radians, from the horizontal and the vertical
_WIDE_GAP = 1.0  # line heights; a wider gap between two words separates cells of a row
_HYPHENATED = re.compile(
    r"(?<!\w)\w++-\w+"
)  # perhaps divided at the hyphen, which PDFium tells not
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
        dated = iso_day(document.get_metadata_value("ModDate"))
        author = document.get_metadata_value("Author")
    if not any(leaf.lines for leaf in leaves):
        raise PageUnreadable(said("unread-pdf-pictures", name=name))
    title = title or title_of(leaves)
    drawn = [(LOST_WORD, "\n".join(leaf.characters for leaf in leaves))]
    every = Counter(line for leaf in leaves for line in leaf.lines)
    leaves = without_running_lines(leaves)
    every.subtract(line for leaf in leaves for line in leaf.lines)
    by_rule = [" ".join(leaf.marks) for leaf in leaves] + [line.text for line in every.elements()]
    text = set_text(leaves)
    by_rule += [each.replace("-", "") for each in _HYPHENATED.findall(text)]
    kept = share(text, "".join(line.text for leaf in leaves for line in leaf.lines))
    if len(leaves) < count:
        text += f"\n\n## Pages {len(leaves) + 1} to {count} were not read"
        kept *= len(leaves) / count
    pictures = sum(leaf.is_picture for leaf in leaves)
    kept *= 1 - pictures / count
    omitted = {TEXTLESS_PAGE: pictures}
    reading = Reading(title, text, kept, omitted=omitted, dated=dated, author=author)
    return compared(reading, drawn, by_rule="\n".join(by_rule))


def scans_in(data: bytes, name: str) -> tuple[list[tuple[str, bytes]], int]:
    """Return the label and a picture (PNG) of each page that has no text, at most ``MOST_SCANS``,
    and the number of further ones; empty pages are left out. Raises as ``read_pdf`` does."""
    found: list[tuple[str, bytes]] = []
    left = 0
    with _ONE_AT_A_TIME, _opened(data, name) as document:
        for index in range(min(len(document), MOST_PAGES)):
            # A broken page may be in an otherwise readable document.
            with suppress(pypdfium2.PdfiumError), closing(document[index]) as page:
                with closing(page.get_textpage()) as text_page:
                    has_text = text_page.count_chars() > 0
                if has_text or not pdfium.FPDFPage_CountObjects(page):
                    continue
                if len(found) < MOST_SCANS:
                    label = document.get_page_label(index).strip() or str(index + 1)
                    found.append((label, _rendered(page)))
                else:
                    left += 1
    return found, left


def _rendered(page: Any) -> bytes:
    """Render a page in grey, as PNG (Third Edition, sections 5.3 and 11.2.1)."""
    bitmap = page.render(scale=SCAN_SIDE / max(1, *page.get_size()), grayscale=True)
    width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    grey = bytes(bitmap.buffer)
    bitmap.close()
    rows = b"".join(b"\0" + grey[at : at + width] for at in range(0, height * stride, stride))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[Any]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locks = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        id = "unread-pdf-locked" if error.err_code in locks else "unread-pdf-broken"
        raise PageUnreadable(said(id, name=name), detail=str(error)) from None
    try:
        document.init_forms()
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
        rows = rows_of(text_page)
        annotations = annotations_on(document, page)
        on_page = [each for each in annotations if each.kind != "stamp"]
        across, down = edges_on(page)
        grids = _tables(grids_of(across, down), rows, on_page)
        lines, spans = _lines(text_page, rows, grids)
        has_gaps = _have_gaps(lines, 2 if len(across) > 1 else 3)
        if has_gaps and (more := _tables(grids_by_gaps(across, spans), rows, on_page)):
            grids += more
            lines, _ = _lines(text_page, rows, grids)
        slanted = [line for line in lines if line.is_slanted]
        if len(slanted) > _MOST_SLANTED:  # names of a diagram's columns
            slanted = []
        lines = [line for line in lines if line not in slanted]
        lines = with_annotations(
            lines, [each for each in on_page if not _grid_of(each.middle, grids)]
        )
        has_text = slanted or any(line.height for line in lines)  # and not only notes
        is_picture = not has_text and pdfium.FPDFPage_CountObjects(page) > 0
        characters = DIVIDED.sub("", text_page.get_text_range())
        characters += "".join(f"\n{each.text}" for each in on_page if each.kind == "value")
    finally:
        text_page.close()
        page.close()
    marks = [f"Stamp: {each.text}" for each in annotations if each.kind == "stamp"]
    if words := " ".join(line.text for line in slanted).split():
        space = "" if all(len(word) == 1 for word in words) else " "  # "D R A F T"
        marks.append(f"Watermark: {space.join(words)}")
    return Leaf(index, label or str(index + 1), tuple(lines), tuple(marks), is_picture, characters)


def _tables(
    grids: list[Grid],
    rows: Sequence[tuple[list[Span], bool]],
    form: Sequence[Annotation],
) -> list[Grid]:
    """The grids that are tables, with their words; ``form`` is laid over the page."""
    for number, (spans, hyphen) in enumerate(rows if grids else ()):
        for span in spans:
            if grid := _grid_of(span.middle, grids):
                is_divided = hyphen and span is spans[-1]
                grid.words.append(Word(span.text, *span.middle, number, is_divided))
    for each in form if grids else ():
        if grid := _grid_of(each.middle, grids):
            grid.put(each.text, *each.middle)
    for grid in grids:
        grid.close()
    return [grid for grid in grids if grid.table]


def _lines(
    text_page: Any, rows: Sequence[tuple[list[Span], bool]], grids: Sequence[Grid]
) -> tuple[list[Line], list[Span]]:
    """The lines of a page, and the words of its plain text, which may be tables without rulings; a
    table is one line, where its first word is."""
    done: list[Grid] = []
    lines: list[Line] = []
    plain: list[Span] = []
    for spans, hyphen in rows:
        for grid, words in groupby(spans, lambda span: _grid_of(span.middle, grids)):
            group = list(words)
            if grid is None:
                # PDFium puts a watermark at the end of the line that it crosses
                for _, part in groupby(group, partial(_is_slanted, text_page)):
                    of_line = list(part)
                    line = _line(text_page, of_line, hyphen=hyphen)
                    lines.append(line)
                    if not (line.code or line.is_slanted):
                        plain += of_line
            elif not any(grid is each for each in done):
                done.append(grid)
                text = " ".join(word.text for word in grid.words)
                height = max(span.top - span.bottom for span in group)
                place = (grid.xs[0], grid.xs[-1], grid.ys[-1] - height, height)
                lines.append(Line(text, *place, table=grid.table))
    return lines, plain


def _have_gaps(lines: Sequence[Line], cells: int) -> bool:
    """Whether some lines have so many cells, or one is above the one before it, to its right: the
    document goes on with the next cell. Few pages have it."""
    return sum(len(line.cells) >= cells and not line.code for line in lines) > 1 or any(
        b.base - a.base > a.height / 2 and b.left >= a.right for a, b in pairwise(lines)
    )


def _grid_of(place: tuple[float, float], grids: Sequence[Grid]) -> Grid | None:
    return next((grid for grid in grids if grid.holds(*place)), None)


def _line(text_page: Any, spans: Sequence[Span], *, hyphen: bool) -> Line:
    height = max(span.top - span.bottom for span in spans)
    cells: list[tuple[float, float, str]] = []
    for span in spans:
        if cells and span.left - cells[-1][1] < _WIDE_GAP * height:
            cells[-1] = (cells[-1][0], span.right, f"{cells[-1][2]} {span.text}")
        else:
            cells.append((span.left, span.right, span.text))
    line = Line(
        text=" ".join(cell for _, _, cell in cells),
        left=spans[0].left,
        right=spans[-1].right,
        base=spans[0].bottom,
        height=height,
        cells=tuple(cells),
        hyphen=hyphen,
        is_slanted=_is_slanted(text_page, spans[0]),
    )
    places = (spans[0].first, spans[len(spans) // 2].first, spans[-1].last - 1)
    if not all(_is_fixed_width(text_page, place) for place in places):
        return line
    code = _spaced(spans)
    return replace(line, code=f"{code}-" if hyphen else code)


def _is_slanted(text_page: Any, span: Span) -> bool:
    angle: float = pdfium.FPDFText_GetCharAngle(text_page, span.first)
    return angle > 0 and _SLANTED < angle % (math.pi / 2) < math.pi / 2 - _SLANTED


def _is_fixed_width(text_page: Any, index: int) -> bool:
    name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
    flags = ctypes.c_int()
    if not pdfium.FPDFText_GetFontInfo(text_page, index, name, len(name), flags):
        return False
    return bool(flags.value & _FIXED_PITCH) or _MONO.search(name.value) is not None


def _spaced(spans: Sequence[Span]) -> str:
    """Monospaced words with as many spaces between them as the gaps have room for."""
    width = sum(span.right - span.left for span in spans) / sum(len(span.text) for span in spans)
    text = spans[0].text
    for before, span in pairwise(spans):
        gap = round((span.left - before.right) / width) if width else 1
        text += " " * max(1, gap) + span.text
    return text
