"""Files that come with a question: taken, refused with a reason, kept, and taken away."""

from __future__ import annotations

import asyncio
import re
import time
from datetime import UTC, datetime
from typing import Any
from unicodedata import category

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.forms import safe_name
from adapters.web.limits import LONGEST_FILE_NAME, MOST_FILES
from bot.core.posting import RunRef
from bot.pages.pool import reading_for
from bot.pages.workers import Workers
from bot.storage.conversations import Files
from bot.storage.store import RunRecord
from bot.storage.tables import files
from tests.fakes.pdf import pdf, typed
from tests.fakes.pictures import drawn, scanned
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running
from tests.unit.pages.conftest import Here

QUESTION = "How tall is the tower?"
NOTES = ("notes.md", b"# Towers\n\nThe tower is 330 m tall.\n", "text/markdown")
LOCKED = pdf([typed(["All about towers."])], locked=True)
Sent = tuple[str, bytes, str]


@pytest.fixture(autouse=True)
def _read_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process: each test would start one of its own."""
    monkeypatch.setattr(Workers, "extract", Here.extract)


async def ask(browser: Browser, *sent: Sent, **fields: Any) -> httpx.Response:
    """The page's form, as a script sends it."""
    return await browser.client.post(
        "/ask",
        data={"question": QUESTION, **fields},
        files=[("files", one) for one in sent] or [("files", ("", b"", ""))],
        headers={"Accept": "application/json", **fields.pop("headers", {})},
    )


async def asked(browser: Browser, *sent: Sent, **fields: Any) -> RunRecord:
    answer = await ask(browser, *sent, **fields)
    assert answer.status_code == 200, answer.text
    record = await browser.running.store.run(answer.json()["run"])
    assert record is not None
    return record


async def kept(here: Running) -> int:
    async with here.store.database.read() as db:
        return int(await db.scalar(sa.select(sa.func.count()).select_from(files)) or 0)


def reference(here: Running, record: RunRecord) -> RunRef:
    return here.reception._service.reference(record)


# ---------------------------------------------------------------- taken


async def test_a_file_is_kept_with_its_question_for_whoever_answers_it(
    here: Running, browser: Browser
) -> None:
    record = await asked(browser, NOTES)
    (file,) = record.message.attachments
    assert (file.name, file.media_type) == ("notes.md", "text/markdown")
    poster = here.platform.poster
    assert await poster.download(reference(here, record), file, 1_000) == NOTES[1]


@pytest.mark.parametrize(
    ("name", "body", "media_type"),
    [
        ("a.eml", b"From: Ann <a@x.example>\nSubject: Towers\n\nIt is tall.\n", "message/rfc822"),
        ("a.py", b"TALL = 330\n", "text/x-python"),
        ("a.ts", b"const tall = 330;\n", "video/mp2t"),
        ("a.yaml", b"tall: 330\n", "application/octet-stream"),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nIt is tall.\n", "text/vtt"),
    ],
)
async def test_files_of_many_kinds_are_taken(
    browser: Browser, name: str, body: bytes, media_type: str
) -> None:
    (file,) = (await asked(browser, (name, body, media_type))).message.attachments
    assert file.name == name


async def test_a_form_without_scripts_brings_files_too(browser: Browser) -> None:
    form = {"question": QUESTION}
    answer = await browser.client.post("/ask", data=form, files={"files": NOTES})
    assert answer.status_code == 303
    page = await browser.get(answer.headers["location"].partition("#")[0])
    assert "notes.md" in page.text


async def test_a_form_whose_file_field_was_left_empty_has_none(browser: Browser) -> None:
    assert (await asked(browser)).message.attachments == ()


async def test_what_is_sent_twice_is_kept_once(here: Running, browser: Browser) -> None:
    first = await asked(browser, NOTES, event="e1")
    again = await asked(browser, NOTES, event="e1")
    assert first.id == again.id
    assert await kept(here) == 1
    other = ("other.md", b"Something else.", "text/markdown")
    assert (await asked(browser, other, event="e1")).message.attachments == (
        first.message.attachments
    ), "the first of them counts"


async def test_the_api_takes_files_and_tells_of_them(here: Running, browser: Browser) -> None:
    form = {"question": QUESTION, "depth": "quick"}
    answer = await browser.client.post("/api/questions", data=form, files=[("files", NOTES)] * 2)
    assert answer.status_code == 202, answer.text
    run = (await browser.get(answer.json()["url"])).json()
    assert [file["name"] for file in run["files"]] == ["notes.md"] * 2
    assert len({file["url"] for file in run["files"]}) == 2
    assert run["depth"] == "quick"


