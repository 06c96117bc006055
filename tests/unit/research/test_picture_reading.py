"""Pictures of a run: which are read, what becomes of them, and what a note says of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.errors import BudgetSpent, ModelBroken, ModelUnavailable
from bot.core.messages import UPLOADED, Attachment, Entry, Message, RunOptions, Transcript
from bot.core.texts import said
from bot.pages.page import Page
from bot.pages.pictures import MOST, Picture, PictureUnread, Scans, picture_in
from bot.research.picture_reading import NOT_READ, SCANNED, SEEN_TOGETHER, PictureReading
from bot.research.run import Run
from bot.search.provider import Query
from tests.fakes.library import Shelf, a_shelf
from tests.fakes.pictures import drawn, seen
from tests.unit.research.conftest import BUDGET, OpenRun
from tests.unit.samples import a_message

ERROR = "Quarzwerk 7: fatal error E4711"


@dataclass
class Eyes:
    """Sees what is drawn, or fails."""

    failure: Exception | None = None
    asked: list[list[str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    async def see(self, pictures: Sequence[Picture]) -> tuple[str, ...]:
        texts = [seen(each.data) for each in pictures]
        self.asked.append(texts)
        self.names += [each.name for each in pictures]
        if self.failure is not None:
            raise self.failure
        return tuple(texts)


def file(name: str, *, again: bool = False, media_type: str = "image/png") -> Attachment:
    return Attachment(name, media_type, f"{UPLOADED}m/{name}", again=again)


class Reading:
    """The pictures of a run, read for its message and thread."""

    def __init__(self, run: Run, transcript: Transcript, eyes: Any) -> None:
        self._reading = PictureReading(run, transcript, eyes)
        self._given = run.message, transcript

    @property
    def shown(self) -> dict[str, str]:
        return self._reading.shown

    async def read(self) -> tuple[Message, Transcript]:
        return await self._reading.read(*self._given)


@dataclass
class Stage:
    open_run: OpenRun
    bodies: dict[str, bytes] = field(default_factory=dict)
    downloads: list[str] = field(default_factory=list)
    eyes: Eyes | None = field(default_factory=Eyes)
    shelf: Shelf = field(default_factory=a_shelf)

    async def run(
        self,
        *files: Attachment,
        transcript: Transcript | None = None,
        options: RunOptions | None = None,
        **changes: Any,
    ) -> tuple[Run, Reading]:
        message = replace(a_message("What does this error mean?"), attachments=files, **changes)
        transcript = transcript or Transcript()
        options = options or RunOptions()
        run = await self.open_run(
            self.shelf, message=message, transcript=transcript, options=options, budget=BUDGET
        )
        run._download = self.download
        return run, Reading(run, transcript, self.eyes)

    async def download(self, attachment: Attachment, largest: int) -> bytes:
        self.downloads.append(attachment.name)
        return self.bodies.get(attachment.name) or drawn(f"{ERROR} in {attachment.name}")


@pytest.fixture
def stage(open_run: OpenRun) -> Stage:
    return Stage(open_run)


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize(
    ("locale", "zone", "title"),
    [
        ("en", "", "Picture sent by Ada, 31 May"),
        ("en-GB", "Asia/Tokyo", "Picture sent by Ada, 1 June"),
        ("zh-CN", "", "Ada 发送的图片，5 月 31 日"),
        ("zh-TW", "Asia/Tokyo", "Ada 傳送的圖片，6 月 1 日"),
    ],
)
async def test_a_picture_is_a_page_named_by_sender_and_day(
    stage: Stage, locale: str, zone: str, title: str
) -> None:
    at = datetime(2026, 5, 31, 22, 0, tzinfo=UTC)
    sent = file("a.png")
    run, reading = await stage.run(sent, locale=locale, at=at, options=RunOptions(zone=zone))
    asked, _ = await reading.read()
    (page,) = await run.read([sent.url])
    assert isinstance(page, Page)
    assert (page.url, page.title) == (sent.url, title)
    assert page.text == f"# {title}\n\n{ERROR} in a.png"
    assert reading.shown == {sent.url: f"{ERROR} in a.png"}
    assert asked.attachments == (replace(sent, shows=f"{ERROR} in a.png"),)
    assert not run.notes


async def test_pictures_are_read_at_once_and_once(stage: Stage) -> None:
    files = [file(f"{n}.png") for n in range(3)]
    for _ in range(2):  # the second attempt replays
        run, reading = await stage.run(*files)
        await reading.read()
        assert len(reading.shown) == 3
        assert run.usage.pages == 3
    assert stage.eyes is not None
    assert len(stage.eyes.asked) == len(stage.downloads) == 3
    assert sorted(stage.eyes.names) == ["0.png", "1.png", "2.png"]


async def test_a_picture_is_known_by_its_content_and_not_by_its_name(stage: Stage) -> None:
    stage.bodies = {"a.txt": drawn(ERROR), "b.png": b"Only words."}
    named, other = file("a.txt", media_type="text/plain"), file("b.png")
    run, reading = await stage.run(named, other)
    await reading.read()
    assert reading.shown == {other.url: "Only words."}
    (page,) = await run.read([named.url])
    assert isinstance(page, Page)
    assert ERROR in page.text


async def test_words_of_a_picture_may_be_searched_for(stage: Stage) -> None:
    stage.shelf = a_shelf("Quarzwerk")
    run, reading = await stage.run(file("a.png"))
    await reading.read()
    outcome = await run.search(Query("Quarzwerk fatal error E4711", 10))
    assert not outcome.withheld
    assert stage.shelf.searched == ["Quarzwerk fatal error E4711"]


async def test_keys_in_a_picture_are_not_searched_for(stage: Stage) -> None:
    key = "sk4Jq8Zt2Lw9Xc5Vb7"
    stage.bodies = {"a.png": drawn(f"Login failed: {key} is expired")}
    run, reading = await stage.run(file("a.png"))
    await reading.read()
    outcome = await run.search(Query(f"login failed {key}", 10))
    assert "looks like a key" in outcome.withheld
    assert stage.shelf.searched == []


# ---------------------------------------------------------------- which are read


def earlier(*names: str, by: str = "Liu") -> Entry:
    return Entry("person", by, "Look.", files=tuple(map(file, names)))


async def test_the_messages_own_pictures_come_first_then_the_latest_above(stage: Stage) -> None:
    transcript = Transcript((earlier("1.png", "2.png"), earlier("3.png", "4.png", by="Kim")))
    run, reading = await stage.run(file("a.png"), file("b.png"), transcript=transcript)
    asked, thread = await reading.read()
    assert all(file.shows for file in asked.attachments)
    assert [[bool(file.shows) for file in each.files] for each in thread.entries] == [
        [True],  # the other one was not read
        [True, True],
    ]
    names = [url.rpartition("/")[2] for url in reading.shown]
    assert names == ["a.png", "b.png", "3.png", "4.png", "1.png"]
    assert len(names) == MOST
    pages = await run.read(list(reading.shown))
    titles = [page.title for page in pages if isinstance(page, Page)]
    assert titles[2:] == ["Picture sent by Kim", "Picture sent by Kim", "Picture sent by Liu"]
    assert not run.notes


async def test_a_picture_sent_again_has_its_first_sender(stage: Stage) -> None:
    again, unknown = file("1.png", again=True), file("x.png", again=True)
    run, _ = await stage.run(again, unknown, transcript=Transcript((earlier("1.png"),)))
    pages = await run.read([again.url, unknown.url])
    titles = [page.title for page in pages if isinstance(page, Page)]
    assert titles == ["Picture sent by Liu", "x.png"]


async def test_pictures_beyond_the_limit_are_noted(stage: Stage) -> None:
    files = [file(f"{n}.png") for n in range(MOST + 1)]
    run, reading = await stage.run(*files)
    run.budget = replace(BUDGET, pages=20)
    asked, _ = await reading.read()
    assert len(reading.shown) == MOST
    assert run.notes == [
        "I could not read the file 5.png: At most 5 pictures are read for a question; send the "
        "others with the next one."
    ]
    assert asked.attachments[-1].name == "4.png"


async def test_a_picture_read_for_an_earlier_question_is_not_read_again(stage: Stage) -> None:
    sent = file("a.png", again=True)
    page = Page(sent.url, "Picture sent by Ada, 1 May", "# T\n\nOld", datetime.now(UTC))
    run, _ = await stage.run(sent)

    async def stored(url: str, since: datetime) -> Page | None:
        return page if url == sent.url else None

    run.library._recent_page = stored
    assert await run.read([sent.url]) == [page]
    assert stage.eyes is not None
    assert stage.eyes.asked == []


# ---------------------------------------------------------------- what is not read


FAILURES: list[tuple[Exception | None, str, str]] = [
    (
        PictureUnread(said("picture-no-sight", model="m-1")),
        "The model m-1 does not read",
        "m-1 不能读取",
    ),
    (ModelUnavailable("m is busy."), "m is busy.", "暂时打不开"),
    (ModelBroken("m wrote nonsense."), "m wrote nonsense.", "没有可以读取的文字"),
    (BudgetSpent("", text_id="budget-usd", limit=2), "2", "2"),
]


@pytest.mark.parametrize(("failure", "english", "chinese"), FAILURES)
async def test_a_failure_is_a_note_and_ends_nothing(
    stage: Stage, failure: Exception, english: str, chinese: str
) -> None:
    stage.eyes = Eyes(failure)
    sent = file("a.png")
    for _ in range(2):  # the second attempt replays
        run, reading = await stage.run(sent)
        asked, _ = await reading.read()
        (note,) = run.notes
        assert note.startswith("I could not read the file a.png: ")
        assert english in note
        assert asked.attachments == ()
    assert len(stage.eyes.asked) == 1
    run, reading = await stage.run(file("b.png"), locale="zh-CN")
    await reading.read()
    assert chinese in run.notes[0]


async def test_without_a_model_a_note_says_so(stage: Stage) -> None:
    stage.eyes = None
    run, reading = await stage.run(file("a.png"))
    await reading.read()
    assert run.notes == [
        "I could not read the file a.png: Pictures are read only with a model; write what it shows."
    ]


@pytest.mark.parametrize("eyes", [None, Eyes(PictureUnread(said("picture-no-sight", model="m")))])
async def test_a_picture_that_an_earlier_answer_told_of_is_not_noted_again(
    stage: Stage, eyes: Eyes | None
) -> None:
    stage.eyes = eyes
    answer = Entry("footnote", "Footnote", "It is unknown.")
    transcript = Transcript((earlier("1.png"), answer, earlier("2.png")))
    run, reading = await stage.run(file("3.png"), transcript=transcript)
    await reading.read()
    assert [note.partition(":")[0].rpartition(" ")[2] for note in run.notes] == ["3.png", "2.png"]


async def test_a_model_that_tells_nothing_is_noted(stage: Stage) -> None:
    stage.bodies = {"a.png": drawn("")}
    run, reading = await stage.run(file("a.png"))
    await reading.read()
    assert "The model saw nothing in it" in run.notes[0]


# ---------------------------------------------------------------- scans


SCAN = file("s.pdf", media_type="application/pdf")


def scans(*texts: str) -> list[tuple[str, Picture]]:
    pictures = (picture_in(drawn(text)) for text in texts)
    return [(str(n), each) for n, each in enumerate(pictures, start=1) if each is not None]


def with_scans(
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
    found: Sequence[tuple[str, Picture]],
    left: int = 0,
) -> None:
    async def scans_of(name: str, data: bytes) -> Scans:
        return found, left

    monkeypatch.setattr(shelf, "scans", scans_of)


async def test_scanned_pages_are_read_some_at_once_under_marked_headings(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"Valve {n}" for n in range(1, SEEN_TOGETHER + 2)]
    with_scans(stage.shelf, monkeypatch, scans(*texts), left=7)
    stage.bodies = {"s.pdf": b"%PDF-1.7 \0"}  # the shelf reads no text in it
    run, reading = await stage.run(SCAN)
    await reading.read()
    assert reading.shown == {}  # it is no picture, and read only where it is needed
    (page,) = await run.read([SCAN.url])
    assert isinstance(page, Page)
    assert page.title == "s.pdf"
    assert f"## Page 5 ({SCANNED})\n\nValve 5" in page.text
    assert page.text.endswith("## 7 more pages without text were not read")
    assert stage.eyes is not None
    assert sorted(stage.eyes.asked) == [texts[:SEEN_TOGETHER], texts[SEEN_TOGETHER:]]
    assert sorted(stage.eyes.names) == [f"s.pdf, page {n}" for n in range(1, 6)]


async def test_scanned_pages_follow_the_text_of_the_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_scans(stage.shelf, monkeypatch, scans("Valve 1"))
    stage.bodies = {"s.pdf": b"%PDF-1.7 Words."}
    run, _ = await stage.run(SCAN)
    (page,) = await run.read([SCAN.url])
    assert isinstance(page, Page)
    assert page.text == f"%PDF-1.7 Words.\n\n## Page 1 ({SCANNED})\n\nValve 1"
    assert page == replace(page, hash=Page(page.url, "", page.text, page.fetched_at).hash)


async def test_a_model_that_does_not_see_costs_a_document_only_its_scans(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_scans(stage.shelf, monkeypatch, scans("Valve 1"))
    stage.eyes = Eyes(PictureUnread(said("picture-no-sight", model="m-1")))
    stage.bodies = {"s.pdf": b"%PDF-1.7 Words.", "all.pdf": b"%PDF-1.7 \0"}
    all_scans = file("all.pdf", media_type="application/pdf")
    run, _ = await stage.run(SCAN, all_scans)
    page, problem = await run.read([SCAN.url, all_scans.url])
    assert isinstance(page, Page)
    assert page.text == f"%PDF-1.7 Words.\n\n{NOT_READ}"
    assert problem == "The model m-1 does not read pictures; write what it shows."


@pytest.mark.parametrize("body", [b"%PDF-1.7 Words.", b"%PDF-1.7 \0"])
async def test_without_a_model_a_document_is_read_as_before(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    with_scans(stage.shelf, monkeypatch, scans("Valve 1"))
    stage.bodies, stage.eyes = {"s.pdf": body}, None
    run, _ = await stage.run(SCAN)
    (page,) = await run.read([SCAN.url])
    assert (page if isinstance(page, str) else page.text) in (
        "s.pdf holds no text.",
        "%PDF-1.7 Words.",
    )
