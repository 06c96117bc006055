"""Converts Word documents (.docx) to page text.

The document is parsed as a stream, so that a long one takes little more memory than its text.
(mammoth, which converts such documents to HTML, takes forty times the size of the XML and leaves
out the numbers of headings and lists.) Deliberately left out: deleted and hidden text, comments,
tables of contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.pages.formats.blocks import Blocks, Reading, code, is_code, one_line
from bot.pages.formats.numbering import LEVELS, Numbering, whole
from bot.pages.formats.packages import (
    Package,
    attribute,
    core_title,
    is_on,
    local,
    main_part,
    open_package,
    outside,
    value,
)
from bot.pages.formats.pieces import Cell, Piece, PieceWriter, labelled_item
from bot.pages.formats.word_styles import (
    PLAIN,
    Style,
    Styles,
    is_fixed_width,
    with_paragraph,
)

_NAMESPACES = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",  # in "strict" documents
)
_STREAMED = tuple(f"{each}{name}" for each in _NAMESPACES for name in ("p", "tr", "tbl"))

# Elements that may enclose paragraphs and tables of the document itself, or of a cell.
_AROUND = frozenset({"document", "body", "sdt", "sdtContent", "customXml", "ins", "moveTo"})
_NOT_SHOWN = frozenset(
    {
        *("del", "moveFrom", "delText", "instrText", "delInstrText", "annotation", "rt"),
        *("pPr", "rPr", "sdtPr", "tblPr", "tcPr", "trPr", "sectPr", "object", "docPr"),
    }
)
_BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_PRIVATE = range(0xE000, 0xF900)  # characters with a meaning in a single font only
_NO_WORDS = re.compile(r"(?:[\W\d_]|\b(?:page|of|seite|von)\b)*", re.IGNORECASE)


def read_word(data: bytes, name: str) -> Reading:
    """Read a Word document; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with open_package(data, name, "a Word document") as package:
        reader = _Reader(package)
        kept = reader.read()
        title = reader.title or core_title(package) or reader.first_heading
        return Reading(title, reader.blocks.text(), kept)


