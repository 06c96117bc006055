"""Old and new side by side: migrations only add, and an older process works with what was added."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import sqlalchemy as sa

import bot.storage
from bot.core.errors import InvalidSetting
from bot.core.messages import RunOptions
from bot.storage.migrate import MAJOR
from bot.storage.store import open_store
from bot.storage.tables import HEAD, metadata
from tests.unit.samples import NOW, a_message
from tests.unit.storage.past import Past, pages

ADDING = {"add_column", "create_index", "create_table", "execute", "f", "get_bind"}
_VERSIONS = Path(bot.storage.__file__).parent / "migrations" / "versions"
MIGRATIONS = sorted(_VERSIONS.glob("[0-9]*.py"))


def calls_in(path: Path) -> list[ast.Call]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [each for each in ast.walk(tree) if isinstance(each, ast.Call)]


def is_of_op(call: ast.Call) -> bool:
    of = call.func
    return isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) and of.value.id == "op"


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.stem)
def test_a_migration_within_a_thousand_only_adds(path: Path) -> None:
    made = [call for call in calls_in(path) if is_of_op(call)]
    names = {call.func.attr for call in made if isinstance(call.func, ast.Attribute)}
    assert names <= ADDING
    for call in made:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_column":
            column = call.args[1]
            assert isinstance(column, ast.Call)
            given = {word.arg: word.value for word in column.keywords}
            nullable = given.get("nullable")
            may_be_null = not isinstance(nullable, ast.Constant) or nullable.value is True
            # An older process writes rows without it.
            assert "server_default" in given or may_be_null


def later(url: str, revision: str) -> None:
    """Migrate as a later version may: new columns everywhere, and a new table."""
    engine = sa.create_engine(url.replace("+aiosqlite", ""))
    with engine.begin() as db:
        for table in metadata.sorted_tables:
            db.exec_driver_sql(
                f"ALTER TABLE {table.name} ADD COLUMN later TEXT NOT NULL DEFAULT 'new'"
            )
            db.exec_driver_sql(f"CREATE INDEX ix_{table.name}_later ON {table.name} (later)")
        db.exec_driver_sql(
            "CREATE TABLE afterwards (run_id TEXT REFERENCES runs (id) ON DELETE CASCADE)"
        )
        db.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    engine.dispose()


async def test_an_older_process_works_on_while_a_newer_one_migrates_and_starts_again(
    database_url: str,
) -> None:
    store = await open_store(database_url)
    try:
        past = Past(store)
        first = await past.answered(cited=pages("before"))
        later(database_url, f"{int(HEAD) + 1:04}")
        second = await past.answered(cited=pages("after"))
        await store.database.check(5.0)
    finally:
        await store.close()
    again = await open_store(database_url)
    try:
        for run_id in (first, second):
            run = await again.run(run_id)
            assert run is not None
            assert run.answer is not None
            assert len(run.answer.citations) == 1
        await again.accept("r-new", a_message(), RunOptions(), NOW)
    finally:
        await again.close()


async def test_a_schema_of_the_next_thousand_is_refused(database_url: str) -> None:
    store = await open_store(database_url)
    later(database_url, f"{(int(HEAD) // MAJOR + 1) * MAJOR + 1:04}")
    await store.close()
    with pytest.raises(InvalidSetting, match="newer Footnote"):
        await open_store(database_url)
