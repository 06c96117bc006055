"""Bringing the index up to date: incremental, interruptible, shared, mendable."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.core.errors import InvalidSetting, StorageUnavailable
from bot.search import index_file, indexer
from bot.search.index_report import IndexReport, holdings
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query
from bot.search.unchanged import unchanged
from tests.unit.search.readers import Recording, Refused

pytestmark = pytest.mark.usefixtures("reading_inside")

DAY = 86_400


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "data" / "index.sqlite"


def write(path: Path, text: str, age: float = DAY) -> None:
    """A file last changed ``age`` seconds ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    moment = time.time() - age
    os.utime(path, (moment, moment))


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.removed, report.unchanged


async def found(index: Path, query: str, *roots: Path) -> list[str]:
    documents = LocalDocuments(index, roots)
    try:
        return [hit.title for hit in await documents.search(Query(query, 20))]
    finally:
        await documents.aclose()


def content(index: Path) -> dict[str, tuple[str, list[str]]]:
    """All that an index says: address → text, and the places where each word is found."""
    connection = sqlite3.connect(index)
    connection.execute("BEGIN")  # another process may be writing
    texts = {
        file: (url, index_file.unpack_text(text))
        for file, url, text in connection.execute(
            "SELECT id, url, text FROM files JOIN pages ON file = id"
        )
    }
    owners = {
        first + place: file
        for file, first, count in connection.execute("SELECT id, first, count FROM files")
        for place in range(count)
    }
    connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, words, instance)")
    words: dict[int, list[str]] = {file: [] for file in texts}
    for term, passage, column, offset in connection.execute("SELECT * FROM temp.v"):
        if passage in owners:
            file = owners[passage]
            (first,) = connection.execute(
                "SELECT first FROM files WHERE id = ?", (file,)
            ).fetchone()
            words[file].append(f"{passage - first} {column} {offset} {term}")
    connection.close()
    return {url: (text, sorted(words[file])) for file, (url, text) in texts.items()}


# ---------------------------------------------------------------- what is indexed


async def test_a_first_run_indexes_every_document(docs: Path, index: Path) -> None:
    write(docs / "tides.md", "# Tides\n\nThe moon pulls the sea.")
    write(docs / "deep" / "winds.txt", "Winds\n\nThe sun warms the air.")
    write(docs / "site.html", "<html><title>Site</title><body><p>The rain falls.</p></body></html>")
    report = Indexer(index).index([docs])
    assert counts(report) == (3, 0, 0, 0)
    assert report.passages >= 3
    assert report.skipped == ()
    assert report.warning == ""
    assert await found(index, "moon") == ["Tides"]
    assert await found(index, "sun warms air") == ["Winds"]
    assert await found(index, "rain") == ["Site"]


async def test_only_what_changed_is_indexed_again(docs: Path, index: Path) -> None:
    write(docs / "a.md", "# A\n\nAlpha words.")
    write(docs / "b.md", "# B\n\nBeta words.")
    Indexer(index).index([docs])
    write(docs / "b.md", "# B\n\nGamma words.", age=DAY / 2)
    write(docs / "c.md", "# C\n\nDelta words.")
    (docs / "a.md").unlink()
    report = Indexer(index).index([docs])
    assert counts(report) == (1, 1, 1, 0)
    assert await found(index, "alpha") == []
    assert await found(index, "beta") == []
    assert await found(index, "gamma") == ["B"]
    assert await found(index, "delta") == ["C"]


