"""Passages: the citable pieces of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from bot.text.sentences import Block, Sentence, blocks, sentences_of
from bot.text.struck import is_struck
from bot.text.terms import estimate

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable piece of a page: 1-4 sentences, or a group of list items or table rows.

    ``text == page.text[start:end]`` always. ``heading`` is the path of section headings above it,
    joined by " › ", or "". If the passage continues a list item that began in an earlier one (an
    option, a function, a step), the path ends with the item's name; for table rows, it ends with
    the column names ("Ports › Year | Boats"). ``relevance`` is the similarity in meaning to the
    question it was chosen for (see ``Weight``), None if unknown. ``in_code``: it begins inside
    fenced code too long for one passage, so ``text`` lacks the opening fence.
    """

    start: int
    end: int
    text: str
    heading: str = ""
    relevance: float | None = field(default=None, compare=False)
    in_code: bool = field(default=False, compare=False)

    @property
    def is_contents(self) -> bool:
        """True if this is a piece of a table of contents: its items are links only."""
        return all(line.lstrip().startswith("+ ") for line in self.text.split("\n"))


@dataclass(frozen=True, slots=True)
class Weight:
    """The similarity in meaning of a page's text ``start:end`` to a question.

    ``relevance`` is 0 for text no nearer than the average passage of all that were searched, and 1
    for the nearest of them.
    """

    start: int
    end: int
    relevance: float


def columns_in(heading: str) -> tuple[str, tuple[str, ...]]:
    """Split a passage's heading into the section path and the column names at its end.

    The names are empty if there are none; a section name that contains " | " is taken for some.
    """
    above, _, last = heading.rpartition(HEADING_SEPARATOR)
    names = tuple(last.split(_COLUMNS)) if _COLUMNS in last else ()
    return (above, names) if names else (heading, ())


# ---------------------------------------------------------------- splitting

_COLUMNS = " | "  # between column names

FULL = 110  # estimated tokens (about 440 Latin or 110 Chinese characters) that fill a passage
SHORT = 70  # tokens; a new paragraph joins a passage only up to this length
FEW = 25  # tokens of an opening line ("Default: 30") that goes with the paragraph below it
LONGEST_ROW = 4_000  # characters of a table row; a longer one is cut between cells
LONGEST_COLUMNS = 160  # characters of the column names in a heading; longer ones end with …
SPLIT_PAGES = 32  # cached: a page is weighed, shown and searched for passages in turn
LONGEST_KEPT = 60_000  # characters of the longest page that is cached
MOST_PASSAGES = 40_000  # per page: four times as many as in 5,000,000 characters of prose
MOST_SENTENCES = 4  # of prose in one passage; rows and items are many and short


def split(text: str) -> list[Passage]:
    """Split a page into passages, in order, at most ``MOST_PASSAGES``; they do not overlap.

    What is struck out as a whole, a block or a sentence at either end of a passage, is in none.
    Cuts are made only between sentences, list items, table rows and code fences. Headings become
    the path of the text below them; a heading without text below it is a passage itself. All other
    text except white space is in a passage. Only a sentence or fence that exceeds the limit for one
    (see ``bot.text.sentences``) is cut inside, between words or lines, and a row of more than
    ``LONGEST_ROW`` characters between cells.
    """
    return list(_split.__wrapped__(text) if len(text) > LONGEST_KEPT else _split(text))


@lru_cache(maxsize=SPLIT_PAGES)
def _split(text: str) -> tuple[Passage, ...]:
    return tuple(
        Passage(
            group.start,
            group.end,
            text[group.start : group.end],
            group.heading,
            in_code=group.in_code,
        )
        for group in islice(_groups(text), MOST_PASSAGES)
    )


@dataclass(slots=True)
class _Group:
    """A passage being filled; ``last`` is its last sentence, ``last_tokens`` that sentence's
    length.

    ``leads_in``: it ends with a colon, so what follows belongs to it. ``opens``: it is the first
    below its heading. ``is_record``: it also is a list of names and values. ``in_code``: it begins
    inside fenced code.
    """

    start: int
    end: int
    heading: str
    kind: str
    sentences: int
    tokens: int
    opens: bool = False
    is_record: bool = False
    leads_in: bool = False
    in_code: bool = False
    last: tuple[int, int] = (0, 0)
    last_tokens: int = 0


