"""Values between the core and a reasoner: questions, evidence, the workspace of a loop, the deltas
of an answer, and verdicts on its sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from bot.core.messages import Depth, Entry, Judgement
from bot.pages.passages import Passage
from bot.pages.urls import with_names
from bot.pages.validity import HOLDS, Validity
from bot.search.filters import NO_FILTER, Filter
from bot.search.provider import ANY_TALK, Freshness, Hit, Talk


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact, and the numbers of the pages that support it."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: its citation number and relevant passages, in page order.

    A number means the same page during the whole run. ``via`` is as in ``bot.pages.page.Page``.
    ``validity`` is what the page says of itself, or another page read says of it.
    """

    number: int
    url: str
    title: str
    passages: tuple[Passage, ...]
    page_hash: str
    fetched_at: datetime
    via: str = ""
    validity: Validity = HOLDS

    @property
    def named(self) -> str:
        """The title with the names of a document's folder and file."""
        return with_names(self.title, self.url)


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
class Searched:
    """The queries sent at once for the paragraph on ``topic``, and the titles of the pages found
    that it cites."""

    topic: str
    queries: tuple[str, ...]
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A snapshot of a report: the revised paragraphs, the current paragraph, and the topics to
    come.

    ``revised`` are the finished paragraphs as Markdown, each under its heading, without footnote
    marks; later manuscripts of the same report only append to them. ``gaps`` are the sentences on
    what they could not show. If ``opens``, the current paragraph is the opening, which sums up all
    others.
    """

    revised: tuple[str, ...]
    paragraph: Paragraph
    to_come: tuple[str, ...] = ()
    searched: tuple[Searched, ...] = ()
    gaps: tuple[str, ...] = ()
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, without marks, and its quotes.

    ``places`` has the page and headings of each quote, ``citations`` its span; () if unknown. The
    first sentence, and one without quotes, may rest ``anywhere``: on the quotes of others too.
    """

    text: str
    quotes: tuple[str, ...]
    places: tuple[str, ...] = ()
    citations: tuple[CitationDelta, ...] = ()
    anywhere: bool = False


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
    it is only partly supported or not at all. ``citations`` are those of quotes of other claims
    that it needs besides its own."""

    judgement: Judgement
    words: str = ""
    citations: tuple[CitationDelta, ...] = ()


@dataclass(frozen=True, slots=True)
class Restated:
    """A claim in words that quotes support; "" if none do. ``citations`` are those of quotes of
    other claims that it needs besides its own."""

    text: str = ""
    citations: tuple[CitationDelta, ...] = ()


Kind = Literal["chat", "search", "links", "sources", "thread"]
"""A reply without research; a search; pages to read; what our sources were; what our answers in the
thread have found so far."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Restrictions of a search; empty fields mean no restriction.

    As in ``search.provider.Query``: the age of pages, hosts, a country, colleagues' messages.
    """

    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    region: str = ""
    talk: Talk = ANY_TALK


ANYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message as a standalone question.

    ``queries`` are short keyword queries for the web, ``knowledge_queries`` the same for local
    documents; ``links`` are URLs to read, of which those in ``first`` came with the message itself
    and are quoted if they answer it; ``whole`` is True if the question is about their whole
    content (a summary, a comparison), not one fact. ``scope`` restricts the first searches,
    ``only`` all searches in documents.
    ``language`` is a BCP 47 tag. ``reply`` is the finished answer when ``kind`` is ``chat``.
    ``recalled`` are our answers that the message is about, with the footnotes it refers to;
    ``earlier`` is the part of their text to be reworked ("shorter, please"). ``correction`` is the
    message's correction of our last answer as a standalone statement, or "". A mere correction is
    ``chat``, without a reply. ``own`` are the words of a message that got the thread's topic only
    for being short. ``for_us`` is False if the message was unaddressed, and is for other people in
    the thread: it gets no reply.
    """

    kind: Kind
    question: str
    queries: tuple[str, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    language: str = "en"
    depth: Depth = "standard"
    long_form: bool = False
    reply: str = ""
    whole: bool = False
    scope: Scope = ANYWHERE
    only: Filter = NO_FILTER
    earlier: str = ""
    recalled: tuple[Entry, ...] = ()
    correction: str = ""
    own: str = ""
    for_us: bool = True


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """The question of one loop, with the findings already ``known`` and what was searched for but
    ``missing``.

    ``queries`` (for the web), ``knowledge_queries`` (for documents) and ``scope`` are for the first
    search, ``whole`` is as in ``Rewritten``. ``tried`` are the queries so far, if exhaustive.
    """

    text: str
    language: str = "en"
    queries: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    scope: Scope = ANYWHERE
    whole: bool = False
    missing: tuple[str, ...] = ()
    tried: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """Search all queries concurrently."""

    queries: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Read hits by their number in the workspace."""

    ids: tuple[int, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """Stop gathering: the findings, whether they are enough, and what is still unproven.

    ``carrying`` are the pages that prove the answer, each with the relevant passages;
    ``none_carries`` means that no page shown is relevant. ``answer`` is the answer in a few words,
    for queries that depend on it; "" if there is none. ``outgrown`` means that it ended because the
    workspace is too large for the model.
    """

    findings: tuple[Finding, ...] = ()
    enough: bool = True
    missing: tuple[str, ...] = ()
    id: str = ""
    outgrown: bool = False
    answer: str = ""
    carrying: tuple[Source, ...] = ()
    none_carries: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """Stop gathering with the answer itself, written from the workspace."""

    deltas: tuple[AnswerDelta, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A tool call that could not be understood; the core answers it with ``problem``."""

    problem: str
    id: str = ""


Action = Search | Read | Finish | Reply | Malformed


@dataclass(frozen=True, slots=True)
class Turn:
    """A reasoner's next actions; an empty turn has none.

    ``said`` is the reasoner's own record of the turn (for Claude: the assistant's content blocks,
    to be sent back unchanged). The core stores it without reading it.
    """

    actions: tuple[Action, ...]
    said: Any = None

    @property
    def reply(self) -> Reply | None:
        """The turn's ``Reply``, if it has one."""
        return next((action for action in self.actions if isinstance(action, Reply)), None)

    @property
    def finish(self) -> Finish | None:
        """The turn's ``Finish``, if it is the only action."""
        only = self.actions[0] if len(self.actions) == 1 else None
        return only if isinstance(only, Finish) else None


@dataclass(frozen=True, slots=True)
class NumberedHit:
    """A hit with its number, which is also its page's number; numbers increase over the whole
    workspace.

    A URL has the same number in all searches. ``page`` is its citation number if it has been read,
    else None.
    """

    number: int
    hit: Hit
    page: int | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The hits of one query; ``note`` is a remark for the reasoner (a near-repeat, a failure).

    ``rarity`` is that of the query's terms in the documents searched (``search.provider.Lexicon``),
    empty if unknown.
    """

    query: str
    hits: tuple[NumberedHit, ...]
    note: str = ""
    rarity: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading one hit: a source with the passages not shown before, or a note.

    ``number`` is the page's number in the workspace. If ``whole``, these passages complete the
    page.
    """

    number: int
    source: Source | None
    note: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one action.

    ``queries`` are for a ``Search``, ``reads`` for a ``Read``, ``problem`` for anything refused. A
    search is ``unanswered``, and does not count, if all of its queries failed.
    """

    action: str
    queries: tuple[QueryResult, ...] = ()
    reads: tuple[ReadResult, ...] = ()
    problem: str = ""
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceTurn:
    """One finished turn; ``nudge`` is the core's remark on an empty turn or a spent budget,
    ``pages_left`` the number of pages that could still be read after it."""

    turn: Turn
    outcomes: tuple[Outcome, ...]
    nudge: str = ""
    pages_left: int = 0


@dataclass(frozen=True, slots=True)
class Workspace:
    """All actions and results of a loop, in order; a new turn only appends.

    ``given`` are outcomes from before the first turn (the asker's links, a first search).
    ``searches_left`` counts ``Search`` actions (each may have several queries), ``pages_left`` the
    pages that may still be read, ``pages_given`` their number before the first turn. With
    ``may_reply``, a ``Reply`` can end the loop.
    """

    given: tuple[Outcome, ...] = ()
    turns: tuple[WorkspaceTurn, ...] = ()
    searches_left: int = 5
    pages_left: int = 12
    pages_given: int = 12
    may_reply: bool = False

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome in the workspace, in order."""
        return (*self.given, *(o for turn in self.turns for o in turn.outcomes))

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every source in the workspace, in order; a page may occur more than once."""
        return tuple(r.source for o in self.outcomes for r in o.reads if r.source is not None)

    @property
    def results(self) -> tuple[QueryResult, ...]:
        """Every query's result in the workspace, in order."""
        return tuple(q for o in self.outcomes for q in o.queries)

    @property
    def rarity(self) -> dict[str, float]:
        """The rarity of the terms of all queries in the documents searched, if known."""
        return {term: idf for result in self.results for term, idf in result.rarity.items()}
