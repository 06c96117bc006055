"""emulate as a stage of the poster contract: our way out against somebody else's Slack."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.poster import SlackPoster
from adapters.slack.teams import OneTeam
from adapters.slack.views import details
from bot.core.messages import Answer, Attachment, Author, Message, Thread
from bot.core.texts import texts_for
from tests.contract.harness import joined
from tests.contract.slack_harness import QUICK, labels_of
from tests.fakes.slack_screen import as_sent, live_mentions, plain
from tests.live.emulate import (
    ADMIN_TOKEN,
    BOT_TOKEN,
    BOT_USER,
    PEOPLE_TOKENS,
    TEAM,
    Json,
    LiveSlack,
)

POSTING = ("chat.postMessage", "chat.update")
UNTIL_SECONDS = 60.0
_numbers = itertools.count(1)


class LiveHarness:
    """One channel of its own, with Ada, Bob and Footnote in it; see ``tests.contract.harness``."""

    splits = True
    cards = False

    def __init__(self, slack: LiveSlack, client: AsyncWebClient) -> None:
        self.slack = slack
        self.client = client
        name = f"room-{next(_numbers)}"
        made = slack.call(ADMIN_TOKEN, "conversations.create", name=name)
        self.channel = str(made["channel"]["id"])
        members = [*(slack.people[name] for name in PEOPLE_TOKENS), BOT_USER]
        slack.call(ADMIN_TOKEN, "conversations.invite", channel=self.channel, users=members)

    # ---- what people do

    def ask(self, text: str) -> Message:
        return self._asked("ada", text, None)

    def ask_in(self, earlier: Message, text: str) -> Message:
        return self._asked("bob", text, earlier.thread.thread)

    def say_in(self, earlier: Message, text: str) -> None:
        self.say("bob", text, earlier.thread.thread)

    def say(self, name: str, text: str, thread: str | None = None) -> str:
        """Somebody writes; returns the message's ``ts``."""
        arguments = {"channel": self.channel, "text": as_sent(text)}
        if thread is not None:
            arguments["thread_ts"] = thread
        return str(self.slack.call(PEOPLE_TOKENS[name], "chat.postMessage", **arguments)["ts"])

    def _asked(self, name: str, text: str, root: str | None) -> Message:
        ts = self.say(name, f"<@{BOT_USER}> {text}", root)
        thread = Thread("slack", TEAM, self.channel, root or ts)
        author = Author(self.slack.people[name], name)
        event_id = f"{self.channel}:{ts}"
        return Message(event_id, thread, author, text, datetime.now(UTC), locale="en-US")

    def share(self, name: str, body: bytes) -> Attachment:
        """Somebody shares a file in the three steps of Slack's own upload."""
        token = PEOPLE_TOKENS["ada"]
        begun = self.slack.call(
            token, "files.getUploadURLExternal", filename=name, length=len(body)
        )
        self.slack.upload(begun["upload_url"], body)
        shared = self.slack.call(
            token,
            "files.completeUploadExternal",
            files=[{"id": begun["file_id"]}],
            channel_id=self.channel,
        )["files"][0]
        return Attachment(
            name, shared["mimetype"], shared["permalink"], shared["url_private_download"]
        )

    # ---- Footnote's way out

    def poster(self) -> SlackPoster:
        return SlackPoster(OneTeam(self.client, QUICK))

    # ---- what is to be seen

    def thread(self, message: Message) -> list[Json]:
        """The thread's messages as Slack tells them to the app."""
        told = self.slack.call(
            BOT_TOKEN,
            "conversations.replies",
            channel=self.channel,
            ts=message.thread.thread,
            include_all_metadata=True,
        )
        return list(told["messages"])

    def posts(self, message: Message) -> list[Json]:
        return [one for one in self.thread(message) if one["user"] == BOT_USER]

    def shown(self, message: Message) -> list[str]:
        return [_seen(post) for post in self.posts(message)]

    def whole(self, message: Message, answer: Answer) -> str:
        view = details(answer, texts_for("en"))
        return joined([*self.shown(message), plain(view["blocks"])])

    def whispers(self, message: Message) -> list[str]:
        """emulate shows what is ephemeral to nobody: what it accepted counts."""
        return [
            str(asked.arguments["text"])
            for asked in self.slack.front.calls("chat.postEphemeral")
            if asked.reply["ok"]
            and asked.arguments["user"] == message.author.id
            and asked.arguments.get("thread_ts") == message.thread.thread
        ]

    def buttons(self, message: Message) -> list[str]:
        return [
            label
            for post in self.posts(message)
            for block in post.get("blocks", ())
            for element in block.get("elements", ())
            if "action_id" in element
            for label in labels_of(element)
        ]

    def at_work(self, message: Message) -> bool:
        return any("Researching" in seen for seen in self.shown(message))

    def pings(self, message: Message) -> list[str]:
        return [
            ping
            for post in self.posts(message)
            for ping in live_mentions(post["text"], post.get("blocks", []))
        ]

    async def until(self, message: Message, words: str) -> None:
        async with asyncio.timeout(UNTIL_SECONDS):
            while not any(words in text for text in self.shown(message)):
                await asyncio.sleep(0.02)  # emulate tells nobody what changes

    # ---- bad weather

    def down(self) -> None:
        self.slack.front.down = True

    def up(self) -> None:
        self.slack.front.down = False

    def limit(self, times: int) -> None:
        self.slack.front.limits.update(dict.fromkeys(POSTING, times))

    def cut(self) -> None:
        self.slack.front.cuts.update(dict.fromkeys(POSTING, 1))

    def close_channel(self, message: Message) -> None:
        self.slack.call(ADMIN_TOKEN, "conversations.archive", channel=self.channel)


def _seen(post: Json) -> str:
    return plain(post["blocks"]) if post.get("blocks") else str(post["text"])


@asynccontextmanager
async def live_stage(slack: LiveSlack, folder: Path) -> AsyncIterator[LiveHarness]:
    """A channel in good weather."""
    slack.front.calm()
    try:
        async with aiohttp.ClientSession() as session:
            client = AsyncWebClient(BOT_TOKEN, slack.api_url, session=session)
            yield LiveHarness(slack, client)
    finally:
        slack.front.calm()
