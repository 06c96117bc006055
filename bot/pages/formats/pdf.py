"""Converts PDF documents to page text with PDFium.

PDFium is not thread-safe (https://pypdfium2.readthedocs.io/, "Incompatibility with threading"), so
a process reads one document at a time. Documents from the web are read in separate processes
(``bot.pages.workers``), which also limit time and memory.

A page of a PDF document stores where its lines are and not what they are. Their role is inferred
from typographic conventions: a gap or an indent opens a paragraph, larger letters are a heading,
words far apart in successive lines are a table, and text in the same place on every page is not
part of the content.
"""

from __future__ import annotations

import ctypes
import math
import re
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from statistics import median
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.core.errors import PageUnreadable
from bot.pages.formats.rulings import Grid, Span, Word, edges_on, grids_by_gaps, grids_of
from bot.pages.page import (
    LOST_WORD,
    TEXTLESS_PAGE,
    Reading,
    compared,
    iso_day,
    meaningful_title,
    share,
)
from bot.pages.page_markdown import (
    CHECKED,
    MOST_CHARACTERS,
    UNCHECKED,
    fenced,
    literal,
    table_row,
)
from bot.pages.pictures import MOST_SCANS, SCAN_SIDE
from bot.text.sentences import sentences
from bot.text.terms import has_cjk

MOST_PAGES = 1_000
"""The most pages to read; a last heading says which pages of a longer document were not read."""
MOST_FIELDS = 1_000  # of a form on one page
MOST_ON_A_PAGE = 100_000  # characters; the rest of such a page is ignored

_ONE_AT_A_TIME = threading.Lock()

_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_FIELDS = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)
_Box = tuple[pdfium.FS_RECTF, str]  # place and sign
_Value = tuple[pdfium.FS_RECTF, str, str]  # place, name of the field and what is filled in
_LONGEST_VALUE = 20_000  # bytes of what is filled in
_MOST_SLANTED = 2  # lines of a watermark
_SLANTED = 0.1  # radians, from the horizontal and the vertical
_WIDE_GAP = 1.0  # line heights; a wider gap between two words separates cells of a row
_HYPHENS = ("\x02", "\ufffe")  # PDFium's characters for the hyphen of a word divided between lines
_LINE_END = re.compile("[\x02\ufffe]|\r?\n|\r|$")
_DIVIDED = re.compile("[\x02\ufffe](?:\r?\n)?")
_MONO = re.compile(rb"mono|courier|consol|menlo|typewriter|cmtt|fixed|inconsolata|hack", re.I)
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
)  # Hebrew, Arabic and others
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
        raise PageUnreadable(
            f"{name} is a PDF document of pictures without text; give a version that was run"
            " through text recognition (OCR), or paste its text."
        )
    title = title or title_of(leaves)
    drawn = [(LOST_WORD, "\n".join(leaf.characters for leaf in leaves))]
    running = "\n".join(line.text for leaf in leaves for line in leaf.lines)
    running += "\n".join(" ".join(leaf.watermark) for leaf in leaves)
    leaves = without_running_lines(leaves)
    text = set_text(leaves)
    kept = share(text, "".join(line.text for leaf in leaves for line in leaf.lines))
    if len(leaves) < count:
        text += f"\n\n## Pages {len(leaves) + 1} to {count} were not read"
        kept *= len(leaves) / count
    pictures = sum(leaf.is_picture for leaf in leaves)
    kept *= 1 - pictures / count
    omitted = {TEXTLESS_PAGE: pictures}
    reading = Reading(title, text, kept, omitted=omitted, dated=dated, author=author)
    return compared(reading, drawn, by_rule=running)


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
        rows = _rows_of(text_page)
        boxes, values = _filled_on(document, page)
        across, down = edges_on(page)
        grids = _tables(grids_of(across, down), rows, [*boxes, *values])
        lines, spans = _lines(text_page, rows, grids)
        has_gaps = _have_gaps(lines, 2 if len(across) > 1 else 3)
        if has_gaps and (more := _tables(grids_by_gaps(across, spans), rows, [*boxes, *values])):
            grids += more
            lines, _ = _lines(text_page, rows, grids)
        slanted = [line for line in lines if line.is_slanted]
        if len(slanted) > _MOST_SLANTED:  # names of a diagram's columns
            slanted = []
        lines = [line for line in lines if line not in slanted]
        lines = _with_boxes(
            lines, [box for box in boxes if not _grid_of(_middle_of(box[0]), grids)]
        )
        _set_values(lines, [each for each in values if not _grid_of(_middle_of(each[0]), grids)])
        characters = _DIVIDED.sub("", text_page.get_text_range())
        is_picture = not (lines or slanted) and pdfium.FPDFPage_CountObjects(page) > 0
    finally:
        text_page.close()
        page.close()
    watermark = _closed_up(" ".join(line.text for line in slanted))
    return Leaf(index, label or str(index + 1), tuple(lines), watermark, is_picture, characters)


