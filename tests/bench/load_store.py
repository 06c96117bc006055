"""The database of the load bench: filled with threads that have a history, watched from inside.

What becomes of a run is marked by a trigger that the bench adds, with the server's clock: when it
was accepted, when a worker claimed it, when it ended. Statements are counted in the server's log
(``log_statement``), in a phase of its own, since writing them down costs time.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from bot.core.messages import Thread
from bot.storage.encryption import Seal
from tests.bench.load_words import follow_up, question_about, text_about
from tests.fakes.postgres import a_postgres

CLIENT = "1.2"  # the Slack app's id
THREADS_IN_WORKSPACE = 10
PAGES, STEPS, CITATIONS = 3, 8, 3  # of an earlier answer
OLD = datetime(2026, 1, 1, tzinfo=UTC)

# As servers are run, where the tests are hasty.
_SETTINGS = (
    "fsync = on",
    "synchronous_commit = on",
    "full_page_writes = on",
    "log_line_prefix = '%a '",
    "log_parameter_max_length = 0",
    "log_min_messages = error",
)
_MARKS = """
CREATE UNLOGGED TABLE bench_marks (run_id text, thread_key text, state text, attempt int,
    at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION bench_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO bench_marks VALUES (NEW.id, NEW.thread_key, NEW.state, NEW.attempt);
    RETURN NULL;
END $$;
CREATE TRIGGER bench_accepted AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION bench_mark();
CREATE TRIGGER bench_changed AFTER UPDATE OF state ON runs FOR EACH ROW
    WHEN (OLD.state <> NEW.state OR OLD.attempt <> NEW.attempt) EXECUTE FUNCTION bench_mark();
"""
_LOGGED = re.compile(r"^footnote LOG:  (?:statement|execute [^:]*): (.*)$")


@dataclass(frozen=True, slots=True)
class Run:
    """Moments of a run in seconds since 1970; ``ended`` is None while it is worked on. ``started``
    is when it was claimed first, ``claimed`` when last."""

    id: str
    thread_key: str
    accepted: float
    started: float | None
    claimed: float | None
    ended: float | None
    state: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Counted:
    """Counters of the database: transactions, its size, what it wrote to its log (WAL)."""

    committed: int
    rolled_back: int
    bytes: int
    log: int


class Base:
    """The database. ``url`` is SQLAlchemy's, ``pid`` the server's."""

    def __init__(self, url: str, dsn: str, pid: int) -> None:
        self.url = url
        self.pid = pid
        self._dsn = dsn
        # One for all looks: to connect costs the server more than all that a question does there.
        self._looking = psycopg.connect(dsn, autocommit=True)

    def close(self) -> None:
        self._looking.close()

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Safe from any thread."""
        with self._looking.cursor() as cursor:
            done = cursor.execute(statement.encode())
            return done.fetchall() if done.description else []

    # ------------------------------------------------------------ filling

    def fill(self, threads: int, key: str) -> list[Thread]:
        """Threads with a question and its answer each, in workspaces that installed the app."""
        with psycopg.connect(self._dsn) as db:
            kept = [_thread(number) for number in range(threads)]
            for name, rows in _histories(kept):
                _copy(db, name, rows)
            _copy(db, "slack_bots", _bots(threads, key))
            for table in ("messages", "pages"):
                db.execute(f"SELECT setval('{table}_id_seq', {threads * 10})".encode())
            db.execute(_MARKS.encode())
        self.execute("VACUUM ANALYZE")
        return kept

    # ------------------------------------------------------------ watching

    def unfinished(self) -> int:
        return int(
            self.execute("SELECT count(*) FROM runs WHERE state IN ('accepted', 'running')")[0][0]
        )

    def working(self) -> int:
        return int(self.execute("SELECT count(*) FROM runs WHERE state = 'running'")[0][0])

    def runs(self) -> list[Run]:
        """The runs that were marked since the marks were cleared."""
        rows = self.execute(
            "SELECT run_id, thread_key, min(extract(epoch FROM at)) FILTER (WHERE state="
            "'accepted'), min(extract(epoch FROM at)) FILTER (WHERE state = 'running'),"
            " max(extract(epoch FROM at)) FILTER (WHERE state = 'running'),"
            " max(extract(epoch FROM at)) FILTER (WHERE state NOT IN ('accepted', 'running')),"
            " (array_agg(state ORDER BY at DESC))[1], max(attempt) FROM bench_marks"
            " GROUP BY run_id, thread_key ORDER BY 3"
        )
        return [
            Run(id, key, float(at), _seconds(first), _seconds(last), _seconds(end), state, attempt)
            for id, key, at, first, last, end, state, attempt in rows
        ]

    def clear(self) -> None:
        self.execute("TRUNCATE bench_marks")

    def counted(self) -> Counted:
        row = self.execute(
            "SELECT xact_commit, xact_rollback, pg_database_size(datname),"
            " pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') FROM pg_stat_database"
            " WHERE datname = current_database()"
        )[0]
        return Counted(*map(int, row))

    def connections(self) -> int:
        """Of everybody but the bench."""
        return int(
            self.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'footnote'"
            )[0][0]
        )

    # ------------------------------------------------------------ counting statements

    @contextmanager
    def listening(self) -> Iterator[Counter[str]]:
        """Statements of Footnote's processes that begin while the block runs, by kind; filled at
        its end."""
        found = Counter[str]()
        log = Path(self.execute("SHOW data_directory")[0][0]) / "log"
        self._log_statements("all")
        begins = log.stat().st_size
        try:
            yield found
        finally:
            self._log_statements("none")
            with log.open("rb") as lines:
                lines.seek(begins)
                statement = ""
                for line in (line.decode(errors="replace") for line in lines):
                    if line.startswith("\t"):
                        statement += " " + line.strip()
                        continue
                    if statement:
                        found[kind_of(statement)] += 1
                    logged = _LOGGED.match(line)
                    statement = logged[1] if logged else ""
                if statement:
                    found[kind_of(statement)] += 1

    def _log_statements(self, which: str) -> None:
        self.execute(f"ALTER SYSTEM SET log_statement = '{which}'")
        self.execute("SELECT pg_reload_conf()")


