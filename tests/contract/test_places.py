"""The rights by kind of place: each row of two tables is asked in by every way that it has.

The tables are the ones of the handbook's page on rights. A place of a kind that is missing here may
read nothing before somebody adds its row.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.slack import format as controls
from adapters.slack.calls import Timing
from adapters.slack.interactions import RESEARCH_THIS
from bot.core.messages import Audience, Message, RunOptions
from bot.operation.configuration import load_settings
from bot.rights.rights import Rights
from bot.search.indexer import Indexer
from tests.contract.places_stage import (
    MANIFEST,
    QUESTION,
    Answering,
    discord_answers,
    secrets_in,
    slack_answers,
    toml,
    write_documents,
)
from tests.contract.rights_stage import GroupedPoster
from tests.fakes.discord_acts import join_thread, start_thread
from tests.fakes.discord_server import Channel, FakeDiscord, Guild, User
from tests.fakes.discord_state import ANNOUNCEMENT, PRIVATE_THREAD, STAGE, VOICE
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_screen import Shown
from tests.unit.samples import a_message

NOTHING = frozenset[str]()
EVERYBODY = frozenset({"open", "loose"})
CHANNEL = EVERYBODY | {"here"}
PERSON = EVERYBODY | {"mine"}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The documents and the data folder with their index."""
    root = tmp_path_factory.mktemp("places").resolve()
    docs, data = root / "docs", root / "data"
    write_documents(docs)
    data.mkdir()
    Indexer(data / "index.sqlite").index([docs])
    return docs, data


Names = frozenset[str]


@dataclass(frozen=True)
class Kind:
    """A kind of place, and the documents its readers may be told about. ``ways`` are how questions
    come from there."""

    name: str
    may: Names
    make: Callable[[Any], Any]
    ways: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


# ---------------------------------------------------------------- Discord


@dataclass
class Servers:
    """A server with the bot, one without it, and Ada, who installed the app for herself."""

    discord: FakeDiscord
    home: Guild
    foreign: Guild
    ada: User
    bob: User

    def channel(self, guild: Guild, type: int) -> Channel:
        return self.discord._channel(type, guild, "place")

    def thread(self, parent: Channel, type: int) -> Channel:
        with self.discord.world.lock:
            thread = start_thread(self.discord.world, parent, self.ada, "Gate", type=type)
            join_thread(self.discord.world, thread, self.discord.bot)
            return thread


def _in_thread(s: Servers) -> Channel:
    return s.thread(s.discord.text(s.home, "talk"), 11)


def _in_private_thread(s: Servers) -> Channel:
    return s.thread(s.discord.text(s.home, "talk"), PRIVATE_THREAD)


def _in_forum(s: Servers) -> Channel:
    return s.discord.people.forum_post(s.ada, s.discord.forum(s.home, "f"), "Gate", "Hm.")[0]


def _in_group(s: Servers) -> Channel:
    return s.discord.private(s.ada, s.bob, s.discord.user("Cat"))


def _in_foreign_thread(s: Servers) -> Channel:
    return s.thread(s.discord.text(s.foreign, "talk"), 11)


MEMBER = ("mention", "ask", "research", "deeper", "details")
BY_USER = ("ask", "research", "details")  # the bot cannot post what "Dig deeper" finds there
DISCORD = (
    Kind("a text channel", CHANNEL, lambda s: s.discord.text(s.home, "talk"), MEMBER),
    Kind("an announcement channel", CHANNEL, lambda s: s.channel(s.home, ANNOUNCEMENT), MEMBER),
    Kind("the chat of a voice channel", CHANNEL, lambda s: s.channel(s.home, VOICE), MEMBER),
    Kind("the chat of a stage", CHANNEL, lambda s: s.channel(s.home, STAGE), MEMBER),
    Kind("a public thread", CHANNEL, _in_thread, MEMBER),
    Kind("a private thread", CHANNEL, _in_private_thread, MEMBER),
    Kind("a post of a forum", CHANNEL, _in_forum, MEMBER),
    Kind("a direct message with the bot", PERSON, lambda s: s.discord.direct(s.ada), MEMBER),
    Kind("two people", EVERYBODY, lambda s: s.discord.private(s.ada, s.bob), BY_USER),
    Kind("a group message", EVERYBODY, _in_group, BY_USER),
    Kind("a foreign channel", EVERYBODY, lambda s: s.discord.text(s.foreign, "talk"), BY_USER),
    Kind("a foreign voice channel", EVERYBODY, lambda s: s.channel(s.foreign, VOICE), BY_USER),
    Kind("a foreign thread", EVERYBODY, _in_foreign_thread, BY_USER),
)


