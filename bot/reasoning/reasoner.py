"""What a reasoner is: the values it is given, the values it returns, and how its calls are paid.

A reasoner thinks; it never searches, fetches or stores. The core (``bot.research``) carries out
its actions and keeps the desk. Every method must be a pure function of its arguments and of the
replies to its model calls, so that an interrupted run can be replayed from its journal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from bot.messages import Depth, Message, Transcript
from bot.pages.passages import Passage
from bot.search.provider import Hit

Kind = Literal["chat", "search", "links"]


# ---------------------------------------------------------------- the question


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A message as a standalone question.

    ``queries`` are short keyword queries for the web, ``knowledge_queries`` the same for local
    documents; ``links`` are URLs to read. ``language`` is a BCP 47 tag. ``reply`` is the finished
    answer when ``kind`` is ``chat``.
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
    """What one loop has to answer, with what is already known about it (findings handed down)."""

    text: str
    language: str = "en"
    queries: tuple[str, ...] = ()
    known: tuple[Finding, ...] = ()


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
class ModelReply:
    """A finished model call as the journal keeps it.

    ``content`` are the reply's content blocks as JSON; token counts are the API's own.
    """

    model: str
    content: list[dict[str, Any]]
    stop_reason: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    stop_details: dict[str, Any] = field(default_factory=dict)


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

    def write(
        self, question: Rewritten, evidence: Evidence, instructions: str = ""
    ) -> AsyncIterator[AnswerDelta]: ...


ReasonerFactory = Callable[[ModelCalls], Reasoner]
