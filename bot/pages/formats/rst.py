"""Converts reStructuredText to page text with docutils.

Comments, directives that only control a program, and files that such directives include are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from docutils.frontend import get_default_settings  # type: ignore[import-untyped]
from docutils.parsers.rst import Parser  # type: ignore[import-untyped]
from docutils.utils import new_document  # type: ignore[import-untyped]

from bot.pages.formats.blocks import (
    WIDEST_CELL,
    Blocks,
    Reading,
    code,
    labelled,
    one_line,
    unwrapped,
    without_marks,
)
from bot.pages.formats.numbering import formatted
from bot.pages.formats.rst_markup import Remark, Signature, inliner, learn
from bot.text.listed import listed

_MESSAGE_WITH_TEXT = 3  # level of docutils' messages about omitted text: ERROR
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_STEERING = listed(
    "tocdepth orphan nocomments nosearch no-search hide-toc hidetitle layout hero template "
    "og_description description github_url html_theme"
)
"""Fields at the top of a document that configure Sphinx."""
_FORMS = {"loweralpha": "lowerLetter", "upperalpha": "upperLetter"}
_FORMS |= {"lowerroman": "lowerRoman", "upperroman": "upperRoman", "arabic": "decimal"}
_SKIPPED = (
    *(nodes.comment, nodes.substitution_definition, nodes.raw, nodes.pending, nodes.image),
    *(nodes.transition, nodes.meta, nodes.decoration, nodes.generated),
)


def read_rst(source: str) -> Reading:
    """Read a document that uses "\\n" for its line ends; return its title and text."""
    learn(source)
    document = new_document("", _settings())
    Parser(inliner=inliner()).parse(source, document)
    writer = _Writer(document)
    writer.children(document)
    return Reading(writer.title, writer.blocks.text())


@cache
def _settings() -> Any:
    settings = get_default_settings(Parser)
    settings.report_level = 5  # docutils prints messages from this level on, so none
    settings.halt_level = 6
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.syntax_highlight = "none"
    settings.smart_quotes = False
    # docutils reads nothing at all if a line is longer; the caller limits the whole.
    settings.line_length_limit = 10_000_000
    return settings


class _Writer:
    def __init__(self, document: Any) -> None:
        self.blocks = Blocks()
        self.title = ""
        self._document = document
        self._substitutions = document.substitution_defs
        self._level = 0  # of the current section
        self._depth = -1  # of the current list
        self._marker = ""  # of the item without text so far
        self._numbers = 0  # of footnotes without a number
        self._references = 0

    def children(self, node: Any) -> None:
        for child in node.children:
            self._block(child)

    # ------------------------------------------------------------ blocks

    def _block(self, node: Any) -> None:
        match node:
            case _ if isinstance(node, _SKIPPED):
                return
            case nodes.section():
                self._level += 1
                self.children(node)
                self._level -= 1
            case nodes.title() | nodes.subtitle():
                self._title(node)
            case nodes.paragraph() | nodes.caption() | nodes.attribution() | nodes.rubric():
                self._say(unwrapped(self._inline(node)))
            case nodes.line_block():
                self._say("\n".join(self._lines(node)))
            case nodes.literal_block() | nodes.doctest_block() | nodes.math_block():
                self._code(node)
            case nodes.bullet_list() | nodes.enumerated_list():
                self._list(node)
            case nodes.definition_list():
                self._definitions(node)
            case nodes.field_list() | nodes.option_list():
                self._fields(node)
            case nodes.table():
                self._table(node)
            case nodes.footnote() | nodes.citation():
                self._footnote(node)
            case nodes.system_message():
                self._message(node)
            case Signature():
                self._object(node)
            case Remark():
                self._labelled(node["label"], node)
            case nodes.Admonition() if not isinstance(node, nodes.admonition):
                self._labelled(type(node).__name__.capitalize(), node)
            case nodes.Inline() | nodes.Text():
                self._say(unwrapped(self._inline(node)))
            case _:
                self.children(node)

    def _title(self, node: Any) -> None:
        words = unwrapped(self._inline(node))
        if isinstance(node.parent, nodes.section):
            self.title = self.title or without_marks(words)
            self.blocks.heading(self._level, words)
        else:  # of a table, a topic, an admonition
            self._say(words)

    def _say(self, text: str) -> None:
        """Write a paragraph, as part of an item when inside a list."""
        if self._depth < 0:
            self.blocks.paragraph(text)
        elif self._marker:
            self.blocks.item(self._depth, self._marker, text)
            self._marker = ""
        else:
            self.blocks.more(self._depth, text)

    def _code(self, node: Any) -> None:
        self._marker = ""  # no text shares a line with code
        language = node.get("language", "")
        self.blocks.code(node.astext(), language if re.fullmatch(r"[\w+#-]+", language) else "")

    def _list(self, node: Any) -> None:
        outer = self._marker
        self._depth += 1
        start = node.get("start", 1)
        for number, item in enumerate(node.children, start):
            if isinstance(item, nodes.list_item):
                self._marker = _marker(node, number)
                self.children(item)
                self._marker = ""
            else:
                self._block(item)
        self._depth -= 1
        self._marker = outer if self._depth < 0 else ""

    def _definitions(self, node: Any) -> None:
        self._depth += 1
        for item in node.children:
            terms = [unwrapped(self._inline(t)) for t in item.children if isinstance(t, nodes.term)]
            terms += [self._inline(c) for c in item.children if isinstance(c, nodes.classifier)]
            bodies = [each for each in item if isinstance(each, nodes.definition)]
            self._labelled_item(" : ".join(terms), bodies)
        self._depth -= 1

    def _fields(self, node: Any) -> None:
        at_start = not self.blocks.length and isinstance(node, nodes.field_list)
        self._depth += 1
        for field in node.children:
            if not isinstance(field, nodes.field | nodes.option_list_item):
                self._block(field)
                continue
            name, body = field.children[0], field.children[1]
            label = self._inline(name)
            if isinstance(field, nodes.option_list_item):
                label = ", ".join(code(option.astext()) for option in name.children)
            if not at_start or label.casefold() not in _STEERING:
                self._labelled_item(unwrapped(label), [body])
        self._depth -= 1

    def _labelled_item(self, label: str, bodies: list[Any]) -> None:
        """Write an item "label: text"; without text that follows directly, the label is alone."""
        children = [child for body in bodies for child in body.children]
        first, rest = self._first_of(children)
        self.blocks.item(self._depth, "-", labelled(label, first))
        for child in rest:
            self._block(child)

    def _labelled(self, label: str, node: Any) -> None:
        """Write a remark: its first paragraph follows its label on the same line."""
        first, rest = self._first_of(node.children)
        self._say(labelled(label, first))
        for child in rest:
            self._block(child)

    def _first_of(self, children: list[Any]) -> tuple[str, list[Any]]:
        """The text of the first child, if it is a paragraph, and the remaining children."""
        if children and isinstance(children[0], nodes.paragraph):
            return unwrapped(self._inline(children[0])), children[1:]
        return "", children

    def _object(self, node: Any) -> None:
        """Write an item with signatures and the description of them."""
        self._marker = ""
        self._depth += 1
        self._labelled_item(", ".join(map(code, node["lines"])), [node])
        self._depth -= 1

    def _footnote(self, node: Any) -> None:
        label = next((c.astext() for c in node.children if isinstance(c, nodes.label)), "")
        if not label:
            self._numbers += 1
            label = str(self._numbers)
        words = " ".join(self._words(c) for c in node.children if not isinstance(c, nodes.label))
        self._say(f"[^{label}]: {one_line(words)}")

    def _message(self, node: Any) -> None:
        """Keep source that docutils cannot parse unchanged; a title in the wrong place stays a
        title.
        """
        if node["level"] < _MESSAGE_WITH_TEXT:
            return
        for block in node.children:
            if not isinstance(block, nodes.literal_block):
                continue
            lines = [line for line in block.astext().splitlines() if line.strip()]
            words = [line for line in lines if not _UNDERLINE.fullmatch(line)]
            if len(words) == 1 and len(words) < len(lines):
                self.blocks.heading(self._level + 1, words[0])
            else:
                self.blocks.code(block.astext())

    # ------------------------------------------------------------ tables

    def _table(self, node: Any) -> None:
        self._marker = ""
        for title in node.children:
            if isinstance(title, nodes.title):
                self.blocks.paragraph(unwrapped(self._inline(title)))
        grid = _grid([list(row.children) for row in node.findall(nodes.row)])
        rows = [["" if e is None else one_line(self._words(e)) for e in row] for row in grid]
        widest = max((len(cell) for row in rows for cell in row), default=0)
        if widest > WIDEST_CELL or all(len(row) < 2 for row in rows):
            for entry in dict.fromkeys(e for row in grid for e in row if e is not None):
                self.children(entry)
        else:
            self.blocks.table(rows)

    def _words(self, node: Any) -> str:
        """All text of a block, as part of a line."""
        if isinstance(node, _SKIPPED):
            return ""
        if isinstance(node, nodes.TextElement) and not isinstance(node, nodes.literal_block):
            return unwrapped(self._inline(node))
        if isinstance(node, nodes.literal_block):
            return code(one_line(node.astext()))
        return " ".join(filter(None, map(self._words, node.children)))

    # ------------------------------------------------------------ inline

    def _inline(self, node: Any) -> str:
        match node:
            case nodes.Text():
                return str(node.astext())
            case nodes.literal() | nodes.math():
                return code(one_line(node.astext()))
            case nodes.substitution_reference():
                meant = self._substitutions.get(node.astext())
                return node.astext() if meant is None else self._inline_of(meant)
            case nodes.footnote_reference() | nodes.citation_reference():
                label = node.astext()
                if not label:
                    self._references += 1
                    label = str(self._references)
                return f"[^{label}]"
            case nodes.system_message() | nodes.image():
                return ""
            case nodes.inline() if "label" in node:
                return self._title_at(node["label"]) or node.astext()
        return self._inline_of(node)

    def _title_at(self, label: str) -> str:
        """The title of the section of this document that a label precedes, or ""."""
        target = self._document.ids.get(self._document.nameids.get(label))
        if isinstance(target, nodes.target):
            target = target.next_node(nodes.Element, descend=False, siblings=True)
        section = target if isinstance(target, nodes.section) else None
        title = None if section is None else section.next_node(nodes.title)
        return "" if title is None else unwrapped(self._inline_of(title))

    def _inline_of(self, node: Any) -> str:
        return "".join(map(self._inline, node.children))

    def _lines(self, block: Any) -> Iterator[str]:
        for child in block.children:
            if isinstance(child, nodes.line_block):
                yield from self._lines(child)
            else:
                yield self._inline(child)


def _marker(node: Any, number: int) -> str:
    if isinstance(node, nodes.bullet_list):
        return "-"
    form = _FORMS.get(node.get("enumtype", ""), "decimal")
    label = f"{node.get('prefix', '')}{formatted(number, form)}{node.get('suffix', '.')}"
    return label if re.fullmatch(r"\d{1,3}[.)]", label) else f"- {label}"


def _grid(rows: list[list[Any]]) -> list[list[Any]]:
    """The entries of a table by row and column; one that spans rows is repeated in each of them."""
    taken: dict[tuple[int, int], Any] = {}
    for y, row in enumerate(rows):
        x = 0
        for entry in row:
            while (y, x) in taken:
                x += 1
            for dx in range(entry.get("morecols", 0) + 1):
                for dy in range(min(entry.get("morerows", 0), len(rows) - y - 1) + 1):
                    taken[y + dy, x + dx] = entry if dx == 0 else None
            x += entry.get("morecols", 0) + 1
    width = max((x for _, x in taken), default=-1) + 1
    return [[taken.get((y, x)) for x in range(width)] for y in range(len(rows))]
