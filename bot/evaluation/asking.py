"""Asks the questions of an evaluation. Each answer is stored under an id derived from everything it
depends on: a later call finds the answer of the same question, and continues an interrupted one
from its journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from bot.answers import Answer
from bot.app import App, open_app
from bot.errors import CredentialsRefused, FootnoteError, Invalid, PageUnreadable, Unavailable
from bot.evaluation.questions import Case
from bot.evaluation.results import KindSpent
from bot.messages import Attachment, Author, Message, RunOptions, Thread
from bot.pages.urls import links_in
from bot.posting import PostState, RunRef, Unseen
from bot.reasoning.calls import ModelReply
from bot.reasoning.declaration import CLOSEST, models_of, price_of
from bot.research.trace.timeline import ID
from bot.research.trace.trace import trace
from bot.settings import Settings
from bot.storage.traces import Traces

PLATFORM = "eval"
AUTHOR = Author("eval", "eval")
FINISHED_BADLY = ("failed", "stopped")


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

    async def spent_by_kind(self, answer: Answer) -> dict[str, KindSpent]:
        """Return the model calls of an answer, summed by kind. Raises ``StorageUnavailable``."""
        kept = await Traces(self._app.store).run(answer.run) if answer.usage.model_calls else None
        if kept is None:
            return {}
        calls = trace(kept, self._price).calls
        spent: dict[str, KindSpent] = {}
        for step in kept.steps:
            call = calls.get(step.key[:ID])
            if call is not None:
                spent[step.kind] = spent.get(step.kind, KindSpent()) + KindSpent(
                    1, call.input_tokens, call.cached_tokens, call.output_tokens, call.usd or 0.0
                )
        return spent

    def _price(self, reply: ModelReply) -> float | None:
        return price_of(self._app.settings, reply)

    async def _attempt(self, case: Case) -> int:
        """Return the number of the attempt at a case to continue: the first without a void answer.

        The next attempt gets a new thread, in which the void answer is not visible.
        """
        attempt = 0
        while True:
            for message in self._messages(case, attempt):
                record = await self._app.store.run_of_event(PLATFORM, message.event_id)
                if record is None:
                    return attempt
                if record.answer is not None and self._is_void(record.answer):
                    break
            else:
                return attempt
            attempt += 1

    def _is_void(self, answer: Answer) -> bool:
        """Return True if an answer must not be evaluated: it failed, or it has only quotations
        because the model could not be reached."""
        instead = models_of(self._app.settings) is not None and answer.reasoner == CLOSEST
        return answer.status in FINISHED_BADLY or instead

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


def _digest(said: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


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