def _closed_up(text: str) -> str:
    """Text without the spaces between single letters: "D R A F T"."""
    letters = text.split()
    return "".join(letters) if all(len(each) == 1 for each in letters) else text


def _fields_on(document: Any, page: Any) -> Iterator[tuple[pdfium.FS_RECTF, int, Any]]:
    """The fields of a form on a page: place, kind and handle, which holds until the next one."""
    if document.formenv is None:
        return
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        try:
            kind = pdfium.FPDFAnnot_GetFormFieldType(document.formenv, annotation)
            place = pdfium.FS_RECTF()
            if kind in _BOXES + _FIELDS and pdfium.FPDFAnnot_GetRect(annotation, place):
                yield place, kind, annotation
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _filled_on(document: Any, page: Any) -> tuple[list[_Box], list[_Value]]:
    """What a form says on a page: its tick boxes and radio buttons, and its filled-in fields."""
    boxes: list[_Box] = []
    values: list[_Value] = []
    for place, kind, field in _fields_on(document, page):
        if kind in _BOXES:
            is_on = pdfium.FPDFAnnot_IsChecked(document.formenv, field)
            boxes.append((place, CHECKED if is_on else UNCHECKED))
        elif value := _of_field(pdfium.FPDFAnnot_GetFormFieldValue, document.formenv, field):
            name = _of_field(pdfium.FPDFAnnot_GetFormFieldName, document.formenv, field)
            values.append((place, name, value))
    return boxes, values


