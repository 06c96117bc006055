"""Passages: the citable pieces of a page, and which of them matter for a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from bot.text.sentences import Block, Sentence, blocks, sentences_of
from bot.text.terms import keywords, terms
from bot.text.tokens import estimate

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Passage:
    """A citable piece of a page: 1-4 sentences, or a list or table row group.

    ``text == page.text[start:end]`` always. ``heading`` is the path of section headings above it,
    joined by " › ", or "". For rows whose table began in an earlier passage, the names of its
    columns are the end of the path ("Ports › Year | Boats").
    """

    start: int
    end: int
    text: str
    heading: str = ""


# ---------------------------------------------------------------- splitting

FULL = 110  # estimated tokens (about 440 Latin or 110 Chinese characters) that fill a passage
SHORT = 70  # tokens that paragraphs which share a passage begin with, at most
LONGEST_ROW = 4_000  # characters of a table row; what is longer is cut between cells
LONGEST_COLUMNS = 160  # characters of the columns' names in a heading; what is longer ends with …
MOST_SENTENCES = 4  # of running text in one passage; rows and items are many and short


def split(text: str) -> list[Passage]:
    """The passages of a page in order; they do not overlap.

    Cut only between sentences, list items, table rows and code fences. Headings are carried as
    the path of what stands below them; one that nothing stands below is a passage itself. All
    else that is not white space is in a passage. Only a sentence or fence too long to be one (see
    ``bot.text.sentences``) is cut inside, between words or lines, and a row of more than
    ``LONGEST_ROW`` characters between cells.
    """
    return [
        Passage(group.start, group.end, text[group.start : group.end], group.heading)
        for group in _groups(text)
    ]


@dataclass(slots=True)
class _Group:
    """A passage being filled."""

    start: int
    end: int
    heading: str
    kind: str
    sentences: int
    tokens: int
    leads_in: bool = False  # ends with a colon: what follows belongs to it


def _groups(text: str) -> Iterator[_Group]:
    path: list[tuple[int, Block]] = []
    bare: Block | None = None  # the heading that nothing stood below so far
    heading = ""
    group: _Group | None = None
    table = _Table()
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
            continue
        bare = None
        is_new_block = True
        table.meet(text, block)
        for sentence in _pieces(text, block):
            tokens = estimate(text[sentence.start : sentence.end])
            if group is not None and not _takes(group, block, sentence, tokens, is_new_block):
                yield group
                group = None
            if group is None:
                above = HEADING_SEPARATOR.join(filter(None, (heading, table.columns)))
                group = _Group(
                    sentence.start, sentence.end, above, block.kind, sentences=1, tokens=tokens
                )
            else:
                group.end = sentence.end
                group.kind = block.kind
                group.sentences += 1
                group.tokens += tokens
            is_new_block = False
        if group is not None:
            group.leads_in = table.in_head or (
                text[group.end - 1] in ":：" and block.kind == "paragraph"
            )
    if group is not None:
        yield group
    if bare is not None:
        yield _of_heading(text, bare, path)


class _Table:
    """What is known of the table whose rows are being met.

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
    names = " | ".join(cells)
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
    group: _Group, block: Block, sentence: Sentence, tokens: int, is_new_block: bool
) -> bool:
    """Whether a sentence joins the passage being filled."""
    if group.tokens + tokens > FULL or "code" in (group.kind, block.kind):
        return group.leads_in and is_new_block and group.tokens + tokens <= 2 * FULL
    if not is_new_block:
        return block.kind != "paragraph" or group.sentences < MOST_SENTENCES
    if group.leads_in:
        return True
    if group.kind != block.kind:
        return False
    if block.kind in ("item", "row"):
        return True
    return group.tokens + tokens <= SHORT and group.sentences < MOST_SENTENCES


def _path(text: str, path: Sequence[tuple[int, Block]]) -> str:
    return HEADING_SEPARATOR.join(
        " ".join(text[block.start : block.end].strip("#").split()) for _, block in path
    )


def _of_heading(text: str, block: Block, path: Sequence[tuple[int, Block]]) -> _Group:
    above = [entry for entry in path if entry[0] < block.level]
    return _Group(block.start, block.end, _path(text, above), "heading", 1, 0)


# ---------------------------------------------------------------- choosing

