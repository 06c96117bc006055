"""A database with two ways in: ``write`` for transactions and ``read`` for queries.

SQLite allows only one writer at a time. Its writers take turns here, where waiting costs nothing
and urgent writes go first, instead of in SQLite's busy handler, which sleeps and retries; the busy
timeout still covers other processes. Readers never wait for the writer (WAL). PostgreSQL allows
many writers at a time, so they take no turns.

A method that is one transaction is marked ``repeated`` or ``awaited`` if running it twice has the
same effect as once, because a connection that breaks during a commit does not tell whether the
commit succeeded. This works because every run has an id chosen by the caller, every message the
platform's id, and every step and page a hash as key; what is already stored under one of these is
left alone. Changes to a run require its current attempt number, so that a process that has lost
the run changes nothing, however late it writes. Transactions that add up or delete (spending
without a step, batches of removal) are not marked: their callers retry, or the next round does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from time import monotonic
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import sqlalchemy as sa
import stamina
from cachetools import TTLCache
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.core.extras import need
from bot.core.logs import get_logger
from bot.core.settings import Settings
from bot.core.texts import Said, said
from bot.storage import migrate
from bot.storage.postgres import (
    Connecting,
    Listener,
    connection_arguments,
    open_postgres,
    postgres_trouble,
)
from bot.storage.sqlite import Connections, Whole, Work, open_sqlite, sqlite_trouble

# Parts that fail independently: a full disk can still be read, and the queue has its own pool.
Part = Literal["reading", "writing", "queue"]
PARTS: tuple[Part, ...] = ("reading", "writing", "queue")

QUIET_SECONDS = 60.0  # between two lines with the same text: a full disk lets some writes through
SENTENCES = 100  # texts remembered for that
FRESH_SECONDS = 30.0  # for which a failed write counts, if none has succeeded since

log = get_logger()


class Outages:
    """Tracks successes and failures that the database's users report. ``count`` is the number of
    outages; ``since`` is when the current one began, None while the database works."""

    def __init__(self) -> None:
        self._failing: dict[Part, tuple[StorageUnavailable, float]] = {}  # and when it last failed
        self._began = 0.0
        self._was_logged = False
        self._past_seconds = 0.0  # seconds of past outages
        self._ended: float | None = None
        self.count = 0
        self.since: datetime | None = None
        self._logged: TTLCache[str, bool] = TTLCache(SENTENCES, QUIET_SECONDS)

    def record_failure(self, part: Part, trouble: StorageUnavailable) -> None:
        """Record a failure, unless the request itself caused it."""
        if trouble.kind in ("contended", "wrong"):
            return
        now = monotonic()
        if not self._failing:
            self._began = now
            self.count += 1
            self.since = datetime.now(UTC)
            self._was_logged = self._is_new(trouble)
            if self._was_logged:
                log.warning("database does not work, waiting", error=str(trouble))
        self._failing[part] = trouble, now

    def _is_new(self, trouble: StorageUnavailable) -> bool:
        """True if no similar error was logged lately. Lost connections have many wordings."""
        what = trouble.kind if trouble.kind == "broken" else trouble.sentence
        is_new = what not in self._logged
        if is_new:
            self._logged[what] = True
        return is_new

    def record_success(self, part: Part) -> None:
        """Record a success of a part; this also ends outages of parts that could not connect."""
        if not self._failing:
            return
        self._failing = {
            other: (trouble, at)
            for other, (trouble, at) in self._failing.items()
            if other != part and trouble.kind != "broken"
        }
        if self._failing:
            return
        self._ended = monotonic()
        lasted = self._ended - self._began
        self._past_seconds += lasted
        self.since = None
        if self._was_logged:
            log.warning("database works again", after_seconds=round(lasted, 1))

    def ended_within(self, seconds: float) -> bool:
        """True during an outage and for ``seconds`` after it: heartbeats and other writes of other
        processes may be missing."""
        if self._failing:
            return True
        return self._ended is not None and monotonic() - self._ended < seconds

    @property
    def seconds(self) -> float:
        """The total duration of all outages until now."""
        return self._past_seconds + (monotonic() - self._began if self._failing else 0.0)

    def recent_failure(self, part: Part) -> StorageUnavailable | None:
        """The recent problem of a part that has not worked since."""
        trouble, at = self._failing.get(part, (None, 0.0))
        return trouble if monotonic() - at < FRESH_SECONDS else None


URGENT_AT_ONCE = 4  # urgent turns in a row before a waiting ordinary one is served


class Turns:
    """A lock with two queues. Belongs to one event loop."""

    def __init__(self) -> None:
        self._held = False
        self._in_a_row = 0  # urgent turns while a patient one waits
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Hold the lock during the block; wait behind everyone in the queues, urgent or not."""
        return self._turn(self._patient)

    def urgent_turn(self) -> AbstractAsyncContextManager[None]:
        """Hold the lock during the block; wait only behind earlier urgent turns."""
        return self._turn(self._urgent)

    @asynccontextmanager
    async def _turn(self, queue: deque[asyncio.Future[None]]) -> AsyncIterator[None]:
        await self._take(queue)
        try:
            yield
        finally:
            self._pass_on()

    async def _take(self, queue: deque[asyncio.Future[None]]) -> None:
        if not self._held:
            self._held = True
            return
        mine = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():
                self._pass_on()  # the lock was just handed to us: pass it to another waiter
            raise  # if it was not, ``_pass_on`` skips the cancelled future

    def _pass_on(self) -> None:
        queues = [self._urgent, self._patient]
        if self._in_a_row >= URGENT_AT_ONCE:
            queues.reverse()
        for queue in queues:
            while queue:
                following = queue.popleft()
                if not following.done():
                    urgent = queue is self._urgent and bool(self._patient)
                    self._in_a_row = self._in_a_row + 1 if urgent else 0
                    following.set_result(None)
                    return
        self._held = False


