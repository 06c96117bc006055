"""Runs an evaluation: asks every question, several at once, within a budget."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pydantic import SecretStr

import bot
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    Invalid,
    ModelBroken,
    PageUnreadable,
    StorageUnavailable,
    Unavailable,
    without_credentials,
)
from bot.core.lines import one_line
from bot.core.messages import Answer, Attachment, Author, Depth, Message, RunOptions, Thread
from bot.core.posting import PostState, RunRef, Unseen
from bot.core.settings import Settings
from bot.evaluation.questions import Case, QuestionSet
from bot.evaluation.scoring import Result, Verdict, figures, score
from bot.operation.app import App, open_app
from bot.pages.urls import links_in
from bot.reasoning.calls import ModelReply, Request, Unusable, repair
from bot.reasoning.judgement_prompts import grade_request, parse_verdict
from bot.reasoning.reasoner import CLOSEST, chosen_reasoner, models_of, price_of, who_answers
from bot.rendering.documents import answer_document
from bot.rendering.marks import without_marks
from bot.search.index_report import documents_digest

PARALLEL = 4  # questions at once
FAILURES_TOLD = 3  # reasons for failures to report, the most common ones


@dataclass(frozen=True, slots=True)
class Forecast:
    """The work ahead: questions to ask, those stored from an earlier call, and USD.

    ``unpriced`` is the model if its price is unknown; it counts as 0 USD.
    """

    to_ask: int
    kept: int
    usd: float
    unpriced: str


class Asks(Protocol):
    """The part of ``Asker`` that an evaluation needs."""

    async def stored_answers(self, case: Case) -> tuple[Answer, ...] | None: ...

    async def ask(self, case: Case) -> tuple[Answer, ...]: ...


class Evaluation:
    """An open evaluation: call ``forecast``, then ``run``, and read ``results`` at any time."""

    def __init__(
        self,
        questions: QuestionSet,
        settings: Settings,
        options: RunOptions,
        asker: Asks,
        judge: Judge | None = None,
    ) -> None:
        self.questions = questions
        self._settings = settings
        self._options = options
        self._asker = asker
        self._judge = judge
        self._found: dict[str, Result] = {}
        self._costs: list[float] = []  # USD of each answer with model calls
        self._unasked = 0
        self._complaints: Counter[str] = Counter()

    async def forecast(self) -> Forecast:
        """Return the remaining work. Raises ``StorageUnavailable``."""
        kept, usd = 0, 0.0
        for case in self.questions.cases:
            if answers := await self._asker.stored_answers(case):
                kept += len(answers)
                self._note_costs(answers)
        for case in self.questions.cases:
            usd += self._expected(case, await self._asker.stored_answers(case) is not None)
        known = expected_usd(self._settings, self._options.depth) is not None
        unpriced = "" if known else who_answers(self._settings)
        return Forecast(self.questions.size - kept, kept, usd, unpriced)

    async def run(self, purse: Purse, on_done: Callable[[Result], None]) -> None:
        """Ask everything; ``on_done`` gets each result.

        Cancelling keeps the results so far. Raises errors that would make every question fail
        (``Invalid``, ``CredentialsRefused``) and ``Unavailable``.
        """
        places = asyncio.Semaphore(PARALLEL)

        async def work(case: Case) -> None:
            async with places:
                await self._case(case, purse, on_done)

        tasks = [asyncio.create_task(work(case)) for case in self.questions.cases]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _case(self, case: Case, purse: Purse, on_done: Callable[[Result], None]) -> None:
        answers = await self._asker.stored_answers(case)
        async with purse.covers(self._expected(case, answers is not None)) as covered:
            if not covered:
                self._unasked += len(case.turns)
                return
            if answers is None:
                answers = await self._asker.ask(case)
                purse.pay(sum(answer.usage.usd for answer in answers))
                self._note_costs(answers)
            for turn, answer in enumerate(answers):
                verdict = await self._verdict(case, turn, answer)
                purse.pay(verdict.usd if verdict else 0.0)
                asked = case.turns[turn]
                scored = score(asked, answer, verdict)
                found = Result(
                    case.name(turn), case.texts[: turn + 1], asked, answer, scored, verdict
                )
                self._found[found.name] = found
                on_done(found)

    async def _verdict(self, case: Case, turn: int, answer: Answer) -> Verdict | None:
        """Return the judge's verdict; None if there is nothing to compare, or the judge failed."""
        readable = answer.status not in (*FINISHED_BADLY, "not_found")
        if self._judge is None or not case.turns[turn].answer or not readable:
            return None
        try:
            return await self._judge.verdict(case, turn, answer)
        except (Invalid, CredentialsRefused):
            raise
        except FootnoteError as error:
            self._complaints[error.sentence.rstrip(".")] += 1
            return None

    def _note_costs(self, answers: Sequence[Answer]) -> None:
        self._costs += [each.usage.usd for each in answers if each.usage.model_calls]

    def _expected(self, case: Case, is_kept: bool) -> float:
        """The expected USD for a case: for each answer the mean of those so far, or a typical
        value."""
        usd = 0.0
        if not is_kept and models_of(self._settings) is not None:
            typical = expected_usd(self._settings, self._options.depth) or 0.0
            mean = sum(self._costs) / len(self._costs) if len(self._costs) > 1 else typical
            usd = mean * len(case.turns)
        if self._judge is not None:
            judging = expected_judging_usd(self._settings) or 0.0
            usd += judging * sum(bool(turn.answer) for turn in case.turns)
        return usd

    # ------------------------------------------------------------ the outcome

    @property
    def results(self) -> list[Result]:
        """The results so far, in the file's order."""
        names = [
            case.name(turn) for case in self.questions.cases for turn in range(len(case.turns))
        ]
        return [self._found[name] for name in names if name in self._found]

    @property
    def as_expected(self) -> bool:
        """True if every question was asked, with the expected result."""
        results = self.results
        return len(results) == self.questions.size and not any(each.score.amiss for each in results)

    def remarks(self) -> list[str]:
        """Return sentences on what was left out, and why."""
        said = [
            f"{sentence} ({count} times)." if count > 1 else f"{sentence}."
            for sentence, count in self._complaints.items()
        ]
        if self._unasked:
            said.append(f"The budget left {self._unasked} question(s) unasked: --budget raises it.")
        failures = Counter(each.answer.text for each in self.results if each.score.failed)
        for sentence, count in failures.most_common(FAILURES_TOLD):
            said.append(f"{count} answer(s) failed: {one_line(sentence)}")
        quoted = sum(each.answer.reasoner == CLOSEST for each in self.results)
        if models_of(self._settings) is not None and quoted:
            said.append(
                f"The model could not be reached for {quoted} answer(s): quotations stand in their "
                "place."
            )
        return said

    def document(self, *, interrupted: bool) -> dict[str, Any]:
        """Return the whole outcome in the documented form of ``footnote eval --json``."""
        results = self.results
        return {
            "questions": self.questions.name,
            "interrupted": interrupted,
            "complete": len(results) == self.questions.size,
            "as_expected": self.as_expected,
            "remarks": self.remarks(),
            "settings": described(self._settings, self._options),
            "figures": figures(results),
            "results": [_document(each) for each in results],
        }