@contextmanager
def a_base() -> Iterator[Base]:
    """A PostgreSQL that keeps what it has committed, with Footnote's schema."""
    with a_postgres() as postgres:
        url = postgres.migrated()
        name = re.search(r"/(\w+)\?host=(.+)$", url)
        assert name is not None
        base = Base(url, f"dbname={name[1]} host={name[2]} user=postgres", postgres.pid)
        for setting in _SETTINGS:
            base.execute(f"ALTER SYSTEM SET {setting}")
        base.execute("SELECT pg_reload_conf()")
        with closing(base):
            yield base


def kind_of(statement: str) -> str:
    """A statement without what differs from time to time."""
    words = " ".join(statement.split())
    if called := re.search(r"procrastinate_\w+\(", words):
        return called[0].rstrip("(")
    verb = words.split(" ", 1)[0].upper()
    table = re.search(r"\b(?:FROM|INTO|UPDATE)\s+\"?(\w+)", words, re.IGNORECASE)
    if verb in ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH") and table:
        return f"{verb} {table[1]}"
    return words[:40]


def _seconds(value: Any) -> float | None:
    return None if value is None else float(value)


# ---------------------------------------------------------------- histories


def _thread(number: int) -> Thread:
    place = number // THREADS_IN_WORKSPACE
    return Thread("slack", f"T{place:05}", f"C{place:05}", f"{1_700_000_000 + number}.000100")


def _copy(db: psycopg.Connection[Any], table: str, rows: Iterator[dict[str, Any]]) -> None:
    first = next(rows)
    columns = ", ".join(f'"{name}"' for name in first)
    with db.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
        for row in (first, *rows):
            copy.write_row(tuple(row.values()))


