"""Runs an evaluation: asks every question, several at once, within a budget."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import SecretStr

from bot.core.answers import Answer
from bot.core.credentials import without_credentials
from bot.core.errors import CredentialsRefused, FootnoteError, Invalid
from bot.core.lines import one_line
from bot.core.messages import RunOptions
from bot.core.settings import Settings
from bot.evaluation.asking import BESIDE, FINISHED_BADLY, identity, make_room, open_asker
from bot.evaluation.judge import Judge, open_judge
from bot.evaluation.questions import Case, QuestionSet
from bot.evaluation.scoring import Result, Verdict, figures, score
from bot.evaluation.spending import Purse, expected_judging_usd, expected_usd
from bot.reasoning.reasoner import CLOSEST, models_of, who_answers
from bot.rendering.documents import answer_document

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
