"""The sources that questions may search, shown on the page and chosen for each question."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.search.indexer import Indexer
from tests.unit.adapters.web.conftest import Browser, OpenConsole
from tests.unit.adapters.web.pages.test_conversation import thread_of

pytestmark = pytest.mark.usefixtures("reading_inside")

PROXY = {
    "public_url": "https://footnote.example",
    "console_user_header": "X-User",
    "console_proxies": ["127.0.0.1"],
}
SWITCH = re.compile(r'<input type="checkbox" name="source" value="([^"]*)"( checked)?>')


@pytest.fixture
def documents(tmp_path: Path) -> dict[str, Any]:
    """Settings with two collections, one of them for ada, and a document in neither."""
    docs = tmp_path / "docs"
    for name in ("handbook", "board"):
        (docs / name).mkdir(parents=True)
        text = f"# The {name}\n\n## Installing plugins\n\n" + f"All about the {name}. " * 20
        (docs / name / "a.md").write_text(text, encoding="utf-8")
    (docs / "loose.md").write_text("# Loose\n\nA loose sheet of paper. " * 9, encoding="utf-8")
    settings = {
        "docs": [str(docs)],
        "data_dir": tmp_path,
        "collections": [
            {"name": "Handbook", "paths": [str(docs / "handbook")], "everybody": True},
            {"name": "Board", "paths": [str(docs / "board")], "console_users": ["ada"]},
        ],
    }
    Indexer(tmp_path / "index.sqlite").index([str(docs)], lambda done, total: None)
    return settings


async def visitor(open_console: OpenConsole, name: str, **settings: Any) -> Browser:
    console = await open_console(**PROXY, **settings)
    return await console.browser(base="https://footnote.example", **{"X-User": name})


async def switches(browser: Browser, path: str = "/") -> dict[str, bool]:
    found = SWITCH.findall((await browser.get(path)).text)
    return {name: bool(checked) for name, checked in found}


async def options_of(browser: Browser, run: str) -> tuple[tuple[str, ...], Any]:
    record = await browser.running.store.run(run)
    assert record is not None
    return record.options.providers, record.options.collections


async def test_collections_stand_on_the_page_with_their_numbers(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    ada = await visitor(open_console, "ada", **documents)
    page = (await ada.get("/")).text
    assert await switches(ada) == {
        "documents:Handbook": True,
        "documents:Board": True,
        "documents:": True,
    }
    assert re.search(r">Handbook <span class=\"count\"[^>]*>one document", page)


async def test_documents_are_counted_as_soon_as_there_is_an_index(
    open_console: OpenConsole, documents: dict[str, Any], tmp_path: Path
) -> None:
    index = tmp_path / "index.sqlite"
    filled = index.rename(tmp_path / "filled.sqlite")
    ada = await visitor(open_console, "ada", **documents)
    assert "one document" not in (await ada.get("/")).text
    filled.rename(index)
    assert "one document" in (await ada.get("/")).text


async def test_nobody_sees_collections_that_are_not_theirs(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    bob = await visitor(open_console, "bob", **documents)
    assert "documents:Board" not in await switches(bob)
    assert "Board" not in (await bob.get("/")).text
    asked = await bob.send("/ask", chosen="1", source="documents:Board", question="What is it?")
    assert asked.status_code == 422


async def test_a_choice_is_kept_with_its_question_and_offered_again(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    ada = await visitor(open_console, "ada", providers=["local", "wikipedia"], **documents)
    assert (await switches(ada))["wiki"]
    run = await ada.answered(chosen="1", source="documents:Board")
    assert await options_of(ada, run) == (("local",), ("Board",))
    assert await switches(ada, await thread_of(ada, run)) == {
        "documents:Handbook": False,
        "documents:Board": True,
        "documents:": False,
        "wiki": False,
    }


async def test_everything_ticked_is_no_limit(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    ada = await visitor(open_console, "ada", providers=["local", "wikipedia"], **documents)
    every = ["documents:Handbook", "documents:Board", "documents:", "wiki"]
    form = {"question": "What is it?", "chosen": "1", "source": every}
    asked = await ada.client.post("/ask", data=form, headers={"Accept": "application/json"})
    assert await options_of(ada, asked.json()["run"]) == ((), None)
    wiki = await ada.answered(chosen="1", source="wiki", question="And that?")
    assert await options_of(ada, wiki) == (("wikipedia",), None)


async def test_a_form_with_nothing_ticked_is_told(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    ada = await visitor(open_console, "ada", **documents)
    answer = await ada.send("/ask", question="What is it?", chosen="1")
    assert answer.status_code == 422
    assert answer.json()["error"] == "Choose at least one source to search."


async def test_without_documents_examples_come_from_wikipedia(browser: Browser) -> None:
    page = (await browser.get("/")).text
    assert "Eiffel Tower" in page
    assert "Wikipedia" in page


async def test_the_page_follows_documents_that_are_being_indexed(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    ada = await visitor(open_console, "ada", **documents)
    now = ada.running.platform._console.observed.documents
    now.state = "indexing"
    now.advance(1, 3)
    page = (await ada.get("/")).text
    assert 'data-progress="/indexing"' in page
    told = (await ada.get("/indexing")).json()
    assert told["told"] == "Documents are being indexed: 1 of 3 files can be searched already."
    assert told["counts"]["documents:Board"] == "one document"
    now.become("ok")
    assert (await ada.get("/indexing")).json()["told"] == ""
    assert "data-progress" not in (await ada.get("/")).text


async def test_counts_of_other_peoples_collections_are_not_told(
    open_console: OpenConsole, documents: dict[str, Any]
) -> None:
    bob = await visitor(open_console, "bob", **documents)
    counts = (await bob.get("/indexing")).json()["counts"]
    assert set(counts) == {"documents:Handbook", "documents:"}
