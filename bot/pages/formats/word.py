"""Converts Word documents (.docx) to page text, with the numbers that Word shows before paragraphs.

The document is parsed as a stream, so that a long one takes little more memory than its text.
(mammoth, which converts such documents to HTML, takes forty times the size of the XML and leaves
out the numbers of headings and lists.) Deliberately left out: deleted and hidden text, comments,
which are counted, and tables of contents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bot.core.texts import said
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
    whole,
)
from bot.pages.formats.pieces import (
    FIXED_WIDTH,
    Cell,
    Piece,
    PieceWriter,
    chart,
    formatted,
    labelled_item,
    signs,
    write_running,
)
from bot.pages.page import Reading
from bot.pages.page_markdown import (
    CHECKED,
    UNCHECKED,
    Blocks,
    alternative,
    code,
    is_code,
    one_line,
    struck,
    with_address,
)

# ---------------------------------------------------------------- numbers


LEVELS = 9  # per list, counted from 0

_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """The numbering of one list level: ``form`` as in ``w:numFmt``, ``text`` with placeholders like
    "%1.%2", ``style`` the paragraph style that it numbers, or ""."""

    form: str
    text: str
    start: int
    style: str = ""
    decimal: bool = False  # write the numbers of outer levels in digits


@dataclass(slots=True)
class _List:
    """A list of paragraphs; lists with the same abstract definition share their counts."""

    abstract: str
    levels: dict[int, Level]
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Keeps the counts of all lists while a document's paragraphs are read in order."""

    def __init__(self, root: Any) -> None:
        """``root`` is the root element of numbering.xml, or None."""
        self._lists: dict[str, _List] = {} if root is None else _lists(root)
        self._counts: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()

    def level_of_style(self, number: str, style: str) -> int:
        """The level of a list that a paragraph style is assigned to; 0 if there is none."""
        found = self._lists.get(number)
        levels = {} if found is None else found.levels
        return next((i for i, level in levels.items() if style and level.style == style), 0)

    def label(self, number: str, depth: int) -> str | None:
        """The label of the next paragraph of a list: its number as shown, like "2.1", the sign of a
        box, or "" for another bullet; None if there is no such list or level."""
        found = self._lists.get(number)
        level = None if found is None else found.levels.get(depth)
        if found is None or level is None or (level.form == "none" and not level.text):
            return None
        self._count(number, found, depth)
        if level.form == "bullet":
            return level.text if level.text in (CHECKED, UNCHECKED) else ""
        return self._written(found, level).strip()

    def _count(self, number: str, counted: _List, depth: int) -> None:
        counts = self._counts.setdefault(counted.abstract, [None] * LEVELS)
        last = counts[depth]
        if depth in counted.starts and (number, depth) not in self._started:
            self._started.add((number, depth))
            counts[depth] = counted.starts[depth]
        else:
            counts[depth] = counted.levels[depth].start if last is None else last + 1
        counts[depth + 1 :] = [None] * (LEVELS - depth - 1)

    def _written(self, counted: _List, level: Level) -> str:
        counts = self._counts[counted.abstract]

        def place(match: re.Match[str]) -> str:
            depth = int(match[1]) - 1
            shown = counted.levels.get(depth)
            count = counts[depth]
            if count is None:
                count = shown.start if shown else 1
            return formatted(count, "decimal" if level.decimal or shown is None else shown.form)

        return _PLACE.sub(place, level.text)


# ---------------------------------------------------------------- numbering.xml


def _lists(root: Any) -> dict[str, _List]:
    abstract = {
        attribute(each, "abstractNumId") or "": dict(map(_level, each.iterchildren("{*}lvl")))
        for each in root.iterchildren("{*}abstractNum")
    }
    found = {}
    for each in root.iterchildren("{*}num"):
        link = value(each, "abstractNumId")
        levels, starts = dict(abstract.get(link, {})), {}
        for override in each.iterchildren("{*}lvlOverride"):
            depth = whole(attribute(override, "ilvl"), 0)
            if start := value(override, "startOverride"):
                starts[depth] = whole(start, 1)
            levels.update(map(_level, override.iterchildren("{*}lvl")))
        found[attribute(each, "numId") or ""] = _List(link, levels, starts)
    return found


