"""Puts a PDF page's annotations, the fields of forms, notes and stamps, into its lines."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.pages.formats.pdf_typesetting import Line
from bot.pages.page_markdown import CHECKED, UNCHECKED

MOST_ANNOTATIONS = 1_000  # of a page
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_FIELDS = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)
_LONGEST_VALUE = 20_000  # bytes of what is filled in
_STAMPS = (pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_WATERMARK)
_READ = (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, *_STAMPS)
_NOT_SHOWN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_STAMP = re.compile("(?:SB|SH)?((?:[A-Z][a-z]+)+)")
"""A stamp's name (ISO 32000-1, table 181), or one of Acrobat's own."""


class Annotation(NamedTuple):
    """What an annotation says: the sign of a box, a filled-in value, a note or a stamp."""

    place: pdfium.FS_RECTF
    kind: Literal["box", "value", "note", "stamp"]
    name: str  # of a field
    text: str

    @property
    def middle(self) -> tuple[float, float]:
        return (self.place.left + self.place.right) / 2, (self.place.bottom + self.place.top) / 2


def annotations_on(document: Any, page: Any) -> list[Annotation]:
    found = []
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        try:
            subtype, place = pdfium.FPDFAnnot_GetSubtype(annotation), pdfium.FS_RECTF()
            if subtype in _READ and pdfium.FPDFAnnot_GetRect(annotation, place):
                is_field = subtype == pdfium.FPDF_ANNOT_WIDGET
                read = _field if is_field else _written
                found.append(read(place, document.formenv if is_field else subtype, annotation))
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return [each for each in found if each.text]


def _field(place: pdfium.FS_RECTF, form: Any, annotation: Any) -> Annotation:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation) if form else None
    if kind in _BOXES:
        is_on = pdfium.FPDFAnnot_IsChecked(form, annotation)
        return Annotation(place, "box", "", CHECKED if is_on else UNCHECKED)
    parts = (pdfium.FPDFAnnot_GetFormFieldName, pdfium.FPDFAnnot_GetFormFieldValue)
    name, value = (_text_of(each, form, annotation) if kind in _FIELDS else "" for each in parts)
    return Annotation(place, "value", name, value)


def _written(place: pdfium.FS_RECTF, subtype: int, annotation: Any) -> Annotation:
    is_shown = not pdfium.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN
    text = _text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents") if is_shown else ""
    if subtype not in _STAMPS:
        return Annotation(place, "note", "", text)
    name = _STAMP.fullmatch(_text_of(pdfium.FPDFAnnot_GetStringValue, annotation, b"Name"))
    if name and is_shown:
        text = re.sub("(?<=[a-z])(?=[A-Z])", " ", name[1])
    return Annotation(place, "stamp", "", text)


def _text_of(read: Any, *of: Any) -> str:
    """A text on one line: PDFium returns its length in bytes, and writes UTF-16."""
    length = min(read(*of, None, 0), _LONGEST_VALUE)
    buffer = ctypes.create_string_buffer(length)
    read(*of, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").replace("\0", " ").split())


def with_annotations(lines: list[Line], found: Sequence[Annotation]) -> list[Line]:
    """The lines of a page with what is laid over it; notes are behind them, or before them if they
    are higher on the page."""
    lines = _with_boxes(lines, [(each.place, each.text) for each in found if each.kind == "box"])
    _set_values(lines, [each for each in found if each.kind == "value"])
    notes = [
        Line(text, place.left, place.right, place.bottom, 0.0)
        for place, kind, _, text in sorted(found, key=lambda each: -each.place.top)
        if kind == "note"
    ]
    top = max((line.base for line in lines), default=0.0)
    above = [note for note in notes if note.base > top]
    return [*above, *lines, *notes[len(above) :]]


def _set_values(lines: list[Line], values: Iterable[Annotation]) -> None:
    """Put each value behind its label, to its left or above it; without one it has its name."""
    for place, _, name, value in values:
        height = place.top - place.bottom
        found = None
        for at, line in enumerate(lines):
            beside = (
                abs(line.middle - (place.bottom + place.top) / 2) < max(line.height, height) / 2
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
            lines.insert(sum(each.middle > line.middle for each in lines), line)
            continue
        line, number = lines[found[2]], found[3]
        cells = list(line.cells)
        left, right, words = cells[number]
        cells[number] = left, max(right, place.right), f"{words} {value}"
        text = " ".join(words for *_, words in cells)
        lines[found[2]] = replace(line, text=text, cells=tuple(cells), code="")


def _with_boxes(lines: list[Line], boxes: Iterable[tuple[pdfium.FS_RECTF, str]]) -> list[Line]:
    """The lines with each box at its label; without a line beside it, it is one of its own."""
    beside: dict[int, list[tuple[float, float, str]]] = {}
    alone: list[Line] = []
    for place, sign in boxes:
        middle, box = (place.bottom + place.top) / 2, (place.left, place.right, sign)
        near = [at for at, line in enumerate(lines) if abs(line.middle - middle) < line.height]
        if near:
            at = min(near, key=lambda at: abs(lines[at].middle - middle))
            beside.setdefault(at, []).append(box)
        else:
            height = place.top - place.bottom
            alone.append(Line(sign, place.left, place.right, place.bottom, height, (box,)))
    for at, found in beside.items():
        lines[at] = _with_signs(lines[at], sorted(found))
    for each in alone:
        lines.insert(sum(line.middle > each.middle for line in lines), each)
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
