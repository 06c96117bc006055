"""The journal: what is finished stays finished, and a page keeps its number."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import FootnoteError, RunLost
from bot.core.messages import RunOptions
from bot.storage.conversations import Conversations
from bot.storage.journal import SPOILED, Journal, RecordedStep, open_journal, page_read, step_key
from bot.storage.spending import Amount, Spending
from bot.storage.store import Store
from bot.storage.tables import pages as pages_table
from bot.storage.tables import run_pages
from tests.fakes.sqlite import engines
from tests.unit.samples import NOW, a_message, a_page

CALL = Amount(micro_usd=1_500, model_calls=1)
HOUR = timedelta(hours=1)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
async def journal(store: Store) -> Journal:
    await store.accept("r1", a_message(), RunOptions(), NOW)
    await store.claim("r1", "h/1/x", NOW, timedelta(seconds=30))
    return await open_journal(store.database, "r1", 1)


def a_step(key: str = "k", result: str = '{"a": 1}') -> RecordedStep:
    return RecordedStep(key, "search", "tower", result, 0.25, NOW)


async def test_a_recorded_step_is_found_by_this_and_every_later_attempt(
    store: Store, journal: Journal
) -> None:
    await journal.record(a_step())
    assert journal.finished("k") == a_step()
    await store.claim("r1", "h/2/x", NOW + timedelta(hours=1), timedelta(seconds=30))
    assert (await open_journal(store.database, "r1", 2)).finished("k") == a_step()


async def test_a_page_comes_back_word_for_word(store: Store, journal: Journal) -> None:
    page = a_page(text="Zeile eins\n\n第二行 🗼\n")
    await journal.record(a_step(), page)
    again = await open_journal(store.database, "r1", 1)
    assert await again.page(page.url, page.hash) == page


async def test_a_page_that_this_attempt_has_read_is_not_fetched_from_the_store(
    store: Store, journal: Journal
) -> None:
    page = a_page()
    await journal.record(a_step(), page)
    await pages_out_of_reach(store)
    assert await journal.page(page.url, page.hash) == page


async def test_steps_that_finish_at_the_same_time_share_a_transaction(
    store: Store, journal: Journal
) -> None:
    commits: list[object] = []
    for engine in engines(store.database):
        sa.event.listen(engine, "commit", commits.append)
    read = [a_page(f"https://example.org/{n}", f"Text {n}.") for n in range(8)]
    await asyncio.gather(*(journal.record(a_step(page.url), page) for page in read))
    assert 1 <= len(commits) <= 2
    again = await open_journal(store.database, "r1", 1)
    assert all(again.finished(page.url) for page in read)
    assert [await again.page(page.url, page.hash) for page in read] == read


async def test_a_step_that_cannot_be_kept_takes_none_along(store: Store, journal: Journal) -> None:
    unkept = replace(a_page("https://example.org/bad", "Bad."), title=None)  # type: ignore[arg-type]
    good = [a_page(f"https://example.org/{n}", f"Text {n}.") for n in range(3)]
    kept = await asyncio.gather(
        *(journal.record(a_step(page.url), page) for page in (*good[:1], unkept, *good[1:])),
        return_exceptions=True,
    )
    assert [isinstance(outcome, FootnoteError) for outcome in kept] == [False, True, False, False]
    again = await open_journal(store.database, "r1", 1)
    assert [again.finished(page.url) is not None for page in (*good, unkept)] == [True] * 3 + [
        False
    ]


async def test_a_step_is_kept_although_who_began_to_keep_it_is_cancelled(
    store: Store, journal: Journal
) -> None:
    first, second = (asyncio.create_task(journal.record(a_step(key))) for key in "ab")
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first, second})
    assert first.cancelled()
    assert (await open_journal(store.database, "r1", 1)).finished("b") is not None


async def test_pages_are_numbered_in_the_order_asked_and_once(
    store: Store, journal: Journal
) -> None:
    first, second, third = (a_page(f"https://example.org/{n}", f"Text {n}.") for n in "abc")
    for page in (third, first, second):
        await journal.record(a_step(page.url), page)
    assert await journal.number([first, second]) == [1, 2]
    assert await journal.number([third, first, third]) == [3, 1, 3]
    again = await open_journal(store.database, "r1", 1)
    assert await again.number([third, second, first]) == [3, 2, 1]


async def test_nobody_is_given_a_number_that_a_crash_could_still_take_back(
    store: Store, journal: Journal
) -> None:
    page = a_page("https://example.org/a", "Text.")
    await journal.record(a_step(), page)
    both = [asyncio.create_task(journal.number([page])) for _ in range(2)]
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    async with store.database.read() as db:
        assert (await db.execute(sa.select(run_pages.c.number))).scalars().all() == [1]
    assert [await given for given in both] == [[1], [1]]


async def test_variants_of_one_address_have_one_number(store: Store, journal: Journal) -> None:
    addresses = [
        "https://www.example.org/a",
        "https://example.org/b",
        "http://m.example.org/a/",
        "https://example.org/a#part",
        "https://example.org/b?utm_source=news",
    ]
    variants = [a_page(url, f"Text of {url}.") for url in addresses]
    for page in variants:
        await journal.record(a_step(page.url), page)
    assert await journal.number(variants) == [1, 2, 1, 1, 2]
    again = await open_journal(store.database, "r1", 1)
    assert await again.number(variants) == [1, 2, 1, 1, 2]


async def test_every_copy_of_a_page_stays_as_it_was_read(store: Store, journal: Journal) -> None:
    old, new = a_page(text="It is 324 m tall."), a_page(text="It is 330 m tall.")
    new = replace(new, fetched_at=NOW + timedelta(days=1))
    await journal.record(a_step("1"), old)
    await journal.record(a_step("2"), new)
    assert await store.recent_page(old.url, NOW) == new
    again = await open_journal(store.database, "r1", 1)
    assert await again.page(old.url, old.hash) == old
    assert await again.page(new.url, new.hash) == new


async def test_the_newest_copy_of_a_page_is_found_while_it_is_fresh(
    store: Store, journal: Journal
) -> None:
    page = a_page()
    await journal.record(a_step(), page)
    assert await store.recent_page(page.url, NOW - timedelta(minutes=1)) == page
    assert await store.recent_page(page.url, NOW + timedelta(minutes=1)) is None


@given(json_values)
def test_a_key_depends_on_what_is_in_it_and_not_on_the_order_of_names(value: object) -> None:
    inputs = {"a": value, "b": 1}
    assert step_key("search", inputs) == step_key("search", {"b": 1, "a": value})
    assert step_key("search", inputs) != step_key("read", inputs)
    assert step_key("search", inputs) != step_key("search", {"a": value, "b": 2})


# ---------------------------------------------------------------- what is not kept, and not used


async def taken_over(store: Store) -> None:
    await store.claim("r1", "h/2/x", NOW + HOUR, timedelta(seconds=30))


async def pages_out_of_reach(store: Store, *, again: bool = False) -> None:
    names = ("out_of_reach", "pages") if again else ("pages", "out_of_reach")
    async with store.database.write() as db:
        await db.exec_driver_sql("ALTER TABLE {} RENAME TO {}".format(*names))


async def test_a_step_that_could_not_be_kept_is_not_kept_with_the_next_one(
    store: Store, journal: Journal
) -> None:
    """The attempt that recorded it was told so, and does it again."""
    await pages_out_of_reach(store)
    with pytest.raises(FootnoteError):
        await journal.record(a_step("read"), a_page(), CALL)
    await pages_out_of_reach(store, again=True)
    await journal.record(a_step("next"))
    assert journal.finished("read") is None
    assert (await open_journal(store.database, "r1", 1)).finished("read") is None
    assert (await Spending(store.database).day(journal.payer, NOW.date())).user.model_calls == 0


async def test_a_step_that_cannot_be_kept_is_tried_once(store: Store, journal: Journal) -> None:
    await pages_out_of_reach(store)
    broken: list[object] = []
    for engine in engines(store.database):
        sa.event.listen(engine, "rollback", broken.append)
    with pytest.raises(FootnoteError):
        await journal.record(a_step("read"), a_page())
    assert len(broken) == 1


async def test_what_is_owed_is_paid_once_by_steps_of_two_days(
    store: Store, journal: Journal
) -> None:
    journal.owe(CALL)
    days = (NOW, NOW + timedelta(days=1), NOW + timedelta(days=2))
    await asyncio.gather(*(journal.record(replace(a_step(f"{at}"), at=at)) for at in days))
    spending = Spending(store.database)
    paid = [(await spending.day(journal.payer, at.date())).user.model_calls for at in days]
    assert paid == [1, 0, 0]


async def test_what_was_found_for_readers_of_other_documents_is_not_used_again(
    store: Store, journal: Journal
) -> None:
    some = await open_journal(store.database, "r1", 1, reach="some")
    await some.record(a_step())
    assert some.finished("k") is not None
    for reach, is_known in (("some", True), ("others", False), ("", False)):
        again = await open_journal(store.database, "r1", 1, reach=reach)
        assert (again.finished("k") is not None) == is_known


async def test_an_attempt_that_was_overtaken_gives_no_numbers(
    store: Store, journal: Journal
) -> None:
    page = a_page()
    await journal.record(a_step(), page)
    await taken_over(store)
    with pytest.raises(RunLost):
        await journal.number([page])
    async with store.database.read() as db:
        assert (await db.scalars(sa.select(run_pages.c.number))).all() == []


async def test_a_step_whose_page_is_gone_is_done_again_and_no_other(
    store: Store, journal: Journal
) -> None:
    read = [a_page(f"https://example.org/{name}", f"Text {name}.") for name in "ab"]
    for page in read:
        told = json.dumps({"url": page.url, "hash": page.hash})
        await journal.record(RecordedStep(page.url, "read", "", told, 0.1, NOW), page)
    await journal.record(a_step("search"))
    async with store.database.write() as db:
        await db.execute(sa.delete(pages_table).where(pages_table.c.url == read[0].url))
    await taken_over(store)
    again = await open_journal(store.database, "r1", 2)
    keys = [page.url for page in read] + ["search"]
    assert [again.finished(key) is not None for key in keys] == [False, True, True]
    told = json.dumps({"url": read[0].url, "hash": read[0].hash})
    reread = RecordedStep(read[0].url, "read", "", told, 0.2, NOW)
    for _ in range(2):  # as who is not told that it was kept does
        await again.record(reread, read[0], CALL)
    last = await open_journal(store.database, "r1", 2)
    assert [last.finished(key) is not None for key in keys] == [True, True, True]
    assert (await Spending(store.database).day(journal.payer, NOW.date())).user.model_calls == 1


async def test_the_time_of_a_question_is_that_of_its_steps_since_it_was_asked(
    store: Store, journal: Journal
) -> None:
    """Steps at the same time take their time once."""
    for key, at, seconds in (
        ("of the question before it was edited", -1.0, 0.5),
        ("a", 0.0, 0.25),
        ("b", 10.0, 4.0),
        ("beside b", 9.0, 2.0),
        ("overlapping b", 12.0, 3.0),
        ("in another attempt", 3_600.0, 5.0),
    ):
        step = RecordedStep(key, "search", "", "{}", seconds, NOW + timedelta(seconds=at))
        await journal.record(step)
    assert (await open_journal(store.database, "r1", 1)).seconds == 0.25 + 6.0 + 5.0


@pytest.mark.parametrize("spoiled", [False, True])
async def test_a_run_that_failed_is_tried_again_with_what_it_had_finished(
    store: Store, journal: Journal, spoiled: bool
) -> None:
    """What failed and mere decisions are repeated, and all calls if a reply made it fail."""
    told = {
        "found": ("search", '{"problem": ""}', "tower"),
        "away": ("search", '{"problem": "It is away."}', "tower"),
        "unread": ("read", '{"url": "u", "problem": "It is empty."}', "page"),
        "understood": ("rewrite", "{}", "Understanding the question"),
        "late": ("lapse", "{}", "Draft"),
        "ready": ("ready", "[]", ""),
    }
    for key, (kind, result, title) in told.items():
        await journal.record(RecordedStep(key, kind, title, result, 0.25, NOW), cost=CALL)
    if spoiled:
        await journal.record(RecordedStep("cause", SPOILED, "", "true", 0.0, NOW))
    await store.end("r1", 1, "failed", NOW)
    run = await store.run("r1")
    assert run is not None
    message = run.message
    await Conversations(store.database).edit(
        message.thread.platform,
        message.event_id,
        message.text,
        (),
        NOW + HOUR,
        owner="h/2/x",
        lease=timedelta(seconds=30),
        regenerate=True,
    )
    reused = {"found"} if spoiled else {"found", "understood"}
    again = await open_journal(store.database, "r1", 2)
    assert {key for key in told if again.finished(key)} == reused
    assert {key for key in told if again.is_earlier(key)} == reused
    assert again.seconds == 0.0
    repeated = RecordedStep("away", "search", "tower", '{"problem": ""}', 1.0, NOW + HOUR)
    await again.record(repeated, cost=CALL)
    await taken_over(store)
    last = await open_journal(store.database, "r1", 3)
    assert last.finished("away") == repeated
    assert {key for key in told if last.is_earlier(key)} == reused
    spent = await Spending(store.database).day(journal.payer, NOW.date())
    assert spent.user.model_calls == len(told) + 1


async def test_a_page_that_is_not_stored_is_an_error_to_who_has_read_it(journal: Journal) -> None:
    assert await journal.stored("https://example.org/none", "0") is None
    with pytest.raises(LookupError):
        await journal.page("https://example.org/none", "0")


@pytest.mark.parametrize(
    ("kind", "result", "read"),
    [
        ("read", {"url": "u", "hash": "h"}, ("u", "h")),
        ("read", {"url": "u", "hash": ""}, None),
        ("read", {"url": "u"}, None),
        ("search", {"url": "u", "hash": "h"}, None),
    ],
)
def test_a_step_that_read_a_page_names_it(
    kind: str, result: dict[str, str], read: tuple[str, str] | None
) -> None:
    assert page_read(kind, json.dumps(result)) == read


def test_a_key_is_of_values_that_every_reader_of_json_knows() -> None:
    with pytest.raises(ValueError, match="JSON"):
        step_key("search", {"score": float("nan")})