class NoTurns(Turns):
    """For a database that accepts several writers at the same time."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    urgent_turn = turn


T = TypeVar("T")
Values = Mapping[str, Any] | None  # of a statement's parameters
Trouble = Callable[[BaseException, str], StorageUnavailable | None]

# Longer than PostgreSQL's own statement timeout: this one catches connections that are dead.
STALL_SECONDS = 45.0
START_PAUSE_SECONDS = 0.5  # between two attempts to reach a server that is still starting
_IS_READ_ONLY = sa.text("SELECT current_setting('transaction_read_only')::boolean")


class Database:
    """Open it with ``open_database``; every failure is raised as ``StorageUnavailable``.

    Statements on ``reader`` take effect one by one, without a transaction; on PostgreSQL it is
    also used for single writes.
    ``trouble`` translates a driver's error. ``patience`` is how many seconds a run waits for the
    database (see ``awaited``). ``connections`` tracks connections that an engine's pool may lose.
    ``listener`` receives notifications; ``connecting`` holds the connection settings. ``whole``
    runs the transactions of SQLite that every run needs.
    """

    def __init__(
        self,
        writer: AsyncEngine,
        reader: AsyncEngine,
        turns: Turns,
        trouble: Trouble,
        patience: float = 0.0,
        connections: Connections | None = None,
        connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
        listener: Listener | None = None,
        whole: Whole | None = None,
    ) -> None:
        self._whole = whole
        self._writer = writer
        self._reader = reader
        self._turns = turns
        self._trouble = trouble
        self._connections = connections
        self.patience = patience
        self.outages = Outages()
        self.url = writer.url
        self.connecting = connecting
        self.listener = listener or Listener(None)
        self.dialect = writer.dialect.name  # "sqlite" or "postgresql"
        self.name = f"The database {writer.url.database or writer.url.host}"
        self.place = _place(writer.url)  # for display, without user name and password
        self._limit = STALL_SECONDS if self.dialect == "postgresql" else None

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction, committed if the block ends without an exception."""
        return self._transaction(self._turns.turn(), self._limit)

    def urgent_write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Like ``write``, but ahead of writes that are not urgent: a platform is waiting."""
        return self._transaction(self._turns.urgent_turn(), self._limit)

    def write_at_once(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Like ``write``, for a single statement. On PostgreSQL it runs without an explicit
        transaction, which saves the two round trips of BEGIN and COMMIT."""
        if self.dialect != "postgresql":
            return self.write()
        return self._statements("writing", self._limit)

    async def transact(self, work: Work[T], *, urgent: bool = False) -> T:
        """The result of a transaction, for what every run does: ``work`` may await nothing but its
        connection. Like ``write`` or ``urgent_write`` otherwise."""
        if self._whole is None:
            async with self.write() as db:
                return await work(db)
        turn = self._turns.urgent_turn() if urgent else self._turns.turn()
        async with self._guarded("writing", self._limit), turn:
            return await self._whole.write(work)

    async def transact_at_once(self, work: Work[T]) -> T:
        """Like ``transact``, for a single statement: see ``write_at_once``."""
        if self._whole is not None:
            return await self.transact(work)
        async with self.write_at_once() as db:
            return await work(db)

    async def query(self, work: Work[T]) -> T:
        """The result of queries; like ``transact``, but reading."""
        if self._whole is None:
            async with self.read() as db:
                return await work(db)
        async with self._guarded("reading", self._limit):
            return await self._whole.read(work)

    @asynccontextmanager
    async def long_write(self) -> AsyncIterator[AsyncConnection]:
        """Like ``write``, but without a time limit, for migrations."""
        async with self._transaction(self._turns.turn(), None) as connection:
            if self.dialect == "postgresql":
                await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            yield connection

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for queries."""
        return self._statements("reading", self._limit)

    def long_read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Like ``read``, but without a time limit, for long series of queries."""
        return self._statements("reading", None)

    async def check(self, seconds: float) -> None:
        """Raise ``StorageUnavailable`` if the database cannot be read within ``seconds``, is
        read-only, lacks tables of this version, or rejected the last write."""
        read_only = False
        async with self._statements("reading", seconds) as connection:
            if self.dialect == "postgresql":
                read_only = bool(await connection.scalar(_IS_READ_ONLY))
            lacking = await connection.run_sync(migrate.missing)
        if lacking:
            raise StorageUnavailable(f"{self.name} {lacking}.", kind="wrong")
        if read_only:
            raise StorageUnavailable(f"{self.name} is read-only for now.")
        if (trouble := self.outages.recent_failure("writing")) is not None:
            raise trouble

    async def close(self) -> None:
        try:
            await self.listener.aclose()
            await self._writer.dispose()
            if self._reader is not self._writer:
                await self._reader.dispose()
        finally:
            if self._connections is not None:
                await self._connections.close()
            if self._whole is not None:
                await self._whole.close()

    @asynccontextmanager
    async def _transaction(
        self, turn: AbstractAsyncContextManager[None], limit: float | None
    ) -> AsyncIterator[AsyncConnection]:
        async with self._guarded("writing", limit), turn, self._writer.begin() as connection:
            yield connection

    @asynccontextmanager
    async def _statements(self, part: Part, limit: float | None) -> AsyncIterator[AsyncConnection]:
        async with self._guarded(part, limit), self._reader.connect() as connection:
            yield connection

    @asynccontextmanager
    async def _guarded(self, part: Part, limit: float | None) -> AsyncIterator[None]:
        """Translate errors, record outages, and cancel what takes longer than ``limit`` seconds."""
        try:
            async with asyncio.timeout(limit) as time:
                yield
        except Exception as error:
            if time.expired():
                trouble: StorageUnavailable | None = StorageUnavailable(
                    f"{self.name} does not answer: check that it runs and can be reached.",
                    kind="broken",
                )
            else:
                trouble = self._translated(error)
            if trouble is None:
                self.outages.record_success(part)
                raise
            self.outages.record_failure(part, trouble)
            raise trouble from error
        self.outages.record_success(part)

    def _translated(self, error: Exception) -> StorageUnavailable | None:
        """Translate an error of the database; None for errors that have another cause."""
        cause = (error.orig or error) if isinstance(error, DBAPIError) else error
        trouble = self._trouble(cause, self.name)
        if trouble is None and isinstance(error, SQLAlchemyError):
            if isinstance(error, sa.exc.InvalidRequestError):
                return None
            return StorageUnavailable(
                f"{self.name} does not work: check that it runs and can be reached.",
                detail=str(cause),
            )
        return trouble


