"""The page of the documents: what is found, who may read it, and what the index gives."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.core.readership import DocumentCollection
from bot.search.indexer import Indexer
from tests.unit.adapters.web.conftest import Browser, OpenConsole, Running
from tests.unit.adapters.web.pages.insight_stage import HOSTILE, Stage, document, opened
from tests.unit.adapters.web.pages.test_history import PROXY
from tests.unit.search.readers import Inside
from tests.unit.search.test_indexer import write

TIDES = "# Tides\n\n## Of the harbour\n\nThe tide comes twice a day.\n\n## Bells\n\nA bell rings."
FILES = {
    "tides.md": TIDES,
    "copy of tides.md": TIDES,
    "empty.md": "",
    "one.png": "x",
    "hr/pay.md": "# Pay\n\nThe heron earns most.",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        write(tmp_path / "docs" / name, text)
    return tmp_path / "docs"


def index(stage: Stage) -> None:
    settings = stage.console.settings
    indexer = Indexer(settings.index_path, areas=settings.collection_paths, readers=Inside())
    indexer.index(settings.docs)


@pytest.fixture
async def stage(tmp_path: Path, docs: Path) -> AsyncIterator[Stage]:
    async with opened(tmp_path, docs=(str(docs),)) as stage:
        index(stage)
        yield stage


def words(page: Any, path: str) -> list[str]:
    return [" ".join(each.text_content().split()) for each in page.xpath(path)]


async def test_each_folder_says_what_became_of_its_files(stage: Stage, docs: Path) -> None:
    page = document(await stage.get("/sources"))
    assert words(page, "//article//code") == [str(docs)]
    assert words(page, "//article/p")[1].startswith("2 of 5 files are searched. Last file read")
    assert words(page, "//article/ul/li") == [
        *("Searched 2", "Same text as another 1", "Empty 1", "Unsupported type 1"),
    ]
    assert words(page, "//article/p[@class='small']") == [
        "Set outside of the console, as FOOTNOTE_DOCS.",
        *("Markdown 2", "Who may read them: everybody who may ask"),
    ]


async def test_each_count_leads_to_its_files(stage: Stage, docs: Path) -> None:
    page = document(await stage.get("/sources"))
    lists = [a.get("href") for a in page.xpath("//article/ul//a")]
    rows = [words(document(await stage.get(each)), "//tr/*") for each in lists]
    assert rows == [
        ["hr/pay.md", "tides.md"],
        ["copy of tides.md", f"same text as {docs}/tides.md", ""],
        ["empty.md", "empty.md is empty; there is nothing to read in it.", ""],
        ["docs", ".png", ""],
    ]


async def test_a_long_list_goes_on(stage: Stage, docs: Path) -> None:
    for i in range(60):
        write(docs / "more" / f"{i:02}.md", "")
    index(stage)
    first = document(await stage.get(f"/sources/files?folder={docs}&state=empty"))
    (more,) = first.xpath("//p[@class='pages']/a")
    last = document(await stage.get(more.get("href")))
    assert len(first.xpath("//tr")) + len(last.xpath("//tr")) == 61
    assert words(last, "//p[@class='pages']/a") == ["Back"]


@pytest.mark.parametrize("query", ["state=empty", "folder=/etc&state=empty", "FOLDER", "SKIP"])
async def test_nothing_else_is_listed(stage: Stage, docs: Path, query: str) -> None:
    query = query.replace("FOLDER", f"folder={docs}&state=all")
    query = query.replace("SKIP", f"folder={docs}&state=empty&skip=-1")
    assert (await stage.get(f"/sources/files?{query}")).status_code == 404


async def test_the_index_gives_its_passages_with_their_places(stage: Stage) -> None:
    page = document(await stage.get("/sources/search?q=harbour+bells"))
    assert words(page, "//ol//h2") == ["Tides"]
    assert words(page, "//ol//p[@class='muted']")[0].startswith("docs/tides.md · Tides › ")
    assert {each.lower() for each in words(page, "//ol//mark")} <= {"harbour", "bell", "bells"}
    (place,) = {a.get("href") for a in page.xpath("//ol//a")}
    opened = document(await stage.get(place))
    assert words(opened, "//div[@class='page-text']//mark")
    assert opened.xpath("//*[@id='at']")
    assert words(opened, "//div[@class='page-text']//mark") != words(opened, "//div//p")


async def test_chinese_words_are_marked(stage: Stage, docs: Path) -> None:
    write(docs / "wall.md", "# 长城\n\n秦始皇统一中国后修筑万里长城。")
    index(stage)
    page = document(await stage.get("/sources/search?q=万里长城"))
    assert "".join(words(page, "//ol//mark")) == "万里长城"


async def test_a_search_shows_only_what_the_visitor_may_read(tmp_path: Path, docs: Path) -> None:
    """The rights of documents hold for operators too; the page names what is left out."""
    hr = DocumentCollection(name="Human resources", paths=(str(docs / "hr"),), people=("U1",))
    async with opened(tmp_path, docs=(str(docs),), collections=(hr,)) as stage:
        index(stage)
        page = document(await stage.get("/sources/search?q=heron"))
        assert words(page, "//ol/li") == []
        assert "Human resources" in words(page, "//p[@class='muted']")[0]
        pay = (docs / "hr" / "pay.md").as_uri()
        assert (await stage.get(f"/sources/text?url={pay}")).status_code == 403
        listed = document(await stage.get(f"/sources/files?folder={docs}&state=document"))
        assert words(listed, "//tr") == ["hr/pay.md", "tides.md"]
        assert words(listed, "//tr//a") == ["tides.md"]
        page = document(await stage.get("/sources"))
        assert words(page, "//tbody/tr/*") == [
            *("in no collection", "everybody who may ask", "1"),
            *("Human resources", "people U1", "1"),
        ]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "https://a.example/", "x", ""])
async def test_only_what_is_indexed_is_opened(stage: Stage, url: str) -> None:
    assert (await stage.get(f"/sources/text?url={url}")).status_code == 404


async def test_hostile_names_and_texts_are_shown_as_they_are(stage: Stage, docs: Path) -> None:
    write(docs / "<script>alert(1)<script>.md", f"# {HOSTILE}\n\nheron {HOSTILE}")
    index(stage)
    for path in ("/sources/search?q=heron", f"/sources/files?folder={docs}&state=document"):
        text = (await stage.get(path)).text
        assert "alert(1)" in text
        assert not re.search(r"<script>alert|<img", text)


async def test_without_documents_the_page_says_so(open_console: OpenConsole) -> None:
    browser = await (await open_console(providers=("wikipedia",))).browser()
    page = document(await browser.get("/sources"))
    assert words(page, "//header//p[@class='lead']")[0].startswith("No documents yet.")
    assert words(page, "//section//li") == ["Search engines: wikipedia"]
    assert words(document(await browser.get("/sources/search?q=heron")), "//ol/li") == []


async def test_while_the_server_starts_anew_the_page_waits_for_it(tmp_path: Path) -> None:
    """What it could say then is of the time before."""
    async with opened(tmp_path) as stage:
        page = document(await stage.get("/sources"))
        assert "starts with the new documents" in words(page, "//*[@role='status']")[0]
        assert page.xpath("//@data-refresh") == ["/sources"]
        assert words(page, "//header//p[@class='lead']") == []
        assert words(page, "//section//li") == ["Search engines: wikipedia"]
        assert words(document(await stage.get("/sources/search?q=heron")), "//ol/li") == []


async def test_a_folder_that_is_gone_is_named_and_hides_no_other(
    tmp_path: Path, docs: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    async with opened(tmp_path, docs=(str(docs), str(gone))) as stage:
        index(stage)
        gone.rmdir()
        page = document(await stage.get("/sources"))
        assert words(page, "//section/p[@class='lead']")[0] == "2 of 5 files are searched."
        assert words(page, "//p[@class='doubt']")[0].startswith(
            f"There is no file or folder {gone}"
        )


async def test_only_operators_see_it(tmp_path: Path, docs: Path) -> None:
    proxy = {"console_user_header": "X-User", "public_url": "https://footnote.example"}
    async with opened(tmp_path, docs=(str(docs),), admins=("root",), **proxy) as stage:
        index(stage)
        pages = ("", "/files?state=empty", "/search?q=x", "/text?url=x", "/index")
        for path in pages:
            one = await stage.get(
                f"/sources{path}", **{"X-User": "ann", "Host": "footnote.example"}
            )
            assert one.status_code == (303 if path == "/index" else 403), path


# ---------------------------------------------------------------- adding and removing


class Followed:
    """Notes the paths at which somebody asked for a look."""

    def __init__(self, here: Running) -> None:
        self.paths: list[list[str]] = []
        indexing = here.platform._console.observed.documents
        indexing.again = lambda paths: self.paths.append(list(paths))


async def upload(browser: Browser, name: str, body: bytes, **fields: str) -> httpx.Response:
    return await browser.client.post(
        "/sources/upload",
        data=fields,
        files=[("files", (name, body, "text/markdown"))],
    )


async def change(browser: Browser, verb: str, **fields: str) -> httpx.Response:
    return await browser.post(f"/sources/{verb}", **fields)


def alert(answer: httpx.Response) -> str:
    (told,) = words(document(answer), "//*[@role='alert']")
    return str(told)


async def test_the_first_upload_restarts_with_its_folder(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    here = await open_console(data_dir=tmp_path)
    browser = await here.browser()
    page = document(await browser.get("/sources"))
    assert words(page, "//p[@class='lead']")[0].startswith("No documents yet.")
    answer = await upload(browser, "../../tides.md", b"# Tides")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sources")
    assert (tmp_path / "sources" / "tides.md").read_bytes() == b"# Tides"
    assert here.reception.restart.is_set()
    while_it_starts = [await browser.get("/sources")]
    here.platform._console.reception = None  # it works on the last questions, and opens again
    while_it_starts.append(await browser.get("/sources"))
    for page in map(document, while_it_starts):
        assert "starts with the new documents" in words(page, "//*[@role='status']")[0]
        assert page.xpath("//*[@data-refresh='/sources']")


async def test_what_went_wrong_and_what_is_asked_stay_while_files_are_indexed(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    here = await open_console(data_dir=tmp_path)
    browser = await here.browser()
    here.platform._console.observed.documents.begin()
    assert document(await browser.get("/sources")).xpath("//*[@data-refresh]")
    for path in (docs, docs / "gone"):
        page = document(await change(browser, "add-folder", path=str(path)))
        assert words(page, "//*[@role='alert']")
        assert not page.xpath("//*[@data-refresh or @http-equiv='refresh']")


async def test_a_later_upload_is_indexed_at_once_and_replaces_only_when_asked(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    uploads = tmp_path / "sources"
    write(uploads / "tides.md", "# Tides")
    here = await open_console(data_dir=tmp_path, docs=(str(uploads),))
    browser, followed = await here.browser(), Followed(here)
    answer = await upload(browser, "tides.md", b"# Other")
    assert answer.status_code == 422
    assert alert(answer).startswith("There is a file tides.md already.")
    assert (uploads / "tides.md").read_text() == "# Tides"
    assert followed.paths == []
    assert (await upload(browser, "tides.md", b"# Other", replace="yes")).status_code == 303
    assert (uploads / "tides.md").read_text() == "# Other"
    assert followed.paths == [[str(uploads)]]
    assert not here.reception.restart.is_set()


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("cat.png", b"\x89PNG\r\n\x1a\n", "is not supported"),
        ("tides.md", b" ", "The file tides.md is empty."),
        ("tides.pdf", b"no PDF", "tides.pdf"),
        ("", b"", "Choose at least one file."),
        ("large.md", b"word " * 5_000, "larger than 0.01 MB"),
    ],
)
async def test_a_file_that_cannot_be_searched_is_refused_at_once(
    open_console: OpenConsole, tmp_path: Path, name: str, body: bytes, told: str
) -> None:
    here = await open_console(data_dir=tmp_path, fetch_max_bytes=10_000)
    answer = await upload(await here.browser(), name, body)
    assert answer.status_code in (413, 422)
    assert told in alert(answer)
    assert not (tmp_path / "sources").exists()


async def test_an_uploaded_file_is_removed_and_nothing_else(
    open_console: OpenConsole, tmp_path: Path
) -> None:
    uploads = tmp_path / "sources"
    for name in ("tides.md", "kept.md"):
        write(uploads / name, f"# {name}")
    here = await open_console(data_dir=tmp_path, docs=(str(uploads),))
    browser, followed = await here.browser(), Followed(here)
    Indexer(here.reception.settings.index_path, readers=Inside()).index([uploads])
    listed = document(await browser.get(f"/sources/files?folder={uploads}&state=document"))
    assert words(listed, "//details//summary")[-2:] == ["Remove kept.md", "Remove tides.md"]
    assert (await change(browser, "remove", name="tides.md")).status_code == 303
    assert [each.name for each in uploads.iterdir()] == ["kept.md"]
    assert followed.paths == [[str(uploads)]]
    answer = await change(browser, "remove", name="../footnote.sqlite")
    assert (answer.status_code, (tmp_path / "footnote.sqlite").exists()) == (422, True)


async def test_the_page_follows_the_indexing_until_it_is_over(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    """But nothing takes away a question that it asks, or a refusal."""
    here = await open_console(data_dir=tmp_path / "data", docs=(str(docs / "hr"),))
    browser, indexing = await here.browser(), here.platform._console.observed.documents
    indexing.become("ok")
    assert document(await browser.get("/sources")).xpath("//@data-refresh") == []
    indexing.become("indexing")
    page = document(await browser.get("/sources"))
    assert page.xpath("//@data-refresh") == ["/sources"]
    assert "No files" not in page.text_content()
    for path in (str(docs), "/nowhere"):
        shown = document(await change(browser, "add-folder", path=path))
        assert shown.xpath("//@data-refresh") == []


async def test_a_folder_is_looked_into_before_it_is_added(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    here = await open_console(data_dir=tmp_path / "data")
    browser = await here.browser()
    answer = await change(browser, "add-folder", path=f" {docs} ")
    assert answer.status_code == 200
    assert f"{docs} has 5 files, 4 of kinds that are read. Everybody who may ask" in alert(answer)
    assert not here.reception.restart.is_set()
    assert (await change(browser, "add-folder", path=str(docs), sure="yes")).status_code == 303
    assert here.reception.restart.is_set()
    page = document(await browser.get("/sources"))
    assert words(page, "//article/p")[0] == "Added here."
    assert page.xpath("//@data-refresh") == ["/sources"]
    assert page.xpath("//details[summary='Remove the folder']/@data-own") == ["open"]
    assert (await change(browser, "drop-folder", path=str(docs))).status_code == 303
    assert words(document(await browser.get("/sources")), "//article") == []
    answer = await change(browser, "add-folder", path="/nowhere")
    assert (answer.status_code, alert(answer)[:10]) == (422, "“/nowhere”")


CHANGES = ("upload", "remove", "add-folder", "drop-folder", "index")


async def test_a_form_of_another_site_changes_nothing(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    here = await open_console(data_dir=tmp_path)
    browser = await here.browser()
    del browser.client.headers["Sec-Fetch-Site"]
    for verb in CHANGES:
        sent = {"path": str(docs), "sure": "yes", "name": "x"}
        assert (await browser.client.post(f"/sources/{verb}", data=sent)).status_code == 403
    assert not here.reception.restart.is_set()


async def test_where_the_console_keeps_no_settings_nothing_is_added(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    here = await open_console(data_dir=tmp_path, console_setup="off")
    browser = await here.browser()
    page = document(await browser.get("/sources"))
    assert "FOOTNOTE_CONSOLE_SETUP=on" in words(page, "//p[@class='lead']")[1]
    assert page.xpath("//input[@type='file']") == []
    for verb in CHANGES[:4]:
        assert (await change(browser, verb, path=str(docs), sure="yes")).status_code == 403
    assert not here.reception.restart.is_set()


async def test_who_is_no_operator_changes_nothing(
    open_console: OpenConsole, tmp_path: Path, docs: Path
) -> None:
    here = await open_console(data_dir=tmp_path, console_setup="on", **PROXY)
    ann = await here.browser(**{"X-User": "ann"})
    for verb in CHANGES:
        assert (await change(ann, verb, path=str(docs), sure="yes")).status_code == 403
    assert (await ann.get("/sources")).status_code == 403
    assert ">Sources<" not in (await ann.get("/")).text
