"""The health of a process over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.core.measurements import Indexing
from bot.operation.health import Readiness, health_routes, http_endpoint
from bot.service.dispatch.attempts import Condition
from bot.service.dispatch.dispatcher import LocalDispatcher
from bot.service.platform import Connection
from bot.storage.database import Database, open_database
from bot.storage.store import Store


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(f"sqlite+aiosqlite:///{tmp_path / 'f.sqlite'}")
    yield database
    await database.close()


class Dispatching(LocalDispatcher):
    """Stands as it is told."""

    def __init__(self, database: Database, condition: Condition | None = None) -> None:
        super().__init__(Store(database), None, 1)  # type: ignore[arg-type]
        self.now = condition or Condition(0)

    async def condition(self) -> Condition:
        return self.now


def ready(database: Database, *states: str, **given: Any) -> Readiness:
    """Of platforms in these states, the console last."""
    names = ("slack", "discord", "web")[-len(states) :] if states else ()
    platforms = {name: Connection(state) for name, state in zip(names, states, strict=True)}  # type: ignore[arg-type]
    dispatcher = given.pop("dispatcher", None) or Dispatching(database)
    return Readiness(database, platforms, dispatcher=dispatcher, **given)


async def ask(state: Readiness, path: str = "/readyz") -> tuple[int, dict[str, Any]]:
    async with (
        http_endpoint("127.0.0.1", 0, health_routes(state)) as address,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        answer = await client.get(f"{address}{path}")
        return answer.status_code, answer.json()


async def test_a_process_without_platforms_is_ready_when_its_database_is(
    database: Database,
) -> None:
    assert await ask(ready(database)) == (
        200,
        {
            "status": "ready",
            "database": {"state": "ok"},
            "dispatcher": {"state": "ok", "working": 0},
            "platforms": {},
        },
    )


async def test_indexing_is_shown_and_does_not_delay_readiness(
    database: Database,
) -> None:
    indexing = Indexing(True)
    state = ready(database, documents=indexing)
    assert (await ask(state))[1]["documents"] == {"state": "indexing", "done": 0, "total": 0}
    indexing.advance(400, 1_735)
    status, body = await ask(state)
    assert (status, body["documents"]) == (200, {"state": "indexing", "done": 400, "total": 1_735})
    indexing.become("not ok", "The disk is full.")
    status, body = await ask(state)
    assert (status, body["status"]) == (200, "ready")
    assert (body["documents"]["state"], body["documents"]["why"]) == ("not ok", "The disk is full.")
    assert body["documents"]["since"].endswith("Z")
    assert "documents" not in (await ask(ready(database, documents=Indexing(False))))[1]


@pytest.mark.parametrize(
    ("slack", "discord", "status"),
    [
        ("connected", "connected", 200),
        ("connecting", "connected", 200),
        ("lost", "connected", 200),
        ("failed", "connected", 200),
        ("connecting", "connecting", 503),
        ("connecting", "failed", 503),
        ("lost", "failed", 503),
        ("lost", "lost", 503),
    ],
)
async def test_one_platform_that_is_heard_makes_a_listener_ready(
    database: Database, slack: str, discord: str, status: int
) -> None:
    answered, body = await ask(ready(database, slack, discord, "connected"))
    assert answered == status
    assert [body["platforms"][name]["state"] for name in ("slack", "discord")] == [slack, discord]


@pytest.mark.parametrize("state", ["connecting", "lost", "failed", "connected"])
async def test_a_worker_is_ready_whatever_it_can_reach(database: Database, state: str) -> None:
    assert (await ask(ready(database, state, state, "connected", listens=False)))[0] == 200


async def test_the_console_alone_makes_it_ready(database: Database) -> None:
    status, body = await ask(ready(database, "connected"))
    assert (status, body["platforms"]["web"]["state"]) == (200, "connected")


async def test_a_connection_tells_since_when_and_why_it_is_away(database: Database) -> None:
    state = ready(database, "connected", "connected", "connected")
    slack = state.platforms["slack"]
    before = slack.since = datetime(2026, 1, 1, tzinfo=UTC)
    slack.mark_connected()
    assert slack.since == before, "nothing has changed"
    slack.mark_unreachable("Slack is away.")
    _, body = await ask(state)
    told = body["platforms"]["slack"]
    assert (told["state"], told["why"]) == ("lost", "Slack is away.")
    assert datetime.fromisoformat(told["since"]) > before
    slack.mark_connected()
    assert "why" not in (await ask(state))[1]["platforms"]["slack"]


def test_a_platform_that_was_never_reached_is_not_lost() -> None:
    connection = Connection()
    connection.mark_unreachable("It is away.")
    assert (connection.state, connection.why) == ("connecting", "It is away.")


@pytest.mark.parametrize("path", ["/readyz", "/healthz"])
async def test_from_the_moment_it_is_told_to_end_it_is_not_ready_but_lives(
    database: Database, path: str
) -> None:
    state = ready(database, "connected")
    state.ending = True
    status, body = await ask(state, path)
    expected = (503, "ending") if path == "/readyz" else (200, "ok")
    assert (status, body["status"]) == expected


# ---------------------------------------------------------------- the dispatcher


async def test_it_is_not_ready_before_there_is_a_dispatcher(database: Database) -> None:
    state = Readiness(database, {"web": Connection("connected")})
    status, body = await ask(state)
    assert (status, body["dispatcher"]["why"]) == (503, "It is being started.")


async def test_a_dispatcher_that_takes_nothing_makes_it_unready(database: Database) -> None:
    dispatcher = Dispatching(database, Condition(0, 2, trouble="It takes nothing."))
    state = ready(database, "connected", dispatcher=dispatcher)
    status, body = await ask(state)
    assert (status, body["dispatcher"]["state"]) == (503, "not ok")
    assert body["dispatcher"]["why"] == "It takes nothing."
    since = body["dispatcher"]["since"]
    assert (await ask(state))[1]["dispatcher"]["since"] == since
    dispatcher.now = Condition(3, 2)
    status, body = await ask(state)
    assert (status, body["dispatcher"]) == (200, {"state": "ok", "working": 3, "workers": 2})


async def test_a_listener_without_workers_says_so_and_goes_on_taking_questions(
    database: Database,
) -> None:
    dispatcher = Dispatching(database, Condition(0, 0, advice="Start `footnote worker`."))
    status, body = await ask(ready(database, "connected", dispatcher=dispatcher))
    told = body["dispatcher"]
    assert (status, told["state"], told["workers"]) == (200, "no workers", 0)
    assert (told["why"], bool(told["since"])) == ("Start `footnote worker`.", True)


# ---------------------------------------------------------------- the database


async def test_a_database_that_takes_nothing_makes_it_unready_but_not_dead(
    database: Database,
) -> None:
    state = ready(database, "connected", "connected")
    async with database.write() as db:
        await db.exec_driver_sql("PRAGMA query_only = ON")  # what a read-only file answers
    with pytest.raises(StorageUnavailable):
        async with database.write() as db:
            await db.execute(sa.text("DELETE FROM threads"))
    status, body = await ask(state)
    assert (status, body["status"]) == (503, "not ready")
    assert "is read-only" in body["database"]["why"]
    assert database.outages.since is not None
    assert body["database"]["since"] == f"{database.outages.since:%Y-%m-%dT%H:%M:%SZ}"
    assert (await ask(state, "/healthz"))[0] == 200


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE alembic_version SET version_num = '0001'", "is at revision 0001"),
        ("DROP TABLE alembic_version", "has no tables"),
    ],
)
async def test_a_database_without_this_versions_tables_makes_it_unready(
    database: Database, change: str, says: str
) -> None:
    async with database.write() as db:
        await db.execute(sa.text(change))
    status, body = await ask(ready(database, "connected"))
    assert (status, body["status"]) == (503, "not ready")
    assert says in body["database"]["why"]
    assert "footnote db upgrade" in body["database"]["why"]


async def test_a_newer_version_that_migrates_it_takes_no_older_process_away(
    database: Database,
) -> None:
    async with database.write() as db:
        await db.execute(sa.text("UPDATE alembic_version SET version_num = '1999'"))
    assert (await ask(ready(database, "connected")))[0] == 200


async def test_a_database_that_hangs_is_told_in_time(database: Database) -> None:
    stuck = asyncio.Event()

    class Stuck(Dispatching):
        async def condition(self) -> Condition:
            await stuck.wait()
            return Condition(0)

    state = ready(database, "connected", dispatcher=Stuck(database))
    status, body = await ask(state)
    assert (status, body["status"]) == (503, "not ready")
    assert "does not answer" in body["database"]["why"]
    stuck.set()
    assert (await ask(state))[0] == 200


async def test_nobody_says_where_a_request_comes_from_but_the_connection() -> None:
    async def peer(request: Request) -> Response:
        return Response(request.client.host if request.client else "")

    async with (
        http_endpoint("127.0.0.1", 0, [Route("/", peer)]) as address,
        httpx.AsyncClient(base_url=address) as client,
    ):
        headers = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
        assert (await client.get("/", headers=headers)).text == "127.0.0.1"


async def test_a_port_that_is_taken_is_a_sentence(database: Database) -> None:
    routes = health_routes(ready(database))
    async with http_endpoint("127.0.0.1", 0, routes) as address:
        with pytest.raises(InvalidSetting, match="cannot listen on"):
            async with http_endpoint("127.0.0.1", int(address.rpartition(":")[2]), routes):
                pass


async def test_a_client_that_goes_away_while_it_sends_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left = asyncio.Event()

    async def take(request: Request) -> Response:
        try:
            await request.body()
        finally:
            left.set()
        return Response()

    # Mounted, as the console is: both applications see the error.
    routes = [Mount("/mounted", Starlette(routes=[Route("/", take, methods=["POST"])]))]
    async with http_endpoint("127.0.0.1", 0, routes) as address:
        _, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        writer.write(b"POST /mounted/ HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\nhalf")
        await writer.drain()
        writer.close()
        await asyncio.wait_for(left.wait(), 10)
    assert caplog.messages == []
