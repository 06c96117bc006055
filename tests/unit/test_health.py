"""What a process tells of its health over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from bot.errors import InvalidSetting, StorageUnavailable
from bot.health import Readiness, health_routes, http_endpoint
from bot.storage.database import Database, open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'f.sqlite'}")
    yield database
    await database.close()


async def ask(state: Readiness, path: str) -> tuple[int, dict[str, object]]:
    async with (
        http_endpoint("127.0.0.1", 0, health_routes(state)) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        answer = await client.get(f"{address}{path}")
        return answer.status_code, answer.json()


async def test_a_process_without_platforms_is_ready_when_its_database_is(
    database: Database,
) -> None:
    status, body = await ask(Readiness(database), "/readyz")
    assert (status, body["status"], body["database"]) == (200, "ready", "ok")


@pytest.mark.parametrize(
    ("waiting", "failed", "ready"),
    [
        ((), (), True),
        (("slack",), (), True),
        (("slack", "discord"), (), False),
        (("slack",), ("discord",), False),
        ((), ("slack", "discord"), False),
    ],
)
async def test_one_platform_that_is_heard_makes_it_ready(
    database: Database, waiting: tuple[str, ...], failed: tuple[str, ...], ready: bool
) -> None:
    state = Readiness(
        database,
        frozenset({"slack", "discord", "web"}),
        waiting=set(waiting),
        failed=dict.fromkeys(failed, "No."),
    )
    status, body = await ask(state, "/readyz")
    assert status == (200 if ready else 503)
    assert body["waiting"] == sorted(waiting)


async def test_the_console_alone_makes_it_ready(database: Database) -> None:
    assert (await ask(Readiness(database, frozenset({"web"})), "/readyz"))[0] == 200


async def test_a_database_that_takes_nothing_makes_it_unready_but_not_dead(
    database: Database,
) -> None:
    state = Readiness(database, frozenset({"slack"}))
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA query_only = ON")  # what a read-only file answers
    with pytest.raises(StorageUnavailable):
        async with database.write() as db:
            await db.execute(sa.text("DELETE FROM threads"))
    status, body = await ask(state, "/readyz")
    assert (status, body["status"]) == (503, "not ready")
    assert "is read-only" in str(body["database"])
    assert (await ask(state, "/healthz"))[0] == 200


async def test_a_port_that_is_taken_is_a_sentence(database: Database) -> None:
    routes = health_routes(Readiness(database))
    async with http_endpoint("127.0.0.1", 0, routes) as address:
        with pytest.raises(InvalidSetting, match="cannot be listened on"):
            async with http_endpoint("127.0.0.1", int(address.rpartition(":")[2]), routes):
                pass