@pytest.fixture
def servers() -> Iterator[Servers]:
    with FakeDiscord() as discord:
        home = discord.guild("Home")
        foreign = discord.guild("Foreign", installed=False)
        ada = discord.member(home, "Ada")
        discord.join(foreign, ada)
        yield Servers(discord, home, foreign, ada, discord.user("Bob"))


async def asked_on_discord(
    servers: Servers, place: Channel, way: str, bot: Answering
) -> tuple[Names, str]:
    """Ask in a place; return the documents used, and what the press was shown."""
    discord, ada, number = servers.discord, servers.ada, len(bot.runs)
    people = discord.people
    match way:
        case "mention":
            people.say(ada, place, QUESTION, mentions_bot=True)
        case "ask":
            people.slash(ada, place, "ask", {"question": QUESTION})
        case "research":
            said = people.say(ada, place, QUESTION)
            people.message_command(ada, "Research this", said)
        case _:
            first = bot.runs[0]
            id = f"footnote:{way}:{first}"
            messages = [m for c in discord.world.channels.values() for m in c.messages.values()]
            (answer,) = [m for m in messages if m.components and id in repr(m.components)]
            pressed = people.press(ada, answer, id)
            if way == "details":
                await discord.until(lambda: pressed.replies and not pressed.replies[-1].flags & 128)
                return await bot.used(0), discord.transcript(answer.channel, to=ada)
    return await bot.used(number), ""


@asynccontextmanager
async def in_discord(
    servers: Servers,
    places: Iterable[Channel],
    folders: tuple[Path, Path],
    here: Path,
    **settings: Any,
) -> AsyncIterator[Answering]:
    """Answer there, where a collection lists each place and another one lists Ada."""
    docs, data = folders
    listed = [each.id for place in places for each in (place, place.parent) if each is not None]
    Path("footnote.toml").write_text(toml(docs, listed, [servers.ada.id]), encoding="utf-8")
    async with discord_answers(servers.discord, docs, data, here, **settings) as bot:
        yield bot


def transcripts(discord: FakeDiscord) -> dict[str, str]:
    """Everything visible, by channel."""
    return {each.id: discord.transcript(each) for each in list(discord.world.channels.values())}