def _of_field(read: Any, form: Any, annotation: Any) -> str:
    """A text of a field, on one line: PDFium returns its length in bytes, and writes UTF-16."""
    length = min(read(form, annotation, None, 0), _LONGEST_VALUE)
    buffer = ctypes.create_string_buffer(length)
    read(form, annotation, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").replace("\0", " ").split())


def _set_values(lines: list[Line], values: Iterable[_Value]) -> None:
    """Put each value behind its label, to its left or above it; without one it has its name."""
    for place, name, value in values:
        height = place.top - place.bottom
        found = None
        for at, line in enumerate(lines):
            beside = (
                abs(_middle(line) - (place.bottom + place.top) / 2) < max(line.height, height) / 2
            )
            above = 0 <= line.base - place.top + height / 2 < 1.5 * line.height
            for number, (left, right, _) in enumerate(line.cells):
                if beside and right <= place.left + height / 2:
                    found = min(found or (1.0, 0.0, 0, 0), (0.0, place.left - right, at, number))
                elif above and left < place.right and right > place.left:
                    found = min(found or (2.0, 0.0, 0, 0), (1.0, line.base - place.top, at, number))
        if found is None:
            text, box = f"{name}: {value}", (place.left, place.right)
            line = Line(text, *box, place.bottom, height, ((*box, text),))
            lines.insert(sum(_middle(each) > _middle(line) for each in lines), line)
            continue
        line, number = lines[found[2]], found[3]
        cells = list(line.cells)
        left, right, words = cells[number]
        cells[number] = left, max(right, place.right), f"{words} {value}"
        text = " ".join(words for *_, words in cells)
        lines[found[2]] = replace(line, text=text, cells=tuple(cells), code="")


def _with_boxes(lines: list[Line], boxes: Iterable[_Box]) -> list[Line]:
    """The lines with each box at its label; without a line beside it, it is one of its own."""
    beside: dict[int, list[tuple[float, float, str]]] = {}
    alone: list[Line] = []
    for place, sign in boxes:
        middle, box = (place.bottom + place.top) / 2, (place.left, place.right, sign)
        near = [at for at, line in enumerate(lines) if abs(_middle(line) - middle) < line.height]
        if near:
            at = min(near, key=lambda at: abs(_middle(lines[at]) - middle))
            beside.setdefault(at, []).append(box)
        else:
            height = place.top - place.bottom
            alone.append(Line(sign, place.left, place.right, place.bottom, height, (box,)))
    for at, found in beside.items():
        lines[at] = _with_signs(lines[at], sorted(found))
    for each in alone:
        lines.insert(sum(_middle(line) > _middle(each) for line in lines), each)
    return lines


def _with_signs(line: Line, boxes: Sequence[tuple[float, float, str]]) -> Line:
    """A line with its boxes before their labels, which are all to the right of them if the first
    box has no text to its left, all to the left if the last one has none to its right."""
    cells = list(line.cells)
    is_first = all(cell[0] >= boxes[0][0] for cell in cells)
    is_last = all(cell[0] < boxes[-1][0] for cell in cells)
    for left, right, sign in boxes:
        after = next((n for n, cell in enumerate(line.cells) if cell[0] >= left), len(cells))
        gap_before = left - line.cells[after - 1][1] if after else math.inf
        gap_after = line.cells[after][0] - right if after < len(cells) else math.inf
        is_right = is_first or (not is_last and gap_after <= gap_before)
        at = min(after, len(cells) - 1) if is_right else after - 1
        start, end, words = cells[at]
        cells[at] = min(left, start), max(right, end), f"{sign} {words}"
    text = " ".join(words for *_, words in cells)
    return replace(
        line, text=text, left=cells[0][0], right=cells[-1][1], cells=tuple(cells), code=""
    )


def _middle(line: Line) -> float:
    return line.base + line.height / 2


def _rows_of(text_page: Any) -> list[tuple[list[Span], bool]]:
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


def _tables(
    grids: list[Grid],
    rows: Sequence[tuple[list[Span], bool]],
    form: Sequence[tuple[Any, ...]],
) -> list[Grid]:
    """The grids that are tables, with their words; ``form`` has the places and texts of fields."""
    for number, (spans, hyphen) in enumerate(rows if grids else ()):
        for span in spans:
            if grid := _grid_of(span.middle, grids):
                is_divided = hyphen and span is spans[-1]
                grid.words.append(Word(span.text, *span.middle, number, is_divided))
    for place, *_, text in form if grids else ():
        if grid := _grid_of(_middle_of(place), grids):
            grid.put(text, *_middle_of(place))
    for grid in grids:
        grid.close(_with_next_line)
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
        if not spans:
            continue
        for grid, group in _parts_of(spans, grids):
            if grid is None:
                # PDFium puts a watermark at the end of the line that it crosses
                for _, part in groupby(group, partial(_is_slanted, text_page)):
                    words = list(part)
                    line = _line(text_page, words, hyphen=hyphen)
                    lines.append(line)
                    if not (line.code or line.is_slanted):
                        plain += words
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


def _parts_of(spans: list[Span], grids: Sequence[Grid]) -> Iterable[tuple[Grid | None, list[Span]]]:
    """The parts of a line that are in a grid and outside."""
    if not grids:
        return [(None, spans)]
    parts = groupby(spans, lambda span: _grid_of(span.middle, grids))
    return [(grid, list(words)) for grid, words in parts]


def _with_next_line(text: str, following: str, hyphen: bool) -> str:
    return _continued(text, following, hyphen=hyphen, known=Counter())


def _grid_of(place: tuple[float, float], grids: Sequence[Grid]) -> Grid | None:
    return next((grid for grid in grids if grid.holds(*place)), None)


def _middle_of(place: Any) -> tuple[float, float]:
    return (place.left + place.right) / 2, (place.bottom + place.top) / 2


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


# ---------------------------------------------------------------- typesetting


EDGE_LINES = 2  # from the top and the bottom of a page that may be running headers or footers
REPEATED = 3  # pages on which a line must be in the same place to be one
SAME_PLACE = 4.0  # points

_OTHER_SIZE = 0.15  # relative difference in height between lines of headings and of text
_DOUBLE_SPACED = 1.55  # line heights; lines of one text are never further apart
_NEW_PARAGRAPH = 1.35  # times the usual line distance, between two paragraphs
_INDENT = 0.8  # line heights
_SHORT_LINE = 0.8  # of the paragraph's width; a line that ends before is its last one
_LONGEST_HEADING = 200  # characters
_TYPEWRITTEN = 0.5  # share of monospaced text from which it no longer indicates code
_EMPTY_LINES = 3.5  # line heights, at most, between two lines of one piece of code

_NUMBER = re.compile(r"\d{1,5}")
_NUMBERING = re.compile(
    r"^[-–— .|\[\]]*(?:page )?|[-–— .|\[\]]+$", re.IGNORECASE
)  # around a page's
_BULLET = re.compile(r"[•‣◦▪■●○–—·∙\uf0b7\uf0a7*-]\s+(?=\S)")
_COUNTED = re.compile(r"(?:\d{1,3}[.)]|\([a-z0-9]{1,3}\)|[a-z]\))\s+(?=\S)")
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]」』]*$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of type. Measures are in points from the lower left corner of the page.

    ``cells`` are its parts separated by wide gaps, each with its left and right end. ``hyphen``:
    its last word continues on the next line; the hyphen itself is not in ``text``. ``code`` is the
    text with all its spaces if it is monospaced, else "". ``table`` is a ruled table in Markdown.
    """

    text: str
    left: float
    right: float
    base: float
    height: float
    cells: tuple[tuple[float, float, str], ...] = ()
    hyphen: bool = False
    code: str = ""
    table: str = ""
    is_slanted: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page: ``index`` counts from 0, ``label`` is its printed number, ``watermark`` is slanted
    text across it. ``is_picture``: it has content, but no text. ``characters`` are PDFium's own.
    """

    index: int
    label: str
    lines: tuple[Line, ...]
    watermark: str = ""
    is_picture: bool = False
    characters: str = ""


