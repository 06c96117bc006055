"""Converts OpenDocument texts, spreadsheets and presentations (.odt .ods .odp) to page text.

Parsed as a stream, like Word documents. Deliberately left out: deleted text, tables of contents and
other indexes; and with a count: hidden text, rows, columns, sheets and slides, comments. (odfdo, a
library for these files, keeps a whole document in memory, with repeated cells expanded.) Source:
OASIS OpenDocument 1.3, part 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.core.texts import said
from bot.pages.formats.packages import (
    Package,
    attribute,
    local,
    open_package,
    outside,
    whole,
)
from bot.pages.formats.pieces import (
    MOST_CELLS,
    MOST_SPANNED,
    Cell,
    GridWriter,
    Piece,
    PieceWriter,
    formatted,
    labelled_item,
    without,
    write_running,
)
from bot.pages.media import locked
from bot.pages.page import Reading, meaningful_title
from bot.pages.page_markdown import (
    CHECKED,
    UNCHECKED,
    Blocks,
    alternative,
    code,
    one_line,
    struck,
    with_address,
)

# ---------------------------------------------------------------- styles


_CODE = re.compile(
    r"Preformatted_20_Text|Source_(?:20_)?(?:Code|Text)|Code(?:_20_.*)?", re.IGNORECASE
)
_CONTENTS = re.compile(r"Contents_20_\d+")
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_HIDE = ("text-properties", "table-properties", "drawing-page-properties")
_LONGEST_CHAIN = 20  # styles based on each other; a cycle would not end


@dataclass(frozen=True, slots=True)
class _Style:
    parent: str
    hidden: bool
    list: str
    struck: bool | None  # None: as its parent


@dataclass(frozen=True, slots=True)
class _Level:
    """The marker of a list level; ``form`` is "bullet", or the format of its numbers."""

    form: str
    before: str = ""
    after: str = ""
    start: int = 1


class OpenStyles:
    """The styles read so far."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._lists: dict[str, dict[int, _Level]] = {}

    def learn(self, element: Any) -> None:
        """Add a ``style:style`` or ``text:list-style``."""
        name = attribute(element, "name") or ""
        if local(element) == "list-style":
            self._lists[name] = dict(map(_level, element))
        else:
            self._styles[name] = _Style(
                attribute(element, "parent-style-name") or "",
                any(
                    attribute(each, "display") in ("none", "false")
                    or attribute(each, "visibility") == "hidden"
                    for each in element
                    if local(each) in _HIDE
                ),
                attribute(element, "list-style-name") or "",
                next(
                    (
                        line != "none"
                        for each in element
                        if (line := attribute(each, "text-line-through-style"))
                    ),
                    None,
                ),
            )

    def hides(self, name: str | None) -> bool:
        return any(style.hidden for _, style in self._chain(name))

    def strikes(self, name: str | None) -> bool:
        known = (style.struck for _, style in self._chain(name) if style.struck is not None)
        return next(known, False)

    def role(self, name: str | None) -> str:
        """The role of a paragraph style: "title", "code", "contents" (a line of a table of
        contents), or "".
        """
        for each in [name or "", *(style.parent for _, style in self._chain(name))]:
            if each == "Title":
                return "title"
            if _CONTENTS.fullmatch(each):
                return "contents"
            if _CODE.fullmatch(each):
                return "code"
        return ""

    def _chain(self, name: str | None) -> list[tuple[str, _Style]]:
        chain: list[tuple[str, _Style]] = []
        while name and name in self._styles and len(chain) < _LONGEST_CHAIN:
            chain.append((name, self._styles[name]))
            name = self._styles[name].parent
        return chain

    def start(self, list_style: str, depth: int) -> int:
        return self._lists.get(list_style, {}).get(depth, _Level("bullet")).start

    def label(self, list_style: str, depth: int, count: int) -> str:
        """The label before an item of a list; "" for a bullet."""
        level = self._lists.get(list_style, {}).get(depth)
        if level is None or level.form == "bullet":
            return ""
        return f"{level.before}{formatted(count, _FORMS.get(level.form, 'decimal'))}{level.after}"