def described(settings: Settings, options: RunOptions) -> dict[str, str]:
    """Return the settings to show to a reader: model, depth, sources, and all that are set but
    secrets."""
    models = models_of(settings)
    who = {"model": models.large if models else CLOSEST, "depth": options.depth}
    searched = ", ".join((*(options.providers or settings.providers), *settings.docs))
    told = {}
    for name in sorted(settings.model_fields_set):
        value = getattr(settings, name)
        values = value if isinstance(value, tuple) else (value,)
        if not name.startswith(BESIDE) and not any(isinstance(v, SecretStr) for v in values):
            told[name] = without_credentials(", ".join(map(str, values)))
    return {**told, **who, "searched": searched or "all"}


def _document(result: Result) -> dict[str, Any]:
    return {
        "id": result.name,
        "asked": list(result.asked),
        "expected": asdict(result.turn),
        "amiss": list(result.score.amiss),
        "score": asdict(result.score),
        "verdict": asdict(result.verdict) if result.verdict else None,
        "answer": answer_document(result.answer),
    }


@asynccontextmanager
async def open_evaluation(
    questions: QuestionSet,
    settings: Settings,
    options: RunOptions,
    root: Path,
    *,
    judge: bool,
    fresh: bool,
) -> AsyncIterator[Evaluation]:
    """Open Footnote with a store in a folder of ``root`` named after everything that answers depend
    on; ``fresh`` empties it. Raises ``Invalid``, ``CredentialsRefused`` and
    ``StorageUnavailable``."""
    async with AsyncExitStack() as stack:
        grader = await stack.enter_async_context(open_judge(settings)) if judge else None
        folder = root / identity(settings)
        make_room(root, folder, fresh=fresh)
        asker = await stack.enter_async_context(open_asker(settings, folder, options))
        yield Evaluation(questions, settings, options, asker, grader)


