"""Questions that were asked before, and those that only look like it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.messages import Entry, Transcript
from bot.reasoning.repeated import (
    as_asked,
    is_local,
    is_of_its_time,
    is_personal,
    is_repeat,
    wants_research,
)
from tests.unit.samples import a_message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the capital of France?", "what's the capital of france"),
        ("What is the capital of France?", "Please tell me: what is France's capital?"),
        ("Who won the Tour de France in 2024?", "In 2024, who won the Tour de France?"),
        ("How many guests may a member bring?", "How many guests may the member bring, please?"),
        ("Which guests can’t vote?", "Which guests cannot vote?"),
        ("Where is the café?", "where’s the cafe"),
        ("Is 1,000 enough?", "Is 1000 enough?"),
        ("How often is the key rotated?", "Tell me how often the key is rotated."),
        ("Where can guests park?", "Does anyone know where guests can park?"),
        ("Is the canteen open on Sunday?", "I wonder whether the canteen is open on Sunday"),
        ("法国的首都是哪里？", "请问法国首都是哪里"),
        ("公司允许带狗上班吗？", "公司允许带狗上班"),
    ],
)
def test_the_same_question_may_be_written_in_several_ways(one: str, other: str) -> None:
    assert is_repeat(one, other)
    assert is_repeat(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the capital of France?", "What is the capital of Spain?"),
        ("what is the capital of france?", "what is the capital of spain?"),
        ("Who won the Tour de France in 2024?", "Who won the Tour de France in 2023?"),
        ("Who founded Apple?", "When was Apple founded?"),
        ("Does the dog bite the man?", "Does the man bite the dog?"),
        ("How do I turn on logging?", "How do I turn off logging?"),
        ("Which train goes from Bern to Basel?", "Which train goes from Basel to Bern?"),
        ("Can guests vote?", "Can guests not vote?"),
        ("Who is the president of France?", "Who was the president of France?"),
        ("Who plays James Bond?", "Who played James Bond?"),
        ("What is the rule that was broken?", "What was the rule that is broken?"),
        ("Can guests park?", "Must guests park?"),
        ("How often can the key be rotated?", "How often is the key rotated?"),
        ("Is what can be read hidden?", "Can what is read be hidden?"),
        ("What is the new policy?", "What is the news policy?"),
        ("How much does 5 kg cost?", "How much does 50 kg cost?"),
        ("How fast is version 3.11?", "How fast is version 3.12?"),
        ("Who maintains C++?", "Who maintains C#?"),
        ("Is it above -5 degrees?", "Is it above 5 degrees?"),
        ("Is $5 enough?", "Is €5 enough?"),
        ("How do I contact us?", "How do I contact US?"),
        ("When was the first man in space?", "When was the first woman in space?"),
        ("Is it open on 3 June?", "Is it open on 3 July?"),
        ("法国的首都是哪里？", "西班牙的首都是哪里？"),
        ("公司允许带狗上班吗？", "公司不允许带狗上班吗？"),
        ("2023年谁赢了？", "2024年谁赢了？"),
        ("谁打败了谁的儿子甲乙", "谁打败了谁的儿子乙甲"),
    ],
)
def test_another_question_is_another_however_alike(one: str, other: str) -> None:
    assert not is_repeat(one, other)
    assert not is_repeat(other, one)


@pytest.mark.parametrize(
    "question",
    [
        "What is the latest version of Python?",
        "Is the office open today?",
        "Who is the current chair?",
        "What happened last week?",
        "What will happen in the next three months?",
        "Is it still raining?",
        "What is the weather in Bern?",
        "今天天气怎么样？",
        "Python 的最新版本是什么？",
        "谁是现在的主席？",
    ],
)
def test_some_questions_have_another_answer_each_day(question: str) -> None:
    assert is_of_its_time(question)


@pytest.mark.parametrize(
    "question", ["What is the capital of France?", "Who won in 2024?", "法国的首都是哪里？"]
)
def test_others_do_not(question: str) -> None:
    assert not is_of_its_time(question)


@pytest.mark.parametrize(
    "words", ["Research this anew", "Who is it? From scratch, please.", "请重新研究这个问题"]
)
def test_new_research_is_asked_for_in_words(words: str) -> None:
    assert wants_research(words)
    assert not wants_research("What did the second team research?")


HEIGHT = "How tall is the tower?"


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (f"{HEIGHT} Research again.", HEIGHT),
        (f"{HEIGHT} research again", HEIGHT),
        ("How tall is the tower research again", HEIGHT[:-1]),
        ("How tall is the tower, please research it again", HEIGHT[:-1]),
        (f"{HEIGHT} (Look it up again, please!)", HEIGHT),
        (f"Research again: {HEIGHT}", HEIGHT),
        (f"Please research this from scratch. {HEIGHT}", HEIGHT),
        ("塔有多高？重新研究", "塔有多高？"),
        ("塔有多高 重新研究", "塔有多高"),
        ("请重新查一下：塔有多高？", "塔有多高？"),
        ("Research again.", "How wide is it?"),
        ("please look it up again", "How wide is it?"),
        ("重新研究", "How wide is it?"),
    ],
)
def test_the_wish_for_new_research_is_no_part_of_the_question(said: str, asked: str) -> None:
    earlier = Entry("footnote", "Footnote", "30 m [1].", question="How wide is it?")
    thanks = Entry("person", "Ada", "Thanks.")
    message = a_message(said)
    read = as_asked(Transcript((earlier, thanks)), message)
    assert read == replace(message, text=asked)
    assert wants_research(said)


@pytest.mark.parametrize(
    "words",
    [
        "How is bread baked from scratch?",
        "Who wants to research cold fusion again?",
        "Why did they look it up again in 1990?",
        "他们为什么重新研究历史？",
    ],
)
def test_words_of_a_question_are_no_wish(words: str) -> None:
    message = a_message(words)
    assert as_asked(Transcript(), message) is message


@pytest.mark.parametrize("piece", ["\n", "please, ", "? \n", " - ", "research again "])
def test_a_long_message_is_looked_through_in_one_go(piece: str) -> None:
    spent = []
    for length in (2_000, 20_000):
        words = piece * (length // len(piece)) + "x"
        begun = time.process_time()
        wants_research(words)
        spent.append(time.process_time() - begun)
    assert spent[1] < 30 * max(spent[0], 0.002)  # ten times the length; its square is a hundred


def test_a_wish_without_a_question_stays_as_it_is() -> None:
    message = a_message("Research again.")
    assert as_asked(Transcript(), message).text == message.text


@pytest.mark.parametrize("question", ["Who is my manager?", "Am I insured?", "我的经理是谁？"])
def test_some_depend_on_who_asks(question: str) -> None:
    assert is_personal(question)
    assert not is_personal("Please tell me: how do I reset it?")
    assert not is_personal("我们的经理是谁？")


@pytest.mark.parametrize(
    "question", ["Who is on our team?", "Who moderates here?", "我们的经理是谁？"]
)
def test_some_depend_on_where_they_are_asked(question: str) -> None:
    assert is_local(question)
    assert not is_local("Who moderates r/python?")
