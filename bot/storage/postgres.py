"""PostgreSQL: many processes and machines on one database, and what it calls its troubles."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.errors import StorageUnavailable

POOL_SIZE = 10  # connections of one process; most of a run's time none is needed
POOL_WAIT_SECONDS = 10.0
IDLE_SECONDS = 1.0  # in the pool, after which a connection is tested before it is used
CONNECT_SECONDS = 5
# The server ends what hangs: a statement, a wait for a lock, a transaction left open.
_OPTIONS = (
    "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
)

_HOW: Mapping[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "options": _OPTIONS,
    "application_name": "footnote",
}

# SQLSTATE, or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html) → ours.
_TROUBLES = {
    "08": "cannot be reached: check that it runs and that FOOTNOTE_DATABASE_URL is right",
    "28": "refuses the user or password of FOOTNOTE_DATABASE_URL: correct them",
    "3D000": "does not exist on its server: create it, or correct FOOTNOTE_DATABASE_URL",
    "42501": "refuses this to the user of FOOTNOTE_DATABASE_URL: grant it the rights",
    "25006": "is read-only: FOOTNOTE_DATABASE_URL must name the primary server",
    "53100": "has no room to grow: free some disk space on its server and try again",
    "53300": "has too many connections: raise its max_connections or run fewer processes",
    "53": "has run out of a resource: look at its server and try again",
    "57P": "is being shut down or started: try again in a moment",
    "40": "was asked for the same rows by several at once: try again",
    "55P03": "was too long held up by another transaction: try again",
    "57014": "took too long over a statement: try again",
}


def postgres_trouble(error: BaseException, what: str) -> StorageUnavailable | None:
    """What an error of the driver means; None for what is none. ``what`` as for SQLite."""
    if isinstance(error, sa.exc.TimeoutError):
        return StorageUnavailable(
            f"{what} is busy: no connection was free for {POOL_WAIT_SECONDS:g} s. Try again.",
            detail=str(error),
        )
    code = getattr(error, "sqlstate", None)
    if type(error).__module__.split(".")[0] != "psycopg":
        return None
    if code is None:  # the connection broke, or was never made
        sentence = _TROUBLES["08"]
    else:
        prefixes = (code[:length] for length in (5, 3, 2))
        sentence = next(
            (_TROUBLES[prefix] for prefix in prefixes if prefix in _TROUBLES),
            "does not work as expected: look at its log",
        )
    return StorageUnavailable(f"{what} {sentence}.", detail=f"{code}: {error}")


def open_postgres(
    url: sa.URL, *, idle_seconds: float = IDLE_SECONDS
) -> tuple[AsyncEngine, AsyncEngine]:
    """The engines to write and to read with; they share their connections.

    Who reads needs no transaction: on the level that all work on (read committed) each statement
    sees what is committed when it begins, in a transaction or not. Without one it is one round
    trip instead of three, and what the driver has prepared lives on (it does not outlive a
    rollback). A connection that lay idle for ``idle_seconds`` is tested first, since servers
    restart; to test each time would be a round trip for every transaction.
    """
    engine = create_async_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=POOL_SIZE,
        max_overflow=POOL_SIZE,
        pool_timeout=POOL_WAIT_SECONDS,
        connect_args=dict(_HOW),
    )
    _test_after(engine, idle_seconds)
    return engine, engine.execution_options(isolation_level="AUTOCOMMIT")


def _test_after(engine: AsyncEngine, idle_seconds: float) -> None:
    """As ``pool_pre_ping``, but only for a connection that nobody used for a while."""
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


def connection_arguments(url: sa.URL) -> dict[str, Any]:
    """What the driver itself is given for a connection like the engine's."""
    dialect: Any = PGDialect_psycopg
    _, where = dialect().create_connect_args(url)
    return {**where, **_HOW}
