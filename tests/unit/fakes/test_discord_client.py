"""The real discord.py talks to the fake over real sockets, and everything means what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
import pytest
import yarl
from discord import app_commands

from tests.fakes.discord_server import Channel, FakeDiscord, File, Guild, Interaction, User


@dataclass
class Place:
    discord: FakeDiscord
    guild: Guild
    general: Channel
    ada: User


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with FakeDiscord() as fake:
        monkeypatch.setattr(discord.http.Route, "BASE", fake.url)
        gateway = yarl.URL(fake.gateway.url)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
        guild = fake.guild("Reading room", locale="de")
        yield Place(fake, guild, fake.text(guild, "general"), fake.member(guild, "Ada"))


class Bot(discord.Client):
    """Writes down what it hears: (event, what)."""

    def __init__(self, intents: discord.Intents, **options: Any) -> None:
        nobody = discord.AllowedMentions.none()
        super().__init__(
            intents=intents, guild_ready_timeout=0.02, allowed_mentions=nobody, **options
        )
        self.tree = app_commands.CommandTree(self)
        self.heard: list[tuple[str, Any]] = []

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Five seconds would be waited here."""

    def of(self, event: str) -> list[Any]:
        return [what for name, what in self.heard if name == event]

    async def on_message(self, message: discord.Message) -> None:
        if message.author.id != self.application_id:
            self.heard.append(("message", message))

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        self.heard.append(("edit", payload))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self.heard.append(("delete", payload.message_id))

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        self.heard.append(("reaction", payload))

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.heard.append(("thread", thread))

    async def on_resumed(self) -> None:
        self.heard.append(("resumed", None))


def intents(*, content: bool = True) -> discord.Intents:
    chosen = discord.Intents.default()
    chosen.message_content = content
    return chosen


@asynccontextmanager
async def running(fake: FakeDiscord, bot: discord.Client) -> AsyncIterator[None]:
    task = asyncio.create_task(bot.start(fake.token))
    try:
        await fake.until(lambda: bot.is_ready() or task.done())
        if task.done():
            task.result()
        yield
    finally:
        await bot.close()
        await asyncio.gather(task, return_exceptions=True)


async def texts(place: Place, bot: Bot, count: int) -> list[str]:
    await place.discord.until(lambda: len(bot.of("message")) >= count)
    return [message.content for message in bot.of("message")]


async def test_what_people_say_edit_delete_and_react_is_heard(place: Place) -> None:
    people, bot = place.discord.people, Bot(intents())
    async with running(place.discord, bot):
        said = people.say(place.ada, place.general, "look", attachments=[File("a.txt", b"A file.")])
        people.react(place.ada, said, "👍")
        people.resolve_embed(said, "https://example.org")
        people.edit(said, "look here")
        people.delete(said)
        await place.discord.until(lambda: bot.of("delete"))
        heard = bot.of("message")[0]
        assert (heard.author.name, heard.guild.name) == ("ada", "Reading room")
        assert await heard.attachments[0].read() == b"A file."
        assert bot.of("reaction")[0].emoji.name == "👍"
        resolved, edited = (payload.data for payload in bot.of("edit"))
        assert resolved["edited_timestamp"] is None
        assert resolved["content"] == "look"
        assert (edited["content"], edited["edited_timestamp"] is None) == ("look here", False)
        assert bot.of("delete") == [int(said.id)]
    assert place.discord.visible(place.general) == []


async def test_content_is_withheld_without_its_intent(place: Place) -> None:
    place.discord.app.content_intent = False
    people, bot = place.discord.people, Bot(intents(content=False))
    async with running(place.discord, bot):
        quiet = people.say(place.ada, place.general, "between us")
        people.say(place.ada, place.general, "and you?", mentions_bot=True, reply_to=quiet)
        people.say(place.ada, place.discord.direct(place.ada), "a word")
        mentioned = f"<@{place.discord.bot.id}> and you?"
        assert await texts(place, bot, 3) == ["", mentioned, "a word"]
        assert bot.of("message")[1].reference.resolved.content == ""
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        read = [message.content async for message in channel.history()]
        assert read == [mentioned, ""]


