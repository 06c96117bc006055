"""Verifying an answer: which verdicts change it, and what keeps it as the first step left it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from bot.answers import Doubt
from bot.configuration import load_settings
from bot.errors import FootnoteError, ModelUnavailable, RunLost, StorageUnavailable
from bot.pages.passages import Passage
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Source,
    TextDelta,
    Verdict,
)
from bot.research.answer.check import check
from bot.research.answer.checked import Checked
from bot.research.answer.verify import MOST, Amendment, amendments, is_quoted, is_wanted
from bot.research.answer.write import Composer, Written
from tests.fakes.reasoner import Scripted
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.samples import NOW

QUOTE = "The iron tower was completed in 1889 and painted red."
EVIDENCE = Evidence((Source(1, "https://a.example/", "A", (Passage(0, 53, QUOTE),), "h", NOW),))
QUESTION = "What is the tower like?"
IRON, RED = "It was built of iron.", "It is painted red today."
AWAY = ModelUnavailable("The small model does not answer.")


@dataclass
class Judging(Scripted):
    """A reasoner that ``fails`` when it is asked to verify, or to restate."""

    fails: Exception | None = None
    fails_restating: Exception | None = None
    asked: Sequence[Claim] = ()

    async def verify(self, question: str, claims: Sequence[Claim]) -> tuple[Verdict | None, ...]:
        self.asked = claims
        if self.fails is not None:
            raise self.fails
        return await super().verify(question, claims)

    async def restate(
        self, question: str, answer: str, claims: Sequence[Claim], verdicts: Sequence[Verdict]
    ) -> tuple[str, ...]:
        if self.fails_restating is not None:
            raise self.fails_restating
        return await super().restate(question, answer, claims, verdicts)


def composed(*sentences: str) -> Written:
    """An answer whose every sentence cites the one passage."""
    composer = Composer(EVIDENCE)
    for sentence in sentences:
        parts: list[AnswerDelta] = [TextDelta(f"{sentence}\n\n", opens=True)]
        for part in (*parts, CitationDelta(1, 0, 53)):
            composer.add(part)
    return composer.finish()


async def amended(reasoner: Scripted, written: Written) -> list[Amendment]:
    def judge(written: Written, verdicts: object = None) -> Checked:
        return check(written, EVIDENCE, QUESTION, verdicts=verdicts or {})  # type: ignore[arg-type]

    found = amendments(reasoner, QUESTION, written, judge(written), judge)
    return [each async for each in found]


async def last(reasoner: Scripted, *sentences: str) -> Amendment:
    return (await amended(reasoner, composed(*sentences)))[-1]


def outcomes(amendment: Amendment) -> list[tuple[str, str, str]]:
    return [(each.sentence, each.outcome, each.now) for each in amendment.verification.sentences]


# ---------------------------------------------------------------- whether


@pytest.mark.parametrize(
    ("verify", "claims", "doubts", "wanted"),
    [
        ("off", (IRON, RED), 1, False),
        ("always", (IRON,), 0, True),
        ("always", (QUOTE,), 0, False),
        ("always", (), 0, False),
        ("auto", (IRON,), 0, False),
        ("auto", (IRON,), 1, True),
        ("auto", (IRON, QUOTE), 0, True),
        ("auto", (QUOTE, QUOTE), 1, False),
    ],
)
def test_a_short_answer_without_doubts_or_one_of_quotes_alone_is_not_verified(
    verify: str, claims: Sequence[str], doubts: int, wanted: bool
) -> None:
    checked = Checked(
        "",
        (),
        (Doubt(IRON, "so"),) * doubts,
        claims=tuple(Claim(text, (QUOTE,)) for text in claims),
    )
    assert is_wanted(load_settings(verify=verify), checked) == wanted


@pytest.mark.parametrize(
    ("text", "quotes", "quoted"),
    [
        ("painted red.", (QUOTE,), True),
        ("Painted red", (QUOTE,), False),
        ("painted re", (QUOTE,), False),
        ("painted red", ("It is green.", QUOTE), True),
        ("painted red", (), False),
    ],
)
def test_only_whole_words_of_one_quote_are_quoted(
    text: str, quotes: tuple[str, ...], quoted: bool
) -> None:
    assert is_quoted(Claim(text, quotes)) == quoted


# ---------------------------------------------------------------- verdicts


async def test_an_answer_that_is_borne_out_stays_and_is_amended_once() -> None:
    reasoner = Judging(verdicts={IRON: Verdict("supported"), RED: Verdict("supported")})
    (only,) = await amended(reasoner, composed(IRON, RED))
    assert only.is_last
    assert only.verification.state == "done"
    assert outcomes(only) == [(IRON, "kept", ""), (RED, "kept", "")]


async def test_a_contradicted_sentence_is_left_out_until_it_is_restated() -> None:
    reasoner = Judging(
        verdicts={IRON: Verdict("supported"), RED: Verdict("contradicted")},
        restated={RED: "It was painted red."},
    )
    first, second = await amended(reasoner, composed(IRON, RED))
    assert (first.is_last, first.verification.state) == (False, "pending")
    assert outcomes(first) == [(IRON, "kept", ""), (RED, "left_out", "")]
    assert first.checked.text == "It was built of iron [1]."
    assert (second.is_last, second.verification.state) == (True, "done")
    assert outcomes(second) == [(IRON, "kept", ""), (RED, "restated", "It was painted red.")]
    assert second.checked.text == "It was built of iron [1].\n\nIt was painted red [1]."
    assert second.verification.problem == ""


@pytest.mark.parametrize("said", ["", "It was painted red in 1925.", RED])
async def test_a_contradicted_sentence_that_cannot_be_restated_is_left_out(said: str) -> None:
    """Nothing was said, something that the first step doubts, or the same again."""
    reasoner = Judging(
        verdicts={IRON: Verdict("supported"), RED: Verdict("contradicted")}, restated={RED: said}
    )
    amendment = await last(reasoner, IRON, RED)
    assert outcomes(amendment)[1] == (RED, "left_out", "")
    assert amendment.checked.text == "It was built of iron [1]."


@pytest.mark.parametrize("judgement", ["partly", "not_supported"])
async def test_another_unsupported_sentence_stays_marked_if_it_cannot_be_restated(
    judgement: str,
) -> None:
    verdict = Verdict(judgement, "today")  # type: ignore[arg-type]
    reasoner = Judging(verdicts={IRON: Verdict("supported"), RED: verdict})
    first, second = await amended(reasoner, composed(IRON, RED))
    assert outcomes(first) == outcomes(second) == [(IRON, "kept", ""), (RED, "marked", "")]
    assert second.verification.sentences[1].words == "today"


async def test_what_stands_word_for_word_in_a_quote_is_supported_whatever_the_model_says() -> None:
    quoted = "The iron tower was completed in 1889"
    verdicts = {IRON: Verdict("supported"), f"{quoted}.": Verdict("contradicted")}
    (only,) = await amended(Judging(verdicts=verdicts), composed(IRON, f"{quoted}."))
    assert [each.verdict for each in only.verification.sentences] == ["supported", "supported"]


async def test_a_sentence_on_which_no_verdict_came_is_as_the_first_step_left_it() -> None:
    (only,) = await amended(Judging(verdicts={IRON: Verdict("supported")}), composed(IRON, RED))
    assert outcomes(only) == [(IRON, "kept", "")]
    assert only.checked.text.count("[1]") == 2


async def test_only_so_many_sentences_are_judged() -> None:
    reasoner = Judging(verdicts={IRON: Verdict("supported")})
    many = [IRON, *(f"It has {number} bolts." for number in range(MOST + 5))]
    await amended(reasoner, composed(*many))
    assert [claim.text for claim in reasoner.asked] == many[:MOST]


# ---------------------------------------------------------------- failing


@pytest.mark.parametrize(("error", "problem"), [(AWAY, AWAY.sentence), (None, "no verdict")])
async def test_without_any_verdict_the_answer_stays_and_the_reason_is_told(
    error: FootnoteError | None, problem: str
) -> None:
    written = composed(IRON, RED)
    (only,) = await amended(Judging(fails=error), written)
    assert only.written == written
    assert only.is_last
    assert only.verification.state == "failed"
    assert problem in only.verification.problem


async def test_where_restating_fails_the_verdicts_count() -> None:
    verdicts = {IRON: Verdict("supported"), RED: Verdict("contradicted")}
    _, second = await amended(Judging(verdicts=verdicts, fails_restating=AWAY), composed(IRON, RED))
    assert (second.is_last, second.verification.state) == (True, "done")
    assert second.verification.problem == AWAY.sentence
    assert outcomes(second)[1] == (RED, "left_out", "")


@in_virtual_time
async def test_a_model_that_does_not_answer_is_waited_for_so_long() -> None:
    class Slow(Judging):
        async def verify(self, question: str, claims: Sequence[Claim]) -> tuple[Verdict, ...]:
            await asyncio.Event().wait()
            return ()

    (only,) = await amended(Slow(), composed(IRON, RED))
    assert only.verification.problem == "The small model took more than 30 seconds."


@pytest.mark.parametrize("error", [RunLost("It is another's."), StorageUnavailable("Away.")])
async def test_an_attempt_that_cannot_go_on_ends(error: FootnoteError) -> None:
    verdicts = {IRON: Verdict("supported"), RED: Verdict("contradicted")}
    for reasoner in (Judging(fails=error), Judging(verdicts=verdicts, fails_restating=error)):
        with pytest.raises(type(error)):
            await amended(reasoner, composed(IRON, RED))