class _Reader:
    def __init__(self, package: Package) -> None:
        self.blocks = Blocks()
        self.title = ""
        self.first_heading = ""
        self._package = package
        self._main = main_part(package, "word/document.xml")
        self._related = list(package.relationships(self._main).values())
        self._styles = Styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"))
        self._notes = {
            mark: {attribute(note, "id"): note for note in self._children(f"{mark}s")}
            for mark in ("footnote", "endnote")
        }
        self._boxes: list[Any] = []  # text boxes anchored in the paragraph
        self._writer = PieceWriter(self.blocks)

    def read(self) -> float:
        """Read everything; return the share of the document that was kept."""
        for element in self._package.elements(self._main, _STREAMED):
            match _place(element):
                case "paragraph":
                    self._writer.put_all(self._paragraph(element))
                    self._writer.end_notes()
                case "row":
                    self._writer.row(self._row(element))
                case "table":
                    self._writer.end_table()
                case _:
                    continue
            self._package.forget(element)
            if self.blocks.full:
                self._writer.end_table()
                self._writer.flush()
                self.blocks.heading(2, "The rest of this document was not read")
                return self._package.share_read
        self._writer.flush()
        self._put_headers()
        return 1.0

    def _part(self, kind: str) -> Any:
        target = next((each.target for each in self._related if each.kind == kind), None)
        return self._package.tree(target) if target else None

    def _children(self, kind: str) -> Iterator[Any]:
        root = self._part(kind)
        return iter(()) if root is None else root.iterchildren()

    # ------------------------------------------------------------ paragraphs

    def _pieces(self, parent: Any) -> Iterator[Piece]:
        """The content of a cell, a note, a text box or a header."""
        for child in parent:
            match local(child):
                case "p":
                    yield from self._paragraph(child)
                case "tbl":
                    rows = [self._row(row) for row in child.iter("{*}tr") if _table(row) is child]
                    yield Piece("table", rows=rows)
                case name if name in _AROUND:
                    yield from self._pieces(child)

    def _paragraph(self, element: Any) -> Iterator[Piece]:
        """A paragraph, and the text boxes that are anchored in it."""
        properties = element.find("{*}pPr")
        style = PLAIN
        if properties is not None:
            style = with_paragraph(self._styles.get(value(properties, "pStyle")), properties)
        style_id = "" if properties is None else value(properties, "pStyle")
        outer, self._boxes = self._boxes, []
        text = "".join(self._inline(element, fixed=style.role == "code"))
        boxes, self._boxes = self._boxes, outer
        if style.role != "contents" and not style.hidden:
            piece = self._piece(text, style, style_id)
            if piece is not None:
                yield piece
        for box in boxes:
            yield from self._pieces(box)

    def _piece(self, text: str, style: Style, style_id: str) -> Piece | None:
        if style.role == "code" or is_code(text):
            return Piece("code", text)
        if not text.strip():
            return None
        if style.role == "title" and not self.title:
            self.title = one_line(text)
        label = None
        if style.list is not None:
            depth = style.depth
            if depth is None:
                depth = self._numbering.level_of_style(style.list, style_id)
            label = self._numbering.label(style.list, min(depth, LEVELS - 1))
        if style.level:
            self.first_heading = self.first_heading or one_line(text)
            number = f"{label.text} " if label and label.text else ""
            return Piece("heading", number + text, style.level)
        if label is None:
            return Piece("paragraph", text)
        return labelled_item(text, label.depth, label.text)

    def _inline(self, element: Any, *, fixed: bool) -> Iterator[str]:
        for child in element:
            name = local(child)
            if not name or name in _NOT_SHOWN:
                continue
            if name == "t":
                yield child.text or ""
            elif name in _BREAKS:
                yield _BREAKS[name]
            elif name == "r":
                yield from self._run(child, fixed=fixed)
            elif name == "sym":
                yield _symbol(child)
            elif name in ("footnoteReference", "endnoteReference"):
                yield self._mark(name.removesuffix("Reference"), attribute(child, "id"))
            elif name == "txbxContent":
                self._boxes.append(child)
            elif name == "AlternateContent":
                choice = child.find("{*}Choice")
                yield from self._inline(child if choice is None else choice, fixed=fixed)
            else:
                yield from self._inline(child, fixed=fixed)

    def _run(self, run: Any, *, fixed: bool) -> Iterator[str]:
        properties = run.find("{*}rPr")
        style = PLAIN if properties is None else self._styles.get(value(properties, "rStyle"))
        if properties is not None and is_on(properties, "vanish", style.hidden):
            return
        words = "".join(self._inline(run, fixed=fixed))
        is_code = style.role == "code" or (properties is not None and is_fixed_width(properties))
        yield code(words) if is_code and not fixed else words

    def _mark(self, kind: str, note_id: str | None) -> str:
        note = self._notes[kind].get(note_id)
        return "" if note is None else self._writer.mark(self._pieces(note))

    # ------------------------------------------------------------ tables

    def _row(self, row: Any) -> list[Cell]:
        cells = []
        if row.find("{*}trPr/{*}del") is not None:
            return []
        for cell in _through(row, "tc"):
            properties = cell.find("{*}tcPr")
            span, goes_on = 1, False
            if properties is not None:
                span = whole(value(properties, "gridSpan"), 1)
                merge = properties.find("{*}vMerge")
                goes_on = merge is not None and attribute(merge, "val") != "restart"
            cells.append(Cell(list(self._pieces(cell)), max(1, span), goes_on))
        return cells

    # ------------------------------------------------------------ writing

    def _put_headers(self) -> None:
        """Add the page headers and footers, once, at the end."""
        said: dict[str, None] = {}
        for each in self._related:
            if each.kind in ("header", "footer") and each.target in self._package:
                for piece in self._pieces(self._package.tree(each.target)):
                    said.setdefault(one_line(piece.words()))
        lines = [line for line in said if not _NO_WORDS.fullmatch(line)]
        if lines:
            self.blocks.heading(2, "Headers and footers")
        for line in lines:
            self.blocks.paragraph(line)


def _place(element: Any) -> str:
    """The kind of an element of the document itself; "" inside a table or a text box."""
    name = local(element)
    owner = _table(element) if name == "tr" else element
    if owner is None or outside(owner, _AROUND) is not None:
        return ""
    return {"p": "paragraph", "tr": "row", "tbl": "table"}[name]


def _table(row: Any) -> Any:
    """The table that a row belongs to."""
    parent = outside(row, _AROUND)
    return parent if parent is not None and local(parent) == "tbl" else None


def _through(parent: Any, name: str) -> Iterator[Any]:
    """The children with a name, including those inside content controls."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) in _AROUND:
            yield from _through(child, name)


def _symbol(element: Any) -> str:
    code = attribute(element, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return "" if number in _PRIVATE or not 0x20 <= number <= 0x10FFFF else chr(number)