def _groups(text: str) -> Iterator[_Group]:
    path: list[tuple[int, Block]] = []
    bare: Block | None = None  # the last heading, while no text has followed it
    heading = ""
    group: _Group | None = None
    table = _Table()
    items = OpenItems()
    for block in blocks(text):
        if block.kind == "heading":
            if group is not None:
                yield group
                group = None
            if bare is not None and bare.level >= block.level:
                yield _of_heading(text, bare, path)
            bare = None if is_struck(text[block.start : block.end]) else block
            path = [entry for entry in path if entry[0] < block.level]
            path.append((block.level, block))
            heading = _path(text, path)
            items = OpenItems()
            continue
        opens = bare is not None
        bare = None
        is_new_block = True
        table.meet(text, block)
        items.meet(text, block)
        if is_struck(text[block.start : block.end]):
            if group is not None:
                yield group
                group = None
            continue
        pieces = _pieces(text, block)
        following = next(pieces, None)
        while following is not None:
            sentence, following = following, next(pieces, None)
            if is_struck(text[sentence.start : sentence.end]):
                continue
            tokens = estimate(text[sentence.start : sentence.end])
            # keep the short end of a block with the text before it
            room = FULL + FEW if following is None and tokens <= FEW else FULL
            if group is not None and not _takes(text, group, block, tokens, room, is_new_block):
                lead_in = _lead_in(group, block, tokens, is_new_block)
                yield group
                group = lead_in
            if group is None:
                above = filter(None, (heading, *items.names(sentence.start), table.columns))
                group = _Group(
                    sentence.start,
                    sentence.end,
                    HEADING_SEPARATOR.join(above),
                    block.kind,
                    sentences=1,
                    tokens=tokens,
                    opens=opens,
                    is_record=opens,
                    in_code=block.kind == "code" and sentence.start > block.start,
                )
            else:
                group.end = sentence.end
                group.kind = block.kind
                group.sentences += 1
                group.tokens += tokens
            group.last = (sentence.start, sentence.end)
            group.last_tokens = tokens
            is_new_block = opens = False
        if group is not None:
            group.is_record = group.is_record and is_named(text, block)
            group.leads_in = table.in_head or (
                text[group.end - 1] in ":：" and block.kind in ("paragraph", "item")
            )
    if group is not None:
        yield group
    if bare is not None:
        yield _of_heading(text, bare, path)


def _lead_in(group: _Group, block: Block, tokens: int, is_new_block: bool) -> _Group | None:
    """Cut the sentence that introduces a code block off the group before, as a new group."""
    start, end = group.last
    if not (group.leads_in and is_new_block and block.kind == "code" and group.sentences > 1):
        return None
    if group.last_tokens + tokens > 2 * FULL or group.kind == "row":
        return None
    return replace(group, start=start, end=end, sentences=1, tokens=group.last_tokens, opens=False)


class _Table:
    """The state of the table whose rows are being read.

    ``columns`` are its column names, from the first row below its head on. ``in_head``: the row
    just read belongs to the head.
    """

    def __init__(self) -> None:
        self.columns = ""
        self.in_head = False
        self._names = ""
        self._rows = 0

    def meet(self, text: str, block: Block) -> None:
        if block.kind != "row" or block.gap:
            self.columns, self._names, self._rows, self.in_head = "", "", 0, False
        if block.kind != "row":
            return
        self._rows += 1
        row = text[block.start : block.end]
        is_delimiter = self._rows == 2 and _DELIMITER.fullmatch(row) is not None
        self.in_head = self._rows == 1 or is_delimiter
        if self._rows == 1:
            self._names = _names(row)
        elif self._rows == 2 and not is_delimiter:
            self._names = ""  # a table without a head
        elif self._rows > 2:
            self.columns = self._names


_DELIMITER = re.compile(r"\|(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?")  # GFM, section 4.10
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


def _names(row: str) -> str:
    """The cells of a table's head in the form used in headings."""
    cells = [" ".join(cell.split()) for cell in _BETWEEN_CELLS.split(row.strip("| \t"))]
    names = _COLUMNS.join(cells)
    return names if len(names) <= LONGEST_COLUMNS else names[: LONGEST_COLUMNS - 1] + "…"


def _pieces(text: str, block: Block) -> Iterator[Sentence]:
    """The sentences of a block; a table row counts as one, whatever its length."""
    if block.kind != "row":
        yield from sentences_of(text, block)
        return
    for start, end in _runs_of_cells(text, block):
        if end - start <= LONGEST_ROW:
            yield Sentence(start, end, "row")
        else:
            yield from sentences_of(text, Block("row", start, end))


