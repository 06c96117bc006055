"""A second reading of a document: all its words, without the rules of the reader that it checks.

It knows no layout, so that it cannot lose words in the way that a reader can. Words that a reader
leaves out by rule, like navigation, running headers and what is hidden, do not count. Packages,
PDF, HTML (also from pandoc) and CSV have one, and so have attachments of mail. Plain text,
Markdown, code, notebooks and transcripts need none: their page text is their source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from bot.core.texts import said
from bot.pages.formats.packages import Package, attribute, local, open_package, value
from bot.pages.page import LOST_NOTE, LOST_WORD
from bot.text.patterns import listed

_TEXT = re.compile(r"(?:word/(?:document|(?P<notes>(?:foot|end)notes))|content)\.xml")
_CHAPTER = "//body//text()[not(ancestor::nav or ancestor::script or ancestor::style)]"
# copies, deletions, comments, page numbers, phonetic guides, codes
_ASIDE = listed("Fallback del moveFrom fld annotation tracked-changes rPh instrText page-number")
_BREAKS = listed("br cr tab s line-break")
_TAGS = tuple(f"{{*}}{name}" for name in ("p", "h", "si", "style", "fldSimple", *_ASIDE))
_UNSEEN = listed("head script style noscript template nav header footer aside button select svg")
_HIDDEN = listed("none 0 false hidden veryHidden collapse filter")


def of_package(data: bytes, name: str) -> Iterator[tuple[str, str]]:
    """The texts of a package, and what to call lost words of each; ``name`` is that in errors."""
    with open_package(data, name, said("what-document")) as package:
        running = []
        for part in package.names():
            if part == "xl/workbook.xml":
                yield LOST_WORD, "\n".join(_cells(package))
            elif part.endswith(("html", "htm")) and "META-INF/container.xml" in package:
                page = etree.fromstring(package.read(part), etree.HTMLParser(encoding="utf-8"))
                yield LOST_WORD, " ".join(page.xpath(_CHAPTER))
            elif text := _TEXT.fullmatch(part):
                what = LOST_NOTE if text["notes"] else LOST_WORD
                yield what, "\n".join(_paragraphs(package, part))
            elif part.startswith(("word/header", "word/footer")) or (
                part == "styles.xml" and b".text" in package.read("mimetype")
            ):
                running += [each.strip() for each in _paragraphs(package, part)]
            elif part.startswith("ppt/slides/s") and package.tree(part).get("show") not in _HIDDEN:
                yield LOST_WORD, "\n".join(_paragraphs(package, part))
                for each in package.relationships(part).values():
                    if each.kind == "notesSlide":
                        yield LOST_NOTE, "\n".join(_paragraphs(package, each.target))
        if running:
            yield LOST_WORD, "\n".join(dict.fromkeys(running))


def _paragraphs(package: Package, part: str) -> Iterator[str]:
    """The text of each paragraph; of those of OpenDocument, that are not hidden."""
    hidden: set[str | None] = set()  # styles
    numbered = None  # a paragraph with the number of a page: a running line, or one of contents
    for element in package.elements(part, _TAGS) if part in package else ():
        name = local(element)
        if name == "style":
            shown = (attribute(each, key) for each in element for key in ("display", "visibility"))
            hidden |= set() if _HIDDEN.isdisjoint(shown) else {attribute(element, "name")}
        elif name in ("p", "h", "si"):
            around = [element, *element.iterancestors()]
            if element is not numbered and not any(_is_aside(each, hidden) for each in around):
                yield "".join(map(_text_of, element.iter()))
            package.forget(element)
        elif name == "page-number" or "PAGE" in f"{element.text} {attribute(element, 'instr')}":
            numbered = next(element.iterancestors("{*}p"), None)
        if name in _ASIDE:
            element.clear(keep_tail=True)


def _is_aside(element: Any, hidden: set[str | None]) -> bool:
    """True if an element is hidden, no text of the document, or lists what is in the text."""
    if local(element) in _ASIDE or local(element).endswith(("-index", "table-of-content")):
        return True
    styled = bool(hidden) and attribute(element, "style-name") in hidden
    return styled or attribute(element, "visibility") in _HIDDEN


def _text_of(element: Any) -> str:
    """The element's own text, and what follows it if it is one of OpenDocument."""
    name = local(element)
    if name in _BREAKS:
        return f" {element.tail or ''}"
    if name == "ddList":  # a drop-down form field of Word, with the number of what is chosen
        chosen = value(element, "result") or value(element, "default") or "0"
        return "".join(element.xpath("*[local-name()='listEntry'][$n + 1]/@*", n=int(chosen)))
    if ":opendocument:" in str(element.tag):
        return f"{element.text or ''}{element.tail or ''}"
    return element.text or "" if name == "t" else ""


def _cells(package: Package) -> Iterator[str]:
    """The texts in visible rows of visible sheets, and the numbers that no format changes."""
    styles = package.tree("xl/styles.xml")
    formats = [] if styles is None else styles.findall("{*}cellXfs/{*}xf")
    plain = {n for n, each in enumerate(formats) if each.get("numFmtId", "0") == "0"} or {0}
    texts = {str(n): text for n, text in enumerate(_paragraphs(package, "xl/sharedStrings.xml"))}
    parts = package.relationships("xl/workbook.xml")
    for sheet in package.tree("xl/workbook.xml").iterfind("{*}sheets/{*}sheet"):
        part = parts.get(attribute(sheet, "id") or "")
        if part is None or sheet.get("state") in _HIDDEN:
            continue
        for row in package.elements(part.target, ("{*}row",)):
            for cell in () if row.get("hidden") in ("1", "true") else row.iterchildren("{*}c"):
                kind, said = cell.get("t", "n"), cell.findtext("{*}v") or ""
                if kind == "n" and said and int(cell.get("s", "0")) in plain:
                    yield said if said.isdecimal() else f"{float(said):.15g}"
                elif kind in ("s", "str", "inlineStr"):
                    inside = said or "".join(cell.itertext("{*}t"))
                    yield texts.get(said, "") if kind == "s" else inside
            package.forget(row)


def of_html(tree: Any) -> tuple[str, str, str]:
    """The text of a page's content, and of that the text of what surrounds it, and of links."""
    mains = tree.xpath("//main|//*[@role='main']")
    root = mains[0] if len(mains) == 1 else tree
    return _within([root]), _within(root.iter(*_UNSEEN)), _within(root.iter("a"))


def _within(elements: Iterable[Any]) -> str:
    return " ".join(text for element in elements for text in element.itertext())
