"""The second step of the check: the small model compares an answer's sentences with their quotes.

Unsupported sentences are restated once from what they cite. If that fails, sentences that
contradict their quotes are dropped, and the others are marked. If the model cannot judge, the
answer stays as the first step left it, and the reason is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from bot.answers import Judgement, Verification, VerificationState, VerifiedSentence
from bot.errors import FootnoteError, RunLost, StorageUnavailable
from bot.logs import get_logger
from bot.reasoning.evidence import Claim, Verdict
from bot.reasoning.reasoner import Pairs, Researcher
from bot.rendering.marks import without_marks
from bot.research.answer.amend import amended, as_restated, restatable
from bot.research.answer.checked import Checked
from bot.research.answer.proof import as_compared
from bot.research.answer.write import Written
from bot.settings import Settings

MOST = 60  # sentences of an answer in one call
SECONDS = 30.0  # for both calls; after that the answer stays as it is
CONTRADICTED: Judgement = "contradicted"

T = TypeVar("T")

log = get_logger()

Judge = Callable[[Written, Mapping[str, Verdict]], Checked]


def is_wanted(settings: Settings, checked: Checked) -> bool:
    """Return True if a model's answer is to be verified."""
    if settings.verify == "off" or all(is_quoted(claim) for claim in checked.claims):
        return False
    return settings.verify == "always" or len(checked.claims) > 1 or bool(checked.doubts)


def is_quoted(claim: Claim) -> bool:
    """Return True if one of its quotes has the claim word for word, so that it needs no verdict."""
    words = as_compared(claim.text)
    return any(words in as_compared(quote) for quote in claim.quotes)


@dataclass(frozen=True, slots=True)
class Amendment:
    """An answer amended by verification; ``changes`` maps claims to their restated sentence, or ""
    if dropped. ``is_last`` is True if no other amendment follows."""

    written: Written
    checked: Checked
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    is_last: bool = True

    @property
    def verification(self) -> Verification:
        """Return the verdicts, sentence by sentence."""
        doubted = {doubt.sentence for doubt in self.checked.doubts}
        found = tuple(
            _verified_sentence(claim, verdict, self.changes.get(claim), claim in doubted)
            for claim, verdict in self.verdicts.items()
        )
        state: VerificationState = "done" if self.is_last else "pending"
        if self.problem and not found:
            state = "failed"
        return Verification(state, found, self.problem)


def _verified_sentence(
    claim: str, verdict: Verdict, change: str | None, is_doubted: bool
) -> VerifiedSentence:
    sentence = VerifiedSentence(claim, verdict.judgement, verdict.words)
    if change is not None:
        return replace(sentence, outcome="restated" if change else "left_out", now=change)
    return replace(sentence, outcome="marked") if is_doubted else sentence


async def amendments(
    reasoner: Researcher, question: str, written: Written, checked: Checked, judge: Judge
) -> AsyncIterator[Amendment]:
    """Yield the answer with its verdicts, and again once sentences are restated.

    ``judge`` is the first step of the check. Any amendment may be the last one shown. Raises
    ``RunLost`` and ``StorageUnavailable``.
    """
    claims = checked.claims[:MOST]
    deadline = asyncio.get_running_loop().time() + SECONDS
    found, problem = await _said(reasoner.verify(question, claims), deadline)
    if found is None:
        yield Amendment(written, checked, problem=problem)
        return
    verdicts = {c.text: v for c, v in zip(claims, found, strict=True) if v is not None}
    if verdicts:  # send these as context too: a "he" may refer to a person in them
        verdicts |= {claim.text: Verdict("supported") for claim in claims if is_quoted(claim)}
    else:
        yield Amendment(
            written, checked, problem="The small model gave no verdict on any sentence."
        )
        return
    unborne = [c for c in claims if _is_unborne(verdicts.get(c.text))]
    out = {c.text: "" for c in unborne if verdicts[c.text].judgement == CONTRADICTED}
    without = amended(written, out)
    running = restatable(written)
    wrong = list({c.text: c for c in unborne if c.text in running}.values())
    first = await _judged(judge, without, verdicts)
    yield Amendment(without, first, verdicts, out, is_last=not wrong)
    if not wrong:
        return
    judged = [verdicts[claim.text] for claim in wrong]
    restating = reasoner.restate(question, without_marks(written.text), wrong, judged)
    said, problem = await _said(restating, deadline)
    if said is None:
        yield Amendment(without, first, verdicts, out, problem=problem)
        return
    new = {
        claim.text: text
        for claim, words in zip(wrong, said, strict=True)
        if (text := as_restated(claim.text, words))
    }
    changes = out | await _borne_out(judge, amended(written, out | new), verdicts, new)
    last = amended(written, changes)
    yield Amendment(last, await _judged(judge, last, verdicts), verdicts, changes)


async def compare_pairs(
    reasoner: Researcher, question: str, pairs: Pairs
) -> tuple[bool | None, ...]:
    """Return True for each pair whose earlier and present sentence mean the same; None if the small
    model does not say. Raises ``RunLost`` and ``StorageUnavailable``."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    same, _ = await _said(reasoner.compare(question, pairs), deadline)
    return (None,) * len(pairs) if same is None else same


async def _borne_out(
    judge: Judge, tried: Written, verdicts: Mapping[str, Verdict], new: Mapping[str, str]
) -> dict[str, str]:
    """Return the restated sentences that pass the first step of the check."""
    checked = await _judged(judge, tried, verdicts)
    doubted = [doubt.sentence for doubt in checked.doubts]
    cited = [claim.text for claim in checked.claims]
    return {
        claim: text
        for claim, text in new.items()
        if any(each in text for each in cited) and not any(each in text for each in doubted)
    }


def _is_unborne(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.judgement != "supported"


async def _judged(judge: Judge, written: Written, verdicts: Mapping[str, Verdict]) -> Checked:
    # In a thread: a long answer takes 0.1 s, which would block other runs.
    return await asyncio.to_thread(judge, written, verdicts)


async def _said(call: Awaitable[T], deadline: float) -> tuple[T | None, str]:
    """Return the small model's reply, or None and the reason why there is none by the ``deadline``
    (loop time). Raises ``RunLost`` and ``StorageUnavailable``."""
    try:
        async with asyncio.timeout_at(deadline):
            return await call, ""
    except (RunLost, StorageUnavailable):
        raise
    except (FootnoteError, TimeoutError) as error:
        log.info("sentences not verified", error=repr(error))
        late = f"The small model took more than {SECONDS:.0f} seconds."
        return None, error.sentence if isinstance(error, FootnoteError) else late
