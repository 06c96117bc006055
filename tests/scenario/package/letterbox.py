"""A platform of another package: questions are files in a folder, answers are files beside them.

It imports from Footnote what a package of a third party may import, and nothing of Footnote's own
adapters.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field
from starlette.routing import BaseRoute

from bot.core.errors import FootnoteError
from bot.core.measurements import Observed
from bot.core.messages import Answer, Attachment, Author, Message, PlanView, Thread
from bot.core.posting import PostState, RunRef
from bot.core.settings import Settings
from bot.service.platform import Connection, Declaration
from bot.service.reception import Reception
from bot.storage.workspaces import Workspaces

LOOK_SECONDS = 0.05


class LetterboxSettings(Settings, defer_build=True):
    letterbox_folder: str = Field("", description="the folder of the questions")


class LetterReply:
    def __init__(self, answered: Path) -> None:
        self._answered = answered

    def progress(self, plan: PlanView) -> None: ...

    def stream(self, text: str) -> None: ...

    async def finish(self, answer: Answer) -> None:
        quotes = [citation.quote for citation in answer.citations]
        text = json.dumps({"status": answer.status, "text": answer.text, "quotes": quotes})
        self._answered.write_text(text, encoding="utf-8")

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        await self.finish(answer)

    async def abandon(self) -> None: ...


class LetterPoster:
    amends = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def open(self, run: RunRef, saved: PostState | None) -> LetterReply:
        return LetterReply(self._folder / f"{run.message.event_id}.answer")

    async def queued(self, run: RunRef, ahead: int) -> None: ...

    async def remove(self, run: RunRef, saved: PostState | None) -> None: ...

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        return b""


class Letterbox:
    name = "letterbox"
    routes: Sequence[BaseRoute] = ()

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.poster = LetterPoster(folder)
        self.connection = Connection()

    async def reach(self) -> None:
        self.connection.mark_connected()

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        self.connection.mark_connected()
        ready()
        taken: set[Path] = set()
        while True:
            for letter in set(self._folder.glob("*.question")) - taken:
                taken.add(letter)
                await reception.receive(_message(letter), "footnote")
            await asyncio.sleep(LOOK_SECONDS)


def _message(letter: Path) -> Message:
    thread = Thread(Letterbox.name, "home", "hall", letter.stem)
    return Message(
        event_id=letter.stem,
        thread=thread,
        author=Author("neighbour", "A neighbour"),
        text=letter.read_text(encoding="utf-8"),
        at=datetime.now(UTC),
    )


@asynccontextmanager
async def _open(
    settings: LetterboxSettings, workspaces: Workspaces, observed: Observed | None
) -> AsyncIterator[Letterbox]:
    yield Letterbox(Path(settings.letterbox_folder))


async def _check(settings: LetterboxSettings) -> str:
    return f"letters are taken from {settings.letterbox_folder}"


PLATFORM = Declaration(
    name=Letterbox.name,
    title="Letterbox",
    settings=LetterboxSettings,
    listens=lambda settings: bool(settings.letterbox_folder),
    posts=lambda settings: bool(settings.letterbox_folder),
    open=_open,
    check=_check,
    to_connect=lambda settings: "not connected. Set FOOTNOTE_LETTERBOX_FOLDER",
)
