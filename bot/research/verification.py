"""The second step of the check: the small model compares an answer's sentences with their quotes.

Unsupported sentences are restated once from what they cite. If that fails, sentences that
contradict their quotes are dropped, and the others are marked; footnotes stay in order. If the
model cannot judge, the answer stays as the first step left it, and the reason is recorded.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from bot.core.errors import FootnoteError, RunLost, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Judgement, Verification, VerificationState, VerifiedSentence
from bot.core.settings import Settings
from bot.reasoning.evidence import CitationDelta, Claim, Restated, Verdict
from bot.reasoning.reasoner import Pairs, Researcher
from bot.rendering.marks import as_marks, numbers_in, without_marks
from bot.research.composer import Checked, CitedSpan, Written, at_tail, claim_of, unsourced
from bot.research.proof import as_compared
from bot.research.run import together
from bot.text.sentences import Sentence, blocks, sentences, sentences_of

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦>]|\d{1,3}[.)])[ \t]+")
_RUNNING = ("paragraph", "item")

Added = Mapping[str, Sequence[CitationDelta]]
"""Citations that sentences get besides their own, by ``claim_of``."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement of ``text[start:end]`` by ``new``."""

    start: int
    end: int
    new: str


def as_restated(claim: str, new: str) -> str:
    """Return the text of a claim after rewording; "" if nothing is left of it."""
    words = _words(new)
    return claim_of(_item_mark(claim) + words) if words else ""


def restatable(written: Written) -> frozenset[str]:
    """Return the sentences that can be reworded: those of running text and lists."""
    text = written.text
    return frozenset(
        claim_of(text[sentence.start : sentence.end])
        for block in blocks(text)
        if block.kind in _RUNNING
        for sentence in sentences_of(text, block)
    )


def amended(
    written: Written, changes: Mapping[str, str], added: Added = MappingProxyType({})
) -> Written:
    """Return the answer with sentences changed, by ``claim_of``; "" drops a sentence.

    A replacement keeps the citations of its original sentence, besides those ``added`` to it. A
    footnote shared by several sentences stays with those that are left.
    """
    text = written.text
    edits: list[_Edit] = []
    for block in blocks(text):
        found = list(sentences_of(text, block))
        news = [changes.get(claim_of(text[each.start : each.end])) for each in found]
        if found and all(new == "" for new in news):
            edits.append(_whole_lines(text, found[0].start, found[-1].end, edits))
        elif any(new is not None for new in news):
            edits += _edits(written, found, news, added)
    out, end = "", 0
    for edit in edits:
        out += written.text[end : edit.start] + edit.new
        end = edit.end
    return replace(
        written,
        text=out + written.text[end:],
        spans=tuple(_moved_spans(_cited_more(written, changes, added), edits)),
    )


def _edits(
    written: Written, found: Sequence[Sentence], news: Sequence[str | None], added: Added
) -> list[_Edit]:
    """Return the edits of one remaining block, in order and without overlaps."""
    text = written.text
    pieces = [text[each.start : each.end] for each in found]
    kept = [place for place, new in enumerate(news) if new != ""]
    now = list(pieces)
    for place, new in enumerate(news):
        if new:
            more = [each.number for each in added.get(claim_of(pieces[place]), ())]
            own = _numbers(written, found[place]) if more else numbers_in(pieces[place])
            now[place] = _restated(pieces[place], new, (*own, *more))
    for place, new in enumerate(news):
        if new == "" or (new and added.get(claim_of(pieces[place]))):
            _hand_on_marks(written, found, now, [k for k in kept if k < place], place)
    edits = [
        _Edit(found[place].start, found[place].end, now[place])
        for place in kept
        if now[place] != pieces[place]
    ]
    for place, new in enumerate(news):
        if new == "" and place < kept[-1]:
            begin = found[place].start + len(_item_mark(pieces[place]))
            edits.append(_Edit(begin, found[place + 1].start, ""))
    if kept[-1] < len(found) - 1:
        edits.append(_Edit(found[kept[-1]].end, found[-1].end, ""))
    return sorted(edits, key=lambda edit: edit.start)


def _restated(piece: str, new: str, numbers: Sequence[int]) -> str:
    bare = _item_mark(piece) + _words(new) if new != claim_of(piece) else without_marks(piece)
    return at_tail(bare, as_marks(numbers)) if numbers else bare


