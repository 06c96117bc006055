"""Discord's way out on a stage: the real REST client against a fake Discord, no gateway."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import discord
import stamina
from discord.http import Route

from adapters.discord.poster import DiscordPoster
from adapters.discord.rest import ATTEMPTS
from bot.core.errors import RunLost
from bot.core.messages import (
    Answer,
    Author,
    Citation,
    Message,
    PlanView,
    RunOptions,
    StepState,
    StepView,
    Thread,
    Usage,
)
from bot.core.posting import PostState, Reply, RunRef
from tests.fakes.discord_server import Channel, FakeDiscord, Guild, Interaction, User
from tests.fakes.discord_server import Message as Said

NUMBERS = itertools.count(1)
BETWEEN = 0.05  # seconds between edits, so that tests need not wait


@dataclass
class Kept:
    """A run and what storage knows of it. ``lost``: another attempt has taken it over."""

    message: Message
    state: PostState | None
    options: RunOptions = field(default_factory=RunOptions)
    id: str = field(default_factory=lambda: f"{next(NUMBERS):012x}")
    saves: list[PostState] = field(default_factory=list)
    lost: bool = False

    @property
    def run(self) -> RunRef:
        return RunRef(self.id, self.message, self.options, self.save, self.move)

    async def save(self, state: PostState) -> None:
        if self.lost:
            raise RunLost("taken over")
        self.state = state
        self.saves.append(state)

    async def move(self, thread: Thread) -> None:
        self.message = replace(self.message, thread=thread)


@dataclass
class Stage:
    """A server with a channel, and Ada in it."""

    fake: FakeDiscord
    guild: Guild
    general: Channel
    ada: User
    client: discord.Client
    poster: DiscordPoster

    def asked(self, text: str = "Why is the sky blue?", **changes: Any) -> tuple[Said, Kept]:
        """A mention by Ada in the channel."""
        said = self.fake.people.say(self.ada, self.general, text, mentions_bot=True)
        return said, self.mention(said, **changes)

    def thread(self, said: Said) -> Channel:
        """The thread that was made from a message."""
        thread = self.fake.thread_of(said)
        assert thread is not None
        return thread

    def mention(self, said: Said, *, locale: str = "en") -> Kept:
        """The question that the listener makes of a message."""
        channel = said.channel
        inside = channel.is_thread or channel.guild is None
        parent = channel.parent if channel.is_thread and channel.parent else channel
        thread = Thread(
            "discord",
            channel.guild.id if channel.guild else "@me",
            parent.id,
            channel.id if inside else said.id,
        )
        author = Author(said.author.id, said.author.name)
        text = said.content.replace(self.fake.bot.mention, "").strip()
        message = Message(said.id, thread, author, text, _now(), locale=locale)
        return Kept(message, {"message": said.id})

    def command(self, asked: Interaction, question: str) -> Kept:
        """The question that the listener makes of ``/ask``, which it has deferred."""
        channel = asked.channel
        inside = channel.is_thread or channel.guild is None
        parent = channel.parent if channel.is_thread and channel.parent else channel
        thread = Thread(
            "discord",
            channel.guild.id if channel.guild else "@me",
            parent.id,
            channel.id if inside else f"pending-{asked.id}",
        )
        author = Author(asked.user.id, asked.user.name)
        message = Message(f"i{asked.id}", thread, author, question, _now())
        deferred = {
            "id": asked.id,
            "token": asked.token,
            "application_id": self.fake.app.id,
        }
        return Kept(message, {"interaction": deferred})

    async def ask(self, user: User, channel: Channel, question: str) -> tuple[Kept, Interaction]:
        """``/ask`` by somebody, deferred and accepted."""
        if not self.fake.registered():
            await self._register()
        asked = self.fake.people.slash(user, channel, "ask", {"question": question})
        await self.client.http.request(
            Route(
                "POST",
                "/interactions/{interaction_id}/{token}/callback",
                interaction_id=asked.id,
                token=asked.token,
            ),
            json={"type": 5},
        )
        return self.command(asked, question), asked

    async def _register(self) -> None:
        question = {"type": 3, "name": "question", "description": "What", "required": True}
        command = {
            "type": 1,
            "name": "ask",
            "description": "Ask",
            "options": [question],
            "integration_types": [0, 1],
            "contexts": [0, 1, 2],
        }
        await self.client.http.request(
            Route("PUT", "/applications/{app}/commands", app=self.fake.app.id), json=[command]
        )

    async def open(self, kept: Kept) -> Reply:
        return await self.poster.open(kept.run, kept.state)

    async def answer(self, kept: Kept, answer: Answer | None = None) -> None:
        """The whole way of a run."""
        reply = await self.open(kept)
        await reply.finish(answer or an_answer(kept))


@asynccontextmanager
async def a_stage() -> AsyncIterator[Stage]:
    """Requests that are lost are sent again at once, as often as they would be."""
    before = Route.BASE
    client = discord.Client(intents=discord.Intents.none())
    with FakeDiscord() as fake, stamina.set_testing(True, attempts=ATTEMPTS, cap=True):
        guild = fake.guild("Reading room")
        general, ada = fake.text(guild, "general"), fake.member(guild, "Ada")
        Route.BASE = fake.url
        try:
            async with client:
                await client.login(fake.token)
                poster = DiscordPoster(client, between=BETWEEN)
                yield Stage(fake, guild, general, ada, client, poster)
        finally:
            Route.BASE = before


def a_plan(*titles: str, state: StepState = "running") -> PlanView:
    steps = tuple(
        StepView(f"s{i}", "search", title, state) for i, title in enumerate(titles, start=1)
    )
    return PlanView("The question", steps)


def a_citation(number: int = 1, **changes: Any) -> Citation:
    cited = Citation(
        number, f"https://example.org/{number}", f"Page {number}", f"Quote {number}.", "h", 0, 8
    )
    return replace(cited, **changes)


def an_answer(kept: Kept | None = None, text: str = "It is blue [1].", **changes: Any) -> Answer:
    answer = Answer(
        "answered",
        text,
        "Why is the sky blue?",
        kept.id if kept else "run1",
        citations=(a_citation(1),),
        usage=Usage(searches=2, pages=3, seconds=4.2, usd=0.01),
    )
    return replace(answer, **changes)


def _now() -> datetime:
    return datetime.now(UTC)
