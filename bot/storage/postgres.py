"""PostgreSQL: its engines, its pool, and the translation of its errors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from time import monotonic
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.core.errors import StorageUnavailable
from bot.storage.connecting import Connecting

Kind = Literal["contended", "broken", "away", "exhausted", "wrong"]

POOL_WAIT_SECONDS = 10.0
IDLE_SECONDS = 1.0  # in the pool, after which a connection is tested before use
CLOSE_SECONDS = 5.0  # in the pool, after which a connection is closed
CONNECT_SECONDS = 5
# The server ends what hangs: a statement, a wait for a lock, an open transaction.
_OPTIONS = (
    "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
)

# A server that has vanished (a dead machine or network) is noticed after 15 s instead of hours:
# https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-KEEPALIVES
_HOW: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,  # milliseconds
    "options": _OPTIONS,
    "application_name": "footnote",
}

# SQLSTATE, or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html) → kind of
# ``StorageUnavailable``, which decides on retries, and our sentence.
_TROUBLES: Mapping[str, tuple[Kind, str]] = {
    "08": (
        "broken",
        "cannot be reached: check that it runs and that FOOTNOTE_DATABASE_URL is right",
    ),
    "28": ("away", "refuses the user or password of FOOTNOTE_DATABASE_URL: correct them"),
    "3D000": (
        "away",
        "does not exist on its server: create it, or correct FOOTNOTE_DATABASE_URL",
    ),
    "42501": (
        "away",
        "refuses this to the user of FOOTNOTE_DATABASE_URL: grant it the rights",
    ),
    "25006": ("away", "is read-only: FOOTNOTE_DATABASE_URL must name the primary server"),
    "53100": ("away", "has no room to grow: free some disk space on its server and try again"),
    "53300": (
        "exhausted",
        "has too many connections: all that its server allows are taken. Lower "
        "FOOTNOTE_DATABASE_CONNECTIONS of each process, raise max_connections of the server, or "
        "put PgBouncer before it",
    ),
    "53": ("away", "has run out of a resource: look at its server and try again"),
    "57P": ("broken", "is being shut down or started: try again in a moment"),
    "25P03": ("broken", "ended a transaction that was idle for too long: try again"),
    "40": ("contended", "was asked for the same rows by several at once: try again"),
    "55P03": ("contended", "waited too long for another transaction: try again"),
    "57014": ("away", "took too long over a statement: try again"),
    # Signs of a pooler: PgBouncer's own error, and errors of prepared statements behind a pooler.
    "PGBNC": (
        "away",
        "is behind PgBouncer: set FOOTNOTE_DATABASE_LISTEN_URL to PostgreSQL's own address, for "
        "every process",
    ),
    "26000": ("away", "is behind a pooler: set FOOTNOTE_DATABASE_LISTEN_URL to its own address"),
    "42P05": ("away", "is behind a pooler: set FOOTNOTE_DATABASE_LISTEN_URL to its own address"),
    "58": ("away", "has trouble with its disk: look at its server and try again"),
}


_REFUSALS = (
    (
        re.compile(
            r"FATAL: +(sorry, too many clients already|too many connections for"
            r"|remaining connection slots are reserved|no more connections allowed)"
        ),
        "53300",
    ),
    (re.compile(r"unsupported startup parameter"), "PGBNC"),
    (re.compile(r'FATAL: +database "[^"]*+" does not exist'), "3D000"),
    (
        re.compile(
            r'FATAL: +(\w+ authentication failed|role "[^"]*+" does not exist|no pg_hba.conf entry)'
            r"|no password supplied"
        ),
        "28",
    ),
)


def postgres_trouble(error: BaseException, what: str) -> StorageUnavailable | None:
    """Translate an error of the driver; None for errors that have another cause. ``what`` as in
    ``sqlite_trouble``."""
    if isinstance(error, sa.exc.TimeoutError):
        return StorageUnavailable(
            f"{what} is busy: none of this process's connections was free for "
            f"{POOL_WAIT_SECONDS:g} s. Try again, or raise FOOTNOTE_DATABASE_CONNECTIONS.",
            detail=str(error),
        )
    code = getattr(error, "sqlstate", None)
    if type(error).__module__.split(".")[0] not in ("psycopg", "psycopg_pool"):
        return None
    if code is None:  # the connection broke, or was never made
        code = _refusal(str(error)) or "08"
    known = (code[:length] for length in (5, 3, 2))
    kind, sentence = next(
        (_TROUBLES[prefix] for prefix in known if prefix in _TROUBLES),
        ("wrong", "does not work as expected: look at its log"),
    )
    # On one line: the driver's messages have several.
    message = " ".join(str(error).split())
    return StorageUnavailable(f"{what} {sentence}.", detail=f"{code}: {message}", kind=kind)


def _refusal(words: str) -> str:
    """The SQLSTATE of a refused connection, for which the driver only passes on the message; "" if
    the server was not reached. Server messages are English unless configured otherwise."""
    return next((code for pattern, code in _REFUSALS if pattern.search(words)), "")


def open_postgres(
    url: sa.URL,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
    *,
    idle_seconds: float = IDLE_SECONDS,
    close_seconds: float = CLOSE_SECONDS,
) -> tuple[AsyncEngine, AsyncEngine]:
    """The engines for writing and for reading; they share their connections.

    Reading needs no transaction: at the isolation level in use (read committed) each statement
    sees what is committed when it begins, in a transaction or not. Without one it takes one round
    trip instead of three, and the driver keeps its prepared statements, which a rollback would
    discard. A connection that was idle for ``idle_seconds`` is tested first, because servers
    restart; testing each time would cost every transaction a round trip. After ``close_seconds``
    an idle connection is closed, so that other processes can use the slot.
    """
    engine = create_async_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=connecting.of_engine,
        max_overflow=0,  # those would be closed when returned, and connecting is expensive
        pool_use_lifo=True,  # a few busy connections keep their prepared statements
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args=driver_arguments(connecting),
    )
    # First, so that it learns that a connection is in use before the slow test of it.
    _Closing(engine, close_seconds)
    _test_after(engine, idle_seconds)
    return engine, engine.execution_options(isolation_level="AUTOCOMMIT")


def _test_after(engine: AsyncEngine, idle_seconds: float) -> None:
    """Like ``pool_pre_ping``, but only for connections that were idle for a while."""
    dialect = engine.sync_engine.dialect

    def put_back(connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["since"] = monotonic()

    def taken(connection: Any, record: ConnectionPoolEntry, _: object) -> None:
        since = record.info.get("since")
        if since is None or monotonic() - since < idle_seconds:
            return
        try:
            dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error as broken:
            raise sa.exc.InvalidatePoolError from broken  # the others are broken as well

    sa.event.listen(engine.sync_engine, "checkin", put_back)
    sa.event.listen(engine.sync_engine, "checkout", taken)


class _Closing:
    """Closes connections that stay idle in an engine's pool, which SQLAlchemy's pools never do.

    A pool record without a connection creates a new one when it is next checked out.
    """

    def __init__(self, engine: AsyncEngine, seconds: float) -> None:
        self._seconds = seconds
        self._idle: dict[ConnectionPoolEntry, float] = {}  # since when; longest idle first
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        sa.event.listen(engine.sync_engine, "checkin", self._put_back)
        sa.event.listen(engine.sync_engine, "checkout", self._taken)

    def _put_back(self, connection: Any, record: ConnectionPoolEntry) -> None:
        self._idle.pop(record, None)
        self._idle[record] = monotonic()
        if self._timer is None:
            self._wait(self._seconds)

    def _taken(self, connection: Any, record: ConnectionPoolEntry, _: object) -> None:
        self._idle.pop(record, None)

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._close)

    def _close(self) -> None:
        self._timer, now = None, monotonic()
        for record, since in list(self._idle.items()):
            if since + self._seconds > now:
                return self._wait(since + self._seconds - now)
            del self._idle[record]
            # Detach it before anything is awaited: it may be checked out at any moment.
            connection, driver = record.dbapi_connection, record.driver_connection
            record.dbapi_connection = None  # type: ignore[misc]
            if connection is not None and driver is not None:
                task = asyncio.create_task(driver.close())
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        return None


def driver_arguments(connecting: Connecting) -> dict[str, Any]:
    """The driver's arguments apart from the address."""
    if not connecting.is_pooled:
        return dict(_HOW)
    # PgBouncer rejects ``options`` and passes connections on between transactions, so the next one
    # lacks the statements prepared before. The handbook explains how to set the time limits there.
    how = {name: value for name, value in _HOW.items() if name != "options"}
    return how | {"prepare_threshold": None}


def connection_arguments(url: sa.URL, connecting: Connecting) -> dict[str, Any]:
    """The arguments with which the driver itself opens a connection like the engine's."""
    dialect: Any = PGDialect_psycopg
    _, where = dialect().create_connect_args(url)
    return {**where, **driver_arguments(connecting)}