def _words(new: str) -> str:
    """Return a model's sentence as running text on one line, without marks and links."""
    words = " ".join(unsourced(new).split())
    words = words[len(_item_mark(words)) :]
    return words if any(char.isalnum() for char in words) else ""


def _item_mark(piece: str) -> str:
    found = _ITEM.match(piece)
    return found.group() if found else ""


def _hand_on_marks(
    written: Written,
    found: Sequence[Sentence],
    now: list[str],
    before: Sequence[int],
    place: int,
) -> None:
    """Give the marks of a sentence that is dropped, or that gets others, to the one before it, if
    they covered both."""
    cited = _citations(written, found[place])
    if not before or not cited:
        return
    last = before[-1]
    if _citations(written, found[last]) == cited and not numbers_in(now[last]):
        now[last] = at_tail(now[last], as_marks(_numbers(written, found[place])))


def _citations(written: Written, sentence: Sentence) -> list[CitationDelta]:
    spans = (span for span in written.spans if span.overlaps(sentence))
    return list(dict.fromkeys(cited for span in spans for cited in span.citations))


def _numbers(written: Written, sentence: Sentence) -> list[int]:
    """Return the numbers of a sentence's marks, and of its citations if its mark comes later."""
    own = numbers_in(written.text[sentence.start : sentence.end])
    return list(dict.fromkeys([*own, *(each.number for each in _citations(written, sentence))]))


def _whole_lines(text: str, start: int, end: int, edits: list[_Edit]) -> _Edit:
    """Remove whole lines and one of the empty lines around them, merged with the last of the
    ``edits`` if that removed the lines right above."""
    start = text.rfind("\n", 0, start) + 1
    if edits and edits[-1].end == start:
        start = edits.pop().start
    line_end = text.find("\n", end)
    end = len(text) if line_end < 0 else line_end + 1
    if not text[:start].strip() or text[:start].endswith("\n\n"):
        while text[end : end + 1] == "\n":
            end += 1
    return _Edit(start, end, "")


# ---------------------------------------------------------------- spans


def _cited_more(
    written: Written, changes: Mapping[str, str], added: Added
) -> tuple[CitedSpan, ...]:
    """Return the spans of an answer with the citations that are added to sentences. Where marks are
    typed there are no spans: the mark alone says what is cited."""
    spans = list(written.spans)
    if not spans or not added:
        return written.spans
    text = written.text
    for sentence in sentences(text):
        claim = claim_of(text[sentence.start : sentence.end])
        more = added.get(claim, ()) if changes.get(claim) else ()
        there = [place for place, span in enumerate(spans) if span.overlaps(sentence)]
        if more and there:
            last = spans[there[-1]]
            spans[there[-1]] = replace(last, citations=(*last.citations, *more))
        elif more:
            spans.append(CitedSpan(sentence.start, sentence.end, tuple(more)))
    return tuple(sorted(spans, key=lambda span: span.start))


def _moved_spans(spans: Sequence[CitedSpan], edits: Sequence[_Edit]) -> list[CitedSpan]:
    moved = []
    for span in spans:
        start = _moved(span.start, edits, to_end=False)
        end = _moved(span.end, edits, to_end=True)
        if start < end:
            moved.append(replace(span, start=start, end=end))
    return moved


def _moved(at: int, edits: Sequence[_Edit], *, to_end: bool) -> int:
    """Return a position after the edits; a position inside an edit moves to its end or start."""
    shift = 0
    for edit in edits:
        if at >= edit.end and at > edit.start:
            shift += len(edit.new) - (edit.end - edit.start)
        elif at > edit.start:
            return edit.start + shift + (len(edit.new) if to_end else 0)
    return at + shift


BATCH = 30  # sentences in one call, so that long answers take no longer than short ones
MOST = 300  # sentences of an answer
SECONDS = 30.0  # for verifying and restating; after that the answer stays as it is
CONTRADICTED: Judgement = "contradicted"

T = TypeVar("T")

log = get_logger()

Judge = Callable[[Written, Mapping[str, Verdict]], Checked]


def is_wanted(settings: Settings, checked: Checked) -> bool:
    """Return True if a model's answer is to be verified: if it states anything in other words than
    its quotes."""
    return settings.verify == "on" and not all(is_quoted(claim) for claim in checked.claims)


