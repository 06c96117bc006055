"""The workspace of a loop: a reasoner's actions and their results, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bot.reasoning.evidence import AnswerDelta, Finding, Source
from bot.search.provider import Hit


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

    ``seen`` is True for a URL already shown by an earlier search of this workspace (with the same
    number); ``page`` is its citation number if it has been read, else None.
    """

    number: int
    hit: Hit
    seen: bool = False
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