class Transactions:
    """Base of the classes whose methods each run one transaction on a database, with its queries
    of one statement. Failures are raised as ``StorageUnavailable``."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def _rows(self, query: sa.Executable, values: Values = None) -> Sequence[Any]:
        async def found(db: AsyncConnection) -> Sequence[Any]:
            return (await db.execute(query, values)).all()

        return await self.database.query(found)

    async def _row(self, query: sa.Executable, values: Values = None) -> Any:
        """The only row, or None."""

        async def found(db: AsyncConnection) -> Any:
            return (await db.execute(query, values)).one_or_none()

        return await self.database.query(found)

    async def _scalars(self, query: sa.Executable) -> list[Any]:
        async def found(db: AsyncConnection) -> list[Any]:
            return list((await db.scalars(query)).all())

        return await self.database.query(found)

    async def _scalar(self, query: sa.Executable, values: Values = None) -> Any | None:
        return await self.database.query(lambda db: db.scalar(query, values))


async def open_database(
    url: str,
    *,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
    patience: float = 0.0,
    start_patience: float = 0.0,
) -> Database:
    """Open the database at a SQLAlchemy URL, creating and migrating it as needed.

    ``patience`` is how many seconds a run waits for a database that is down; ``start_patience`` is
    how many seconds to wait here for its server, which may be starting at the same time as us.
    Raises ``StorageUnavailable`` and ``InvalidSetting``.
    """
    database = _opened(_parsed(url), patience, connecting)
    try:
        await _migrate_in_time(database, start_patience)
    except BaseException:
        await database.close()
        raise
    return database


@asynccontextmanager
async def database_of(settings: Settings, **patience: float) -> AsyncIterator[Database]:
    """Open the database of the settings for the block, as ``open_database`` does."""
    connecting = Connecting.of(settings)
    database = await open_database(settings.database, connecting=connecting, **patience)
    try:
        yield database
    finally:
        await database.close()


def existing_database(
    url: str,
    connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
) -> Database:
    """Open a database as it is, without creating or migrating it, to inspect or copy it.

    Raises ``InvalidSetting`` and, for a missing file, ``StorageUnavailable``.
    """
    parsed = _parsed(url)
    path = parsed.database or ""
    if parsed.get_backend_name() == "sqlite" and not Path(path).is_file():
        raise StorageUnavailable(
            f"There is no database at {path} yet: the first question creates it. "
            "FOOTNOTE_DATA_DIR and FOOTNOTE_DATABASE_URL set its location."
        )
    return _opened(parsed, 0.0, connecting)


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):  # ValueError: the port is not a number
        raise InvalidSetting(
            "FOOTNOTE_DATABASE_URL is not a database URL: write it like "
            "postgresql+psycopg://user:password@host/footnote, "
            "or sqlite+aiosqlite:////path/to/footnote.sqlite."
        ) from None
    if "@" in (parsed.host or ""):  # the end of the password would be taken for the host
        raise InvalidSetting(
            "FOOTNOTE_DATABASE_URL has an @ in its user name or password: write it as %40 there."
        )
    return parsed


def _place(url: sa.URL) -> Said:
    """The address for display. ``render_as_string`` would show passwords in the query part."""
    if url.get_backend_name() == "sqlite":
        return said("storage-sqlite", path=url.database or ":memory:")
    host = (url.host or "localhost") + (f":{url.port}" if url.port else "")
    return said("storage-postgres", host=host, name=url.database or url.username or "")


def _opened(url: sa.URL, patience: float, connecting: Connecting) -> Database:
    backend = url.get_backend_name()
    if backend == "sqlite":
        writer, reader, connections, whole = open_sqlite(url)
        return Database(writer, reader, Turns(), sqlite_trouble, patience, connections, whole=whole)
    if backend == "postgresql":
        need("postgres", "FOOTNOTE_DATABASE_URL")
        place = connecting.listen_at(url)
        listener = Listener(partial(connection_arguments, place, Connecting()))
        engines = open_postgres(url, connecting)
        return Database(
            *engines,
            NoTurns(),
            postgres_trouble,
            patience,
            connecting=connecting,
            listener=listener,
        )
    raise InvalidSetting(
        f"FOOTNOTE_DATABASE_URL names {backend}: only postgresql+psycopg and sqlite+aiosqlite "
        "are known. Unset it to use SQLite in the data folder."
    )


async def _migrate_in_time(database: Database, seconds: float) -> None:
    """Migrate as soon as the server is up. ``Outages`` logs that we are waiting."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        try:
            return await _migrate(database)
        except StorageUnavailable as error:
            waited = loop.time() - began
            if error.kind not in ("broken", "exhausted") or not seconds:
                raise
            if waited + START_PAUSE_SECONDS > seconds:
                raise StorageUnavailable(
                    f"{error.sentence} Footnote waited {waited:.0f} s for it.",
                    detail=error.detail,
                    kind=error.kind,
                ) from error
        await asyncio.sleep(START_PAUSE_SECONDS)


