"""Converts a reasoner's stream to a text with footnote marks and the passages behind each mark.

There are two kinds of stream: one with citations besides the text (each covering the block before
it), and one whose text contains ``[n]`` marks. Both give the same value, so that later stages need
not distinguish them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core.messages import Answer, Citation, Disagreement, Doubt, PlanView, Transcript
from bot.core.texts import Texts
from bot.pages.passages import Passage, columns_in
from bot.pages.urls import dedupe_key
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Cut,
    Evidence,
    Judged,
    Restart,
    Source,
    Suggested,
    TextDelta,
)
from bot.rendering.marks import as_marks, normalise, numbers_in, renumbered, without_marks
from bot.rendering.safety import addresses, defuse
from bot.rendering.verbatim import as_markdown, as_words
from bot.text.sentences import BlockKind, Sentence, sentences
from bot.text.terms import keywords, without_controls

# The place of a mark in a finished sentence: before its last punctuation, so that later cuts keep
# them together; in a table row before the closing bar.
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_NOTHING = re.compile(r"\|[\s|:-]*")  # the line below a table's header, or an empty header
_STRUCTURE = re.compile(r"[ \t]*(?:`{3}|~{3}|\|)")  # fences and table rows must begin a line
_RUNNING: frozenset[BlockKind] = frozenset(("paragraph", "item"))

LONGEST = 100_000  # characters of an answer; cuts off an endless stream


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """``text[start:end]`` of the written answer, with its citations."""

    start: int
    end: int
    citations: tuple[CitationDelta, ...]

    def overlaps(self, sentence: Sentence) -> bool:
        return self.start < sentence.end and sentence.start < self.end


@dataclass(frozen=True, slots=True)
class Written:
    """The answer as written: Markdown with normalized ``[n]`` marks, and its cited spans.

    A sentence with marks but without a span was marked in the text itself. ``cut`` is the limit in
    tokens at which the text was cut off; 0 if it is complete. ``judged`` is the reasoner's
    confidence that this is an answer, if it gave one; ``suggested`` are the questions that it
    offers to ask next. ``remarks`` are those on the text itself, which state nothing of the pages.
    """

    text: str
    spans: tuple[CitedSpan, ...]
    cut: int = 0
    judged: Judged | None = None
    suggested: tuple[str, ...] = ()
    remarks: str = ""


async def write(
    stream: AsyncIterator[AnswerDelta], evidence: Evidence, on_text: Callable[[str], None]
) -> Written:
    """Read a stream to its end; ``on_text`` gets the whole text so far whenever it grows."""
    composer = Composer(evidence)
    shown = ""
    async for delta in stream:
        if composer.length > LONGEST:
            break
        composer.add(delta)
        text = composer.text_so_far()
        if text != shown or isinstance(delta, Restart):
            on_text(shown := text)
    written = composer.finish()
    on_text(written.text)
    return written


def unsourced(text: str) -> str:
    """Return a reply that has no sources, without marks, links and control characters."""
    composer = Composer(Evidence())
    composer.add(TextDelta(text))
    return composer.finish().text.strip()


@dataclass(frozen=True, slots=True)
class _Cited:
    """The cited sentence added last, and its mark.

    ``text[at : at + size]`` of the composer is the mark with the space before it; ``end`` is the
    end of the sentence with its mark.
    """

    kind: BlockKind
    citations: tuple[CitationDelta, ...]
    at: int
    size: int
    end: int


class Composer:
    """Assembles deltas, keeping only marks and links that point to the evidence.

    Consecutive sentences with the same citations get one mark, after the last of them; each has its
    own span.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._known = frozenset(source.number for source in evidence.sources)
        self._urls = addresses(source.url for source in evidence.sources)
        self._passages = {source.number: source.passages for source in evidence.sources}
        self._begin()

    def _begin(self) -> None:
        self._text = ""
        self._spans: list[CitedSpan] = []
        self._block: list[TextDelta] = []
        self._citations: list[CitationDelta] = []
        self._last: _Cited | None = None
        self._cut = 0
        self._judged: Judged | None = None
        self._suggested: tuple[str, ...] = ()

    def add(self, delta: AnswerDelta) -> None:
        if isinstance(delta, Restart):
            self._begin()
        elif isinstance(delta, Cut):
            self._cut = delta.limit
        elif isinstance(delta, Judged):
            self._judged = delta
        elif isinstance(delta, Suggested):
            self._suggested = delta.questions
        elif isinstance(delta, TextDelta):
            if self._citations or delta.opens:
                self._close_block()
            self._add_text(replace(delta, text=without_controls(delta.text)))
        elif delta.number in self._known:
            self._citations.append(delta)

    @property
    def length(self) -> int:
        return len(self._text) + sum(len(delta.text) for delta in self._block)

    def text_so_far(self) -> str:
        return self._text + self._joined(self._without_typed)

    def finish(self) -> Written:
        self._close_block()
        return Written(self._text, tuple(self._spans), self._cut, self._judged, self._suggested)

    # ------------------------------------------------------------ blocks

    def _add_text(self, delta: TextDelta) -> None:
        last = self._block[-1] if self._block else None
        if last and (last.verbatim, last.has_marks) == (delta.verbatim, delta.has_marks):
            self._block[-1] = replace(last, text=last.text + delta.text)
        else:
            self._block.append(delta)

    def _joined(self, read: Callable[[TextDelta], str]) -> str:
        """Return the text of the open block; ``read`` is applied to the reasoner's own words."""
        text = ""
        for delta in self._block:
            if not delta.verbatim:
                text += read(delta)
                continue
            line = (text or self._text).rpartition("\n")[2]
            if line.strip() and _STRUCTURE.match(delta.text):
                text, line = f"{text}\n\n", ""
            text += as_markdown(delta.text, begins_line=not line.strip(), columns=self._columns())
        return text

    def _close_block(self) -> None:
        is_quote = bool(self._block) and all(delta.verbatim for delta in self._block)
        block = defuse(self._joined(self._with_marks), self._urls)
        cited = tuple(dict.fromkeys(self._citations))
        self._block, self._citations = [], []
        if not cited or not block.strip():
            self._append(block)
            self._last = None if block.strip() else self._last
            return
        end = 0
        for sentence in sentences(block):
            self._append(block[end : sentence.start])
            self._cite(block[sentence.start : sentence.end], sentence.kind, cited, is_quote)
            end = sentence.end
        self._append(block[end:])

    def _with_marks(self, delta: TextDelta) -> str:
        if delta.has_marks:
            return normalise(delta.text, self._known)
        return self._without_typed(delta)

    def _without_typed(self, delta: TextDelta) -> str:
        """Return the text without typed marks if citations come separately, but keep brackets that
        pages have too: ``argv[1]``."""
        return delta.text if delta.has_marks else normalise(delta.text, (), self._has)

    def _has(self, words: str) -> bool:
        return any(words in p.text for passages in self._passages.values() for p in passages)

    def _append(self, words: str) -> None:
        """Add text unchanged; after a mark on its own line, begin a paragraph."""
        if self._last is not None and self._last.kind == "code" and self._last.size:
            between = self._text[self._last.end :] + words[: len(words) - len(words.lstrip())]
            if words.strip() and between.count("\n") < 2:
                self._text += "\n" * (2 - between.count("\n"))
        self._text += words

    def _columns(self) -> tuple[str, ...]:
        """Return the column names of the cited rows, if their table began in an earlier passage."""
        for cited in self._citations[:1]:
            for passage in self._passages[cited.number]:
                if passage.start <= cited.start < passage.end:
                    return columns_in(passage.heading)[1]
        return ()

    # ------------------------------------------------------------ cited sentences

    def _cite(
        self, words: str, kind: BlockKind, cited: tuple[CitationDelta, ...], is_quote: bool
    ) -> None:
        """Add a sentence with its span and, at the end of its run of sentences, a mark; a quote is
        one run."""
        last = self._last if self._last and self._last.citations == cited else None
        between = self._text[last.end :] if last else ""
        leads_in = last is not None and kind == "code" and last.kind in ("paragraph", "item")
        if last is not None and (leads_in or _NOTHING.fullmatch(words)):
            start, end = self._place(words)
            self._last = replace(last, end=end) if not leads_in else None
            self._spans.append(CitedSpan(start, end, cited))
            return
        if last is not None and (is_quote or _go_on(last.kind, kind, between, words)):
            self._unmark(last)
        start, end = self._place(words)
        at, mark = _mark(words, kind, cited, margin=self._margin(start))
        self._text = f"{self._text[: start + at]}{mark}{self._text[start + at :]}"
        self._last = _Cited(kind, cited, start + at, len(mark), end + len(mark))
        self._spans.append(CitedSpan(start, end + len(mark), cited))

    def _place(self, words: str) -> tuple[int, int]:
        self._append(words)
        return len(self._text) - len(words), len(self._text)

    def _margin(self, start: int) -> str:
        """Return the white space before a block that begins at ``start``."""
        line = self._text[self._text.rfind("\n", 0, start) + 1 : start]
        return line if not line.strip() else ""

    def _unmark(self, last: _Cited) -> None:
        """Remove the mark of the last sentence, because the next one continues its run."""
        self._text = self._text[: last.at] + self._text[last.at + last.size :]
        for number in range(len(self._spans) - 1, -1, -1):
            span = self._spans[number]
            if span.end <= last.at:
                break
            moved = last.size if span.start > last.at else 0
            self._spans[number] = replace(span, start=span.start - moved, end=span.end - last.size)


