"""Files that a search of Slack finds: which may be told about where, and how they are read."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.conversations import (
    ENDED,
    LOOKED_UP,
    UNKNOWN,
    UNREADABLE,
    UNSCOPED,
)
from adapters.slack.delivery import SEARCH
from adapters.slack.installations import FILES, SEARCH_SCOPES
from bot.core.errors import FootnoteError, PageUnreadable, PostRefused, Unavailable
from bot.core.messages import Attachment, Audience, RunOptions
from bot.core.posting import RunRef
from bot.core.reader import Reader, attached, is_conversation
from bot.pages.extract import from_bytes
from bot.pages.page import Page
from bot.research.outcomes import failures_in
from bot.search.blend import SearchResult
from bot.search.conversation_search import SearchedConversations
from bot.search.provider import Query, Talk
from tests.contract.slack_harness import ADA, BOB, CHANNEL, SlackHarness, slack_stage
from tests.fakes import slack_search
from tests.fakes.slack_files import CANVAS, File
from tests.fakes.slack_workspace import Workspace

OPEN, BOARD, HIDDEN = "C5OPEN", "G6BOARD", "G7HIDDEN"
BUDGET = b"# Budget\n\nThe budget of Kestrel is 7,350 euros."
EXCERPT = "The budget of Kestrel, says the excerpt."
QUERY = Query("budget Kestrel")
NAMED = Query("Costs Kestrel")  # words of its title


class Files:
    """Reads files in this process, with the readers of all formats."""

    largest = 10_000

    async def page_of_file(self, attachment: Attachment, data: bytes) -> Page:
        read = from_bytes(data, attachment.media_type, attachment.name)
        return Page(attachment.url, read.title, read.text, datetime.now(UTC))


class Place:
    """A workspace in which Ada asks. The app is not in ``OPEN`` and ``HIDDEN``."""

    def __init__(self, stage: SlackHarness) -> None:
        self.slack = stage.slack
        self.poster = stage.poster()
        self.slack.with_scopes(*SEARCH_SCOPES)
        self.slack.add_channel(OPEN, "open", members=[ADA, BOB], bot=False)
        self.slack.add_channel(BOARD, "board", "group", members=[ADA, BOB])
        self.slack.add_channel(HIDDEN, "hidden", "group", members=[ADA, BOB], bot=False)
        self._stage = stage

    def share(
        self,
        *channels: str,
        content: bytes = BUDGET,
        name: str = "budget.md",
        media_type: str = "text/markdown",
        excerpt: str | None = None,
        user: str = BOB,
    ) -> File:
        file = self.slack.add_file(
            user, name, content, media_type, title="Costs of Kestrel", excerpt=excerpt
        )
        for channel in channels:
            by = ADA if channel == self.slack.im(ADA) else user
            self.slack.say(by, channel, "look", files=[file])
        return file

    async def asked_in(
        self, channel: str, run_id: str = "r1", files: tuple[Attachment, ...] = ()
    ) -> SearchedConversations:
        """The conversations that may be searched for a question of Ada's."""
        message = self._stage.ask("what does it cost?", channel)
        token = list(self.slack.workspace.action_tokens)[-1]
        message = replace(message, attachments=files)

        async def nothing(_: object) -> None: ...

        run = RunRef(run_id, message, RunOptions(), nothing, nothing)
        audience: Audience = "person" if channel.startswith("D") else "channel"
        reader = Reader.of(message.thread, message.author, audience)
        found = await self.poster.conversations(run, {SEARCH: token}, reader)
        assert found is not None
        return SearchedConversations(found, run_id, partial(self.poster.download, run), Files())

    def is_offered_more(self) -> bool:
        shown = self.slack.messages(CHANNEL) + self.slack.messages(BOARD)
        return any(m.ephemeral_to == ADA and "only you can see" in m.seen for m in shown)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with slack_stage(tmp_path) as stage:
        yield Place(stage)


def titles(found: SearchResult) -> list[str]:
    return [hit.title for hit in found.hits]


def url_of(found: SearchResult) -> str:
    (hit,) = found.hits
    return hit.url


DIRECT, NOWHERE = "direct", "nowhere"


