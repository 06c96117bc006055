"""Runs an evaluation: asks every question with each set of settings, several at once, within a
budget, and stores all results.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from bot.answers import Answer
from bot.errors import CredentialsRefused, FootnoteError, Invalid, StorageUnavailable
from bot.evaluation.asking import FINISHED_BADLY, open_asker
from bot.evaluation.identity import identity
from bot.evaluation.judge import Judge, open_judge
from bot.evaluation.questions import Case, QuestionSet
from bot.evaluation.results import KindSpent, Outcome, Result, SideResults, result
from bot.evaluation.rows import counted
from bot.evaluation.scoring import Verdict
from bot.evaluation.spending import Purse, expected_judging_usd, expected_usd
from bot.messages import RunOptions
from bot.reasoning.declaration import CLOSEST, models_of, who_answers
from bot.rendering.lines import one_line
from bot.settings import Settings

DAYS = 30  # until a folder is deleted after its last use


def make_room(root: Path, used: Collection[Path], *, fresh: bool) -> None:
    """Record that folders are in use, and remove those unused for ``DAYS``; with ``fresh`` those in
    use are emptied. Raises ``StorageUnavailable``."""
    try:
        for folder in set(used):
            if fresh and folder.is_dir():
                shutil.rmtree(folder)
            folder.mkdir(parents=True, exist_ok=True)
            os.utime(folder)
        oldest = time.time() - DAYS * 86_400
        for folder in root.iterdir():
            if folder.is_dir() and folder not in used and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)
    except OSError as error:
        raise StorageUnavailable(
            f"The folder {root} cannot be written ({error.strerror}): make room, or set "
            "FOOTNOTE_DATA_DIR to another folder."
        ) from error


VERDICTS = "verdicts.jsonl"
FAILURES_TOLD = 3  # reasons for failures to report, the most common ones


@dataclass(frozen=True, slots=True)
class Side:
    """Footnote with one set of settings; ``name`` is the header of its column."""

    name: str
    settings: Settings
    options: RunOptions


def described(sides: Sequence[Side]) -> list[dict[str, str]]:
    """Return the settings of each side to show to a reader: model, depth, sources, and all
    differences between the sides. Secrets are left out."""
    first = sides[0].settings
    names = [
        name
        for name in type(first).model_fields
        if any(getattr(side.settings, name) != getattr(first, name) for side in sides)
    ]
    return [_described(side, names) for side in sides]


def _described(side: Side, names: Sequence[str]) -> dict[str, str]:
    settings = side.settings
    who = {"reasoner": CLOSEST}
    models = models_of(settings)
    if models is not None:
        who = {"model": models.large, "small_model": models.small}
    searched = ", ".join((*(side.options.providers or settings.providers), *settings.docs))
    own = {name: getattr(settings, name) for name in names}
    differing = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in own.items()
        if not _is_secret(value)
    }
    return {**who, "depth": side.options.depth, "searched": searched or "all", **differing}


def _is_secret(value: object) -> bool:
    return isinstance(value, SecretStr) or (
        isinstance(value, tuple) and any(isinstance(each, SecretStr) for each in value)
    )


@dataclass(frozen=True, slots=True)
class Forecast:
    """The work ahead of an evaluation: questions to ask over all settings, those stored from an
    earlier call, answers to judge, and USD.

    ``unpriced`` are models whose price is unknown; they count as 0 USD.
    """

    to_ask: int
    kept: int
    to_judge: int
    asking_usd: float
    judging_usd: float
    unpriced: tuple[str, ...]

    @property
    def usd(self) -> float:
        return self.asking_usd + self.judging_usd


class Asks(Protocol):
    """The part of ``Asker`` that an evaluation needs."""

    async def stored_answers(self, case: Case) -> tuple[Answer, ...] | None: ...

    async def ask(self, case: Case) -> tuple[Answer, ...]: ...

    async def spent_by_kind(self, answer: Answer) -> dict[str, KindSpent]: ...


class Evaluation:
    """An open evaluation: call ``forecast``, then ``run``, and read the ``outcome`` at any time."""

    def __init__(
        self,
        questions: QuestionSet,
        sides: Sequence[Side],
        askers: Sequence[Asks],
        judge: Judge | None,
    ) -> None:
        self.questions = questions
        self.sides = tuple(sides)
        self._askers = tuple(askers)
        self._judge = judge
        self._results: tuple[dict[str, Result], ...] = tuple({} for _ in sides)
        self._costs: tuple[list[float], ...] = tuple([] for _ in sides)
        self._unasked = 0
        self._complaints: dict[str, int] = {}

    async def forecast(self, *, fresh: bool = False) -> Forecast:
        """Return the remaining work, or all of it with ``fresh``; called once, before ``run``.

        Raises ``StorageUnavailable``.
        """
        kept = to_judge = 0
        to_ask = [0] * len(self.sides)
        unpriced: dict[str, None] = {}
        for place, side in enumerate(self.sides):
            for case in self.questions.cases:
                answers = await self._askers[place].stored_answers(case)
                self._note_costs(place, answers or ())
                answers = None if fresh else answers
                if answers is None:
                    to_ask[place] += len(case.turns)
                else:
                    kept += len(answers)
                to_judge += self._left_to_judge(case, answers)
            if expected_usd(side.settings, side.options.depth) is None:
                unpriced[who_answers(side.settings)] = None
        asking = sum(self._expected(place) * count for place, count in enumerate(to_ask))
        judging = self._expected_judging() * to_judge
        return Forecast(sum(to_ask), kept, to_judge, asking, judging, tuple(unpriced))

    async def run(
        self, purse: Purse, parallel: int, on_done: Callable[[Side, Result, bool], None]
    ) -> None:
        """Ask everything, ``parallel`` cases at once; ``on_done`` gets each result and whether its
        answer was stored before.

        Cancelling keeps the results so far. Raises errors that would make every question fail
        (``Invalid``, ``CredentialsRefused``) and ``Unavailable``.
        """
        places = asyncio.Semaphore(parallel)

        async def work(place: int, case: Case) -> None:
            async with places:
                kept = await self._askers[place].stored_answers(case)
                for each in await self._case(place, case, kept, purse):
                    self._results[place][each.name] = each
                    on_done(self.sides[place], each, kept is not None)

        tasks = []
        for case in self.questions.cases:
            order = list(range(len(self.sides)))
            if case.number % 2 == 0:
                order.reverse()  # so that neither side always comes first
            tasks += [asyncio.create_task(work(place, case)) for place in order]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def outcome(self) -> Outcome:
        """Return the results so far."""
        names = [
            case.name(turn) for case in self.questions.cases for turn in range(len(case.turns))
        ]
        sides = tuple(
            SideResults(side.name, told, {name: found[name] for name in names if name in found})
            for side, told, found in zip(
                self.sides, described(self.sides), self._results, strict=True
            )
        )
        return Outcome(self.questions, sides, tuple(self._remarks()))

    # ------------------------------------------------------------ one case

    async def _case(
        self, place: int, case: Case, answers: Sequence[Answer] | None, purse: Purse
    ) -> list[Result]:
        asker = self._askers[place]
        if answers is None:
            expected = self._expected(place) * len(case.turns)
            async with purse.covers(expected) as covered:
                if not covered:
                    self._unasked += len(case.turns)
                    return []
                answers = await asker.ask(case)
                purse.pay(sum(answer.usage.usd for answer in answers))
                self._note_costs(place, answers)
        found = []
        for turn, answer in enumerate(answers):
            verdict = await self._verdict(case, turn, answer, purse)
            kinds = await asker.spent_by_kind(answer)
            found.append(result(case, turn, answer, verdict, kinds))
        return found

    async def _verdict(self, case: Case, turn: int, answer: Answer, purse: Purse) -> Verdict | None:
        """Return the judge's verdict; None if there is nothing to compare, or no budget for it."""
        judge = self._judge
        if judge is None or not is_judged(case, turn, answer):
            return None
        if (kept := judge.stored_verdict(case, turn, answer)) is not None:
            return kept
        async with purse.covers(self._expected_judging()) as covered:
            if not covered:
                self._complain("The budget was spent before every answer was judged")
                return None
            try:
                verdict = await judge.verdict(case, turn, answer)
            except (Invalid, CredentialsRefused):
                raise
            except FootnoteError as error:
                self._complain(error.sentence.rstrip("."))
                return None
            purse.pay(verdict.usd)
            return verdict

    def _left_to_judge(self, case: Case, answers: Sequence[Answer] | None) -> int:
        if self._judge is None:
            return 0
        if answers is None:
            return sum(bool(turn.answer) for turn in case.turns)
        return sum(
            is_judged(case, turn, answer) and self._judge.stored_verdict(case, turn, answer) is None
            for turn, answer in enumerate(answers)
        )

    def _note_costs(self, place: int, answers: Sequence[Answer]) -> None:
        self._costs[place].extend(each.usage.usd for each in answers if each.usage.model_calls)

    def _expected(self, place: int) -> float:
        """The expected USD for one question: the mean of those answered, or a typical value."""
        side, costs = self.sides[place], self._costs[place]
        if models_of(side.settings) is None:
            return 0.0
        if len(costs) >= 2:
            return sum(costs) / len(costs)
        return expected_usd(side.settings, side.options.depth) or 0.0

    def _expected_judging(self) -> float:
        return (expected_judging_usd(self.sides[0].settings) or 0.0) if self._judge else 0.0

    # ------------------------------------------------------------ remarks

    def _complain(self, sentence: str) -> None:
        self._complaints[sentence] = self._complaints.get(sentence, 0) + 1

    def _remarks(self) -> list[str]:
        said = [
            f"{sentence} ({count} times)." if count > 1 else f"{sentence}."
            for sentence, count in self._complaints.items()
        ]
        if self._unasked:
            said.append(
                f"The budget left {counted(self._unasked, 'question')} unasked: --budget raises it."
            )
        failures = Counter(
            each.answer.text
            for found in self._results
            for each in found.values()
            if each.score.failed
        )
        for sentence, count in failures.most_common(FAILURES_TOLD):
            said.append(f"{counted(count, 'answer')} failed: {one_line(sentence)}")
        for side, found in zip(self.sides, self._results, strict=True):
            quoted = sum(each.answer.reasoner == CLOSEST for each in found.values())
            if models_of(side.settings) is not None and quoted:
                said.append(
                    f"{side.name}: the model could not be reached for {counted(quoted, 'answer')}; "
                    "quotations stand in their place."
                )
        return said


