"""Failed nodes of a graph: told in the reader's language, and the same on every attempt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.errors import (
    BudgetSpent,
    CredentialsRefused,
    FootnoteError,
    ModelBroken,
    ModelRefused,
    ModelUnavailable,
)
from bot.reasoning.evidence import Evidence, SubQuestion, Turn, Workspace
from bot.reasoning.graphs import GraphEdit
from bot.reasoning.reasoner import OnAnswer
from bot.research.run import Run
from tests.fakes.journal import MemoryJournal
from tests.fakes.library import a_shelf
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.research.strategies.graph_stage import (
    ASKED,
    Reader,
    Timed,
    a_run,
    complete,
    node,
    play,
    text,
)
from tests.unit.samples import NOW


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailable("Away: try again."), "暂时无法连接语言模型。"),
        (CredentialsRefused("The key is wrong."), "语言模型不接受所用的密钥。"),
        (ModelRefused("It declined: ask otherwise."), "语言模型拒绝处理这个问题。"),
        (ModelBroken("Nonsense: try again."), "语言模型的回复无法使用。"),
    ],
)
def test_why_a_part_failed_is_said_in_the_askers_language(
    error: FootnoteError, reason: str
) -> None:
    run = a_run(locale="zh-Hans")
    reasoner = Timed(edits=complete(node("a"), node("b")), endings={text("b"): error})

    @in_virtual_time
    async def work() -> None:
        await play(reasoner, run)

    work()
    assert list(run.notes) == [f"未能查明“{text('b')}”：{reason}"]
    details = {line.id: line.detail for line in run.steps}
    assert details == {"node-a": "", "node-b": reason, "node-z": ""}


def again(journal: MemoryJournal) -> MemoryJournal:
    """The state that the next attempt at the run finds."""
    return MemoryJournal(journal.shelved)


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("Away."), ModelRefused("No."), ModelBroken("?"), BudgetSpent("Spent.")],
)
def test_what_failed_fails_again_where_it_failed_before(error: FootnoteError) -> None:
    shelf = a_shelf(*[f"Page {n} says fact {n}." for n in range(4)])
    edits = complete(node("a"), node("b"), node("c", "a"))

    @in_virtual_time
    async def work() -> None:
        failing = Reader(edits=edits, endings={text("a"): error})
        first = a_run(shelf, journal := MemoryJournal())
        expected = await play(failing, first)
        healthy = Reader(edits=edits)
        resumed = a_run(shelf, again(journal))
        assert await play(healthy, resumed) == expected
        assert healthy.asked[text("c")] == failing.asked[text("c")]
        assert len(healthy.desks_of[text("a")]) == 2, "it is asked up to where it failed"
        assert resumed.sources == first.sources, "what it had read by then is there too"
        assert list(resumed.notes) == list(first.notes)
        assert resumed.usage.pages == first.usage.pages

    work()


@in_virtual_time
async def test_a_planner_that_could_not_extend_the_plan_does_not_on_the_next_attempt() -> None:
    edits = (GraphEdit((node("a"), node("b"))), GraphEdit((node("c"),), done=True))
    journal = MemoryJournal()
    away = Timed(edits=edits, planning={1: ModelUnavailable("Away.")})
    expected = await play(away, a_run(journal=journal))
    assert await play(Timed(edits=edits), a_run(journal=again(journal))) == expected


@in_virtual_time
async def test_an_edited_question_does_not_fail_because_the_earlier_one_did() -> None:
    journal = MemoryJournal()
    edits = complete(node("a"), node("b"))
    await play(Timed(edits=edits, endings={text("a"): ModelRefused("No.")}), a_run(journal=journal))
    edited = a_run(journal=again(journal))
    edited.now = NOW.replace(year=NOW.year + 1)
    assert (await play(Timed(edits=edits), edited)).enough


@in_virtual_time
async def test_who_is_begun_when_a_budget_runs_out_is_the_same_on_every_attempt() -> None:
    edits = complete(node("a"), node("b"), node("c", "a"), node("d", "b"))

    class Spending(Timed):
        """Spends the budget with the end of b."""

        run: Run

        async def next_turn(
            self, question: SubQuestion, workspace: Workspace, on_answer: OnAnswer | None = None
        ) -> Turn:
            turn = await super().next_turn(question, workspace, on_answer)
            if question.text == text("b"):
                self.run.budget = replace(self.run.budget, model_calls=0)
            return turn

    async def attempt(journal: MemoryJournal, **seconds: float) -> tuple[Spending, Evidence]:
        reasoner = Spending(edits=edits, seconds={text(id): of for id, of in seconds.items()})
        reasoner.run = a_run(journal=journal)
        return reasoner, await play(reasoner, reasoner.run)

    first, expected = await attempt(journal := MemoryJournal(), a=1, b=3, c=9)
    assert set(first.begun) == {text("a"), text("b"), text("c"), ASKED.text}
    # b is the first to end now: but c was begun, and what it found is paid for.
    second, evidence = await attempt(again(journal), a=4, b=1, c=9)
    assert set(second.begun) == set(first.begun)
    assert evidence == expected
    # And d was not, though there is budget left where it could begin.
    third = Timed(edits=edits)
    assert await play(third, a_run(journal=again(journal))) == expected
    assert text("d") not in third.begun
