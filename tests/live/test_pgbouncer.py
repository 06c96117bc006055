"""Debian's PgBouncer in transaction mode between Footnote and PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.core.errors import StorageUnavailable
from bot.core.messages import RunOptions, Thread
from bot.service.dispatch.procrastinate_dispatcher import PostgresDispatcher
from bot.storage.database import open_database
from bot.storage.postgres import Connecting
from bot.storage.store import RunRecord, Store, open_store
from tests.fakes.postgres import Postgres
from tests.fakes.server import free_port
from tests.unit.samples import a_message

WEB = Thread("web", "console", "local", "t")
CLIENTS, SERVERS = 200, 4  # connections that PgBouncer takes, and makes


@dataclass(frozen=True, slots=True)
class Pooled:
    """One database by its two addresses: through PgBouncer, and past it."""

    through: str
    past: str


@pytest.fixture
def pooled(postgres: Postgres, tmp_path: Path) -> Iterator[Pooled]:
    """Skipped where PgBouncer is not installed, a failure in CI."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed: run .ci/install-live as root")
    past = postgres.migrated()
    url, port = sa.make_url(past), free_port()
    (tmp_path / "users").write_text('"postgres" ""\n')
    (tmp_path / "pgbouncer.ini").write_text(
        f"""[databases]
{url.database} = host={url.query["host"]} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
auth_file = {tmp_path / "users"}
pool_mode = transaction
max_client_conn = {CLIENTS}
default_pool_size = {SERVERS}
"""
    )
    command = [program, "-q", str(tmp_path / "pgbouncer.ini")]
    user = None
    if os.getuid() == 0:
        user = Path(str(url.query["host"])).owner()  # neither program runs as root
        for folder in (tmp_path, *tmp_path.parents[:3]):
            folder.chmod(folder.stat().st_mode | 0o055)
    with subprocess.Popen(command, user=user, stderr=subprocess.PIPE, text=True) as bouncer:
        until = time.monotonic() + 20
        while time.monotonic() < until and bouncer.poll() is None:
            with closing(socket.socket()) as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
        assert bouncer.poll() is None, bouncer.stderr and bouncer.stderr.read()
        yield Pooled(f"postgresql+psycopg://postgres@127.0.0.1:{port}/{url.database}", past)
        bouncer.terminate()


class Ending:
    """Ends each run at once, and notes it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.ended: asyncio.Queue[str] = asyncio.Queue()

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        await self._store.end(run.id, run.attempt, "answered", datetime.now(UTC))
        self.ended.put_nowait(run.id)


@pytest.fixture
async def store(pooled: Pooled) -> AsyncIterator[Store]:
    store = await open_store(pooled.through, connecting=Connecting(listen_url=pooled.past))
    yield store
    await store.close()


async def test_questions_are_answered_through_it(store: Store, pooled: Pooled) -> None:
    executor = Ending(store)
    async with PostgresDispatcher(
        pooled.through, store, executor, 8, platforms=[WEB.platform]
    ) as dispatcher:
        for number in range(30):
            await store.accept(
                f"r{number}",
                a_message(f"How tall is number {number}?", WEB, event_id=f"e{number}"),
                RunOptions(),
                datetime.now(UTC),
            )
            await dispatcher.submit(f"r{number}", WEB)
        async with asyncio.timeout(60):
            ended = {await executor.ended.get() for _ in range(30)}
    assert ended == {f"r{number}" for number in range(30)}


async def test_many_at_once_share_its_few_connections(store: Store, pooled: Pooled) -> None:
    """The same statement again and again, on whichever connection: none may be prepared."""
    others = [
        await open_store(pooled.through, connecting=store.database.connecting) for _ in range(9)
    ]

    async def work(each: Store) -> None:
        for _ in range(20):
            async with each.database.write() as db:
                assert await db.scalar(sa.text("SELECT 1 + :n"), {"n": 1}) == 2
            async with each.database.read() as db:
                assert await db.scalar(sa.text("SELECT 2 + :n"), {"n": 1}) == 3

    await asyncio.gather(*(work(each) for each in (store, *others) for _ in range(5)))
    direct = await open_database(pooled.past)
    async with direct.read() as db:
        counted = await db.scalar(
            sa.text(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
                " AND query NOT LIKE 'LISTEN%'"
            )
        )
    assert counted <= SERVERS
    await direct.close()
    for each in others:
        await each.close()


async def test_without_being_told_of_it_footnote_says_what_to_set(pooled: Pooled) -> None:
    with pytest.raises(StorageUnavailable, match="FOOTNOTE_DATABASE_LISTEN_URL"):
        await open_database(pooled.through)