def is_judged(case: Case, turn: int, answer: Answer) -> bool:
    """Return True if an answer can be compared with an expected one."""
    readable = answer.status not in (*FINISHED_BADLY, "not_found")
    return bool(case.turns[turn].answer) and readable


@asynccontextmanager
async def open_evaluation(
    questions: QuestionSet, sides: Sequence[Side], root: Path, *, judge: bool, fresh: bool
) -> AsyncIterator[Evaluation]:
    """Open Footnote with each set of settings, with stores in folders of ``root`` named after
    everything that answers depend on; ``fresh`` empties them.

    The judge is the model of the first settings. Raises ``Invalid``, ``CredentialsRefused`` and
    ``StorageUnavailable``.
    """
    folders = [root / identity(side.settings) for side in sides]
    different = {(folder, side.options) for folder, side in zip(folders, sides, strict=True)}
    if len(different) < len(sides):
        raise Invalid(
            f"{sides[-1].name} changes nothing: write the settings into it that are to be "
            "compared with those at work."
        )
    async with AsyncExitStack() as stack:
        grader = None
        if judge:
            grader = await stack.enter_async_context(open_judge(sides[0].settings, root / VERDICTS))
        make_room(root, folders, fresh=fresh)
        askers = [
            await stack.enter_async_context(open_asker(side.settings, folder, side.options))
            for side, folder in zip(sides, folders, strict=True)
        ]
        yield Evaluation(questions, sides, askers, grader)
