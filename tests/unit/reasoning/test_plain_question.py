"""Messages that are taken as they are, and those that a model has to judge first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.messages import Attachment, Entry, Transcript
from bot.reasoning.wording import LONGEST, is_taken, plain_question
from tests.fakes.claude_stage import OpenStage
from tests.unit.samples import a_message

PLAIN = [
    "When did the Forth Bridge open?",
    "Who was the architect of the Eiffel Tower?",
    "In which city was the band AC/DC formed?",
    "How many people live in the county where Oslo Airport is located?",
    "What is throat cancer?",
    "The Forth Bridge is painted in what colour?",
    "The Firth of Forth is an inlet of which sea?",
    "What is the capital of this country that held the Olympics of 1952?",  # leads nowhere else
    "The Forth Bridge is owned by which company ?",
    "福斯桥是什么时候开通的？",
    "这座桥是哪一年开通的？",
]
TO_JUDGE = [
    "When did it open?",
    "Who is our data protection officer?",
    "What can you do?",
    "What is the latest version of Python?",
    "What are the differences between a crocodile and an alligator?",
    "Which is taller, the Eiffel Tower or the Shard? And which is older?",
    "Which bridges open this year?",
    "这周有哪些新闻？",
    "Tell me about the Forth Bridge.",
    "Forth Bridge opening date",
    "Is the Forth Bridge red?",  # may be a small thing or a large one
    "Is Oslo the city in which Henrik Ibsen died?",
    "Oslo is the city in which Henrik Ibsen died?",
    "List by what routes Oslo Airport is reached?",
    "Why?",
    "What does https://example.org/bridge say about trains?",
    "What's new on docs.python.org about generics this week?",
    "Write a report on the Forth Bridge?",
    "Wann wurde die Brücke eröffnet?",
    "What is `x`\nin this code?",
    "我们什么时候放假？",
    "",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_question_that_says_it_all_is_taken_word_for_word(text: str) -> None:
    taken = plain_question(Transcript(), a_message(text))
    assert taken is not None
    assert (taken.kind, taken.question, taken.depth) == ("search", text, "standard")
    assert taken.queries


@pytest.mark.parametrize("text", TO_JUDGE)
def test_what_leaves_something_to_judge_is_not(text: str) -> None:
    assert plain_question(Transcript(), a_message(text)) is None


@pytest.mark.parametrize("text", PLAIN)
def test_nor_is_anything_that_comes_with_more_than_its_words(text: str) -> None:
    message = a_message(text)
    thread = Transcript((Entry("person", "Ada", "We talk about bridges."),))
    file = Attachment("plan.pdf", "x/pdf", "")
    assert plain_question(thread, message) is None
    assert plain_question(Transcript(), replace(message, attachments=(file,))) is None
    assert plain_question(Transcript(), message, "Answer in French.") is None
    long = a_message(text[:-1] + " really" * LONGEST + text[-1])
    assert plain_question(Transcript(), long) is None


async def test_no_model_is_asked_for_it(stage: OpenStage) -> None:
    on = stage([])
    rewritten = await on.claude.rewrite(Transcript(), a_message(PLAIN[0]))
    assert rewritten.question == PLAIN[0]
    assert on.fake.requests == []


@pytest.mark.parametrize(
    ("text", "question", "taken"),
    [
        ("No, I meant the office: when does it open?", "When does the office open?", True),
        ("不，我是说办公室：什么时候开门？", "办公室什么时候开门？", True),
        ("No, I meant the office: when does it open?", "When does the Munich office open?", False),
        ("When does the office in Leith open?", "When does the office open?", False),
        ("I want to know when the office in Leith opens", "When does the office open?", False),
    ],
)
def test_what_was_meant_is_asked_without_what_it_answers(
    text: str, question: str, taken: bool
) -> None:
    before = Transcript((Entry("person", "Ann", "Tell me about trains"),))
    assert is_taken(before, a_message(text), question) is taken