def _go_on(before: BlockKind, kind: BlockKind, between: str, words: str) -> bool:
    """Return True if a sentence continues the paragraph, list, table or code of the one before."""
    if kind == "code":
        return before == "code" and not words.startswith(("```", "~~~"))
    if "row" in (before, kind):
        return before == kind and not _EMPTY_LINE.search(between)
    return before in _RUNNING and kind in _RUNNING and not _EMPTY_LINE.search(between)


def _mark(
    sentence: str, kind: BlockKind, cited: tuple[CitationDelta, ...], *, margin: str
) -> tuple[int, str]:
    """Return the position of a sentence's mark, and the mark with the space before it; "" if it
    already has all its marks, or is a heading."""
    there = numbers_in(sentence)
    marks = as_marks(each.number for each in cited if each.number not in there)
    if not marks or kind == "heading" or _NOTHING.fullmatch(sentence):
        return len(sentence), ""
    if kind == "code":
        return len(sentence), f"\n{margin}{marks}"
    return _tail(sentence), f" {marks}"


def claim_of(piece: str) -> str:
    """Return a sentence as ``check`` names it: on one line, without marks and escapes."""
    return " ".join(as_words(without_marks(piece)).split())


def at_tail(sentence: str, mark: str) -> str:
    """Return the sentence with a mark before its last punctuation, or a table row's closing bar."""
    at = _tail(sentence)
    return f"{sentence[:at]} {mark}{sentence[at:]}"


