"""Messages that correct the last answer, told without a model."""

from __future__ import annotations

import pytest

from bot.core.answers import Citation
from bot.core.messages import Entry, Transcript
from bot.reasoning.closest_reasoner import question_of as rewrite
from bot.reasoning.wording import correction_in
from tests.unit.samples import a_message

QUESTION = "What is the hotel limit for Berlin?"
CITED = Citation(1, "file:///travel.md", "Travel", "120 euros", "h", 0, 9)
ANSWERED = Transcript(
    (
        Entry("person", "Ada", QUESTION),
        Entry("footnote", "Footnote", "120 euros [1].", question=QUESTION, cited=(CITED,)),
    )
)
UNANSWERED = Transcript((Entry("person", "Ada", QUESTION), Entry("footnote", "Footnote", "Hm.")))

CORRECTIONS = [
    "No, that changed in May: it's 140 euros now.",
    "no, the limit is 140 euros",
    "Actually, the limit has been 140 euros since 1 May 2026.",
    "That's wrong. The limit is 140 euros.",
    "That changed, see https://example.org/policy",
    "It has changed: Berlin is now 140.",
    "That is no longer true, Finance moved it to 140 in May.",
    "不对，五月起是140欧元。",
    "不是，现在的上限是 140 欧元",
    "這已經改了，見 https://example.org/policy",
]
OTHERS = [
    QUESTION,
    "No, I meant Munich.",
    "no, not the 2019 one, the 2020 one",
    "No thanks",
    "No.",
    "no, that's fine",
    "Are you sure it is 120?",
    "No, is it not 140?",
    "Actually, what is the limit for Munich in 2026?",
    "The limit is 140 euros.",
    "Now the same for Munich",
    "Nobody told me it was 120 euros",
    "不是柏林，我是说慕尼黑",
    "不对吗？",
]


@pytest.mark.parametrize("text", CORRECTIONS)
def test_a_denial_that_states_something_is_a_correction(text: str) -> None:
    assert correction_in(ANSWERED, text) == (text, "")
    found = rewrite(ANSWERED, a_message(text))
    assert (found.kind, found.reply, found.correction) == ("chat", "", text)


@pytest.mark.parametrize("text", OTHERS)
def test_questions_doubts_and_what_was_meant_are_none(text: str) -> None:
    assert correction_in(ANSWERED, text) == ("", "")


@pytest.mark.parametrize("text", CORRECTIONS[:3])
@pytest.mark.parametrize("said", [Transcript(), UNANSWERED])
def test_without_an_answer_there_is_nothing_to_correct(said: Transcript, text: str) -> None:
    assert correction_in(said, text) == ("", "")


def test_what_is_asked_besides_is_researched() -> None:
    text = "No, the limit is 140 euros since May. What is it for Munich in 2026?"
    found = rewrite(ANSWERED, a_message(text))
    assert found.correction == "No, the limit is 140 euros since May."
    assert (found.kind, "Munich" in found.question) == ("search", True)
    assert "140" not in found.question