@dataclass(slots=True)
class _Block:
    """A paragraph, heading or list item without its bullet; or a finished table or code block."""

    kind: str
    text: str


def set_text(leaves: Sequence[Leaf]) -> str:
    """The text of the pages in the form described in ``bot.pages.page.Page``."""
    body = _body_height(leaves)
    leaves = _without_typewriting(leaves)
    known = Counter(
        word.casefold()
        for leaf in leaves
        for line in leaf.lines
        for word in _WORD.findall(line.text)
    )
    pages = [(leaf.label, _blocks(leaf, body, known)) for leaf in leaves]
    _mend_across_pages([blocks for _, blocks in pages], known)
    parts: list[str] = []
    marks = [leaf.watermark for leaf in leaves]
    for number, (label, blocks) in enumerate(pages):
        mark = marks[number]
        if mark and mark not in marks[:number]:
            blocks.insert(0, _Block("paragraph", f"Watermark: {mark}"))
        if blocks:
            parts.append(f"## Page {label}")
            for above, block in pairwise((_Block("heading", ""), *blocks)):
                between = "\n" if above.kind == block.kind == "item" else "\n\n"
                parts.append(f"{between}{_written(block)}")
            parts.append("\n\n")
    return "".join(parts).strip()


def _without_typewriting(leaves: Sequence[Leaf]) -> Sequence[Leaf]:
    """The pages without lines of code if most of the text is monospaced."""
    lines = [line for leaf in leaves for line in leaf.lines]
    fixed = sum(len(line.text) for line in lines if line.code)
    if fixed <= _TYPEWRITTEN * sum(len(line.text) for line in lines):
        return leaves
    return [
        replace(leaf, lines=tuple(replace(line, code="") for line in leaf.lines)) for leaf in leaves
    ]


def title_of(leaves: Sequence[Leaf]) -> str:
    """The largest lines of the first page, if they are larger than its text; else ""."""
    lines = next((leaf.lines for leaf in leaves if leaf.lines), ())
    largest = max((line.height for line in lines), default=0.0)
    if largest < _body_height(leaves) * (1 + _OTHER_SIZE):
        return ""
    found: list[str] = []
    for line in lines:
        if line.height > largest * 0.95:
            found.append(line.text)
        elif found:
            break
    title = " ".join(found)
    return title if len(title) <= _LONGEST_HEADING and _LETTER.search(title) else ""


def _written(block: _Block) -> str:
    if block.kind in ("table", "code"):
        return block.text
    if block.kind == "item":
        return f"- {literal(block.text)}"
    return f"### {literal(block.text)}" if block.kind == "heading" else literal(block.text)


# ---------------------------------------------------------------- headers and footers


