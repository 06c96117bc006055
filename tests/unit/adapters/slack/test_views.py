"""The app's Home tab, and the prompts of its messages tab."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.slack import format as controls
from adapters.slack.views import home_view
from bot.core.texts import LOCALES, texts_for
from bot.pages.page import Page
from bot.search.indexer import Indexer
from bot.storage.workspaces import Use
from tests.fakes.library import Shelf
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_call import faults_in_view
from tests.fakes.slack_people import Doing
from tests.fakes.slack_screen import plain
from tests.unit.adapters.slack.serving import Served, served

pytestmark = pytest.mark.usefixtures("reading_inside")


async def home_of(slack: FakeSlack, user: str) -> str:
    await slack.open_home(user).acknowledged()
    view = await slack.until(lambda: slack.home(user))
    return plain(view["blocks"])


async def test_home_tells_how_to_ask_what_is_connected_and_what_was_used(
    bot: Served, slack: FakeSlack
) -> None:
    await slack.say("U1", "C1", f"{slack.mention} how tall is the tower?").acknowledged()
    await bot.ended(1)
    home = await home_of(slack, "U1")
    assert "Use /ask in any channel I am in." in home
    assert "Searching with: wikipedia" in home
    assert "Answering with: closest" in home
    assert "1 question" in home
    assert "$0.00 spent" in home


async def test_home_is_in_the_language_of_who_opens_it(bot: Served, slack: FakeSlack) -> None:
    await slack.say("U2", "C1", f"{slack.mention} how tall is it?").acknowledged()  # now known
    assert "本月" in await home_of(slack, "U2")


async def test_home_is_shown_without_numbers_while_the_database_is_away(
    bot: Served, slack: FakeSlack
) -> None:
    bot.reception.failures = 1
    home = await home_of(slack, "U1")
    assert "How to ask" in home
    assert "This month" not in home


async def test_home_counts_indexed_documents(slack: FakeSlack, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The tower is tall.")
    async with served(slack, tmp_path, providers="local", docs=str(docs)):
        assert "local document" not in await home_of(slack, "U1")  # nothing is indexed yet
        Indexer(tmp_path / "index.sqlite").index([docs])
        slack.workspace.views.clear()
        assert "One local document" in await home_of(slack, "U1")


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("use", [None, Use(0, 0, 0.0), Use(1_234, 1_200, 56.78)])
def test_home_is_a_view_that_slack_takes(locale: str, use: Use | None) -> None:
    many = ", ".join(f"provider-{number}" for number in range(60))
    for connected in (["wikipedia"], ["m", many, "7 documents"]):
        view = home_view(connected, use, texts_for(locale))
        assert faults_in_view(view, ("home",)) == []


async def test_the_messages_tab_begins_with_prompts(bot: Served, slack: FakeSlack) -> None:
    opened = await slack.open_home("U1", tab="messages").acknowledged()
    state = await slack.until(lambda: slack.workspace.assistant.get((opened.channel, "")))
    assert state["prompts"]["prompts"][0]["title"] == "Compare two things"
    assert slack.home("U1") is None


RIGHTS = """
[[collections]]
name = "travel"
paths = ["{docs}/travel"]
channels = ["C1"]
people = ["U1"]

[[collections]]
name = "pay"
paths = ["{docs}/pay"]
people = ["U1"]

[[collections]]
name = "secret"
paths = ["{docs}/secret"]
channels = ["C1"]
"""
VIEWED_CHANNEL: dict[str, Any] = {"type": "slack#/types/channel_id", "value": "C1"}
VIEWED_MESSAGE: dict[str, Any] = {
    "type": "slack#/types/message_context",
    "value": {"channel_id": "C1", "message_ts": "1.2"},
}
VIEWED_CANVAS: dict[str, Any] = {"type": "slack#/types/canvas_id", "value": "F1"}


@pytest.fixture
async def with_documents(
    slack: FakeSlack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Served]:
    """Served with four documents, three of them in collections; U1 may read all but the secret
    one, and C1 the travel rules and the secret one. U2 may read the menu only."""
    docs = tmp_path / "docs"
    for folder, title in (
        *(("travel", "Travel rules"), ("pay", "Pay grades"), ("secret", "The secret plan")),
        ("open", "Lunch <!here> menu"),
    ):
        (docs / folder).mkdir(parents=True)
        (docs / folder / "a.md").write_text(f"# {title}\n\nThis is about {folder}.\n")
    (tmp_path / "footnote.toml").write_text(RIGHTS.format(docs=docs))
    monkeypatch.chdir(tmp_path)
    Indexer(tmp_path / "index.sqlite").index([docs])
    async with served(
        slack,
        tmp_path,
        answering=lambda platform, _: platform.poster,  # it knows who reads in a channel
        providers="local",
        docs=str(docs),
    ) as bot:
        yield bot


async def prompts_after(slack: FakeSlack, doing: Doing) -> dict[str, str]:
    """The prompts' titles with their messages, once they are set."""
    await doing.acknowledged()
    state = await slack.until(lambda: slack.workspace.assistant.pop((doing.channel, ""), None))
    return {one["title"]: one["message"] for one in state["prompts"]["prompts"]}


