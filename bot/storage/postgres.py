"""PostgreSQL: many processes and machines on one database, and what it calls its troubles."""

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

from bot.errors import StorageUnavailable
from bot.storage.connecting import Connecting

Kind = Literal["contended", "broken", "away", "exhausted", "wrong"]

POOL_WAIT_SECONDS = 10.0
IDLE_SECONDS = 1.0  # in the pool, after which a connection is tested before it is used
CLOSE_SECONDS = 5.0  # idle, after which it is given back to the server
CONNECT_SECONDS = 5
# The server ends what hangs: a statement, a wait for a lock, a transaction left open.
_OPTIONS = (
    "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
)

# A server that has gone without a word (its machine, the network) is noticed after 15 s instead of
# hours: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-KEEPALIVES
_HOW: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,  # milliseconds
    "options": _OPTIONS,
    "application_name": "footnote",
}

# SQLSTATE, or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html) → what
# trying again would do (see ``StorageUnavailable``), and our sentence.
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
    "55P03": ("contended", "was too long held up by another transaction: try again"),
    "57014": ("away", "took too long over a statement: try again"),
    # Two that no server has: the pooler's words, and what comes of not telling us of it.
    "PGBNC": (
        "away",
        "is behind PgBouncer: set FOOTNOTE_DATABASE_POOLER=transaction, for every process",
    ),
    "26000": ("away", "is behind a pooler: set FOOTNOTE_DATABASE_POOLER=transaction"),
    "42P05": ("away", "is behind a pooler: set FOOTNOTE_DATABASE_POOLER=transaction"),
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
    (re.compile(r'FATAL: +database ".*" does not exist'), "3D000"),
    (
        re.compile(
            r'FATAL: +(\w+ authentication failed|role ".*" does not exist|no pg_hba.conf entry)'
            r"|no password supplied"
        ),
        "28",
    ),
)


def postgres_trouble(error: BaseException, what: str) -> StorageUnavailable | None:
    """Translate an error of the driver; None for errors that are no database trouble. ``what`` as
    for SQLite."""
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
    # One line: the driver's own words have several.
    told = " ".join(str(error).split())
    return StorageUnavailable(f"{what} {sentence}.", detail=f"{code}: {told}", kind=kind)


def _refusal(words: str) -> str:
    """The SQLSTATE of a server that is there and refuses the connection, of which the driver hands
    on the words alone; "" where it is not there. Servers speak English unless told otherwise."""
    return next((code for pattern, code in _REFUSALS if pattern.search(words)), "")


def open_postgres(
    url: sa.URL,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
    *,
    idle_seconds: float = IDLE_SECONDS,
    close_seconds: float = CLOSE_SECONDS,
) -> tuple[AsyncEngine, AsyncEngine]:
    """The engines to write and to read with; they share their connections.

    Who reads needs no transaction: on the level that all work on (read committed) each statement
    sees what is committed when it begins, in a transaction or not. Without one it is one round
    trip instead of three, and what the driver has prepared lives on (it does not outlive a
    rollback). A connection that lay idle for ``idle_seconds`` is tested first, since servers
    restart; to test each time would be a round trip for every transaction. After ``close_seconds``
    it is closed: others may need it more.
    """
    engine = create_async_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=connecting.of_engine,
        max_overflow=0,  # these would be closed when given back, and to connect is dear
        pool_use_lifo=True,  # the few that are used much know the statements
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args=driver_arguments(connecting),
    )
    # First, so that it knows of a connection in use before the test of it, which takes a while.
    _Closing(engine, close_seconds)
    _test_after(engine, idle_seconds)
    return engine, engine.execution_options(isolation_level="AUTOCOMMIT")


def _test_after(engine: AsyncEngine, idle_seconds: float) -> None:
    """As ``pool_pre_ping``, but only for a connection that was idle for a while."""
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
            raise sa.exc.InvalidatePoolError from broken  # the others are no better

    sa.event.listen(engine.sync_engine, "checkin", put_back)
    sa.event.listen(engine.sync_engine, "checkout", taken)


class _Closing:
    """Closes connections that lie idle in an engine's pool, which SQLAlchemy's pools never do.

    A record of the pool without a connection makes a new one when it is next taken.
    """

    def __init__(self, engine: AsyncEngine, seconds: float) -> None:
        self._seconds = seconds
        self._idle: dict[ConnectionPoolEntry, float] = {}  # since when; the longest first
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
            # Out of the record before anything is awaited: it may be taken at any moment.
            connection, driver = record.dbapi_connection, record.driver_connection
            record.dbapi_connection = None  # type: ignore[misc]
            if connection is not None and driver is not None:
                task = asyncio.create_task(driver.close())
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
        return None


def driver_arguments(connecting: Connecting) -> dict[str, Any]:
    """The arguments of the driver beside the address."""
    if not connecting.is_pooled:
        return dict(_HOW)
    # PgBouncer knows no ``options`` and hands connections on between transactions: what the driver
    # prepared on one is not on the next. The handbook says how the server gets the time limits.
    how = {name: value for name, value in _HOW.items() if name != "options"}
    return how | {"prepare_threshold": None}


def connection_arguments(url: sa.URL, connecting: Connecting) -> dict[str, Any]:
    """The arguments that the driver itself needs for a connection like the engine's."""
    dialect: Any = PGDialect_psycopg
    _, where = dialect().create_connect_args(url)
    return {**where, **driver_arguments(connecting)}