@pytest.mark.parametrize(
    ("asked", "shared", "is_told", "is_more"),
    [
        (CHANNEL, [OPEN], True, False),
        (CHANNEL, [CHANNEL], True, False),
        (CHANNEL, [BOARD], False, True),
        (CHANNEL, [HIDDEN], False, True),  # of which files.info tells the app nothing
        (CHANNEL, [HIDDEN, OPEN], True, False),
        (CHANNEL, [DIRECT], False, True),
        (CHANNEL, [NOWHERE], False, True),
        (BOARD, [OPEN], True, False),
        (BOARD, [BOARD], True, False),
        (BOARD, [HIDDEN], False, True),
        (BOARD, [HIDDEN, BOARD], True, False),
        (BOARD, [DIRECT], False, True),
        (DIRECT, [OPEN], True, False),
        (DIRECT, [BOARD], True, False),
        (DIRECT, [HIDDEN], True, False),
        (DIRECT, [DIRECT], True, False),
        (DIRECT, [NOWHERE], True, False),
    ],
)
async def test_the_place_of_the_question_and_those_of_the_file_decide(
    place: Place, asked: str, shared: list[str], is_told: bool, is_more: bool
) -> None:
    direct = place.slack.im(ADA)
    channels = [direct if name == DIRECT else name for name in shared if name != NOWHERE]
    place.share(*channels, user=ADA if {DIRECT, NOWHERE} & set(shared) else BOB)
    talk = await place.asked_in(direct if asked == DIRECT else asked)
    found = await talk.search(QUERY)
    await talk.answer_posted()
    assert bool(found.hits) is is_told
    assert found.failures == ()
    assert place.is_offered_more() is is_more


async def test_what_the_asker_may_not_see_is_neither_found_nor_hinted_at(place: Place) -> None:
    place.slack.workspace.channels[HIDDEN].members.remove(ADA)
    place.share(HIDDEN)
    for channel in (CHANNEL, place.slack.im(ADA)):
        talk = await place.asked_in(channel)
        assert (await talk.search(QUERY)).hits == ()
        await talk.answer_posted()
    assert not place.is_offered_more()


async def test_a_file_is_read_like_one_that_was_sent_and_named_by_author_title_and_day(
    place: Place,
) -> None:
    place.share(OPEN, excerpt=EXCERPT)
    talk = await place.asked_in(CHANNEL)
    page = await talk.read(url_of(await talk.search(QUERY)))
    now = datetime.now(UTC)
    assert page.title == f"bob, Costs of Kestrel, {now.day} {now:%B %Y}"
    assert is_conversation(page.url)
    assert "7,350 euros" in page.text
    assert (page.via, EXCERPT in page.text) == ("", False)


async def test_the_page_of_a_file_is_the_runs_own(place: Place) -> None:
    place.share(OPEN)
    pages = []
    for run_id in ("r1", "r2"):
        talk = await place.asked_in(CHANNEL, run_id)
        pages.append(await talk.read(url_of(await talk.search(QUERY))))
    assert pages[0].text == pages[1].text
    plain = hashlib.sha256(pages[0].text.encode()).hexdigest()
    assert len({pages[0].hash, pages[1].hash, plain}) == 3


ZEROS = b"\x00\x01" * 500


@pytest.mark.parametrize(
    ("sent", "size", "sentence"),
    [
        ({"content": ZEROS, "name": "x.bin", "media_type": "application/x-thing"}, None, "x.bin"),
        ({}, 100_000_000, "too large to read: it has 100,000,000 bytes, and 10,000 are allowed"),
        ({"content": b"word " * 3_000, "name": "long.txt"}, 5, "larger than 10,000 bytes"),
        ({"media_type": CANVAS, "content": b"<h1>Budget of Kestrel</h1>"}, None, "downloaded"),
    ],
    ids=["of a kind that nobody reads", "100 MB", "larger than told", "a canvas"],
)
async def test_what_cannot_be_read_is_told_in_a_sentence_or_read_as_slacks_excerpt(
    place: Place, sent: dict[str, Any], size: int | None, sentence: str
) -> None:
    file = place.share(OPEN, **sent)
    file.size = size
    talk = await place.asked_in(CHANNEL)
    url = url_of(await talk.search(NAMED))
    with pytest.raises(FootnoteError, match=sentence):
        await talk.read(url)
    file.excerpt = EXCERPT
    talk = await place.asked_in(CHANNEL)
    page = await talk.read(url_of(await talk.search(NAMED)))
    assert (page.text, page.via) == (EXCERPT, "Slack")


async def test_a_file_that_the_app_cannot_see_is_read_as_the_excerpt(place: Place) -> None:
    place.share(HIDDEN, excerpt="The \ue000budget\ue001 of Kestrel &amp; more.")
    talk = await place.asked_in(place.slack.im(ADA))
    page = await talk.read(url_of(await talk.search(QUERY)))
    assert (page.text, page.via) == ("The budget of Kestrel & more.", "Slack")