def _bots(threads: int, key: str) -> Iterator[dict[str, Any]]:
    from pydantic import SecretStr

    seal = Seal([SecretStr(key)])
    for place in range(-(-threads // THREADS_IN_WORKSPACE)):
        yield {
            "client_id": CLIENT,
            "app_id": "A1",
            "team_id": f"T{place:05}",
            "team_name": f"Company {place}",
            "bot_token": seal.close(f"xoxb-{place}"),
            "bot_id": "B0BOT",
            "bot_user_id": "U0BOT",
            "is_enterprise_install": False,
            "installed_at": OLD.replace(tzinfo=None),
        }


def _histories(threads: list[Thread]) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Rows by table, in an order that the foreign keys allow."""
    numbered = list(enumerate(threads))
    yield "threads", (_thread_row(thread) for thread in threads)
    yield "messages", (row for n, thread in numbered for row in _message_rows(n, thread))
    yield "runs", (_run_row(n, thread) for n, thread in numbered)
    yield "pages", (_page_row(n, rank) for n, _ in numbered for rank in range(PAGES))
    yield "steps", (_step_row(n, step) for n, _ in numbered for step in range(STEPS))
    yield "run_pages", (_number_row(n, rank) for n, _ in numbered for rank in range(PAGES))
    yield "citations", (_citation_row(n, at) for n, _ in numbered for at in range(CITATIONS))


def _thread_row(thread: Thread) -> dict[str, Any]:
    return {
        "key": thread.key,
        "platform": thread.platform,
        "workspace": thread.workspace,
        "channel": thread.channel,
        "thread": thread.thread,
        "created_at": OLD,
        "history_read": True,
    }


def _message_rows(number: int, thread: Thread) -> Iterator[dict[str, Any]]:
    for which, words in enumerate((question_about(number), "Thanks! " + follow_up(number))):
        yield {
            "id": 2 * number + which + 1,
            "thread_key": thread.key,
            "event_key": f"slack:{thread.channel}:{1_700_000_000 + number}.0001{which:02}",
            "author_id": f"U{number % 500}",
            "author_name": "Ada",
            "text": words,
            "links": "[]",
            "attachments": "[]",
            "locale": "en-US",
            "at": OLD + timedelta(seconds=number + which),
        }


def _run_row(number: int, thread: Thread) -> dict[str, Any]:
    words = text_about(number, number % 7)[:1_500]
    answer = {
        "status": "answered",
        "text": words + " [1]",
        "question": question_about(number),
        "run": _run_id(number),
        "citations": [_citation(number, at) for at in range(CITATIONS)],
        "reasoner": "Claude",
    }
    return {
        "id": _run_id(number),
        "thread_key": thread.key,
        "message_id": 2 * number + 1,
        "state": "answered",
        "options": "{}",
        "accepted_at": OLD,
        "ended_at": OLD + timedelta(seconds=20),
        "attempt": 1,
        "stop_requested": False,
        "removed": False,
        "answer": json.dumps(answer),
    }


def _run_id(number: int) -> str:
    return f"{number:012x}"


def _page_row(number: int, rank: int) -> dict[str, Any]:
    return {
        "id": PAGES * number + rank + 1,
        "url": f"http://old.example/{number}/{rank}",
        "hash": f"{number}-{rank}",
        "title": f"Halvern-{number}: part {rank}",
        "text": text_about(number, rank + number % 50),
        "fetched_at": OLD,
    }


def _step_row(number: int, step: int) -> dict[str, Any]:
    return {
        "run_id": _run_id(number),
        "key": secrets.token_hex(32),
        "kind": "read",
        "title": f"Read part {step}",
        "result": json.dumps({"url": f"http://old.example/{number}/{step}", "problem": "x" * 800}),
        "attempt": 1,
        "seconds": 1.0,
        "at": OLD,
    }


def _number_row(number: int, rank: int) -> dict[str, Any]:
    return {"run_id": _run_id(number), "number": rank + 1, "page_id": PAGES * number + rank + 1}


def _citation(number: int, at: int) -> dict[str, Any]:
    quote = text_about(number, at + number % 50)[:200]
    return {
        "number": at + 1,
        "url": f"http://old.example/{number}/{at}",
        "title": f"Halvern-{number}: part {at}",
        "quote": quote,
        "page_hash": f"{number}-{at}",
        "start": 0,
        "end": len(quote),
    }


def _citation_row(number: int, at: int) -> dict[str, Any]:
    cited = _citation(number, at)
    return {
        "run_id": _run_id(number),
        "position": at,
        "page_id": PAGES * number + at + 1,
        **{name: cited[name] for name in ("number", "start", "end", "quote")},
    }