async def _migrate(database: Database) -> None:
    async with database.read() as connection:
        if await connection.run_sync(migrate.is_current):
            return
    async with database.long_write() as connection:
        await connection.run_sync(migrate.upgrade)
    more = True
    while more:
        async with database.long_write() as connection:
            more = await connection.run_sync(migrate.upgrade_queue)


P = ParamSpec("P")

SERVING_PATIENCE = 300.0  # seconds that a server's run waits; terminal users get an error instead
START_PATIENCE = 60.0  # seconds that a server waits for a database started at the same time
TRIES = 4  # of a transaction that conflicted with others, or lost its connection
ENDING_SECONDS = 5.0  # for a transaction whose caller was cancelled
FIRST_SECONDS, LONGEST_SECONDS = 0.05, 1.0  # wait between tries


S = TypeVar("S", bound=Transactions)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def repeated(method: Method[S, P, T]) -> Method[S, P, T]:
    """Retry a few times in quick succession, when that may help: the caller is waiting."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await at_once(lambda: method(self, *args, **kwargs))

    return again


def awaited(method: Method[S, P, T]) -> Method[S, P, T]:
    """Retry until the database works, for as long as its ``patience`` allows: a run waits here and
    keeps the results that it has paid for."""

    @wraps(method)
    async def again(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await patiently(self.database, lambda: method(self, *args, **kwargs))

    return again


async def at_once(transaction: Callable[[], Awaitable[T]]) -> T:
    """See ``repeated``. Raises the error of the last try."""
    return await _retried(transaction, 0.0)


async def patiently(database: Database, transaction: Callable[[], Awaitable[T]]) -> T:
    """See ``awaited``. Raises the error of the last try."""
    return await _retried(transaction, database.patience)


async def _retried(transaction: Callable[[], Awaitable[T]], patience: float) -> T:
    """Retry for ``patience`` seconds; without any, a few times."""
    may_pass = _may_pass if patience else _may_pass_at_once
    try:
        return await _to_its_end(transaction)
    except StorageUnavailable as error:  # nearly never: preparing to retry takes 0.2 ms
        if not may_pass(error):
            raise
    await asyncio.sleep(FIRST_SECONDS)
    async for attempt in stamina.retry_context(
        on=may_pass,
        attempts=None if patience else TRIES - 1,
        timeout=patience or None,
        wait_initial=FIRST_SECONDS,
        wait_max=LONGEST_SECONDS,
        wait_jitter=FIRST_SECONDS,
    ):
        with attempt:
            return await _to_its_end(transaction)
    raise AssertionError("the last attempt returns or raises")


async def _to_its_end(transaction: Callable[[], Awaitable[T]]) -> T:
    """Run a transaction to its end, even when the caller is cancelled.

    Cancelling in the middle of a statement would discard the connection; a second cancellation
    while it is being closed would leave it open, on SQLite with the write lock.
    """
    doing = asyncio.ensure_future(transaction())
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing}, timeout=ENDING_SECONDS)
        doing.cancel()  # does nothing if it has ended
        if doing.done() and not doing.cancelled():
            doing.exception()  # mark it as retrieved: the cancellation takes precedence
        raise


def _may_pass_at_once(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind in ("contended", "broken")


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind != "wrong"