def _level(element: Any) -> tuple[int, Level]:
    form, text = value(element, "numFmt") or "decimal", value(element, "lvlText")
    if form == "bullet":
        text = signs(text, _font(element.find("{*}rPr")))
    return min(whole(attribute(element, "ilvl"), 0), LEVELS - 1), Level(
        form=form,
        text=text,
        start=whole(value(element, "start"), 0),
        style=value(element, "pStyle"),
        decimal=is_on(element, "isLgl"),
    )


# ---------------------------------------------------------------- styles


_HEADING = re.compile(r"heading ([1-9])")
_CODE = re.compile(
    r"(?:html )?(?:preformatted(?: text)?|code|code block|source code|verbatim(?: char)?|macro text"
    r"|html (?:code|preformatted|typewriter|keyboard|sample)|source text|inline code)"
)
_LONGEST_CHAIN = 20  # styles based on each other; a cycle would not end


@dataclass(frozen=True, slots=True)
class Style:
    """The properties that a style gives to its text.

    ``role`` is "title", "contents" (a line of a table of contents), "code" or "". ``level`` is that
    of a heading, from 1, or 0. ``list`` and ``depth`` identify the list that numbers it, or are
    None. ``hidden`` text is not shown, ``struck`` text is crossed out.
    """

    role: str = ""
    level: int = 0
    list: str | None = None
    depth: int | None = None
    hidden: bool = False
    struck: bool = False


PLAIN = Style()


class Styles:
    """The styles of a document by id."""

    def __init__(self, root: Any) -> None:
        """``root`` is the root element of styles.xml, or None."""
        elements = () if root is None else root.iterchildren("{*}style")
        self._elements = {attribute(each, "styleId") or "": each for each in elements}
        self._resolved: dict[str, Style] = {}

    def get(self, style_id: str | None) -> Style:
        if not style_id:
            return PLAIN
        if style_id not in self._resolved:
            self._resolved[style_id] = self._resolve(style_id)
        return self._resolved[style_id]

    def _resolve(self, style_id: str) -> Style:
        chain: list[Any] = []
        element = self._elements.get(style_id)
        while element is not None and element not in chain and len(chain) < _LONGEST_CHAIN:
            chain.append(element)
            element = self._elements.get(value(element, "basedOn"))
        style = PLAIN
        for each in reversed(chain):
            style = _refined(style, each)
        return style


def _refined(style: Style, element: Any) -> Style:
    """Apply a style's own properties to the style that it is based on."""
    name = value(element, "name").casefold()
    if name == "title":
        style = replace(style, role="title", level=1)
    elif name.startswith("toc ") and name != "toc heading":
        style = replace(style, role="contents", level=0)
    elif _CODE.fullmatch(name):
        style = replace(style, role="code")
    if match := _HEADING.fullmatch(name):
        style = replace(style, level=int(match[1]), role="")
    for run in element.iterchildren("{*}rPr"):
        style = with_run(style, run)
        if is_fixed_width(run) and not style.level:
            style = replace(style, role="code")
    for paragraph in element.iterchildren("{*}pPr"):
        style = with_paragraph(style, paragraph)
    return style


def with_paragraph(style: Style, properties: Any) -> Style:
    """Apply the properties in ``w:pPr`` to a style."""
    if outline := value(properties, "outlineLvl"):
        level = whole(outline, 9) + 1
        style = replace(style, level=level if level <= 9 else 0)
    numbered = properties.find("{*}numPr")
    if numbered is not None:
        if number := value(numbered, "numId"):
            style = replace(style, list=number)
        if depth := value(numbered, "ilvl"):
            style = replace(style, depth=whole(depth, 0))
    return style


