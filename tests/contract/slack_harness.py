"""Slack for the poster contract: the real SDK client against the fake, over real sockets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.calls import Timing
from adapters.slack.incoming import attachments_of
from adapters.slack.poster import SlackPoster
from adapters.slack.teams import OneTeam
from adapters.slack.views import details
from bot.core.messages import Answer, Attachment, Author, Message, Thread
from bot.core.texts import texts_for
from tests.contract.harness import joined
from tests.fakes.slack import FakeSlack
from tests.fakes.slack_call import faults_in_view
from tests.fakes.slack_limits import UNLIMITED
from tests.fakes.slack_screen import Shown, plain

CHANNEL, ADA, BOB = "C1", "U1", "U2"
QUICK = Timing(
    stream_delay=0.01,
    first_sign=3.0,
    patience=2.5,
    reading=3.0,
    backoff=0.02,
    between=0.0,
    pace=0.0,
)
POSTING = ("chat.postMessage", "chat.startStream", "chat.update", "chat.stopStream")
LIVE = re.compile(r"<[@!#][^\s>]*>?")


class SlackHarness:
    """One workspace with a channel and two people; see ``PlatformHarness``."""

    splits = True
    cards = False

    def __init__(self, slack: FakeSlack, client: AsyncWebClient) -> None:
        self.slack = slack
        self.client = client

    # ---- what people do

    def ask(self, text: str, channel: str = CHANNEL) -> Message:
        said = self.slack.say(ADA, channel, f"{self.slack.mention} {text}")
        return self._message(channel, said.ts, said.ts, text, Author(ADA, "ada"))

    def ask_in(self, earlier: Message, text: str) -> Message:
        root = earlier.thread.thread
        said = self.slack.say(BOB, earlier.thread.channel, f"{self.slack.mention} {text}", root)
        return self._message(earlier.thread.channel, said.ts, root, text, Author(BOB, "bob"))

    def say_in(self, earlier: Message, text: str) -> None:
        self.slack.say(BOB, earlier.thread.channel, text, earlier.thread.thread)

    def share(self, name: str, body: bytes) -> Attachment:
        file = self.slack.add_file(ADA, name, body)
        (attachment,) = attachments_of([file.json(self.slack.base)])
        return attachment

    def _message(self, channel: str, ts: str, root: str, text: str, author: Author) -> Message:
        thread = Thread("slack", self.slack.team, channel, root)
        return Message(f"{channel}:{ts}", thread, author, text, datetime.now(UTC), locale="en-US")

    # ---- Footnote's way out

    def poster(self, timing: Timing = QUICK) -> SlackPoster:
        return SlackPoster(OneTeam(self.client, timing))

    # ---- what is to be seen

    def posts(self, message: Message) -> list[Shown]:
        """Footnote's messages in the thread but for what only one person sees."""
        thread = message.thread
        replies = self.slack.replies(thread.channel, thread.thread)
        return [one for one in replies if not one.ephemeral_to and one.ts != thread.thread]

    def shown(self, message: Message) -> list[str]:
        return [post.seen for post in self.posts(message)]

    def whole(self, message: Message, answer: Answer) -> str:
        view = details(answer, texts_for("en"))
        assert faults_in_view(view) == []
        return joined([*self.shown(message), plain(view["blocks"])])

    def whispers(self, message: Message) -> list[str]:
        replies = self.slack.replies(message.thread.channel, message.thread.thread)
        return [one.seen for one in replies if one.ephemeral_to == message.author.id]

    def buttons(self, message: Message) -> list[str]:
        elements = [element for post in self.posts(message) for _, element in post.elements()]
        return [label for element in elements for label in labels_of(element)]

    def at_work(self, message: Message) -> bool:
        session = self.slack.session(message.thread.channel, message.thread.thread)
        at_work = session is not None and session.status == "processing"
        return at_work or any(
            post.streaming or "Researching" in post.seen for post in self.posts(message)
        )

    def pings(self, message: Message) -> list[str]:
        return [
            ping
            for post in self.posts(message)
            for text in (post.text, *_markup(list(post.blocks)))
            for ping in LIVE.findall(text)
        ]

    async def until(self, message: Message, words: str) -> None:
        await self.slack.until(lambda: any(words in text for text in self.shown(message)))

    # ---- bad weather

    def down(self) -> None:
        self.slack.down(503)

    def up(self) -> None:
        self.slack.up()

    def limit(self, times: int) -> None:
        for method in (*POSTING, "chat.appendStream"):
            self.slack.storm(method, times)

    def cut(self) -> None:
        for method in POSTING:
            self.slack.cut(method)

    def close_channel(self, message: Message) -> None:
        self.slack.workspace.channels[message.thread.channel].archived = True


def labels_of(element: dict[str, object]) -> list[str]:
    if "accessibility_label" in element:
        return [str(element["accessibility_label"])]
    options = element.get("options") or ()
    assert isinstance(options, list | tuple)
    if element.get("type") == "feedback_buttons":
        halves = (element["positive_button"], element["negative_button"])
        return [str(half["accessibility_label"]) for half in halves if isinstance(half, dict)]
    return [plain(one["text"]) for one in (element, *options) if "text" in one]


def _markup(node: object) -> list[str]:
    """The texts in which Slack reads markup: mrkdwn and Markdown, not plain and rich text."""
    if isinstance(node, list):
        return [text for one in node for text in _markup(one)]
    if not isinstance(node, dict):
        return []
    if node.get("type") in ("mrkdwn", "markdown"):
        return [str(node["text"])]
    return [text for one in node.values() for text in _markup(one)]


@asynccontextmanager
async def slack_stage(
    folder: Path, prepare: Callable[[FakeSlack], None] = lambda slack: None
) -> AsyncIterator[SlackHarness]:
    """A Slack where everything works, unless ``prepare`` says otherwise."""
    with FakeSlack(rate_limits=UNLIMITED) as slack:
        slack.add_user(ADA, "ada")
        slack.add_user(BOB, "bob")
        slack.add_channel(CHANNEL, "general", members=[ADA, BOB])
        prepare(slack)
        async with aiohttp.ClientSession() as session:
            client = AsyncWebClient(slack.bot_token, slack.api_url, session=session)
            yield SlackHarness(slack, client)


def refusing(slack: FakeSlack) -> None:
    """A workspace that allows neither streams nor sessions."""
    slack.refuse_streaming("missing_scope")
    slack.refuse("agents.sessions.setStatus", "feature_disabled")