async def test_a_change_of_equal_size_within_the_same_moment_is_seen(
    docs: Path, index: Path
) -> None:
    write(docs / "a.md", "# A\n\nAlpha.", age=0)
    before = (docs / "a.md").stat()
    Indexer(index).index([docs])
    (docs / "a.md").write_text("# A\n\nOmega.")
    os.utime(docs / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert counts(Indexer(index).index([docs])) == (0, 1, 0, 0)
    assert await found(index, "omega") == ["A"]


def test_a_touched_file_of_the_same_content_is_not_extracted_again(docs: Path, index: Path) -> None:
    write(docs / "a.md", "# A\n\nAlpha.")
    Indexer(index).index([docs])
    os.utime(docs / "a.md", (time.time() - 100, time.time() - 100))
    readers = Recording()
    assert counts(Indexer(index, readers=readers).index([docs])) == (0, 0, 0, 1)
    assert [reading.content for reading in readers.readings] == [None]


def test_an_update_leads_to_the_same_index_as_a_fresh_start(
    docs: Path, index: Path, tmp_path: Path
) -> None:
    for i in range(30):
        write(docs / f"{i}.md", f"# Page {i}\n\nWords of {i}.\n\n## More\n\nOf {i % 7}.")
    Indexer(index).index([docs])
    for i in range(0, 30, 3):
        write(docs / f"{i}.md", f"# Page {i}\n\nOther words of {i}.", age=DAY / 2)
    for i in range(1, 30, 5):
        (docs / f"{i}.md").unlink(missing_ok=True)
    Indexer(index).index([docs])
    fresh = tmp_path / "fresh.sqlite"
    Indexer(fresh).index([docs])
    assert content(index) == content(fresh)


# ---------------------------------------------------------------- several roots


async def test_roots_share_an_index_and_are_searched_apart(tmp_path: Path, index: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "ab"
    write(a / "one.md", "# One\n\nShared word.")
    write(b / "two.md", "# Two\n\nShared word.")
    assert counts(Indexer(index).index([a])) == (1, 0, 0, 0)
    assert counts(Indexer(index).index([b])) == (1, 0, 0, 0)
    assert await found(index, "shared", a) == ["One"]
    assert await found(index, "shared", b / "two.md") == ["Two"]
    assert sorted(await found(index, "shared")) == ["One", "Two"]


async def test_a_run_drops_nothing_of_other_roots(tmp_path: Path, index: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write(a / "one.md", "# One\n\nShared word.")
    write(b / "two.md", "# Two\n\nShared word.")
    Indexer(index).index([a, b])
    (b / "two.md").unlink()
    assert counts(Indexer(index).index([a])) == (0, 0, 0, 1)
    assert sorted(await found(index, "shared")) == ["One", "Two"]


@pytest.mark.parametrize("paths", [(), ("nowhere",)])
def test_there_must_be_something_to_index(
    tmp_path: Path, index: Path, paths: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidSetting):
        Indexer(index).index([tmp_path / path for path in paths])
    assert not index.exists()


# ---------------------------------------------------------------- what cannot be indexed


def test_unreadable_files_are_named_with_their_reason(docs: Path, index: Path) -> None:
    write(docs / "good.md", "# Good\n\nText.")
    (docs / "binary.txt").write_bytes(b"\x7fELF\x02\x01\x00\x00" + bytes(range(256)) * 10)
    (docs / "empty.md").touch()
    (docs / "image.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    with open(docs / "huge.txt", "wb") as file:
        file.truncate(20_000)
    report = Indexer(index, max_file_bytes=10_000).index([docs])
    assert counts(report) == (1, 0, 0, 0)
    reasons = {Path(path).name: reason for path, reason in report.skipped}
    assert set(reasons) == {"binary.txt", "empty.md", "image.md", "huge.txt"}
    assert reasons["huge.txt"] == (
        "it has 0.1 MB, and the limit for plain text is 0.01 MB: split it into smaller files"
    )
    assert all(reason and not reason.endswith(".") for reason in reasons.values())


def test_a_file_that_cannot_be_opened_for_a_while_keeps_its_text(docs: Path, index: Path) -> None:
    write(docs / "a.md", "# A\n\nAlpha.")
    Indexer(index).index([docs])
    write(docs / "a.md", "# A\n\nBeta.", age=100)
    report = Indexer(index, readers=Refused()).index([docs])
    (reason,) = [reason for _, reason in report.skipped]
    assert reason.startswith("it cannot be read (Permission denied). Its text of ")
    assert "Alpha" in str(content(index))
    assert counts(Indexer(index).index([docs])) == (0, 1, 0, 0)
    assert "Beta" in str(content(index))


@pytest.mark.parametrize("half", ["", "PK\x03\x04 half of an archive"])
@pytest.mark.parametrize("age", [0, 100])
def test_a_file_that_becomes_unreadable_keeps_its_text_until_it_can_be_read_or_is_gone(
    docs: Path, index: Path, half: str, age: float
) -> None:
    write(docs / "a.docx", "# A\n\nAlpha.")
    write(docs / "b.docx", "# B\n\nBeta.")
    Indexer(index).index([docs])
    before = content(index)
    read = datetime(2025, 11, 3, tzinfo=UTC).timestamp()
    _execute(index, f"UPDATE files SET indexed_at = {read}")
    for name in ("a", "b"):
        write(docs / f"{name}.docx", half, age)
    for _ in range(3):
        report = Indexer(index).index([docs])
        assert (counts(report), content(index)) == ((0, 0, 0, 0), before)
        assert [path for path, _ in report.skipped] == [f"{docs}/a.docx", f"{docs}/b.docx"]
        kept = ". Its text of 3 November 2025 is kept until it can be read"
        assert all(reason.endswith(kept) for _, reason in report.skipped)
    assert holdings(index, [docs]).stale == report.skipped
    write(docs / "a.docx", "# A\n\nGamma.")
    (docs / "b.docx").unlink()
    report = Indexer(index).index([docs])
    assert (counts(report), report.skipped) == ((0, 1, 1, 0), ())
    assert "Gamma" in str(content(index))
    assert "Beta" not in str(content(index))
    assert holdings(index, [docs]).stale == ()


def test_a_file_whose_earlier_text_was_kept_is_unchanged_when_it_is_restored_as_it_was(
    docs: Path, index: Path
) -> None:
    write(docs / "a.md", "# A\n\nAlpha.")
    Indexer(index).index([docs])
    before = content(index)
    write(docs / "a.md", "", age=100)
    Indexer(index).index([docs])
    write(docs / "a.md", "# A\n\nAlpha.")
    report = Indexer(index).index([docs])
    assert (report.skipped, content(index)) == ((), before)
    assert unchanged(index, [docs]) is not None


def test_a_file_that_is_too_large_is_looked_at_again_only_when_it_changes(
    docs: Path, index: Path
) -> None:
    write(docs / "a.md", "# A\n\n" + "Alpha beta. " * 100)
    report = Indexer(index, max_file_bytes=100).index([docs])
    assert [reason for _, reason in report.skipped] == [
        "it has 0.1 MB, and the limit for Markdown is 0.0001 MB: split it into smaller files"
    ]
    readers = Recording()
    again = Indexer(index, max_file_bytes=100, readers=readers).index([docs])
    assert (again.skipped, readers.readings) == (report.skipped, [])
    write(docs / "a.md", "# A\n\nAlpha.", age=50)
    assert counts(Indexer(index, max_file_bytes=100).index([docs])) == (1, 0, 0, 0)


async def test_names_of_any_bytes_are_indexed_and_read(docs: Path, index: Path) -> None:
    path = docs / os.fsdecode(b"caf\xe9 #1?.md")
    write(path, "# Coffee\n\nBeans.")
    Indexer(index).index([docs])
    documents = LocalDocuments(index)
    (hit,) = await documents.search(Query("beans", 5))
    assert hit.url == path.as_uri()
    assert "Beans." in (await documents.read(hit.url)).text
    await documents.aclose()


# ---------------------------------------------------------------- interruption and company


def test_progress_counts_every_file(docs: Path, index: Path) -> None:
    for i in range(7):
        write(docs / f"{i}.md", f"# {i}\n\nText.")
    seen: list[tuple[int, int]] = []
    Indexer(index).index([docs], lambda done, total: seen.append((done, total)))
    assert seen == [(i, 7) for i in range(8)]
    again: list[tuple[int, int]] = []
    Indexer(index).index([docs], lambda done, total: again.append((done, total)))
    assert again == [(7, 7)]


@pytest.mark.parametrize("stop_at", [1, 4, 5, 9])
def test_an_interrupted_run_leaves_a_usable_index_and_the_next_carries_on(
    docs: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    monkeypatch.setattr(indexer, "BATCH_FILES", 2)
    for i in range(10):
        write(docs / f"{i}.md", f"# Page {i}\n\nWords of {i}.")

    def interrupt(done: int, total: int) -> None:
        if done == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Indexer(index).index([docs], interrupt)
    kept = len(content(index))
    assert kept == stop_at // 2 * 2
    report = Indexer(index).index([docs])
    assert counts(report) == (10 - kept, 0, 0, kept)
    fresh = tmp_path / "fresh.sqlite"
    Indexer(fresh).index([docs])
    assert content(index) == content(fresh)


async def test_searches_go_on_while_a_run_writes(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "BATCH_FILES", 1)
    write(docs / "0.md", "# Old\n\nWords.")
    Indexer(index).index([docs])
    documents = LocalDocuments(index)
    for i in range(1, 20):
        write(docs / f"{i}.md", f"# New {i}\n\nWords.")
    sizes: list[int] = []
    reader = sqlite3.connect(f"file:{index}?mode=ro", uri=True)

    def look(done: int, total: int) -> None:
        sizes.append(reader.execute("SELECT count(*) FROM files").fetchone()[0])

    Indexer(index).index([docs], look)
    reader.close()
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert len(await documents.search(Query("words", 50))) == 20
    await documents.aclose()


# ---------------------------------------------------------------- keeping it small and current


async def test_what_was_removed_does_not_pile_up(
    docs: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "DEAD_FEW", 10)
    for i in range(20):
        write(docs / f"{i}.md", f"# Page {i}\n\nWords of {i}.")
    Indexer(index).index([docs])
    for round_ in range(6):
        for i in range(20):
            write(docs / f"{i}.md", f"# Page {i}\n\nRound {round_} of {i}.", age=DAY - round_ - 1)
        Indexer(index).index([docs])
    connection = sqlite3.connect(index)
    (rows,) = connection.execute("SELECT count(*) FROM words_docsize").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    connection.close()
    assert rows <= 40
    assert free == 0
    assert len(await found(index, "round")) == 20
    fresh = tmp_path / "fresh.sqlite"
    Indexer(fresh).index([docs])
    assert content(index) == content(fresh)


async def test_an_index_of_another_version_is_worked_out_anew(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write(a / "one.md", "# One\n\nStrange words.")
    write(b / "two.md", "# Two\n\nStrange words.")
    Indexer(index).index([a, b])
    with monkeypatch.context() as old, closing(index_file.open_writer(index)[0]) as connection:
        old.setattr(indexer, "fingerprint", lambda: "old")
        old.setattr(index_file, "terms", lambda text: text.lower()[::-1].split())
        indexer.IndexWriter(connection).refresh()
    assert await found(index, "strange words") == []
    report = Indexer(index).index([a])
    assert counts(report) == (0, 1, 0, 0)
    assert sorted(await found(index, "strange words")) == ["One", "Two"]


# ---------------------------------------------------------------- damage and refusals

DAMAGES: dict[str, Callable[[Path], object]] = {
    "not a database": lambda index: index.write_bytes(b"this is no database" * 500),
    "cut off": lambda index: os.truncate(index, index.stat().st_size // 2),
    "overwritten": lambda index: _overwrite(index, 4096, b"\xab" * (index.stat().st_size - 4096)),
    "another layout": lambda index: _execute(index, "PRAGMA user_version = 99"),
    "a table is missing": lambda index: _execute(index, "DROP TABLE meta"),
}


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_index_is_rebuilt_with_a_warning(
    docs: Path, index: Path, damage: Callable[[Path], object]
) -> None:
    for i in range(60):
        write(docs / f"{i}.md", f"# Page {i}\n\nWords of {i}.")
    Indexer(index).index([docs])
    damage(index)
    report = Indexer(index).index([docs])
    assert counts(report) == (60, 0, 0, 0)
    assert "rebuilt" in report.warning
    assert await found(index, "page 17") != []
    assert Indexer(index).index([docs]).warning == ""


async def test_damage_that_only_a_search_meets_is_mended_by_the_next_run(
    docs: Path, index: Path
) -> None:
    write(docs / "a.md", "# A\n\nAlpha words.")
    Indexer(index).index([docs])
    _execute(index, "UPDATE pages SET text = x'00'")
    documents = LocalDocuments(index)
    with pytest.raises(Exception, match="damaged: run `footnote index`"):
        await documents.search(Query("alpha", 5))
    report = Indexer(index).index([docs])
    assert "rebuilt" in report.warning
    assert [hit.title for hit in await documents.search(Query("alpha", 5))] == ["A"]
    await documents.aclose()


def test_a_folder_that_cannot_be_written_is_a_clear_error(docs: Path, tmp_path: Path) -> None:
    write(docs / "a.md", "# A\n\nText.")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageUnavailable) as caught:
        Indexer(tmp_path / "file" / "index.sqlite").index([docs])
    assert "check" in caught.value.sentence


def test_an_index_locked_for_too_long_is_a_clear_error(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(docs / "a.md", "# A\n\nText.")
    Indexer(index).index([docs])
    write(docs / "b.md", "# B\n\nText.")
    monkeypatch.setattr(index_file, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(index, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(StorageUnavailable, match="locked by another process"):
            Indexer(index).index([docs])
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert counts(Indexer(index).index([docs])) == (1, 0, 0, 1)


def test_a_full_disk_is_a_clear_error_and_loses_nothing(
    docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(docs / "a.md", "# A\n\nText.")
    Indexer(index).index([docs])
    before = content(index)
    for i in range(50):
        write(docs / f"{i}.md", f"# Page {i}\n\n" + f"Unlike words {i * 7919}. " * 200)
    open_writer = index_file.open_writer

    def on_full_disk(path: Path) -> tuple[sqlite3.Connection, str]:
        connection, generation = open_writer(path)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection, generation

    with monkeypatch.context() as full:
        full.setattr(indexer, "open_writer", on_full_disk)
        with pytest.raises(StorageUnavailable, match="disk is full"):
            Indexer(index).index([docs])
    assert content(index) == before
    assert Indexer(index).index([docs]).added == 50


def test_a_long_log_is_read_in_part(docs: Path, index: Path) -> None:
    write(docs / "app.log", "2026-03-11 02:14:07 ERROR gateway timeout\n" * 10)
    report = Indexer(index, max_file_bytes=100).index([docs])
    assert counts(report) == (1, 0, 0, 0)
    assert not report.skipped


async def test_slacks_members_have_their_names(docs: Path, index: Path) -> None:
    (docs / "general").mkdir()
    write(docs / "users.json", '[{"id": "U2", "real_name": "Tom Ek"}]')
    message = '{"type": "message", "user": "U2", "text": "Securo it is.", "ts": "1773100000.1"}'
    write(docs / "general/2026-03-09.json", f"[{message}]")
    Indexer(index).index([docs])
    page = await LocalDocuments(index).read((docs / "general/2026-03-09.json").as_uri())
    assert page.text == "## Tom Ek, 9 March 2026 23:46\n\nSecuro it is."
