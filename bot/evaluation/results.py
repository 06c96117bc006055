"""The outcome of an evaluation: the result of each question, and the totals."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from operator import add

from bot.answers import Answer
from bot.evaluation.questions import Case, CaseTurn, QuestionSet
from bot.evaluation.scoring import Score, Verdict, score


@dataclass(frozen=True, slots=True)
class KindSpent:
    """The cost of one kind of model call; ``input_tokens`` are billed at full price or as cache
    writes, ``cached_tokens`` were read from the prompt cache."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: KindSpent) -> KindSpent:
        return KindSpent(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class Result:
    """A question, its answer and score. ``kinds`` are its model calls by kind."""

    name: str
    asked: CaseTurn
    answer: Answer
    score: Score
    verdict: Verdict | None = None
    kinds: Mapping[str, KindSpent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SideResults:
    """The results with one set of settings, by question name, in the file's order. ``settings`` are
    the names and values that distinguish it from others.
    """

    name: str
    settings: Mapping[str, str]
    results: Mapping[str, Result]

    @property
    def figures(self) -> Figures:
        return figures(tuple(self.results.values()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluation so far. ``remarks`` are sentences on what was left out, and why."""

    questions: QuestionSet
    sides: tuple[SideResults, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if every question was answered or failed with each set of settings."""
        return all(len(side.results) == self.questions.size for side in self.sides)

    @property
    def as_expected(self) -> bool:
        """True if every question was asked with the first settings, with the expected result."""
        first = self.sides[0].results
        return len(first) == self.questions.size and all(
            each.score.as_expected for each in first.values()
        )

    def names(self) -> list[str]:
        """Return the questions by name: first those on which two settings differ (with only one as
        expected before the others), then those not as expected, then the rest."""
        found = [
            case.name(turn) for case in self.questions.cases for turn in range(len(case.turns))
        ]
        return sorted(found, key=self._rank)  # stable: the file's order within each rank

    def differs(self, name: str) -> bool:
        """Return True if two settings differ on a question that both have answered."""
        amiss = [side.results[name].score.amiss for side in self.sides if name in side.results]
        return len(amiss) == 2 and amiss[0] != amiss[1]

    def _rank(self, name: str) -> int:
        results = [side.results[name] for side in self.sides if name in side.results]
        good = [each.score.as_expected for each in results]
        if self.differs(name):
            return 0 if good[0] != good[1] else 1
        if not all(good):
            return 2
        return 3 if results else 4

    def turn_named(self, name: str) -> CaseTurn:
        number, _, turn = name.partition(".")
        return self.questions.cases[int(number) - 1].turns[int(turn or 0)]


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total; ``of`` is 0 if nothing of the kind was expected."""

    count: int
    of: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Totals over the answers with one set of settings.

    ``seconds`` and ``slow_seconds`` are the median and the 90th percentile.
    """

    as_expected: Share
    page_read: Share
    page_cited: Share
    words_said: Share
    words_quoted: Share
    refused_rightly: Share
    refused_wrongly: Share
    failed: Share
    right: Share
    partly: Share
    wrong: Share
    sentences: int
    footnotes: int
    doubts: int
    disagreements: int
    model_calls: int
    searches: int
    pages: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    usd: float
    seconds: float
    slow_seconds: float
    judging_usd: float
    kinds: Mapping[str, KindSpent]

    @property
    def footnotes_per_sentence(self) -> float | None:
        return self.footnotes / self.sentences if self.sentences else None


def result(
    case: Case,
    turn: int,
    answer: Answer,
    verdict: Verdict | None = None,
    kinds: Mapping[str, KindSpent] | None = None,
) -> Result:
    """Return the result of one turn of a case."""
    asked = case.turns[turn]
    return Result(
        case.name(turn), asked, answer, score(asked, answer, verdict), verdict, kinds or {}
    )


def figures(results: Sequence[Result]) -> Figures:
    """Sum up results."""
    scores = [each.score for each in results]
    usages = [each.answer.usage for each in results]
    graded = [each.grade for each in scores if each.grade]
    answerable = [each.score for each in results if not each.asked.refuse]
    seconds = sorted(usage.seconds for usage in usages)
    kinds: dict[str, KindSpent] = {}
    for each in results:
        for kind, spent in each.kinds.items():
            kinds[kind] = kinds.get(kind, KindSpent()) + spent
    return Figures(
        as_expected=_share(each.as_expected for each in scores),
        page_read=_share(each.page_read for each in scores),
        page_cited=_share(each.page_cited for each in scores),
        words_said=_share(each.words_said for each in scores),
        words_quoted=_share(each.words_quoted for each in scores),
        refused_rightly=_share(each.refused_rightly for each in scores),
        refused_wrongly=_share(each.refused for each in answerable),
        failed=_share(each.failed for each in scores),
        right=Share(graded.count("right"), len(graded)),
        partly=Share(graded.count("partly"), len(graded)),
        wrong=Share(graded.count("wrong"), len(graded)),
        sentences=sum(each.sentences for each in scores),
        footnotes=sum(each.footnotes for each in scores),
        doubts=sum(len(each.answer.doubts) for each in results),
        disagreements=sum(len(each.answer.disagreements) for each in results),
        model_calls=sum(usage.model_calls for usage in usages),
        searches=sum(usage.searches for usage in usages),
        pages=sum(usage.pages for usage in usages),
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        usd=sum(usage.usd for usage in usages),
        seconds=statistics.median(seconds) if seconds else 0.0,
        slow_seconds=seconds[round(0.9 * (len(seconds) - 1))] if seconds else 0.0,
        judging_usd=sum(each.verdict.usd for each in results if each.verdict),
        kinds=dict(sorted(kinds.items(), key=lambda kind: -kind[1].input_tokens)),
    )


def _share(outcomes: Iterable[bool | None]) -> Share:
    applying = [outcome for outcome in outcomes if outcome is not None]
    return Share(sum(applying), len(applying))
