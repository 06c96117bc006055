"""The report of `footnote index`: changes, problems and contents."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]
import pytest

from bot.cli.index import index_and_report, index_documents
from bot.core.errors import Invalid
from bot.core.settings import Settings
from bot.operation.configuration import load_settings
from bot.search.indexer import Indexer
from bot.search.unchanged import CheckProcess
from tests.unit.search.test_indexer import write

HARBOURS = "<title>Harbours</title><main><h1>Harbours</h1><p>A harbour has a bell.</p></main>"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    docs = tmp_path / "docs"
    write(docs / "harbours.html", HARBOURS)
    write(docs / "harbours (1).html", HARBOURS)
    write(docs / "tides.md", "# Tides\n\nThe tide comes twice a day.")
    write(docs / "prices.csv", "what,price\n" + "rope,12\n" * 3)
    write(docs / "empty.md", "")
    for name in ("one.png", "two.png", "three.css"):
        write(docs / name, "x")
    return load_settings(data_dir=tmp_path / "data", docs=(str(docs),))


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_all_that_came_of_it_is_told(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path(settings.docs[0]) / "bells.txt", "The bell is rung at noon.")
    index_and_report(settings)
    first, kinds, copies, *rest = lines(capsys)
    assert first.startswith("Indexed in ")
    assert ": 5 new, 0 changed, 0 removed, 0 unchanged files; " in first
    assert kinds == "Files that are searched: 1 CSV, 1 HTML, 1 Markdown, 1 plain text."
    docs = settings.docs[0]
    assert copies == (
        f"Not shown, because {docs}/harbours.html has the same text: {docs}/harbours (1).html"
    )
    assert rest == [
        f"Skipped {docs}/empty.md: empty.md is empty; there is nothing to read in it",
        "Files of other kinds left out: 3 (.png 2, .css 1).",
        "Files found: 9: 4 searched, 1 with the text of another, 1 empty, 3 of other kinds.",
    ]


def test_files_that_lost_words_are_named_the_worst_first(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = Path(settings.docs[0])
    for i in range(12):
        write(docs / f"part{i}.md", f"# Part {i}\n\nThis is part {i}.")
    index_documents(settings)
    capsys.readouterr()
    with closing(sqlite3.connect(settings.index_path)) as connection:
        for i in range(12):
            url = (docs / f"part{i}.md").as_uri()
            connection.execute(
                "UPDATE files SET kept = ?, omitted = ? WHERE url = ?",
                (0.8 - i / 20, '{"lost word": 3}', url),
            )
        connection.commit()
    index_and_report(settings)
    told = [
        line for line in lines(capsys) if "part" in line or "ess than" in line or "more" in line
    ]
    assert told == [
        "Less than 90% of the words was kept of 12 file(s):",
        *(f"  {25 + 5 * i:3}%  {docs}/part{11 - i}.md (3 lost words)" for i in range(10)),
        "  … and 2 more",
    ]


def test_what_texts_leave_out_is_counted_by_kind(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = Path(settings.docs[0])
    book = openpyxl.Workbook()
    book.active.append(["Depot", "Bremen"])
    book.create_sheet("Salaries").sheet_state = "hidden"
    book.create_sheet("Rates").sheet_state = "hidden"
    book.save(docs / "fleet.xlsx")
    index_and_report(settings)
    told = [line for line in lines(capsys) if "Left out" in line]
    assert told == [f"Left out or unsure: 2 hidden sheets (in {docs}/fleet.xlsx)."]
    index_and_report(settings)  # of a file that is not read again, too
    assert [line for line in lines(capsys) if "Left out" in line] == told


def test_the_command_names_every_file_that_was_skipped_a_question_some(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(14):
        write(Path(settings.docs[0]) / f"empty{i}.md", "")
    index_documents(settings)
    assert lines(capsys)[-1] == "… and 5 more; `footnote index` names them."
    index_and_report(settings)
    assert sum(line.startswith("Skipped ") for line in lines(capsys)) == 15


def test_before_a_question_only_news_are_told(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    index_documents(settings)
    assert len(lines(capsys)) == 2
    index_documents(settings)
    (problem,) = lines(capsys)
    assert problem.startswith("Skipped ")


def test_a_check_that_saw_no_change_spares_the_run(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.search.unchanged.WORTHWHILE", 0)
    index_documents(settings)
    capsys.readouterr()

    def refuse(*_: object) -> None:
        raise AssertionError("the folder was walked again")

    monkeypatch.setattr(Indexer, "index", refuse)
    with CheckProcess(settings.index_path, settings.docs) as check:
        assert index_documents(settings, check.report()).unchanged == 4
    assert len(lines(capsys)) == 1


def test_names_of_any_bytes_are_told(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = Path(settings.docs[0])
    write(docs / "caf\udce9 #1?.html", HARBOURS)
    index_and_report(settings)
    assert any(f"{docs}/caf\ufffd #1?.html" in line for line in lines(capsys))


def test_a_path_that_does_not_exist_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no file or folder"):
        index_documents(load_settings(data_dir=tmp_path, docs=(str(tmp_path / "none"),)))