K1 = 1.2  # Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009: usual values
B = 0.5  # milder than the usual 0.75: passages are of about one length by construction
HEADING_WEIGHT = 0.5  # of an occurrence in the heading path, relative to one in the text
OPENING = 0.25  # of the best score is added to a page's first passage, which says what it is about
EARLINESS = 0.1  # of the best score, at most, is added the nearer a passage is to the top
NEIGHBOUR = 0.3  # of a passage's score is handed to the one after it, which may go on about it
FLOOR = 0.15  # of the best score: what is below is not worth its tokens


def rank(question_terms: Collection[str], passages: Sequence[Passage]) -> list[float]:
    """How much each passage matters for a question, in the order of ``passages``; 0 is not at all.

    BM25 over the page's own passages with the heading path counted in, plus a small prior for
    position. ``question_terms`` are ``bot.text.terms.keywords`` of the question. All are 0 if no
    passage has any of the terms.
    """
    wanted = frozenset(question_terms)
    counts: list[dict[str, float]] = []
    lengths: list[int] = []
    headings: dict[str, Counter[str]] = {}
    found_in: Counter[str] = Counter()
    for passage in passages:
        words = terms(passage.text)
        lengths.append(len(words) or 1)
        frequencies: dict[str, float] = dict(Counter(word for word in words if word in wanted))
        if passage.heading:
            if passage.heading not in headings:
                headings[passage.heading] = Counter(terms(passage.heading))
            for word in wanted & headings[passage.heading].keys():
                frequencies[word] = frequencies.get(word, 0.0) + HEADING_WEIGHT
        counts.append(frequencies)
        found_in.update(frequencies.keys())
    if not found_in:
        return [0.0] * len(passages)
    mean = sum(lengths) / len(lengths)
    weights = {
        word: math.log(1 + (len(passages) - n + 0.5) / (n + 0.5)) for word, n in found_in.items()
    }
    scores = [
        sum(
            weights[word] * f * (K1 + 1) / (f + K1 * (1 - B + B * length / mean))
            for word, f in frequencies.items()
        )
        for frequencies, length in zip(counts, lengths, strict=True)
    ]
    best = max(scores)
    return [
        score + best * EARLINESS / (1 + i / 8) if score > 0 else 0.0
        for i, score in enumerate(scores)
    ]


def select(
    question: str,
    text: str,
    budget_tokens: int,
    *,
    skip: Collection[tuple[int, int]] = (),
) -> list[Passage]:
    """The passages of a page that matter most for a question, in page order.

    Together at most ``budget_tokens`` (as ``bot.text.tokens.estimate`` counts), but never none
    because the best is too long. ``skip`` are spans shown before: nothing that overlaps one
    comes again. A page that fits the budget is given whole. The opening passage is favoured; if
    nothing matches, it is what comes. Deterministic. Takes time linear in the text, about 0.3 s
    for each million characters: run it off the event loop for large pages.
    """
    passages = split(text)
    shown = _Spans(skip)
    left = [i for i, passage in enumerate(passages) if not shown.overlap(passage)]
    costs = {i: estimate(passages[i].text) for i in left}
    if sum(costs.values()) <= budget_tokens:
        return [passages[i] for i in left]
    scores = _with_context(rank(keywords(question), passages))
    best = max((scores[i] for i in left), default=0.0)
    wanted = [i for i in left if scores[i] > 0 and scores[i] >= FLOOR * best] or left[:1]
    chosen: list[int] = []
    spent = 0
    for i in sorted(wanted, key=lambda i: (-scores[i], i)):
        if not chosen or spent + costs[i] <= budget_tokens:
            chosen.append(i)
            spent += costs[i]
    return [passages[i] for i in sorted(chosen)]


def _with_context(scores: Sequence[float]) -> list[float]:
    """Scores with a share for what follows a match, and for the opening."""
    shared = [
        max(score, NEIGHBOUR * previous)
        for score, previous in zip(scores, [0.0, *scores], strict=False)
    ]
    if shared:
        shared[0] += OPENING * max(shared)
    return shared


class _Spans:
    """Spans that do not overlap, to be asked in order of their start."""

    def __init__(self, spans: Collection[tuple[int, int]]) -> None:
        self._spans = sorted(spans)
        self._next = 0

    def overlap(self, passage: Passage) -> bool:
        """Whether any span overlaps ``passage``, which starts no earlier than the last asked."""
        while self._next < len(self._spans) and self._spans[self._next][1] <= passage.start:
            self._next += 1
        return self._next < len(self._spans) and self._spans[self._next][0] < passage.end
