"""Puts what a PDF page has in its annotations, the boxes and fields of forms, into its lines."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bot.pages.formats.pdf_typesetting import Line
from bot.pages.page_markdown import CHECKED, UNCHECKED

MOST_FIELDS = 1_000  # of a form on one page
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_FIELDS = (
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
)
Box = tuple[pdfium.FS_RECTF, str]  # place and sign
Value = tuple[pdfium.FS_RECTF, str, str]  # place, name of the field and what is filled in
_LONGEST_VALUE = 20_000  # bytes of what is filled in


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


def filled_on(document: Any, page: Any) -> tuple[list[Box], list[Value]]:
    """What a form says on a page: its tick boxes and radio buttons, and its filled-in fields."""
    boxes: list[Box] = []
    values: list[Value] = []
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


def set_values(lines: list[Line], values: Iterable[Value]) -> None:
    """Put each value behind its label, to its left or above it; without one it has its name."""
    for place, name, value in values:
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


def with_boxes(lines: list[Line], boxes: Iterable[Box]) -> list[Line]:
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