def without_running_lines(leaves: Sequence[Leaf]) -> list[Leaf]:
    """The pages without text repeated in the same place on several of them, and page numbers."""
    places: Counter[tuple[str, int]] = Counter()
    for leaf in leaves:
        places.update({key for line in _edges(leaf) for key in _keys(line, leaf)})
    kept = []
    for leaf in leaves:
        running = {
            line
            for line in _edges(leaf)
            if any(places[key] >= REPEATED for key in _keys(line, leaf))
            or (len(leaves) > 1 and _NUMBERING.sub("", line.text) == leaf.label)
        }
        lines = tuple(line for line in leaf.lines if line not in running)
        # a page without other lines, such as a repeated form, stays as it is
        kept.append(replace(leaf, lines=lines) if lines else leaf)
    return kept


def _edges(leaf: Leaf) -> set[Line]:
    ordered = sorted(leaf.lines, key=lambda line: line.base)
    return {*ordered[:EDGE_LINES], *ordered[-EDGE_LINES:]}


def _keys(line: Line, leaf: Leaf) -> Iterator[tuple[str, int]]:
    """Keys by which a running line matches those of other pages.

    Its text, or its text with one number relative to the page's index: page numbers grow with the
    index, but figures in the first row of a table do not.
    """
    place = round(line.base / SAME_PLACE)
    for near in (place, place + 1):
        yield line.text, near
        for match in list(_NUMBER.finditer(line.text))[:4]:
            offset = int(match[0]) - leaf.index
            text = f"{line.text[: match.start()]}\0{offset}\0{line.text[match.end() :]}"
            yield text, near


# ---------------------------------------------------------------- blocks of a page


def _body_height(leaves: Sequence[Leaf]) -> float:
    heights: Counter[float] = Counter()
    for leaf in leaves:
        for line in leaf.lines:
            heights[round(line.height * 2) / 2] += len(line.text)
    return heights.most_common(1)[0][0] if heights else 0.0


def _blocks(leaf: Leaf, body: float, known: Counter[str]) -> list[_Block]:
    distances = [
        above.base - below.base
        for above, below in pairwise(leaf.lines)
        if 0.5 * below.height < above.base - below.base < 3 * below.height
    ]
    usual = min(median(distances), _DOUBLE_SPACED * body) if distances else 1.2 * body
    blocks: list[_Block] = []
    for group in _groups(leaf.lines, usual):
        if group[0].table:
            blocks.append(_Block("table", group[0].table))
            continue
        if group[0].code and not _is_larger(group[0], body):
            blocks.append(_Block("code", fenced(_code(group))))
            continue
        widest = max(len(line.cells) for line in group)
        if len(group) >= 2 and widest >= 2 and len(group) * widest >= 6:
            blocks.append(_Block("table", _table(group)))
            continue
        text = _joined(group, known)
        if _BULLET.match(text):
            blocks.append(_Block("item", _BULLET.sub("", text, count=1)))
        elif _is_larger(group[0], body) and len(text) <= _LONGEST_HEADING and _LETTER.search(text):
            blocks.append(_Block("heading", text))
        else:
            blocks.append(_Block("paragraph", text))
    return blocks


def _is_larger(line: Line, body: float) -> bool:
    return line.height > body * (1 + _OTHER_SIZE)


def _code(lines: Sequence[Line]) -> str:
    """Monospaced lines with their indentation on the page."""
    margin = min(line.left for line in lines)
    width = median((line.right - line.left) / max(1, len(line.code)) for line in lines)
    found: list[str] = []
    for above, line in pairwise((lines[0], *lines)):
        if above is not line and above.base - line.base > _DOUBLE_SPACED * line.height:
            found.append("")
        found.append(" " * (round((line.left - margin) / width) if width else 0) + line.code)
    return "\n".join(found)


def _groups(lines: Sequence[Line], distance: float) -> Iterator[list[Line]]:
    """Lines that make up a paragraph, a heading, an item or a table."""
    group: list[Line] = []
    for line in lines:
        if group and not _goes_on(group, line, distance):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _goes_on(group: Sequence[Line], line: Line, distance: float) -> bool:
    last = group[-1]
    if last.table or line.table:
        return False
    if last.code or line.code:
        return bool(last.code and line.code) and _is_next(last, line, _EMPTY_LINES * line.height)
    if last.hyphen:
        return True
    if len(last.cells) > 1 or len(line.cells) > 1:
        return len(last.cells) > 1 and len(line.cells) > 1 and _is_next(last, line, 2 * distance)
    if abs(line.height / last.height - 1) > _OTHER_SIZE if last.height else True:
        return False
    if _BULLET.match(line.text) or _COUNTED.match(line.text):
        return False
    if not _is_next(last, line, _NEW_PARAGRAPH * distance):
        # after a column break or a picture, only an unfinished sentence continues
        return last.base < line.base and _is_under_way(last.text, line.text)
    if not _ENDS.search(last.text):
        return True
    left = min(each.left for each in group)
    right = max(*(each.right for each in group), line.right)
    if len(group) > 1 and line.left - group[-1].left > _INDENT * line.height:
        return False
    return last.right >= left + _SHORT_LINE * (right - left)


