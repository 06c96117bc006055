"""The check for changed documents, in this process and in one of its own."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.search.index_report import IndexReport
from bot.search.indexer import Indexer
from bot.search.unchanged import CheckProcess, unchanged
from tests.unit.search.test_indexer import write

pytestmark = pytest.mark.usefixtures("reading_inside")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for i in range(20):
        write(tmp_path / "docs" / f"{i % 3}" / f"Page {i}.md", f"# Page {i}\n\nWords of {i}.")
    write(tmp_path / "docs" / "empty.md", "")
    write(tmp_path / "docs" / "picture.png", "x")
    return tmp_path / "docs"


def without_time(report: IndexReport | None) -> IndexReport | None:
    return None if report is None else dataclasses.replace(report, seconds=0.0)


def test_it_tells_what_an_indexing_run_with_nothing_to_do_tells(docs: Path, index: Path) -> None:
    told = without_time(unchanged(index, [docs]))
    run = without_time(Indexer(index).index([docs]))
    assert told == run
    assert told is not None
    assert (told.unchanged, len(told.skipped)) == (20, 1)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is new": lambda docs: write(docs / "new.md", "# New"),
    "a file is gone": lambda docs: (docs / "1" / "Page 4.md").unlink(),
    "a file is longer": lambda docs: write(docs / "1" / "Page 4.md", "# Page 4\n\nMore words."),
    "a file is newer": lambda docs: os.utime(docs / "1" / "Page 4.md"),
    "a file has moved": lambda docs: (docs / "empty.md").rename(docs / "blank.md"),
    "a file can be read": lambda docs: write(docs / "empty.md", "# Not empty"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_has_changed_is_seen(
    docs: Path, index: Path, change: Callable[[Path], object]
) -> None:
    change(docs)
    assert unchanged(index, [docs]) is None


def test_a_run_that_did_not_end_has_to(docs: Path, index: Path) -> None:
    _execute(index, "UPDATE roots SET waiting = 1")
    assert unchanged(index, [docs]) is None


@pytest.mark.parametrize(
    "harm",
    [
        lambda index: index.unlink(),
        lambda index: index.write_bytes(b"no database" * 500),
        lambda index: Path(f"{index}.damaged").touch(),
        lambda index: _execute(index, "UPDATE meta SET value = 'x' WHERE key = 'fingerprint'"),
        lambda index: _execute(index, "PRAGMA user_version = 1"),
    ],
)
def test_an_index_that_must_be_rebuilt_is_not_taken_for_unchanged(
    docs: Path, index: Path, harm: Callable[[Path], object]
) -> None:
    harm(index)
    assert unchanged(index, [docs]) is None


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


# ---------------------------------------------------------------- in a process of its own


def test_a_process_tells_the_same(docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.search.unchanged.WORTHWHILE", 0)
    with CheckProcess(index, [docs]) as check:
        assert without_time(check.report()) == without_time(unchanged(index, [docs]))
    write(docs / "new.md", "# New")
    with CheckProcess(index, [docs]) as check:
        assert check.report() is None


def test_it_begins_before_what_takes_long_is_loaded(docs: Path) -> None:
    code = (
        "import sys\n"
        "from bot.cli.main import main\n"
        "from bot.search.unchanged import CheckProcess\n"
        "def begin(self, index, paths, areas):\n"
        "    print({'bot.operation.app', 'sqlalchemy', 'httpx'} & set(sys.modules))\n"
        "    sys.exit(0)\n"
        "CheckProcess.__init__ = begin\n"
        f"sys.argv = ['footnote', 'ask', '--docs', {str(docs)!r}, 'What?']\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_a_small_index_is_checked_without_a_process(docs: Path, index: Path) -> None:
    with CheckProcess(index, [docs]) as check:
        assert check._process is None
        report = check.report()
        assert report is not None
        assert report.unchanged
    (docs / "new.md").write_text("Something new.", encoding="utf-8")
    for path in (index, index.with_name("missing.sqlite")):
        with CheckProcess(path, [docs]) as check:
            assert check._process is None
            assert check.report() is None


def test_one_that_cannot_be_started_is_done_without(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.search.unchanged.WORTHWHILE", 0)
    monkeypatch.setattr("bot.search.unchanged.COMMAND", ("/nonexistent/python",))
    with CheckProcess(index, [docs]) as check:
        assert check.report() is not None


def test_leaving_the_check_ends_its_process(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.search.unchanged.WORTHWHILE", 0)
    monkeypatch.setattr("bot.search.unchanged.COMMAND", ("sh", "-c", "sleep 600"))
    begin = time.monotonic()
    with CheckProcess(index, [docs]):
        pass
    assert time.monotonic() - begin < 60