def _tail(sentence: str) -> int:
    """The position of a sentence's last punctuation or closing bar, with the space around it."""
    body = sentence.rstrip(" \t")
    is_row = body.endswith("|") and not body.endswith("\\|")
    body = (body[:-1] if is_row else body.rstrip(".!?…:。！？：")).rstrip(" \t")
    if not body:  # not before its first word
        return len(sentence)
    return len(body) - (len(body) - len(body.rstrip("\\"))) % 2


def with_numbers(answer: Answer, numbers: Mapping[int, int]) -> Answer:
    """Return an answer with its pages renumbered throughout. References to a page without a new
    number are dropped, except citations, whose pages must all have one."""
    return replace(
        answer,
        text=renumbered(answer.text, numbers),
        citations=tuple(replace(c, number=numbers[c.number]) for c in answer.citations),
        disagreements=tuple(
            replace(other, number=numbers[other.number])
            for other in answer.disagreements
            if other.number in numbers
        ),
        linked=tuple((numbers[n], url) for n, url in answer.linked if n in numbers),
    )


class Numbering:
    """The footnote numbers of one answer, continuing those of its thread.

    ``page_numbers`` maps a page's number in the run to its number in the text numbered last.
    """

    def __init__(self, thread: Transcript) -> None:
        self._kept = {
            dedupe_key(cited.url): cited.number for entry in thread.entries for cited in entry.cited
        }
        self.page_numbers: dict[int, int] = {}

    def plan(self, plan: PlanView) -> PlanView:
        """Return the plan with the pages that have a mark in the text so far."""
        numbered = [
            (self.page_numbers[n], url) for n, url in plan.numbered if n in self.page_numbers
        ]
        return replace(plan, numbered=tuple(numbered))

    def text(self, text: str, urls: Mapping[int, str]) -> str:
        """Number the text so far; ``urls`` are those of the pages, by their number in the run."""
        self._give(numbers_in(text), urls)
        return renumbered(text, self.page_numbers)

    def answer(self, answer: Answer) -> Answer:
        """Number the whole answer, with its citations and all other references to pages."""
        marked = numbers_in(answer.text)
        cited = [each.number for each in answer.citations]
        others = [number for number, _ in answer.linked]
        self._give((*marked, *cited, *others), answer.targets)
        return with_numbers(answer, self.page_numbers)

    def _give(self, numbers: Iterable[int], urls: Mapping[int, str]) -> None:
        self.page_numbers = {}
        following = max(self._kept.values(), default=0)
        for number in dict.fromkeys(numbers):
            if number not in urls:
                continue
            kept = self._kept.get(dedupe_key(urls[number]))
            if kept is None or kept in self.page_numbers.values():
                kept = following = following + 1
            self.page_numbers[number] = kept


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer as shown, its citations in order of first use, and its doubts; ``claims`` are
    the sentences to verify: the first that states something, cited or not, and all that are
    cited."""

    text: str
    citations: tuple[Citation, ...]
    doubts: tuple[Doubt, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    claims: tuple[Claim, ...] = ()


def within(passages: Sequence[Passage], delta: CitationDelta) -> list[Passage]:
    """Return the passages that a citation covers, or the cited part of a single passage."""
    covered = [p for p in passages if delta.start <= p.start and p.end <= delta.end]
    if covered or delta.start >= delta.end:
        return covered
    for passage in passages:
        if passage.start <= delta.start and delta.end <= passage.end:
            words = passage.text[delta.start - passage.start : delta.end - passage.start]
            return [replace(passage, start=delta.start, end=delta.end, text=words)]
    return []


def with_validity(source: Source, texts: Texts) -> str:
    """Return a page's title, with what is to be said about its validity."""
    said = source.validity
    if not said.state:
        return source.title
    words = texts(f"validity-{said.state}", words=said.words or "none")
    return f"{source.title} · {words}"


