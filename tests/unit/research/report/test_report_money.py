"""Reports and money: what is checked before each paragraph, and what needs no money at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from bot.core.errors import BudgetSpent, FootnoteError, ModelUnavailable
from bot.reasoning.calls import ModelReply
from bot.reasoning.evidence import AnswerDelta, Paragraph
from bot.research.budget import DayLimits, Days
from bot.storage.reservations import Holder, Permit, Reservation
from bot.storage.spending import Amount, DaySpent, Payer
from tests.fakes.library import a_shelf
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.research.report.test_report import (
    DRAFTS,
    PLENTY,
    QUESTION,
    Play,
    Writer,
    first_page,
    topical,
)
from tests.unit.samples import NOW

ADA = Payer("slack", "T1", "C1", "U1")
DAY = 0.001  # USD a day


class Ledger:
    """The spending of a run on that day: as much as ``spent`` says."""

    def __init__(self, spent: Callable[[], int]) -> None:
        self._spent = spent

    async def begin(self, call: Reservation, now: datetime, permit: Permit) -> bool:
        return permit(DaySpent(user=Amount(micro_usd=self._spent())), DaySpent())

    async def end(self, id: str) -> None: ...


class Outlined(Writer):
    """Its draft needs no call."""

    async def draft(self, *args: object) -> tuple[Paragraph, ...]:
        return DRAFTS


@pytest.mark.parametrize("revised", [0, 1, 2])
@in_virtual_time
async def test_the_money_of_the_day_is_checked_before_each_revision(revised: int) -> None:
    writer = Outlined(answer=first_page)

    def spent() -> int:
        done = sum(name.startswith("revise") for name in writer.sent)
        return 1_000 if done >= revised else 0

    play = Play(
        allowance=Days(Ledger(spent)).allowance(Holder("r1", 1, NOW, ADA), DayLimits(user_usd=DAY))
    )
    run = play.run()
    writer.calls = run.calls
    # About the pages at these links: nothing is asked for between two revisions.
    links = tuple(play.shelf.pages)
    question = replace(QUESTION, kind="links", links=links)
    report = play.of(run, question, links)
    await report.write(writer)
    assert writer.sent == [f"revise {one.heading}" for one in DRAFTS[:revised]]
    assert [note for note in run.notes if "for today was spent" in note]


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (BudgetSpent("Spent.", text_id="budget-model-calls", limit=1.0), 0),
        (ModelUnavailable("The model is away."), 0),
        (ModelUnavailable("The model is away."), 24),
    ],
    ids=["all is spent", "away with all spent", "away"],
)
@in_virtual_time
async def test_quotations_need_no_budget_of_model_calls(
    error: FootnoteError, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(Writer):
        async def rewrite(self, *args: object) -> Any:
            raise error

    pages = (
        "# Height\n\nThe tower is how tall: 330 metres tall it is.\n\n"
        "# Builders\n\nThe tall tower was built by 300 workers."
    )
    play = Play(a_shelf(pages), budget=replace(PLENTY, model_calls=calls))
    monkeypatch.setattr("bot.research.budget.MODEL_CALLS", calls)
    answer = await play.answer(Away())
    assert answer.reasoner == "closest"
    assert len(answer.notes) == 1
    assert answer.notes[0].endswith("The following was found and quoted without the model.")
    assert "Not covered any more" not in answer.text
    assert answer.citations


@in_virtual_time
async def test_a_budget_that_covers_no_paragraph_is_said_without_speaking_of_parts() -> None:
    play = Play(budget=replace(PLENTY, model_calls=1))
    writer = topical()
    _, run = await play.report(writer)
    assert writer.sent == ["draft"]
    assert run.notes == [
        "The budget of 1 model calls was spent. The answer uses what was found until then."
    ]


@in_virtual_time
async def test_a_checked_stream_is_not_opened_when_all_calls_are_spent() -> None:
    def open() -> AsyncIterator[AnswerDelta | ModelReply]:
        raise AssertionError("it was sent")

    run = Play(budget=replace(PLENTY, model_calls=0)).run()
    with pytest.raises(BudgetSpent):
        async for _ in run.calls.stream({"q": 1}, open, kind="revise", title="Revise"):
            pass
