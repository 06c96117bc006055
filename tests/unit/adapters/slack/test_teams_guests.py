"""Guests: who is one, and what follows from it on the way in and on the way out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack import format as controls
from adapters.slack.teams import Home, Person
from tests.contract.slack_harness import SlackHarness, slack_stage
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_workspace import BOT_ID, BOT_USER, Message
from tests.unit.adapters.slack.serving import Served, Stuck, served
from tests.unit.adapters.slack.test_interactions_buttons import a_button

ALONE, PART, WHOLE = Home("T1"), Home("T1", "E1"), Home("E1", "E1")


def of(team: str, enterprise: str = "", *, guest: bool = False) -> Person:
    return Person("U1", "ada", "en-US", team=team, enterprise=enterprise, guest=guest)


@pytest.mark.parametrize(
    ("home", "person", "teams", "expected"),
    [
        (ALONE, of("T1"), ["T1"], False),
        (ALONE, of("T1"), [], False),
        (ALONE, of("T1", guest=True), ["T1"], True),
        (ALONE, of("T2"), [], True),
        (ALONE, of("T2", "E2"), ["T2", "E2"], True),
        (ALONE, of("T1"), ["T2"], False),
        (ALONE, of(""), [], True),
        (ALONE, None, [], None),
        (ALONE, None, ["", "T1"], None),
        (ALONE, None, ["T1", "T2"], True),
        (ALONE, None, ["E2"], True),
        (PART, of("T1", "E1"), ["T1", "E1"], False),
        (PART, of("T7", "E1"), ["T7"], False),
        (PART, of("T7", "E1", guest=True), ["T7"], True),
        (PART, of("T7"), ["T7"], True),
        (PART, of("T2", "E2"), ["T2"], True),
        (PART, None, ["T7"], None),
        (PART, None, ["E1"], None),
        (PART, None, ["E2"], True),
        (WHOLE, of("T7", "E1"), ["T7"], False),
        (WHOLE, of("T2", "E2"), ["T2"], True),
        (WHOLE, of("T2"), ["T2"], True),
        (WHOLE, None, ["T7"], None),
        (WHOLE, None, ["T2", "E2"], True),
    ],
)
def test_a_guest_is_who_comes_from_outside(
    home: Home, person: Person | None, teams: list[str], expected: bool | None
) -> None:
    assert home.is_guest(person, teams) is expected


# ---------------------------------------------------------------- the way in


@pytest.fixture
def shared(slack: FakeSlack) -> FakeSlack:
    """C2 is shared with another team; eve is of that, max and may are guests."""
    slack.add_stranger("UEVE", "eve", "T9OTHER")
    slack.add_user("UMAX", "max")
    slack.workspace.users["UMAX"].is_restricted = True
    slack.add_user("UMAY", "may")
    slack.workspace.users["UMAY"].is_ultra_restricted = True
    slack.add_channel("C2", "shared", members=["U1", "UEVE", "UMAX", "UMAY"])
    return slack


def guests_asked(bot: Served) -> list[bool | None]:
    """The ``guest`` option that is kept with each question."""
    return [reply.run.options.guest for reply in bot.poster.replies]


@pytest.mark.parametrize(
    ("user", "guest"), [("U1", False), ("UEVE", True), ("UMAX", True), ("UMAY", True)]
)
async def test_a_question_knows_whether_its_author_is_a_guest(
    bot: Served, shared: FakeSlack, user: str, guest: bool
) -> None:
    said = await shared.say(user, "C2", f"{shared.mention} how tall is it?").acknowledged()
    (message,) = await bot.questions(1)
    assert message.thread.workspace == shared.team  # where Footnote is installed
    assert guests_asked(bot) == [guest]
    envelope = said.deliveries[0].payload
    assert envelope["team_id"] == ("T9OTHER" if user == "UEVE" else shared.team)


@pytest.mark.parametrize(
    ("user", "guest"), [("U1", None), ("UEVE", True), ("UMAX", None), ("UORG", True)]
)
async def test_what_the_event_does_not_tell_is_left_open_while_people_are_slow(
    bot: Served,
    shared: FakeSlack,
    user: str,
    guest: bool | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 0.05)
    shared.add_stranger("UORG", "org", "T8PART", enterprise="E8ORG")
    shared.workspace.channels["C2"].members.add("UORG")
    shared.slow(60.0, "users.info")
    await shared.say(user, "C2", f"{shared.mention} how tall is it?").acknowledged()
    await bot.questions(1)
    assert guests_asked(bot) == [guest]
    shared.up()


async def test_whoever_cannot_be_looked_up_is_a_guest(bot: Served, shared: FakeSlack) -> None:
    shared.refuse("users.info", "user_not_visible")
    await shared.say("U1", "C1", f"{shared.mention} how tall is it?").acknowledged()
    await shared.say("U1", "C1", f"{shared.mention} how wide is it?").acknowledged()
    await bot.questions(2)
    assert guests_asked(bot) == [True, True]


@pytest.mark.parametrize("user", ["UEVE", "UMAX"])
async def test_refused_guests_are_told_why_and_nobody_else(
    shared: FakeSlack, tmp_path: Path, user: str
) -> None:
    async with served(shared, tmp_path, guests="deny") as bot:
        await shared.say(user, "C2", f"{shared.mention} how tall is it?").acknowledged()
        assert "does not answer guests" in await bot.whisper(user, "C2")
        assert await bot.rows("messages") == []
        assert shared.calls("chat.postMessage") == []
        await shared.say("U1", "C2", f"{shared.mention} how tall is it?").acknowledged()
        assert [message.author.id for message in await bot.questions(1)] == ["U1"]


async def test_where_guests_are_refused_the_unknown_ask_again(
    shared: FakeSlack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 0.05)
    async with served(shared, tmp_path, guests="deny") as bot:
        shared.slow(60.0, "users.info")
        await shared.say("U1", "C1", f"{shared.mention} how tall is it?").acknowledged()
        assert "ask again in a moment" in await bot.whisper("U1", "C1")
        assert await bot.rows("messages") == []
        shared.up()


async def test_a_question_of_before_is_not_edited_by_a_guest_who_may_not_ask_any_more(
    shared: FakeSlack, tmp_path: Path
) -> None:
    async with served(shared, tmp_path) as bot:
        said = await shared.say("UEVE", "C2", f"{shared.mention} how tall is it?").acknowledged()
        await bot.ended(1)
        bot.reception.settings = bot.reception.settings.model_copy(update={"guests": "deny"})
        edited = shared.edit("C2", said.ts, f"{shared.mention} how wide is it?")
        await edited.acknowledged()
        assert "does not answer guests" in await bot.whisper("UEVE", "C2")
        assert [row["text"] for row in await bot.rows("messages")] == ["how tall is it?"]


@pytest.mark.parametrize("slow", [False, True])
async def test_a_guest_who_presses_is_one(
    shared: FakeSlack, tmp_path: Path, slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while only the press itself tells of which team they are."""
    async with served(shared, tmp_path, guests="deny") as bot:
        said = await shared.say("U1", "C2", f"{shared.mention} how tall is it?").acknowledged()
        await bot.questions(1)
        run = bot.poster.replies[0].run.id
        blocks = [
            {"type": "actions", "block_id": "b", "elements": [a_button(controls.DEEPER, run)]}
        ]
        ts = shared.workspace.clock.ts()
        reply = Message("C2", ts, BOT_USER, "330 m", said.ts, blocks=blocks, bot_id=BOT_ID)
        shared.workspace.keep(reply)
        if slow:
            monkeypatch.setattr("adapters.slack.teams.PATIENCE_SECONDS", 0.05)
            shared.slow(60.0, "users.info")
        pressed = await shared.press("UEVE", ts, controls.DEEPER, channel="C2").acknowledged()
        url = str(pressed.response_url)
        (answer,) = await shared.until(lambda: shared.response_urls.received(url))
        assert "does not answer guests" in answer["text"]
        assert len(await bot.rows("runs")) == 1
        shared.up()


