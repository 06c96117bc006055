"""Evidence, the deltas of an answer written from it, and verdicts on its sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.messages import Judgement
from bot.pages.passages import Passage


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact, and the numbers of the pages that support it."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: its citation number and relevant passages, in page order.

    A number means the same page during the whole run. ``via`` is as in ``bot.pages.page.Page``.
    """

    number: int
    url: str
    title: str
    passages: tuple[Passage, ...]
    page_hash: str
    fetched_at: datetime
    via: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence gathered by a strategy. ``sources`` has one entry per page, ordered by number.
    ``carrying`` are the sources, with passages, named as proof of the answer; if it is empty,
    ``none_carries`` says whether the reasoner stated that none is. ``reply`` is the answer itself
    if it was written while gathering. ``queries`` are all queries sent; ``notes`` are sentences
    about problems on the way; ``answer`` is that of a ``Finish``. ``rarity`` maps terms of the
    queries to their rarity in the documents searched (``search.provider.Lexicon``); it is empty if
    unknown.
    """

    sources: tuple[Source, ...] = ()
    carrying: tuple[Source, ...] = ()
    none_carries: bool = False
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()
    enough: bool = False
    reply: tuple[AnswerDelta, ...] = ()
    queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    answer: str = ""
    rarity: dict[str, float] = field(default_factory=dict)

    def for_writing(self) -> Evidence:
        """Return the evidence limited to the sources that prove the answer, if known."""
        is_known = self.carrying or self.none_carries
        return replace(self, sources=self.carrying) if is_known else self


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer (Markdown, may hold ``[n]`` marks).

    ``opens`` marks the beginning of a new block: later citations do not apply to text before it.
    ``verbatim`` text was copied from a page: its code, tables and list items are structure, every
    other character is shown literally, and nothing in it is a mark. ``has_marks`` is False if
    citations come as ``CitationDelta``: typed marks are then not footnotes.
    """

    text: str
    opens: bool = False
    verbatim: bool = False
    has_marks: bool = True


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """These words support the text since the last CitationDelta or the beginning of the block.

    ``number`` is the source's; ``start:end`` is a character span of its page.
    """

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Discard the text so far: the stream was interrupted and starts over."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The text ends here unfinished, because it has reached a limit of output tokens."""

    limit: int


@dataclass(frozen=True, slots=True)
class Suggested:
    """Questions that the writer offers to ask next, as it worded them."""

    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A measure of how well the words of the best passage answer the question, for the trace.

    ``covered`` is the share of the question that the passage covers, ``enough`` the share needed
    for an answer, both from 0; ``unknown`` are names in the question that no document has, so that
    there is no answer.
    """

    covered: float
    enough: float
    unknown: tuple[str, ...] = ()


AnswerDelta = TextDelta | CitationDelta | Restart | Cut | Suggested | Judged


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One part of a draft: a topic of a report, written from the model's memory and never shown
    unchanged.

    ``heading`` names the topic ("" for an introduction), ``purpose`` says what a reader should
    learn from it, ``text`` is the draft in Markdown, without footnotes.
    """

    heading: str
    purpose: str
    text: str

    @property
    def topic(self) -> str:
        """A name for the paragraph, even without a heading."""
        return self.heading or self.purpose or " ".join(self.text.split()[:8])


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A snapshot of a report: the revised paragraphs, the current paragraph, and the topics to
    come.

    ``revised`` are the finished paragraphs as Markdown, each under its heading, without footnote
    marks; later manuscripts of the same report only append to them.
    """

    revised: tuple[str, ...]
    paragraph: Paragraph
    to_come: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, without marks, and its quotes.

    ``places`` has the page and headings of each quote, ``citations`` its span; () if unknown.
    """

    text: str
    quotes: tuple[str, ...]
    places: tuple[str, ...] = ()
    citations: tuple[CitationDelta, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement to be checked: as written (``text``), and reworded to be understood on its own
    (``alone``). ``queries`` find pages about it; () if it cannot be checked (an opinion, a
    wish)."""

    text: str
    alone: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judgement on a claim. ``words`` are the sentence's words that its quotes do not support, if
    it is only partly supported or not at all."""

    judgement: Judgement
    words: str = ""


@dataclass(frozen=True, slots=True)
class Restated:
    """A claim in words that quotes support; "" if none do. ``citations`` are those of quotes of
    other claims that it needs besides its own."""

    text: str = ""
    citations: tuple[CitationDelta, ...] = ()
