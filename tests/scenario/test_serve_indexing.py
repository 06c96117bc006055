"""`footnote serve` on a large folder: it serves at once, from the documents indexed so far."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.search.indexer import Indexer
from tests.scenario.program import Program
from tests.scenario.serving import ForkServer, Serving, ending, start_forked
from tests.unit.search.test_indexer import content

FILES = 4_000  # which take some seconds, of which a part is enough
ENOUGH = 1_000  # of them, after which some can be searched
PATIENCE = 60.0


@pytest.fixture
def docs(tmp_path: Path, documents: Path) -> Path:
    """The documents of the company, and many more that have long paths, so that they come later."""
    for i in range(FILES):
        name = f"minutes of the meeting in the large room with number {i}.md"
        path = documents / "minutes" / f"{i % 40}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Meeting {i}\n\nThe attic of house {i} was let to tenant {i}.\n")
    return documents


@pytest.fixture
def program(footnote: Program, docs: Path) -> Program:
    footnote.settings |= {"FOOTNOTE_DOCS": str(docs)}
    return footnote


def index_of(program: Program) -> Path:
    return program.folder / "data" / "index.sqlite"


def readiness(serving: Serving) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{serving.http}/readyz", timeout=60).json()
    return told


def until(serving: Serving, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait for a state of the documents in `/readyz`; returns it."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        told: dict[str, Any] = readiness(serving)["documents"]
        if is_so(told):
            return told
        time.sleep(0.02)
    raise AssertionError(f"it never was so, but: {told}\n{serving.said}")


@contextmanager
def held_up(index: Path) -> Iterator[None]:
    """Lock the index against writing within the block, like a very slow disk."""
    with closing(sqlite3.connect(index, timeout=60, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def until_shown(serving: Serving, words: str) -> None:
    """The console looks at the index by itself, now and then."""
    ends = time.monotonic() + PATIENCE
    while words not in httpx.get(f"{serving.http}/").text:
        assert time.monotonic() < ends, f"never shown: {words}"
        time.sleep(0.05)


def answer(serving: Serving, question: str) -> dict[str, Any]:
    asked = httpx.post(f"{serving.http}/api/questions", json={"question": question}, timeout=60)
    assert asked.status_code == 202, asked.text
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        run: dict[str, Any] = httpx.get(f"{serving.http}{asked.json()['url']}", timeout=30).json()
        if run.get("answer"):
            told: dict[str, Any] = run["answer"]
            return told
        time.sleep(0.05)
    raise AssertionError(f"no answer: {run}")


def test_it_answers_from_what_is_indexed_and_says_what_is_missing(
    fork_server: ForkServer, program: Program
) -> None:
    with ending(start_forked(fork_server, program)) as serving:
        until(serving, lambda told: told.get("done", 0) > ENOUGH)
        with held_up(index_of(program)):
            body = readiness(serving)
            assert body["status"] == "ready"
            assert body["documents"]["state"] == "indexing"
            assert body["documents"]["total"] == FILES + 5
            until_shown(serving, f"of {FILES + 5:,} files can be searched already")
            early = answer(serving, "How often is the master key rotated?")
            assert "90 days" in early["answer"]
            (note,) = early["notes"]
            assert "not indexed yet and could not be searched" in note
        assert until(serving, lambda told: told["state"] == "ok") == {
            "state": "ok",
            "total": FILES + 5,
        }
        late = answer(serving, "How often is the master key rotated?")
        assert late["notes"] == []
        assert "can be searched already" not in httpx.get(f"{serving.http}/").text
        assert f"Indexing {FILES + 5:,} of {FILES + 5:,} files" in serving.said
        assert f": {FILES + 5} new, 0 changed" in serving.said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ending_it_meanwhile_is_clean_and_the_next_start_carries_on(
    fork_server: ForkServer, program: Program, docs: Path, number: signal.Signals
) -> None:
    with ending(start_forked(fork_server, program)) as serving:
        until(serving, lambda told: told.get("done", 0) > ENOUGH)
        serving.until_said("web is connected.")
        serving.signal(number)
        assert serving.wait() == 0
    with closing(sqlite3.connect(index_of(program))) as connection:
        (kept,) = connection.execute("SELECT count(*) FROM files").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    report = Indexer(index_of(program)).index([docs])
    assert (report.added, report.unchanged) == (FILES + 5 - kept, kept)
    assert kept > 0


def test_documents_that_cannot_be_indexed_leave_it_serving(
    fork_server: ForkServer, program: Program
) -> None:
    index_of(program).mkdir(parents=True)  # a folder stands where the index should be
    with ending(start_forked(fork_server, program)) as serving:
        told = until(serving, lambda told: told["state"] == "not ok")
        assert "cannot be" in told["why"]
        serving.until_said("web is connected.")
        assert readiness(serving)["status"] == "ready"
        serving.until_said("The documents are not all indexed: ")


def test_it_follows_what_people_do_in_the_folder(
    fork_server: ForkServer, footnote: Program, documents: Path
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), "FOOTNOTE_DOCS_POLL": "1"}
    question = "How often is the master key rotated?"
    keys = documents / "keys.md"
    with ending(start_forked(fork_server, footnote)) as serving:
        until(serving, lambda told: told["state"] == "ok")
        first = answer(serving, question)
        assert "90 days" in first["answer"]
        keys.write_text(keys.read_text().replace("90 days", "45 days"))
        serving.until_said("0 new, 1 changed, 0 removed, 4 unchanged")
        assert "45 days" in answer(serving, question)["answer"]
        keys.rename(documents / "master.md")
        serving.until_said("1 new, 0 changed, 1 removed")
        assert "45 days" in answer(serving, question)["answer"]
        page = httpx.get(f"{serving.http}/runs/{first['run']}/pages/1")
        assert page.status_code == 200
        assert "90 days" in page.text

        (documents / "master.md").unlink()
        serving.until_said("0 new, 0 changed, 1 removed")
        assert "45 days" not in answer(serving, question)["answer"]

        documents.rename(documents.with_name("unmounted"))
        told = until(serving, lambda told: told["state"] == "not ok")
        assert "There is no file or folder" in told["why"]
        canteen = "When is the canteen open?"
        assert "11:30" in answer(serving, canteen)["answer"]
        documents.with_name("unmounted").rename(documents)
        until(serving, lambda told: told["state"] == "ok")
        assert serving.said.count("There is no file or folder") == 1
        assert "11:30" in answer(serving, canteen)["answer"]


@pytest.mark.slow
def test_killed_in_the_middle_of_a_change_it_leaves_a_whole_index(
    fork_server: ForkServer, footnote: Program, documents: Path
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), "FOOTNOTE_DOCS_POLL": "1"}
    with ending(start_forked(fork_server, footnote)) as serving:
        until(serving, lambda told: told["state"] == "ok")
        for i in range(1_500):
            (documents / f"house {i}.md").write_text(f"# House {i}\n\nIts attic was let to {i}.\n")
        until_indexed(footnote, 500)
        serving.kill()
    with closing(sqlite3.connect(index_of(footnote))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with ending(start_forked(fork_server, footnote)) as serving:
        until(serving, lambda told: told == {"state": "ok", "total": 1_505})
        assert "90 days" in answer(serving, "How often is the master key rotated?")["answer"]


@pytest.mark.slow
def test_processes_that_share_a_folder_and_a_database_neither_lose_nor_double_a_document(
    fork_server: ForkServer, footnote: Program, documents: Path, tmp_path: Path
) -> None:
    footnote.settings |= {"FOOTNOTE_DOCS": str(documents), "FOOTNOTE_DOCS_POLL": "1"}
    Indexer(index_of(footnote)).index([documents])
    houses = [documents / f"house {i}.md" for i in range(600)]
    for house in houses:
        house.write_text(f"# {house.stem}\n\nIts attic was let to Ann.\n")
    with ExitStack() as stack:
        with held_up(index_of(footnote)):
            commands = [footnote.start("index", str(documents))]
            starting = [start_forked(fork_server, footnote) for _ in range(2)]
            one, other = (stack.enter_context(ending(each)) for each in starting)
            for serving in (one, other):
                serving.until_said("web is connected.")
        for serving in (one, other):
            until(serving, lambda told: told == {"state": "ok", "total": 605})
        for i, house in enumerate(houses):
            if i % 3 == 0:
                house.unlink()
            elif i % 3 == 1:
                house.write_text(f"# {house.stem}\n\nIts attic was let to Ben.\n")
            else:
                house.rename(documents / f"old {house.name}")
        commands.append(footnote.start("index", str(documents)))
        alone = tmp_path / "alone.sqlite"
        Indexer(alone).index([documents])
        ends = time.monotonic() + PATIENCE
        while content(index_of(footnote)) != content(alone):
            assert time.monotonic() < ends
            time.sleep(0.1)
        for serving in (one, other):
            assert "90 days" in answer(serving, "How often is the master key rotated?")["answer"]
        ended = [command.finish() for command in commands]
    assert [each.code for each in ended] == [0, 0], ended
    told = "\n".join([one.said, other.said, *(each.err for each in ended)])
    assert "locked" not in told
    assert "not all indexed" not in told
    assert content(index_of(footnote)) == content(alone)


def until_indexed(program: Program, files: int) -> None:
    ends = time.monotonic() + PATIENCE
    with closing(sqlite3.connect(index_of(program), timeout=60)) as connection:
        while connection.execute("SELECT count(*) FROM files").fetchone()[0] < files:
            assert time.monotonic() < ends
            time.sleep(0.02)