async def test_prompts_are_about_documents_that_the_person_may_read(
    with_documents: Served, slack: FakeSlack
) -> None:
    found = await prompts_after(slack, slack.open_home("U1", tab="messages"))
    assert set(found) == {"Travel rules", "Pay grades", "Lunch ‹!here› menu"}
    assert found["Pay grades"] == "What are the main points of “Pay grades”?"
    found = await prompts_after(slack, slack.open_home("U2", tab="messages"))
    assert list(found) == ["Lunch ‹!here› menu"]


@pytest.mark.parametrize("typed", [False, True])
async def test_prompts_fit_the_channel_that_is_viewed(
    with_documents: Served, slack: FakeSlack, *, typed: bool
) -> None:
    fitting = {"Travel rules", "Lunch ‹!here› menu"}
    slack.with_scopes("channels:read")
    for entities in ([VIEWED_CHANNEL], [VIEWED_CANVAS, VIEWED_MESSAGE]):
        looking = slack.look_at("U1", *entities, typed=typed)
        assert set(await prompts_after(slack, looking)) == fitting
    for entities in ([], [VIEWED_CANVAS]):  # no channel: all that the person may read
        looking = slack.look_at("U1", *entities, typed=typed)
        assert len(await prompts_after(slack, looking)) == 3
    assert len(slack.calls("conversations.open")) == 1


async def test_prompts_keep_to_the_rules_of_the_channel_that_is_viewed(
    with_documents: Served, slack: FakeSlack
) -> None:
    slack.workspace.users["U1"].is_admin = True
    ruled = slack.command("U1", "C1", "/footnote", "set providers conversations")
    await ruled.acknowledged()
    await slack.until(lambda: slack.response_urls.received(str(ruled.response_url)))
    found = await prompts_after(slack, slack.look_at("U1", VIEWED_CHANNEL))
    assert "Compare two things" in found


async def test_nobody_views_something_if_slack_does_not_say_who(
    bot: Served, slack: FakeSlack
) -> None:
    await slack.look_at("U1", VIEWED_CHANNEL, named=False).acknowledged()
    found = await prompts_after(slack, slack.look_at("U2", VIEWED_CHANNEL))
    assert "比較兩樣東西" in found
    assert [call.args["users"] for call in slack.calls("conversations.open")] == ["U2"]


HOST = "footnote.example.com"


@asynccontextmanager
async def with_run_pages(
    slack: FakeSlack, folder: Path, search: Shelf | None = None
) -> AsyncIterator[Served]:
    """Served with run pages, to the host of which the app's previews belong."""
    slack.workspace.unfurl_domains.add(HOST)
    slack.add_channel("C2", "other", members=["U1", "U2"])
    slack.add_channel("G3", "closed", "group", members=["U1", "U2"])
    slack.add_stranger("U9", "eve", "T9OTHER")
    slack.add_channel("C4", "shared", members=["U1", "U2", "U9"])
    async with served(
        slack,
        folder,
        search=search,
        answering=lambda platform, _: platform.poster,
        public_url=f"https://{HOST}",
        console_token="t" * 32,
    ) as bot:
        yield bot


@pytest.fixture
async def with_pages(slack: FakeSlack, tmp_path: Path) -> AsyncIterator[Served]:
    async with with_run_pages(slack, tmp_path) as bot:
        yield bot


async def answered(bot: Served, slack: FakeSlack, channel: str) -> str:
    """Ask there; returns the address of the run's page."""
    mention = "" if channel.startswith("D") else f"{slack.mention} "
    before = len(await bot.rows("runs"))
    await slack.say("U1", channel, f"{mention}how tall is the tower?").acknowledged()
    await bot.ended(before + 1)
    return f"https://{HOST}/runs/{(await bot.rows('runs'))[-1]['id']}"


def previews(slack: FakeSlack, channel: str, ts: str) -> list[str]:
    message = slack.workspace.find(channel, ts)
    assert message is not None
    return [plain(one["blocks"]) for one in message.attachments]