def _runs_of_cells(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """A row; if it is too long for one passage, runs of its cells that fit."""
    start = block.start
    if block.end - start > LONGEST_ROW:
        last = start
        for match in _BETWEEN_CELLS.finditer(text, start + 1, block.end - 1):
            if match.start() - start > LONGEST_ROW and last > start:
                yield start, last
                start = last
            last = match.start()
        if block.end - start > LONGEST_ROW and last > start:
            yield start, last
            start = last
    yield start, block.end


def _takes(
    text: str, group: _Group, block: Block, tokens: int, room: int, is_new_block: bool
) -> bool:
    """True if a sentence of a block joins the passage being filled, which has ``room`` tokens."""
    together = group.tokens + tokens
    if is_new_block and group.is_record and block.kind == "paragraph":
        # a short value ("Default: 30") stays with the paragraph that explains it
        return together <= 2 * FULL
    if block.kind == "code" and is_new_block and group.tokens <= FEW and group.kind != "code":
        return together <= 2 * FULL
    if together > room or "code" in (group.kind, block.kind):
        return group.leads_in and is_new_block and together <= 2 * FULL
    if not is_new_block:
        return block.kind != "paragraph" or group.sentences < MOST_SENTENCES
    if group.leads_in:
        return True
    if group.kind != block.kind:
        return False
    if block.kind == "item":
        if group.tokens + estimate(text[block.start : block.end]) > FULL:
            return False  # a longer item starts a new passage, which carries its name
        return (text[group.start] == "+") == (text[block.start] == "+")
    if block.kind == "row":
        return True
    longest = FULL if group.opens and group.tokens <= FEW else SHORT
    return together <= longest and group.sentences < MOST_SENTENCES


def _path(text: str, path: Sequence[tuple[int, Block]]) -> str:
    return HEADING_SEPARATOR.join(
        plain(text[block.start : block.end].strip("#")) for _, block in path
    )


def _of_heading(text: str, block: Block, path: Sequence[tuple[int, Block]]) -> _Group:
    above = [entry for entry in path if entry[0] < block.level]
    return _Group(block.start, block.end, _path(text, above), "heading", 1, 0)


# ---------------------------------------------------------------- the names of open list items


LONGEST_NAME = 80  # characters; a longer opening is a sentence and not a name
LONGEST_LINE = 500  # characters of an item's first line that are searched for its name
MOST_NAMES = 2  # enclosing items whose names are returned, innermost first

_MARK = re.compile(r"^(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+")
_NAMED = re.compile(r"((?:(`+)(?!`)(?:(?!\2).)+\2(?!`)|[^`])*?)[:：](?=\s|$)")
_SIGNATURE = re.compile(r"`((?:class |async |static )?[\w.:$-]{1,70})[(\[]")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)")
_CODE = re.compile(r"(?<!`)(`{1,20}+)(?!`)( ?)((?:(?!\1).)+?)\2\1(?!`)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def plain(markdown: str) -> str:
    """A heading or name on one line without code marks."""
    if "`" in markdown:
        markdown = _CODE.sub(r"\3", markdown)
    if "\\" in markdown:
        markdown = _ESCAPE.sub(r"\1", markdown)
    return " ".join(markdown.split())


def is_named(text: str, block: Block) -> bool:
    """True if a block is a list item that opens with a name and a colon."""
    return block.kind == "item" and _name_before_colon(_first_line(text, block)) != ""


class OpenItems:
    """Tracks the open list items of a section; ``meet`` its blocks in order."""

    def __init__(self) -> None:
        self._open: list[tuple[int, Block]] = []  # with the item's indentation
        self._text = ""

    def meet(self, text: str, block: Block) -> None:
        if block.kind in ("code", "row"):
            return  # not indented, even inside an item
        indentation = block.start - (text.rfind("\n", 0, block.start) + 1)
        while self._open and self._open[-1][0] >= indentation:
            self._open.pop()
        if block.kind == "item":
            self._open.append((indentation, block))
            self._text = text

    def names(self, start: int) -> list[str]:
        """The names of the items that began before ``start`` and continue, outermost first."""
        around = (block for _, block in reversed(self._open) if block.start < start)
        names = filter(None, (_name(_first_line(self._text, block)) for block in around))
        return list(islice(names, MOST_NAMES))[::-1]


def _first_line(text: str, item: Block) -> str:
    """The first line of an item without its mark, cut to ``LONGEST_LINE``."""
    line = text[item.start : min(item.end, item.start + LONGEST_LINE)].partition("\n")[0]
    return _MARK.sub("", line, count=1)


def _name_before_colon(line: str) -> str:
    named = _NAMED.match(line)
    return _fitting(named[1]) if named else ""


def _name(line: str) -> str:
    name = _name_before_colon(line) or _fitting(line)
    return "" if _SENTENCE_END.search(name) else name


def _fitting(markdown: str) -> str:
    """A name if it is short enough; for a long signature, the function's name."""
    name = plain(markdown)
    if len(name) <= LONGEST_NAME:
        return name
    signature = _SIGNATURE.match(markdown)
    return f"{signature[1]}(…)" if signature else ""
