"""Evidence, what is written from it piece by piece, and verdicts on its sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.answers import Judgement
from bot.pages.passages import Passage


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact, and the numbers of the pages that show it."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: its citation number and the passages that matter here, in page order.

    The same number is the same page for the whole run. ``via`` as in ``bot.pages.page.Page``.
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
    """The evidence that a strategy gathered. ``sources`` has one entry per page, ordered by number.

    ``carrying`` are those of them, with the passages, that were named as proving the answer; empty
    where none were, and ``none_carries`` where it was said that none does. ``reply`` is the answer
    itself where it was written while gathering. ``queries`` is all that was searched; ``notes`` are
    sentences about what went wrong on the way; ``answer`` is that of a ``Finish``. ``rarity`` has
    for terms of the queries how rare they are in the documents searched
    (``search.provider.Lexicon``); it is empty where that is not known.
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
        """With the sources that carry the answer alone, where they are known."""
        is_known = self.carrying or self.none_carries
        return replace(self, sources=self.carrying) if is_known else self


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer (Markdown, may hold ``[n]`` marks).

    ``opens`` marks the beginning of a new block: later citations do not speak for what came
    before it. ``verbatim`` text was taken from a page as it stands there: its code, tables and
    list items are structure, every other character is shown, and nothing in it is a mark.
    ``has_marks`` is false where citations come as ``CitationDelta``: a mark that is typed there
    all the same is no footnote.
    """

    text: str
    opens: bool = False
    verbatim: bool = False
    has_marks: bool = True


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """The text since the last CitationDelta, or since the block opened, rests on these words.

    ``number`` is the source's; ``start:end`` is a character span of its page.
    """

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Restart:
    """Forget what was written so far: the stream was cut and starts over."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The text ends here although it is not finished: it has reached a limit of output tokens."""

    limit: int


@dataclass(frozen=True, slots=True)
class Fold:
    """The answer proper ends here; what follows is further reading, shown folded where that can
    be done. A second one in the same stream has no effect."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A measure of how well the words of the best passage answer the question, for the trace.

    ``covered`` is the share of what the question asks that the passage has, ``enough`` the share
    that makes it an answer, both from 0; ``unknown`` are names in the question that no document
    has, which rule an answer out.
    """

    covered: float
    enough: float
    unknown: tuple[str, ...] = ()


AnswerDelta = TextDelta | CitationDelta | Restart | Cut | Fold | Judged


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One part of a draft: a topic of a report, written from memory and never shown as it is.

    ``heading`` names the topic ("" for an opening that needs none), ``purpose`` says what a reader
    is to learn from it, ``text`` is the draft in Markdown, without footnotes.
    """

    heading: str
    purpose: str
    text: str

    @property
    def topic(self) -> str:
        """Its name where it needs one."""
        return self.heading or self.purpose or " ".join(self.text.split()[:8])


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A report at one moment: what is revised, the paragraph in hand, the topics still to come.

    ``revised`` are the finished paragraphs as Markdown, each under its heading, without footnote
    marks; a later manuscript of the same report only ever appends to them.
    """

    revised: tuple[str, ...]
    paragraph: Paragraph
    to_come: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A cited sentence of an answer, without marks, and the words that it cites.

    ``places`` tells of each quote on what page and under which headings it stands; () if that is
    not known.
    """

    text: str
    quotes: tuple[str, ...]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a text that is to be checked: as it stands there (``text``), and so that it
    can be understood alone (``alone``). ``queries`` find pages that speak of it; () where it cannot
    be checked (an opinion, a wish)."""

    text: str
    alone: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """``words`` are those of the sentence that its quotes do not say, if it is supported partly
    or not at all."""

    judgement: Judgement
    words: str = ""
