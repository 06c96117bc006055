"""The web console for the poster contract: what a reply saves, seen as its page shows it."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import cast

from adapters.web.access.gate import Visitor
from adapters.web.html.replies import turn_html
from adapters.web.live import Live, ReplyState, parse_state
from adapters.web.poster import WebPoster
from adapters.web.templating import Templates
from adapters.web.turns import Turn
from bot.core.errors import StorageUnavailable
from bot.core.messages import UPLOADED, Answer, Attachment, Author, Message, Thread
from bot.core.posting import PostState, Reply, RunRef
from bot.core.texts import texts_for
from bot.storage.conversations import Files
from bot.storage.database import Database, at_once, open_database
from tests.contract.harness import joined
from tests.fakes import sqlite
from tests.fakes.screen import Seen, seen

ADA = Visitor("ada", "Ada", "open", "session", operator=True)
_NOBODY_LOOKS = cast(Database, None)  # a feed would look into it, and there is none here
_numbers = count(1)

# A line of the plan that nobody has unfolded: its summary alone is seen.
_FOLDED = re.compile(
    r'<details class="line" data-id="(?!graph)\w+"[^>]*>\s*(<summary>.*?</summary>).*?</details>',
    re.DOTALL,
)


@dataclass
class _Weather:
    """Outages and limits of the database in which posts are kept."""

    down: bool = False
    limited: int = 0
    cut: bool = False


@dataclass
class _Post:
    message: Message
    run: str
    state: PostState


@dataclass
class WebHarness:
    """A console in whose threads two people ask; see ``PlatformHarness``. What its pages are made
    of is kept in memory, what is sent along in the database at ``path``."""

    database: Database
    path: Path
    splits = False
    cards = True
    weather: _Weather = field(default_factory=_Weather)
    posts: dict[str, _Post] = field(default_factory=dict)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    templates: Templates = field(default_factory=Templates)

    # ---- what people do

    def ask(self, text: str) -> Message:
        thread = Thread("web", "console", "local", f"thread{next(_numbers)}")
        return Message(f"m{next(_numbers)}", thread, Author("ada", "Ada"), text, datetime.now(UTC))

    def ask_in(self, earlier: Message, text: str) -> Message:
        said = self.ask(text)
        return replace(said, thread=earlier.thread, author=Author("bob", "Bob"))

    def say_in(self, earlier: Message, text: str) -> None:
        raise NotImplementedError("nobody talks beside Footnote here")

    def share(self, name: str, body: bytes) -> Attachment:
        url = f"{UPLOADED}{next(_numbers)}/{name}"
        with closing(sqlite3.connect(self.path)) as database, database:
            insert = "INSERT INTO files (message_id, url, body) VALUES (1, ?, ?)"
            database.execute(insert, (url, body))
        return Attachment(name, "text/plain", url)

    # ---- Footnote's way out

    def poster(self) -> _Recorded:
        poster = WebPoster(Live(_NOBODY_LOOKS), Files(self.database), between=0.02)
        return _Recorded(self, poster)

    def saving(self, run: RunRef) -> Callable[[PostState], Awaitable[None]]:
        """Takes what the reply to a run shows as the store does: again, where that may help."""

        async def save(state: PostState) -> None:
            await at_once(lambda: take(state))

        async def take(state: PostState) -> None:
            weather = self.weather
            if weather.down:
                raise StorageUnavailable("The database is away.")
            if weather.limited > 0:
                weather.limited -= 1
                raise StorageUnavailable("Others write.", kind="contended")
            await run.save(state)
            self.posts[run.id] = _Post(run.message, run.id, state)
            async with self.changed:
                self.changed.notify_all()
            if weather.cut:
                weather.cut = False
                raise StorageUnavailable("The database took it and went away.", kind="broken")

        return save

    # ---- what is to be seen

    def pages(self, message: Message) -> list[Seen]:
        posts = [post for post in self.posts.values() if post.message.thread == message.thread]
        return [self._page(post) for post in posts if parse_state(post.state) != ReplyState()]

    def _page(self, post: _Post) -> Seen:
        turn = Turn(
            run=post.run,
            thread="t",
            question="",
            author="Ada",
            asked_at=post.message.at,
            begun_at=post.message.at,
            depth="auto",
            state="running",
            reply_state=parse_state(post.state),
            opinions={},
            dates={},
            reader=ADA.reader,
        )
        html = turn_html(self.templates, texts_for("en"), turn, ADA)
        # Steps of sub-questions are looked for where they must not be, others where they must.
        has_parts = 'data-id="graph"' in html
        return seen(_FOLDED.sub(r"\1", html) if has_parts else html)

    def shown(self, message: Message) -> list[str]:
        return [page.text for page in self.pages(message)]

    def whole(self, message: Message, answer: Answer) -> str:
        return joined(self.shown(message))

    def whispers(self, message: Message) -> list[str]:
        """The same as ``shown``: only the asker looks at the page; others are sent nothing."""
        return self.shown(message)

    def buttons(self, message: Message) -> list[str]:
        return [label for page in self.pages(message) for label in page.buttons]

    def at_work(self, message: Message) -> bool:
        return any(page.busy for page in self.pages(message))

    def pings(self, message: Message) -> list[str]:
        """On the web there are none: what could be one is markup that is not ours."""
        return [tag for page in self.pages(message) for tag in page.strange]

    async def until(self, message: Message, words: str) -> None:
        async with self.changed, asyncio.timeout(60):
            await self.changed.wait_for(lambda: any(words in it for it in self.shown(message)))

    # ---- bad weather

    def down(self) -> None:
        self.weather.down = True

    def up(self) -> None:
        self.weather.down = False

    def limit(self, times: int) -> None:
        self.weather.limited = times

    def cut(self) -> None:
        self.weather.cut = True

    def close_channel(self, message: Message) -> None:
        raise NotImplementedError("there is no channel that could be closed")


class _Recorded(WebPoster):
    """A poster whose saves the stage sees."""

    def __init__(self, stage: WebHarness, poster: WebPoster) -> None:
        super().__init__(poster._live, poster._files, poster._between)
        self._stage = stage

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        return await super().open(self._seen(run), saved)

    async def queued(self, run: RunRef, ahead: int) -> None:
        await super().queued(self._seen(run), ahead)

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        await super().remove(self._seen(run), saved)

    def _seen(self, run: RunRef) -> RunRef:
        return replace(run, save=self._stage.saving(run))


@asynccontextmanager
async def web_stage(folder: Path) -> AsyncIterator[WebHarness]:
    database = await open_database(sqlite.migrated(folder))
    try:
        yield WebHarness(database, folder / "footnote.sqlite")
    finally:
        await database.close()