def is_quoted(claim: Claim) -> bool:
    """Return True if the claim is one or more whole sentences of a quote, word for word, and needs
    no verdict. (A part of a sentence may say otherwise than the whole.)"""
    words = as_compared(claim.text)
    return any(words in _runs(quote, len(words)) for quote in claim.quotes)


def _runs(quote: str, longest: int) -> Iterator[str]:
    """Yield the runs of sentences of a quote, as compared, up to a length in characters."""
    found = sentences(quote)
    for number, first in enumerate(found):
        for last in found[number:]:
            run = as_compared(quote[first.start : last.end])
            if len(run) > longest:
                break
            yield run


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
    text = without_marks(written.text)
    deadline = asyncio.get_running_loop().time() + SECONDS
    copied = {claim.text: Verdict("supported") for claim in claims if is_quoted(claim)}
    asked = [claim for claim in claims if claim.text not in copied]

    def verify(batch: Sequence[Claim]) -> Awaitable[tuple[Verdict | None, ...]]:
        others = claims if any(claim.anywhere for claim in batch) else ()
        return reasoner.verify(question, text, batch, others)

    found, problem = await _in_batches(verify, asked, deadline)
    given = {c.text: v for c, v in zip(asked, found, strict=True) if v is not None}
    if not given:
        problem = problem or "The small model gave no verdict on any sentence."
        yield Amendment(written, checked, problem=problem)
        return
    verdicts = {c.text: v for c in claims if (v := (given | copied).get(c.text)) is not None}
    proofs = {c: v.citations for c, v in verdicts.items() if v.citations and not _is_unborne(v)}
    written = amended(written, {claim: claim for claim in proofs}, proofs)
    unborne = [c for c in claims if _is_unborne(verdicts.get(c.text))]
    out = {c.text: "" for c in unborne if verdicts[c.text].judgement == CONTRADICTED}
    without = amended(written, out)
    running = restatable(written)
    wrong = list({c.text: c for c in unborne if c.text in running}.values())
    first = await _judged(judge, without, verdicts)
    yield Amendment(without, first, verdicts, out, problem, is_last=not wrong)
    if not wrong:
        return

    def restate(batch: Sequence[Claim]) -> Awaitable[tuple[Restated, ...]]:
        judged = [verdicts[claim.text] for claim in batch]
        return reasoner.restate(question, text, batch, judged, claims)

    said, failed = await _in_batches(restate, wrong, deadline)
    new: dict[str, str] = {}
    added: dict[str, Sequence[CitationDelta]] = {}
    for claim, restated in zip(wrong, said, strict=True):
        if restated is None or not (words := as_restated(claim.text, restated.text)):
            continue
        # The same words may rest on other quotes, but never against their own.
        if words != claim.text or (restated.citations and claim.text not in out):
            new[claim.text], added[claim.text] = words, restated.citations
    tried = amended(written, out | new, added)
    changes = out | await _borne_out(judge, tried, _but(verdicts, new), new)
    last = amended(written, changes, added)
    kept = _but(verdicts, [claim for claim, words in changes.items() if words])
    checked = await _judged(judge, last, kept)
    yield Amendment(last, checked, verdicts, changes, problem or failed)


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


def _but(verdicts: Mapping[str, Verdict], claims: Iterable[str]) -> dict[str, Verdict]:
    """Return the verdicts without those on claims that are restated, perhaps in the same words."""
    left_out = set(claims)
    return {claim: verdict for claim, verdict in verdicts.items() if claim not in left_out}


def _is_unborne(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.judgement != "supported"


async def _judged(judge: Judge, written: Written, verdicts: Mapping[str, Verdict]) -> Checked:
    # In a thread: a long answer takes 0.1 s, which would block other runs.
    return await asyncio.to_thread(judge, written, verdicts)


async def _in_batches(
    ask: Callable[[Sequence[Claim]], Awaitable[tuple[T | None, ...]]],
    claims: Sequence[Claim],
    deadline: float,
) -> tuple[list[T | None], str]:
    """Return what the small model says of each claim, asked in several calls at once if there are
    many, or None; and the reason if a call failed."""
    batches = [claims[start : start + BATCH] for start in range(0, len(claims), BATCH)]
    replies = await together(_said(ask(batch), deadline) for batch in batches)
    found: list[T | None] = []
    for batch, (reply, _) in zip(batches, replies, strict=True):
        found += (None,) * len(batch) if reply is None else reply
    return found, next((problem for _, problem in replies if problem), "")


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
