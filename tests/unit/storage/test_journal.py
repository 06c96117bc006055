"""The journal: what is finished stays finished, and a page keeps its number."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import FootnoteError
from bot.messages import RunOptions
from bot.storage.journal import Journal, RecordedStep, open_journal, step_key
from bot.storage.store import Store
from bot.storage.tables import run_pages
from tests.unit.samples import NOW, a_message, a_page

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
    await store.close()
    assert await journal.page(page.url, page.hash) == page


async def test_steps_that_finish_at_the_same_time_share_a_transaction(
    store: Store, journal: Journal
) -> None:
    commits: list[object] = []
    sa.event.listen(store.database._writer.sync_engine, "commit", commits.append)
    read = [a_page(f"https://example.org/{n}", f"Text {n}.") for n in range(8)]
    await asyncio.gather(*(journal.record(a_step(page.url), page) for page in read))
    assert len(commits) <= 2
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
        "https://example.org/a/amp",
        "https://example.org/b?amp=1",
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
