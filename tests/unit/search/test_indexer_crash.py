"""Indexing processes that are killed, or work at the same time: the index is as good as fresh."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.search import local_documents as local
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from tests.unit.search.test_indexer import content, write

REPOSITORY = Path(__file__).parents[3]

# Indexes, and kills itself without warning when SQLite begins the statement with this number.
KILLED = """
import os, signal, sys
from pathlib import Path
from bot.search import indexer

indexer.BATCH_FILES = 5
open_writer, last = indexer.open_writer, int(sys.argv[3])
count = 0

def traced(path):
    connection, generation = open_writer(path)
    def begin(statement):
        global count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.set_trace_callback(begin)
    return connection, generation

indexer.open_writer = traced
indexer.Indexer(Path(sys.argv[1])).index([sys.argv[2]])
print(count)
"""


def process(index: Path, docs: Path, kill_at: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, str(index), str(docs), str(kill_at)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(autouse=True)
def _unfinished_runs_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PATIENCE", 0.0)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for i in range(23):
        text = f"# Page {i}\n\nWords of {i}.\n\n## More\n\nOf {i % 7}."
        write(tmp_path / "docs" / f"{i:02}.md", text)
    return tmp_path / "docs"


def fresh(docs: Path) -> dict[str, tuple[str, list[str]]]:
    path = docs.parent / "fresh.sqlite"
    Indexer(path).index([docs])
    return content(path)


async def searchable(index: Path) -> int:
    documents = LocalDocuments(index)
    try:
        return len(await documents.search(Query("words", 50)))
    finally:
        await documents.aclose()


@pytest.mark.parametrize("kill_at", [1, 5, 12, 50, 104, 190])
async def test_a_killed_run_is_carried_on(docs: Path, tmp_path: Path, kill_at: int) -> None:
    index = tmp_path / "index.sqlite"
    with process(index, docs, kill_at) as killed:
        killed.wait(60)
    assert killed.returncode == -signal.SIGKILL
    kept = await searchable(index)
    assert kept % 5 == 0  # whole batches
    report = Indexer(index).index([docs])
    assert (report.added, report.unchanged, report.warning) == (23 - kept, kept, "")
    assert content(index) == fresh(docs)
    assert await searchable(index) == 23


@pytest.mark.parametrize("kill_at", [4, 60, 150])
async def test_a_run_killed_while_all_is_worked_out_anew_is_carried_on(
    docs: Path, tmp_path: Path, kill_at: int
) -> None:
    index = tmp_path / "index.sqlite"
    Indexer(index).index([docs])
    connection = sqlite3.connect(index)
    connection.execute("UPDATE meta SET value = 'old' WHERE key = 'fingerprint'")
    connection.commit()
    connection.close()
    with process(index, docs, kill_at) as killed:
        killed.wait(60)
    assert killed.returncode == -signal.SIGKILL
    assert await searchable(index) == 23
    assert Indexer(index).index([docs]).warning == ""
    assert content(index) == fresh(docs)


def test_processes_that_index_at_once_lead_to_one_index(docs: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    running = [process(index, docs, kill_at=0) for _ in range(3)]
    for each in running:
        with each:
            assert each.wait(60) == 0
    assert content(index) == fresh(docs)


def test_processes_that_find_the_index_damaged_at_once_build_one_anew(
    docs: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index.sqlite"
    index.write_bytes(b"no database" * 1_000)
    running = [process(index, docs, kill_at=0) for _ in range(3)]
    for each in running:
        with each:
            assert each.wait(60) == 0
    assert content(index) == fresh(docs)


def test_an_interrupt_from_the_keyboard_ends_a_run_at_once(docs: Path, tmp_path: Path) -> None:
    program = (
        "import signal, sys; from pathlib import Path; from bot.search.indexer import Indexer\n"
        # A test run in the background of a shell has the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def tell(done, total):\n"
        "    print(done, flush=True)\n"
        "    sys.stdin.readline()\n"
        "Indexer(Path(sys.argv[1])).index([sys.argv[2]], tell)"
    )
    index = tmp_path / "index.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(index), str(docs)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        begin = time.monotonic()
        os.kill(running.pid, signal.SIGINT)
        running.wait(60)
    assert running.returncode == -signal.SIGINT
    assert time.monotonic() - begin < 10
    assert Indexer(index).index([docs]).added == 23
    assert content(index) == fresh(docs)