async def test_a_question_in_discord_is_answered_from_what_all_readers_may_see(
    servers: Servers, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    places: dict[Kind, Channel] = {kind: kind.make(servers) for kind in DISCORD}
    async with in_discord(servers, places.values(), folders, tmp_path) as bot:
        for kind, place in places.items():
            bot.runs.clear()
            before = transcripts(servers.discord)
            used, told = {}, ""
            for way in kind.ways:
                used[way], shown = await asked_on_discord(servers, place, way, bot)
                told += shown
            assert used == dict.fromkeys(kind.ways, kind.may), kind.name
            for id, text in transcripts(servers.discord).items():
                told += text if text != before.get(id) else ""
            assert secrets_in(told) <= kind.may, kind.name
            assert secrets_in(told), kind.name


@pytest.mark.parametrize(
    ("guests", "may"), [("web", NOTHING), ("deny", NOTHING), ("members", EVERYBODY)]
)
async def test_where_only_some_may_ask_strangers_are_not_everybody(
    guests: str, may: Names, servers: Servers, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """The list of those who may ask has Ada, and not who reads her answers."""
    strangers = [kind for kind in DISCORD if kind.ways == BY_USER]
    places: dict[Kind, Channel] = {kind: kind.make(servers) for kind in strangers}
    lists = {"allow_users": servers.ada.id, "guests": guests}
    async with in_discord(servers, places.values(), folders, tmp_path, **lists) as bot:
        for kind, place in places.items():
            bot.runs.clear()
            used = {way: (await asked_on_discord(servers, place, way, bot))[0] for way in BY_USER}
            assert used == dict.fromkeys(BY_USER, may), kind.name


async def test_group_messages_are_not_answered_where_direct_messages_are_switched_off(
    servers: Servers, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    place = _in_group(servers)
    async with in_discord(servers, [place], folders, tmp_path, direct_messages=False) as bot:
        asked = servers.discord.people.slash(servers.ada, place, "ask", {"question": QUESTION})
        await servers.discord.until(lambda: asked.replies)
        assert "does not take direct messages" in asked.replies[0].text
        assert asked.replies[0].private_to is servers.ada
        assert bot.runs == []


# ---------------------------------------------------------------- Slack

SAID = ("mention", "follow-up", "edit", "ask", "research", "deeper", "details")
IN_PRIVATE = ("mention", "ask", "research", "deeper", "details")
SLACK = (
    Kind("a public channel", CHANNEL, lambda s: _slack(s, "C", "channel"), SAID),
    Kind("a private channel", CHANNEL, lambda s: _slack(s, "C", "group"), SAID),
    Kind("a group message", CHANNEL, lambda s: _slack(s, "C", "mpim"), SAID),
    Kind("a group message of the past", CHANNEL, lambda s: _slack(s, "G", "mpim"), SAID),
    Kind("a direct message with the app", PERSON, lambda s: str(s.im("UADA")), IN_PRIVATE),
    Kind("a channel of the organisation", CHANNEL, lambda s: _of_organisation(s), SAID),
    Kind("a shared public channel", NOTHING, lambda s: _shared(s, "channel"), SAID),
    Kind("a shared private channel", NOTHING, lambda s: _shared(s, "group"), SAID),
    Kind("a shared group message", NOTHING, lambda s: _shared(s, "mpim"), SAID),
)


def _slack(slack: FakeSlack, prefix: str, kind: str, *others: str) -> str:
    id = f"{prefix}PLACE{len(slack.workspace.channels)}"
    return slack.add_channel(id, id.lower(), kind, ["UADA", "UBOB", *others])


def _of_organisation(slack: FakeSlack) -> str:
    channel = _slack(slack, "C", "channel")
    slack.workspace.channels[channel].org = True
    return channel


def _shared(slack: FakeSlack, kind: str) -> str:
    return _slack(slack, "C", kind, "UEVE")


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSlack]:
    # Slack's rate limits are kept by each workspace: here all places are in one.
    unpaced = Timing(between=0.0, pace=0.0)
    monkeypatch.setattr("adapters.slack.platform.Timing", lambda: unpaced)
    with FakeSlack(MANIFEST, rate_limits=UNLIMITED) as slack:
        slack.add_user("UADA", "ada")
        slack.add_user("UBOB", "bob")
        slack.add_stranger("UEVE", "eve", "T9OTHER")
        yield slack


def answer_with(slack: FakeSlack, place: str, thread: str, action: str) -> Shown:
    """Return the message with a button under an answer."""
    shown = slack.replies(place, thread)
    return next(m for m in shown if any(e["action_id"] == action for _, e in m.elements()))


async def asked_in_slack(slack: FakeSlack, place: str, way: str, bot: Answering) -> Names:
    """Ask in a place; return the documents used."""
    number = len(bot.runs)
    mention = "" if place.startswith("D") else f"{slack.mention} "
    match way:
        case "mention":
            slack.say("UADA", place, mention + QUESTION)
        case "follow-up":
            root = (await bot.run(0)).message.thread.thread
            slack.say("UADA", place, mention + QUESTION, root)
        case "edit":
            said = await slack.say("UADA", place, QUESTION).acknowledged()
            slack.edit(place, said.ts, mention + QUESTION)
        case "ask":
            slack.command("UADA", place, "/ask", QUESTION)
        case "research":
            said = await slack.say("UADA", place, QUESTION).acknowledged()
            if slack.bot_user in slack.workspace.channels[place].members and not mention:
                number += 1
            slack.shortcut("UADA", RESEARCH_THIS, place, said.ts)
        case _:
            first = (await bot.run(0)).message.thread.thread
            action = {"deeper": controls.DEEPER, "details": controls.DETAILS}[way]
            answer = answer_with(slack, place, first, action)
            if way == "details":
                before = len(slack.workspace.modals)
                slack.press("UADA", answer, action)
                await slack.until(lambda: len(slack.workspace.modals) > before)
                return await bot.used(0)
            slack.press("UADA", answer, action)
    return await bot.used(number)


@asynccontextmanager
async def in_slack(
    slack: FakeSlack, places: Iterable[str], folders: tuple[Path, Path], here: Path
) -> AsyncIterator[Answering]:
    """See ``in_discord``."""
    docs, data = folders
    Path("footnote.toml").write_text(toml(docs, list(places), ["UADA"]), encoding="utf-8")
    async with slack_answers(slack, docs, data, here) as bot:
        yield bot


async def told_in_slack(slack: FakeSlack, place: str, bot: Answering) -> str:
    """Everything shown in a place, also to one person, and in views."""
    threads = [(await bot.run(n)).message.thread.thread for n in range(len(bot.runs))]
    shown = [slack.screen(place, thread) for thread in threads]
    return repr([shown, slack.messages(place), slack.workspace.modals])


async def test_a_question_in_slack_is_answered_from_what_all_readers_may_see(
    slack: FakeSlack, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """So is the response to the command that tells one person what is searched there."""
    places: dict[Kind, str] = {kind: kind.make(slack) for kind in SLACK}
    async with in_slack(slack, places.values(), folders, tmp_path) as bot:
        for kind, place in places.items():
            bot.runs.clear()
            slack.workspace.modals.clear()
            used = {way: await asked_in_slack(slack, place, way, bot) for way in kind.ways}
            told = await told_in_slack(slack, place, bot)
            assert used == dict.fromkeys(kind.ways, kind.may), kind.name
            assert secrets_in(told) <= kind.may, kind.name
            assert secrets_in(told) or not kind.may, kind.name
            done = await slack.command("UADA", place, "/footnote").acknowledged()
            url = str(done.response_url)
            (answer,) = await slack.until(partial(slack.response_urls.received, url))
            assert answer["response_type"] == "ephemeral"
            named = {name for name in ("open", "here", "mine") if f"“{name}”" in answer["text"]}
            assert named == kind.may - {"loose"}, kind.name
            assert ("No documents" in answer["text"]) == (not kind.may), kind.name


async def test_somebody_of_another_company_is_a_guest_in_a_direct_message(
    slack: FakeSlack, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    place = slack.im("UEVE")
    async with in_slack(slack, [place], folders, tmp_path) as bot:
        slack.say("UEVE", place, QUESTION)
        assert await bot.used(0) == NOTHING


UNSURE = ("ask", "research", "deeper")


def is_refused(slack: FakeSlack, place: str) -> bool:
    return "documents that may not be read" in repr(slack.messages(place))


@pytest.mark.parametrize("why", ["no scope", "Slack is away"])
async def test_while_slack_does_not_tell_who_reads_outsiders_may(
    why: str,
    slack: FakeSlack,
    folders: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only the envelope of an event tells it without a look-up."""
    places = {kind: kind.make(slack) for kind in SLACK if "direct" not in kind.name}
    if why == "no scope":
        slack.without_scopes("channels:read", "groups:read", "mpim:read")
    else:
        slack.refuse("conversations.info", "internal_error")
    async with in_slack(slack, places.values(), folders, tmp_path) as bot:
        for kind, place in places.items():
            bot.runs.clear()
            ways = ("mention", *UNSURE)
            used = {way: await asked_in_slack(slack, place, way, bot) for way in ways}
            assert used == {"mention": kind.may, **dict.fromkeys(UNSURE, NOTHING)}, kind.name
            slack.workspace.modals.clear()
            root = (await bot.run(0)).message.thread.thread
            slack.press("UADA", answer_with(slack, place, root, controls.DETAILS), controls.DETAILS)
            if kind.may:
                await slack.until(partial(is_refused, slack, place))
                assert slack.workspace.modals == []
    assert capsys.readouterr().out.count("grant the app the scopes channels:read") == 1


async def test_a_channel_that_another_company_joins_is_shared_from_then_on(
    slack: FakeSlack, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    place = _slack(slack, "C", "channel")
    async with in_slack(slack, [place], folders, tmp_path) as bot:
        assert await asked_in_slack(slack, place, "mention", bot) == CHANNEL
        slack.workspace.channels[place].members.add("UEVE")
        for way in ("follow-up", "edit", "ask", "research", "deeper"):
            assert await asked_in_slack(slack, place, way, bot) == NOTHING, way


async def test_where_the_app_is_no_member_it_answers_the_asker_alone(
    slack: FakeSlack, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """Such as two people's conversation, which has an id like one with the app."""
    kinds = ("channel", "group", "mpim", "im")
    places = [
        slack.add_channel(
            f"{'D' if kind == 'im' else 'C'}PLACE{kind.upper()}{way.upper()}",
            f"{kind}-{way}",
            kind,
            ["UADA", "UBOB"],
            bot=False,
        )
        for kind in kinds
        for way in ("ask", "research")
    ]
    async with in_slack(slack, places, folders, tmp_path) as bot:
        for place in places:
            bot.runs.clear()
            way = "ask" if place.endswith("ASK") else "research"
            await asked_in_slack(slack, place, way, bot)
            seen = [each for each in slack.messages(place) if each.ephemeral_to != "UADA"]
            assert secrets_in(repr(seen)) == NOTHING
            assert [each for each in seen if each.bot] == []


# ---------------------------------------------------------------- standing questions


@pytest.mark.parametrize(
    ("told", "now", "guest"),
    [
        ("channel", "outsiders", True),
        ("workspace", "outsiders", True),
        ("outsiders", "channel", False),
        ("channel", "unknown", False),
        ("unknown", "unknown", True),
    ],
)
async def test_a_standing_question_is_for_who_reads_there_today(
    told: Audience, now: Audience, guest: bool
) -> None:
    class Poster(GroupedPoster):
        async def audience(self, message: Message) -> Audience:
            return now

    message = replace(a_message(), audience=told)
    rights = Rights(load_settings(), {message.thread.platform: Poster()})
    options = RunOptions(watch="w1").asked_in(message)
    assert (await rights.reader(message, options)).guest == guest
