"""What a question says about where to look in documents, and the files that this means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import openpyxl  # type: ignore[import-untyped]
import pptx
import pytest

from bot.core.reader import EVERYTHING, Reach
from bot.pages.extract import from_bytes
from bot.search.filters import NO_FILTER, Filter, date_in_name, filter_in, without
from bot.search.indexer import Indexer
from bot.search.local_documents import LocalDocuments
from bot.search.provider import Query

TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("question", "only", "rest"),
    [
        (
            "What is the notice period in the 2025 handbook?",
            Filter(("2025 handbook",)),
            "What is the notice period?",
        ),
        ("Was steht im Handbuch 2025 über Urlaub?", Filter(("Handbuch 2025",)), "Was steht über"),
        ("在2025年手册里假期有几天？", Filter(("2025年手册",)), "假期有几天？"),
        ("What did Ann say in Paula's mails?", Filter(("Paula's mails",)), "What did Ann say?"),
        (
            "What changed in the minutes since 1 March 2026?",
            Filter(("minutes",), "2026-03-01"),
            "What changed?",
        ),
        (
            "What did the board decide in April?",
            Filter((), "2026-04-01", "2026-04-30"),
            "What did the board decide?",
        ),
        (
            "What did the board decide in December?",  # the last one
            Filter((), "2025-12-01", "2025-12-31"),
            "What did the board decide?",
        ),
        (
            "Was hat der Vorstand seit März 2026 beschlossen?",
            Filter((), "2026-03-01"),
            "Was hat der Vorstand beschlossen?",
        ),
        ("2026年3月以来董事会决定了什么？", Filter((), "2026-03-01"), "董事会决定了什么？"),
        ("Who signs, according to Board rules.docx?", Filter(("Board rules.docx",)), "Who signs,"),
        ("Since March, who runs the crane?", Filter((), "2026-03-01"), ", who runs the crane?"),
        ("What was decided on 31 April 2026 since 31 April 2026?", NO_FILTER, "What was"),
    ],
)
def test_plain_phrases_are_filters(question: str, only: Filter, rest: str) -> None:
    assert filter_in(question, TODAY) == only
    assert without(question, only).startswith(rest)


@pytest.mark.parametrize(
    "question",
    [
        "Who has been king since 1990?",
        "How many ships were built in April 2026?",
        "What was decided in 1990?",
        "What does timeout mean in the configuration file?",
        "How do I switch on the built-in PDF output?",
        "Wie viele Einwohner hat Bergen seit 1990?",
        "2026年3月的销售额是多少？",
    ],
)
def test_dates_and_places_of_the_subject_are_no_filter(question: str) -> None:
    assert filter_in(question, TODAY) == NO_FILTER


@pytest.mark.parametrize(
    ("heading", "is_meant"),
    [
        ("Crane › Paula Reyes, 28 February 2026 09:12", False),
        ("Crane › Paula Reyes, 1 March 2026 09:12", True),
        ("2026 › 2026-05-01 Board", False),
        ("Plan of 2024 › April 2026", True),
        ("Plan of 2027", False),
        ("On 3 May", True),
        ("Prices", True),
    ],
)
def test_a_section_of_another_time_is_not_meant(heading: str, is_meant: bool) -> None:
    assert Filter((), "2026-03-01", "2026-04-30").holds(heading) == is_meant
    assert Filter(("minutes",)).holds(heading)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-04-14 Board.md", "2026-04-14"),
        ("board_20260414.pdf", "2026-04-14"),
        ("2026-04.md", "2026-04-01"),
        ("2026-04-31.md", ""),
        ("order 1202604140.md", ""),
        ("handbook 2025.md", ""),
    ],
)
def test_the_date_in_a_name(name: str, day: str) -> None:
    assert date_in_name(name) == day


MAIL = "From: {0} <{1}@example.org>\nSubject: Crane\nDate: {2}\n\nThe crane costs {3} euros.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    texts = {
        "handbook-2024/leave.md": "---\ndate: 2024-01-02\n---\n\nThe crane is old.",
        "handbook-2025/leave.md": "---\nupdated: 2025-01-02\nauthor: Ann Lee\n---\n\nCrane leave.",
        "secret/2026-02-03 merger.md": "The crane is sold.",
        "minutes/2026-04-14 Board.md": "The board bought a crane.",
        "mails/1.eml": MAIL.format("Paula Reyes", "paula", "Tue, 10 Mar 2026 09:12:00 +0100", 7),
        "mails/2.eml": MAIL.format("Tom Weber", "tom", "Wed, 11 Mar 2026 09:12:00 +0100", 9),
    }
    for name, text in texts.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text)
    Indexer(tmp_path / "index.sqlite").index([docs])
    return docs


@pytest.fixture
async def documents(docs: Path, tmp_path: Path) -> AsyncIterator[LocalDocuments]:
    provider = LocalDocuments(tmp_path / "index.sqlite", [docs])
    yield provider
    await provider.aclose()


@pytest.mark.usefixtures("reading_inside")
@pytest.mark.parametrize(
    ("only", "files"),
    [
        (Filter(("2025 handbook",)), ["handbook-2025/leave.md"]),
        (Filter(("Paula's mails",)), ["mails/1.eml"]),
        (Filter(("emails",)), ["mails/1.eml", "mails/2.eml"]),
        (Filter(("Ann's handbook",)), ["handbook-2025/leave.md"]),
        (Filter(("minutes",)), ["minutes/2026-04-14 Board.md"]),
        (Filter((), "2026-03-11", "2026-04-14"), ["mails/2.eml", "minutes/2026-04-14 Board.md"]),
        (Filter((), "", "2024-12-31"), ["handbook-2024/leave.md"]),
        (Filter(("mails",), "2026-03-11"), ["mails/2.eml"]),
    ],
)
async def test_only_files_that_are_meant_are_found(
    docs: Path, documents: LocalDocuments, only: Filter, files: list[str]
) -> None:
    assert await documents.narrowed(only) == (only, False)
    hits = await documents.search(Query("crane", only=only))
    assert sorted(hit.url for hit in hits) == [(docs / file).as_uri() for file in files]


@pytest.mark.usefixtures("reading_inside")
@pytest.mark.parametrize(
    ("only", "kept", "is_empty"),
    [
        (Filter(("2019 handbook", "minutes")), Filter(("minutes",)), False),
        (Filter(("docs",), "1990-01-01"), Filter((), "1990-01-01"), False),  # all; their sections?
        (Filter((), "2031-01-01"), NO_FILTER, True),
        (Filter(("minutes",), "2026-05-01"), Filter(("minutes",)), True),
    ],
)
async def test_what_no_file_or_every_file_fits_does_not_apply(
    documents: LocalDocuments, only: Filter, kept: Filter, is_empty: bool
) -> None:
    assert await documents.narrowed(only) == (kept, is_empty)


@pytest.mark.usefixtures("reading_inside")
@pytest.mark.parametrize(
    ("only", "matched"),
    [
        (Filter(("docs",), "", "2027-01-01"), (True, ())),  # all of them
        (Filter(("minutes", "2019 handbok")), (False, ("handbook-2024", "handbook-2025"))),
        (Filter(("boardd",)), (False, ("2026-04-14 Board",))),
        (Filter(("minutes",), "2026-05-01"), (False, ())),
        (Filter(("secrets 2027",)), (False, ("secret",))),
        (Filter(("lease",)), (False, ("leave",))),
    ],
)
async def test_a_filter_that_means_no_file_is_told_with_similar_names(
    documents: LocalDocuments, only: Filter, matched: tuple[bool, tuple[str, ...]]
) -> None:
    assert await documents.matched(only) == matched


@pytest.mark.usefixtures("reading_inside")
async def test_what_a_reader_may_not_see_is_as_if_it_were_not_there(
    docs: Path, documents: LocalDocuments
) -> None:
    reach = Reach((((docs / "secret").as_uri(), False),))
    hidden = Filter(("secret",)), Filter(("merger",)), Filter((), "2026-02-03", "2026-02-03")
    assert [(await documents.narrowed(each, EVERYTHING))[0] for each in hidden] == [*hidden]
    assert [(await documents.narrowed(each, reach))[0] for each in hidden] == 3 * [NO_FILTER]
    assert await documents.matched(Filter(("secret",)), reach) == (False, ())


def _office(make: Any) -> bytes:
    make.core_properties.author = "Ann  Lee"
    make.core_properties.modified = datetime(2026, 3, 4, 5, 6)
    buffer = BytesIO()
    make.save(buffer)
    return buffer.getvalue()


def _sheet() -> bytes:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["some", "words"])
    book.properties.creator = "Ann Lee"
    buffer = BytesIO()
    book.save(buffer)  # openpyxl writes the time of saving
    return buffer.getvalue()


def _word() -> bytes:
    document = docx.Document()
    document.add_paragraph("some words")
    return _office(document)


def _slides() -> bytes:
    shown = pptx.Presentation()
    shown.slides.add_slide(shown.slide_layouts[5]).shapes.title.text = "some words"
    return _office(shown)


MAILBOX = "\n".join(
    f"From x\n{MAIL.format(*each)}"
    for each in (
        ("Tom", "tom", "Wed, 11 Mar 2026 09:12:00 +0100", 1),
        ("Ann Lee", "ann", "Tue, 10 Mar 2026 09:12:00 +0100", 2),
    )
)


@pytest.mark.parametrize(
    ("name", "data", "dated", "author"),
    [
        ("a.docx", _word(), "2026-03-04", "Ann Lee"),
        ("a.pptx", _slides(), "2026-03-04", "Ann Lee"),
        ("a.xlsx", _sheet(), f"{datetime.now(UTC):%Y-%m-%d}", "Ann Lee"),
        (
            "a.mbox",
            MAILBOX.encode(),
            "2026-03-11",
            "Tom <tom@example.org>, Ann Lee <ann@example.org>",
        ),
        ("a.md", b"---\ndate: 2026-03-04\nowner: Ann Lee\n---\n\nwords", "2026-03-04", "Ann Lee"),
        ("a.md", b"---\ndate: 2026-03-04\nupdated: 2026-05-06\n---\n\nwords", "2026-05-06", ""),
        ("a.md", b"---\ndate: next week\n---\n\nwords", "", ""),
        ("a.md", b"---\ndate: 2026-13-40\n---\n\nwords", "", ""),
    ],
)
def test_what_files_say_of_their_date_and_author(
    name: str, data: bytes, dated: str, author: str
) -> None:
    reading = from_bytes(data, None, name)
    assert (reading.dated, reading.author) == (dated, author)