def citation(source: Source, passage: Passage, texts: Texts) -> Citation:
    """Return a footnote; its title says if the page does not hold."""
    return Citation(
        number=source.number,
        url=source.url,
        title=with_validity(source, texts),
        quote=passage.text,
        page_hash=source.page_hash,
        start=passage.start,
        end=passage.end,
        heading=passage.heading,
        via=source.via,
    )


MOST_SUGGESTIONS = 3
LONGEST_SUGGESTION = 75  # characters: no button or menu may hold more (Slack)
SAME = 0.6  # share of common terms (Jaccard) from which two questions count as the same
# Parts of mentions, links and markup. A pressed suggestion counts as written by the person, so it
# must not contain any.
_UNSAFE = re.compile(r"[<>@\[\]|`*\\\n⚠]|://|\bwww\.|\w\.[a-z]{2,}/", re.IGNORECASE)


def suggestions(offered: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
    """Return up to ``MOST_SUGGESTIONS`` of the ``offered`` questions, without those that repeat a
    question ``asked`` in the thread or another one, are too long for a button, or contain links or
    marks."""
    taken = [frozenset(keywords(question)) for question in asked]
    chosen: list[str] = []
    for question in offered:
        terms = frozenset(keywords(question))
        if len(question) > LONGEST_SUGGESTION or _UNSAFE.search(question):
            continue
        if question != without_controls(question) or any(_alike(terms, one) for one in taken):
            continue
        taken.append(terms)
        chosen.append(question)
    return tuple(chosen[:MOST_SUGGESTIONS])


def _alike(terms: frozenset[str], others: frozenset[str]) -> bool:
    return len(terms & others) >= SAME * len(terms | others)