async def test_an_intent_that_is_not_switched_on_ends_the_connection(place: Place) -> None:
    place.discord.app.content_intent = False
    bot = Bot(intents())
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(place.discord, bot):
            pass


async def test_a_wrong_token_is_refused(place: Place) -> None:
    bot = Bot(intents())
    with pytest.raises(discord.LoginFailure):
        await bot.login("wrong")
    await bot.close()


async def test_only_the_events_of_the_chosen_intents_arrive(place: Place) -> None:
    chosen = intents()
    chosen.guild_messages = chosen.guild_reactions = False
    bot = Bot(chosen)
    async with running(place.discord, bot):
        said = place.discord.people.say(place.ada, place.general, "guild")
        place.discord.people.react(place.ada, said, "👍")
        place.discord.people.say(place.ada, place.discord.direct(place.ada), "direct")
        assert await texts(place, bot, 1) == ["direct"]
        assert bot.of("reaction") == []


def with_commands(bot: Bot, seen: dict[str, discord.Interaction]) -> None:
    """/ask, a message command, and a button that lives on."""

    @bot.tree.command(name="ask", description="Ask a question")
    @app_commands.choices(depth=[app_commands.Choice(name="Deep", value="deep")])
    @app_commands.allowed_installs(guilds=True, users=True)
    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=True)
    async def ask(interaction: discord.Interaction, question: str, depth: str = "standard") -> None:
        seen["ask"] = interaction
        await interaction.response.defer(thinking=True)
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Dig deeper", custom_id="deep:1"))
        await interaction.edit_original_response(content=f"{question} ({depth})", view=view)
        await interaction.followup.send("Only for you.", ephemeral=True)

    @bot.tree.context_menu(name="Research this")
    async def research(interaction: discord.Interaction, message: discord.Message) -> None:
        seen["research"] = interaction
        await interaction.response.send_message(f"On it: {message.content}", ephemeral=True)

    async def pressed(interaction: discord.Interaction) -> None:
        if interaction.type is discord.InteractionType.component:
            seen["press"] = interaction
            await interaction.response.defer()
            await interaction.edit_original_response(content="Digging.", view=None)

    bot.event(pressed)
    bot.on_interaction = pressed  # type: ignore[attr-defined]


async def until_followed(fake: FakeDiscord, asked: Interaction) -> None:
    await fake.until(lambda: asked.followups)


async def test_commands_and_buttons_answer_in_all_their_ways(place: Place) -> None:
    fake, people, bot = place.discord, place.discord.people, Bot(intents())
    seen: dict[str, discord.Interaction] = {}
    with_commands(bot, seen)
    async with running(fake, bot):
        await bot.tree.sync()
        asked = people.slash(
            place.ada, place.general, "ask", {"question": "Why?", "depth": "deep"}, locale="zh-CN"
        )
        await fake.until(lambda: asked.followups)
        assert asked.original is not None
        assert [post.content for post in fake.posts(place.general)] == ["Why? (deep)"]
        for_ada = fake.posts(place.general, to=place.ada)
        assert [post.ephemeral for post in for_ada] == [False, True]
        interaction = seen["ask"]
        assert interaction.locale is discord.Locale.chinese
        assert interaction.guild_locale is discord.Locale.german
        assert interaction.is_guild_integration()
        assert interaction.app_permissions.create_public_threads

        pressed = people.press(place.ada, asked.original, "Dig deeper")
        await fake.until(lambda: fake.posts(place.general)[0].content == "Digging.")
        assert pressed.acknowledged
        assert fake.posts(place.general)[0].content == "Digging."
        assert fake.posts(place.general)[0].buttons == ()

        said = people.say(place.ada, place.general, "The sky is blue.")
        research = people.message_command(place.ada, "Research this", said)
        await fake.until(lambda: research.replies)
        assert research.replies[0].content == "On it: The sky is blue."


