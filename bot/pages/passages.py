"""Passages: the citable pieces of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from bot.pages.open_items import OpenItems, is_named, plain
from bot.text.sentences import Block, Sentence, blocks, sentences_of
from bot.text.tokens import estimate

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable piece of a page: 1-4 sentences, or a list or table row group.

    ``text == page.text[start:end]`` always. ``heading`` is the path of section headings above it,
    joined by " › ", or "". What goes on about a list item that began in an earlier passage (an
    option, a function, a step) has the item's name at the end of the path, and rows have the names
    of their table's columns ("Ports › Year | Boats").
    ``relevance`` is how near it is to the question it was chosen for by meaning (see ``Weight``);
    None where that is not known. ``in_code``: it begins inside fenced code that is too long for
    one passage, so that ``text`` does not open the fence.
    """

    start: int
    end: int
    text: str
    heading: str = ""
    relevance: float | None = field(default=None, compare=False)
    in_code: bool = field(default=False, compare=False)

    @property
    def is_contents(self) -> bool:
        """True if this is a piece of a table of contents: items that are nothing but links."""
        return all(line.lstrip().startswith("+ ") for line in self.text.split("\n"))


@dataclass(frozen=True, slots=True)
class Weight:
    """The similarity of the words ``start:end`` of a page to a question, by meaning.

    ``relevance`` is 0 for what is no nearer than the average passage of all that was searched, and
    1 for the nearest of them.
    """

    start: int
    end: int
    relevance: float


def columns_in(heading: str) -> tuple[str, tuple[str, ...]]:
    """A passage's heading without the names of columns at its end, and these names.

    No names where it ends with none; a section whose name has " | " in it is taken for some.
    """
    above, _, last = heading.rpartition(HEADING_SEPARATOR)
    names = tuple(last.split(_COLUMNS)) if _COLUMNS in last else ()
    return (above, names) if names else (heading, ())


# ---------------------------------------------------------------- splitting

_COLUMNS = " | "  # between their names

FULL = 110  # estimated tokens (about 440 Latin or 110 Chinese characters) that fill a passage
SHORT = 70  # tokens that paragraphs which share a passage begin with, at most
FEW = 25  # tokens of an opening line ("Default: 30") that goes with the paragraph below it
LONGEST_ROW = 4_000  # characters of a table row; what is longer is cut between cells
LONGEST_COLUMNS = 160  # characters of the columns' names in a heading; what is longer ends with …
SPLIT_PAGES = 32  # kept split: a page is weighed, shown and searched for passages in turn
LONGEST_KEPT = 60_000  # characters of a page that is kept split
MOST_PASSAGES = 40_000  # of a page: four times those of 5,000,000 characters of prose
MOST_SENTENCES = 4  # of running text in one passage; rows and items are many and short


def split(text: str) -> list[Passage]:
    """The passages of a page in order, at most ``MOST_PASSAGES``; they do not overlap.

    Cut only between sentences, list items, table rows and code fences. Headings are carried as
    the path of what stands below them; one that nothing stands below is a passage itself. All
    else that is not white space is in a passage. Only a sentence or fence too long to be one (see
    ``bot.text.sentences``) is cut inside, between words or lines, and a row of more than
    ``LONGEST_ROW`` characters between cells.
    """
    return list(_split(text) if len(text) > LONGEST_KEPT else _split_once(text))


@lru_cache(maxsize=SPLIT_PAGES)
def _split_once(text: str) -> tuple[Passage, ...]:
    return tuple(_split(text))


def _split(text: str) -> Iterator[Passage]:
    return (
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
    """A passage being filled; ``last`` is its last sentence and ``last_tokens`` that one's length.

    ``leads_in`` tells that it ends with a colon: what follows belongs to it. ``opens`` tells that
    it is the first one below its heading, ``is_record`` that it is also a list of names and values,
    ``in_code`` that it begins inside fenced code.
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
    bare: Block | None = None  # the heading that nothing stood below so far
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
            bare = block
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
        pieces = _pieces(text, block)
        following = next(pieces, None)
        while following is not None:
            sentence, following = following, next(pieces, None)
            tokens = estimate(text[sentence.start : sentence.end])
            # the short end of a block does not stand alone
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
    """A group of the sentence that leads in to a block, cut off the end of the group before."""
    start, end = group.last
    if not (group.leads_in and is_new_block and block.kind == "code" and group.sentences > 1):
        return None
    if group.last_tokens + tokens > 2 * FULL or group.kind == "row":
        return None
    return replace(group, start=start, end=end, sentences=1, tokens=group.last_tokens, opens=False)


class _Table:
    """The state of the table whose rows are being read.

    ``columns`` are the names of its columns, once the first row under its head is met. ``in_head``
    tells that the row which was just met belongs to the head.
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
    """The cells of a table's head as a heading shows them."""
    cells = [" ".join(cell.split()) for cell in _BETWEEN_CELLS.split(row.strip("| \t"))]
    names = _COLUMNS.join(cells)
    return names if len(names) <= LONGEST_COLUMNS else names[: LONGEST_COLUMNS - 1] + "…"


def _pieces(text: str, block: Block) -> Iterator[Sentence]:
    """The sentences of a block; a table row is one, however long a sentence may be."""
    if block.kind != "row":
        yield from sentences_of(text, block)
        return
    for start, end in _runs_of_cells(text, block):
        if end - start <= LONGEST_ROW:
            yield Sentence(start, end, "row")
        else:
            yield from sentences_of(text, Block("row", start, end))


def _runs_of_cells(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """A row, or if it is too long for one passage, its cells in runs that are not."""
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
        # what is said of a thing in a few words ("Default: 30") goes with what explains it
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
            return False  # an item that is longer begins a passage: its name goes with it
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