def with_run(style: Style, properties: Any) -> Style:
    """Apply the properties in ``w:rPr`` that hide or strike out text to a style."""
    return replace(
        style,
        hidden=is_on(properties, "vanish", style.hidden),
        struck=is_on(properties, "strike", style.struck) or is_on(properties, "dstrike"),
    )


def is_fixed_width(properties: Any) -> bool:
    """True if ``w:rPr`` sets its text in a monospaced font."""
    return bool(FIXED_WIDTH.search(_font(properties)))


def _font(properties: Any) -> str:
    fonts = None if properties is None else properties.find("{*}rFonts")
    return "" if fonts is None else attribute(fonts, "ascii") or ""


# ---------------------------------------------------------------- the document


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


def read_word(data: bytes, name: str) -> Reading:
    """Read a Word document; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with open_package(data, name, said("what-word")) as package:
        reader = _Reader(package)
        kept = reader.read()
        title = reader.title or core_title(package) or reader.first_heading
        return Reading(title, reader.blocks.text(), kept, omitted=reader.omitted)


class _Reader:
    def __init__(self, package: Package) -> None:
        self.blocks = Blocks()
        self.title = ""
        self.first_heading = ""
        self._package = package
        self._main = main_part(package, "word/document.xml")
        self._targets = package.relationships(self._main)
        self._related = list(self._targets.values())
        self._styles = Styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"))
        self._notes = {}
        for mark in ("footnote", "endnote"):
            notes = self._part(f"{mark}s")
            self._notes[mark] = {
                attribute(note, "id"): note for note in ([] if notes is None else notes)
            }
        comments = self._part("comments")
        self.omitted = Counter(comment=0 if comments is None else len(comments))
        self._boxes: list[Any] = []  # text boxes and charts anchored in the paragraph
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
        write_running(self.blocks, self._running())
        return 1.0

    def _part(self, kind: str) -> Any:
        target = next((each.target for each in self._related if each.kind == kind), None)
        return self._package.tree(target) if target else None

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
        properties = element.find("{*}pPr")
        style = PLAIN
        if properties is not None:
            style = with_paragraph(self._styles.get(value(properties, "pStyle")), properties)
        style_id = "" if properties is None else value(properties, "pStyle")
        outer, self._boxes = self._boxes, []
        text = _box_around(element) or "".join(self._inline(element, style))
        boxes, self._boxes = self._boxes, outer
        self.omitted["hidden text"] += style.hidden and bool(text.strip())
        if style.role != "contents" and not style.hidden:
            piece = self._piece(text, style, style_id)
            if piece is not None:
                yield piece
        for box in boxes:
            yield from chart(box) if local(box) == "chartSpace" else self._pieces(box)

    def _piece(self, text: str, style: Style, style_id: str) -> Piece | None:
        if style.role == "code" or is_code(text):
            return Piece("code", text)
        if not text.strip():
            return None
        if style.role == "title" and not self.title:
            self.title = one_line(text)
        label, depth = None, style.depth
        if style.list is not None:
            if depth is None:
                depth = self._numbering.level_of_style(style.list, style_id)
            depth = min(depth, LEVELS - 1)
            label = self._numbering.label(style.list, depth)
        if style.level:
            self.first_heading = self.first_heading or one_line(text)
            return Piece("heading", f"{label} {text}" if label else text, style.level)
        if label is None:
            return Piece("paragraph", text)
        return labelled_item(text, depth or 0, label)

    def _inline(self, element: Any, style: Style) -> Iterator[str]:
        """The text in an element of a paragraph of a style."""
        for child in element:
            name = local(child)
            self.omitted["deletion"] += name == "del" and bool("".join(child.itertext()).strip())
            if name == "docPr" and (words := alternative(child.get("descr") or "")):
                yield f" {words} "
            if not name or name in _NOT_SHOWN:
                continue
            if name == "t":
                yield child.text or ""
            elif name in _BREAKS:
                yield _BREAKS[name]
            elif name == "r":
                yield self._run(child, style)
            elif name in ("sdt", "checkBox") and (sign := _box(child)):
                yield sign
            elif name == "ddList":
                yield _chosen(child)
            elif name == "hyperlink":
                target = self._targets.get(attribute(child, "id") or "")
                label = "".join(self._inline(child, style))
                yield with_address(label, target.target) if target else label
            elif name == "chart":
                self._open_chart(attribute(child, "id") or "")
            elif name == "sym":
                yield _symbol(child)
            elif name in ("footnoteReference", "endnoteReference"):
                yield self._mark(name.removesuffix("Reference"), attribute(child, "id"))
            elif name == "txbxContent":
                self._boxes.append(child)
            elif name == "AlternateContent":
                choice = child.find("{*}Choice")
                yield from self._inline(child if choice is None else choice, style)
            else:
                yield from self._inline(child, style)

    def _run(self, run: Any, around: Style) -> str:
        properties = run.find("{*}rPr")
        words = "".join(self._inline(run, around))
        if properties is None:
            return struck(words) if around.struck else words
        style = self._styles.get(value(properties, "rStyle"))
        style = with_run(replace(style, struck=style.struck or around.struck), properties)
        if style.hidden:
            self.omitted["hidden text"] += bool(words.strip())
            return ""
        words = signs(words, _font(properties))
        is_code = style.role == "code" or is_fixed_width(properties)
        words = code(words) if is_code and around.role != "code" else words
        return struck(words) if style.struck else words

    def _open_chart(self, key: str) -> None:
        found = self._targets.get(key)
        root = None if found is None else self._package.tree(found.target)
        if root is not None:
            self._boxes.append(root)

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

    def _running(self) -> Iterator[Piece]:
        """The page headers and footers."""
        for each in self._related:
            if each.kind in ("header", "footer") and each.target in self._package:
                yield from self._pieces(self._package.tree(each.target))


def _place(element: Any) -> str:
    """The kind of an element of the document itself; "" inside a table or a text box."""
    name = local(element)
    owner = _table(element) if name == "tr" else element
    if owner is None or outside(owner, _AROUND) is not None:
        return ""
    return {"p": "paragraph", "tr": "row", "tbl": "table"}[name]


def _table(row: Any) -> Any:
    parent = outside(row, _AROUND)
    return parent if parent is not None and local(parent) == "tbl" else None


def _through(parent: Any, name: str) -> Iterator[Any]:
    """The children with a name, including those inside content controls."""
    for child in parent:
        if local(child) == name:
            yield child
        elif local(child) in _AROUND:
            yield from _through(child, name)


def _box(element: Any) -> str:
    """The sign of a tick box: a content control, or a form field of old; "" for any other."""
    if local(element) == "sdt":
        found = element.find("{*}sdtPr/{*}checkbox")
        return "" if found is None else CHECKED if is_on(found, "checked") else UNCHECKED
    return CHECKED if is_on(element, "checked", is_on(element, "default")) else UNCHECKED


def _chosen(field: Any) -> str:
    """The entry chosen in a drop-down form field of old: the default, or the first one."""
    entries = [attribute(each, "val") or "" for each in field.findall("{*}listEntry")]
    number = value(field, "result") or value(field, "default") or "0"
    return entries[int(number)] if number.isdecimal() and int(number) < len(entries) else ""


def _box_around(paragraph: Any) -> str:
    """The sign of a tick box whose content control holds a whole paragraph or its cell."""
    for each in (paragraph.getparent(), outside(paragraph, frozenset({"tc"}))):
        if each is not None and local(each) == "sdtContent":
            return _box(each.getparent())
    return ""


def _symbol(element: Any) -> str:
    code = attribute(element, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if sign := signs(chr(number & 0xFFFF), attribute(element, "font") or ""):
        return sign if ord(sign) not in _PRIVATE else ""
    return "" if number in _PRIVATE or not 0x20 <= number <= 0x10FFFF else chr(number)