def _level(element: Any) -> tuple[int, _Level]:
    depth = whole(attribute(element, "level"), 1) - 1
    form = attribute(element, "num-format") or ""
    if local(element) != "list-level-style-number" or not form:
        return depth, _Level("bullet")
    return depth, _Level(
        form,
        attribute(element, "num-prefix") or "",
        attribute(element, "num-suffix") or "",
        whole(attribute(element, "start-value"), 1),
    )


# ---------------------------------------------------------------- the document


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FORM = "{urn:oasis:names:tc:opendocument:xmlns:form:1.0}"
_STREAMED = (
    *(f"{_TEXT}{name}" for name in ("p", "h", "list", "list-style")),
    *(f"{_TABLE}{name}" for name in ("table", "table-row")),
    *(f"{_FORM}checkbox", f"{_FORM}radio", f"{_TABLE}table-column"),
    *(f"{_DRAW}page", f"{_STYLE}style"),
)

# Elements that may enclose the document's own paragraphs and tables.
_AROUND = frozenset(
    {
        *("document-content", "body", "text", "spreadsheet", "presentation", "drawing"),
        *("section", "frame", "text-box", "table-header-rows", "table-rows", "table-row-group"),
        *("bibliography", "index-body", "index-title"),
    }
)
_IN_TABLE = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_NOT_SHOWN = frozenset(
    {
        *("annotation", "tracked-changes", "hidden-text", "ruby-text", "forms", "object"),
        *("object-ole", "note-citation", "event-listeners", "tracked-changes"),
    }
)
_RUNNING = [f"{each}{page}" for each in ("header", "footer") for page in ("", "-left", "-first")]
_INDEXES = ("-index", "table-of-content")
_COUNTED = {"annotation": "comment", "hidden-text": "hidden text"}
_COLLAPSED = ("collapse", "filter")
_MOST_REPEATED = 1_000  # times that a non-empty cell or row is written
_MOST_SPACES = 1_000


