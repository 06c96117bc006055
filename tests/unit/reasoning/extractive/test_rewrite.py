"""Follow-ups that carry their topic, messages that stand alone, links, and small talk."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answers import Citation
from bot.messages import Entry, Transcript
from bot.pages.urls import dedupe_key
from bot.reasoning.extractive.hops import LONGEST_QUERY
from bot.reasoning.extractive.rewrite import rewrite, sides
from bot.reasoning.questions import Rewritten, Scope
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


@pytest.mark.parametrize(
    ("text", "links", "whole"),
    [
        ("Summarize https://a.org/x and https://b.org/y", ["a.org/x", "b.org/y"], True),
        ("https://a.org/x https://b.org/y: compare these two pages", ["a.org/x", "b.org/y"], True),
        ("Summarize https://a.org/x in five bullet points, please", ["a.org/x"], True),
        ("sum up [this](https://a.org/x)", ["a.org/x"], True),
        ("请用三句话总结 https://a.org/x，谢谢", ["a.org/x"], True),
        ("比较一下 https://a.org/x 和 https://b.org/y", ["a.org/x", "b.org/y"], True),
        ("summarize example.org", ["example.org/"], True),
        ("What does docs.python.org/3/re say about flags?", ["docs.python.org/3/re"], False),
    ],
)
def test_links_are_read_for_what_is_asked_of_them(text: str, links: list[str], whole: bool) -> None:
    result = rewritten(Transcript(), text)
    assert (result.kind, result.whole) == ("links", whole)
    assert [dedupe_key(link) for link in result.links] == links


@pytest.mark.parametrize(
    "text", ["When was Booking.com founded?", "Is Node.js faster than main.py?", "asp.net history"]
)
def test_a_name_with_a_dot_is_no_link(text: str) -> None:
    result = rewritten(Transcript(), text)
    assert (result.kind, result.links) == ("search", ())


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("summarize that link", ["https://b.org/y"]),
        ("Summarize it", ["https://b.org/y"]),
        ("compare these two pages", ["https://a.org/x", "https://b.org/y"]),
        ("总结一下上面的链接", ["https://b.org/y"]),
        ("summarize the treaty of Rome", []),
        ("How tall is it?", []),
    ],
)
def test_links_of_earlier_messages_are_read_when_pointed_to(text: str, links: list[str]) -> None:
    thread = asked("look: https://a.org/x", "or https://b.org/y")
    assert rewritten(thread, text).links == tuple(links)


# ---------------------------------------------------------------- our last answer


def cited(number: int, title: str) -> Citation:
    return Citation(number, f"https://e.org/{number}", title, "words", "h", 0, 5)


OURS = Transcript(
    (
        Entry("person", "Ada", "When did the Forth Bridge open?"),
        Entry(
            "footnote",
            "Footnote",
            "In 1890 [1].",
            ("Forth Bridge", "Tay Bridge"),
            "When did the Forth Bridge open?",
            (cited(1, "Forth Bridge"), cited(4, "Tay Bridge")),
        ),
    )
)


@pytest.mark.parametrize(
    "text", ["shorter please", "Make it shorter", "tl;dr", "短一点", "简短一些吧"]
)
def test_our_last_answer_is_shortened_from_its_own_sources(text: str) -> None:
    result = rewritten(OURS, text)
    assert (result.kind, result.links) == ("links", ("https://e.org/1", "https://e.org/4"))
    assert result.question == "When did the Forth Bridge open?"
    assert (result.earlier, result.queries) == ("In 1890 [1].", ())


@pytest.mark.parametrize("text", ["translate that", "in German please", "as a table", "翻译成英文"])
def test_another_form_of_it_takes_a_model_and_that_is_said(text: str) -> None:
    result = rewritten(OURS, text)
    assert result.kind == "chat"
    assert "language model" in result.reply or "语言模型" in result.reply


def test_a_source_of_ours_is_read_again() -> None:
    summary = rewritten(OURS, "summarize source 4")
    assert (summary.links, summary.whole) == (("https://e.org/4",), True)
    asked_of_it = rewritten(OURS, "what does [4] say about its length?")
    assert (asked_of_it.links, asked_of_it.whole) == (("https://e.org/4",), False)
    assert "Tay Bridge" in asked_of_it.question


@pytest.mark.parametrize(
    "text", ["Thanks, and why?", "ok, thanks. Why?", "In Germany?", "How long?"]
)
def test_a_question_after_our_answer_is_no_chore(text: str) -> None:
    assert rewritten(OURS, text).kind == "search"


def test_thanks_before_a_question_are_not_searched() -> None:
    result = rewritten(OURS, "Thanks, and why?")
    assert "Forth Bridge" in result.question
    assert not any("thanks" in query.lower() for query in result.queries)


# ---------------------------------------------------------------- chores, long texts, where


@pytest.mark.parametrize(
    "text",
    [
        "Translate 'good morning' to French",
        "please rewrite this sentence: I are here",
        "Write me a haiku about rain",
        "can you draft a polite email to my landlord?",
        "tell me a joke",
        "翻译：早上好",
        "帮我写一首关于春天的诗",
    ],
)
def test_writing_chores_are_declined_and_not_searched(text: str) -> None:
    result = rewritten(Transcript(), text)
    assert (result.kind, result.queries) == ("chat", ())
    assert result.reply


@pytest.mark.parametrize(
    "text",
    ["How do you translate DNA into protein?", "Who wrote a poem about the sea?", "谁写了红楼梦？"],
)
def test_questions_about_writing_are_no_chores(text: str) -> None:
    assert rewritten(Transcript(), text).kind == "search"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Write a report on heat pumps in Norway", "heat pumps Norway"),
        ("写一篇关于长城的报告", "长城"),
    ],
)
def test_a_long_text_is_researched(text: str, query: str) -> None:
    result = rewritten(Transcript(), text)
    assert (result.kind, result.long_form) == ("search", True)
    assert result.queries[0] == query


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("AI news this week", Scope("week")),
        ("What happened in the last 24 hours in Paris?", Scope("day")),
        ("本周的人工智能新闻", Scope("week")),
        ("今天的新闻", Scope("day")),
        ("asyncio timeouts on docs.python.org", Scope(domains=("docs.python.org",))),
        ("timeouts site:www.example.org", Scope(domains=("example.org",))),
        ("What was life like in 1950?", Scope()),
        ("How do people live today?", Scope()),
    ],
)
def test_where_and_how_recent_is_understood(text: str, scope: Scope) -> None:
    result = rewritten(Transcript(), text)
    assert result.scope == scope
    assert result.question == text
    assert not any("site:" in query or "week" in query.split() for query in result.queries)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Compare the cost of heat pumps and gas boilers", ["heat pumps cost", "gas boilers cost"]),
        ("What is the difference between TCP and UDP?", ["TCP", "UDP"]),
        (
            "Which is taller, the Eiffel Tower or the Forth Bridge?",
            ["Eiffel Tower taller", "Forth Bridge taller"],
        ),
        ("Is Oslo larger than Bergen?", ["Oslo larger", "Bergen larger"]),
        ("python vs ruby", ["python", "ruby"]),
        ("比较上海和北京的人口", ["上海 人口", "北京 人口"]),
        ("上海和北京的人口有什么区别？", ["上海 人口", "北京 人口"]),
    ],
)
def test_a_comparison_asks_for_each_side(text: str, queries: list[str]) -> None:
    found = rewritten(Transcript(), text).queries
    assert list(found[:2]) == queries
    assert 2 <= len(found) <= 4


@given(st.text(max_size=200))
def test_any_message_in_any_thread_is_rewritten(text: str) -> None:
    result = rewrite(OURS, a_message(text))
    assert len(result.queries) <= 4
    assert (result.kind == "chat") == bool(result.reply)


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


# ---------------------------------------------------------------- what documents are asked


@pytest.mark.parametrize(
    "text",
    [
        "How do I back up the harbour's log without stopping it?",
        "What does SQLITE_BUSY mean?",
        "如何在不停机的情况下备份数据库？",
    ],
)
def test_documents_are_asked_the_whole_question_as_it_is(text: str) -> None:
    assert rewritten(Transcript(), text).knowledge_queries == (text,)


def test_documents_are_asked_for_each_side_of_a_comparison_too() -> None:
    text = "What is the difference between a ferry and a gondola?"
    assert rewritten(Transcript(), text).knowledge_queries == (text, "ferry", "gondola")


def test_documents_are_not_sent_a_whole_page() -> None:
    text = f"Is the port {'or the pier ' * 100}a default?"
    query = rewritten(Transcript(), text).knowledge_queries[0]
    assert query.startswith("Is the port or the pier")
    assert len(query) <= LONGEST_QUERY


@pytest.mark.parametrize(
    ("question", "is_so"),
    [
        ("What is the difference between a ferry and a gondola?", True),
        ("ferry vs gondola", True),
        ("Which is faster, the ferry or the gondola?", True),
        ("渡轮和贡多拉有什么区别？", True),
        ("How do I open the gate and the pier?", False),
        ("What is a ferry?", False),
        ("What is the difference?", False),
        ("", False),
    ],
)
def test_a_comparison_sets_two_things_side_by_side(question: str, is_so: bool) -> None:
    assert len(sides(question)) == 2 * is_so