async def test_names_are_read_as_browsers_write_them(browser: Browser) -> None:
    """https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data"""
    for written, known_as in [
        ("差旅 报告.txt", "差旅 报告.txt"),
        ("a; filename=b.txt", "a; filename=b.txt"),
        ("with %22quotes%22.txt", 'with "quotes".txt'),
        ("tab\there.txt", "tab here.txt"),
    ]:
        parts = (
            f'--x\r\nContent-Disposition: form-data; name="files"; filename="{written}"\r\n'
            "Content-Type: text/plain\r\n\r\nThe tower is tall.\r\n"
            f'--x\r\nContent-Disposition: form-data; name="question"\r\n\r\n{QUESTION}\r\n--x--\r\n'
        )
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await browser.client.post(
            "/api/questions", content=parts.encode(), headers=headers
        )
        assert answer.status_code == 202, answer.text
        run = (await browser.get(answer.json()["url"])).json()
        assert [file["name"] for file in run["files"]] == [known_as]


async def test_what_is_no_form_of_the_page_brings_no_file(browser: Browser) -> None:
    del browser.client.headers["Sec-Fetch-Site"]
    form = {"question": QUESTION}
    answer = await browser.client.post("/ask", data=form, files={"files": NOTES})
    assert answer.status_code == 403


# ---------------------------------------------------------------- refused


async def test_what_cannot_be_read_is_refused_with_a_reason(open_console: OpenConsole) -> None:
    here = await open_console(fetch_max_bytes=10_000)
    browser = await here.browser()
    for sent, status, words in [
        (("empty.txt", b"", "text/plain"), 422, "empty.txt is empty"),
        (("blank.md", b" \n\n ", "text/markdown"), 422, "blank.md is empty"),
        (
            ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(40), "image/png"),
            422,
            "photo.png: It is a damaged picture",
        ),
        (("sheet.xlsx", b"PK\x03\x04" + bytes(40), ""), 422, "Office document"),
        (("big.txt", b"word " * 4_000, "text/plain"), 413, "big.txt is larger than 0.01 MB"),
        (("locked.pdf", LOCKED, "application/pdf"), 422, "password"),
    ]:
        answer = await ask(browser, NOTES, sent)
        assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
        assert await kept(here) == 0


async def test_reasons_are_given_in_the_readers_language(browser: Browser) -> None:
    photo = ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(40), "image/png")
    browser.client.headers["Accept-Language"] = "zh-CN"
    answer = await ask(browser, photo)
    assert "无法读取文件" in answer.json()["error"]


async def test_too_many_files_are_refused(browser: Browser) -> None:
    answer = await ask(browser, *[NOTES] * (MOST_FILES + 1))
    assert answer.status_code == 422
    assert f"At most {MOST_FILES}" in answer.json()["error"]


async def test_a_body_without_end_is_not_heard_to_its_end(
    browser: Browser,
) -> None:
    heard = 0

    async def endless() -> Any:
        nonlocal heard
        while True:
            heard += 1_000_000
            yield bytes(1_000_000)

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await browser.client.post("/api/questions", content=endless(), headers=headers)
    assert answer.status_code == 413
    assert "more than 25 MB at once" in answer.json()["error"]
    assert heard < 130_000_000


async def test_what_is_no_form_is_refused(browser: Browser) -> None:
    for kind, body in [
        ("multipart/form-data", b"--x\r\n\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"nothing of the kind"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; na"),
        ("multipart/form-data; boundary=x", b"--x\r\nno header\r\n\r\nvalue\r\n--x--\r\n"),
        (f"multipart/form-data; boundary={'x' * 200}", b"--x\r\n"),
        (
            "multipart/form-data; boundary=x",
            b"--x\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y--\r\n--x--\r\n",
        ),
    ]:
        headers = {"Content-Type": kind}
        answer = await browser.client.post("/api/questions", content=body, headers=headers)
        assert answer.status_code == 400, answer.text


FIELD = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\nv\r\n'
FILE = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n%s\r\n'
QUESTION_FIELD = FIELD.replace(b"v\r", QUESTION.encode() + b"\r") % b"question"
HOSTILE_FORMS = {
    "tiny fields": b"".join(FIELD % str(n).encode() for n in range(15_000)),
    "one field many times": FIELD % b"question" * 15_000,
    "empty files": FILE % b"" * 15_000,
    "many headers": b"--x\r\n" + b"a: b\r\n" * 300_000 + b"\r\nv\r\n",
    "a long header": b"--x\r\n" + b"a" * 1_000_000 + b": b\r\n\r\nv\r\n",
    "a long name": FIELD % (b"a" * 1_000_000),
    "a long field": FIELD.replace(b"v", b"v" * 1_000_000) % b"question",
    "line ends before": b"\r\n" * 500_000,
    "line ends": FILE % (b"\r\n" * 500_000),
    "boundaries that are none": FILE % (b"\r\n--y" * 200_000),
    "dashes": FILE % (b"-" * 1_000_000),
    "parts in parts": b"--x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n" * 15_000,
}