async def test_guests_are_no_admins(bot: Served, shared: FakeSlack) -> None:
    """Not even those whom Slack calls one, such as an admin of another team."""
    shared.workspace.users["UMAX"].is_admin = True
    doing = await shared.command("UMAX", "C2", "/footnote", "set tone brief").acknowledged()
    url = str(doing.response_url)
    (answer,) = await shared.until(lambda: shared.response_urls.received(url))
    assert "Only an admin" in answer["text"]


# ---------------------------------------------------------------- the way out


async def test_a_stream_for_a_guest_names_the_team_of_the_guest(
    shared: FakeSlack, tmp_path: Path
) -> None:
    async with served(
        shared, tmp_path, search=Stuck({}), answering=lambda platform, poster: platform.poster
    ):
        await shared.say("UEVE", "C2", f"{shared.mention} how tall is it?").acknowledged()
        (call,) = await shared.until(lambda: shared.calls("chat.startStream"))
        assert (call.error, call.args["recipient_team_id"]) == (None, "T9OTHER")
        assert call.args["recipient_user_id"] == "UEVE"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[SlackHarness]:
    async with slack_stage(tmp_path) as stage:
        yield stage


async def test_the_poster_tells_guests_from_members(stage: SlackHarness) -> None:
    stage.slack.add_stranger("UEVE", "eve", "T9OTHER")
    stage.slack.workspace.users["U2"].is_restricted = True
    poster = stage.poster()
    ours = stage.ask("How tall is it?")
    bobs = stage.ask_in(ours, "And how old?")
    assert not await poster.is_guest(ours)
    assert await poster.is_guest(bobs)
    stage.slack.refuse("users.info", "user_not_found")
    assert await stage.poster().is_guest(ours)


async def test_a_refusal_that_is_not_about_the_person_makes_nobody_a_guest_for_long(
    bot: Served, shared: FakeSlack
) -> None:
    shared.refuse("users.info", "missing_scope")
    await shared.say("U1", "C1", f"{shared.mention} how tall is it?").acknowledged()
    await bot.questions(1)
    assert bot.poster.replies[0].run.options.guest is None
    shared.relent("users.info")
    bot.platform.poster._teams.team.people._hurry_until = 0.0  # type: ignore[union-attr]
    await shared.say("U1", "C1", f"{shared.mention} how tall is it?").acknowledged()
    await bot.questions(2)
    assert bot.poster.replies[1].run.options.guest is False