def read_opendocument(data: bytes, name: str) -> Reading:
    """Read an OpenDocument file; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with open_package(data, name, said("what-opendocument")) as package:
        manifest = "META-INF/manifest.xml"
        if manifest in package and b"encryption-data" in package.read(manifest):
            raise locked(name)
        reader = _Reader(package)
        kept = reader.read()
        meta = package.tree("meta.xml")
        title = "" if meta is None else next((e.text or "" for e in meta.iter("{*}title")), "")
        title = reader.title or meaningful_title(title) or reader.first_heading
        return Reading(title, reader.blocks.text(), kept, omitted=reader.omitted)


class _Reader:
    def __init__(self, package: Package) -> None:
        self.blocks = Blocks()
        self.title = ""
        self.first_heading = ""
        self._package = package
        self._writer = PieceWriter(self.blocks)
        self._styles = OpenStyles()
        self._shared = package.tree("styles.xml")
        known = (f"{_STYLE}style", f"{_TEXT}list-style")
        for element in () if self._shared is None else self._shared.iter(*known):
            self._styles.learn(element)
        self.omitted = Counter[str]()
        self._controls: dict[str, str] = {}  # the signs of boxes of forms, with their labels, by id
        self._hidden_columns: list[bool] = []  # of the open table
        self._columns_left: set[int] = set()  # hidden columns of the open sheet that hold words
        self._boxes: list[Any] = []
        self._counts: dict[str, int] = {}  # of numbered lists, by style, for lists that continue
        self._below: dict[int, int] = {}  # by column, the rows that the cell above still spans
        self._sheet: GridWriter | None = None
        self._cells = 0
        self._slides = 0

    def read(self) -> float:
        """Read everything; return the share of the document that was kept."""
        for element in self._package.elements("content.xml", _STREAMED):
            if not self._take(element):
                continue
            self._package.forget(element)
            if self.blocks.full or self._cells >= MOST_CELLS:
                self._close()
                self.blocks.heading(2, "The rest of this document was not read")
                return self._package.share_read
        self._close()
        if self._shared is not None and b".text" in self._package.read("mimetype"):
            running = self._shared.iter(*(f"{_STYLE}{each}" for each in _RUNNING))
            write_running(self.blocks, (each for line in running for each in self._pieces(line)))
        return 1.0

    def _close(self) -> None:
        if self._sheet is not None:
            self._sheet.end()
        self._end_table()
        self._writer.flush()

    def _take(self, element: Any) -> bool:
        """Read an element that is directly in the document; return whether it was one."""
        name = local(element)
        if name in ("style", "list-style"):
            self._styles.learn(element)
            return False
        if name in ("checkbox", "radio"):
            self._learn_control(element)
            return False
        if name == "table-column":
            hidden = attribute(element, "visibility") in _COLLAPSED
            times = min(whole(attribute(element, "number-columns-repeated"), 1), _MOST_REPEATED)
            self._hidden_columns += [hidden] * times
            return False
        owner = _owner(element) if name == "table-row" else element
        if owner is None or outside(owner, _AROUND) is not None:  # in a table or a shape
            return False
        parent = owner.getparent()
        in_sheet = local(owner) == "table" and parent is not None and local(parent) == "spreadsheet"
        match name:
            case "table-row" if in_sheet:
                self._sheet_row(element, owner)
            case "table-row":
                for row in self._row(element):
                    self._writer.row(row)
            case "table" if in_sheet:
                if self._sheet is not None:
                    self._sheet.end()
                self._sheet = None
                self._end_sheet(element)
            case "table":
                self._end_table()
                self._hidden_columns.clear()
            case "page":
                self._slide(element)
            case _:
                self._writer.put_all(self._block(element, 0, ""))
                self._writer.end_notes()
        return True

    # ------------------------------------------------------------ paragraphs and lists

    def _pieces(self, parent: Any, depth: int = 0, style: str = "") -> Iterator[Piece]:
        for child in parent:
            yield from self._block(child, depth, style)

    def _block(self, element: Any, depth: int, style: str) -> Iterator[Piece]:
        match local(element):
            case "p" | "h":
                yield from self._paragraph(element)
            case "list":
                yield from self._list(element, depth, style)
            case "table":
                rows = [row for row in element.iter(f"{_TABLE}table-row") if _owner(row) is element]
                outer, self._below = self._below, {}
                yield Piece("table", rows=[line for row in rows for line in self._row(row)])
                self._below = outer
            case "title" | "desc" if words := alternative(element.text or ""):
                yield Piece("paragraph", words)
            case "control":
                yield Piece(
                    "paragraph", self._controls.get(attribute(element, "control") or "", "")
                )
            case name if name not in _NOT_SHOWN and not name.endswith(_INDEXES):
                yield from self._pieces(element, depth, style)

    def _paragraph(self, element: Any) -> Iterator[Piece]:
        style = attribute(element, "style-name")
        role = self._styles.role(style)
        outer, self._boxes = self._boxes, []
        text = "".join(self._inline(element, fixed=role == "code"))
        boxes, self._boxes = self._boxes, outer
        text = struck(text) if self._styles.strikes(style) else text
        self.omitted["hidden text"] += self._styles.hides(style) and bool(text.strip())
        if role != "contents" and not self._styles.hides(style):
            yield from self._pieces_of(element, text, role)
        for box in boxes:
            yield from self._pieces(box)

    def _pieces_of(self, element: Any, text: str, role: str) -> Iterator[Piece]:
        if role == "code":
            yield Piece("code", text)
        elif role == "title":
            self.title = self.title or one_line(text)
            yield Piece("heading", text, 1)
        elif local(element) == "h":
            self.first_heading = self.first_heading or one_line(text)
            yield Piece("heading", text, whole(attribute(element, "outline-level"), 1))
        elif text.strip():
            yield Piece("paragraph", text)

    def _list(self, element: Any, depth: int, style: str) -> Iterator[Piece]:
        style = attribute(element, "style-name") or style
        key = f"{style} {depth}"
        goes_on = attribute(element, "continue-numbering") == "true"
        count = self._counts.get(key, 0) if goes_on else 0
        count = count or self._styles.start(style, depth) - 1
        for item in element:
            if local(item) not in ("list-item", "list-header"):
                continue
            count = whole(attribute(item, "start-value"), count + 1)
            label = self._styles.label(style, depth, count) if local(item) == "list-item" else ""
            is_first = local(item) == "list-item"
            for piece in self._pieces(item, depth + 1, style):
                if piece.kind == "paragraph":
                    yield labelled_item(piece.text, depth, label) if is_first else piece
                    is_first = False
                else:
                    yield piece
        self._counts[key] = count

    def _inline(self, element: Any, *, fixed: bool) -> Iterator[str]:
        yield element.text or ""
        for child in element:
            name = local(child)
            if name in _COUNTED:
                self.omitted[_COUNTED[name]] += 1
            if name and name not in _NOT_SHOWN:
                yield from self._inside(child, name, fixed=fixed)
            yield child.tail or ""

    def _inside(self, child: Any, name: str, *, fixed: bool) -> Iterator[str]:
        match name:
            case "s":
                yield " " * min(whole(attribute(child, "c"), 1), _MOST_SPACES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "note":
                yield self._mark(child)
            case "text-box":
                self._boxes.append(child)
            case "span":
                style = attribute(child, "style-name")
                if not self._styles.hides(style):
                    words = "".join(self._inline(child, fixed=fixed))
                    is_code = self._styles.role(style) == "code" and not fixed
                    words = code(words) if is_code else words
                    yield struck(words) if self._styles.strikes(style) else words
                else:
                    self.omitted["hidden text"] += 1
            case "title" | "desc" if not child.tag.startswith(_TEXT):  # of a picture
                yield f" {alternative(child.text or '')} "
            case "a":
                label = "".join(self._inline(child, fixed=fixed))
                yield with_address(label, attribute(child, "href") or "")
            case "control":
                yield self._controls.get(attribute(child, "control") or "", "")
            case "content-control" if attribute(child, "checkbox") == "true":
                yield CHECKED if attribute(child, "checked") == "true" else UNCHECKED
            case "fieldmark" if (attribute(child, "type") or "").endswith("FORMCHECKBOX"):
                values = {attribute(each, "name"): attribute(each, "value") for each in child}
                is_checked = values.get("Checkbox_Checked") in ("true", "1")
                yield CHECKED if is_checked else UNCHECKED
            case _:
                yield from self._inline(child, fixed=fixed)

    def _learn_control(self, element: Any) -> None:
        state = attribute(element, "current-state") or attribute(element, "current-selected")
        sign = CHECKED if state in ("checked", "true") else UNCHECKED
        label = attribute(element, "label") or ""
        self._controls[attribute(element, "id") or ""] = f"{sign} {label}".rstrip()

    def _mark(self, note: Any) -> str:
        body = note.find(f"{_TEXT}note-body")
        return "" if body is None else self._writer.mark(list(self._pieces(body)))

    # ------------------------------------------------------------ tables

    def _end_table(self) -> None:
        self._writer.end_table()
        self._below.clear()

    def _row(self, row: Any) -> list[list[Cell]]:
        """The cells of a row, as many times as it is repeated."""
        cells: list[Cell] = []
        column = 0
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            repeated = min(whole(attribute(cell, "number-columns-repeated"), 1), MOST_SPANNED)
            spans = min(whole(attribute(cell, "number-rows-spanned"), 1), MOST_SPANNED)
            covered = local(cell) == "covered-table-cell"
            for _ in range(repeated):
                goes_on = covered and self._below.get(column, 0) > 0
                self._below[column] = self._below.get(column, 0) - 1 if goes_on else spans - 1
                cells.append(Cell([] if covered else list(self._pieces(cell)), goes_on=goes_on))
                column += 1
        times = whole(attribute(row, "number-rows-repeated"), 1)
        return [cells] * min(times, MOST_SPANNED if any(c.pieces for c in cells) else 1)

    # ------------------------------------------------------------ sheets

    def _sheet_row(self, row: Any, table: Any) -> None:
        if self._styles.hides(attribute(table, "style-name")):
            return
        if self._sheet is None:
            self._sheet = GridWriter(self.blocks)
            self.blocks.heading(2, f"Sheet {attribute(table, 'name') or ''}")
        cells: list[str] = []
        merged: dict[int, tuple[int, int]] = {}
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            width = whole(attribute(cell, "number-columns-spanned"), 1)
            height = whole(attribute(cell, "number-rows-spanned"), 1)
            if max(width, height) > 1:
                merged[len(cells)] = width, height
            words = one_line(" ".join(piece.words() for piece in self._pieces(cell)))
            if self._styles.strikes(attribute(cell, "style-name")):
                words = struck(words)
            times = whole(attribute(cell, "number-columns-repeated"), 1)
            cells += [words] * min(times, _MOST_REPEATED)
        hidden = {at for at, is_hidden in enumerate(self._hidden_columns) if is_hidden}
        self._columns_left |= {at for at in hidden if at < len(cells) and cells[at]}
        cells = [each for at, each in enumerate(cells) if at not in hidden]
        filled = any(cells)
        times = min(whole(attribute(row, "number-rows-repeated"), 1), _MOST_REPEATED)
        is_hidden = attribute(row, "visibility") in _COLLAPSED
        self.omitted["hidden row"] += times * (is_hidden and filled)
        put = self._sheet.leave_out if is_hidden else self._sheet.add
        for _ in range(times if filled else 1):
            self._cells += len(cells) + 1
            put(cells, without(hidden, merged))
            if self.blocks.full:
                break
        self._writer.notes.clear()

    def _end_sheet(self, table: Any) -> None:
        if self._styles.hides(attribute(table, "style-name")):
            self.omitted["hidden sheet"] += 1
        else:
            self.omitted["hidden column"] += len(self._columns_left)
        self._hidden_columns.clear()
        self._columns_left.clear()

    # ------------------------------------------------------------ slides

    def _slide(self, page: Any) -> None:
        self._slides += 1
        if self._styles.hides(attribute(page, "style-name")):
            self.omitted["hidden slide"] += 1
            return
        self.blocks.heading(2, f"Slide {self._slides}")
        shapes = [child for child in page if local(child) != "notes"]
        for shape in sorted(shapes, key=lambda each: attribute(each, "class") != "title"):
            match attribute(shape, "class"):
                case "title":
                    words = one_line(" ".join(piece.words() for piece in self._pieces(shape)))
                    self.first_heading = self.first_heading or words
                    self.blocks.heading(3, words)
                case "page-number" | "footer" | "header" | "date-time":
                    pass
                case _:
                    self._writer.put_all(self._block(shape, 0, ""))
                    self._writer.flush()
        for notes in page.iterchildren("{*}notes"):
            said = list(self._pieces(notes))
            if any(piece.words().strip() for piece in said):
                self.blocks.heading(3, "Notes")
                self._writer.put_all(said)
                self._writer.flush()
        self._writer.end_notes()


def _owner(row: Any) -> Any:
    parent = outside(row, _IN_TABLE)
    return parent if parent is not None and local(parent) == "table" else None
