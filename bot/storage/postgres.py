"""PostgreSQL: its engines and its pool, the translation of its errors, and its notifications.

A process has a single connection for notifications, shared by all its listeners:
https://www.postgresql.org/docs/current/sql-notify.html. It is opened for the first listener,
reopened whenever it is lost, and closed after the last. Notifications sent in between are lost, so
listeners check for changes themselves whenever listening begins.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.core.settings import Settings

# PostgreSQL allows 100 by default and reserves 3: enough for ten processes and some people.
CONNECTIONS = 9
LISTENING = 1  # connection on which a process receives notifications
QUEUE = 2  # connections of the process's queue


@dataclass(frozen=True, slots=True)
class Connecting:
    """``connections`` limits the connections of a process. ``listen_url`` is PostgreSQL's own
    address, for notifications, if the database's is that of a pooler in transaction mode. SQLite
    ignores both."""

    connections: int = CONNECTIONS
    listen_url: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Connecting:
        """Read them from the settings."""
        return cls(settings.database_connections, settings.database_listen_url)

    @property
    def is_pooled(self) -> bool:
        return bool(self.listen_url)

    @property
    def of_engine(self) -> int:
        """The connections left for the engine."""
        return self.connections - LISTENING - QUEUE

    def listen_at(self, url: sa.URL) -> sa.URL:
        """The address at which to listen for notifications; a pooler would pass the connection on
        to others."""
        return sa.make_url(self.listen_url) if self.listen_url else url


RETRY_SECONDS = 1.0  # before reconnecting

Heard = Callable[[str, str], Awaitable[None]]  # receives the channel and the payload

log = get_logger()


def _nothing() -> None:
    """The default reaction when listening begins or ends."""


@dataclass(frozen=True, slots=True, eq=False)
class _Hearer:
    channels: frozenset[str]
    heard: Heard
    begun: Callable[[], None]
    lost: Callable[[], None]


class Listener:
    """``arguments`` returns the driver's arguments for a connection; it is None for
    SQLite, which has no notifications."""

    def __init__(self, arguments: Callable[[], Mapping[str, Any]] | None) -> None:
        self._arguments = arguments
        self._hearers: set[_Hearer] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def can_hear(self) -> bool:
        return self._arguments is not None

    async def hear(
        self,
        channels: Iterable[str],
        heard: Heard,
        *,
        begun: Callable[[], None] = _nothing,
        lost: Callable[[], None] = _nothing,
    ) -> None:
        """Listen until cancelled. ``begun`` is called each time listening begins, ``lost`` each
        time it ends."""
        hearer = _Hearer(frozenset(channels), heard, begun, lost)
        self._hearers.add(hearer)
        self._start()
        try:
            await asyncio.Event().wait()
        finally:
            self._hearers.discard(hearer)
            hearer.lost()
            self._start()
            await self._ended()

    async def aclose(self) -> None:
        self._hearers.clear()
        self._start()
        await self._ended()

    async def _ended(self) -> None:
        """Wait until the connection is closed, if no listener is left."""
        if self._task is not None and not self._hearers:
            await asyncio.wait({self._task})

    def _start(self) -> None:
        """Restart the connection for the current listeners, who check what they missed."""
        if self._arguments is None:
            return
        before = self._task if self._task is not None and not self._task.done() else None
        if before is not None:
            before.cancel()
        if before is not None or self._hearers:
            self._task = asyncio.create_task(self._keep_listening(before))

    async def _keep_listening(self, before: asyncio.Task[None] | None) -> None:
        import psycopg  # only needed for PostgreSQL

        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        while self._hearers:
            hearers = frozenset(self._hearers)
            try:
                await self._listen(hearers)
            except (psycopg.Error, OSError, ValueError) as error:
                reason = str(error).partition("\n")[0]
                log.info("not notified of changes, polling for them", error=reason)
            finally:
                for hearer in hearers:
                    hearer.lost()
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self, hearers: frozenset[_Hearer]) -> None:
        import psycopg
        from psycopg import sql

        assert self._arguments is not None  # noqa: S101
        how = self._arguments()
        async with await psycopg.AsyncConnection.connect(**how, autocommit=True) as connection:
            for channel in sorted({name for each in hearers for name in each.channels}):
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            for hearer in hearers:
                hearer.begun()
            async for signal in connection.notifies():
                for hearer in hearers:
                    if signal.channel in hearer.channels:
                        await hearer.heard(signal.channel, signal.payload)


CHANNEL = "footnote_runs"


class RunSignals:
    """Listens from construction until ``aclose``, on the connection of ``listener``.

    ``changed`` is called with a run and the key of its thread; ``begun`` each time listening
    begins, because earlier changes were missed. ``listening`` is true while signals are received.
    """

    def __init__(
        self,
        listener: Listener,
        changed: Callable[[str, str], None],
        begun: Callable[[], None],
    ) -> None:
        self.listening = False
        self._changed = changed
        self._begun = begun
        self._task = asyncio.create_task(
            listener.hear((CHANNEL,), self._heard, begun=self._hears, lost=self._is_deaf)
        )

    async def aclose(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _heard(self, channel: str, payload: str) -> None:
        run, _, thread_key = payload.partition(" ")
        self._changed(run, thread_key)

    def _hears(self) -> None:
        self.listening = True
        self._begun()

    def _is_deaf(self) -> None:
        self.listening = False


_Kind = Literal["contended", "broken", "away", "exhausted", "wrong"]

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
_ARGUMENTS: Mapping[str, Any] = {
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
_TROUBLES: Mapping[str, tuple[_Kind, str]] = {
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


def postgres_trouble(error: BaseException | None, what: str) -> StorageUnavailable | None:
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
    connecting: Connecting = Connecting(),
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
    _IdleConnections(engine, idle_seconds, close_seconds)
    return engine, engine.execution_options(isolation_level="AUTOCOMMIT")


class _IdleConnections:
    """Tests connections that were idle in an engine's pool before they are used, like
    ``pool_pre_ping``, and closes those that stay idle, which SQLAlchemy's pools never do.

    A pool record without a connection creates a new one when it is next checked out.
    """

    def __init__(self, engine: AsyncEngine, test_seconds: float, close_seconds: float) -> None:
        self._dialect = engine.sync_engine.dialect
        self._test_seconds = test_seconds
        self._close_seconds = close_seconds
        self._idle: dict[ConnectionPoolEntry, float] = {}  # since when; longest idle first
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        sa.event.listen(engine.sync_engine, "checkin", self._put_back)
        sa.event.listen(engine.sync_engine, "checkout", self._taken)

    def _put_back(self, connection: Any, record: ConnectionPoolEntry) -> None:
        self._idle.pop(record, None)
        self._idle[record] = monotonic()
        if self._timer is None:
            self._wait(self._close_seconds)

    def _taken(self, connection: Any, record: ConnectionPoolEntry, _: object) -> None:
        since = self._idle.pop(record, None)
        if since is None or monotonic() - since < self._test_seconds:
            return
        try:
            self._dialect.do_ping(connection)
        except self._dialect.loaded_dbapi.Error as broken:
            raise sa.exc.InvalidatePoolError from broken  # the others are broken as well

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._close)

    def _close(self) -> None:
        self._timer, now = None, monotonic()
        for record, since in list(self._idle.items()):
            if since + self._close_seconds > now:
                return self._wait(since + self._close_seconds - now)
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
        return dict(_ARGUMENTS)
    # PgBouncer rejects ``options`` and passes connections on between transactions, so the next one
    # lacks the statements prepared before. The handbook explains how to set the time limits there.
    how = {name: value for name, value in _ARGUMENTS.items() if name != "options"}
    return how | {"prepare_threshold": None}


def connection_arguments(url: sa.URL, connecting: Connecting) -> dict[str, Any]:
    """The arguments with which the driver itself opens a connection like the engine's."""
    from sqlalchemy.dialects.postgresql import psycopg  # takes some hundredths of a second

    dialect: Any = psycopg.PGDialect_psycopg
    _, where = dialect().create_connect_args(url)
    return {**where, **driver_arguments(connecting)}
