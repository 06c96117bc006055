"""Verifying an answer beside its posting, and amending it in its place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from bot.core.errors import (
    BudgetSpent,
    InvalidSetting,
    ModelUnavailable,
    PlatformUnavailable,
    PostRefused,
    StorageUnavailable,
)
from bot.core.messages import Answer, Verification, VerifiedSentence
from bot.reasoning.evidence import (
    AnswerDelta,
    CitationDelta,
    Claim,
    Evidence,
    Restated,
    Rewritten,
    TextDelta,
    Verdict,
)
from tests.fakes.poster import Remembered
from tests.fakes.reasoner import Scripted
from tests.unit.conftest import TURNS, OpenWorld, World
from tests.unit.samples import a_message

TALL = "Tower is 330 m tall."
HIGH = "Tower is 330 m high."
WIDE = "Tower is wide and it is made of wood."
BOTH = f"{TALL} {WIDE[:-1]} [1]."


def says(*sentences: str) -> list[AnswerDelta]:
    deltas: list[AnswerDelta] = []
    for sentence in sentences:
        deltas += [TextDelta(f"{sentence} "), CitationDelta(1, 0, len(TALL))]
    return deltas


def both(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
    return says(TALL, WIDE)


@dataclass
class Verifier(Scripted):
    """Says two sentences; verifies when ``may_verify`` is set, restates when ``may_restate`` is."""

    asked: int = 0
    verifying: asyncio.Event = field(default_factory=asyncio.Event)
    may_verify: asyncio.Event = field(default_factory=asyncio.Event)
    may_restate: asyncio.Event = field(default_factory=asyncio.Event)
    fails: Exception | None = None

    async def verify(
        self, question: str, text: str, claims: Sequence[Claim], others: Sequence[Claim] = ()
    ) -> tuple[Verdict | None, ...]:
        self.asked += 1
        self.verifying.set()
        await self.may_verify.wait()
        if self.fails is not None:
            raise self.fails
        return await super().verify(question, text, claims, others)

    async def restate(
        self,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        verdicts: Sequence[Verdict],
        others: Sequence[Claim] = (),
    ) -> tuple[Restated, ...]:
        await self.may_restate.wait()
        return await super().restate(question, answer, claims, verdicts, others)


def a_verifier(
    verdict: Verdict | None = None, restated: str = "", *, waits: bool = False
) -> Verifier:
    verdicts = {TALL: Verdict("supported")} | ({WIDE: verdict} if verdict else {})
    made = Verifier(TURNS, answer=both, verdicts=verdicts, restated={WIDE: restated})
    made.may_restate.set()
    if not waits:
        made.may_verify.set()
    return made


async def posted(reply: Remembered, count: int) -> Answer:
    """The answer that was posted as the ``count``-th of a run."""
    async with asyncio.timeout(60):
        while len(reply.finished) < count:
            await asyncio.sleep(0)
    return reply.finished[count - 1]


async def stored(world: World, run_id: str) -> Answer:
    record = await world.store.run(run_id)
    assert record is not None
    assert record.answer is not None
    return record.answer


def sentences(answer: Answer) -> list[VerifiedSentence]:
    assert answer.verification is not None
    return list(answer.verification.sentences)


async def test_an_answer_is_posted_before_it_is_verified_and_amended_in_its_place(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("partly", "made of wood"), waits=True)
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    await reasoner.verifying.wait()
    first = await posted(world.poster.replies[0], 1)
    assert (first.text, first.verification and first.verification.state) == (BOTH, "pending")
    assert await world.state(run_id) == "running"
    reasoner.may_verify.set()
    reply = await working
    assert len(reply.finished) == 2
    assert reply.finished[1].text == f"{TALL} {WIDE[:-1]} [1] ⚠."
    assert [doubt.reason for doubt in reply.finished[1].doubts] == [
        "its footnotes do not say: made of wood"
    ]
    kept = await stored(world, run_id)
    assert (kept.text, kept.doubts) == (reply.finished[1].text, reply.finished[1].doubts)
    assert sentences(kept) == [
        VerifiedSentence(TALL, "supported"),
        VerifiedSentence(WIDE, "partly", "made of wood", "marked"),
    ]
    assert await world.state(run_id) == "answered"


async def test_what_verification_does_not_change_is_posted_once(open_world: OpenWorld) -> None:
    world = await open_world(a_verifier(Verdict("supported")))
    run_id = await world.accept(a_message())
    reply = await world.work(run_id)
    assert [answer.text for answer in reply.finished] == [BOTH]
    kept = await stored(world, run_id)
    assert kept.verification is not None
    assert kept.verification.state == "done"
    assert [each.outcome for each in kept.verification.sentences] == ["kept", "kept"]


async def test_a_contradicted_sentence_goes_at_once_and_comes_back_corrected(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"), "Tower is tall [7].")
    reasoner.may_restate.clear()
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    while not world.poster.replies:
        await asyncio.sleep(0)
    second = await posted(world.poster.replies[0], 2)
    assert second.text == f"{TALL[:-1]} [1]."
    assert second.notes == ("One sentence contradicted its sources; it was left out.",)
    reasoner.may_restate.set()
    last = (await working).finished[-1]
    assert last.text == f"{TALL} Tower is tall [1]."
    assert last.notes == ("One sentence was corrected: its sources did not support it.",)
    assert sentences(last)[1] == VerifiedSentence(
        WIDE, "contradicted", outcome="restated", now="Tower is tall."
    )
    assert last.doubts == ()


@pytest.mark.parametrize("restated", ["", WIDE, "Tower is 999 m tall.", "- [1]"])
async def test_a_contradicted_sentence_never_stands(open_world: OpenWorld, restated: str) -> None:
    world = await open_world(a_verifier(Verdict("contradicted"), restated))
    reply = await world.work(await world.accept(a_message()))
    assert reply.finished[-1].text == f"{TALL[:-1]} [1]."
    assert sentences(reply.finished[-1])[1].outcome == "left_out"


@pytest.mark.parametrize("restated", ["", WIDE, "Tower is 999 m tall.", "- [1]"])
async def test_an_unsupported_sentence_that_cannot_be_restated_is_marked(
    open_world: OpenWorld, restated: str
) -> None:
    world = await open_world(a_verifier(Verdict("not_supported"), restated))
    reply = await world.work(await world.accept(a_message()))
    assert reply.finished[-1].text == f"{TALL} {WIDE[:-1]} [1] ⚠."
    assert [doubt.reason for doubt in reply.finished[-1].doubts] == [
        "its footnotes do not say that"
    ]
    assert reply.finished[-1].notes == ()


async def test_where_no_sentence_is_left_the_sources_are_quoted(open_world: OpenWorld) -> None:
    reasoner = a_verifier()
    reasoner.verdicts = {HIGH: Verdict("contradicted"), WIDE: Verdict("contradicted")}
    reasoner.answer = lambda question, evidence: says(HIGH, WIDE)
    world = await open_world(reasoner)
    last = (await world.work(await world.accept(a_message()))).finished[-1]
    assert (last.status, last.text) == (
        "answered",
        f"### Closest passages\n\n{TALL[:-1]} [1].",
    )
    assert last.notes == ("2 sentences contradicted their sources; they were left out.",)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (ModelUnavailable("The model is away."), "The model is away."),
        (BudgetSpent("The budget is spent."), "The budget is spent."),
        (InvalidSetting("There is no such model."), "There is no such model."),
        (TimeoutError(), "The small model took more than 30 seconds."),
        (KeyError("bug"), "The verification failed unexpectedly; see the log."),
    ],
)
async def test_an_answer_that_cannot_be_verified_stands(
    open_world: OpenWorld, error: Exception, problem: str
) -> None:
    reasoner = a_verifier(Verdict("contradicted"))
    reasoner.fails = error
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    reply = await world.work(run_id)
    assert [answer.text for answer in reply.finished] == [BOTH]
    kept = await stored(world, run_id)
    assert kept.verification is not None
    assert (kept.verification.state, kept.verification.problem) == ("failed", problem)
    assert await world.state(run_id) == "answered"


async def test_a_stop_ends_the_verification_and_leaves_the_answer(open_world: OpenWorld) -> None:
    reasoner = a_verifier(Verdict("contradicted"), waits=True)
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    stop = asyncio.Event()
    working = asyncio.create_task(world.work(run_id, stop))
    await reasoner.verifying.wait()
    stop.set()
    reply = await working
    assert [answer.text for answer in reply.finished] == [BOTH]
    kept = await stored(world, run_id)
    assert kept.verification is not None
    assert kept.verification.problem == "The verification was stopped."
    assert await world.state(run_id) == "answered"


async def test_a_process_that_dies_while_verifying_leaves_it_to_the_next(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"), waits=True)
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    await reasoner.verifying.wait()
    await posted(world.poster.replies[0], 1)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await world.state(run_id) == "running"
    reasoner.may_verify.set()
    reply = await world.work(run_id)
    assert [answer.text for answer in reply.finished] == [BOTH, f"{TALL[:-1]} [1]."]
    assert (reply.plans, reply.texts) == ([], [])  # the answer is there: no work is shown
    assert world.shelf.searched == ["tower"]
    assert await world.state(run_id) == "answered"


async def test_an_answer_that_comes_out_otherwise_the_next_time_is_not_amended(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"), waits=True)
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    await reasoner.verifying.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    reasoner.answer = lambda question, evidence: says(WIDE, TALL)
    reply = await world.work(run_id)
    assert [answer.text for answer in reply.finished] == [BOTH]
    kept = await stored(world, run_id)
    assert kept.verification is not None
    assert kept.verification.state == "failed"
    assert await world.state(run_id) == "answered"


async def test_what_an_earlier_attempt_left_to_verify_ends_where_it_is_off_now(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"), waits=True)
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    working = asyncio.create_task(world.work(run_id))
    await reasoner.verifying.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    world = await open_world(reasoner, verify="off")
    await world.work(run_id)
    kept = await stored(world, run_id)
    assert kept.text == BOTH
    assert kept.verification is not None
    assert kept.verification.problem == "Its verification was switched off."
    assert not kept.is_pending


async def test_when_storage_fails_while_verifying_the_run_stays_unfinished(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"))
    reasoner.fails = StorageUnavailable("The disk is full.")
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    with pytest.raises(StorageUnavailable):
        await world.work(run_id)
    assert await world.state(run_id) == "running"
    reasoner.fails = None
    reply = await world.work(run_id)
    assert reply.finished[-1].text == f"{TALL[:-1]} [1]."


async def test_while_a_platform_is_away_an_answer_is_verified_once_and_posted_as_amended(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Remembered.finish
    tried: list[str] = []

    async def away(self: Remembered, answer: Answer) -> None:
        tried.append(answer.text)
        if len(tried) == 1:
            raise PlatformUnavailable("Slack is away.")
        await finish(self, answer)

    monkeypatch.setattr(Remembered, "finish", away)
    reasoner = a_verifier(Verdict("contradicted"))
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    with pytest.raises(PlatformUnavailable):
        await world.work(run_id)
    assert await world.state(run_id) == "running"
    reply = await world.work(run_id)
    assert tried == [BOTH, f"{TALL[:-1]} [1]."]
    assert [answer.text for answer in reply.finished] == tried[1:]
    assert reasoner.asked == 1
    assert await world.state(run_id) == "answered"


async def test_an_answer_that_cannot_be_amended_is_verified_before_it_is_posted(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("contradicted"))
    world = await open_world(reasoner)
    world.poster.amends = False
    reply = await world.work(await world.accept(a_message()))
    assert [answer.text for answer in reply.finished] == [f"{TALL[:-1]} [1]."]


async def test_what_cannot_be_amended_any_more_stays_as_it_was_posted(
    open_world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Remembered.finish

    async def once(self: Remembered, answer: Answer) -> None:
        if self.finished:
            raise PostRefused("The message is gone.")
        await finish(self, answer)

    monkeypatch.setattr(Remembered, "finish", once)
    world = await open_world(a_verifier(Verdict("contradicted")))
    run_id = await world.accept(a_message())
    await world.work(run_id)
    assert await world.state(run_id) == "answered"
    assert (await stored(world, run_id)).text == f"{TALL[:-1]} [1]."


async def test_what_stands_word_for_word_in_its_quote_needs_no_verdict(
    open_world: OpenWorld,
) -> None:
    reasoner = a_verifier(Verdict("supported"))
    reasoner.verdicts[TALL] = Verdict("contradicted")
    world = await open_world(reasoner)
    run_id = await world.accept(a_message())
    reply = await world.work(run_id)
    assert [answer.text for answer in reply.finished] == [BOTH]
    assert [each.verdict for each in sentences(await stored(world, run_id))] == ["supported"] * 2


@pytest.mark.parametrize(
    ("verify", "answer", "asked"),
    [
        ("on", says(TALL, WIDE), 1),
        ("on", says("Tower is 331 m tall."), 1),
        ("on", says(HIGH), 1),
        ("on", [TextDelta("Yes.", opens=True), TextDelta(" ", opens=True), *says(TALL)], 1),
        ("on", says(TALL), 0),
        ("on", says(TALL, TALL), 0),
        ("on", [TextDelta("Nothing was found.")], 0),
        ("off", says(TALL, WIDE), 0),
    ],
)
async def test_what_is_verified(
    open_world: OpenWorld, verify: str, answer: list[AnswerDelta], asked: int
) -> None:
    reasoner = a_verifier(Verdict("supported"))
    reasoner.answer = lambda question, evidence: answer
    world = await open_world(reasoner, verify=verify)
    run_id = await world.accept(a_message())
    await world.work(run_id)
    assert reasoner.asked == asked
    assert ((await stored(world, run_id)).verification is not None) == bool(asked)


async def test_a_pending_verification_that_ends_keeps_what_it_has_found() -> None:
    from bot.research.pipeline import unverified

    found = (VerifiedSentence(TALL, "supported"),)
    pending = Answer("answered", TALL, "?", "r", verification=Verification("pending", found))
    ended = unverified(pending, "It was stopped.").verification
    assert ended == Verification("done", found, "It was stopped.")
