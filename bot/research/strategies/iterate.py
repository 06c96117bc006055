"""The loop: search, judge and read until the question is answered or the limits are reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from bot.core.errors import BudgetSpent
from bot.reasoning.evidence import (
    AnswerDelta,
    Evidence,
    Finish,
    Reply,
    Source,
    SubQuestion,
    Turn,
    Workspace,
)
from bot.reasoning.reasoner import OnAnswer, Researcher
from bot.research.answer.write import Composer
from bot.research.evidence.relevance import merge_sources
from bot.research.evidence.workspace import Reading, WorkspaceKeeper
from bot.research.run import Run
from bot.research.strategies.strategy import ITERATE, READING, Declaration, OneCall, Task

TURNS_BEYOND_SEARCHES = 6  # turns for reading and finishing, on top of one per search
EMPTY_TURNS = 2  # consecutive, until the loop ends by itself

EMPTY_NUDGE = "You called no tool. Search, read, or finish with your findings."
LAST_NUDGE = "This was the last turn for searching and reading: finish now with your findings."


class TurnMaker(Protocol):
    """The part of ``reasoning.reasoner.Researcher`` that a loop needs."""

    @property
    def opens(self) -> int: ...

    async def next_turn(
        self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
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
    placed: Sequence[Source] = (),
    on_text: Callable[[str], None] | None = None,
) -> Evidence:
    """Gather evidence for one question with at most ``searches`` searches, the first of them for
    the question's own queries, starting with the ``placed`` passages and the pages at ``links``. At
    most ``pages`` are chosen, by default as many as the run's budget covers.

    With ``on_text``, a reasoner that finds the whole answer in the results of the first search may
    write it at once, as the evidence's ``reply``; ``on_text`` gets the text so far.

    Ends when the reasoner finishes, the budget is spent (added to the run's notes), the turns are
    used up, or no search works at all. Raises what the reasoner raises, except ``BudgetSpent``.
    """
    # The rewrite's queries are searched before the first turn. That saves a turn: the reasoner
    # begins by judging hits instead of requesting them.
    suggested = question.queries or question.knowledge_queries
    left = searches - bool(suggested)
    # Reserve half of the run's pages for those opened without being chosen.
    chosen = run.budget.pages - (run.budget.pages // 2 if reasoner.opens else 0)
    keeper = WorkspaceKeeper(
        run,
        question,
        Workspace(
            searches_left=left,
            pages_left=chosen if pages is None else pages,
            may_reply=on_text is not None,
        ),
        replace(reading, opened=reasoner.opens),
    )
    writing: list[Composer] = []

    def on_answer(delta: AnswerDelta) -> None:
        if on_text is not None:
            if not writing:
                writing.append(Composer(Evidence(sources=merge_sources(keeper.workspace.sources))))
            writing[0].add(delta)
            on_text(writing[0].text_so_far())

    finish: Finish | None = None
    reply: Reply | None = None
    empty = 0
    try:
        keeper.place(placed)
        await keeper.give(
            links=links,
            queries=question.queries,
            knowledge_queries=question.knowledge_queries,
        )
        last = searches + TURNS_BEYOND_SEARCHES
        for number in range(1, last + 1):
            if run.unanswered and not keeper.workspace.sources:
                break  # nothing can be found, so save the call
            turn = await reasoner.next_turn(question, keeper.workspace, on_answer)
            reply = turn.reply
            finish = turn.finish
            if reply is not None:
                break
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
    if reply is not None:
        finish = Finish(enough=True)
    elif finish is None:
        finish = Finish(enough=False)
    return Evidence(
        sources=merge_sources(keeper.workspace.sources),
        carrying=merge_sources(finish.carrying),
        none_carries=finish.none_carries,
        findings=finish.findings,
        missing=finish.missing,
        enough=finish.enough,
        reply=reply.deltas if reply is not None else (),
        queries=keeper.searched,
        notes=tuple(keeper.unread),
        answer=finish.answer,
    )


async def _iterate(task: Task, reasoner: Researcher) -> Evidence:
    return await iterate(
        task.run,
        reasoner,
        task.sub_question(),
        READING,
        searches=task.searches,
        links=task.links,
        on_text=task.on_text,
    )


STRATEGY = Declaration(ITERATE, lambda task: OneCall(task, _iterate))
