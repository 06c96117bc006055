"""Sets the text of PDF pages: what the lines of type on them are.

A page of a PDF document stores where its lines are and not what they are. Their role is inferred
from typographic conventions: a gap or an indent opens a paragraph, larger letters are a heading,
words far apart in successive lines are a table, and text in the same place on every page is not
part of the content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from bot.pages.page_markdown import fenced, literal, table_row
from bot.text.sentences import sentences
from bot.text.terms import has_cjk

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
    A note on the page has a ``height`` of 0.
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

    @property
    def middle(self) -> float:
        return self.base + self.height / 2


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page: ``index`` counts from 0, ``label`` is its printed number, ``marks`` tell of slanted
    text and stamps. ``is_picture``: it has content, but no text. ``characters`` are PDFium's own.
    """

    index: int
    label: str
    lines: tuple[Line, ...]
    marks: tuple[str, ...] = ()
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
    told: set[str] = set()
    for leaf, (label, blocks) in zip(leaves, pages, strict=True):
        blocks[:0] = [_Block("paragraph", mark) for mark in leaf.marks if mark not in told]
        told.update(leaf.marks)
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
        for line in filter(lambda line: line.height, leaf.lines):
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
        return line.height > 0
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
        text = continued(text, line.text, hyphen=above.hyphen, known=known)
    return f"{text}-" if lines[-1].hyphen else text


def continued(text: str, following: str, *, hyphen: bool, known: Counter[str]) -> str:
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
        whole = continued(text, following.text, hyphen=hyphen, known=known)
        end = next((s.end for s in sentences(whole) if s.end > len(text)), len(whole))
        last.text, following.text = whole[:end], whole[end:].lstrip()
        if not following.text:
            blocks.pop(0)