async def test_no_form_holds_the_event_loop(browser: Browser) -> None:
    """Processor time, so that a busy machine changes nothing; 1 MB took 2.5 s once."""
    for body in HOSTILE_FORMS.values():
        began = time.process_time()
        answer = await browser.client.post(
            "/api/questions",
            content=body + QUESTION_FIELD + b"--x--\r\n",
            headers={"Content-Type": "multipart/form-data; boundary=x"},
        )
        assert answer.status_code in (202, 400, 413, 422), answer.text
        assert time.process_time() - began < 1.5


@given(st.binary(max_size=400))
def test_names_are_made_harmless(raw: bytes) -> None:
    name = safe_name(raw.decode("utf-8", "replace"))
    assert 0 < len(name) <= LONGEST_FILE_NAME
    assert not any(category(character)[0] == "C" for character in name)
    assert not set(name) & {"/", "\\"}
    assert name == safe_name(name)


@pytest.mark.parametrize(
    ("given_name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\plan.md", "plan.md"),
        ("a\u202egpj.exe\r\nX: y", "a gpj.exe X: y"),
        ("差旅 报告.pdf", "差旅 报告.pdf"),
        ("...", "file"),
        ("", "file"),
        ("x" * 300 + ".html", "x" * (LONGEST_FILE_NAME - 5) + ".html"),
    ],
)
def test_a_name_stays_what_people_know(given_name: str, safe: str) -> None:
    assert safe_name(given_name) == safe


# ---------------------------------------------------------------- given back, and used again


async def test_a_file_is_given_back_as_a_download_and_never_as_a_page(
    here: Running, browser: Browser
) -> None:
    page = ("page.html", b"<html><body><p>Towers.</p><script>alert(1)</script></body></html>")
    record = await asked(browser, (*page, "text/html"))
    answer = await browser.get(f"/runs/{record.id}/files/1")
    assert answer.content == page[1]
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert (await browser.get(f"/runs/{record.id}/files/2")).status_code == 404
    assert (await browser.get(f"/runs/{record.id}/files/0")).status_code == 404


async def test_a_picture_is_shown_with_its_words_or_until_they_are_read_its_name(
    here: Running, browser: Browser
) -> None:
    record = await asked(browser, ("a tower.png", drawn("Tower"), "image/png"))
    path = f"/runs/{record.id}/files/1"
    answer = await browser.get(path)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-disposition"] == "inline"
    assert "sandbox" in answer.headers["content-security-policy"]
    page = (await browser.get(f"/threads/{record.message.thread.thread}")).text
    assert re.search(f'<img src="{path}" alt="(Tower|a tower.png)"', page)


async def test_nobody_else_gets_it(open_console: OpenConsole) -> None:
    here = await open_console(console_user_header="X-User")
    ada, bob = await here.browser(**{"X-User": "ada"}), await here.browser(**{"X-User": "bob"})
    record = await asked(ada, NOTES)
    path = f"/runs/{record.id}/files/1"
    assert (await ada.get(path)).status_code == 200
    assert (await bob.get(path)).status_code == 404


async def test_a_follow_up_may_use_it_again(here: Running, browser: Browser) -> None:
    first = await asked(browser, NOTES)
    (file,) = first.message.attachments
    thread = first.message.thread.thread
    page = (await browser.get(f"/threads/{thread}")).text
    assert f'name="again" value="{file.url}" checked' in page
    second = await asked(browser, thread=thread, again=file.url)
    (again,) = second.message.attachments
    assert (again.url, again.again) == (file.url, True)
    third = await asked(browser, thread=thread)
    assert third.message.attachments == ()
    page = (await browser.get(f"/threads/{thread}")).text
    assert f'name="again" value="{file.url}">' in page, "one who did without it goes on without"
    poster = here.platform.poster
    assert await poster.download(reference(here, second), again, 1_000) == NOTES[1]


async def test_files_of_other_conversations_are_not_at_hand(browser: Browser) -> None:
    (file,) = (await asked(browser, NOTES)).message.attachments
    other = await asked(browser)
    answer = await ask(browser, thread=other.message.thread.thread, again=file.url)
    assert answer.status_code == 422
    assert "no longer there" in answer.json()["error"]


