"""Follow-ups that carry their topic, messages that stand alone, links, and small talk."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.messages import Entry, Transcript
from bot.reasoning.extractive_rewrite import rewrite
from bot.reasoning.reasoner import Rewritten
from tests.unit.samples import a_message


def asked(*texts: str) -> Transcript:
    """Earlier questions without their answers."""
    return Transcript(tuple(Entry("person", "Ada", text) for text in texts))


def answered(question: str, answer: str, *sources: str) -> Transcript:
    return Transcript(
        (
            Entry("person", "Ada", question),
            Entry("footnote", "Footnote", answer, sources, question),
        )
    )


def rewritten(transcript: Transcript, text: str) -> Rewritten:
    return rewrite(transcript, a_message(text))


# ---------------------------------------------------------------- follow-ups


@pytest.mark.parametrize(
    ("before", "message", "expected"),
    [
        ("What is throat cancer?", "Is it treatable?", "Is throat cancer treatable?"),
        (
            "Tell me about lung cancer.",
            "What are its symptoms?",
            "What are lung cancer's symptoms?",
        ),
        (
            "When was the Eiffel Tower finished?",
            "And how tall is it?",
            "And how tall is the Eiffel Tower?",
        ),
        ("Tell me about makos.", "Where do they live?", "Where do makos live?"),
        ("Who was Anne Bonny?", "Who was she married to?", "Who was Anne Bonny married to?"),
        (
            "Tell me about the Stanford Experiment.",
            "Was it ethical?",
            "Was the Stanford Experiment ethical?",
        ),
        (
            "How do you fix a garage door opener?",
            "How much does it cost?",
            "How much does garage door opener cost?",
        ),
        ("What is rust?", "How do I know if it's serious?", "How do I know if rust is serious?"),
        ("What is the GDPR?", "What are the main rules?", "What are the main rules? (GDPR)"),
        (
            "What is the Stanford Experiment?",
            "Who led the experiment?",
            "Who led the experiment? (Stanford Experiment)",
        ),
        ("How many moons does Jupiter have?", "What about Mars?", "How many moons does Mars have?"),
        ("What was Apple's revenue in 2018?", "and in 2019?", "What was Apple's revenue in 2019?"),
        (
            "What was Apple's revenue in 2018?",
            "And on 3 May 2020?",
            "What was Apple's revenue in 3 May 2020?",
        ),
        ("What does Apple sell?", "and in 2019?", "What does Apple sell in 2019?"),
        ("Why is the sky blue?", "Why?", "Why? (Why is the sky blue?)"),
        ("What is yoga?", "tell me more", "tell me more (What is yoga?)"),
        ("法国的首都是哪里？", "它的人口是多少？", "法国的人口是多少？"),
        ("法国的首都是哪里？", "人口是多少？", "人口是多少？（法国）"),
        ("法国的首都是哪里？", "那德国呢？", "那德国呢？（法国的首都是哪里）"),
        ("法国的首都是哪里？", "为什么？", "为什么？（法国的首都是哪里）"),
        ("《红楼梦》的作者是谁？", "它写于哪一年？", "《红楼梦》写于哪一年？"),
        (
            "東京タワーの高さは？",
            "それはいつ建てられましたか？",
            "東京タワーはいつ建てられましたか？",
        ),
        ("フランスの首都はどこですか？", "ドイツは？", "ドイツは？（フランスの首都はどこですか）"),
        ("프랑스의 수도는 어디입니까?", "그것의 인구는 얼마입니까?", "프랑스의 인구는 얼마입니까?"),
        ("프랑스의 수도는 어디입니까?", "독일은요?", "독일은요?（프랑스의 수도는 어디입니까）"),
    ],
)
def test_a_follow_up_stands_alone(before: str, message: str, expected: str) -> None:
    assert rewritten(asked(before), message).question == expected


@pytest.mark.parametrize(
    "message",
    [
        "What is throat cancer?",
        "Tell me about tiger sharks.",
        "How is cassoulet made?",
        "Who wrote Dracula?",
        "How long does it take to boil an egg?",
        "Is it safe to eat raw eggs during pregnancy?",
        "What is Rock City, and why is it famous?",
        "How does binge drinking affect development?",
        "What are the symptoms of anemia?",
        "Which river flows through the city that Kevin Durant played for?",
        "中国的人口是多少？",
        "《红楼梦》的作者是谁？",
        "what does `it` do in Groovy closures, and which methods take such closures as parameters?",
        "it " * 200,
    ],
)
def test_a_message_that_stands_alone_is_unchanged(message: str) -> None:
    assert rewritten(asked("What is the Eiffel Tower?"), message).question == message.strip()
    assert rewritten(asked("法国的首都是哪里？"), message).question == message.strip()


@pytest.mark.parametrize("message", ["Is it treatable?", "And in 2019?", "Why?", "那德国呢？"])
def test_a_first_message_is_unchanged(message: str) -> None:
    assert rewritten(Transcript(), message).question == message


def test_the_answer_to_who_is_the_one_meant_by_she() -> None:
    thread = answered("Who founded Acme?", "Ingrid Dahl founded Acme. [1]", "Ingrid Dahl", "Acme")
    assert "Ingrid Dahl" in rewritten(thread, "Where was she born?").question


def test_the_topic_lasts_over_several_follow_ups() -> None:
    thread = asked("What is the Forth Bridge?", "Who built it?", "Was it expensive?")
    assert "Forth Bridge" in rewritten(thread, "How long is it?").question


def test_a_new_topic_takes_over() -> None:
    question = rewritten(asked("What is yoga?", "Who wrote Dracula?"), "When was it published?")
    assert question.question.startswith("When was Dracula published?")


def test_an_answer_on_something_else_ends_the_old_topic() -> None:
    thread = Transcript(
        (
            *answered("What is yoga?", "Yoga is old.", "Yoga").entries,
            *answered("Who wrote Dracula?", "Bram Stoker did.", "Dracula").entries,
        )
    )
    assert "yoga" not in rewritten(thread, "When was it published?").question


def test_what_an_earlier_follow_up_was_taken_for_counts() -> None:
    thread = Transcript(
        (
            Entry("person", "Ada", "And that one?"),
            Entry("footnote", "Footnote", "It is old.", (), "How old is the Forth Bridge?"),
        )
    )
    assert "Forth Bridge" in rewritten(thread, "Who built it?").question


def test_thanks_between_questions_do_not_matter() -> None:
    thread = asked("What is the Forth Bridge?", "thanks!", "ok")
    assert "Forth Bridge" in rewritten(thread, "Who built it?").question


# ---------------------------------------------------------------- queries, language, links


def test_queries_are_short_and_of_the_words_that_matter() -> None:
    question = "Who was the first president of the association which published Ethics Today?"
    assert rewritten(Transcript(), question).queries == (
        "first president association published Ethics Today",
        "Ethics Today",
    )


def test_chinese_queries_are_the_words_between_function_words() -> None:
    assert rewritten(Transcript(), "法国的首都是哪里？").queries == ("法国 首都",)


@pytest.mark.parametrize(
    ("text", "language"),
    [("Wer baute den Hafen?", "de"), ("谁建了它？", "zh"), ("Who built it?", "en")],
)
def test_the_language_is_that_of_the_message(text: str, language: str) -> None:
    assert rewritten(Transcript(), text).language == language


def test_a_message_without_words_has_the_language_of_the_thread() -> None:
    assert rewritten(asked("法国的首都是哪里？"), "???").language == "zh"
    assert rewrite(Transcript(), replace(a_message("?!"), locale="fr-CA")).language == "fr"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("https://example.org/a", "links"),
        ("Summarize https://example.org/a.", "links"),
        ("What does this page say? https://example.org/a", "links"),
        ("总结一下 https://example.org/a", "links"),
        ("How do storage prices compare with European rivals? https://example.org/a", "search"),
    ],
)
def test_links_are_read(text: str, kind: str) -> None:
    result = rewritten(Transcript(), text)
    assert (result.kind, result.links) == (kind, ("https://example.org/a",))
    assert bool(result.queries) == (kind == "search")


def test_links_that_the_platform_found_come_too() -> None:
    message = replace(a_message("See (https://example.org/a)!"), links=("https://example.org/b",))
    assert rewrite(Transcript(), message).links == (
        "https://example.org/a",
        "https://example.org/b",
    )


# ---------------------------------------------------------------- small talk


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Hi!", "Hello!"),
        ("good morning everyone", "Hello!"),
        ("Hello, how are you?", "Footnote"),
        ("Thanks a lot!", "welcome"),
        ("ok, thank you for the answer", "welcome"),
        ("what can you do?", "footnotes"),
        ("你好！", "你好"),
        ("谢谢", "不客气"),
        ("你是谁？", "Footnote"),
        ("こんにちは", "こんにちは"),
        ("감사합니다", "천만에요"),
        ("Danke schön", "welcome"),
    ],
)
def test_small_talk_is_answered_at_once(text: str, part: str) -> None:
    result = rewritten(asked("What is yoga?"), text)
    assert result.kind == "chat"
    assert part in result.reply
    assert not result.queries


@pytest.mark.parametrize(
    "text",
    [
        "Who is Hi-Fi Rush by?",
        "hello world program in C",
        "What is Thanksgiving?",
        "好的大学有哪些？",
        "help me understand quantum tunnelling in transistors",
    ],
)
def test_a_question_is_no_small_talk(text: str) -> None:
    result = rewritten(Transcript(), text)
    assert result.kind == "search"
    assert result.queries


# ---------------------------------------------------------------- anything else

SAID = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                *("it", "its", "the", "what about", "and", "in", "2019", "why", "Mars", "there"),
                *("one", "?", "!", ",", "(", "这", "呢", "它"),
            ]
        ),
        max_size=12,
    ).map(" ".join),
)


@given(st.lists(SAID, max_size=4), SAID)
def test_anything_can_be_said(before: list[str], text: str) -> None:
    result = rewritten(asked(*before), text)
    assert result == rewritten(asked(*before), text)
    assert len(result.queries) <= 4
    assert all(0 < len(query) <= 200 for query in result.queries)
    assert result.kind == "chat" or text.strip() in result.question or before


@pytest.mark.parametrize("unit", ["and ", "so ", "it ", "what about ", "a", "(", "A ", "的", "A, "])
def test_the_longest_message_takes_linear_time(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    assert rewritten(asked("What is yoga?", text), text).question
