"""The loop: search, judge, read, until the question is answered or an honest end is reached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol

from bot.errors import BudgetSpent
from bot.reasoning.desks import Desk, Finish, Turn
from bot.reasoning.evidence import Evidence
from bot.reasoning.questions import SubQuestion
from bot.reasoning.reasoner import OnEnough
from bot.research.desk import DeskKeeper, Reading, finish_of
from bot.research.gathered import merge_sources
from bot.research.run import Run

TURNS_BEYOND_SEARCHES = 6  # turns for reading and finishing, on top of one per search
EMPTY_TURNS = 2  # in a row, until the loop ends by itself

EMPTY_NUDGE = "You called no tool. Search, read, or finish with your findings."
LAST_NUDGE = "This was the last turn for searching and reading: finish now with your findings."


class TurnMaker(Protocol):
    """The part of a ``reasoning.reasoner.Reasoner`` that a loop is worked by."""

    @property
    def opens(self) -> int: ...

    async def next_turn(
        self, question: SubQuestion, desk: Desk, on_enough: OnEnough | None = None
    ) -> Turn: ...


async def iterate(
    run: Run,
    reasoner: TurnMaker,
    question: SubQuestion,
    reading: Reading,
    *,
    searches: int,
    pages: int | None = None,
    links: Sequence[str] = (),
    read_before: Collection[str] = (),
    write_ahead: Callable[[Evidence], None] | None = None,
) -> Evidence:
    """Gather evidence for one question with at most ``searches`` searches, the first of them for
    the question's own queries, with the pages at ``links`` to begin with. At most ``pages`` are
    read, or as many as the run's budget covers; those that the run has ``read_before`` (by
    ``pages.urls.dedupe_key``) are not counted.

    With ``write_ahead``, evidence that is enough and misses nothing carries no findings and no
    answer, which take seconds to write; it is handed there as soon as that is certain, and is to be
    used only if it is what comes back in the end.

    Ends with the reasoner's finish, a spent budget (said in the run's notes), or after a bounded
    number of turns. Raises what the reasoner raises, but for ``BudgetSpent``.
    """
    # What the rewrite suggests is searched before the first turn, which saves that turn: the
    # reasoner begins by judging hits instead of asking for them.
    suggested = question.queries or question.knowledge_queries
    left = searches - bool(suggested)
    keeper = DeskKeeper(
        run,
        question,
        Desk(searches_left=left, pages_left=run.budget.pages if pages is None else pages),
        replace(reading, opened=reasoner.opens),
        read_before,
    )

    def gathered(finish: Finish) -> Evidence:
        return Evidence(
            sources=merge_sources(keeper.desk.sources),
            findings=finish.findings,
            missing=finish.missing,
            enough=finish.enough,
            queries=keeper.searched,
            notes=tuple(keeper.unread),
            searches=searches - keeper.desk.searches_left,
            answer=finish.answer,
        )

    def on_enough() -> None:
        if write_ahead is not None:
            write_ahead(gathered(Finish(enough=True)))

    finish: Finish | None = None
    empty = 0
    try:
        await keeper.give(
            links=links,
            queries=question.queries,
            knowledge_queries=question.knowledge_queries,
        )
        last = searches + TURNS_BEYOND_SEARCHES
        for number in range(1, last + 1):
            turn = await reasoner.next_turn(question, keeper.desk, on_enough)
            finish = finish_of(turn)
            if finish is not None:
                if finish.outgrown:
                    gap = run.texts("research-outgrown")
                    finish = replace(finish, missing=(*finish.missing, gap))
                break
            empty = 0 if turn.actions else empty + 1
            if empty == EMPTY_TURNS:
                break
            nudge = EMPTY_NUDGE if empty else LAST_NUDGE if number == last - 1 else ""
            await keeper.carry_out(turn, nudge)
    except BudgetSpent as error:
        run.notes.error(error, "rests-on-found")
    evidence = gathered(finish or Finish(enough=False))
    if write_ahead is not None and evidence.enough and not evidence.missing:
        return replace(evidence, findings=(), answer="")
    return evidence
