"""One run: its searches, reads and steps, each done once and replayed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from bot.core.errors import BudgetSpent, ModelUnavailable
from bot.core.messages import UPLOADED, Entry, PlanView, Provenance, StepView, Transcript
from bot.pages.page import Page
from bot.reasoning.calls import RESTATE, VERIFY, ModelReply, Text
from bot.reasoning.evidence import AnswerDelta, CitationDelta, Restart, TextDelta
from bot.research.budget import DayLimits, Days
from bot.research.run import (
    LONGEST,
    OMISSION,
    Run,
    Steps,
    together,
    whole_text,
    without_middle,
    without_middles,
)
from bot.search.provider import Query
from bot.storage.journal import Journal, RecordedStep, open_journal, step_key
from bot.storage.spending import Holder, Payer, Reservations, Spending
from bot.storage.store import Store
from tests.fakes.journal import MemoryJournal
from tests.fakes.library import Shelf, a_shelf
from tests.unit.research.conftest import BUDGET, OpenRun
from tests.unit.samples import NOW, a_message

REPLY = ModelReply("m", (Text("hi"),), "end_turn", 100, 20, 30, 40)


class Calls:
    """Model calls that are counted, and may fail first."""

    def __init__(self, *failures: Exception) -> None:
        self.sent = 0
        self.failures = list(failures)

    async def send(self) -> ModelReply:
        self.sent += 1
        if self.failures:
            raise self.failures.pop(0)
        return REPLY

    async def open(self) -> AsyncIterator[AnswerDelta | ModelReply]:
        self.sent += 1
        yield TextDelta("lost")
        yield Restart()
        for delta in (TextDelta("It "), TextDelta("is."), TextDelta("Tall", True), TextDelta(".")):
            yield delta
        yield CitationDelta(1, 0, 5)
        if self.failures:
            raise self.failures.pop(0)
        yield REPLY


async def streamed(run: Run, calls: Calls) -> list[AnswerDelta]:
    return [d async for d in run.calls.stream({"q": 1}, calls.open, kind="write", title="Answer")]


async def revised(run: Run, calls: Calls) -> list[AnswerDelta]:
    stream = run.calls.stream({"q": 9}, calls.open, kind="revise", title="Revise")
    return [delta async for delta in stream]


async def test_a_finished_search_is_not_made_again(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower is 330 m tall.", "Bridge is long.")
    first = await (await open_run(shelf)).search(Query("tower", 10))
    again = await (await open_run(shelf)).search(Query("tower", 10))
    assert [hit.title for hit in first.hits] == ["Tower"]
    assert again == first
    assert shelf.searched == ["tower"]


async def test_a_finished_read_is_not_made_again_and_is_word_for_word(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower is 330 m tall.")
    urls = list(shelf.pages)
    first = await (await open_run(shelf)).read(urls)
    again = await (await open_run(shelf)).read(urls)
    assert first == again == list(shelf.pages.values())
    assert shelf.read_urls == urls


async def test_a_search_that_asks_for_anything_else_is_another_search(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower is 330 m tall.")
    run = await open_run(shelf)
    query = Query("tower", 10, "en")
    await run.search(query)
    for other in (replace(query, language="de"), replace(query, freshness="week"), query):
        await run.search(other)
    await run.search(query, "knowledge")
    assert [each.language for each in shelf.queries] == ["en", "de", "en", "en"]
    assert shelf.kinds == [None, None, None, "knowledge"]


async def test_failures_of_searching_and_reading_are_replayed_like_results(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("Tower", broken=frozenset({"tower"}))
    for _ in range(2):
        run = await open_run(shelf)
        outcome = await run.search(Query("tower", 10))
        assert outcome.problem == "No search provider answers: shelf is closed."
        assert await run.read(["https://example.org/none"]) == [
            "There is no page https://example.org/none."
        ]
        assert run.notes == ["No search provider answers: shelf is closed."]
    assert (shelf.searched, shelf.read_urls) == (["tower"], ["https://example.org/none"])


@pytest.mark.parametrize("does", ["searches", "reads"])
async def test_what_a_found_or_read_text_was_made_from_is_a_document_of_the_run(
    open_run: OpenRun, does: str
) -> None:
    url, made_from = "https://e.org/t", Provenance(("file:///hr/pay.md",))
    shelf = Shelf({url: Page(url, "Tower", "The tower.", NOW, made_from=made_from)})
    for _ in range(2):  # a second attempt has it from the journal
        run = await open_run(shelf)
        assert run.documents == ()
        if does == "searches":
            await run.search(Query("tower", 10))
        else:
            await run.read([url])
        assert run.documents == made_from.urls
    assert len(shelf.searched) + len(shelf.read_urls) == 1


async def test_documents_that_could_not_be_searched_yet_are_noted_once(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower")
    shelf.missing = 3
    run = await open_run(shelf)
    await run.search(Query("tower", 10))
    shelf.missing = 2
    await run.search(Query("towers", 10))
    expected = [
        "3 documents are not indexed yet and could not be searched; ask again when they are."
    ]
    assert run.notes == expected
    again = await open_run(shelf)
    await again.search(Query("tower", 10))
    assert again.notes == expected, "an attempt from the start says the same"


async def test_pages_come_in_the_order_asked_with_sentences_for_those_missing(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("One", "Two")
    run = await open_run(shelf)
    read = await run.read(["https://example.org/2", "https://example.org/9", *shelf.pages])
    assert [page.title if isinstance(page, Page) else page for page in read] == [
        "Two",
        "There is no page https://example.org/9.",
        "One",
        "Two",
    ]
    assert run.usage.pages == 2


async def test_a_finished_model_call_is_not_paid_for_again(open_run: OpenRun) -> None:
    calls = Calls()
    for _ in range(2):
        run = await open_run(a_shelf())
        assert await run.calls.call({"q": 1}, calls.send, kind="think", title="t") == REPLY
        assert replace(run.usage, seconds=0) == replace(
            run.usage,
            seconds=0,
            model_calls=1,
            input_tokens=140,
            output_tokens=20,
            cached_tokens=30,
            usd=0.2,
        )
    assert calls.sent == 1


async def test_a_failed_model_call_is_made_again_by_the_next_attempt(open_run: OpenRun) -> None:
    calls = Calls(ModelUnavailable("The model does not answer."))
    with pytest.raises(ModelUnavailable):
        await (await open_run(a_shelf())).calls.call({}, calls.send, kind="think", title="t")
    assert (
        await (await open_run(a_shelf())).calls.call({}, calls.send, kind="think", title="t")
        == REPLY
    )


async def test_equal_calls_at_the_same_time_are_one(open_run: OpenRun) -> None:
    calls, run = Calls(), await open_run(a_shelf())
    replies = await asyncio.gather(
        *(run.calls.call({"q": 1}, calls.send, kind="think", title="t") for _ in range(3))
    )
    assert replies == [REPLY] * 3
    assert (calls.sent, run.usage.model_calls) == (1, 1)


async def test_a_finished_stream_is_replayed_without_what_was_taken_back(
    open_run: OpenRun,
) -> None:
    calls = Calls()
    live = await streamed(await open_run(a_shelf()), calls)
    assert Restart() in live
    replayed = await streamed(await open_run(a_shelf()), calls)
    assert replayed == [TextDelta("It is."), TextDelta("Tall.", opens=True), CitationDelta(1, 0, 5)]
    assert calls.sent == 1


async def test_a_stream_that_broke_off_is_opened_again_by_the_next_attempt(
    open_run: OpenRun,
) -> None:
    calls = Calls(ModelUnavailable("cut"))
    with pytest.raises(ModelUnavailable):
        await streamed(await open_run(a_shelf()), calls)
    await streamed(await open_run(a_shelf()), calls)
    assert calls.sent == 2


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"model_calls": 1}, "1 model calls"),
        ({"input_tokens": 170}, "170 input tokens"),
        ({"usd": 0.2}, "0.20 USD"),
        ({"output_tokens": 20}, "20 output tokens"),
    ],
)
async def test_a_call_beyond_the_budget_is_not_made(
    open_run: OpenRun, limit: dict[str, float], sentence: str
) -> None:
    calls = Calls()
    run = await open_run(a_shelf(), replace(BUDGET, **limit))  # type: ignore[arg-type]
    await run.calls.call({"q": 1}, calls.send, kind="think", title="t")
    with pytest.raises(BudgetSpent, match=sentence):
        await run.calls.call({"q": 2}, calls.send, kind="think", title="t")
    assert calls.sent == 1
    assert await streamed(run, calls), "the answer is written however much was spent"
    for number, kind in enumerate((VERIFY, RESTATE), start=3):
        await run.calls.call({"q": number}, calls.send, kind=kind, title="t")
        assert calls.sent == number, "and verified, and corrected"
    with pytest.raises(BudgetSpent, match=sentence):
        await revised(run, calls)
    assert calls.sent == 4


async def test_a_revision_within_the_budget_is_streamed_and_paid_for(open_run: OpenRun) -> None:
    calls, run = Calls(), await open_run(a_shelf())
    assert await revised(run, calls) == await streamed(await open_run(a_shelf()), Calls())
    assert run.usage.model_calls == 1


async def test_a_stream_without_its_reply_is_a_defect_and_nothing_is_kept(
    open_run: OpenRun,
) -> None:
    class Silent(Calls):
        async def open(self) -> AsyncIterator[AnswerDelta | ModelReply]:
            yield TextDelta("It is.")

    run = await open_run(a_shelf())
    with pytest.raises(RuntimeError, match="without its reply"):
        await streamed(run, Silent())
    assert run.usage.model_calls == 0
    calls = Calls()
    await streamed(await open_run(a_shelf()), calls)
    assert calls.sent == 1


async def test_when_the_time_is_over_nothing_is_searched_or_read(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower")
    run = await open_run(shelf, replace(BUDGET, seconds=0.0))
    with pytest.raises(BudgetSpent, match="0 seconds"):
        await run.search(Query("tower", 10))
    with pytest.raises(BudgetSpent):
        await run.read(list(shelf.pages))
    assert shelf.searched == shelf.read_urls == []


async def test_an_unknown_price_is_said_and_not_guessed(open_run: OpenRun) -> None:
    run = await open_run(a_shelf())

    async def send() -> ModelReply:
        return replace(REPLY, model="unpriced")

    await run.calls.call({}, send, kind="think", title="t")
    assert run.usage.usd == 0
    assert run.notes == ["The price of unpriced is not known: its cost is not in the total."]


async def test_the_plan_shows_each_step_with_its_states(open_run: OpenRun) -> None:
    plans: list[PlanView] = []
    run = await open_run(a_shelf("Tower"), plans=plans)
    await run.search(Query("tower", 10))
    await run.read(["https://example.org/9"], ["Nine"])
    states = [[(step.kind, step.title, step.state) for step in plan.steps] for plan in plans]
    assert states == [
        [("search", "tower", "running")],
        [("search", "tower", "done")],
        [("search", "tower", "done"), ("read", "Nine", "running")],
        [("search", "tower", "done"), ("read", "Nine", "failed")],
    ]
    assert plans[-1].steps[1].detail == "There is no page https://example.org/9."


# ---------------------------------------------------------------- money


async def test_searches_beyond_the_budget_are_not_made_and_the_answer_says_so(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("Tower is 330 m tall.", "Bridge is long.", "River is wide.")
    run = await open_run(shelf, replace(BUDGET, searches=2))
    outcomes = await asyncio.gather(*(run.search(Query(q, 10)) for q in ("tower", "bridge", "sea")))
    said = "The budget of 2 searches was spent."
    assert [outcome.problem for outcome in outcomes] == ["", "", said]
    assert (run.usage.searches, list(run.notes)) == (2, [said])
    assert run.unanswered == ""
    again = await run.search(Query("tower", 10))
    assert again.hits, "what was found before is found again"
    assert len(shelf.searched) == 2


async def test_of_pages_read_at_the_same_time_none_is_one_too_many(open_run: OpenRun) -> None:
    shelf = a_shelf("One is 1.", "Two is 2.", "Three is 3.", "Four is 4.")
    run = await open_run(shelf, replace(BUDGET, pages=3))
    urls = list(shelf.pages)
    first, second = await asyncio.gather(run.read(urls[:2]), run.read(urls[2:]))
    said = "The budget of 3 pages was spent."
    assert [page for page in (*first, *second) if isinstance(page, str)] == [said]
    assert (run.usage.pages, list(run.notes)) == (3, [said])
    assert len(shelf.read_urls) == 3


async def test_a_search_that_was_refused_is_refused_on_every_attempt(open_run: OpenRun) -> None:
    shelf = a_shelf("Tower is 330 m tall.")
    scarce = replace(BUDGET, searches=2)

    async def problems(*texts: str) -> dict[str, str]:
        run = await open_run(shelf, scarce)
        told = {text: (await run.search(Query(text, 10))).problem for text in texts}
        assert {step.title: step.state for step in run.steps} == {
            text: "failed" if problem else "done" for text, problem in told.items()
        }
        assert sorted(step.detail for step in run.steps) == ["", "", "", said]
        assert run.usage.searches == 2
        assert list(run.notes) == [said]
        return told

    said = "The budget of 2 searches was spent."
    first = await problems("tower", "bridge", "river", "sea")
    assert first == {"tower": "", "bridge": "", "river": said, "sea": said}
    assert await problems("sea", "river", "bridge", "tower") == first
    assert len(shelf.searched) == 2


async def test_why_nothing_can_be_searched_is_said_once(open_run: OpenRun) -> None:
    names = ("tower", "bridge", "river")
    shelf = replace(a_shelf("Tower is 330 m tall."), broken=frozenset(names))
    for _ in range(2):  # the second time from the journal
        run = await open_run(shelf)
        for name in names:
            await run.search(Query(name, 10))
        said = "No search provider answers: shelf is closed."
        assert [(step.state, step.detail) for step in run.steps] == [
            ("failed", said),
            ("failed", ""),
            ("failed", ""),
        ]
        assert (list(run.notes), run.unanswered) == ([said], said)
    assert shelf.searched == list(names)


async def test_a_page_that_was_refused_is_refused_on_every_attempt(open_run: OpenRun) -> None:
    shelf = a_shelf("One is 1.", "Two is 2.", "Three is 3.")
    urls = list(shelf.pages)

    async def read(*urls: str) -> dict[str, bool]:
        run = await open_run(shelf, replace(BUDGET, pages=2))
        return {url: isinstance((await run.read([url]))[0], Page) for url in urls}

    first = await read(*urls)
    assert list(first.values()) == [True, True, False]
    assert await read(*reversed(urls)) == first
    assert len(shelf.read_urls) == 2


async def test_what_the_time_did_not_cover_is_not_done_by_a_faster_attempt(
    open_run: OpenRun,
) -> None:
    shelf = a_shelf("Tower")
    for seconds in (0.0, 60.0):
        run = await open_run(shelf, replace(BUDGET, seconds=seconds))
        works: list[Callable[[], Awaitable[object]]] = [
            partial(run.search, Query("tower", 10)),
            partial(run.read, list(shelf.pages)),
            partial(run.ready, list(shelf.pages), list(shelf.pages), 1.0),
        ]
        for work in works:
            with pytest.raises(BudgetSpent, match="0 seconds"):
                await work()
    assert shelf.searched == shelf.read_urls == []


async def test_what_a_call_spent_that_came_to_nothing_is_spent(
    open_run: OpenRun, store: Store
) -> None:
    run = await open_run(a_shelf())

    async def send() -> ModelReply:
        run.calls.count_lost(REPLY)
        run.calls.count_lost(replace(REPLY, input_tokens=0, output_tokens=0, cache_read_tokens=0))
        run.calls.count_lost(ModelReply("", (), ""))  # no reply had begun
        raise ModelUnavailable("It broke off.")

    with pytest.raises(ModelUnavailable):
        await run.calls.call({"q": 1}, send, kind="think", title="t")
    assert (run.usage.model_calls, run.usage.input_tokens, run.usage.usd) == (0, 180, 0.2)
    await run.calls.call({"q": 2}, Calls().send, kind="think", title="t")
    day = await Spending(store.database).day(Payer.of(a_message()), datetime.now(UTC).date())
    assert (day.user.micro_usd, day.user.model_calls) == (400_000, 3)
    assert run.usage.usd == 0.4


async def test_a_spent_day_ends_the_calls_and_the_writing_and_is_told_in_the_plan(
    open_run: OpenRun, store: Store
) -> None:
    days = Days(Reservations(store.database))
    holder = Holder("r1", 1, NOW, Payer.of(a_message()))
    allowance = days.allowance(holder, DayLimits(workspace_usd=0.3))
    plans: list[PlanView] = []
    run, calls = await open_run(a_shelf(), plans=plans, allowance=allowance), Calls()
    for number in range(2):
        await run.calls.call({"q": number}, calls.send, kind="think", title="t")
    with pytest.raises(BudgetSpent, match=r"This workspace’s budget of 0\.30 USD for today"):
        await run.calls.call({"q": 3}, calls.send, kind="think", title="t")
    told = "This workspace’s budget of 0.30 USD for today was spent."
    with pytest.raises(BudgetSpent):
        await streamed(run, calls)
    assert [step.title for step in plans[-1].steps if step.kind == "budget"] == [told]
    assert run.usage.usd == pytest.approx(0.4)


async def test_the_time_of_earlier_attempts_counts(open_run: OpenRun, store: Store) -> None:
    await open_run(a_shelf())
    journal = await open_journal(store.database, "r1", 1)
    await journal.record(RecordedStep("k", "think", "t", "{}", 59.5, NOW + timedelta(minutes=1)))
    run = await open_run(a_shelf(), replace(BUDGET, seconds=59.0))
    assert run.usage.seconds >= 59.5
    with pytest.raises(BudgetSpent, match="59 seconds"):
        await run.calls.call({}, Calls().send, kind="think", title="t")


async def node(run: Run, id: str, query: str) -> None:
    run.show(StepView(id, "node", id, "running"))
    with run.branch(id):
        await together([run.search(Query(query, 5)), run.search(Query(f"{query} too", 5))])
    run.show(StepView(id, "node", id, "done"))


async def test_what_branches_do_at_the_same_time_stands_under_each(open_run: OpenRun) -> None:
    run = await open_run(a_shelf("A tower."))
    await together([node(run, "a", "tower"), node(run, "b", "bridge")])
    parents = {line.title: line.parent for line in run.steps}
    assert parents == {
        "a": "",
        "b": "",
        "tower": "a",
        "tower too": "a",
        "bridge": "b",
        "bridge too": "b",
    }
    assert {line.state for line in run.steps} == {"done"}


async def test_a_step_stays_under_the_branch_that_asked_first(open_run: OpenRun) -> None:
    run = await open_run(a_shelf("A tower."))
    await node(run, "a", "tower")
    await node(run, "b", "tower")
    assert [line.parent for line in run.steps if line.title == "tower"] == ["a"]


async def test_a_replayed_step_stands_where_it_stood(open_run: OpenRun) -> None:
    shelf = a_shelf("A tower.")
    await node(await open_run(shelf), "a", "tower")
    run = await open_run(shelf)
    await node(run, "a", "tower")
    assert next((line.id, line.parent) for line in run.steps) == ("a", "")
    assert {line.parent for line in run.steps if line.kind == "search"} == {"a"}


# ---------------------------------------------------------------- the same step at the same time

NUMBER = TypeAdapter(int)


def steps_on(journal: MemoryJournal) -> Steps:
    return Steps(cast(Journal, journal), lambda: None)


async def test_who_waits_for_a_step_does_it_when_the_one_who_began_it_is_cancelled() -> None:
    steps, begun = steps_on(MemoryJournal()), 0
    go_on = asyncio.Event()

    async def work() -> int:
        nonlocal begun
        begun += 1
        await go_on.wait()
        return begun

    def do() -> asyncio.Task[int]:
        return asyncio.create_task(steps.step("search", {"q": 1}, work, NUMBER, title="x"))

    first = do()
    await asyncio.sleep(0)
    second = do()
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    go_on.set()
    assert await second == 2
    assert [line.state for line in steps.steps] == ["done"]


async def test_who_waits_for_a_step_can_be_cancelled_alone() -> None:
    steps, go_on = steps_on(MemoryJournal()), asyncio.Event()

    async def work() -> int:
        await go_on.wait()
        return 1

    first, second = (
        asyncio.create_task(steps.step("search", {"q": 1}, work, NUMBER, title="x"))
        for _ in range(2)
    )
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait({second})
    assert second.cancelled()
    go_on.set()
    assert await first == 1


async def test_a_finished_step_is_kept_although_whoever_waits_is_cancelled() -> None:
    journal = _SlowJournal()
    steps = steps_on(journal)

    async def work() -> int:
        return 7

    task = asyncio.create_task(steps.step("think", {"q": 1}, work, NUMBER, title="x"))
    await journal.recording.wait()
    task.cancel()
    await asyncio.sleep(0)
    journal.go_on.set()
    await asyncio.wait({task})
    assert task.cancelled()
    assert journal.finished(step_key("think", {"q": 1})) is not None


async def test_a_failed_search_stays_failed_and_is_made_again_when_it_is_asked_for(
    open_run: OpenRun,
) -> None:
    run = await open_run(a_shelf(broken=frozenset({"tower"})))
    await run.search(Query("tower", 5))
    await run.search(Query("tower", 5))
    assert [(line.state, line.detail) for line in run.steps] == [
        ("failed", "No search provider answers: shelf is closed."),
        ("failed", ""),  # for the same reason
    ]


async def test_a_stop_is_not_lost_to_a_failure_that_came_before_it() -> None:
    failed, reached = asyncio.Event(), False

    async def fails() -> None:
        failed.set()
        raise ValueError

    async def unwinds() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)  # closes a connection

    async def goes_on() -> None:
        nonlocal reached
        with contextlib.suppress(ValueError):
            await together([unwinds(), fails()])
        reached = True

    task = asyncio.create_task(goes_on())
    await failed.wait()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert (task.cancelled(), reached) == (True, False)


class _SlowJournal(MemoryJournal):
    """Takes its time to keep a step."""

    def __init__(self) -> None:
        super().__init__()
        self.recording, self.go_on = asyncio.Event(), asyncio.Event()

    async def record(self, step: RecordedStep, *more: Any, **others: Any) -> None:
        self.recording.set()
        await self.go_on.wait()
        await super().record(step, *more, **others)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BudgetSpent("The budget of 2 USD is spent."), "The budget of 2 USD is spent."),
        (ValueError("a defect"), ""),
    ],
    ids=["BudgetSpent", "a defect"],
)
async def test_a_line_that_the_budget_has_cut_says_so(error: Exception, said: str) -> None:
    steps = steps_on(MemoryJournal())

    async def work() -> int:
        raise error

    with pytest.raises(type(error)):
        await steps.step("judge", {}, work, NUMBER, title="Judge what was found")
    assert [(line.state, line.detail) for line in steps.steps] == [("failed", said)]


@pytest.mark.parametrize("length", [0, 1, LONGEST - 1, LONGEST])
def test_a_text_of_ordinary_length_stays(length: int) -> None:
    text = "x" * length
    assert without_middle(text) == text
    assert whole_text(a_message(text)) is None


def test_of_a_long_text_both_ends_stay() -> None:
    text = f"What does it cost? {'word ' * 4_000} Answer in one sentence."
    short = without_middle(text)
    assert len(short) == LONGEST + len(OMISSION)
    assert short.startswith("What does it cost?")
    assert short.endswith("Answer in one sentence.")


def test_a_long_message_is_a_file_whose_address_is_its_content() -> None:
    message = a_message("word " * 4_000)
    file = whole_text(message)
    assert file is not None
    assert file.url.startswith(UPLOADED)
    assert whole_text(replace(message, event_id="other")) == file
    assert whole_text(replace(message, text=message.text + "!")) != file


def test_only_what_people_wrote_in_a_thread_is_shortened() -> None:
    long = "word " * 4_000
    transcript = Transcript((Entry("person", "Ada", long), Entry("footnote", "Footnote", long)))
    asked, answered = without_middles(transcript).entries
    assert len(asked.text) == LONGEST + len(OMISSION)
    assert answered.text == long
