"""Asks the questions of an evaluation. Answers are stored in a folder for everything they depend
on, each under an id derived from its question: a later call finds the answer of the same question,
and continues an interrupted one from its journal."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr

import bot
from bot.core.answers import Answer
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    Invalid,
    PageUnreadable,
    StorageUnavailable,
    Unavailable,
)
from bot.core.messages import Attachment, Author, Message, RunOptions, Thread
from bot.core.posting import PostState, RunRef, Unseen
from bot.core.settings import Settings
from bot.evaluation.questions import Case
from bot.operation.app import App, open_app
from bot.pages.urls import links_in
from bot.reasoning.reasoner import CLOSEST, models_of
from bot.search.index_report import documents_digest

PLATFORM = "eval"
AUTHOR = Author("eval", "eval")
FINISHED_BADLY = ("failed", "stopped")
DAYS = 30  # until a folder is deleted after its last use

# Prefixes of settings that do not affect answers, only where and for whom Footnote works.
BESIDE = (
    *("slack_", "discord_", "allow_", "deny_", "http_", "public_url", "console"),
    *("admins", "direct_messages", "followups", "channels", "keep_", "data_dir", "database_url"),
    *("encryption_keys", "log_", "user_daily_"),
    *("channel_daily_", "workspace_daily_", "guests", "earlier_answers"),
)


class Asker:
    """Asks the questions of cases with an open app, and reuses the answers of earlier calls."""

    def __init__(self, app: App, poster: SilentPoster, options: RunOptions) -> None:
        self._app = app
        self._poster = poster
        self._options = options

    async def stored_answers(self, case: Case) -> tuple[Answer, ...] | None:
        """Return the answers of an earlier call to a case, or None unless all its questions have a
        valid one."""
        answers = []
        for message in self._messages(case, await self._attempt(case)):
            record = await self._app.store.run_of_event(PLATFORM, message.event_id)
            if record is None or record.answer is None:
                return None
            answers.append(record.answer)
        return tuple(answers)

    async def ask(self, case: Case) -> tuple[Answer, ...]:
        """Return the answers to a case, reusing stored ones; a failed answer ends the case.

        Raises ``Invalid`` or ``CredentialsRefused`` if every further question would fail in the
        same way, and ``Unavailable``.
        """
        answers = []
        for message in self._messages(case, await self._attempt(case)):
            answer = await self._answer(message)
            answers.append(answer)
            if answer.status in FINISHED_BADLY:
                break
        return tuple(answers)

    async def _attempt(self, case: Case) -> int:
        """Return the number of the attempt at a case to continue: the first without a void answer,
        which failed, or has only quotations because the model could not be reached.

        The next attempt gets a new thread, in which the void answer is not visible.
        """
        has_model = models_of(self._app.settings) is not None
        attempt = 0
        while True:
            records = [
                await self._app.store.run_of_event(PLATFORM, message.event_id)
                for message in self._messages(case, attempt)
            ]
            answers = [each.answer for each in records if each is not None and each.answer]
            if not any(
                each.status in FINISHED_BADLY or (has_model and each.reasoner == CLOSEST)
                for each in answers
            ):
                return attempt
            attempt += 1

    async def _answer(self, message: Message) -> Answer:
        app = self._app
        run_id, _ = await app.service.accept(message, self._options, owner=app.dispatcher.owner)
        record = await app.store.run(run_id)
        if record is not None and record.answer is None:
            await app.dispatcher.submit(run_id, message.thread)
            await app.dispatcher.wait(run_id)
            record = await app.store.run(run_id)
        error = self._poster.failures.get(run_id)
        if isinstance(error, Invalid | CredentialsRefused):
            raise error
        if record is None or record.answer is None:
            raise Unavailable(
                f"“{message.text}” is being worked on by another process: try again in a moment."
            )
        return record.answer

    def _messages(self, case: Case, attempt: int) -> Sequence[Message]:
        """Return the questions of a case as messages; their ids depend on everything that affects
        the answers."""
        now = datetime.now(UTC)
        told = [case.texts, self._options.depth, self._options.providers, attempt]
        thread = Thread(PLATFORM, "local", "eval", _digest(told))
        return [
            Message(_digest([*told, turn]), thread, AUTHOR, text, now, tuple(links_in(text)))
            for turn, text in enumerate(case.texts)
        ]


@asynccontextmanager
async def open_asker(settings: Settings, folder: Path, options: RunOptions) -> AsyncIterator[Asker]:
    """Open Footnote with a separate store in ``folder``, without daily budgets.

    Raises ``InvalidSetting``, ``CredentialsRefused`` and ``StorageUnavailable``.
    """
    apart = settings.model_copy(
        update={
            "database_url": f"sqlite+aiosqlite:///{folder / 'footnote.sqlite'}",
            "user_daily_usd": None,
            "user_daily_questions": None,
            "channel_daily_usd": None,
            "workspace_daily_usd": None,
            "earlier_answers": False,  # measure the research, not the memory
        }
    )
    poster = SilentPoster()
    async with open_app(apart, {PLATFORM: poster}) as app:
        yield Asker(app, poster, options)


def make_room(root: Path, used: Path, *, fresh: bool) -> None:
    """Record that a folder of answers is in use, with ``fresh`` empty, and remove those unused for
    ``DAYS``. Raises ``StorageUnavailable``."""
    try:
        if fresh and used.is_dir():
            shutil.rmtree(used)
        used.mkdir(parents=True, exist_ok=True)
        os.utime(used)
        oldest = time.time() - DAYS * 86_400
        for folder in root.iterdir():
            if folder.is_dir() and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {root} cannot be written ({error.strerror}): make room, or set "
            "FOOTNOTE_DATA_DIR to another folder."
        ) from error


def identity(settings: Settings) -> str:
    """Return a digest of everything that an answer depends on (settings, documents, and the program
    itself), 16 hexadecimal digits.

    For secrets only their presence counts. Raises ``StorageUnavailable`` if the index of the
    documents cannot be read.
    """
    values = {name: _comparable(value) for name, value in settings if not name.startswith(BESIDE)}
    documents = documents_digest(settings.index_path, settings.docs) if settings.docs else ""
    return _digest([values, documents, _program()])[:16]


def _comparable(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return bool(value.get_secret_value())
    if isinstance(value, tuple):
        return [_comparable(each) for each in value]
    return value


@cache
def _program() -> str:
    """Return a digest of the code, prompts and texts that produce answers."""
    top = Path(bot.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(top.rglob("*")):
        inside = path.relative_to(top)
        apart = inside.parts[0] in ("handbook", "evaluation", "cli")
        if path.suffix in (".py", ".md", ".ftl") and not apart:
            digest.update(f"{inside}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _digest(said: Sequence[object]) -> str:
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class SilentPoster:
    """Shows nothing: answers are read from the store. Records why runs failed, by run id."""

    amends = False

    def __init__(self) -> None:
        self.failures: dict[str, FootnoteError] = {}

    async def open(self, run: RunRef, saved: PostState | None) -> _Reply:
        return _Reply(self, run.id)

    async def queued(self, run: RunRef, ahead: int) -> None: ...

    async def remove(self, run: RunRef, saved: PostState | None) -> None: ...

    async def history(self, run: RunRef) -> Sequence[Message]:
        return ()

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        raise PageUnreadable(f"{attachment.name} cannot be read: an evaluation sends no files.")


class _Reply(Unseen):
    def __init__(self, poster: SilentPoster, run_id: str) -> None:
        self._poster = poster
        self._run_id = run_id

    async def fail(self, answer: Answer, error: FootnoteError) -> None:
        self._poster.failures[self._run_id] = error
