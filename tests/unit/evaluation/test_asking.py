"""Questions are asked once, in a thread for each case, and continued by a later call."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import CredentialsRefused, ModelRefused, ModelUnavailable
from bot.core.messages import Message, RunOptions, Transcript
from bot.evaluation.evaluation import open_asker
from bot.evaluation.questions import Case, CaseTurn
from bot.operation.configuration import load_settings
from bot.reasoning.evidence import Rewritten
from tests.fakes.reasoner import Scripted
from tests.unit.evaluation.conftest import OpenAsker

CASE = Case(1, (CaseTurn("How tall is the tower?"), CaseTurn("And the bridge?")))


class Counting(Scripted):
    """Counts what it is asked, and fails as it is told."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.asked: list[tuple[str, int]] = []
        self._errors = list(errors)

    async def rewrite(
        self, transcript: Transcript, message: Message, instructions: str = ""
    ) -> Rewritten:
        self.asked.append((message.text, len(transcript.entries)))
        if self._errors:
            raise self._errors.pop(0)
        return await super().rewrite(transcript, message, instructions)


async def test_a_follow_up_is_asked_in_the_thread_of_its_question(open_asker: OpenAsker) -> None:
    reasoner = Counting()
    asker = await open_asker(reasoner)

    assert await asker.stored_answers(CASE) is None
    answers = await asker.ask(CASE)

    assert len(answers) == 2
    assert reasoner.asked == [("How tall is the tower?", 0), ("And the bridge?", 2)]
    assert await asker.stored_answers(CASE) == answers


async def test_a_later_call_asks_nothing_again(open_asker: OpenAsker) -> None:
    answers = await (await open_asker()).ask(CASE)
    reasoner = Counting()
    later = await open_asker(reasoner)

    assert await later.ask(CASE) == answers
    assert reasoner.asked == []


async def test_another_depth_is_another_question(open_asker: OpenAsker) -> None:
    await (await open_asker()).ask(CASE)
    deep = await open_asker(Counting(), RunOptions(depth="deep"))
    assert await deep.stored_answers(CASE) is None


async def test_two_cases_that_begin_alike_know_nothing_of_each_other(
    open_asker: OpenAsker,
) -> None:
    asker = await open_asker(reasoner := Counting())
    await asker.ask(CASE)
    await asker.ask(Case(7, (CASE.turns[0], CaseTurn("And the door?"))))
    assert reasoner.asked[-1] == ("And the door?", 2), "only its own question and answer"


async def test_a_failed_answer_ends_its_case_and_is_asked_again_in_a_new_thread(
    open_asker: OpenAsker,
) -> None:
    asker = await open_asker(reasoner := Counting(ModelRefused("It declined.")))

    first = await asker.ask(CASE)
    assert [answer.status for answer in first] == ["failed"]
    assert await asker.stored_answers(CASE) is None

    second = await asker.ask(CASE)
    assert [answer.status for answer in second] == ["not_found", "not_found"]
    assert reasoner.asked[1] == ("How tall is the tower?", 0), "nothing of the failure is seen"


async def test_a_quotation_in_place_of_the_model_is_asked_again(open_asker: OpenAsker) -> None:
    away = Counting(*(ModelUnavailable("It is away.") for _ in range(9)))
    asker = await open_asker(away, anthropic_api_key="sk-test")
    quoted = await asker.ask(CASE)
    assert [answer.reasoner for answer in quoted] == ["closest"] * 2
    assert await asker.stored_answers(CASE) is None

    back = await open_asker(reasoner := Counting(), anthropic_api_key="sk-test")
    await back.ask(CASE)
    assert reasoner.asked == [("How tall is the tower?", 0), ("And the bridge?", 2)]


async def test_what_would_fail_every_question_is_raised(open_asker: OpenAsker) -> None:
    asker = await open_asker(Counting(CredentialsRefused("The key is not accepted.")))
    with pytest.raises(CredentialsRefused):
        await asker.ask(CASE)


async def test_no_question_finds_the_answer_of_an_earlier_one(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, reasoner="closest")
    async with open_asker(settings, tmp_path, RunOptions()) as asker:
        assert not asker._app.settings.earlier_answers
