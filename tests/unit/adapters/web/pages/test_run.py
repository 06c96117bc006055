"""The page of a run: what an answer rests on, and nothing that others wrote comes alive in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from bot.core.messages import Thread, Verification
from bot.core.readership import DocumentCollection
from bot.storage.conversations import Conversations
from tests.unit.adapters.web.pages.insight_stage import (
    HOSTILE,
    Stage,
    document,
    hostile_run,
    opened,
)
from tests.unit.samples import NOW, a_page
from tests.unit.storage.past import Past, pages

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
USERS = {"console_user_header": "X-User", "admins": "root"}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with opened(tmp_path) as stage:
        yield stage


async def test_a_footnote_leads_to_the_quoted_words_in_the_stored_page(stage: Stage) -> None:
    run = await Past(stage.store).answered(cited=pages("tower"))
    answer = await stage.get(f"/runs/{run}")
    assert answer.status_code == 200
    page = document(answer)
    (link,) = page.xpath("//*[@class='because']//a[@class='number']")
    (anchor,) = page.xpath(f"//*[@id='{link.get('href').removeprefix('#')}']")
    assert anchor.getnext().tag == "mark"
    assert anchor.getnext().text_content() == "tower is 330 m tall."
    assert "1 of 1 quotations match the stored pages word for word" in answer.text


async def test_every_link_within_the_page_leads_somewhere(stage: Stage) -> None:
    run = await hostile_run(stage.store)
    page = document(await stage.get(f"/runs/{run}"))
    ids = [element.get("id") for element in page.xpath("//*[@id]")]
    assert len(ids) == len(set(ids))
    targets = {link.get("href")[1:] for link in page.xpath("//*[starts-with(@href, '#')]")}
    assert targets <= set(ids), targets - set(ids)


async def test_the_whole_page_is_shown_with_its_quotes_marked(stage: Stage) -> None:
    run = await Past(stage.store).answered(cited=pages("tower"), numbered=pages("city"))
    page = document(await stage.get(f"/runs/{run}/pages/1"))
    assert [mark.text_content() for mark in page.xpath("//mark")] == ["tower is 330 m tall."]
    unquoted = await stage.get(f"/runs/{run}/pages/2")
    assert "city is 330 m tall." in unquoted.text
    assert "<mark>" not in unquoted.text


async def test_what_others_wrote_stays_text(stage: Stage) -> None:
    await hostile_run(stage.store)
    for path in ["/runs/hostile", "/runs/hostile/pages/1", "/overview"]:
        answer = await stage.get(path)
        assert answer.status_code == 200
        page = document(answer)
        scripts = [script.get("src", "inline") for script in page.xpath("//script")]
        assert all(source.startswith("/static/") for source in scripts)
        assert page.xpath("//img | //iframe | //object | //embed | //style | //base") == []
        for element in page.iter():
            if not isinstance(element.tag, str):
                continue
            assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
            for name in ("href", "src", "action"):
                value = element.get(name, "/")
                assert value.startswith(("/", "#", "http://", "https://")), value
        assert HOSTILE in page.text_content()


async def test_nothing_may_run_that_is_not_ours(stage: Stage) -> None:
    run = await hostile_run(stage.store)
    policy = (await stage.get(f"/runs/{run}")).headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


async def test_every_part_of_a_run_has_its_place(stage: Stage) -> None:
    run = await hostile_run(stage.store)
    page = document(await stage.get(f"/runs/{run}"))
    for section in [
        "answer",
        "checks",
        "verdicts",
        "graph",
        "steps",
        "searches",
        "pages",
        "revisions",
    ]:
        (part,) = page.xpath(f"//section[@id='{section}']")
        (heading,) = page.xpath(f"//*[@id='{part.get('aria-labelledby')}']")
        assert heading.tag == "h2"
        assert page.xpath(f"//nav[@class='within']/a[@href='#{section}']")


async def test_it_speaks_the_readers_language(stage: Stage) -> None:
    run = await Past(stage.store).answered(cited=pages("tower"))
    for language, said in [("en", "Checks"), ("zh-CN", "检查结果"), ("zh-TW", "檢查結果")]:
        answer = await stage.get(f"/runs/{run}", **{"Accept-Language": language})
        assert said in answer.text


async def test_what_was_not_found_is_named(stage: Stage) -> None:
    page = document(await stage.get(f"/runs/{await hostile_run(stage.store)}"))
    told = [item.text_content() for item in page.xpath("//section[@id='checks']//li")]
    assert any(line.strip().endswith(f"Not found: {HOSTILE}") for line in told)


async def test_every_verdict_of_the_small_model_is_told_with_what_became_of_its_sentence(
    stage: Stage,
) -> None:
    run = await hostile_run(stage.store, "It is so.")
    page = document(await stage.get(f"/runs/{run}"))
    told = [
        " ".join(item.text_content().split())
        for item in page.xpath("//section[@id='verdicts']//li")
    ]
    assert told == [
        "⚠ Partly supported. It is so. Not in the quotes: “It is so.”. It is marked in the answer.",
        "⚠ Not supported. It is so. Not in the quotes: “It is so.”. The answer now says: It is so.",
        "⚠ Contradicted. It is so. It was left out.",
        "✓ Supported. It is so.",
    ]
    (line,) = (
        item.text_content()
        for item in page.xpath("//section[@id='checks']//li")
        if "small model" in item.text_content()
    )
    assert "found 1 of 4 cited sentences supported" in line


async def test_why_sentences_were_not_verified_is_told(stage: Stage) -> None:
    failed = Verification("failed", problem="The budget is spent.")
    past = Past(stage.store)
    run = await past.answered(cited=pages("tower"))
    record = await stage.store.run(run)
    assert record is not None
    assert record.answer is not None
    answer = replace(record.answer, verification=failed)
    await stage.store.save_answer(run, record.attempt, answer)
    told = (await stage.get(f"/runs/{run}")).text
    assert "could not verify the sentences: The budget is spent." in told


async def test_a_run_that_works_says_so_and_can_be_followed(stage: Stage) -> None:
    run, _ = await Past(stage.store).begun()
    page = document(await stage.get(f"/runs/{run.id}"))
    (trace,) = page.xpath("//*[@data-run]")
    assert trace.get("data-state") == "running"
    assert page.xpath("//*[@role='status']")


async def test_what_is_not_there_is_not_found(stage: Stage) -> None:
    await Past(stage.store).answered(cited=pages("tower"))
    for path in ["/runs/nothing", "/runs/nothing/pages/1", "/runs/r1/pages/9"]:
        assert (await stage.get(path)).status_code == 404


async def test_a_deleted_question_is_not_shown_any_more(stage: Stage) -> None:
    past = Past(stage.store)
    run, _ = await past.begun()
    conversations = Conversations(stage.store.database)
    await conversations.remove("slack", run.message.event_id, NOW, owner=None, lease=timedelta())
    assert (await stage.get(f"/runs/{run.id}")).status_code == 404


# ---------------------------------------------------------------- who may see what


async def test_a_conversation_on_the_web_is_its_askers(tmp_path: Path) -> None:
    async with opened(tmp_path, **USERS) as stage:
        past = Past(stage.store, thread=Thread("web", "console", "eve", "t"))
        run = await past.answered(cited=pages("tower"))
        for user, status in (("eve", 200), ("mallory", 404), ("root", 200)):
            for path in (f"/runs/{run}", f"/runs/{run}/pages/1"):
                assert (await stage.get(path, **{"X-User": user})).status_code == status
        for path in ("/overview", "/metrics"):  # what everybody asked is for operators
            assert (await stage.get(path, **{"X-User": "eve"})).status_code == 403
            assert (await stage.get(path, **{"X-User": "root"})).status_code == 200


@pytest.mark.parametrize(
    ("name", "kind", "way"),
    [
        ("a plan.md", "text/plain; charset=utf-8", "inline"),
        ("plan.pdf", "application/pdf", "inline"),
        ("plan.html", "text/html; charset=utf-8", "attachment"),
        ("plan.docx", DOCX, "attachment"),
    ],
)
async def test_the_original_of_a_document_is_shown_or_saved(
    tmp_path: Path, name: str, kind: str, way: str
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / name).write_bytes(b"The tower is 330 m tall.")
    async with opened(tmp_path, docs=(str(docs),)) as stage:
        past = Past(stage.store)
        path = await stored_document(past, docs / name)
        (link,) = document(await stage.get(path)).xpath("//a[text()='Open original']/@href")
        original = await stage.get(link)
        assert original.content == b"The tower is 330 m tall."
        assert original.headers["content-type"] == kind
        assert original.headers["content-disposition"].startswith(f"{way}; ")
        policy = original.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert ("sandbox" in policy) == (kind != "application/pdf")


async def test_an_original_that_is_gone_or_became_a_link_to_elsewhere_is_not_there(
    tmp_path: Path,
) -> None:
    docs, secret = tmp_path / "docs", tmp_path / "secret.md"
    docs.mkdir()
    secret.write_text("Secret.")
    (docs / "plan.md").write_text("The tower is 330 m tall.")
    async with opened(tmp_path, docs=(str(docs),)) as stage:
        past = Past(stage.store)
        path = await stored_document(past, docs / "plan.md")
        (docs / "plan.md").unlink()
        for _ in range(2):
            assert "The file is no longer there." in (await stage.get(path)).text
            original = await stage.get(f"{path}/original")
            assert original.status_code == 404
            assert "Secret" not in original.text
            if not (docs / "plan.md").is_symlink():
                (docs / "plan.md").symlink_to(secret)
        outside = await stored_document(past, docs / ".." / "secret.md")
        assert (await stage.get(f"{outside}/original")).status_code == 404


async def test_an_original_is_for_those_who_may_read_the_document(tmp_path: Path) -> None:
    open_docs, closed = tmp_path / "docs" / "open", tmp_path / "docs" / "closed"
    for folder in (open_docs, closed):
        folder.mkdir(parents=True)
        (folder / "plan.md").write_text("The tower is 330 m tall.")
    board = DocumentCollection(name="board", paths=(str(closed),), console_users=("root",))
    settings = {**USERS, "docs": (str(tmp_path / "docs"),), "collections": (board,)}
    async with opened(tmp_path, **settings) as stage:
        past = Past(stage.store)
        path = await stored_document(past, closed / "plan.md")
        for user, status in (("root", 200), ("eve", 403)):
            original = await stage.get(f"{path}/original", **{"X-User": user})
            assert original.status_code == status
        path = await stored_document(past, open_docs / "plan.md")
        (open_docs / "plan.md").unlink()
        (open_docs / "plan.md").symlink_to(closed / "plan.md")
        for user, status in (("root", 200), ("eve", 404)):
            original = await stage.get(f"{path}/original", **{"X-User": user})
            assert original.status_code == status


async def stored_document(past: Past, path: Path) -> str:
    """The path of the stored page of a document that an answer cites."""
    page = a_page(f"file://{quote(str(path))}", "The tower is 330 m tall.")
    run = await past.answered(cited=(page,))
    return f"/runs/{run}/pages/1"


async def test_prometheus_shows_the_token(tmp_path: Path) -> None:
    async with opened(tmp_path, console_token="a-long-enough-token") as stage:
        shown = {"Authorization": "Bearer a-long-enough-token"}
        assert (await stage.get("/metrics", **shown)).status_code == 200
        assert (await stage.get("/metrics")).status_code != 200