async def test_the_token_goes_to_no_other_host(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Workspace.file_json
    elsewhere = {"url_private_download": "https://slack.com.example.org/files-pri/T1-F1/x"}
    monkeypatch.setattr(Workspace, "file_json", lambda ws, file: {**real(ws, file), **elsewhere})
    place.share(OPEN)
    talk = await place.asked_in(CHANNEL)
    url = url_of(await talk.search(QUERY))
    with pytest.raises(PostRefused, match="is not kept by Slack"):
        await talk.read(url)


@pytest.mark.parametrize("is_refused", [True, False])
async def test_a_file_that_was_deleted_meanwhile_is_not_read_not_even_its_excerpt(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_refused: bool
) -> None:
    file = place.share(BOARD, excerpt=EXCERPT)
    talk = await place.asked_in(place.slack.im(ADA))
    url = url_of(await talk.search(QUERY))
    file.deleted = is_refused
    if not is_refused:
        tombstone = {"id": file.id, "mode": "tombstone"}
        monkeypatch.setattr(Workspace, "file_json", lambda ws, file: tombstone)
    with pytest.raises(PageUnreadable, match="The file Costs of Kestrel was deleted"):
        await talk.read(url)


async def test_a_file_that_was_deleted_since_the_search_index_was_made_is_not_more(
    place: Place,
) -> None:
    place.share(OPEN)
    place.slack.refuse("files.info", "file_deleted")
    talk = await place.asked_in(CHANNEL)
    assert (await talk.search(QUERY)) == SearchResult(())
    await talk.answer_posted()
    assert not place.is_offered_more()


# ---------------------------------------------------------------- what fails


@pytest.fixture
def said(place: Place) -> str:
    """A message that is found beside the files."""
    place.slack.say(BOB, OPEN, "The budget of Kestrel is settled.")
    return "bob, #open"


def contents(place: Place) -> list[str]:
    return [c.args["content_types"] for c in place.slack.calls("assistant.search.context")]


async def test_without_the_scope_messages_alone_are_searched(place: Place, said: str) -> None:
    place.slack.without_scopes(FILES)
    place.share(OPEN)
    found = await (await place.asked_in(CHANNEL)).search(QUERY)
    assert [title.rpartition(", ")[0] for title in titles(found)] == [said]
    assert found.failures == ()
    assert set(contents(place)) == {"messages"}


async def test_a_scope_that_was_taken_away_is_one_sentence_and_messages_are_found(
    place: Place, said: str
) -> None:
    place.share(OPEN)
    talk = await place.asked_in(place.slack.im(ADA))
    place.slack.without_scopes(FILES)
    for query in (QUERY, Query("settled budget")):
        found = await talk.search(query)
        assert [title.rpartition(", ")[0] for title in titles(found)] == [said]
        assert found.failures == (f"slack-files: {ENDED}",)
        assert failures_in(found.failures) == [("slack-files", ENDED)]
    assert contents(place) == ["messages,files", "messages", "messages"]


async def test_where_the_scope_of_messages_is_gone_as_well_nothing_is_said_of_files(
    place: Place, said: str
) -> None:
    talk = await place.asked_in(CHANNEL)
    place.slack.without_scopes(*SEARCH_SCOPES)
    found = await talk.search(QUERY)
    assert found.hits == ()
    assert len(found.failures) == 1
    assert "messages may not be searched any more" in found.failures[0]


@pytest.mark.parametrize(
    ("trouble", "remark"),
    [
        (lambda slack: slack.storm("files.info", 99, retry_after=30), UNKNOWN),
        (lambda slack: slack.refuse("files.info", "fatal_error"), UNKNOWN),
        (lambda slack: slack.without_scopes("files:read"), UNSCOPED),
    ],
    ids=["limited", "away", "without scope"],
)
async def test_where_files_are_shared_is_not_told(
    place: Place, said: str, trouble: Any, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.conversations.INFO_SECONDS", 0.1)
    place.share(OPEN)
    place.share(OPEN, name="more.md")
    talk = await place.asked_in(CHANNEL)
    trouble(place.slack)
    for query in (QUERY, Query("settled budget Kestrel")):
        found = await talk.search(query)
        assert [title.rpartition(", ")[0] for title in titles(found)] == [said]
        assert found.failures == (f"slack-files: {remark}",)
    await talk.answer_posted()
    assert place.is_offered_more()


EVIL = "https://footnote-test.slack.com.example.org/files/U2/{id}/budget.md"


@pytest.mark.parametrize(
    "change",
    [
        {"permalink": EVIL},
        {"permalink": "http://footnote-test.slack.com/files/U2/{id}/budget.md"},
        {"permalink": "https://footnote-test.slack.com/files/U2/F0OTHER/budget.md"},
        {"permalink": "https://footnote-test.slack.com/files/U2/{id}/a b|c>"},
        {"permalink": "https://footnote-test.slack.com/files/U2/{id}/budget.md#attached"},
        {"permalink": 7},
        {"permalink": None},
        {"file_id": None},
        {"file_id": ["F1"]},
        {"date_created": "soon", "date_updated": None},
        {"date_created": 1e30, "date_updated": None},
        {"date_created": None, "date_updated": None},
    ],
)
async def test_a_result_that_links_elsewhere_or_lacks_something_is_left_out_and_told(
    place: Place, said: str, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    real = slack_search._shown_file

    def changed(ws: Workspace, file: File) -> dict[str, Any]:
        told = {
            key: value.format(id=file.id) if isinstance(value, str) else value
            for key, value in change.items()
        }
        return {**real(ws, file), **told}

    monkeypatch.setattr(slack_search, "_shown_file", changed)
    place.share(OPEN)
    found = await (await place.asked_in(CHANNEL)).search(QUERY)
    assert [title.rpartition(", ")[0] for title in titles(found)] == [said]
    assert found.failures == (f"slack-files: {UNREADABLE}",)
    assert place.slack.calls("files.info") == []


@pytest.mark.parametrize(
    ("change", "title"),
    [
        ({"title": None}, "{id}"),
        ({"title": " Costs\n of  it "}, "Costs of it"),
        ({"author_name": None}, "Costs of Kestrel"),
        ({"content": 7}, "Costs of Kestrel"),
        ({"content": None}, "Costs of Kestrel"),
    ],
)
async def test_a_result_without_what_can_be_missing_is_used(
    place: Place, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], title: str
) -> None:
    real = slack_search._shown_file
    monkeypatch.setattr(slack_search, "_shown_file", lambda ws, file: {**real(ws, file), **change})
    file = place.share(OPEN)
    talk = await place.asked_in(CHANNEL)
    found = await talk.search(QUERY)
    author = BOB if "author_name" in change else "bob"
    assert titles(found)[0].startswith(f"{author}, {title.format(id=file.id)}, ")
    assert "7,350 euros" in (await talk.read(url_of(found))).text


@pytest.mark.parametrize("about", [{}, {"channels": "C5OPEN"}, {"channels": [], "groups": None}])
async def test_a_description_without_places_counts_as_elsewhere(
    place: Place, monkeypatch: pytest.MonkeyPatch, about: dict[str, Any]
) -> None:
    monkeypatch.setattr(Workspace, "file_json", lambda ws, file: about)
    place.share(OPEN)
    talk = await place.asked_in(CHANNEL)
    assert (await talk.search(QUERY)).hits == ()
    await talk.answer_posted()
    assert place.is_offered_more()


# ---------------------------------------------------------------- which files


async def test_people_and_days_filter_files_as_they_do_messages(place: Place) -> None:
    place.share(OPEN)
    place.share(OPEN, user=ADA)
    talk = await place.asked_in(CHANNEL)
    by_ada = await talk.search(Query("budget Kestrel", talk=Talk(people=("Ada",))))
    assert [title.partition(",")[0] for title in titles(by_ada)] == ["ada"]
    old = await talk.search(Query("budget Kestrel", talk=Talk(before="2020-01-01")))
    assert old.hits == ()


async def test_a_file_of_the_question_itself_is_not_found_again(place: Place) -> None:
    file = place.share(CHANNEL, user=ADA)
    sent = Attachment(file.name, file.mimetype, attached(file.permalink))
    talk = await place.asked_in(CHANNEL, files=(sent,))
    assert (await talk.search(QUERY)).hits == ()


async def test_a_file_is_looked_up_once_for_a_question(place: Place) -> None:
    place.share(OPEN)
    place.share(BOARD)
    talk = await place.asked_in(CHANNEL)
    for words in ("budget Kestrel", "Kestrel costs", "budget euros"):
        found = await talk.search(Query(words))
    await talk.read(url_of(found))
    assert len(place.slack.calls("files.info")) == 2


async def test_many_private_files_do_not_crowd_out_a_public_one(place: Place) -> None:
    for number in range(LOOKED_UP + 2):
        place.share(HIDDEN, name=f"{number}.md")
    place.share(OPEN, name="open.md")
    talk = await place.asked_in(CHANNEL)
    assert url_of(await talk.search(QUERY)).endswith("/open.md")
    assert len(place.slack.calls("files.info")) == LOOKED_UP


async def test_only_files_that_were_found_are_read(place: Place) -> None:
    file = place.share(OPEN)
    talk = await place.asked_in(CHANNEL)
    with pytest.raises(PageUnreadable, match="only where the search of that chat has found"):
        await talk.read(file.permalink)


async def test_a_download_that_takes_too_long_gives_way_to_the_excerpt(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.search.conversation_search.FILE_SECONDS", 0.05)
    file = place.share(OPEN, excerpt=EXCERPT)
    talk = await place.asked_in(CHANNEL)
    url = url_of(await talk.search(QUERY))

    async def endless(attachment: Attachment, limit: int) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    talk._download = endless
    assert (await talk.read(url)).via == "Slack"
    file.excerpt = None
    bare = await place.asked_in(CHANNEL)
    url = url_of(await bare.search(QUERY))
    bare._download = endless
    with pytest.raises(Unavailable, match="took too long to read"):
        await bare.read(url)