def _is_next(last: Line, line: Line, most: float) -> bool:
    return -0.5 * line.height < last.base - line.base <= most


def _is_under_way(text: str, following: str) -> bool:
    if _ENDS.search(text):
        return False
    return following[:1].islower() or (has_cjk(text[-1:]) and has_cjk(following[:1]))


def _joined(lines: Sequence[Line], known: Counter[str]) -> str:
    text = lines[0].text
    for above, line in pairwise(lines):
        text = _continued(text, line.text, hyphen=above.hyphen, known=known)
    return f"{text}-" if lines[-1].hyphen else text


def _continued(text: str, following: str, *, hyphen: bool, known: Counter[str]) -> str:
    """Join a text and its next line; a word divided between them becomes one again."""
    if hyphen:
        return text + _hyphen_between(text, following, known) + following
    if text[-1:] in "-–" and text[-2:-1].isdigit() and following[:1].isdigit():
        return text + following
    if text.endswith("\u00ad"):
        return text[:-1] + following
    if has_cjk(text[-1:]) and has_cjk(following[:1]):
        return text + following
    # next to full-width punctuation no space is needed
    if text[-1:] in "，。、；：！？）」』》" or following[:1] in "，。、；：！？（「『《":
        return text + following
    return f"{text} {following}"


def _hyphen_between(text: str, following: str, known: Counter[str]) -> str:
    """The hyphen if "well-/known" has one when undivided, as other text shows; else ""."""
    first = re.search(r"(?<![^\W\d_])[^\W\d_]++$", text)
    second = re.match(r"[^\W\d_]+", following)
    if first is None or second is None or not following[0].islower():
        return "-"
    whole, divided = f"{first[0]}{second[0]}", f"{first[0]}-{second[0]}"
    return "-" if known[divided.casefold()] > known[whole.casefold()] else ""


# ---------------------------------------------------------------- tables


def _table(group: Sequence[Line]) -> str:
    """A Markdown table with the columns of its fullest row."""
    fullest = max(group, key=lambda line: len(line.cells))
    centres = [(left + right) / 2 for left, right, _ in fullest.cells]
    rows = [_row(line, fullest, centres) for line in group]
    rows.insert(1, ["---"] * len(centres))
    return "\n".join(map(table_row, rows))


def _row(line: Line, fullest: Line, centres: Sequence[float]) -> list[str]:
    columns: list[list[str]] = [[] for _ in centres]
    for left, right, text in line.cells:
        overlaps = [min(right, r) - max(left, l) for l, r, _ in fullest.cells]  # noqa: E741
        best = max(range(len(centres)), key=lambda i: overlaps[i])
        columns[best].append(text)
    return [" ".join(cells) for cells in columns]


# ---------------------------------------------------------------- sentences across pages


def _mend_across_pages(pages: Sequence[list[_Block]], known: Counter[str]) -> None:
    """Move the rest of a sentence to the page where it begins: a passage belongs to one page."""
    for earlier, blocks in pairwise([blocks for blocks in pages if blocks]):
        if not earlier or earlier[-1].kind not in ("paragraph", "item"):
            continue
        last, following = earlier[-1], blocks[0]
        hyphen = last.text.endswith("-") and following.text[:1].islower()
        if following.kind != "paragraph" or not (
            hyphen or _is_under_way(last.text, following.text)
        ):
            continue
        text = last.text[:-1] if hyphen else last.text
        whole = _continued(text, following.text, hyphen=hyphen, known=known)
        end = next((s.end for s in sentences(whole) if s.end > len(text)), len(whole))
        last.text, following.text = whole[:end], whole[end:].lstrip()
        if not following.text:
            blocks.pop(0)
