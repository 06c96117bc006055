"""What a reasoner is: the values it is given, the values it returns, and how its calls are paid.

A reasoner thinks; it never searches, fetches or stores. The core (``bot.research``) carries out
its actions and keeps the desk. Every method must be a pure function of its arguments and of the
replies to its model calls, so that an interrupted run can be replayed from its journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bot.messages import Depth, Message, Transcript
from bot.pages.passages import Passage
from bot.reasoning.drafts import Manuscript, Paragraph
from bot.search.provider import Freshness, Hit

if TYPE_CHECKING:
    from bot.reasoning.graphs import Graph, GraphEdit

Kind = Literal["chat", "search", "links"]


# ---------------------------------------------------------------- the question


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the asker wants to have searched first; what is empty is not restricted.

    As in ``search.provider.Query``: how long ago a page may have appeared, hosts, a country.
    """

    freshness: Freshness = ""
    domains: tuple[str, ...] = ()
    region: str = ""


ANYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message as a standalone question.

    ``queries`` are short keyword queries for the web, ``knowledge_queries`` the same for local
    documents; ``links`` are URLs to read; ``whole`` says that what they say as a whole is asked
    for (a summary, a comparison), not one fact. ``scope`` restricts the first searches.
    ``language`` is a BCP 47 tag. ``reply`` is the finished answer when ``kind`` is ``chat``.
    ``earlier`` is an answer of ours that is to be reworked ("shorter, please").
    """

    kind: Kind
    question: str
    queries: tuple[str, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    language: str = "en"
    depth: Depth = "standard"
    long_form: bool = False
    reply: str = ""
    whole: bool = False
    scope: Scope = ANYWHERE
    earlier: str = ""


# ---------------------------------------------------------------- actions and what they gave


@dataclass(frozen=True, slots=True)
class Search:
    """Search each query; all at once."""

    queries: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Read hits by their number on the desk."""

    ids: tuple[int, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact, and the numbers of the pages that show it."""

    text: str
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """Stop gathering: what was found, whether it is enough, what is still unproven."""

    findings: tuple[Finding, ...] = ()
    enough: bool = True
    missing: tuple[str, ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A call that could not be understood; the core answers it with ``problem``."""

    problem: str
    id: str = ""


Action = Search | Read | Finish | Malformed


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reasoner does next: several actions may come at once; none is an empty turn.

    ``said`` is the reasoner's own record of the turn (for Claude: the assistant's content blocks,
    to be sent back word for word). The core keeps it and never looks inside.
    """

    actions: tuple[Action, ...]
    said: Any = None


@dataclass(frozen=True, slots=True)
class NumberedHit:
    """A hit with the number the reasoner chooses it by; numbers count up over the whole desk.

    ``seen`` is true for a URL that an earlier search of this desk already showed (then the number
    is the earlier one); ``page`` is its citation number if it has been read, else None.
    """

    number: int
    hit: Hit
    seen: bool = False
    page: int | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Hits of one query; ``note`` says what the reasoner should know (a near-repeat, a failure)."""

    query: str
    hits: tuple[NumberedHit, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: its citation number and the passages that matter here, in page order.

    The same number is the same page for the whole run.
    """

    number: int
    url: str
    title: str
    passages: tuple[Passage, ...]
    page_hash: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The outcome of reading one hit: a source with the passages not shown before, or a note."""

    number: int
    source: Source | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one action gave, in the order of the turn's actions.

    ``queries`` for a Search, ``reads`` for a Read, ``problem`` for anything refused.
    """

    action: str
    queries: tuple[QueryResult, ...] = ()
    reads: tuple[ReadResult, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DeskTurn:
    """One finished turn; ``nudge`` is the core's remark on an empty turn or a spent budget."""

    turn: Turn
    outcomes: tuple[Outcome, ...]
    nudge: str = ""


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """What one loop has to answer, with what is already known about it (findings handed down) and
    ``missing``, what was looked for before and not found.

    ``queries`` (for the web), ``knowledge_queries`` (for documents) and ``scope`` are of the first
    search; ``whole`` asks for pages as a whole. See ``Rewritten``.
    """

    text: str
    language: str = "en"
    queries: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()
    knowledge_queries: tuple[str, ...] = ()
    scope: Scope = ANYWHERE
    whole: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Desk:
    """All that a loop has asked and seen, in order; a new turn only ever appends.

    ``given`` are outcomes from before the first turn (links the asker sent, a first search made
    while the question was being rewritten). ``searches_left`` counts Search actions (one may hold
    several queries), ``pages_left`` pages still to be read.
    """

    given: tuple[Outcome, ...] = ()
    turns: tuple[DeskTurn, ...] = ()
    searches_left: int = 5
    pages_left: int = 12

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every source on the desk, in the order they came; a page may occur more than once."""
        outcomes = (*self.given, *(o for turn in self.turns for o in turn.outcomes))
        return tuple(r.source for o in outcomes for r in o.reads if r.source is not None)

    @property
    def results(self) -> tuple[QueryResult, ...]:
        """Every query's result on the desk, in the order they came."""
        outcomes = (*self.given, *(o for turn in self.turns for o in turn.outcomes))
        return tuple(q for o in outcomes for q in o.queries)


# ---------------------------------------------------------------- evidence and the written answer


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a strategy gathered. ``sources`` has one entry per page, ordered by number.

    ``queries`` is all that was searched; ``notes`` are sentences about what went wrong on the way.
    """

    sources: tuple[Source, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: tuple[str, ...] = ()
    enough: bool = False
    queries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer (Markdown, may hold ``[n]`` marks).

    ``opens`` marks the beginning of a new block: later citations do not speak for what came
    before it.
    """

    text: str
    opens: bool = False


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
    """Forget what was written so far: the stream was cut and begins anew."""


AnswerDelta = TextDelta | CitationDelta | Restart


# ---------------------------------------------------------------- paying for model calls


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the API counted for one attempt at a call; ``hour_write`` is the part of
    ``cache_write`` that is kept for an hour instead of five minutes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    hour_write: int = 0


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A finished model call as the journal keeps it.

    ``content`` are the reply's content blocks as JSON. Token counts are the API's own, summed over
    all attempts; ``hour_write_tokens`` is part of ``cache_write_tokens``. ``cut`` are the attempts
    that broke off before the one that gave the reply, each counted by itself: the price of a prompt
    may depend on its length. ``geo`` is where the API says it worked ("us", "global" or "").
    """

    model: str
    content: list[dict[str, Any]]
    stop_reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    stop_details: dict[str, Any] = field(default_factory=dict)
    hour_write_tokens: int = 0
    cut: tuple[Tokens, ...] = ()
    geo: str = ""


class ModelCalls(Protocol):
    """How a reasoner makes its calls: each is a budgeted, recorded step of the run.

    ``request`` is the whole request as JSON; its hash is the step's key, so it must come out the
    same on every attempt. A call that is already in the journal is not sent again.
    ``now`` is the moment the run was accepted, fixed for all attempts.
    """

    now: datetime

    async def call(
        self,
        request: Mapping[str, Any],
        send: Callable[[], Awaitable[ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> ModelReply: ...

    def stream(
        self,
        request: Mapping[str, Any],
        open: Callable[[], AsyncIterator[AnswerDelta | ModelReply]],
        *,
        kind: str,
        title: str,
    ) -> AsyncIterator[AnswerDelta]:
        """Pass on the deltas of ``open()``, whose last item is the ModelReply, and record them."""
        ...

    def lost(self, reply: ModelReply) -> None:
        """What the API counted for a call that came to nothing: it failed, or was stopped."""
        ...


# ---------------------------------------------------------------- the protocol


class Reasoner(Protocol):
    """Who thinks. Claude and the extractive reasoner implement all of it.

    Every method raises ``ModelUnavailable``, ``CredentialsRefused``, ``ModelRefused``,
    ``ModelBroken`` or ``BudgetSpent``, nothing else of its own.
    """

    name: str

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten: ...

    async def next_turn(self, question: SubQuestion, desk: Desk) -> Turn: ...

    async def plan(self, question: SubQuestion, graph: Graph) -> GraphEdit:
        """Sub-questions to begin with or to add; a reply that is none is the edit's problem."""
        ...

    def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]: ...

    async def draft(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> tuple[Paragraph, ...]:
        """The paragraphs of a report, 3 to 8 of them if there is that much to say.

        ``evidence`` is what a first look found; a draft rests on memory as well.
        """
        ...

    async def queries(self, question: Rewritten, manuscript: Manuscript) -> tuple[str, ...]:
        """1 to 3 queries for what the paragraph in hand has to be checked against."""
        ...

    def revise(
        self,
        question: Rewritten,
        manuscript: Manuscript,
        evidence: Evidence,
        instructions: str = "",
    ) -> AsyncIterator[AnswerDelta]:
        """The paragraph in hand, corrected against the evidence and resting on nothing else.

        What was not found comes last, as a block quote; so does the whole when nothing was.
        """
        ...


ReasonerFactory = Callable[[ModelCalls], Reasoner]
