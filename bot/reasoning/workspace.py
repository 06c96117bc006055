"""The workspace of a loop: what a reasoner asked for and what it was shown, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bot.reasoning.evidence import AnswerDelta, Finding, Source
from bot.search.provider import Hit


@dataclass(frozen=True, slots=True)
class Search:
    """Search each query; all at once."""

    queries: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Read hits by their number on the workspace."""

    ids: tuple[int, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """Stop gathering: what was found, whether it is enough, what is still unproven.

    ``carrying`` are the pages that prove the answer, each with the passages that do;
    ``none_carries`` says that no page shown tells anything of it. ``answer`` is
    the question's in a few words, for queries that build on it; "" if there is none.
    ``outgrown`` says that it had to end because the workspace is more than the model can take in.
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
    """Stop gathering with the answer itself, written from what is on the workspace."""

    deltas: tuple[AnswerDelta, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A call that could not be understood; the core answers it with ``problem``."""

    problem: str
    id: str = ""


Action = Search | Read | Finish | Reply | Malformed


@dataclass(frozen=True, slots=True)
class Turn:
    """A reasoner's next actions: several may come at once; none is an empty turn.

    ``said`` is the reasoner's own record of the turn (for Claude: the assistant's content blocks,
    to be sent back word for word). The core keeps it and never looks inside.
    """

    actions: tuple[Action, ...]
    said: Any = None

    @property
    def reply(self) -> Reply | None:
        """The turn's Reply, if it has one."""
        return next((action for action in self.actions if isinstance(action, Reply)), None)

    @property
    def finish(self) -> Finish | None:
        """The turn's Finish, if it is the only thing in it."""
        only = self.actions[0] if len(self.actions) == 1 else None
        return only if isinstance(only, Finish) else None


@dataclass(frozen=True, slots=True)
class NumberedHit:
    """A hit with its number, which is also that of its page; they count up over the whole
    workspace.

    ``seen`` is true for a URL that an earlier search of this workspace already showed (then the
    number is the earlier one); ``page`` is its citation number if it has been read, else None.
    """

    number: int
    hit: Hit
    seen: bool = False
    page: int | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Hits of one query; ``note`` says what the reasoner should know (a near-repeat, a failure).

    ``rarity`` is that of the query's terms in the documents searched (``search.provider.Lexicon``),
    empty where it is not known.
    """

    query: str
    hits: tuple[NumberedHit, ...]
    note: str = ""
    rarity: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The outcome of reading one hit: a source with the passages not shown before, or a note.

    ``number`` is the page's on the workspace. With these passages all of the page was shown if
    ``whole``.
    """

    number: int
    source: Source | None
    note: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one action, in the order of the turn's actions.

    ``queries`` for a Search, ``reads`` for a Read, ``problem`` for anything refused. A search is
    ``unanswered``, and does not count, if every one of its queries failed.
    """

    action: str
    queries: tuple[QueryResult, ...] = ()
    reads: tuple[ReadResult, ...] = ()
    problem: str = ""
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceTurn:
    """One finished turn; ``nudge`` is the core's remark on an empty turn or a spent budget,
    ``pages_left`` how many pages could still be read after it."""

    turn: Turn
    outcomes: tuple[Outcome, ...]
    nudge: str = ""
    pages_left: int = 0


@dataclass(frozen=True, slots=True)
class Workspace:
    """All that a loop has asked and seen, in order; a new turn only ever appends.

    ``given`` are outcomes from before the first turn (links the asker sent, a first search made
    while the question was being rewritten). ``searches_left`` counts Search actions (one may hold
    several queries), ``pages_left`` pages still to be read, ``pages_given`` as many as before the
    first turn. With ``may_reply`` a ``Reply`` can end
    the loop.
    """

    given: tuple[Outcome, ...] = ()
    turns: tuple[WorkspaceTurn, ...] = ()
    searches_left: int = 5
    pages_left: int = 12
    pages_given: int = 12
    may_reply: bool = False

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every outcome on the workspace, in the order they came."""
        return (*self.given, *(o for turn in self.turns for o in turn.outcomes))

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every source on the workspace, in the order they came; a page may occur more than
        once."""
        return tuple(r.source for o in self.outcomes for r in o.reads if r.source is not None)

    @property
    def results(self) -> tuple[QueryResult, ...]:
        """Every query's result on the workspace, in the order they came."""
        return tuple(q for o in self.outcomes for q in o.queries)

    @property
    def rarity(self) -> dict[str, float]:
        """The rarity of the terms of all queries in the documents searched, where it is known."""
        return {term: idf for result in self.results for term, idf in result.rarity.items()}
