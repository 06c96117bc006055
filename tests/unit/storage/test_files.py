"""Files that come with questions: kept once, at hand in their thread, gone with their question."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.messages import Attachment, RunOptions
from bot.pages.page import Page
from bot.storage.conversations import Conversations, Files
from bot.storage.forgetting import Forgetting, Subject
from bot.storage.removal import Keep, Retention
from bot.storage.store import Store
from tests.unit.samples import NOW
from tests.unit.storage.past import LEASE, OWNER, Past

URL = "upload:abc1/notes.md"
NOTES = Attachment("notes.md", "text/markdown", URL)
PAGE = Page(URL, "Notes", "The tower is 330 m tall.", NOW)


@pytest.fixture
def past(store: Store) -> Past:
    return Past(store)


@pytest.fixture
def files(store: Store) -> Files:
    return Files(store.database)


async def sent(past: Past, *files: Attachment, body: bytes = b"# Notes") -> str:
    """The id of the run of a question with files; those that came before are kept already."""
    message = past.message("How tall?", "ada", attachments=files)
    bodies = {file.url: body for file in files if not file.again}
    run, _ = await past.store.accept(f"f{past.numbered}", message, RunOptions(), NOW, files=bodies)
    return run


async def ended(past: Past, run: str) -> None:
    record = await past.store.claim(run, OWNER, NOW, LEASE)
    assert record is not None
    await past.store.end(run, record.attempt, "answered", NOW)


async def test_a_file_is_kept_with_its_question(past: Past, files: Files) -> None:
    await sent(past, NOTES, body=bytes(range(256)) * 100)
    assert await files.body(URL) == bytes(range(256)) * 100
    assert await files.body("upload:abc2/notes.md") is None
    assert await files.of_thread(past.thread) == [NOTES]


async def test_a_question_that_comes_again_brings_nothing_new(past: Past, files: Files) -> None:
    message = past.message("How tall?", "ada", attachments=(NOTES,))
    for body in (b"first", b"second"):
        await past.store.accept("r1", message, RunOptions(), NOW, files={URL: body})
    assert await files.body(URL) == b"first"


async def test_what_is_read_again_is_no_other_file(past: Past, files: Files) -> None:
    await sent(past, NOTES)
    other = Attachment("b.md", "text/markdown", "upload:abc2/b.md")
    await sent(past, other, replace(NOTES, again=True))
    assert await files.of_thread(past.thread) == [NOTES, other]


async def test_a_deleted_question_takes_its_files_and_what_was_read_of_them_along(
    past: Past, files: Files
) -> None:
    run = await past.answered(cited=(PAGE,), attachments=(NOTES,))
    stays = await past.answered(cited=(replace(PAGE, url="https://example.org/"),))
    await Conversations(past.store.database).remove("slack", "e1", NOW, owner=None, lease=LEASE)
    assert await files.of_thread(past.thread) == []
    assert await past.store.recent_page(URL, NOW - timedelta(days=9)) is None
    rows = await past.rows()
    assert (rows["pages"], rows["citations"]) == (1, 1), (run, stays)


async def test_what_another_answer_cites_of_a_file_stays_with_that(past: Past) -> None:
    await past.answered(cited=(PAGE,), attachments=(NOTES,))
    await past.answered(cited=(PAGE,), attachments=(replace(NOTES, again=True),))
    await Conversations(past.store.database).remove("slack", "e1", NOW, owner=None, lease=LEASE)
    assert (await past.rows())["pages"] == 1


async def test_files_go_when_messages_are_pruned(past: Past) -> None:
    await ended(past, await sent(past, NOTES))
    keep = Keep(messages=timedelta(days=30))
    await Retention(past.store.database, keep).prune(NOW + timedelta(days=29))
    assert (await past.rows())["files"] == 1
    await Retention(past.store.database, keep).prune(NOW + timedelta(days=31))
    assert "files" not in await past.rows()


@pytest.mark.parametrize("kind", ["thread", "person"])
async def test_files_go_when_their_thread_or_author_is_forgotten(past: Past, kind: str) -> None:
    await ended(past, await sent(past, NOTES))
    name = {"thread": past.thread.key, "person": "ada"}[kind]
    forgetting = Forgetting(past.store.database)
    request = await forgetting.ask(Subject(kind, "slack", name), NOW)  # type: ignore[arg-type]
    await forgetting.remove(request)
    assert "files" not in await past.rows()