async def test_it_goes_when_its_conversation_is_forgotten(here: Running, browser: Browser) -> None:
    record = await asked(browser, NOTES)
    await here.ended(record.id)
    await here.reception.forget_author(record.message)
    assert await kept(here) == 0


# ---------------------------------------------------------------- how much in a day

SPENT = "Each person can send 0.01 MB of files a day, and these would be more."


@pytest.fixture
def ten_kilobytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.research.budget.UPLOADS", 0.01)


def a_file(size: int, name: str = "notes.md") -> Sent:
    return name, (b"# Towers\n\n" + b"Tower is tall. " * 700)[:size], "text/markdown"


@pytest.mark.usefixtures("ten_kilobytes")
async def test_a_person_sends_so_many_bytes_a_day_and_no_more(open_console: OpenConsole) -> None:
    here = await open_console(console_user_header="X-User")
    ada, bob = await here.browser(**{"X-User": "ada"}), await here.browser(**{"X-User": "bob"})
    first = await asked(ada, a_file(3_000), a_file(3_000, "more.md"))
    refused = await ask(ada, a_file(4_001))
    assert refused.status_code == 403
    assert refused.json()["error"].startswith(f"{SPENT} You can send files again at 00:00 UTC, in")
    assert await kept(here) == 2, "nothing of it is stored"
    await asked(ada, a_file(4_000))
    assert (await ask(ada, a_file(1))).status_code == 403
    await asked(ada)  # questions without files are not limited
    await asked(bob, a_file(9_000))
    await here.ended(first.id)
    await ada.send(f"/runs/{first.id}/delete")
    assert (await ask(ada, a_file(1))).status_code == 403, "deleting gives nothing back"
    use = await Files(here.store.database).use(datetime.now(UTC).date())
    assert (use.files, use.stored) == (2, 13_000)
    assert (use.today, use.most) == (19_000, 10_000)


@pytest.mark.usefixtures("ten_kilobytes")
async def test_files_sent_at_once_are_not_more_than_those_sent_one_by_one(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.console.QUESTIONS", 100)
    here = await open_console()
    browser = await here.browser()
    await browser.get("/")
    sent = await asyncio.gather(*(ask(browser, a_file(1_000)) for _ in range(25)))
    assert sorted(each.status_code for each in sent) == [200] * 10 + [403] * 15
    assert await kept(here) == 10


@pytest.mark.usefixtures("ten_kilobytes")
async def test_a_request_is_repeated_though_its_files_were_the_last_of_the_day(
    open_console: OpenConsole,
) -> None:
    browser = await (await open_console()).browser()
    first, again = [await asked(browser, a_file(9_000), event="same") for _ in range(2)]
    assert first.id == again.id


@pytest.mark.usefixtures("ten_kilobytes")
async def test_files_beyond_the_limit_are_refused_before_they_are_read(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def extract(*_: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(Workers, "extract", extract)
    browser = await (await open_console()).browser()
    assert (await ask(browser, a_file(10_001))).status_code == 403


async def test_uploads_are_checked_for_their_person(
    open_console: OpenConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that one person's slow files do not hold up another's: see ``bot.pages.pool``."""
    seen: set[str] = set()

    async def extract(*_: object) -> None:
        seen.add(reading_for.get().person)

    monkeypatch.setattr(Workers, "extract", extract)
    here = await open_console(console_user_header="X-User")
    for name in ("ada", "bob"):
        await asked(await here.browser(**{"X-User": name}), NOTES)
    assert seen == {"ada", "bob"}


# ---------------------------------------------------------------- pictures


async def test_pictures_and_scans_are_taken_and_kept(here: Running, browser: Browser) -> None:
    picture = ("image.png", drawn("Error E4711"), "image/png")
    scan = ("scan.pdf", scanned(["A page."]), "application/pdf")
    record = await asked(browser, picture, scan)
    assert [file.name for file in record.message.attachments] == ["image.png", "scan.pdf"]
    assert await kept(here) == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (drawn("Error")[:20], "It is a damaged picture"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\0\1", "8,000 pixels"),
    ],
)
async def test_a_picture_that_no_model_takes_is_refused_with_a_reason(
    browser: Browser, data: bytes, why: str
) -> None:
    answer = await ask(browser, ("image.png", data, "image/png"))
    assert answer.status_code == 422
    assert why in answer.json()["error"]


async def test_the_button_offers_pictures(browser: Browser) -> None:
    page = (await browser.get("/")).text
    accepted = re.search(r'<input[^>]*type="file"[^>]*accept="([^"]*)"', page)
    assert accepted is not None
    assert {".png", ".jpg", ".webp", ".gif", "image/png"} <= set(accepted[1].split(","))
