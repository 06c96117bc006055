"""A database that is whole, and what is said of one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.core.errors import StorageUnavailable
from bot.storage.database import existing_database
from bot.storage.integrity import findings
from bot.storage.store import Store, open_store
from bot.storage.tables import citations, run_pages, runs
from bot.storage.tables import pages as stored_pages
from tests.fakes import sqlite
from tests.unit.samples import a_page
from tests.unit.storage.past import Past, pages


async def problems(store: Store) -> dict[str, str]:
    """The problems, by the name of the check."""
    return {each.what: each.problem async for each in findings(store.database) if each.problem}


@pytest.fixture
async def run_id(store: Store) -> str:
    return await Past(store).answered("ada", cited=pages("tower", "bridge"))


async def test_a_whole_database_has_no_problems(store: Store, run_id: str) -> None:
    found = [each async for each in findings(store.database)]
    assert [each.problem for each in found] == [""] * 6
    counts = {each.what: each.looked_at for each in found}
    assert counts["quotes"] == counts["footnote numbers"] == counts["pages"] == 2
    assert counts["runs"] == 1


async def test_two_copies_of_a_page_may_share_a_footnote(store: Store) -> None:
    copies = tuple(a_page(text=text) for text in ("It was 324 m tall.", "It is 330 m tall."))
    await Past(store).answered("ada", cited=copies)
    assert await problems(store) == {}


async def test_a_quote_that_its_page_has_not_is_told_with_its_run(
    store: Store, run_id: str
) -> None:
    async with store.database.write() as connection:
        changed = citations.update().where(citations.c.position == 0)
        await connection.execute(changed.values(quote="Words of no page."))
    (problem,) = (await problems(store)).items()
    assert problem[0] == "quotes"
    assert problem[1].startswith(f"1 quotes do not occur in their pages (run {run_id}).")


async def test_a_page_whose_text_has_changed_is_told_with_its_address(
    store: Store, run_id: str
) -> None:
    async with store.database.write() as connection:
        (url,) = (await connection.scalars(sa.select(stored_pages.c.url).limit(1))).all()
        changed = stored_pages.update().where(stored_pages.c.url == url)
        await connection.execute(changed.values(text=stored_pages.c.text + " And more."))
    found = await problems(store)
    assert list(found) == ["pages"]
    assert url in found["pages"]


async def test_a_citation_without_a_footnote_is_told(store: Store, run_id: str) -> None:
    async with store.database.write() as connection:
        await connection.execute(run_pages.delete())
    found = await problems(store)
    assert found["footnote numbers"].startswith("2 citations have no footnote")


async def test_a_run_that_ended_at_no_time_is_told(store: Store, run_id: str) -> None:
    async with store.database.write() as connection:
        await connection.execute(runs.update().values(ended_at=None))
    assert run_id in (await problems(store))["runs"]


async def test_rows_are_not_looked_at_where_the_schema_is_older(store: Store) -> None:
    async with store.database.write() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    found = [each async for each in findings(store.database)]
    assert [each.what for each in found][-1] == "schema"
    assert "is at revision 0001" in found[-1].problem


async def test_a_file_that_was_damaged_is_told(tmp_path: Path) -> None:
    url = sqlite.migrated(tmp_path)
    store = await open_store(url)
    past = Past(store)
    for number in range(30):
        await past.answered("ada", cited=pages(f"tower{number}"))
    await store.close()
    path = Path(sa.make_url(url).database or "")
    body = bytearray(path.read_bytes())
    page = int.from_bytes(body[16:18], "big")
    body[-page * 3 : -page] = b"\xff" * (page * 2)
    path.write_bytes(body)
    told = await _told_of(url)
    assert "is damaged" in told or "SQLite says" in told


async def _told_of(url: str) -> str:
    database = existing_database(url)
    try:
        return " ".join([each.problem async for each in findings(database)])
    except StorageUnavailable as error:
        return error.sentence
    finally:
        await database.close()


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(StorageUnavailable, match=r"no database at .*none\.sqlite yet"):
        existing_database(f"sqlite+aiosqlite:///{path}")
    assert not path.exists()
