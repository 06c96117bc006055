"""The app's Home tab, and the prompts of its messages tab."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.slack.views import Connected, home_view
from bot.core.texts import LOCALES, texts_for
from bot.search.indexer import Indexer
from bot.storage.workspaces import Use
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_call import faults_in_view
from tests.fakes.slack_screen import plain
from tests.unit.adapters.slack.serving import Served, served


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
    assert "Thinking with: closest" in home
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
    many = tuple(f"provider-{number}" for number in range(60))
    for connected in (Connected("closest", ("wikipedia",), None), Connected("m", many, 7)):
        view = home_view(connected, use, texts_for(locale))
        assert faults_in_view(view, ("home",)) == []


async def test_the_messages_tab_begins_with_prompts(bot: Served, slack: FakeSlack) -> None:
    opened = await slack.open_home("U1", tab="messages").acknowledged()
    state = await slack.until(lambda: slack.workspace.assistant.get((opened.channel, "")))
    assert state["prompts"]["prompts"][0]["title"] == "Compare two things"
    assert slack.home("U1") is None


async def test_prompts_that_are_retired_harm_nothing(bot: Served, slack: FakeSlack) -> None:
    slack.refuse("assistant.threads.setSuggestedPrompts", "method_deprecated")
    opened = await slack.open_home("U1", tab="messages").acknowledged()
    await slack.say("U1", opened.channel, "how tall is it?").acknowledged()
    assert len(await bot.questions(1)) == 1
