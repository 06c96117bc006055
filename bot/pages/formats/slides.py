"""Converts PowerPoint presentations (.pptx) to page text: a heading per slide ("## Slide 3").

Placeholders for dates, footers and slide numbers are left out; they are not content. So are hidden
slides and comments, which are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from bot.core.texts import said
from bot.pages.formats.packages import (
    Package,
    attribute,
    core_title,
    local,
    main_part,
    open_package,
    whole,
)
from bot.pages.formats.pieces import (
    FIXED_WIDTH,
    Cell,
    Piece,
    PieceWriter,
    chart,
    formatted,
    signs,
)
from bot.pages.page import Reading
from bot.pages.page_markdown import (
    Blocks,
    alternative,
    code,
    is_code,
    one_line,
    struck,
    with_address,
    without_marks,
)

_TITLES = frozenset({"title", "ctrTitle"})
_OF_THE_PAPER = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
_STRIKES = ("sngStrike", "dblStrike")
_LISTED = frozenset({"body", "obj", "half", "tbl", ""})  # whose paragraphs have bullets
_FORMS = {"arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter"}
_FORMS |= {"romanLc": "lowerRoman", "romanUc": "upperRoman"}


def read_slides(data: bytes, name: str) -> Reading:
    """Read a presentation; ``name`` is its name in errors.

    Raises ``PageUnreadable`` for one that is damaged, locked or too large.
    """
    with open_package(data, name, said("what-slides")) as package:
        slides = list(_slides(package))
        blocks = Blocks()
        omitted = Counter[str]()
        first = ""
        done = 0
        for part in slides:
            if blocks.full:
                blocks.heading(2, f"Slides {done + 1} to {len(slides)} were not read")
                break
            done += 1
            slide = _Slide(package, part, blocks)
            if slide.is_hidden:
                omitted["hidden slide"] += 1
                continue
            title = slide.write(done)
            omitted.update(slide.omitted)
            first = first or title
        kept = done / len(slides) if slides else 1.0
        return Reading(core_title(package) or first, blocks.text(), kept, omitted=omitted)


def _slides(package: Package) -> Iterator[str]:
    main = main_part(package, "ppt/presentation.xml")
    related = package.relationships(main)
    root = package.tree(main)
    for each in () if root is None else root.iterfind("{*}sldIdLst/{*}sldId"):
        # the slide's own id has the same name without a namespace
        key = next((v for k, v in each.attrib.items() if k.endswith("}id")), "")
        if key in related:
            package.check_present(related[key].target)
            yield related[key].target


class _Slide:
    def __init__(self, package: Package, part: str, blocks: Blocks) -> None:
        self._package = package
        self._related = package.relationships(part)
        self._root = package.tree(part)
        self._blocks = blocks
        self.is_hidden = self._root is not None and self._root.get("show") in ("0", "false")
        parts = [each.target for each in self._related.values() if each.kind == "comments"]
        trees = (package.tree(each) for each in parts)
        self.omitted = Counter(comment=sum(len(tree) for tree in trees if tree is not None))

    def write(self, number: int) -> str:
        """Add the slide to the blocks; return its title."""
        self._blocks.heading(2, f"Slide {number}")
        shapes = list(_shapes(self._root.find("{*}cSld/{*}spTree")))
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        words = " ".join(self._text(each) for shape in titles for each in shape.iter("{*}p"))
        title = one_line(without_marks(words))
        self._blocks.heading(3, title)
        for shape in shapes:
            if shape not in titles:
                self._shape(shape)
        self._notes(below=3 if title else 2)
        return title

    def _shape(self, shape: Any) -> None:
        kind = _placeholder(shape)
        if kind in _OF_THE_PAPER:
            return
        name = shape.find("./*/{*}cNvPr")
        if name is not None and name.get("hidden") in ("1", "true"):
            self.omitted["hidden text"] += bool("".join(shape.itertext()).strip())
            return
        if local(shape) in ("pic", "graphicFrame") and name is not None:
            self._blocks.paragraph(alternative(name.get("descr") or ""))
        if local(shape) != "graphicFrame":
            body = shape.find("{*}txBody")
            self._paragraphs(body, listed=kind is not None and kind in _LISTED)
            return
        for table in shape.iterfind("{*}graphic/{*}graphicData/{*}tbl"):
            self._table(table)
        for each in shape.iterfind("{*}graphic/{*}graphicData/{*}chart"):
            found = self._related.get(attribute(each, "id") or "")
            root = None if found is None else self._package.tree(found.target)
            if root is not None:
                self._put(chart(root))
        for diagram in shape.iterfind("{*}graphic/{*}graphicData/{*}relIds"):
            self._diagram(attribute(diagram, "dm") or "")

    def _paragraphs(self, body: Any, *, listed: bool) -> None:
        paragraphs = [] if body is None else list(body.iterchildren("{*}p"))
        listed = listed and sum(bool(self._text(each).strip()) for each in paragraphs) > 1
        counts: dict[int, int] = {}
        writer = PieceWriter(self._blocks)
        for paragraph in paragraphs:
            text = self._text(paragraph)
            if not text.strip():
                continue
            properties = paragraph.find("{*}pPr")
            depth = 0 if properties is None else whole(properties.get("lvl"), 0)
            counts = {level: count for level, count in counts.items() if level <= depth}
            marker = _marker(properties, listed=listed, counts=counts, depth=depth)
            if is_code(text):
                writer.put(Piece("code", text))
            elif marker:
                writer.put(Piece("item", text, depth, marker))
            else:
                writer.put(Piece("paragraph", text))
        writer.flush()

    def _table(self, table: Any) -> None:
        rows = [
            [
                Cell(
                    [Piece("paragraph", self._text(each)) for each in cell.iter("{*}p")],
                    whole(cell.get("gridSpan"), 1),
                    goes_on=cell.get("vMerge") in ("1", "true"),
                )
                for cell in row.iterchildren("{*}tc")
                if cell.get("hMerge") not in ("1", "true")
            ]
            for row in table.iterchildren("{*}tr")
        ]
        self._put([Piece("table", rows=rows)])

    def _put(self, pieces: Iterable[Piece]) -> None:
        writer = PieceWriter(self._blocks)
        writer.put_all(pieces)
        writer.flush()

    def _text(self, paragraph: Any) -> str:
        words = []
        for child in paragraph:
            match local(child):
                case "r" | "fld":
                    words.append(self._run(child))
                case "br":
                    words.append("\n")
                case "m" | "oMath" | "oMathPara" | "AlternateContent":
                    words += [each.text or "" for each in child.iter("{*}t")]
        return "".join(words).replace("\v", "\n")

    def _run(self, run: Any) -> str:
        text = run.findtext("{*}t") or ""
        properties = run.find("{*}rPr")
        if properties is None:
            return text
        faces = [properties.find(f"{{*}}{name}") for name in ("latin", "sym")]
        fonts = [(face.get("typeface") or "") for face in faces if face is not None]
        for font in fonts:
            text = signs(text, font)
        link = properties.find("{*}hlinkClick")
        found = None if link is None else self._related.get(attribute(link, "id") or "")
        if found is not None and found.kind == "external":
            text = with_address(text, found.target)
        if fonts and FIXED_WIDTH.search(fonts[0]):
            text = code(text)
        return struck(text) if properties.get("strike") in _STRIKES else text

    def _diagram(self, key: str) -> None:
        """Write the texts of a SmartArt drawing, which are in a separate part."""
        found = self._related.get(key)
        root = None if found is None else self._package.tree(found.target)
        for point in () if root is None else root.iterfind("{*}ptLst/{*}pt"):
            for paragraph in point.iterfind("{*}t/{*}p"):
                self._blocks.item(0, "-", self._text(paragraph))

    def _notes(self, below: int) -> None:
        part = next((r.target for r in self._related.values() if r.kind == "notesSlide"), "")
        root = self._package.tree(part) if part else None
        bodies = [] if root is None else list(_shapes(root.find("{*}cSld/{*}spTree")))
        texts = [
            self._text(paragraph)
            for shape in bodies
            if _placeholder(shape) == "body"
            for paragraph in shape.iterfind("{*}txBody/{*}p")
        ]
        if any(text.strip() for text in texts):
            self._blocks.heading(below + 1, "Notes")
        for text in texts:
            self._blocks.paragraph(text)


def _shapes(tree: Any) -> Iterator[Any]:
    """The shapes of a slide in order, including those in groups."""
    for child in () if tree is None else tree:
        match local(child):
            case "sp" | "graphicFrame" | "cxnSp" | "pic":
                yield child
            case "grpSp":
                yield from _shapes(child)
            case "AlternateContent":
                choice = child.find("{*}Choice")
                yield from _shapes(choice)


def _placeholder(shape: Any) -> str | None:
    """The kind of placeholder that a shape fills, "" for the default one; None for other shapes."""
    found = shape.find("./*/{*}nvPr/{*}ph")
    return None if found is None else found.get("type", "")


def _marker(properties: Any, *, listed: bool, counts: dict[int, int], depth: int) -> str:
    """The marker before a paragraph: "-", a number, or nothing. Updates ``counts``."""
    if properties is not None:
        numbered = properties.find("{*}buAutoNum")
        if numbered is not None:
            start = whole(numbered.get("startAt"), 1)
            counts[depth] = counts[depth] + 1 if depth in counts else start
            return _number(counts[depth], numbered.get("type") or "")
        if properties.find("{*}buNone") is not None:
            return ""
        if properties.find("{*}buChar") is not None or properties.find("{*}buBlip") is not None:
            return "-"
    return "-" if listed else ""


def _number(count: int, form: str) -> str:
    """A number in a form like "alphaLcParenR" (ECMA-376, part 1, section 20.1.10.61)."""
    known = next((shown for name, shown in _FORMS.items() if form.startswith(name)), "decimal")
    figure = formatted(count, known)
    if known != "decimal":
        return f"- {figure}." if form.endswith("Period") else f"- {figure})"
    return f"{figure})" if "Paren" in form else f"{figure}."