async def test_a_shared_address_is_previewed_until_the_answer_is_deleted(
    with_pages: Served, slack: FakeSlack
) -> None:
    url = await answered(with_pages, slack, "C1")
    shared = await slack.say("U2", "C2", f"See {url}/pages/1 and {url}?x#y!").acknowledged()
    await slack.until(lambda: len(previews(slack, "C2", shared.ts)) == 2)
    source, answer = sorted(previews(slack, "C2", shared.ts))
    assert "how tall is the tower?" in answer.lower()
    assert "330 m tall" in answer
    assert "1 個來源" in answer
    assert "330 m tall" in source
    (reply,) = [one for one in slack.messages("C1") if one.bot]
    await slack.press("U1", reply, controls.DELETE).acknowledged()
    await slack.until(lambda: "330" not in str(previews(slack, "C2", shared.ts)))
    assert all("no longer exists" in each for each in previews(slack, "C2", shared.ts))
    later = await slack.say("U2", "C2", url).acknowledged()
    again = await slack.say("U1", "C2", f"{slack.mention} how tall is it?").acknowledged()
    await with_pages.ended(2)
    assert previews(slack, "C2", later.ts) == []
    assert again.ts


async def test_the_preview_of_an_answer_goes_when_its_question_is_edited(
    with_pages: Served, slack: FakeSlack
) -> None:
    url = await answered(with_pages, slack, "C1")
    shared = await slack.say("U2", "C2", url).acknowledged()
    await slack.until(lambda: "330 m tall" in str(previews(slack, "C2", shared.ts)))
    (asked,) = [one for one in slack.messages("C1") if not one.bot]
    slack.edit("C1", asked.ts, f"{slack.mention} Is the tower tall?")
    await slack.until(lambda: "330" not in str(previews(slack, "C2", shared.ts)))
    assert "The question has been edited since." in str(previews(slack, "C2", shared.ts))


@pytest.mark.parametrize(
    ("asked_in", "sharer", "shared_in", "shown"),
    [
        ("C1", "U2", "C2", True),  # asked where all members may read
        ("C1", "U2", "C4", False),  # where another company reads, too
        ("G3", "U2", "C2", False),
        ("G3", "U2", "G3", True),
        ("direct", "U2", "C2", False),
        ("direct", "U1", "C2", True),  # by who asked
    ],
)
async def test_an_answer_is_previewed_only_for_those_who_may_see_it(
    with_pages: Served, slack: FakeSlack, asked_in: str, sharer: str, shared_in: str, *, shown: bool
) -> None:
    direct = slack.im("U1")
    url = await answered(with_pages, slack, direct if asked_in == "direct" else asked_in)
    hidden = await slack.say(sharer, shared_in, f"{url}0 {url}x https://{HOST}/").acknowledged()
    shared = await slack.say(sharer, shared_in, url).acknowledged()
    if not shown:  # what is handled after it is shown
        url = await answered(with_pages, slack, shared_in)
        own = await slack.say("U1", shared_in, url).acknowledged()
        await slack.until(lambda: previews(slack, shared_in, own.ts))
        assert previews(slack, shared_in, shared.ts) == []
    await slack.until(lambda: previews(slack, shared_in, shared.ts) or not shown)
    assert previews(slack, shared_in, hidden.ts) == []


async def test_an_answer_from_documents_is_previewed_only_where_they_may_be_read(
    slack: FakeSlack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    rights = f'[[collections]]\nname = "t"\npaths = ["{tmp_path}/docs"]\nchannels = ["C1"]\n'
    (tmp_path / "footnote.toml").write_text(rights)
    monkeypatch.chdir(tmp_path)
    address = (tmp_path / "docs" / "tower.md").as_uri()
    page = Page(address, "The tower", "The tower is 330 m tall.", datetime.now(UTC))
    async with with_run_pages(slack, tmp_path, Shelf({address: page})) as bot:
        url = await answered(bot, slack, "C1")
        elsewhere = await slack.say("U1", "C2", f"{url} {url}/pages/1").acknowledged()
        here = await slack.say("U2", "C1", f"{url} {url}/pages/1").acknowledged()
        await slack.until(lambda: len(previews(slack, "C1", here.ts)) == 2)
        assert "The tower\nThe tower is 330 m tall." in "".join(previews(slack, "C1", here.ts))
        assert previews(slack, "C2", elsewhere.ts) == []


async def test_prompts_that_are_retired_harm_nothing(bot: Served, slack: FakeSlack) -> None:
    slack.refuse("assistant.threads.setSuggestedPrompts", "method_deprecated")
    opened = await slack.open_home("U1", tab="messages").acknowledged()
    await slack.say("U1", opened.channel, "how tall is it?").acknowledged()
    assert len(await bot.questions(1)) == 1