async def test_a_user_brings_the_app_where_the_bot_is_not(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    elsewhere = fake.guild("Elsewhere", installed=False)
    lobby, friend = fake.text(elsewhere, "lobby"), fake.user("Friend")
    fake.join(elsewhere, place.ada)
    seen: dict[str, discord.Interaction] = {}
    with_commands(bot, seen)
    async with running(fake, bot):
        await bot.tree.sync()
        for channel, context in ((lobby, "guild"), (fake.private(place.ada, friend),
                                                    "private_channel")):  # fmt: skip
            asked = fake.people.slash(place.ada, channel, "ask", {"question": "Why?"})
            await until_followed(fake, asked)
            assert seen["ask"].is_user_integration()
            assert getattr(seen["ask"].context, context)
            with pytest.raises(discord.Forbidden) as refused:
                await bot.fetch_channel(int(channel.id))
            assert refused.value.code == 50001
        said = fake.people.say(place.ada, lobby, "Hm.")
        with pytest.raises(LookupError):
            fake.people.message_command(place.ada, "Research this", said)


async def test_threads_are_made_from_messages_and_by_people_in_forums(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    forum = fake.forum(place.guild, "ideas")
    async with running(fake, bot):
        said = fake.people.say(place.ada, place.general, "question")
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        source = channel.get_partial_message(int(said.id))
        thread = await source.create_thread(name="Why?")
        assert thread.id == int(said.id)
        with pytest.raises(discord.HTTPException) as twice:
            await source.create_thread(name="Again?")
        assert twice.value.code == 160004
        theirs, _ = fake.people.forum_post(place.ada, forum, "Hers", "hm", mentions_bot=True)
        await fake.until(lambda: len(bot.of("thread")) == 2)
        assert [message.type for message in fake.visible(fake.threads_in(place.general)[0])] == [21]
        assert [message.type for message in fake.visible(place.general)] == [0]

        fake.people.archive(theirs)
        await (await bot.fetch_channel(int(theirs.id))).send("awake")  # type: ignore[union-attr]
        assert not theirs.archived
        fake.people.archive(theirs, locked=True)
        with pytest.raises(discord.HTTPException) as locked:
            await (await bot.fetch_channel(int(theirs.id))).send("?")  # type: ignore[union-attr]
        assert locked.value.code == 160005


async def test_a_repeated_nonce_finds_the_message_even_when_its_answer_was_lost(
    place: Place,
) -> None:
    fake, bot = place.discord, Bot(intents())
    async with running(fake, bot):
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        fake.cut(where="POST /channels")
        with pytest.raises(aiohttp.ClientError):
            await channel.send("answer", nonce="run:1")
        again = await channel.send("answer", nonce="run:1")
        assert [post.id for post in fake.posts(place.general)] == [str(again.id)]
        fake.clock.advance(600)
        await channel.send("answer", nonce="run:1")
        assert len(fake.posts(place.general)) == 2


async def test_nobody_is_pinged_when_nobody_may_be(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    fake.allow(place.general, "MENTION_EVERYONE")
    async with running(fake, bot):
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        text = f"@everyone @here {place.ada.mention}"
        sent = await channel.send(text)
        assert fake.pings() == []
        await channel.send(text, allowed_mentions=discord.AllowedMentions.all())
        assert fake.pings() == [(text, frozenset({"everyone", place.ada.id}))]
        await sent.edit(content="quiet", suppress=True)
        assert fake.posts(place.general)[0].previews_suppressed


async def test_an_edit_and_a_reply_ping_unless_they_say_otherwise(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    async with running(fake, bot):
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        said = fake.people.say(place.ada, place.general, "Why?")
        source = channel.get_partial_message(int(said.id))
        reply = await source.reply("hm")
        assert fake.pings() == []
        # Rules of the first version do not hold for the next one.
        raw = {"content": f"Ada: {place.ada.mention}"}
        where: dict[str, Any] = {"channel_id": channel.id, "message_id": reply.id}
        path = "/channels/{channel_id}/messages/{message_id}"
        await bot.http.request(discord.http.Route("PATCH", path, **where), json=raw)
        assert [ids for _, ids in fake.pings()] == [frozenset({place.ada.id})]
        raw["allowed_mentions"] = {"parse": []}  # type: ignore[assignment]
        await bot.http.request(discord.http.Route("PATCH", path, **where), json=raw)
        assert fake.pings() == []
        await source.reply("loud", allowed_mentions=discord.AllowedMentions(replied_user=True))
        assert fake.pings() == [("loud", frozenset({place.ada.id}))]


LOSSES: dict[str, Callable[[FakeDiscord], None]] = {
    "the line is cut": lambda fake: fake.gateway.drop(),
    "reconnect is asked for": lambda fake: fake.gateway.ask_to_reconnect(),
    "a resumable invalidation": lambda fake: fake.gateway.invalidate(resumable=True),
    "closed with 4000": lambda fake: fake.gateway.close(4000),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES.keys())
async def test_a_resumed_session_loses_and_doubles_nothing(
    place: Place, lose: Callable[[FakeDiscord], None]
) -> None:
    fake, bot = place.discord, Bot(intents())
    async with running(fake, bot):
        for n in range(20):
            fake.people.say(place.ada, place.general, str(n))
            if n == 9:
                lose(fake)
        await fake.until(lambda: bot.of("resumed"))
        assert await texts(place, bot, 20) == [str(n) for n in range(20)]
        assert len(fake.gateway.identified) == 1


async def test_a_forgotten_session_is_identified_anew(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    async with running(fake, bot):
        fake.gateway.forget_sessions()
        fake.gateway.drop()
        await fake.until(lambda: len(fake.gateway.identified) == 2, 20)
        await fake.until(lambda: fake.gateway.connected)
        fake.people.say(place.ada, place.general, "there again")
        assert await texts(place, bot, 1) == ["there again"]


async def test_two_shards_share_the_events(place: Place) -> None:
    fake = place.discord
    fake.gateway.shards = 2
    heard: list[str] = []

    class Sharded(discord.AutoShardedClient):
        async def before_identify_hook(
            self, shard_id: int | None, *, initial: bool = False
        ) -> None:
            """Five seconds would be waited here."""

        async def on_message(self, message: discord.Message) -> None:
            heard.append(message.content)

    bot = Sharded(intents=intents(), guild_ready_timeout=0.02)
    async with running(fake, bot):
        fake.people.say(place.ada, place.general, "guild")
        fake.people.say(place.ada, fake.direct(place.ada), "direct")
        await fake.until(lambda: len(heard) == 2)
        assert sorted(heard) == ["direct", "guild"]
        assert [told["shard"] for told in fake.gateway.identified] == [[0, 2], [1, 2]]


async def test_rate_limits_are_waited_out(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    fake.traffic.limit("POST", "/channels/{channel_id}/messages", 3, 0.3)
    async with running(fake, bot):
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        await asyncio.gather(*(channel.send(str(n)) for n in range(7)))
        assert len(fake.posts(place.general)) == 7
        fake.storm(2, 0.05, where="POST /channels", scope="global")
        await channel.send("through the storm")
        statuses = [request.status for request in fake.requests("POST", "/messages")]
        assert statuses[-3:] == [429, 429, 200]


async def test_permissions_are_told_and_enforced(place: Place) -> None:
    fake, bot = place.discord, Bot(intents())
    fake.deny(place.general, "CREATE_PUBLIC_THREADS")
    async with running(fake, bot):
        channel = bot.get_channel(int(place.general.id))
        assert isinstance(channel, discord.TextChannel)
        mine = channel.permissions_for(channel.guild.me)
        assert (mine.send_messages, mine.create_public_threads) == (True, False)
        sent = await channel.send("a question")
        with pytest.raises(discord.Forbidden) as refused:
            await sent.create_thread(name="x")
        assert refused.value.code == 50013
        fake.deny(place.general, "VIEW_CHANNEL")
        fake.people.say(place.ada, place.general, "unseen")
        fake.people.say(place.ada, fake.direct(place.ada), "seen")
        assert await texts(place, bot, 1) == ["seen"]