# ---------------------------------------------------------------- spending

# Input and output tokens of one question without a prompt cache: a generous estimate from multi-hop
# questions over an encyclopedia in November 2026. Once questions have been answered, their actual
# cost is used instead.
TYPICAL: Mapping[Depth, tuple[int, int]] = {
    "quick": (7_000, 600),
    "standard": (16_000, 1_500),
    "auto": (16_000, 1_500),
    "deep": (28_000, 3_000),
    "exhaustive": (1_000_000, 40_000),  # not measured: 50 turns
}
JUDGING = (1_200, 80)  # the same for one judge call
SPARE = 2.0  # default budget as a multiple of the expected cost
LEAST = 0.05  # minimum USD of the default budget


def expected_usd(settings: Settings, depth: Depth) -> float | None:
    """Return the expected USD for a question; None if the model's price is unknown."""
    return _usd(settings, TYPICAL[depth]) if models_of(settings) else 0.0


def expected_judging_usd(settings: Settings) -> float | None:
    """Return the expected USD for judging one answer; None if the model's price is unknown."""
    return _usd(settings, JUDGING)


def _usd(settings: Settings, tokens: tuple[int, int]) -> float | None:
    return price_of(settings, ModelReply(who_answers(settings), (), "end_turn", *tokens))


def default_budget(expected: float) -> float:
    """Return the default budget for an expected cost, in USD rounded up to whole cents."""
    return math.ceil(max(LEAST, SPARE * expected) * 100) / 100 if expected else 0.0


class Purse:
    """A limit in USD on spending and work in progress together.

    ``limit`` is None if there is none.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self._aside: list[float] = []  # expected cost of each piece of work in progress
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def covers(self, expected: float) -> AsyncIterator[bool]:
        """Yield True if the limit covers the expected cost of some work: the block then does it and
        calls ``pay``. Waits while work in progress may leave enough."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(expected) or not self._aside)
            fits = self._fits(expected)
            if fits:
                self._aside.append(expected)
        try:
            yield fits
        finally:
            async with self._changed:
                if fits:
                    self._aside.remove(expected)
                self._changed.notify_all()

    def pay(self, usd: float) -> None:
        self.spent += usd

    def _fits(self, expected: float) -> bool:
        return self.limit is None or self.spent + sum(self._aside) + expected <= self.limit


# ---------------------------------------------------------------- asking

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


# ---------------------------------------------------------------- judge


class Completes(Protocol):
    """The part of ``reasoning.model.service.Service`` that a judge needs."""

    async def complete(self, request: Request) -> ModelReply: ...


class Judge:
    """Grades answers with the large model."""

    def __init__(self, settings: Settings, endpoint: Completes) -> None:
        self._settings = settings
        self._endpoint = endpoint

    async def verdict(self, case: Case, turn: int, answer: Answer) -> Verdict:
        """Return the verdict on the answer to a turn of a case.

        A malformed reply is repaired once. Raises ``ModelBroken`` if the repaired reply is
        malformed too, ``ModelUnavailable``, ``CredentialsRefused`` and ``InvalidSetting``.
        """
        model = who_answers(self._settings)
        given = without_marks(answer.text)
        asking = grade_request(model, case.texts[: turn + 1], case.turns[turn].answer, given)
        usd = 0.0
        for _ in range(2):
            reply = await self._endpoint.complete(asking)
            usd += price_of(self._settings, reply) or 0.0
            try:
                grade, reason = parse_verdict(reply)
            except Unusable as unusable:
                asking = repair(asking, reply, unusable.problem)
                continue
            return Verdict(grade, reason, usd)
        question = case.turns[turn].question
        raise ModelBroken(f"{model} did not grade “{question}” in the expected form.")


@asynccontextmanager
async def open_judge(settings: Settings) -> AsyncIterator[Judge]:
    """Open a judge. Raises ``Invalid`` without a model."""
    reasoner = chosen_reasoner(settings)
    if reasoner.service is None:
        raise Invalid("--judge needs a model: set ANTHROPIC_API_KEY, or leave --judge out.")
    endpoint = reasoner.service(settings)
    try:
        yield Judge(settings, endpoint)
    finally:
        await endpoint.aclose()
