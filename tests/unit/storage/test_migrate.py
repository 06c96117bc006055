"""From nothing and from every earlier schema to today's; old and new side by side."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import bot.storage
import bot.storage.audit_log
import bot.storage.console
import bot.storage.tables
from bot.core.errors import InvalidSetting
from bot.core.messages import RunOptions
from bot.storage import migrate
from bot.storage.database import open_database
from bot.storage.migrate import MAJOR
from bot.storage.store import open_store
from bot.storage.tables import HEAD, metadata
from tests.fakes.postgres import Postgres
from tests.unit.samples import NOW, a_message
from tests.unit.storage.past import Past, pages


def config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(bot.storage.__file__).parent / "migrations"))
    return config


REVISIONS = sorted(
    script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()
)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database in which nothing is yet."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'footnote.sqlite'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.fresh()


@pytest.fixture
def engine(empty_url: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(empty_url.replace("+aiosqlite", ""))
    yield engine
    engine.dispose()


def bring_to(engine: sa.Engine, revision: str) -> None:
    with engine.begin() as connection:
        settings = config()
        settings.attributes["connection"] = connection
        command.upgrade(settings, revision)


def differences(engine: sa.Engine) -> list[object]:
    def ours(thing: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
        # The queue's, and what indexes words in each database's own way.
        elsewhere = (
            "procrastinate_",
            "found_words_index",
            "ix_found_words_terms",
            "answered_index",
            "ix_answered_terms",
        )
        return not str(name).startswith(elsewhere)

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours})
        return list(compare_metadata(context, metadata))


@pytest.mark.parametrize("revision", ["base", *REVISIONS])
async def test_every_earlier_schema_becomes_todays_and_keeps_its_questions(
    engine: sa.Engine, empty_url: str, revision: str
) -> None:
    if revision != "base":
        bring_to(engine, revision)
        ask_in_first_schema(engine)
    store = await open_store(empty_url)
    try:
        run = await store.run("r1")
        assert (run is not None and run.message.text) == (revision != "base" and "How tall?")
    finally:
        await store.close()
    assert differences(engine) == []
    with engine.connect() as connection:
        assert migrate.is_current(connection)


def ask_in_first_schema(engine: sa.Engine) -> None:
    """A question as the first version kept it; what came later has defaults."""
    old = sa.MetaData()
    with engine.begin() as connection:
        old.reflect(connection, only=["threads", "messages", "runs"])
        tables = old.tables
        place = {"platform": "terminal", "workspace": "w", "channel": "c", "thread": "t"}
        connection.execute(tables["threads"].insert().values(key="k", created_at=NOW, **place))
        connection.execute(
            tables["messages"]
            .insert()
            .values(
                id=1,
                thread_key="k",
                event_key="terminal:e1",
                author_id="ada",
                author_name="Ada",
                text="How tall?",
                links=[],
                attachments=[],
                locale="en",
                at=NOW,
            )
        )
        connection.execute(
            tables["runs"]
            .insert()
            .values(
                id="r1",
                thread_key="k",
                message_id=1,
                state="accepted",
                options={},
                accepted_at=NOW,
            )
        )


async def test_a_newer_schema_is_refused(engine: sa.Engine, empty_url: str) -> None:
    await (await open_database(empty_url)).close()
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InvalidSetting, match="newer Footnote"):
        await open_database(empty_url)


async def test_a_schema_from_before_the_first_release_is_refused(
    engine: sa.Engine, empty_url: str
) -> None:
    await (await open_database(empty_url)).close()
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0023'"))
    with pytest.raises(InvalidSetting, match="before the first release"):
        await open_database(empty_url)


# ---------------------------------------------------------------- the queue's own schema


@pytest.fixture
def queue(postgres: Postgres) -> Iterator[sa.Engine]:
    """A database with today's schema."""
    engine = sa.create_engine(postgres.migrated())
    yield engine
    engine.dispose()


def test_what_a_later_procrastinate_brings_is_applied_in_order_and_once(
    queue: sa.Engine, tmp_path: Path
) -> None:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    for name, statement in {
        "00.00.00_01_initial.sql": "SELECT 'was applied long ago' / 0",
        "98.00.00_01_pre.sql": "CREATE TYPE later AS ENUM ('a'); CREATE TABLE one (a later)",
        "98.00.00_50_post.sql": "ALTER TYPE later ADD VALUE '100%'",
        "98.01.00_01_use.sql": "INSERT INTO one VALUES ('100%')",
    }.items():
        (migrations / name).write_text(statement)
    for more in (True, True, False, False):
        with queue.begin() as connection:
            assert migrate.upgrade_queue(connection, tmp_path) is more
    with queue.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM one")) == 1


async def test_a_queue_of_a_newer_procrastinate_is_refused(queue: sa.Engine) -> None:
    with queue.begin() as connection:
        connection.execute(sa.text("COMMENT ON TABLE procrastinate_jobs IS '99.00.00_01_x.sql'"))
    with pytest.raises(InvalidSetting, match="newer Procrastinate"):
        await open_database(queue.url.render_as_string(hide_password=False))


def test_the_newest_revision_is_the_one_that_is_known_without_alembic() -> None:
    assert REVISIONS[-1] == HEAD


def test_the_first_schema_follows_the_tables_only_while_it_is_the_newest() -> None:
    follows = "create_all" in MIGRATIONS[0].read_text(encoding="utf-8")
    assert len(MIGRATIONS) == 1 or not follows


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
