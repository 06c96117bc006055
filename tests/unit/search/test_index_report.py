"""The state of every file that was found: the sums add up, and each file can be listed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.search.index_file import address
from bot.search.index_report import (
    FILE_STATES,
    FileState,
    Tally,
    files_in,
    holdings,
    path_of,
    tallies,
)
from bot.search.indexer import Indexer
from tests.unit.search.readers import Inside
from tests.unit.search.test_indexer import write

TEXT = "# Tides\n\nThe tide comes twice a day."
FILES = {
    "tides.md": TEXT,
    "copy of tides.md": TEXT,
    "inner/bells.txt": "A harbour has a bell.",
    "empty.md": "",
    "broken.pdf": "no PDF",
    "large.txt": "word " * 4_000,
    "one.png": "x",
    "inner/two.png": "x",
    ".hidden.md": "x",
    ".git/config": "x",
    "node_modules/left.md": "x",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    for name, text in FILES.items():
        write(docs / name, text)
    (docs / "nowhere.md").symlink_to(docs / "gone.md")
    return docs


@pytest.fixture
def index(docs: Path, tmp_path: Path) -> Path:
    path = tmp_path / "index.sqlite"
    Indexer(path, readers=Inside(), max_file_bytes=10_000).index([docs])
    return path


def listed(index: Path, docs: Path, state: FileState, inside: Path | None = None) -> list[str]:
    found = files_in(index, [docs], state, inside or docs, 50)
    return [os.path.relpath(path_of(each.url), docs) for each in found]


def test_the_states_add_up_to_the_files_that_were_found(index: Path, docs: Path) -> None:
    tally = tallies(index, [docs], lambda url: "")[""]
    assert {state: tally.states[state] for state in FILE_STATES} == {
        "document": 2,
        "stale": 0,
        "copy": 1,
        "empty": 1,
        "large": 1,
        "unreadable": 1,
        "kind": 2,
        "hidden": 1,
        "other": 1,
        "folder": 2,
    }
    assert (tally.documents, tally.found) == (2, 10)
    assert {str(kind): n for kind, n in tally.kinds.items()} == {"Markdown": 1, "plain text": 1}
    assert tally.read_at > 0


def test_files_are_counted_by_group(index: Path, docs: Path) -> None:
    inner = address(docs / "inner")
    found = tallies(index, [docs], lambda url: "in" if url.startswith(inner) else "out")
    assert (found["in"].documents, found["in"].found) == (1, 2)
    assert sum(found.values(), Tally()) == holdings(index, [docs]).files


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("document", ["inner/bells.txt", "tides.md"]),
        ("copy", ["copy of tides.md"]),
        ("empty", ["empty.md"]),
        ("large", ["large.txt"]),
        ("unreadable", ["broken.pdf"]),
        ("kind", [".", "inner"]),
        ("hidden", ["."]),
        ("folder", ["."]),
        ("other", ["nowhere.md"]),
    ],
)
def test_every_file_is_listed_in_its_state(
    index: Path, docs: Path, state: FileState, names: list[str]
) -> None:
    assert listed(index, docs, state) == names


def test_a_list_names_the_reasons_and_goes_on_where_it_ended(index: Path, docs: Path) -> None:
    (copy,) = files_in(index, [docs], "copy", docs, 50)
    assert copy.note == str(docs / "tides.md")
    (link,) = files_in(index, [docs], "other", docs, 50)
    assert str(link.note) == "a link that leads nowhere."
    assert listed(index, docs, "document", docs / "inner") == ["inner/bells.txt"]
    (last,) = files_in(index, [docs], "document", docs, 1, 1)
    assert path_of(last.url) == str(docs / "tides.md")


def test_a_file_that_keeps_its_earlier_text_is_searched_and_named(index: Path, docs: Path) -> None:
    write(docs / "inner" / "bells.txt", "", age=10)
    Indexer(index, readers=Inside(), max_file_bytes=10_000).index([docs])
    tally = tallies(index, [docs], lambda url: "")[""]
    assert (tally.states["stale"], tally.documents) == (1, 2)
    (stale,) = files_in(index, [docs], "stale", docs, 50)
    assert "is kept until it can be read" in str(stale.note)


def test_only_kinds_count_as_files_that_are_not_read(index: Path, docs: Path) -> None:
    """Hidden files are no kind of document: answers do not mention them."""
    assert holdings(index, [docs]).unread.endings == ((".png", 2),)


def test_a_root_that_cannot_be_opened_is_indexed_again(tmp_path: Path) -> None:
    """Missed files are stored below the roots, where the next run replaces them."""
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    for _ in range(2):
        Indexer(tmp_path / "index.sqlite", readers=Inside()).index([pipe])
    assert [
        str(each.note) for each in files_in(tmp_path / "index.sqlite", [pipe], "other", pipe, 9)
    ] == ["it is not a regular file."]
