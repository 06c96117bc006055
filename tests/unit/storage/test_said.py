"""At the end of a run, only the quotes are left of the messages and files that it found."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa

from bot.core.messages import Citation, RunOptions
from bot.core.reader import attached
from bot.pages.page import Page
from bot.storage.journal import RecordedStep, open_journal
from bot.storage.store import Store
from bot.storage.tables import pages, steps
from tests.unit.evaluation.samples import an_answer
from tests.unit.samples import NOW, a_message

MESSAGE = "https://acme.slack.com/archives/C1/p1764144000000100"
FILE = "https://acme.slack.com/files/U024BE7LH/F024BERPE/plan.pdf"
SENT = attached("https://acme.slack.com/files/U024BE7LH/F0SENT/sent.pdf")
WEB = "https://example.org/tower"
TEXT = "It is 330 m tall. It is painted brown."
QUOTE = "It is 330 m tall."


async def ended(store: Store, read: list[str], quoted: list[str]) -> dict[str, tuple[str, str]]:
    """The title and text of each page that is left of a run; and that no step tells of any."""
    await store.accept("r1", a_message(), RunOptions(), NOW)
    await store.claim("r1", "h/1/x", NOW, timedelta(seconds=30))
    journal = await open_journal(store.database, "r1", 1)
    hits = json.dumps({"hits": [{"title": "Ann, Plan, 3 June 2026", "url": url} for url in read]})
    await journal.record(RecordedStep("s", "search", "tower", hits, 0.1, NOW))
    found = [Page(url, "Ann, Plan, 3 June 2026", TEXT, NOW) for url in read]
    for page in found:
        outcome = json.dumps({"url": page.url, "hash": page.hash, "title": page.title})
        await journal.record(RecordedStep(page.url, "read", "", outcome, 0.1, NOW), page)
    await journal.number(found)
    cited = tuple(
        Citation(number, page.url, page.title, QUOTE, page.hash, 0, len(QUOTE))
        for number, page in enumerate(found, 1)
        if page.url in quoted
    )
    await store.save_answer("r1", 1, an_answer("It is tall.", citations=cited))
    await store.end("r1", 1, "answered", NOW, searched_talk=True)
    async with store.database.read() as db:
        left = (await db.execute(sa.select(pages.c.url, pages.c.title, pages.c.text))).all()
        results = (await db.scalars(sa.select(steps.c.result))).all()
    assert not [url for url in (MESSAGE, FILE) for result in results if url in result]
    return {row.url: (row.title, row.text) for row in left}


@pytest.mark.parametrize("url", [MESSAGE, FILE])
async def test_of_a_page_that_is_quoted_its_title_and_quote_are_left(
    store: Store, url: str
) -> None:
    left = await ended(store, [url], [url])
    title, text = left[url]
    assert title == "Ann, Plan, 3 June 2026"
    assert (text.strip(), len(text)) == (QUOTE, len(TEXT))


@pytest.mark.parametrize("url", [MESSAGE, FILE])
async def test_of_a_page_that_is_not_quoted_neither_title_nor_text_is_left(
    store: Store, url: str
) -> None:
    left = await ended(store, [url, WEB], [WEB])
    title, text = left[url]
    assert (title, text.strip()) == ("", "")
    assert left[WEB] == ("Ann, Plan, 3 June 2026", TEXT)


async def test_a_file_that_came_with_a_message_stays_as_it_was_read(store: Store) -> None:
    left = await ended(store, [SENT, FILE], [])
    assert left[SENT] == ("Ann, Plan, 3 June 2026", TEXT)
