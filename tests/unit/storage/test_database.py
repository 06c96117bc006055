"""Opening the database: created, migrated, or refused with a sentence."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import bot.storage
import bot.storage.console  # its table
import bot.storage.tables  # its tables
from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.storage.database import open_database
from bot.storage.tables import HEAD, metadata


def url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def test_an_empty_folder_becomes_a_database_with_the_whole_schema(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "new" / "footnote.sqlite"))

    def ours(name: str | None, kind: str, parents: object) -> bool:
        """FTS5 keeps its index in tables of its own."""
        return kind != "table" or not (name or "").startswith(
            ("found_words_index", "answered_index")
        )

    def differences(connection: sa.Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"include_name": ours})
        return list(compare_metadata(context, metadata))

    async with database.read() as db:
        assert await db.run_sync(differences) == []
    await database.close()


def test_the_head_that_is_known_without_alembic_is_alembics_head() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(bot.storage.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_several_processes_may_open_a_new_database_at_the_same_time(tmp_path: Path) -> None:
    for number in range(3):
        where = url(tmp_path / f"{number}.sqlite")
        databases = await asyncio.gather(*(open_database(where) for _ in range(6)))
        for database in databases:
            async with database.read() as db:
                assert await db.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1
            await database.close()


async def test_writers_see_wal_foreign_keys_and_a_busy_timeout(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    for door in (database.read, database.write):
        async with door() as db:
            pragmas = [
                await db.scalar(sa.text(f"PRAGMA {name}"))
                for name in ("journal_mode", "foreign_keys", "busy_timeout")
            ]
            assert pragmas == ["wal", 1, 10_000]
    await database.close()


async def test_many_writers_at_once_take_turns(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))

    async def add(number: int) -> None:
        async with database.write() as db:
            await db.execute(
                sa.text(
                    "INSERT INTO threads (key, platform, workspace, channel, thread, created_at) "
                    "VALUES (:key, 'p', 'w', 'c', 't', '2026-01-01 00:00:00')"
                ),
                {"key": str(number)},
            )

    await asyncio.gather(*(add(number) for number in range(200)))
    async with database.read() as db:
        assert await db.scalar(sa.text("SELECT count(*) FROM threads")) == 200
    await database.close()


async def test_a_database_locked_by_another_process_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    database = await open_database(url(path) + "?timeout=0.01")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageUnavailable, match="locked by another process"):
        async with database.write():
            pass
    other.close()
    await database.close()


async def test_a_timeout_that_is_no_number_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="timeout long: give it in seconds"):
        await open_database(url(tmp_path / "f.sqlite") + "?timeout=long")


async def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    path.write_bytes(b"these are notes, not a database\n" * 100)
    with pytest.raises(StorageUnavailable, match="not a Footnote database"):
        await open_database(url(path))


async def test_a_damaged_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    await (await open_database(url(path))).close()
    content = bytearray(path.read_bytes())
    content[100:4096] = os.urandom(3996)
    path.write_bytes(content)
    with pytest.raises(StorageUnavailable, match="damaged"):
        await open_database(url(path))


async def test_a_full_disk_is_a_sentence_and_what_was_there_stays(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA max_page_count = 1")  # SQLite's own "disk is full"
    with pytest.raises(StorageUnavailable, match="no room"):
        async with database.write() as db:
            await db.exec_driver_sql("CREATE TABLE big AS SELECT hex(randomblob(2000000))")
    async with database.read() as db:
        assert await db.scalar(sa.text("SELECT version_num FROM alembic_version")) == HEAD
    await database.close()


async def test_a_read_only_database_is_a_sentence(tmp_path: Path) -> None:
    database = await open_database(url(tmp_path / "f.sqlite"))
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA query_only = ON")  # what a read-only file answers
    with pytest.raises(StorageUnavailable, match="read-only"):
        async with database.write() as db:
            await db.exec_driver_sql("DELETE FROM threads")
    await database.close()


async def test_a_place_that_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATA_DIR"):
        await open_database(url(tmp_path / "file" / "f.sqlite"))


async def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.sqlite"
    await (await open_database(url(path))).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE alembic_version SET version_num = '9999'")
    db.close()
    with pytest.raises(InvalidSetting, match="newer Footnote"):
        await open_database(url(path))


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ("no url at all", "not a database URL"),
        ("mysql://host/db", "only postgresql"),
        ("sqlite+aiosqlite://", "must name a file"),
    ],
)
async def test_an_unusable_url_is_refused(bad: str, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        await open_database(bad)
