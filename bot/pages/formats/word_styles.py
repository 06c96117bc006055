"""The paragraph and character styles of a Word document (ECMA-376, part 1, section 17.7)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from bot.pages.formats.numbering import whole
from bot.pages.formats.packages import attribute, is_on, value

_HEADING = re.compile(r"heading ([1-9])")
_CODE = re.compile(
    r"(?:html )?(?:preformatted(?: text)?|code|code block|source code|verbatim(?: char)?|macro text"
    r"|html (?:code|preformatted|typewriter|keyboard|sample)|source text|inline code)"
)
FIXED_WIDTH = re.compile(
    r"courier|consolas|menlo|monaco|lucida console|typewriter|\bmono\b|mono$|code|fixed",
    re.IGNORECASE,
)
"""Names of fonts used for code."""
_LONGEST_CHAIN = 20  # styles based on each other; a cycle would not end


@dataclass(frozen=True, slots=True)
class Style:
    """The properties that a style gives to its text.

    ``role`` is "title", "contents" (a line of a table of contents), "code" or "". ``level`` is that
    of a heading, from 1, or 0. ``list`` and ``depth`` identify the list that numbers it, or are
    None. ``hidden`` text is not shown.
    """

    role: str = ""
    level: int = 0
    list: str | None = None
    depth: int | None = None
    hidden: bool = False


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
        style = replace(style, hidden=is_on(run, "vanish", style.hidden))
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


def is_fixed_width(properties: Any) -> bool:
    """True if ``w:rPr`` sets its text in a monospaced font."""
    fonts = properties.find("{*}rFonts")
    return fonts is not None and bool(FIXED_WIDTH.search(attribute(fonts, "ascii") or ""))
