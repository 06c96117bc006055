"""Discord for the poster contract: the real REST client against the fake, over real sockets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import discord
import stamina
from discord.http import Route

from adapters.discord.format import details
from adapters.discord.poster import DiscordPoster
from adapters.discord.rest import ATTEMPTS
from bot.core.messages import Answer, Attachment, Author, Message, Thread
from bot.core.texts import texts_for
from tests.contract.harness import joined
from tests.fakes import discord_server as fakes

BETWEEN = 0.02  # seconds between edits
LIVE = re.compile(r"<(?:@[!&]?|#|a?:\w+:|t:|/\w+:)\d+[^\s>]*>|@(?:everyone|here)")


class DiscordHarness:
    """One server with a channel and two people; see ``PlatformHarness``."""

    splits = True
    cards = False

    def __init__(self, fake: fakes.FakeDiscord, client: discord.Client) -> None:
        self.fake = fake
        self.client = client
        self.guild = fake.guild("Reading room")
        self.general = fake.text(self.guild, "general")
        self.ada = fake.member(self.guild, "ada")
        self.bob = fake.member(self.guild, "bob")

    # ---- what people do

    def ask(self, text: str) -> Message:
        said = self.fake.people.say(self.ada, self.general, text, mentions_bot=True)
        return self._message(said, said.id, text)

    def ask_in(self, earlier: Message, text: str) -> Message:
        thread = self._thread(earlier)
        said = self.fake.people.say(self.bob, thread, text, mentions_bot=True)
        return self._message(said, thread.id, text)

    def say_in(self, earlier: Message, text: str) -> None:
        self.fake.people.say(self.bob, self._thread(earlier), text)

    def share(self, name: str, body: bytes) -> Attachment:
        file = fakes.File(name, body)
        said = self.fake.people.say(self.ada, self.general, "Read this", attachments=[file])
        return Attachment(name, "text/plain", self.fake.world.sign(said.attachments[0]["url"]))

    def _message(self, said: fakes.Message, thread: str, text: str) -> Message:
        place = Thread("discord", self.guild.id, self.general.id, thread)
        author = Author(said.author.id, said.author.name)
        return Message(said.id, place, author, text, datetime.now(UTC), locale="en-US")

    def _thread(self, message: Message) -> fakes.Channel:
        """The message's thread; where there is none yet, somebody makes it."""
        thread = self.fake.world.channels.get(message.thread.thread)
        if thread is None:
            source = self.fake.message(self.general, message.thread.thread)
            thread = self.fake.people.start_thread(self.ada, self.general, "Talk", source=source)
        return thread

    # ---- Footnote's way out

    def poster(self) -> DiscordPoster:
        return DiscordPoster(self.client, between=BETWEEN)

    # ---- what is to be seen

    def posts(self, message: Message) -> list[fakes.Seen]:
        thread = self.fake.world.channels.get(message.thread.thread)
        return [] if thread is None else self.fake.posts(thread)

    def shown(self, message: Message) -> list[str]:
        return [post.content for post in self.posts(message)]

    def whole(self, message: Message, answer: Answer) -> str:
        told = details(answer, texts_for("en"))
        return joined([*self.shown(message), *(look.written for look in told)])

    def whispers(self, message: Message) -> list[str]:
        """Discord shows something to one person only as the response to an interaction; what
        comes nearest is a message that will be that person's answer."""
        return self.shown(message)

    def buttons(self, message: Message) -> list[str]:
        return [label for post in self.posts(message) for label, _ in post.buttons]

    def at_work(self, message: Message) -> bool:
        return any("Researching" in text for text in self.shown(message)) or (
            "Stop" in self.buttons(message)
        )

    def pings(self, message: Message) -> list[str]:
        live = [ping for text in self.shown(message) for ping in LIVE.findall(text)]
        return live + [text for text, _ in self.fake.pings()]

    async def until(self, message: Message, words: str) -> None:
        await self.fake.until(lambda: any(words in text for text in self.shown(message)))

    # ---- bad weather

    def down(self) -> None:
        self.fake.down("503")

    def up(self) -> None:
        self.fake.up()

    def limit(self, times: int) -> None:
        for where in ("POST /channels", "PATCH /channels"):
            self.fake.storm(times, 1.0, where=where)

    def cut(self) -> None:
        self.fake.cut(where="POST /channels")

    def close_channel(self, message: Message) -> None:
        self.fake.deny(self.general, "VIEW_CHANNEL")


@asynccontextmanager
async def discord_stage(folder: Path) -> AsyncIterator[DiscordHarness]:
    """A Discord where everything works, and a client without a gateway, as a worker has it.

    Requests that are lost are sent again at once, as often as they would be.
    """
    before = Route.BASE
    with fakes.FakeDiscord() as fake, stamina.set_testing(True, attempts=ATTEMPTS, cap=True):
        client = discord.Client(intents=discord.Intents.none())
        stage = DiscordHarness(fake, client)
        Route.BASE = fake.url
        try:
            async with client:
                await client.login(fake.token)
                yield stage
        finally:
            Route.BASE = before
