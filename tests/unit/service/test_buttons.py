"""Each button under an answer acts on a press and tells its presser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.errors import CredentialsRefused, Denied, Invalid
from bot.core.messages import Author
from bot.reasoning.evidence import AnswerDelta, Evidence, Rewritten
from bot.service.buttons import ASK_WHY, Feedback, FollowUp, OnRun, carry_out
from bot.storage.workspaces import Reason, Verdict
from tests.fakes.reasoner import cite_all
from tests.unit.samples import verdicts
from tests.unit.service.conftest import House, OpenHouse

BOB = Author("U2", "Bob")


async def press(
    house: House, pressed: Feedback | FollowUp | OnRun, locale: str = "en"
) -> str | None:
    return await carry_out(house.reception, pressed, BOB, locale=locale, audience="channel")


@pytest.mark.parametrize(
    ("verdict", "reason", "words", "told"),
    [
        ("good", "", "", "feedback-thanks"),
        ("bad", "", "", ASK_WHY),
        ("bad", "outdated", "", "feedback-thanks"),
        ("bad", "", "It moved.", "feedback-thanks"),
    ],
)
async def test_feedback_is_kept_and_thanked_for(
    house: House, verdict: Verdict, reason: Reason, words: str, told: str
) -> None:
    answer = await house.answered()
    assert await press(house, Feedback(answer.run, verdict, reason, words)) == told
    kept = await verdicts(house.store.database, answer.run)
    assert kept == {BOB.id: verdict}


async def test_feedback_on_an_answer_nobody_knows_is_explained(house: House) -> None:
    assert await press(house, Feedback("gone", "good")) == "question-gone"


async def test_stop_ends_its_run_and_says_when_there_is_none(house: House) -> None:
    house.reasoner.let_on.clear()
    asked = await house.ask("How tall is the tower?")
    other = await house.ask("How old is it?", thread="t2")
    assert await press(house, OnRun("stop", asked.run_id)) == "stopping"
    await house.dispatcher.wait(asked.run_id)
    assert (await house.run(asked.run_id)).state == "stopped"
    assert (await house.run(other.run_id)).state in ("accepted", "running")
    assert await press(house, OnRun("stop", asked.run_id)) == "nothing-running"
    assert await press(house, OnRun("stop", "gone")) == "nothing-running"


async def test_retry_answers_what_failed_in_the_same_place(house: House) -> None:
    def refuse(question: Rewritten, evidence: Evidence) -> list[AnswerDelta]:
        raise CredentialsRefused("The key was not accepted.")

    house.reasoner.answer = refuse
    run = (await house.ask("How tall is the tower?")).run_id
    await house.dispatcher.wait(run)
    assert (await house.run(run)).state == "failed"
    house.reasoner.answer = cite_all
    assert await press(house, OnRun("retry", run)) is None
    await house.dispatcher.wait(run)
    assert (await house.run(run)).state == "answered"
    assert await press(house, OnRun("retry", run)) == "asked-already"


async def test_deeper_asks_the_question_again_once_for_the_presser(house: House) -> None:
    answer = await house.answered()
    assert await press(house, OnRun("deeper", answer.run), "zh-TW") is None
    assert await press(house, OnRun("deeper", answer.run)) == "asked-already"
    deeper = (
        await house.reception.dig_deeper(answer.run, BOB, locale="", audience="channel")
    ).run_id
    await house.dispatcher.wait(deeper)
    run = await house.run(deeper)
    assert (run.options.depth, run.message.author, run.message.locale) == ("deep", BOB, "zh-TW")
    assert [reply.run.id for reply in house.poster.replies] == [answer.run, deeper]


async def test_a_follow_up_asks_its_suggestion_once(house: House) -> None:
    answer = await house.answered()
    stored = await house.run(answer.run)
    suggesting = replace(answer, suggestions=("How old is it?", "Who built it?"))
    await house.store.save_answer(answer.run, stored.attempt, suggesting)
    assert await press(house, FollowUp(answer.run, 1)) is None
    assert await press(house, FollowUp(answer.run, 1)) == "asked-already"
    assert await press(house, FollowUp(answer.run, 0)) is None
    with pytest.raises(Invalid):
        await press(house, FollowUp(answer.run, 2))


@pytest.mark.parametrize("pressed", [OnRun("deeper", "gone"), FollowUp("gone", 0)])
async def test_a_question_nobody_knows_cannot_be_gone_on_with(
    house: House, pressed: OnRun | FollowUp
) -> None:
    with pytest.raises(Invalid):
        await press(house, pressed)


async def test_who_may_not_ask_may_not_press(open_house: OpenHouse) -> None:
    house = await open_house(deny_users=(BOB.id,))
    answer = await house.answered()
    with pytest.raises(Denied):
        await press(house, OnRun("deeper", answer.run))
