"""Connections to PostgreSQL of five processes: in a burst, and when they are idle again.

Each process has its database, its queue with the listener of it, and a burst of transactions: far
more at once than there are connections, as when questions come in. PostgreSQL allows its default
of 100.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence

import psycopg

from tests.bench.table import print_table
from tests.fakes.postgres import a_postgres

PROCESSES = 5
AT_ONCE, TIMES = 200, 2  # transactions of a process: so many at the same time, so often
HOLD_SECONDS = 0.01  # that one takes
IDLE_SECONDS = 20  # that is looked at after the burst
_COUNT = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"


class Nothing:
    """Answers no question."""

    async def answer(self, run: object, stop: asyncio.Event) -> None:
        """Nothing to do."""


async def one_process(url: str) -> None:
    """Say "ready", wait for a line, make the burst, say how it went, and stay idle."""
    import sqlalchemy as sa

    from bot.dispatch.postgres import PostgresDispatcher
    from bot.logs import configure_logging
    from bot.storage.store import open_store

    configure_logging("error")
    store = await open_store(url)
    hold = sa.text(f"SELECT pg_sleep({HOLD_SECONDS})")

    async def work() -> None:
        for _ in range(TIMES):
            async with store.database.write() as db:
                await db.execute(hold)

    async with PostgresDispatcher(url, store, Nothing(), 16, platforms=["web"]):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.monotonic()
        done = await asyncio.gather(*(work() for _ in range(AT_ONCE)), return_exceptions=True)
        failed = [each for each in done if isinstance(each, BaseException)]
        took = time.monotonic() - began
        print(f"{AT_ONCE * TIMES / took:.0f} {len(failed)}", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
    await store.close()


def measured(url: str) -> tuple[list[tuple[float, int]], list[str], list[str]]:
    """Connections by the second since the burst began, what each process said of its burst, and
    the last words of those that did not start."""
    command = [sys.executable, "-m", "tests.bench.connections", url]
    crew = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    seen: list[tuple[float, int]] = []
    said, failed = [], []
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as looking:
        up = [each for each in crew if each.stdout and each.stdout.readline().strip() == "ready"]
        began = time.monotonic()
        for each in up:
            assert each.stdin
            each.stdin.write("\n")
            each.stdin.flush()
        while time.monotonic() - began < IDLE_SECONDS:
            (count,) = looking.execute(_COUNT).fetchone() or (0,)
            seen.append((time.monotonic() - began, count - 1))
            time.sleep(0.1)
        for each in up:
            assert each.stdout
            said.append(each.stdout.readline().strip())
    for each in crew:
        _, words = each.communicate("\n")
        if each.returncode:
            failed.append(words.strip().splitlines()[-1])
    return seen, said, failed


def main(arguments: Sequence[str]) -> None:
    with a_postgres() as postgres:
        seen, said, failed = measured(postgres.migrated())
    rows = [
        ["most at once", str(max(count for _, count in seen))],
        *(
            [f"after {second} s", str(next(count for at, count in seen if at >= second))]
            for second in (5, 10, 15, IDLE_SECONDS - 1)
        ),
        ["transactions a second, failed tasks of each process", "; ".join(said)],
        ["processes that did not start", "; ".join(failed) or "none"],
    ]
    print_table(["connections", f"{PROCESSES} processes"], rows)


if __name__ == "__main__":
    asyncio.run(one_process(sys.argv[1]))
